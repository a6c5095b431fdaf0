//! The data folder that the server owns, and lends: a command that has to own the folder itself asks the server to step
//! aside, does its work, and the server takes the folder back. Whoever asks or answers meanwhile waits a moment.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_sequencer::Listener;
use demur_store::contract::Store;

use crate::{data::DataFolder, owner::Owner, world::World};

/// The data folder of this server.
pub struct Premises {
    data: DataFolder,
    world: World,
    listeners: Vec<Arc<dyn Listener>>,
    slot: Mutex<Slot>,
    changed: Condvar,
    patience: Duration,
    /// What happens once the folder is back: others may have recorded something in it.
    returned: OnceLock<Returned>,
    /// Says whether another server listens in this folder.
    is_replaced: Box<dyn Fn() -> bool + Send + Sync>,
    /// Another server has the folder.
    replaced: AtomicBool,
}

/// What happens once the folder is back.
type Returned = Box<dyn Fn(&Owner) + Send + Sync>;

enum Slot {
    /// This process owns the folder.
    Here(Arc<Owner>),
    /// Another process does its work in it.
    Lent,
    /// The server is about to end.
    Closed,
}

impl Premises {
    /// Takes the folder; creates its registry where there is none.
    pub fn open(
        data: DataFolder,
        listeners: Vec<Arc<dyn Listener>>,
        is_replaced: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Self, Refusal> {
        let owner = take(&data, &listeners)?;
        Self::with(data, listeners, owner, is_replaced)
    }

    /// Takes a store that other processes may have open, too; the folder has the secrets.
    pub(crate) fn over(
        data: DataFolder,
        store: Arc<dyn Store>,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Result<Self, Refusal> {
        let (owner, _) = Owner::over(&data, store)?;
        let owner = listening(owner, &listeners);
        Self::with(data, listeners, owner, || false)
    }

    fn with(
        data: DataFolder,
        listeners: Vec<Arc<dyn Listener>>,
        owner: Arc<Owner>,
        is_replaced: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            data,
            world: World::open()?,
            listeners,
            is_replaced: Box::new(is_replaced),
            slot: Mutex::new(Slot::Here(owner)),
            changed: Condvar::new(),
            patience: PATIENCE,
            returned: OnceLock::new(),
            replaced: AtomicBool::new(false),
        })
    }

    /// Says what happens whenever the folder is back.
    pub fn when_returned(&self, returned: impl Fn(&Owner) + Send + Sync + 'static) {
        // Only the first one counts; there is one server.
        let _ = self.returned.set(Box::new(returned));
    }

