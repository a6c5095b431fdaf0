//! Where a run is driven: at the server of the data folder; in this process for `demur demo`, whose folder has no server.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use demur_api::{
    call::ApiRequest,
    operation::{self, OfTrace, Operation},
    run::{
        ClaimId, ClaimRun, ClaimedRun, DriveReply, DriveReport, ReadRunParameters, RunLines, SubmitInRun,
        SubmittedInRun,
    },
};
use demur_desk::{desk::Desk, entry::Handle};
use demur_ledger::name::TraceId;

use crate::{
    client::{Call, Client},
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
    /// Takes the right to drive a run.
    pub(super) fn claim(&self, trace: TraceId, wanted: &ClaimRun) -> Result<ClaimedRun, Failure> {
        self.call(send::<operation::ClaimRun>(trace, wanted))
    }

    /// Reports, and returns what comes next.
    pub(super) fn drive(&self, trace: TraceId, report: &DriveReport) -> Result<DriveReply, Failure> {
        self.call(send::<operation::DriveRun>(trace, report))
    }

    /// Submits what an agent said.
    pub(super) fn submit(&self, trace: TraceId, said: &SubmitInRun) -> Result<SubmittedInRun, Failure> {
        self.call(send::<operation::SubmitInRun>(trace, said))
    }

    /// Returns the next lines of a run.
    pub(super) fn read(&self, trace: TraceId, wanted: ReadRunParameters) -> Result<RunLines, Failure> {
        self.call(ApiRequest::<operation::ReadRun>::get(OfTrace { trace }, wanted))
    }

    fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure>
    where
        Desk: Handle<O>,
    {
        match self {
            Self::Server(client) => client.ask(request),
            Self::Here(desk) => desk.call(request),
        }
    }

    /// Does work that takes its time, and renews a claim meanwhile.
    pub(super) fn renewing<T>(&self, trace: TraceId, claim: ClaimId, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let (working, over) = mpsc::channel::<()>();
            scope.spawn(move || {
                while over.recv_timeout(RENEWAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    // Whether it still holds shows with the next report.
                    let _ = self.renew(trace, claim);
                }
            });
            let done = work();
            drop(working);
            done
        })
    }

    fn renew(&self, trace: TraceId, claim: ClaimId) -> Result<(), Failure> {
        let renewal = ClaimRun { claim, abandoned: false, orders: None };
        let request = send::<operation::ClaimRun>(trace, &renewal);
        match self {
            // A way of its own: the other one is in use.
            Self::Server(client) => client.another()?.ask_so(&request, Call::in_passing),
            Self::Here(desk) => desk.call(request),
        }
        .map(|_| ())
    }
}

fn send<O>(trace: TraceId, body: &O::Body) -> ApiRequest<O>
where
    O: Operation<Path = OfTrace, Query = operation::Nothing>,
    O::Body: Clone,
{
    ApiRequest::send(OfTrace { trace }, body.clone())
}

const RENEWAL_INTERVAL: Duration = Duration::from_millis(ClaimId::RENEWAL_MILLIS);
