//! `demur run`: a task done by four roles that answer for every step (seed 002). What each role does next is decided in
//! `demur-run`; here it is signed, recorded, run and told.

mod agent;
mod cast;
mod desk;
mod door;
mod drive;
mod folder;
mod reply;
mod status;
mod tools;
mod turn;
mod watch;

use std::path::Path;

use demur_engine::reactor::CheckpointAfterRun;
use demur_ledger::{
    event_type::Facts,
    facts::Participant,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_sequencer::{Sequencer, read_event};

pub(crate) use reply::RunReply;

use self::{
    cast::Cast,
    desk::Desk,
    drive::Drive,
    folder::{Orders, RunFolder, Texts},
    watch::Watch,
};
use crate::{
    arguments::{AbortRun, ResumeRun, Run, RunCommand, Until},
    borrow,
    context::Context,
    data::DataFolder,
    exit::Exit,
    failure::Failure,
    lookup,
    output::Output,
    owner::Owner,
    world::World,
};

/// Runs, resumes, aborts or shows.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Run) -> Result<Exit, Failure> {
    match (&arguments.command, &arguments.task) {
        (Some(RunCommand::Resume(arguments)), _) => resume(context, arguments),
        (Some(RunCommand::Status(arguments)), _) => status::run(context, arguments),
        (Some(RunCommand::Abort(arguments)), _) => abort(context, arguments),
        (None, Some(task)) => {
            let texts = Texts::read(task, arguments.policy.as_deref())?;
            start(context, &texts, arguments.until)
        }
        (None, None) => Err(Failure::input("USAGE", "expected --task FILE or a command, found neither")),
    }
}

fn start(context: &mut Context<'_>, texts: &Texts, until: Option<Until>) -> Result<Exit, Failure> {
    let data = context.data()?;
    let mut world = World::open()?;
    let orders = texts.orders()?;
    let trace = TraceId::new(world.now()?, &mut world);
    let (mut owner, _) = context.making(&data, || borrow::open_or_create(&data))?;
    let cast = Cast::gather(&mut owner, orders.plan.task())?;
    let folder = RunFolder::create(&data, trace, texts, orders.plan.task())?;
    let reply = go(Some(context.output), &owner, (trace, &orders, &cast, &folder), until)?;
    context.output.reply(&reply)?;
    Ok(reply.exit())
}

/// Does a task without a word, in a folder that is in use already; `meanwhile` happens before the audit.
pub(crate) fn quietly(
    owner: &mut Owner,
    data: &DataFolder,
    task: &Path,
    meanwhile: impl FnOnce() -> Result<(), Failure>,
) -> Result<RunReply, Failure> {
    let (texts, mut world) = (Texts::read(task, None)?, World::open()?);
    let (orders, trace) = (texts.orders()?, TraceId::new(world.now()?, &mut world));
    let cast = Cast::gather(owner, orders.plan.task())?;
    let folder = RunFolder::create(data, trace, &texts, orders.plan.task())?;
    let players = (trace, &orders, &cast, &folder);
    go(None, owner, players, Some(Until::Auditing))?;
    meanwhile()?;
    go(None, owner, players, None)
}

fn resume(context: &mut Context<'_>, arguments: &ResumeRun) -> Result<Exit, Failure> {
    let data = context.data()?;
    let mut owner = borrow::open(&data)?;
    let trace = match &arguments.trace {
        Some(typed) => lookup::run(Some(owner.ledger().store()), &RunFolder::all(&data), typed)?,
        None => unfinished(&data, owner.ledger())?,
    };
    let folder = RunFolder::open(&data, trace)?;
    let orders = folder.texts()?.orders()?;
    let cast = match recorded(owner.ledger(), trace)? {
        Some(participants) => Cast::recall(&owner, orders.plan.task(), &participants)?,
        None => Cast::gather(&mut owner, orders.plan.task())?,
    };
    let players = (trace, &orders, &cast, &folder);
    let reply = go(Some(context.output), &owner, players, arguments.until)?;
    context.output.reply(&reply)?;
    Ok(reply.exit())
}

