//! Rules that are loaded once and again when a file of theirs changes, for whoever asks them more than once.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use demur_api::refusal::Refusal;
use demur_rules::Rules;

use super::{folder, load};

/// The rules of some folders, as they were when somebody last asked.
#[derive(Debug)]
pub struct RulesCache {
    folders: Vec<PathBuf>,
    only: bool,
    loaded: Option<(Vec<Mark>, Arc<Rules>)>,
}

/// What tells that a file has changed: its name, its length, when it was last written.
pub(super) type Mark = (PathBuf, u64, Option<SystemTime>);

impl RulesCache {
    /// Returns the cache of these folders; nothing is read yet.
    pub const fn new(folders: Vec<PathBuf>, only: bool) -> Self {
        Self { folders, only, loaded: None }
    }

    /// Returns the rules as the files say now. They are read only if one of them has changed.
    pub fn rules(&mut self) -> Result<Arc<Rules>, Refusal> {
        let mut marks = Vec::new();
        for path in &self.folders {
            marks.extend(folder::marks(path)?);
        }
        if let Some((known, rules)) = &self.loaded
            && *known == marks
        {
            return Ok(Arc::clone(rules));
        }
        // The marks are older than what is read: a change in between is seen the next time.
        let rules = Arc::new(load(&self.folders, self.only)?);
        self.loaded = Some((marks, Arc::clone(&rules)));
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rules_are_read_once_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack.toml");
        fs::write(&path, "[pack]\nname = \"own\"\nversion = \"1\"\n").unwrap();
        let mut cache = RulesCache::new(vec![folder.path().to_owned()], false);
        let first = cache.rules().unwrap();
        assert!(Arc::ptr_eq(&first, &cache.rules().unwrap()), "nothing changed");
        fs::write(&path, "[pack]\nname = \"own\"\nversion = \"two\"\n").unwrap();
        let second = cache.rules().unwrap();
        assert_ne!(first.hash(), second.hash());
        fs::write(&path, "no pack").unwrap();
        cache.rules().unwrap_err();
        fs::write(&path, "[pack]\nname = \"own\"\nversion = \"1\"\n").unwrap();
        assert_eq!(cache.rules().unwrap().hash(), first.hash());
    }
}
