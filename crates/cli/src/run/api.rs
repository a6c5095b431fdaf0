//! Where a run is driven: at the server of the data folder; in this process for `demur demo`, whose folder has no server.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, Nothing, OfTrace, Operation},
    run::{ClaimId, ClaimRun},
};
use demur_desk::{desk::Desk, entry::Handle};
use demur_ledger::name::TraceId;

use super::halt::Halt;
use crate::{
    client::{Client, SocketRequest},
    demo::DemoDesk,
    failure::Failure,
};

/// Where a run is driven.
pub(super) enum RunApi<'a> {
    /// At the server.
    Server(Client),
    /// In this process.
    Here(&'a DemoDesk),
}

impl RunApi<'_> {
    /// Has an operation on a run done.
    pub(super) fn send<O>(&self, trace: TraceId, body: &O::Body) -> Result<O::Output, Failure>
    where
        O: Operation<Path = OfTrace, Query = Nothing>,
        O::Body: Clone,
        Desk: Handle<O>,
    {
        self.call(ApiRequest::<O>::send(OfTrace { trace }, body.clone()))
    }

    /// Has an operation done.
    pub(super) fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure>
    where
        Desk: Handle<O>,
    {
        match self {
            Self::Server(client) => client.call(request),
            Self::Here(desk) => desk.call(request),
        }
    }

    /// Does work that takes its time, and renews a claim meanwhile. Once the run is over, the tool that works is ended.
    pub(super) fn renewing<T>(
        &self,
        (trace, claim): (TraceId, ClaimId),
        halt: &Halt,
        work: impl FnOnce() -> T,
    ) -> T {
        thread::scope(|scope| {
            let (working, over) = mpsc::channel::<()>();
            scope.spawn(move || {
                while over.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    // Whether it still holds shows with the next report.
                    if self.renew(trace, claim).is_err_and(|error| error.is(Code::RunOver)) {
                        halt.halt();
                    }
                }
            });
            let done = work();
            drop(working);
            done
        })
    }

    fn renew(&self, trace: TraceId, claim: ClaimId) -> Result<(), Failure> {
        let renewal = ClaimRun { claim, abandoned: false, orders: None, began: None };
        let request = ApiRequest::<operation::ClaimRun>::send(OfTrace { trace }, renewal);
        match self {
            // A way of its own: the other one is in use.
            Self::Server(client) => client.another()?.call_with(&request, SocketRequest::in_passing),
            Self::Here(desk) => desk.call(request),
        }
        .map(|_| ())
    }
}

/// How often the server is asked whether the run goes on. It renews the claim in longer intervals, `ClaimId::RENEWAL_MILLIS`.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