fn go(
    output: Option<&mut Output>,
    owner: &Owner,
    (trace, orders, cast, folder): (TraceId, &Orders, &Cast, &RunFolder),
    until: Option<Until>,
) -> Result<RunReply, Failure> {
    let ledger = owner.ledger();
    let watch = Watch::new(output, ledger.registry().store(), trace)?;
    let desk = Desk::new(ledger, trace, World::open()?, watch)?;
    check_files(&desk, orders)?;
    let mut drive = Drive::new(desk, orders, cast, folder)?;
    let ended = drive.run(until.map(Until::phase));
    let reply = RunReply::new(trace, &drive.desk.history, folder, drive.stuck);
    drop(drive);
    ended?;
    if reply.phase.is_final() {
        ledger.react(&CheckpointAfterRun)?;
    }
    Ok(reply)
}

/// Returns who takes part in a run that was opened.
fn recorded(ledger: &Sequencer, trace: TraceId) -> Result<Option<Vec<Participant>>, Failure> {
    let Some(stored) = ledger.store().events(trace, Sequence::FIRST, 1)?.pop() else { return Ok(None) };
    let event = read_event(trace, Sequence::FIRST, &stored)?;
    Ok(match event.said().map(|said| said.facts) {
        Ok(Facts::SessionInitialized(facts)) => Some(facts.participants.to_vec()),
        _ => None,
    })
}

/// The record says which files the run was started with: going on with others would break its promise.
fn check_files(desk: &Desk<'_>, orders: &Orders) -> Result<(), Failure> {
    let recorded = &desk.history.constraints;
    let opened = desk.history.state().phase() != Phase::Initialized;
    match orders.bound.iter().find(|line| opened && !recorded.contains(*line)) {
        None => Ok(()),
        Some(line) => {
            let message = format!("expected the files that the run was started with, but {line}");
            Err(Failure::refused("TASK_CHANGED", message).with_hint("start a new run with the changed files"))
        }
    }
}

fn abort(context: &mut Context<'_>, arguments: &AbortRun) -> Result<Exit, Failure> {
    let data = context.data()?;
    let owner = borrow::open(&data)?;
    let ledger = owner.ledger();
    let trace = match &arguments.trace {
        Some(typed) => lookup::run(Some(ledger.store()), &RunFolder::all(&data), typed)?,
        None => unfinished(&data, ledger)?,
    };
    if ledger.store().trace(trace)?.is_none() && RunFolder::open(&data, trace).is_ok() {
        let message = format!("expected a run with at least one event, found none recorded of {trace}");
        return Err(Failure::input("RUN_NOT_BEGUN", message)
            .with_hint("it was killed before it began: `demur run resume` begins it, or leave it alone"));
    }
    ledger.abort(trace, arguments.reason.clone())?;
    ledger.react(&CheckpointAfterRun)?;
    status::show(context, ledger.store(), trace, &data)
}

/// Returns the newest run that was started here and has not ended.
fn unfinished(data: &DataFolder, ledger: &Sequencer) -> Result<TraceId, Failure> {
    for trace in RunFolder::all(data) {
        let summary = ledger.store().trace(trace)?;
        let over =
            summary.is_some_and(|known| known.failed.is_some() || known.phase.is_some_and(Phase::is_final));
        if !over {
            return Ok(trace);
        }
    }
    Err(Failure::input("NO_RUN", "expected a run that has not ended, found none")
        .with_hint("start one with `demur run --task FILE`"))
}

impl Until {
    const fn phase(self) -> Phase {
        match self {
            Self::Reviewing => Phase::Reviewing,
            Self::Executing => Phase::Executing,
            Self::Claiming => Phase::Claiming,
            Self::Auditing => Phase::Auditing,
        }
    }
}
