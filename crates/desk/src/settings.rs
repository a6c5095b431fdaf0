//! What a data folder keeps for every server that is started in it: `settings.json`, written by commands and by hand.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::PathBuf,
};

use demur_api::{
    code::Code,
    refusal::Refusal,
    server_limits::{AaepLimits, TokenQuotas},
};
use demur_clarify::name::AgentId;
use demur_core::{
    canonical,
    limit::{Limits, Whole},
};
use serde::{Deserialize, Serialize};

use crate::{data::DataFolder, durable, error, visible::visible_path};

/// The settings of a data folder. What is left out is as it comes with demur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FolderSettings {
    /// Which rules plans are held against where nobody names others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<KeptRules>,
    /// How much one token may have, where `demur serve` does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotas: Option<TokenQuotas>,
    /// The name under which demur signs documents of the clarification protocol, in sessions that begin from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Under which name of this machine pages are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_host: Option<PageHost>,
    /// After how many seconds without use a browser is signed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_idle_seconds: Option<Whole<60, 86_400>>,
    /// After how many seconds a browser is signed out in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_seconds: Option<Whole<60, 2_592_000>>,
    /// How much of accessibility events there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aaep: Option<AaepLimits>,
}

/// Under which name of this machine pages are. A cookie goes to every port of its host: under a name of their own it does not reach
/// what else runs at `localhost`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageHost {
    /// A name that browsers lead to this machine by themselves.
    #[default]
    #[serde(rename = "demur.localhost")]
    Own,
    /// For a browser that does not know the other.
    #[serde(rename = "localhost")]
    Shared,
}

impl PageHost {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "demur.localhost",
            Self::Shared => "localhost",
        }
    }
}

/// The rule packs of a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRules {
    /// The folders of the packs, from the root of the disk, the lowest first.
    pub folders: Vec<PathBuf>,
    /// Whether the built-in pack is left out.
    #[serde(default)]
    pub only: bool,
}

impl DataFolder {
    /// Returns where its settings are, which need not be there.
    pub fn settings_file(&self) -> PathBuf {
        self.path().join("settings.json")
    }

    /// Returns its settings.
    pub fn settings(&self) -> Result<FolderSettings, Refusal> {
        let path = self.settings_file();
        let mut bytes = Vec::new();
        match File::open(&path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FolderSettings::default()),
            Err(error) => return Err(error::unreadable(&path, &error)),
        }
        let unfit = |found: String| {
            let message =
                format!("{}: expected the settings of a data folder, found {found}", visible_path(&path));
            Refusal::new(Code::FileMalformed, message).with_cure("correct the file, or take it away")
        };
        let read = canonical::from_json(&bytes, &Limits::CONTENT).map_err(|error| unfit(error.to_string()));
        let settings: FolderSettings = read?;
        match settings.aaep.and_then(|aaep| aaep.out_of_range()) {
            None => Ok(settings),
            Some((name, range)) => {
                Err(unfit(format!("aaep.{name} outside of {} to {}", range.start(), range.end())))
            }
        }
    }

    /// Keeps settings in place of those that are there. The folder has to be there.
    pub fn keep_settings(&self, settings: &FolderSettings) -> Result<(), Refusal> {
        let path = self.settings_file();
        let mut bytes = serde_json::to_vec_pretty(settings).map_err(|error| Refusal::bug(&error))?;
        bytes.push(b'\n');
        durable::replace(&path, &bytes).map_err(|error| error::file("write", &path, &error))
    }
}

/// Far more than any settings.
const MAX_BYTES: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_are_kept_and_what_is_none_of_them_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        assert_eq!(data.settings().unwrap(), FolderSettings::default());
        let rules = KeptRules { folders: vec!["/rules/party".into()], only: true };
        let agent_id = Some("wwa-scaffold-v1.0.0".parse().unwrap());
        let quotas = Some(TokenQuotas { open_questions: 8, ..TokenQuotas::default() });
        let settings = FolderSettings {
            rules: Some(rules),
            quotas,
            agent_id,
            page_host: Some(PageHost::Shared),
            session_idle_seconds: Some(Whole::try_from(600).unwrap()),
            session_seconds: None,
            aaep: Some(AaepLimits { sessions: 8, ..AaepLimits::default() }),
        };
        data.keep_settings(&settings).unwrap();
        assert_eq!(data.settings().unwrap(), settings);
        for text in [
            "{\"rulez\": {}}",
            "[]",
            "{\"rules\": {\"only\": true}}",
            "{\"agent_id\": \"\"}",
            "{\"page_host\": \"a\"}",
            "{\"aaep\": {\"retention_hours\": 1}}",
            "",
        ] {
            fs::write(data.settings_file(), text).unwrap();
            let refusal = data.settings().unwrap_err();
            assert_eq!(refusal.code, Code::FileMalformed, "{text}");
            assert!(refusal.message.contains("settings.json"), "{}", refusal.message);
        }
    }
}
