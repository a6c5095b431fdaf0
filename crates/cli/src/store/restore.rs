//! `demur store restore`: a backup becomes the store of a data folder. The registry says so before anything else is
//! recorded: a new epoch begins, and parts of the abandoned history cannot be mixed in later.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use demur_api::{
    code::Code,
    store::{StoreCheckProgress, StoreSize, StoreTrouble},
};
use demur_core::visible::visible;
use demur_desk::{
    data::DataFolder,
    durable, kept_head, kept_root,
    keyring::FolderKeyring,
    operating_system::OperatingSystem,
    owner::{Owner, find_desk_key, forget_kept},
    store_check::{self, is_newer, size_of},
    visible::visible_path,
};
use demur_ledger::name::Position;
use demur_store::{contract::Store, folder::Folder, sqlite::Restored};
use serde::Serialize;

use super::{
    exclusive::exclusive,
    lost::{self, Lost, artifacts},
    tell, words,
};
use crate::{
    arguments::RestoreStore,
    context::Context,
    failure::Failure,
    lookup::QuestionNumbers,
    output::{Paint, Progress, Reply, counted_as, percent},
};

/// Restores a backup.
pub(super) fn run(context: &mut Context<'_>, arguments: &RestoreStore) -> Result<(), Failure> {
    let data = context.data()?;
    let had_store = data.has_store()?;
    if had_store && !arguments.replace {
        let message =
            format!("expected a data folder without a store, found one in {}", visible_path(data.path()));
        return Err(Failure::of(Code::StoreExists, message)
            .with_hint("name another folder with --data, or move the old store aside with --replace"));
    }
    let backup = DataFolder::at(arguments.folder.clone()).whole_store()?;
    // Before anything is touched: without this key nothing could be recorded afterwards.
    find_desk_key(&FolderKeyring::of(&data), &backup)?;
    let mut progress = Progress::new(context.output.is_watched());
    expect_sound(&data, &arguments.folder, &(Arc::new(backup) as Arc<dyn Store>), &mut progress)?;
    let mut tell = |step| tell(&mut progress, step);
    let (restored, aside) = if had_store {
        replace(&data, &arguments.folder, &mut tell).map(|(restored, aside)| (restored, Some(aside)))?
    } else {
        forget_kept(data.path()).map_err(|error| Failure::file("tidy", data.path(), &error))?;
        (data.restore(&arguments.folder, &mut tell)?, None)
    };
    progress.clear();
    let owner = Owner::open(&data)?;
    // A question that was asked after the backup may have the id of another one now.
    QuestionNumbers::of(&data).use_up();
    let registry = owner.sequencer().registry();
    let size = size_of(owner.sequencer().store())?;
    let aside = aside.map(|path| path.to_string_lossy().into_owned());
    let lost = restored.lost.into_iter().map(Lost::from).collect();
    let (ended, epoch, event) = (restored.left, registry.epoch(), registry.head());
    context.output.reply(&RestoreReply { aside, ended, epoch, event, lost, size })
}

/// Verifies a backup as `demur store check` verifies a store. What does not hold does not take over; an artifact that was lost
/// before the backup was made, and what a newer version wrote, are no points against it.
fn expect_sound(
    data: &DataFolder,
    folder: &Path,
    backup: &Arc<dyn Store>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    kept_head::compare(folder, &**backup)?;
    let keyring = FolderKeyring::shared(data);
    let told = &mut |step: StoreCheckProgress| {
        progress.tell(|| format!("verifying the backup, {} %", percent(step.done, step.total)));
    };
    let check = store_check::check(Arc::clone(backup), &keyring, &|_, _| Ok(()), told, &|| false)?;
    let is_bad = |problem: &&StoreTrouble| !is_newer(problem) && !is_lost(problem);
    let Some(first) = check.problems.iter().find(is_bad) else {
        return Ok(kept_root::compare_store(folder, &**backup)?);
    };
    let message = format!("the backup in {} does not hold: {}", visible_path(folder), visible(&first.cause));
    Err(Failure::of(Code::StoreDamaged, message)
        .with_hint("nothing was touched: restore an older backup, or keep this one to be looked at"))
}

