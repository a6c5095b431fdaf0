//! The data folder that a desk has, from its beginning to its end.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{limit::Text, time::Timestamp};
use demur_sequencer::Listener;
use demur_store::contract::Store;

use crate::{data::DataFolder, name, operating_system::OperatingSystem, owner::Owner};

/// The data folder of a desk.
pub(crate) struct HeldFolder {
    data: DataFolder,
    system: OperatingSystem,
    /// None once it is let go.
    owner: Mutex<Option<Arc<Owner>>>,
}

impl HeldFolder {
    /// Takes the folder; creates its registry where there is none.
    pub(crate) fn open(
        data: DataFolder,
        user: Text<1, 256>,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Result<Self, Refusal> {
        data.expect_own()?;
        let (owner, _) = Owner::open_or_create(&data)?;
        Self::with(data, owner, user, listeners)
    }

    /// Takes a store that other processes may have open, too; the folder has the secrets.
    pub(crate) fn over(
        data: DataFolder,
        store: &Arc<dyn Store>,
        user: Text<1, 256>,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Result<Self, Refusal> {
        let (owner, _) = Owner::over(&data, store)?;
        Self::with(data, owner, user, listeners)
    }

    fn with(
        data: DataFolder,
        mut owner: Owner,
        user: Text<1, 256>,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Result<Self, Refusal> {
        owner.work_for(user);
        name::keep_user(&owner)?;
        for listener in listeners {
            owner.listen(listener);
        }
        Ok(Self { data, system: OperatingSystem::open()?, owner: Mutex::new(Some(Arc::new(owner))) })
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Result<Timestamp, Refusal> {
        self.system.now()
    }

    /// Returns where the folder is.
    pub(crate) const fn data(&self) -> &DataFolder {
        &self.data
    }

    /// Returns the folder in use, unless it is let go.
    pub(crate) fn here(&self) -> Option<Arc<Owner>> {
        self.slot().clone()
    }

    /// Returns the folder in use.
    pub(crate) fn owner(&self) -> Result<Arc<Owner>, Refusal> {
        self.here().ok_or_else(closed)
    }

    /// Lets go of the folder once nobody works in it. What cannot be let go is let go when the process ends.
    pub(crate) fn close(&self) {
        let mut owner = self.slot().take();
        let until = Instant::now() + CLOSE_TIMEOUT;
        while let Some(shared) = owner.take() {
            match Arc::try_unwrap(shared) {
                // Dropping it closes the ledger in good order and gives the lock back.
                Ok(alone) => drop(alone),
                Err(_) if Instant::now() > until => return,
                Err(shared) => {
                    owner = Some(shared);
                    thread::sleep(RETRY_INTERVAL);
                }
            }
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Owner>>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what somebody hears who comes when the server is about to end.
pub(crate) fn closed() -> Refusal {
    Refusal::new(Code::Stopping, "the server is about to end, nothing was changed").with_cure("try again")
}

/// How long whoever works in the folder may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_free_once_whoever_works_in_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        let held = HeldFolder::open(data.clone(), "ada".try_into().unwrap(), Vec::new()).unwrap();
        let worker = held.owner().unwrap();
        thread::scope(|scope| {
            let closing = scope.spawn(|| held.close());
            while held.here().is_some() {
                thread::yield_now();
            }
            assert_eq!(Owner::open(&data).map(drop).unwrap_err().code, Code::FolderInUse);
            drop(worker);
            closing.join().unwrap();
        });
        Owner::open(&data).map(drop).unwrap();
        assert_eq!(held.owner().map(drop).unwrap_err().code, Code::Stopping);
    }
}
