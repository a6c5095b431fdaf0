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
use demur_desk::run::driver;
use demur_ledger::name::TraceId;

use crate::{
    client::{Call, Client},
    failure::Failure,
    owner::Owner,
};

/// Where a run is driven.
pub(super) enum RunApi<'a> {
    /// At the server.
    Server(Client),
    /// In this process.
    Here(&'a Owner),
}

impl RunApi<'_> {
    /// Takes the right to drive a run.
    pub(super) fn claim(&self, trace: TraceId, wanted: &ClaimRun) -> Result<ClaimedRun, Failure> {
        match self {
            Self::Server(client) => client.ask(send::<operation::ClaimRun>(trace, wanted)),
            Self::Here(owner) => Ok(driver::claim(owner, trace, wanted)?),
        }
    }

    /// Reports, and returns what comes next.
    pub(super) fn drive(&self, trace: TraceId, report: &DriveReport) -> Result<DriveReply, Failure> {
        match self {
            Self::Server(client) => client.ask(send::<operation::DriveRun>(trace, report)),
            Self::Here(owner) => Ok(driver::drive(owner, trace, report)?),
        }
    }

    /// Submits what an agent said.
    pub(super) fn submit(&self, trace: TraceId, said: &SubmitInRun) -> Result<SubmittedInRun, Failure> {
        match self {
            Self::Server(client) => client.ask(send::<operation::SubmitInRun>(trace, said)),
            Self::Here(owner) => Ok(driver::submit(owner, trace, said)?),
        }
    }

    /// Returns the next lines of a run.
    pub(super) fn read(&self, trace: TraceId, wanted: ReadRunParameters) -> Result<RunLines, Failure> {
        match self {
            Self::Server(client) => {
                client.ask(ApiRequest::<operation::ReadRun>::get(OfTrace { trace }, wanted))
            }
            Self::Here(owner) => Ok(driver::read_lines(owner, trace, &wanted)?),
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
        match self {
            // A way of its own: the other one is in use.
            Self::Server(client) => {
                let request = send::<operation::ClaimRun>(trace, &renewal);
                client.another()?.ask_so(&request, Call::in_passing).map(|_| ())
            }
            Self::Here(_) => self.claim(trace, &renewal).map(|_| ()),
        }
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
