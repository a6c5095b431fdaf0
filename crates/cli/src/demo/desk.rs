//! The desk of a demo: every operation that a server offers, done in this process, over a folder that has no server.

use std::sync::Arc;

use demur_api::{
    call::{ApiRequest, Call as _},
    code::Code,
    operation::Operation,
    server_limits::ServerLimits,
};
use demur_desk::{
    access::Caller,
    desk::{Desk, DeskConfig},
    entry::{Handle, InProcessApi},
};
use demur_server::metrics::Metrics;
use tokio::runtime::{Builder, Runtime};

use crate::{data::DataFolder, failure::Failure, plan::whoever};

/// A desk in this process, and the user of this machine at it.
pub(crate) struct DemoDesk {
    desk: Arc<Desk>,
    api: InProcessApi,
    runtime: Runtime,
}

impl DemoDesk {
    /// Takes a folder, and makes its registry where there is none.
    pub(super) fn open(data: &DataFolder) -> Result<Self, Failure> {
        let config = DeskConfig {
            data: data.clone(),
            rules: Vec::new(),
            user: whoever()?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            limits: ServerLimits::default(),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of(Code::ClientTrouble, error))?;
        let caller = Caller::Local { name: config.user.clone(), client: None };
        let desk = Desk::open(&config, Arc::new(Metrics::default()))?;
        Ok(Self { api: InProcessApi::new(Arc::clone(&desk), caller), desk, runtime })
    }

    /// Has an operation done.
    pub(crate) fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure>
    where
        Desk: Handle<O>,
    {
        Ok(self.runtime.block_on(self.api.call(request))?.document)
    }
}

impl Drop for DemoDesk {
    /// Whoever follows the advice at the end finds the folder free.
    fn drop(&mut self) {
        self.desk.close();
    }
}
