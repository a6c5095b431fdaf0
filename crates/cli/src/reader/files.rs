//! The files of a data folder, read in this process. Whoever owns the folder goes on meanwhile.

use std::{cell::OnceCell, sync::Arc};

use demur_api::{
    call::ApiRequest,
    key::ListedKeys,
    operation::{
        AuditPlan, CheckPlanUnder, FindIds, HandOffPlan, ListEvents, ListKeys, ListPlans, ListTraces,
        Operation, ShowPlanHere, ShowTrace,
    },
    refusal::Refusal,
};
use demur_desk::{
    data::DataFolder,
    find, key,
    key_directory::KeyDirectory,
    keyring::{FolderKeyring, Keyring},
    operating_system::OperatingSystem,
    owner::open_ledger,
    plan, session, trace,
};
use demur_sequencer::Sequencer;
use demur_store::contract::Store;

use crate::failure::Failure;

/// A store open for reading.
pub(crate) struct Files {
    data: DataFolder,
    store: Arc<dyn Store>,
    ledger: OnceCell<Sequencer>,
}

impl Files {
    pub(super) fn open(data: DataFolder) -> Result<Self, Failure> {
        let Some(store) = data.read()? else { return Err(data.no_keys().into()) };
        if store.registry()?.is_none() {
            return Err(data.no_keys().into());
        }
        Ok(Self { data, store: Arc::new(store), ledger: OnceCell::new() })
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the ledger, which needs the key that signs exports.
    pub(super) fn ledger(&self) -> Result<&Sequencer, Refusal> {
        if let Some(ledger) = self.ledger.get() {
            return Ok(ledger);
        }
        let (store, system) = (Arc::clone(&self.store), OperatingSystem::open()?);
        let ledger = open_ledger(&self.keyring(), |find| Sequencer::read(store, find, Box::new(system)))?;
        Ok(self.ledger.get_or_init(|| ledger))
    }

    fn keyring(&self) -> Arc<dyn Keyring> {
        FolderKeyring::shared(&self.data)
    }
}

/// An operation that can be done here, because it only reads.
pub(crate) trait ReadHere: Operation + Sized {
    /// Does it.
    fn read(files: &Files, request: ApiRequest<Self>) -> Result<Self::Output, Refusal>;
}

/// Does operations by what they need of the files.
macro_rules! read_here {
    ($($operation:ty, |$files:ident, $request:ident| $read:expr;)+) => {$(
        impl ReadHere for $operation {
            fn read($files: &Files, $request: ApiRequest<Self>) -> Result<Self::Output, Refusal> {
                $read
            }
        }
    )+};
}

read_here! {
    FindIds, |files, request| find::find(files.store(), &request.query);
    ListTraces, |files, request| trace::list(files.store(), &request.query);
    ShowTrace, |files, request| trace::show(files.store(), request.path.trace);
    ListEvents, |files, request| trace::events(files.store(), request.path.trace, &request.query);
    ListKeys, |files, _request| keys(files);
    ListPlans, |files, request| plan::list(files.ledger()?, &request.query);
    ShowPlanHere, |files, request| plan::show(files.ledger()?, &*files.keyring(), request.path.session);
    CheckPlanUnder, |files, request| plan::check_under(files.ledger()?, &*files.keyring(), request.body);
    AuditPlan, |files, request| {
        let ledger = files.ledger()?;
        let found = session::read(ledger, request.path.session)?;
        Ok(found.audit(&session::signer(ledger, &*files.keyring())?)?)
    };
    HandOffPlan, |files, request| {
        let ledger = files.ledger()?;
        let found = session::read(ledger, request.path.session)?;
        let signer = session::signer(ledger, &*files.keyring())?;
        Ok(found.handoff(plan::new_uuid()?, &request.body.task, &signer)?)
    };
}

fn keys(files: &Files) -> Result<ListedKeys, Refusal> {
    let key_directory = KeyDirectory::read(files.store(), demur_sequencer::registry(files.store())?)?;
    Ok(key::list(&key_directory, &*files.keyring()))
}
