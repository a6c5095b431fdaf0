//! `demur store backup`: a copy of the store as of one moment, while the server goes on. Secrets are no part of it.

use std::{fs, sync::Arc};

use demur_api::store::StoreSize;
use demur_desk::{
    data::DataFolder, durable, kept_head, kept_root, keyring::FolderKeyring, store_check::size_of,
    visible::visible_path,
};
use serde::Serialize;

use super::{
    lost::{self, Lost, artifacts},
    tell, words,
};
use crate::{
    arguments::BackupStore,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Progress, Reply},
};

/// Makes a backup. One that lacks artifacts, because the store has lost them, is made all the same, and is not whole.
pub(super) fn run(context: &mut Context<'_>, arguments: &BackupStore) -> Result<Exit, Failure> {
    let data = context.data()?;
    let Some(store) = data.read()? else { return Err(data.no_keys().into()) };
    let folder = &arguments.folder;
    let was_there = folder.symlink_metadata().is_ok();
    durable::create_folder(folder).map_err(|error| Failure::file("create the folder", folder, &error))?;
    let mut progress = Progress::new(context.output.is_watched());
    let made = store.backup(folder, &mut |step| tell(&mut progress, step));
    progress.clear();
    if made.is_err() && !was_there {
        // Why it failed matters more than an empty folder.
        let _ = fs::remove_dir(folder);
    }
    let made = made?;
    // Beside the database, as in a data folder: what is taken out of the copy later shows.
    let copy = Arc::new(DataFolder::at(folder.clone()).whole_store()?);
    kept_head::keep(folder, &*copy)?;
    kept_root::keep_copy(folder, copy, &FolderKeyring::shared(&data))?;
    let lost: Vec<Lost> = made.into_iter().map(Lost::from).collect();
    let exit = if lost.is_empty() { Exit::Success } else { Exit::VerificationFailed };
    // Read back: what cannot be opened is no backup.
    let size = size_of(&DataFolder::at(folder.clone()).whole_store()?)?;
    let keys = data.keys().to_string_lossy().into_owned();
    let folder = folder.to_string_lossy().into_owned();
    context.output.reply(&BackupReply { folder, keys, lost, size })?;
    Ok(exit)
}

#[derive(Serialize)]
struct BackupReply {
    folder: String,
    /// Where the secrets are, which are no part of the backup.
    keys: String,
    /// The artifacts that the store has lost.
    lost: Vec<Lost>,
    size: StoreSize,
}

impl Reply for BackupReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (folder, keys) = (visible_path(self.folder.as_ref()), visible_path(self.keys.as_ref()));
        let mut lines = vec![format!("{} {} to {folder}", paint.good("Backed up:"), words(self.size))];
        if !self.lost.is_empty() {
            lines.push(format!("{} the store has lost {}:", paint.bad("Not whole:"), artifacts(&self.lost)));
            lines.extend(lost::lines(&self.lost));
            lines.push("An older backup may have them. Everything else is in this one.".to_owned());
        }
        lines.extend([
            format!("The secret keys in {keys} are not part of it: whoever has them speaks as their holders,"),
            "and a backup is read by more people. Keep the desk's key in another safe place: a store that comes"
                .to_owned(),
            "back without it can record nothing.".to_owned(),
        ]);
        lines
    }
}
