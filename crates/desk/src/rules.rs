//! Rule packs on the disk (CLR-16): a folder for each, layered over the built-in one. Every command that needs rules
//! loads them here.

mod cache;
mod folder;

use std::path::{Path, PathBuf};

use demur_api::{code::Code, refusal::Refusal};
use demur_rules::{Pack, PackError, Rules, builtin};

pub use cache::{RulesCache, RulesSource};

use crate::visible::visible_path;

/// Returns the rules of the packs in these folders, the lowest first; below them the built-in pack, unless `only` them.
pub fn load(folders: &[PathBuf], only: bool) -> Result<Rules, Refusal> {
    if only && folders.is_empty() {
        let message =
            "expected a rule pack instead of the built-in one, found none: without rules no plan has gaps";
        return Err(
            Refusal::new(Code::NoRules, message).with_cure("name the folder of a pack, or leave --only out")
        );
    }
    let mut packs: Vec<Pack> = Vec::new();
    if !only {
        packs.push(builtin::pack().map_err(|error| Refusal::bug(&error))?);
    }
    for path in folders {
        packs.push(folder::read(path)?);
    }
    // A mistake that shows only between layers names its file; one without a place is of the topmost pack.
    let topmost = folders.last().map_or(Path::new(""), PathBuf::as_path);
    Rules::layer(&packs).map_err(|error| pack_error(topmost, &error))
}

/// Returns the error of a pack as people and programs see it: the place, what was expected and found, and the cure.
fn pack_error(folder: &Path, error: &PackError) -> Refusal {
    let has_folder = error.file.contains('/') || folder.as_os_str().is_empty();
    let mut place = if has_folder { error.file.clone() } else { visible_path(&folder.join(&error.file)) };
    for number in [error.line, error.column].into_iter().flatten() {
        place = format!("{place}:{number}");
    }
    let message = format!("{place}: expected {}, found {}", error.expected, error.found);
    let hint = error
        .cure
        .as_deref()
        .unwrap_or("correct the file; docs/rules.md describes every table and condition");
    Refusal::new(Code::RulesMalformed, message).with_cure(hint)
}
