//! `xtask/dependencies.toml`: what is allowed and what is not, each with its reason.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Deserialize;

/// All settings of `cargo xtask licences`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    pub(crate) packages: Packages,
    #[serde(rename = "licence", default)]
    pub(crate) licences: Vec<Licence>,
    #[serde(rename = "banned-crate", default)]
    pub(crate) banned_crates: Vec<BannedCrate>,
    #[serde(rename = "banned-feature", default)]
    pub(crate) banned_features: Vec<BannedFeature>,
    #[serde(rename = "duplicate", default)]
    pub(crate) duplicates: Vec<Duplicate>,
}

/// The ceiling on the number of packages, the workspace's own included.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Packages {
    pub(crate) limit: usize,
    reason: String,
}

/// A licence, with its exception where it has one, that suffices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Licence {
    pub(crate) id: String,
    reason: String,
}

/// A crate that must not be used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BannedCrate {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) reason: String,
}

/// How far a ban reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Our own crates must not name it; it may arrive through others.
    Direct,
    /// It must not be in the tree at all.
    Anywhere,
}

/// A feature of a crate that nobody in the tree may enable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BannedFeature {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) feature: String,
    pub(crate) reason: String,
}

/// A crate that is in the tree in exactly these incompatible versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Duplicate {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) versions: BTreeSet<String>,
    reason: String,
}

impl Settings {
    /// Returns the settings, after checking that each one says why.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let settings: Self = toml::from_str(text)?;
        if let Some(name) = settings.without_reason() {
            bail!("the entry `{name}` has no reason");
        }
        Ok(settings)
    }

    fn without_reason(&self) -> Option<&str> {
        let packages = [("packages", &self.packages.reason)].into_iter();
        let mut reasons = packages
            .chain(self.licences.iter().map(|entry| (entry.id.as_str(), &entry.reason)))
            .chain(self.banned_crates.iter().map(|entry| (entry.name.as_str(), &entry.reason)))
            .chain(self.banned_features.iter().map(|entry| (entry.feature.as_str(), &entry.reason)))
            .chain(self.duplicates.iter().map(|entry| (entry.name.as_str(), &entry.reason)));
        reasons.find(|(_, reason)| reason.trim().is_empty()).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_project_are_valid() {
        let settings = Settings::parse(include_str!("../../dependencies.toml")).unwrap();
        assert!(settings.licences.iter().any(|licence| licence.id == "MIT"));
    }

    #[test]
    fn refuses_an_entry_without_reason() {
        let text = "[packages]\nlimit = 1\nreason = \"r\"\n[[licence]]\nid = \"MIT\"\nreason = \" \"\n";
        assert_eq!(Settings::parse(text).unwrap_err().to_string(), "the entry `MIT` has no reason");
        assert!(Settings::parse("[packages]\nlimit = 1\n").is_err());
    }
}
