//! A run as its client knows it: what is on record, told as it comes, and the claim under which it goes on. A server that is
//! replaced meanwhile does not know the claim: it is told again.

use std::{
    thread,
    time::{Duration, Instant},
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, DriveRun, OfTrace, ReadRun},
    run::{ClaimRun, DriveReply, DriveReport, ReadRunParameters, SubmitInRun, UnprovenRun},
};
use demur_ledger::{name::TraceId, role::Role};
use demur_run::{
    history::History,
    line::{FromDesk, ShownEvent},
};

use super::{api::RunApi, watch::Watch};
use crate::failure::Failure;

/// A run in progress.
pub(super) struct Record<'a> {
    pub(super) api: &'a RunApi<'a>,
    pub(super) trace: TraceId,
    pub(super) claim: &'a ClaimRun,
    pub(super) history: History,
    watch: Watch<'a>,
}

impl<'a> Record<'a> {
    /// Returns the run of this trace as far as it is recorded.
    pub(super) fn new(
        api: &'a RunApi<'a>,
        trace: TraceId,
        claim: &'a ClaimRun,
        watch: Watch<'a>,
    ) -> Result<Self, Failure> {
        let mut record = Self { api, trace, claim, history: History::new(), watch };
        record.catch_up(false)?;
        Ok(record)
    }

    /// Reports, and tells what was recorded; returns what comes next.
    pub(super) fn report(&mut self, report: &DriveReport) -> Result<DriveReply, Failure> {
        let mut reply = self.claimed(|api, trace| api.send::<DriveRun>(trace, report))?;
        self.tell(std::mem::take(&mut reply.events), reply.length)?;
        Ok(reply)
    }

    /// Submits what an agent said, and tells what was recorded; returns what the agent is answered.
    pub(super) fn submit(&mut self, role: Role, line: String) -> Result<FromDesk, Failure> {
        let said = SubmitInRun { claim: self.claim.claim, role, line };
        let submitted = self.claimed(|api, trace| api.send::<operation::SubmitInRun>(trace, &said))?;
        self.tell(submitted.events, submitted.length)?;
        submitted.unproven.map_or(Ok(()), |found| Err(unproven(found)))?;
        FromDesk::parse(submitted.answer.as_bytes()).map_err(|error| Failure::bug(&error))
    }

    /// Tells whoever started the run what somebody has to do.
    pub(super) fn call_for(&mut self, text: &str) -> Result<(), Failure> {
        self.watch.call_for(text)
    }

    /// Lets others drive the run, if there is anybody to tell.
    pub(super) fn leave(&self, report: DriveReport) {
        // Where this does not arrive, the claim ends by itself.
        let _ = self.api.send::<DriveRun>(self.trace, &DriveReport { leaves: true, ..report });
    }

    /// Returns lines of the run from an event on, with the bytes of artifacts if wanted; none at its end.
    pub(super) fn lines(&self, from: u64, artifacts: bool) -> Result<Vec<String>, Failure> {
        let wanted = ReadRunParameters { from: Some(from), artifacts: Some(artifacts) };
        Ok(self.api.call(ApiRequest::<ReadRun>::get(OfTrace { trace: self.trace }, wanted))?.lines)
    }

    /// Takes in what was recorded and is not known here.
    pub(super) fn catch_up(&mut self, told: bool) -> Result<(), Failure> {
        loop {
            let lines = self.lines(self.history.state().length(), false)?;
            if lines.is_empty() {
                return Ok(());
            }
            for line in lines {
                self.take(&event(&line)?, told)?;
            }
        }
    }

    /// Tells what was recorded. Where an answer got lost, what it told is read.
    fn tell(&mut self, lines: Vec<String>, length: u64) -> Result<(), Failure> {
        for line in lines {
            let shown = event(&line)?;
            if shown.event.envelope().sequence.number() == self.history.state().length() {
                self.take(&shown, true)?;
            }
        }
        if self.history.state().length() < length { self.catch_up(true) } else { Ok(()) }
    }

    fn take(&mut self, shown: &ShownEvent, told: bool) -> Result<(), Failure> {
        let opening = shown.opening.as_ref();
        let content = opening.map(|opening| &opening.bytes[..]);
        self.history.take(&shown.event, content).map_err(|error| {
            let at = shown.event.envelope().sequence;
            let message = format!("event {at} of the run does not follow the others: {}", error.code());
            Failure::of(Code::RecordDamaged, message)
        })?;
        if told {
            self.watch.tell(&shown.event, opening)
        } else {
            self.watch.learn(&shown.event, opening).map(|_| ())
        }
    }

    /// Asks for something under the claim, which a new server is told first. A server that has too much to do is asked again.
    fn claimed<T>(&self, ask: impl Fn(&RunApi<'_>, TraceId) -> Result<T, Failure>) -> Result<T, Failure> {
        let until = Instant::now() + SERVER_TIMEOUT;
        loop {
            match ask(self.api, self.trace) {
                Err(error) if Instant::now() > until => return Err(error),
                Err(error) if error.is(Code::ClaimUnknown) => {
                    let claim = ClaimRun { abandoned: false, ..self.claim.clone() };
                    self.api.send::<operation::ClaimRun>(self.trace, &claim)?;
                }
                Err(error) if error.is(Code::Overloaded) => thread::sleep(RETRY_INTERVAL),
                asked => return asked,
            }
        }
    }
}

/// Returns the failure of a run whose record does not hold.
pub(super) fn unproven(found: UnprovenRun) -> Failure {
    Failure::of(Code::RecordUnproven, found.message).with_hint("`demur store check` says what else is wrong")
}

/// Returns the event on a line.
fn event(line: &str) -> Result<ShownEvent, Failure> {
    match FromDesk::parse(line.as_bytes()).map_err(|error| Failure::bug(&error))? {
        FromDesk::Event(shown) => Ok(*shown),
        other => Err(Failure::bug(&format!("expected a line with an event, found {}", other.kind()))),
    }
}

/// How long a server may be replaced again and again, or have too much to do.
const SERVER_TIMEOUT: Duration = Duration::from_mins(1);
/// How long to wait for one that has too much to do.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
