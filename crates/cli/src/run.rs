//! `demur run`: a task done by four roles that answer for every step (seed 002). The server decides what each role does next,
//! signs and records it; here tools run, agents have their turns, and what is recorded is shown.

mod agent;
mod api;
mod drive;
mod folder;
mod halt;
mod record;
mod reply;
mod status;
mod tools;
mod turn;
mod watch;
mod work_folder;

use std::path::Path;

use demur_api::{
    call::ApiRequest,
    operation::{self, Nothing, OfTrace},
    run::{self, ClaimId, ClaimRun, ClaimedRun, RunOrigin},
};
use demur_desk::{data::DataFolder, operating_system::OperatingSystem, run::driver};
use demur_ledger::{name::TraceId, state::Phase};
use demur_run::Orders;

pub(crate) use reply::RunReply;

use self::{
    api::RunApi,
    drive::Drive,
    folder::{RunFolder, Texts},
    record::Record,
    watch::Watch,
};
use crate::{
    arguments::{AbortRun, ResumeRun, Run, RunCommand, Until},
    client::Client,
    context::Context,
    demo::DemoDesk,
    exit::Exit,
    failure::Failure,
    lookup,
    output::Output,
    reader::Reader,
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
    let orders = texts.orders()?;
    tools::check_sandbox(&orders.policy)?;
    let mut system = OperatingSystem::open()?;
    let trace = TraceId::new(system.now()?, &mut system);
    let (api, data) = (RunApi::Server(Client::open(context)?), context.data()?);
    let mut claim = claim(texts, None)?;
    let claimed = api.send::<operation::ClaimRun>(trace, &claim)?;
    claim.began = Some(claimed.origin);
    let work = work_folder::make(&data, trace)?;
    let folder = RunFolder::create(&data, (trace, claimed.origin), (texts, orders.plan.task()), &work)?;
    let _taken = folder.take(trace)?;
    let run = Claimed { api: &api, trace, claim: &claim, found: &claimed };
    let reply = run.go(Some(context.output), (texts, &orders, &folder), until)?;
    context.output.reply(&reply)?;
    Ok(reply.exit())
}

/// Does a task without a word, in a folder that is in use already, with tools that work in a folder below `tools`; `meanwhile`
/// happens before the audit.
pub(crate) fn quietly(
    desk: &DemoDesk,
    (data, tools): (&DataFolder, &Path),
    task: &Path,
    meanwhile: impl FnOnce() -> Result<(), Failure>,
) -> Result<RunReply, Failure> {
    let (texts, mut system) = (Texts::read(task, None)?, OperatingSystem::open()?);
    let (orders, trace) = (texts.orders()?, TraceId::new(system.now()?, &mut system));
    let (api, mut claim) = (RunApi::Here(desk), claim(&texts, None)?);
    let origin = api.send::<operation::ClaimRun>(trace, &claim)?.origin;
    claim.began = Some(origin);
    let work = work_folder::make_at(&tools.join(trace.to_string()))?;
    let folder = RunFolder::create(data, (trace, origin), (&texts, orders.plan.task()), &work)?;
    let go = |until| {
        let found = &api.send::<operation::ClaimRun>(trace, &claim)?;
        Claimed { api: &api, trace, claim: &claim, found }.go(None, (&texts, &orders, &folder), until)
    };
    go(Some(Until::Auditing))?;
    meanwhile()?;
    go(None)
}

fn resume(context: &mut Context<'_>, arguments: &ResumeRun) -> Result<Exit, Failure> {
    let data = context.data()?;
    let reader = Reader::open(data.clone())?;
    let trace = match &arguments.trace {
        Some(typed) => lookup::run(Some(&reader), &RunFolder::all(&data), typed)?,
        None => unfinished(&data, &reader)?,
    };
    let folder = RunFolder::open(&data, trace)?;
    let _taken = folder.take(trace)?;
    let texts = folder.texts()?;
    let (orders, claim) = (texts.orders()?, claim(&texts, Some(folder.origin()?))?);
    tools::check_sandbox(&orders.policy)?;
    let api = RunApi::Server(Client::starting(data)?);
    let claimed = api.send::<operation::ClaimRun>(trace, &claim)?;
    let run = Claimed { api: &api, trace, claim: &claim, found: &claimed };
    let reply = run.go(Some(context.output), (&texts, &orders, &folder), arguments.until)?;
    context.output.reply(&reply)?;
    Ok(reply.exit())
}

