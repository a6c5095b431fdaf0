//! A look at a whole store: its files, then every trace as the verifier sees its export, read from the disk and not from
//! what this process remembers. A trace that does not hold is marked as failed, and nothing is added to it any more
//! (LED-18). Nothing is ever repaired here.

mod trouble;

use std::sync::{Arc, Mutex, PoisonError};

use demur_api::{
    code::{Class, Code},
    refusal::Refusal,
    store::{CheckpointView, StoreCheck, StoreCheckPart, StoreCheckProgress, StoreSize, StoreTrouble},
};
use demur_ledger::{
    event_type::Facts,
    name::TraceId,
    verify::{FindingSeverity, Options, Report, Verdict},
};
use demur_sequencer::{RootTrees, Sequencer};
use demur_store::contract::{Failure, Store, StoreError, StoreProgress, StoreStep};

use crate::{
    audit::{audit_under, threads},
    keyring::Keyring,
    operating_system::OperatingSystem,
    owner::{Owner, open_sequencer},
    record,
};

pub use trouble::{is_newer, of_files, of_opening};

/// Is told how far a check is.
pub type Tell<'a> = &'a mut (dyn FnMut(StoreCheckProgress) + Send);

/// Marks a trace that does not hold.
pub type Mark<'a> = &'a dyn Fn(TraceId, &Failure) -> Result<(), Refusal>;

/// Says whether nobody waits for a check any more.
pub type IsGone<'a> = &'a dyn Fn() -> bool;

/// Records a checkpoint: one hash over what every trace holds at this moment.
pub fn checkpoint(owner: &Owner) -> Result<CheckpointView, Refusal> {
    let recorded = owner.sequencer().checkpoint()?;
    let (event, _) = record::read(owner.sequencer().store(), recorded.trace, recorded.position.sequence)?;
    match event.said().map(|said| said.facts) {
        Ok(Facts::CheckpointRecorded(facts)) => Ok(CheckpointView {
            event: recorded.position,
            registry: recorded.trace,
            root: facts.root,
            traces: facts.traces.as_u64(),
        }),
        _ => Err(Refusal::bug(&"a checkpoint that was just recorded is not there")),
    }
}

/// How far the check of a store is, and the turn of whoever checks it.
#[derive(Debug, Default)]
pub struct Checking {
    turn: Mutex<()>,
    progress: Mutex<Option<StoreCheckProgress>>,
}

