//! A run is driven: the server decides each next step from the record and plays the roles whose keys it has; a client claims
//! the run and is its hands (`demur_api::run::DriveReport`). Between two reports only a cache is kept here: whatever it
//! lacks, the client brings again with its claim.

mod cast;
mod claim;
mod handle;
mod lines;
mod recorder;
mod reported;
mod step;
mod submit;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{
    code::Code,
    refusal::Refusal,
    run::{ClaimId, ClaimRun, ClaimedRun, DriveReply, DriveReport, DriveStep, RunOrders, RunOrigin, RunStop},
};
use demur_core::limit::Text;
use demur_ledger::{
    facts::{Attribution, Participant},
    name::{Position, TraceId},
    state::Phase,
};
use demur_run::{Orders, history::History};

pub use lines::read_lines;
pub use submit::submit;

use self::{
    cast::Cast,
    recorder::Recorder,
    step::{Audited, Steps},
};
use super::{check_run, end::follow_end, is_over, read_on};
use crate::{owner::Owner, records::ATTEMPTS};

/// The runs that are driven here, by their traces.
#[derive(Default)]
pub struct Drivers(Mutex<BTreeMap<TraceId, Arc<Mutex<Option<Driving>>>>>);

/// A run that is driven.
struct Driving {
    claim: ClaimId,
    orders: Orders,
    cast: Cast,
    /// The registry that the players' keys were looked up in.
    registry: Position,
    history: History,
    /// How many events the client was told of, or has read when it claimed.
    told: u64,
    audited: Option<Audited>,
}

impl Drivers {
    /// Returns the place of a run, which is made if there is none. Who has its lock has the run for itself, at this server.
    fn place(&self, trace: TraceId) -> Arc<Mutex<Option<Driving>>> {
        let mut places = lock(&self.0);
        if !places.contains_key(&trace) && places.len() >= MAX_RUNS {
            // A cache: who is pushed out claims again. A place that nothing came of goes before the oldest run.
            let idle = places.iter().filter(|(_, place)| Arc::strong_count(place) == 1);
            let first = idle.min_by_key(|(_, place)| lock(place).is_some()).map(|(trace, _)| *trace);
            first.and_then(|first| places.remove(&first));
        }
        Arc::clone(places.entry(trace).or_default())
    }

    /// Returns the place of a run, if there is one.
    fn find(&self, trace: TraceId) -> Option<Arc<Mutex<Option<Driving>>>> {
        lock(&self.0).get(&trace).cloned()
    }

    fn forget(&self, trace: TraceId) {
        lock(&self.0).remove(&trace);
    }
}

/// Takes the right to drive a run, or renews it.
pub fn claim(owner: &Owner, trace: TraceId, wanted: &ClaimRun) -> Result<ClaimedRun, Refusal> {
    let ledger = owner.sequencer();
    let registry = ledger.registry();
    let origin = RunOrigin { store: registry.store(), epoch: registry.epoch_begin() };
    if let Some(began) = wanted.began {
        check_origin(trace, began, origin)?;
    }
    if ledger.store().trace(trace)?.is_some() {
        check_run(ledger.store(), trace)?;
    }
    let participants = match &wanted.orders {
        Some(orders) => begin(owner, trace, wanted, orders)?,
        None => renew(owner, trace, wanted.claim)?,
    };
    let length = ledger.store().trace(trace)?.map_or(0, |summary| summary.head.sequence.number() + 1);
    Ok(ClaimedRun { origin, length, participants })
}

/// Refuses a run that began elsewhere. What was recorded of it there is not here, and would be recorded again in other words
/// under the same trace.
pub fn check_origin(trace: TraceId, began: RunOrigin, here: RunOrigin) -> Result<(), Refusal> {
    if began == here {
        return Ok(());
    }
    let when = if began.store == here.store {
        "before the store came back from a backup"
    } else {
        "in another store"
    };
    let message =
        format!("expected a run that began in this store as it is now, found {trace}, which began {when}");
    Err(Refusal::new(Code::RunOfAnotherStore, message)
        .with_cure("start it anew with `demur run --task FILE`: it gets a trace of its own"))
}