fn is_lost(problem: &StoreTrouble) -> bool {
    ["ARTIFACT_MISSING", "ARTIFACT_HASH_MISMATCH"].contains(&problem.code.as_str())
        || (problem.code == "EVENT_DAMAGED" && problem.cause.contains("artifact"))
}

/// Copies the backup beside the old store, then lets them change places. The old files are kept.
fn replace(
    data: &DataFolder,
    backup: &Path,
    tell: &mut dyn FnMut(demur_store::contract::StoreProgress),
) -> Result<(Restored, PathBuf), Failure> {
    let stamp = OperatingSystem::open()?.now()?.to_string().replace(':', "-");
    let (aside, new) =
        (data.path().join(format!("replaced-{stamp}")), data.path().join(format!("restoring-{stamp}")));
    let lock = exclusive(data, || Ok(Folder::at(data.path()).lock()?))?;
    let copied = DataFolder::at(new.clone()).restore(backup, tell);
    let moved = copied.map_err(Failure::from).and_then(|restored| {
        let moved = exchange(data.path(), &aside, &new).map(|()| restored);
        moved.map_err(|error| Failure::file("move files in", data.path(), &error))
    });
    if moved.is_err() && !aside.exists() {
        // Only our own copy: the old store is where it was.
        let _ = fs::remove_dir_all(&new);
    }
    drop(lock);
    moved.map(|restored| (restored, aside))
}

/// The database moves last: there is never one without its artifacts.
fn exchange(data: &Path, aside: &Path, new: &Path) -> io::Result<()> {
    durable::create_folder(aside)?;
    for name in [
        kept_head::FILE,
        kept_root::FILE,
        "ledger.db",
        "ledger.db-wal",
        "ledger.db-shm",
        "ledger.db-journal",
        "artifacts",
        "runs",
    ] {
        move_if_there(&data.join(name), &aside.join(name))?;
    }
    durable::sync_folder_of(&aside.join("ledger.db"))?;
    for name in ["artifacts", "ledger.db"] {
        fs::rename(new.join(name), data.join(name))?;
    }
    durable::sync_folder_of(&data.join("ledger.db"))?;
    fs::remove_dir_all(new)
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[derive(Serialize)]
struct RestoreReply {
    /// Where the files of the old store are now.
    aside: Option<String>,
    /// How many tokens, sessions and links of the backup are ended.
    ended: u64,
    epoch: u64,
    /// The registry event that says that the store came back.
    event: Position,
    /// The artifacts that were lost before the backup was made.
    lost: Vec<Lost>,
    size: StoreSize,
}

impl Reply for RestoreReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![
            format!("{} {}.", paint.good("Restored:"), words(self.size)),
            format!(
                "  recorded     store_restored, registry event {}; epoch {} begins",
                self.event.sequence, self.epoch
            ),
            format!("  ended        {}", counted_as(self.ended, ONE, MORE)),
        ];
        if let Some(aside) = &self.aside {
            lines
                .push(format!("The old files are in {}: nothing was deleted.", visible_path(aside.as_ref())));
        }
        if !self.lost.is_empty() {
            let artifacts = artifacts(&self.lost);
            lines.push(format!("{} {artifacts} had been lost before the backup:", paint.bad("Not whole:")));
            lines.extend(lost::lines(&self.lost));
        }
        lines.extend(
            [
                "What was recorded after the backup is not in it. Whoever holds a receipt of it can show that.",
                "Every token, session and link of the backup is ended: some may have been taken back since.",
                "Keys that were revoked and people who were removed since are back: see `demur keys list` and",
                "`demur people list`.",
            ]
            .map(str::to_owned),
        );
        lines
    }
}

const ONE: &str = "token, session or link";
const MORE: &str = "tokens, sessions and links";