impl Checking {
    fn set(&self, progress: Option<StoreCheckProgress>) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

/// Looks at everything in the store of a data folder in use; one after the other. It ends early where nobody waits for it.
pub fn check_owned(owner: &Owner, is_gone: IsGone<'_>) -> Result<StoreCheck, Refusal> {
    let (checking, ledger) = (owner.checking(), owner.sequencer());
    let _turn = checking.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let mark = |trace: TraceId, failure: &Failure| Ok(ledger.mark_failed(trace, failure)?);
    let tell = &mut |progress| checking.set(Some(progress));
    let checked = check(ledger.shared_store(), &owner.shared_keyring(), &mark, tell, is_gone);
    checking.set(None);
    let mut checked = checked?;
    checked.problems.extend(owner.check_kept().err().map(|error| of_opening(&error)));
    Ok(checked)
}

/// Returns how far the check is that goes on now.
pub fn progress(owner: &Owner) -> StoreCheckProgress {
    let known = *owner.checking().progress.lock().unwrap_or_else(PoisonError::into_inner);
    known.unwrap_or(StoreCheckProgress { part: None, done: 0, total: 0 })
}

/// Looks at everything in a store that is open.
pub fn check(
    store: Arc<dyn Store>,
    keyring: &Arc<dyn Keyring>,
    mark: Mark<'_>,
    tell: Tell<'_>,
    is_gone: IsGone<'_>,
) -> Result<StoreCheck, Refusal> {
    expect_somebody(is_gone)?;
    let found = store.check(&mut |step| tell(progress_of(step)))?;
    let mut check = StoreCheck { problems: of_files(&found), ..StoreCheck::default() };
    match size_of(&*store) {
        Err(error @ StoreError::Corrupt { .. }) => {
            if check.problems.is_empty() {
                check.problems.push(of_opening(&Refusal::from(error).with_cure(UNREADABLE)));
            }
            return Ok(check);
        }
        size => check.size = size?,
    }
    if store.registry()?.is_none() {
        return Ok(check);
    }
    let system = OperatingSystem::open()?;
    // Read anew: what this process has in memory is not what the disk has.
    let opened = open_sequencer(keyring, |find| Sequencer::read(store, find, Box::new(system)));
    match opened {
        Err(error) if error.code.class() == Class::Ours => return Err(error),
        Err(error) => check.problems.push(of_opening(&error)),
        Ok(ledger) => check_traces(&ledger, &mut check, mark, tell, is_gone)?,
    }
    Ok(check)
}

/// Returns how many traces and events a store has.
pub fn size_of(store: &dyn Store) -> Result<StoreSize, StoreError> {
    let heads = store.heads()?;
    let events = heads.iter().map(|(_, head)| head.sequence.next().number()).sum();
    Ok(StoreSize { events, traces: heads.len() as u64 })
}

/// Returns how far the store is with its part.
pub const fn progress_of(step: StoreProgress) -> StoreCheckProgress {
    let part = match step.step {
        StoreStep::Structure | StoreStep::Copy => StoreCheckPart::Structure,
        StoreStep::Events | StoreStep::Artifacts => StoreCheckPart::Events,
    };
    StoreCheckProgress { part: Some(part), done: step.done, total: step.total }
}

/// Verifies every trace, the registry first: where that does not hold, nothing can be said about the others.
fn check_traces(
    ledger: &Sequencer,
    check: &mut StoreCheck,
    mark: Mark<'_>,
    tell: Tell<'_>,
    is_gone: IsGone<'_>,
) -> Result<(), Refusal> {
    let registry = ledger.registry().trace();
    let mut trees = RootTrees::default();
    if !check_trace((ledger, &trees), registry, &mut check.problems, mark, &mut |_| ())? {
        check.marked.push(registry);
        return Ok(());
    }
    match ledger.check_roots() {
        Ok(wrong) => check.problems.extend(wrong.iter().map(|root| trouble::of_root(registry, root))),
        Err(error) => check.problems.push(trouble::of_export(registry, error)?),
    }
    match ledger.root_trees() {
        Ok(read) => trees = read,
        Err(error) => check.problems.push(trouble::of_export(registry, error)?),
    }
    let (mut done, total) = (0, check.size.events);
    for (trace, head) in ledger.store().heads()? {
        expect_somebody(is_gone)?;
        let mut tell = |events: u64| {
            tell(StoreCheckProgress { part: Some(StoreCheckPart::Traces), done: done + events, total });
        };
        if trace != registry && !check_trace((ledger, &trees), trace, &mut check.problems, mark, &mut tell)? {
            check.marked.push(trace);
        }
        done += head.sequence.next().number();
    }
    Ok(())
}

fn expect_somebody(is_gone: IsGone<'_>) -> Result<(), Refusal> {
    if is_gone() { Err(Refusal::new(Code::Stopping, "nobody waits for this check any more")) } else { Ok(()) }
}

/// Verifies one trace, and marks it if it does not hold. What a newer version wrote is told and not marked.
fn check_trace(
    (ledger, trees): (&Sequencer, &RootTrees),
    trace: TraceId,
    problems: &mut Vec<StoreTrouble>,
    mark: Mark<'_>,
    tell: &mut (dyn FnMut(u64) + Send),
) -> Result<bool, Refusal> {
    let options = Options { threads: threads(), ..Options::default() };
    let found = match audit_under(ledger, Some(trees), trace, &options, tell)? {
        Ok(report) => match (first_failure(trace, &report), ledger.check_head(trace)) {
            (None, Err(error)) => Some(trouble::of_export(trace, error)?),
            (failure, _) => failure,
        },
        Err(error) => Some(trouble::of_export(trace, error)?),
    };
    let Some(problem) = found else {
        let before = ledger.store().trace(trace)?.and_then(|summary| summary.failed);
        problems.extend(before.map(|failure| trouble::of_mark(trace, &failure)));
        return Ok(true);
    };
    let holds = is_newer(&problem);
    if !holds {
        mark(trace, &Failure { sequence: problem.sequence, code: problem.code.clone() })?;
    }
    if !problems.iter().any(|known| trouble::is_about(known, &problem)) {
        problems.push(problem);
    }
    Ok(holds)
}

fn first_failure(trace: TraceId, report: &Report) -> Option<StoreTrouble> {
    let failed = report.verdict == Verdict::Fail;
    let first =
        report.findings.iter().find(|finding| failed && finding.severity == FindingSeverity::Failure)?;
    Some(trouble::of_trace(trace, first))
}

/// What to do about files that cannot be read.
pub const UNREADABLE: &str = "keep these files, and restore a backup with `demur store restore --replace`";
