//! `demur store backup`: a copy of the store as of one moment, while the server goes on. Secrets are no part of it.

use demur_api::store::StoreSize;
use demur_desk::{data::DataFolder, durable, store_check::size_of, visible::visible_path};
use serde::Serialize;

use super::{tell, words};
use crate::{
    arguments::BackupStore,
    context::Context,
    failure::Failure,
    output::{Paint, Progress, Reply},
};

/// Makes a backup.
pub(super) fn run(context: &mut Context<'_>, arguments: &BackupStore) -> Result<(), Failure> {
    let data = context.data()?;
    let Some(store) = data.read()? else { return Err(data.no_keys().into()) };
    let folder = &arguments.folder;
    durable::create_folder(folder).map_err(|error| Failure::file("create the folder", folder, &error))?;
    let mut progress = Progress::new(context.output.is_watched());
    let made = store.backup(folder, &mut |step| tell(&mut progress, step));
    progress.clear();
    made?;
    // Read back: what cannot be opened is no backup.
    let size = size_of(&DataFolder::at(folder.clone()).whole_store()?)?;
    let keys = data.keys().to_string_lossy().into_owned();
    let folder = folder.to_string_lossy().into_owned();
    context.output.reply(&BackupReply { folder, keys, size })
}

#[derive(Serialize)]
struct BackupReply {
    folder: String,
    /// Where the secrets are, which are no part of the backup.
    keys: String,
    size: StoreSize,
}

impl Reply for BackupReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (folder, keys) = (visible_path(self.folder.as_ref()), visible_path(self.keys.as_ref()));
        vec![
            format!("{} {} to {folder}", paint.good("Backed up:"), words(self.size)),
            format!("The secret keys in {keys} are not part of it: whoever has them speaks as their holders,"),
            "and a backup is read by more people. Keep the desk's key in another safe place: a store that comes"
                .to_owned(),
            "back without it can record nothing.".to_owned(),
        ]
    }
}
