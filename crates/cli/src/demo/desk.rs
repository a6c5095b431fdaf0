//! The desk of a demo: every operation that a server offers, done in this process, over a folder that has no server.

use std::sync::Arc;

use demur_api::{
    call::ApiRequest,
    code::Code,
    key::{MakeKey, NewKey},
    operation::{NoArguments, Operation, RegisterKey},
    server_limits::ServerLimits,
};
use demur_core::{key::Fingerprint, limit::Text};
use demur_desk::{
    access::Caller,
    data::DataFolder,
    desk::{Desk, DeskConfig},
    entry::Handle,
    operating_system::OperatingSystem,
    rules::RulesSource,
    token::SessionTimeouts,
};
use demur_ledger::{
    name::{PrincipalId, TraceId},
    role::Role,
};
use demur_server::metrics::Metrics;
use tokio::runtime::{Builder, Runtime};

use super::asking::SOMEBODY;
use crate::failure::Failure;

/// A desk in this process, and the user of this machine at it.
pub(crate) struct DemoDesk {
    desk: Arc<Desk>,
    caller: Caller,
    runtime: Runtime,
}

impl DemoDesk {
    /// Takes a folder, and makes its registry where there is none.
    pub(super) fn open(data: &DataFolder) -> Result<Self, Failure> {
        let config = DeskConfig {
            data: data.clone(),
            rules: RulesSource::default(),
            user: Text::try_from(SOMEBODY)?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            limits: ServerLimits::default(),
            sessions: SessionTimeouts::default(),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of(Code::ClientTrouble, error))?;
        let caller = Caller::Local { name: config.user.clone(), client: None, id: None };
        let desk = Desk::open(&config, Arc::new(Metrics::default()))?;
        Ok(Self { desk, caller, runtime })
    }

    /// Has an operation done.
    pub(crate) fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure>
    where
        Desk: Handle<O>,
    {
        Ok(self.runtime.block_on(self.desk.call(&self.caller, request))?.document)
    }

    /// Registers a key of somebody new, which the desk keeps.
    pub(super) fn register(&self, name: &str, role: Role) -> Result<Fingerprint, Failure> {
        let mut system = OperatingSystem::open()?;
        let principal = PrincipalId::new(system.now()?, &mut system);
        let key = NewKey::Made(MakeKey { name: name.try_into()?, role, principal, recovery: None });
        let made = self.call(ApiRequest::<RegisterKey>::send(NoArguments {}, key))?;
        Ok(made.public_key.fingerprint())
    }

    /// Returns the export of a trace, signed by the desk.
    pub(super) fn export(&self, trace: TraceId) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.desk.export(&self.caller, trace, &mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for DemoDesk {
    /// Gives the folder back once nobody works in it, as a server does at its end.
    fn drop(&mut self) {
        self.desk.close();
    }
}