/// Takes a claim with what is needed to drive its run, and returns who plays.
fn begin(
    owner: &Owner,
    trace: TraceId,
    ClaimRun { claim, abandoned, .. }: &ClaimRun,
    orders: &RunOrders,
) -> Result<Vec<Participant>, Refusal> {
    let place = owner.drivers().place(trace);
    let mut place = lock(&place);
    let now = owner.system().now()?;
    let orders = Orders::read(&orders.task, &orders.policy, &orders.files);
    let orders = orders.map_err(|error| Refusal::new(Code::TaskInvalid, error))?;
    claim::take(owner, trace, *claim, *abandoned, now)?;
    let opened = Driving::open(owner, trace, *claim, orders);
    if opened.is_err() {
        // Why it could not be opened matters more; the claim ends by itself.
        let _ = claim::release(owner, trace, *claim, now);
    }
    Ok(place.insert(opened?).cast.participants())
}

/// Renews a claim, and returns who plays. Renewing takes the record alone: where the run is not in mind, as after a restart, the
/// caller is told so and has the claim all the same.
fn renew(owner: &Owner, trace: TraceId, claim: ClaimId) -> Result<Vec<Participant>, Refusal> {
    let place = owner.drivers().find(trace);
    // Whoever drives the run to its end gives the claim back meanwhile.
    let place = place.as_ref().map(|place| lock(place));
    let held = claim::hold(owner, trace, claim, owner.system().now()?);
    let driving = place.as_deref().and_then(Option::as_ref).filter(|driving| driving.claim == claim);
    let driving = driving.ok_or_else(claim_unknown)?;
    held?;
    if is_over(owner, trace)? {
        return Err(Refusal::new(
            Code::RunOver,
            format!("expected a run that goes on, found that {trace} is over"),
        ));
    }
    Ok(driving.cast.participants())
}

/// Takes what a client reports, goes on as far as that goes without it, and returns what it does next.
pub fn drive(owner: &Owner, trace: TraceId, report: &DriveReport) -> Result<DriveReply, Refusal> {
    let place = owner.drivers().find(trace).ok_or_else(claim_unknown)?;
    let mut place = lock(&place);
    let claim = report.claim;
    let driving = held(owner, trace, claim, &mut place)?;
    let mut more = 0..ATTEMPTS;
    let reply = loop {
        match driving.advance(owner, trace, report.clone()) {
            // Others recorded something in between: what the report says is held against the record anew, if the run is
            // still this one's to drive.
            Err(refusal) if refusal.code == Code::Contended && more.next().is_some() => {
                claim::hold(owner, trace, claim, owner.system().now()?)?;
            }
            // An operator ended it in between: the record says so.
            Err(_) if is_over(owner, trace)? && more.next().is_some() => {}
            advanced => break advanced?,
        }
    };
    let (ends, completes) = match reply.step {
        DriveStep::Over(RunStop { phase, .. }) => (true, phase.is_final()),
        DriveStep::Unproven(_) => (true, false),
        DriveStep::Prepare(_)
        | DriveStep::Run(_)
        | DriveStep::Turn(_)
        | DriveStep::Await(_)
        | DriveStep::Keep(_) => (false, false),
    };
    if ends {
        *place = None;
        owner.drivers().forget(trace);
        claim::release(owner, trace, claim, owner.system().now()?)?;
    }
    if completes {
        follow_end(owner);
    }
    Ok(reply)
}

/// Ends a run on an operator's word. Nothing is recorded in it any more; whoever drives it hears of it with the next report.
pub fn abort(owner: &Owner, trace: TraceId, way: Attribution, reason: Text<1, 16384>) -> Result<(), Refusal> {
    owner.sequencer().abort_with(trace, way, reason, &[])?;
    follow_end(owner);
    Ok(())
}

impl Driving {
    /// Returns a run that is ready to begin or to go on.
    fn open(owner: &Owner, trace: TraceId, claim: ClaimId, orders: Orders) -> Result<Self, Refusal> {
        let (ledger, mut history) = (owner.sequencer(), History::new());
        if ledger.store().trace(trace)?.is_some() {
            ledger.come_back(trace)?;
            read_on(ledger.store(), trace, &mut history, |_, _| Ok::<_, Refusal>(()))?;
        }
        check_texts(&history, &orders)?;
        let registry = ledger.registry().head();
        let cast = players(owner, &orders, &history)?;
        let told = history.state().length();
        Ok(Self { claim, orders, cast, registry, history, told, audited: None })
    }

