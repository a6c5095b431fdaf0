//! Rules that are loaded once and again when a file of theirs changes, for whoever asks them more than once.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use demur_api::refusal::Refusal;
use demur_rules::Rules;

use super::{folder, load};
use crate::data::DataFolder;

/// Where rules come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RulesSource {
    /// What the data folder keeps; the built-in pack where it keeps nothing.
    #[default]
    Kept,
    /// These folders, the lowest first.
    Named {
        /// The folders.
        folders: Vec<PathBuf>,
        /// Whether the built-in pack is left out.
        only: bool,
    },
}

/// The rules of some folders, as they were when somebody last asked.
#[derive(Debug)]
pub struct RulesCache {
    source: RulesSource,
    data: DataFolder,
    loaded: Option<(Vec<Mark>, Arc<Rules>)>,
}

/// What tells that a file has changed: its name, its length, when it was last written.
pub(super) type Mark = (PathBuf, u64, Option<SystemTime>);

impl RulesSource {
    /// Returns the folders that somebody named, or else what the data folder keeps.
    pub fn of(folders: Vec<PathBuf>, only: bool) -> Self {
        if folders.is_empty() && !only { Self::Kept } else { Self::Named { folders, only } }
    }

    /// Returns the folders, and whether the built-in pack is left out.
    fn folders(&self, data: &DataFolder) -> Result<(Vec<PathBuf>, bool), Refusal> {
        match self {
            Self::Named { folders, only } => Ok((folders.clone(), *only)),
            Self::Kept => {
                let kept = data.settings()?.rules.unwrap_or_default();
                Ok((kept.folders, kept.only))
            }
        }
    }

    /// Returns the rules.
    pub fn load(&self, data: &DataFolder) -> Result<Rules, Refusal> {
        let (folders, only) = self.folders(data)?;
        load(&folders, only)
    }
}

impl RulesCache {
    /// Returns the cache of these rules; nothing is read yet.
    pub const fn new(source: RulesSource, data: DataFolder) -> Self {
        Self { source, data, loaded: None }
    }

    /// Returns the rules as the files say now. They are read only if one of them has changed.
    pub fn rules(&mut self) -> Result<Arc<Rules>, Refusal> {
        let (folders, only) = self.source.folders(&self.data)?;
        // Which packs they are counts as well: a mark of its own, as the settings may change without a file of a pack.
        let mut marks = vec![(PathBuf::new(), u64::from(only), None)];
        for path in &folders {
            marks.push((path.clone(), 0, None));
            marks.extend(folder::marks(path)?);
        }
        if let Some((known, rules)) = &self.loaded
            && *known == marks
        {
            return Ok(Arc::clone(rules));
        }
        // The marks are older than what is read: a change in between is seen the next time.
        let rules = Arc::new(load(&folders, only)?);
        self.loaded = Some((marks, Arc::clone(&rules)));
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::settings::{FolderSettings, KeptRules};

    fn pack(folder: &Path, version: &str) {
        fs::write(folder.join("pack.toml"), format!("[pack]\nname = \"own\"\nversion = \"{version}\"\n"))
            .unwrap();
    }

    #[test]
    fn rules_are_read_once_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        pack(folder.path(), "1");
        let data = DataFolder::at(folder.path().join("data"));
        let mut cache = RulesCache::new(RulesSource::of(vec![folder.path().to_owned()], false), data);
        let first = cache.rules().unwrap();
        assert!(Arc::ptr_eq(&first, &cache.rules().unwrap()), "nothing changed");
        pack(folder.path(), "two");
        let second = cache.rules().unwrap();
        assert_ne!(first.hash(), second.hash());
        fs::write(folder.path().join("pack.toml"), "no pack").unwrap();
        cache.rules().unwrap_err();
        pack(folder.path(), "1");
        assert_eq!(cache.rules().unwrap().hash(), first.hash());
    }

    /// CLR-16
    #[test]
    fn rules_are_those_that_the_data_folder_keeps_and_follow_its_changes() {
        let folder = tempfile::tempdir().unwrap();
        pack(folder.path(), "1");
        let data = DataFolder::at(folder.path().to_owned());
        let mut cache = RulesCache::new(RulesSource::Kept, data.clone());
        let builtin = Rules::builtin().unwrap().hash();
        assert_eq!(cache.rules().unwrap().hash(), builtin);
        let keep = |only| {
            let rules = Some(KeptRules { folders: vec![folder.path().to_owned()], only });
            data.keep_settings(&FolderSettings { rules, ..FolderSettings::default() }).unwrap();
        };
        keep(false);
        assert_eq!(cache.rules().unwrap().packs().len(), 2);
        keep(true);
        let alone = cache.rules().unwrap();
        assert_eq!(alone.packs().len(), 1);
        assert!(Arc::ptr_eq(&alone, &cache.rules().unwrap()), "nothing changed");
        data.keep_settings(&FolderSettings::default()).unwrap();
        assert_eq!(cache.rules().unwrap().hash(), builtin);
    }
}