/// Returns a claim of this process on a new run, or on one that began before. A process that has the folder of such a run knows
/// that the one before it has ended.
fn claim(texts: &Texts, began: Option<RunOrigin>) -> Result<ClaimRun, Failure> {
    let mut system = OperatingSystem::open()?;
    let claim = ClaimId::new(system.now()?, &mut system);
    Ok(ClaimRun { claim, abandoned: began.is_some(), orders: Some(texts.to_orders()), began })
}

/// A run that this process drives.
struct Claimed<'a> {
    api: &'a RunApi<'a>,
    trace: TraceId,
    claim: &'a ClaimRun,
    found: &'a ClaimedRun,
}

impl Claimed<'_> {
    fn go(
        &self,
        output: Option<&mut Output>,
        (texts, orders, folder): (&Texts, &Orders, &RunFolder),
        until: Option<Until>,
    ) -> Result<RunReply, Failure> {
        let watch = Watch::new(output, self.found.origin.store, self.trace)?;
        let record = Record::new(self.api, self.trace, self.claim, watch)?;
        let mut drive = Drive::new(record, (orders, self.found), (&texts.home, folder))?;
        let ended = drive.run(until.map(Until::phase));
        let reply = RunReply::new(self.trace, &drive.record.history, folder, drive.stuck);
        drop(drive);
        ended?;
        Ok(reply)
    }
}

fn abort(context: &mut Context<'_>, arguments: &AbortRun) -> Result<Exit, Failure> {
    let data = context.data()?;
    let reader = Reader::open(data.clone())?;
    let trace = match &arguments.trace {
        Some(typed) => lookup::run(Some(&reader), &RunFolder::all(&data), typed)?,
        None => unfinished(&data, &reader)?,
    };
    let folder = RunFolder::open(&data, trace).ok();
    if let Some(folder) = &folder
        && reader.trace(trace)?.is_none()
    {
        check_origin(folder, trace, reader.origin()?)?;
        let message = format!("expected a run with at least one event, found none recorded of {trace}");
        return Err(Failure::input("RUN_NOT_BEGUN", message)
            .with_hint("it was killed before it began: `demur run resume` begins it, or leave it alone"));
    }
    let body = run::AbortRun { reason: arguments.reason.clone() };
    let request = ApiRequest::<operation::AbortRun>::send(OfTrace { trace }, body);
    let Nothing {} = Client::starting(data.clone())?.call(request)?;
    status::show(context, &reader, trace, &data)
}

/// Returns the newest run that was started here and has not ended.
fn unfinished(data: &DataFolder, reader: &Reader) -> Result<TraceId, Failure> {
    let (here, mut elsewhere) = (reader.origin()?, None);
    for trace in RunFolder::all(data) {
        let summary = reader.trace(trace)?;
        let over =
            summary.is_some_and(|known| known.failed.is_some() || known.phase.is_some_and(Phase::is_final));
        if over {
            continue;
        }
        match RunFolder::open(data, trace).and_then(|folder| check_origin(&folder, trace, here)) {
            Ok(()) => return Ok(trace),
            Err(error) => elsewhere = elsewhere.or(Some(error)),
        }
    }
    Err(elsewhere.unwrap_or_else(|| {
        Failure::input("NO_RUN", "expected a run that has not ended, found none")
            .with_hint("start one with `demur run --task FILE`")
    }))
}

/// Refuses the folder of a run that began elsewhere.
fn check_origin(folder: &RunFolder, trace: TraceId, here: RunOrigin) -> Result<(), Failure> {
    Ok(driver::check_origin(trace, folder.origin()?, here)?)
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