    fn advance(&mut self, owner: &Owner, trace: TraceId, report: DriveReport) -> Result<DriveReply, Refusal> {
        let advanced = self.step(owner, trace, report);
        // What was decided and is not on the disk is no history.
        if advanced.is_err() {
            self.history = History::new();
        }
        advanced
    }

    fn step(&mut self, owner: &Owner, trace: TraceId, report: DriveReport) -> Result<DriveReply, Refusal> {
        let recorder = Recorder::new(owner, (trace, self.claim), (&mut self.history, self.told))?;
        let registry = owner.sequencer().registry().head();
        if registry != self.registry {
            self.cast = players(owner, &self.orders, recorder.history)?;
            self.registry = registry;
        }
        let players = (&self.orders, &self.cast);
        let mut steps = Steps::new(recorder, players, &mut self.audited, report)?;
        let step = steps.run()?;
        let (length, events) = steps.recorder.into_lines();
        self.told = length;
        Ok(DriveReply { events, length, step })
    }
}

/// Returns the run of a claim that holds.
fn held<'a>(
    owner: &Owner,
    trace: TraceId,
    claim: ClaimId,
    place: &'a mut MutexGuard<'_, Option<Driving>>,
) -> Result<&'a mut Driving, Refusal> {
    let driving = place.as_mut().filter(|driving| driving.claim == claim).ok_or_else(claim_unknown)?;
    claim::hold(owner, trace, claim, owner.system().now()?)?;
    Ok(driving)
}

/// Returns who plays: those the run was opened with, or those the task names.
fn players(owner: &Owner, orders: &Orders, history: &History) -> Result<Cast, Refusal> {
    let task = orders.plan.task();
    match &history.participants[..] {
        [] => Cast::gather(owner, task),
        recorded => Cast::recall(owner, task, recorded),
    }
}

/// The record says which texts the run was started with: going on with others would break its promise.
fn check_texts(history: &History, orders: &Orders) -> Result<(), Refusal> {
    let opened = history.state().phase() != Phase::Initialized;
    match orders.bound.iter().find(|line| opened && !history.constraints.contains(*line)) {
        None => Ok(()),
        Some(line) => {
            let message = format!("expected the files that the run was started with, but {line}");
            Err(Refusal::new(Code::TaskChanged, message).with_cure("start a new run with the changed files"))
        }
    }
}

fn claim_unknown() -> Refusal {
    let message = "expected a claim that this server knows, found another";
    Refusal::new(Code::ClaimUnknown, message).about("claim").with_cure("claim the run again, with its orders")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many runs are kept in mind at once.
const MAX_RUNS: usize = 64;

#[cfg(test)]
mod tests {
    use demur_core::time::Timestamp;

    use super::{
        claim::tests::{Pair, expiry, pair},
        *,
    };

    /// While a tool works for long the server may be another, and the client brings its orders with the next report only.
    #[test]
    fn claim_is_renewed_at_a_server_that_does_not_know_the_run() {
        let Pair { here, there, trace, claims, _folder } = pair();
        let now = here.system().now().unwrap();
        let before = Timestamp::from_millis(now.as_millis() - ClaimId::LIFETIME_MILLIS / 2).unwrap();
        claim::take(&here, trace, claims[0], false, before).unwrap();
        let renewal = |claim| {
            super::claim(&there, trace, &ClaimRun { claim, abandoned: false, orders: None, began: None })
        };
        assert_eq!(renewal(claims[0]).unwrap_err().code, Code::ClaimUnknown);
        assert!(expiry(&there, trace) >= now.plus_millis(ClaimId::LIFETIME_MILLIS));
        // Nobody else gets it that way.
        assert_eq!(renewal(claims[1]).unwrap_err().code, Code::ClaimUnknown);
        claim::hold(&here, trace, claims[0], now).unwrap();
    }
}