    /// Does something while nobody is lent the folder; nothing where somebody has it.
    pub fn while_here<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let slot = self.slot();
        matches!(&*slot, Slot::Here(_)).then(act)
    }

    /// Returns whether another server has taken the folder while it was lent.
    pub fn is_replaced(&self) -> bool {
        self.replaced.load(Ordering::Relaxed)
    }

    /// Returns the time.
    pub fn now(&self) -> Result<Timestamp, Refusal> {
        self.world.now()
    }

    /// Returns where the folder is.
    pub const fn data(&self) -> &DataFolder {
        &self.data
    }

    /// Returns the folder in use. While it is lent, the caller waits; blocks.
    pub fn owner(&self) -> Result<Arc<Owner>, Refusal> {
        let until = Instant::now() + self.patience;
        let mut slot = self.slot();
        loop {
            match &*slot {
                Slot::Here(owner) => return Ok(Arc::clone(owner)),
                Slot::Closed => return Err(closed()),
                Slot::Lent => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lent());
            }
            slot = self.changed.wait_timeout(slot, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns the folder in use, unless it is lent; does not block.
    pub fn here(&self) -> Option<Arc<Owner>> {
        match &*self.slot() {
            Slot::Here(owner) => Some(Arc::clone(owner)),
            Slot::Lent | Slot::Closed => None,
        }
    }

    /// Returns whether requests are served right now.
    pub fn is_ready(&self) -> bool {
        matches!(&*self.slot(), Slot::Here(_))
    }

    /// Lets go of the folder once nobody works in it, and takes it back as soon as whoever wanted it is done; blocks
    /// until it is free.
    pub fn lend(self: &Arc<Self>) -> Result<(), Refusal> {
        self.let_go(Slot::Lent)?;
        let premises = Arc::clone(self);
        thread::spawn(move || premises.take_back());
        Ok(())
    }

    /// Lets go of the folder for good.
    pub fn close(&self) {
        // What cannot be let go is let go when the process ends.
        let _ = self.let_go(Slot::Closed);
    }

    fn let_go(&self, next: Slot) -> Result<(), Refusal> {
        let before = std::mem::replace(&mut *self.slot(), next);
        let owner = match before {
            Slot::Here(owner) => owner,
            Slot::Lent => return Ok(()),
            Slot::Closed => {
                *self.slot() = Slot::Closed;
                return Err(closed());
            }
        };
        self.changed.notify_all();
        let until = Instant::now() + self.patience;
        let mut owner = Some(owner);
        while let Some(shared) = owner.take() {
            match Arc::try_unwrap(shared) {
                // Dropping it closes the ledger in good order and gives the lock back.
                Ok(alone) => drop(alone),
                // Whoever works in it does not end: it stays here, and others are served again.
                Err(shared) if Instant::now() > until => {
                    self.stay(shared);
                    return Err(busy());
                }
                Err(shared) => {
                    owner = Some(shared);
                    thread::sleep(MOMENT);
                }
            }
        }
        Ok(())
    }

    fn stay(&self, owner: Arc<Owner>) {
        let mut slot = self.slot();
        if matches!(&*slot, Slot::Lent) {
            *slot = Slot::Here(owner);
            self.changed.notify_all();
        }
    }

    /// Takes the folder back. Whoever asked for it gets a head start.
    fn take_back(&self) {
        thread::sleep(HEAD_START);
        loop {
            if !matches!(&*self.slot(), Slot::Lent) {
                return;
            }
            match take(&self.data, &self.listeners) {
                Ok(owner) => {
                    self.stay(Arc::clone(&owner));
                    if let Some(returned) = self.returned.get() {
                        returned(&owner);
                    }
                    return;
                }
                Err(error) if error.code == Code::FolderInUse => {
                    if (self.is_replaced)() {
                        tracing::warn!("another server has taken the folder");
                        self.replaced.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                Err(error) => {
                    tracing::error!(code = error.code.as_str(), %error, "the data folder cannot be opened");
                }
            }
            thread::sleep(AGAIN);
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(data: &DataFolder, listeners: &[Arc<dyn Listener>]) -> Result<Arc<Owner>, Refusal> {
    let (owner, _) = Owner::open_or_create(data)?;
    Ok(listening(owner, listeners))
}

fn listening(mut owner: Owner, listeners: &[Arc<dyn Listener>]) -> Arc<Owner> {
    for listener in listeners {
        owner.listen(Arc::clone(listener));
    }
    Arc::new(owner)
}

/// Returns what somebody hears who comes while another command has the folder.
pub(crate) fn lent() -> Refusal {
    Refusal::new(Code::FolderLent, "another command has the data folder at the moment, nothing was changed")
        .with_cure("try again when it is done")
}

fn closed() -> Refusal {
    Refusal::new(Code::Stopping, "the server is about to end, nothing was changed").with_cure("try again")
}

fn busy() -> Refusal {
    Refusal::new(Code::FolderBusy, "the server has work in the data folder that does not end")
        .with_cure("try again, or stop the server")
}

/// How long a request waits for a folder that is lent.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long whoever asked for the folder has it for itself in any case.
const HEAD_START: Duration = Duration::from_millis(300);
/// How often the folder is tried afterwards.
const AGAIN: Duration = Duration::from_millis(50);
/// How long work in the folder usually takes.
const MOMENT: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_which_somebody_works_stays_and_is_lent_later() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        let mut premises = Premises::open(data.clone(), Vec::new(), || false).unwrap();
        premises.patience = Duration::from_millis(50);
        let premises = Arc::new(premises);
        let worker = premises.owner().unwrap();
        assert_eq!(premises.lend().unwrap_err().code, Code::FolderBusy);
        assert!(premises.is_ready() && premises.owner().is_ok(), "others are served again");
        drop(worker);
        premises.lend().unwrap();
        drop(Owner::open(&data).unwrap());
        premises.close();
        assert_eq!(premises.owner().map(drop).unwrap_err().code, Code::Stopping);
    }
}
