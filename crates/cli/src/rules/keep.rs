//! `demur rules use`: which packs the data folder keeps for its servers and plans.

use std::path::{self, PathBuf};

use demur_core::hash::Digest;
use demur_desk::{
    settings::{FolderSettings, KeptRules},
    visible::visible_path,
};
use demur_rules::PackName;
use serde::Serialize;

use super::{check, load};
use crate::{
    arguments::UseRules,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Keeps packs that can be used.
pub(super) fn run(context: &mut Context<'_>, arguments: &UseRules) -> Result<(), Failure> {
    // Before anything is kept, and before a folder is made for it.
    let rules = load(&arguments.folders, arguments.only)?;
    let data = context.data_made()?;
    let absolute =
        |folder: &PathBuf| path::absolute(folder).map_err(|error| Failure::file("find", folder, &error));
    let folders = arguments.folders.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    let kept = (!arguments.built_in).then(|| KeptRules { folders: folders.clone(), only: arguments.only });
    let settings = FolderSettings { rules: kept, ..data.settings()? };
    data.keep_settings(&settings)?;
    let file = visible_path(&data.settings_file());
    context.output.reply(&UseReply { hash: rules.hash(), packs: rules.packs().to_vec(), folders, file })
}

#[derive(Serialize)]
struct UseReply {
    /// What a decision by these rules records.
    hash: Digest,
    /// The lowest first.
    packs: Vec<PackName>,
    folders: Vec<PathBuf>,
    /// Where it is kept.
    file: String,
}

impl Reply for UseReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let kept = paint.good("Kept:");
        vec![
            format!("{kept} plans are held against {}.", check::packs(&self.packs)),
            format!("  hash  {}", self.hash),
            format!("  in    {}", self.file),
        ]
    }
}
