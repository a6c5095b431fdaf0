//! The next steps of a run that is driven: the roles that the server plays do what they have to, until something is the
//! client's to do, the run has ended, may go no further, or nobody can go on.

use std::collections::BTreeSet;

use demur_api::{
    code::Code,
    confirmation::ConfirmationId,
    refusal::Refusal,
    run::{
        AgentTurn, AuditReport, AwaitedConfirmation, DriveReport, DriveStep, ReadyTool, RunStop,
        ToolToPrepare, ToolToRun, TurnReport, UnprovenRun,
    },
};
use demur_core::limit::{LimitError, Text};
use demur_ledger::{
    author::Author,
    content::ExecutionContent,
    event_type::{Content, Facts},
    facts::{Participant, VerificationRunCompleted},
    name::Sequence,
    role::Role,
    state::Phase,
    verify::Options,
};
use demur_run::{
    Orders,
    role::{Brief, Hands, Move, Report, RoleError, concerns, order},
};

use super::{
    cast::{Cast, Playing},
    recorder::Recorder,
    reported::Reported,
};
use crate::{
    audit::{self, threads},
    run::{Found, check_record, verdict},
};

/// One report on its way to the next step.
pub(super) struct Steps<'a> {
    pub(super) recorder: Recorder<'a>,
    pub(super) orders: &'a Orders,
    pub(super) cast: &'a Cast,
    pub(super) report: DriveReport,
    participants: Vec<Participant>,
    /// How a tool ended, until that is recorded.
    ended: Option<Report>,
    lost: BTreeSet<Sequence>,
    /// The calls whose tools are being made ready, and after those the calls whose tools are to be.
    ahead: Vec<String>,
    /// What the auditor found, until it is recorded.
    audited: &'a mut Option<Audited>,
}

/// What the auditor found, and in how many events.
pub(super) struct Audited {
    length: u64,
    found: Found,
}

/// What came of one look at the roles.
enum Looked {
    /// Something was done.
    Moved,
    /// The client has to do something.
    Client(DriveStep),
    /// Nobody has anything to do.
    Nobody,
    /// It cannot go on, for this reason.
    Hopeless(String),
}

impl<'a> Steps<'a> {
    /// Returns the run with what its client reports.
    pub(super) fn new(
        recorder: Recorder<'a>,
        (orders, cast): (&'a Orders, &'a Cast),
        audited: &'a mut Option<Audited>,
        mut report: DriveReport,
    ) -> Result<Self, Refusal> {
        let Reported { ended, lost } = Reported::take(&mut report, (orders, cast), recorder.history)?;
        let (participants, ahead) = (cast.participants(), report.ahead.clone());
        Ok(Self { recorder, orders, cast, report, participants, ended, lost, ahead, audited })
    }

    /// Goes on until the client has something to do. Everything that was said is on the disk then.
    pub(super) fn run(&mut self) -> Result<DriveStep, Refusal> {
        loop {
            let phase = self.phase();
            if phase.is_final() || self.report.leaves || self.report.until.is_some_and(|until| phase >= until)
            {
                self.recorder.commit()?;
                return Ok(self.over(false));
            }
            if let Some(TurnReport { role, failed: Some(failed), .. }) = &self.report.turn {
                self.recorder.abort(&format!("the {role} is an agent of its own, and {failed}"))?;
                return Ok(self.over(false));
            }
            match self.look(phase)? {
                Looked::Moved => {}
                Looked::Client(step) => {
                    // That a tool starts must be on the disk before it does, and so must what an agent hears.
                    self.recorder.commit()?;
                    return Ok(step);
                }
                Looked::Nobody if self.open_confirmation().is_some() => {
                    // Somebody has to say yes or no, however long that takes.
                    self.recorder.commit()?;
                    if let Some(confirmation) = self.open_confirmation() {
                        return Ok(DriveStep::Await(AwaitedConfirmation { confirmation }));
                    }
                }
                Looked::Nobody => {
                    let obstacle = self.brief().obstacle(&mut self.recorder.artifacts());
                    self.recorder.abort(&obstacle)?;
                    return Ok(self.over(true));
                }
                Looked::Hopeless(reason) => {
                    self.recorder.abort(&reason)?;
                    return Ok(self.over(false));
                }
            }
        }
    }

    /// Returns the first confirmation that nobody has given or refused.
    fn open_confirmation(&self) -> Option<ConfirmationId> {
        let (at, _) = self.recorder.history.state().confirmations().open().next()?;
        Some(ConfirmationId::new(self.recorder.trace, at))
    }

    fn over(&self, stuck: bool) -> DriveStep {
        DriveStep::Over(RunStop { phase: self.phase(), stuck })
    }

    fn phase(&self) -> Phase {
        self.recorder.history.state().phase()
    }

    /// Lets the first of those who may speak in this phase do one thing.
    fn look(&mut self, phase: Phase) -> Result<Looked, Refusal> {
        // Who just had a turn and said nothing lets the next one go on.
        let silent = self.report.turn.take().filter(|turn| !turn.moved).map(|turn| turn.role);
        let after = silent.and_then(|silent| order(phase).iter().position(|role| *role == silent));
        for role in order(phase).iter().skip(after.map_or(0, |at| at + 1)) {
            let looked = match self.cast.playing(*role) {
                Some(Playing::Here(author)) => self.play(*role, author)?,
                Some(Playing::Separate(_)) => self.turn(*role)?,
                None => Looked::Nobody,
            };
            if !matches!(looked, Looked::Nobody) {
                return Ok(looked);
            }
        }
        Ok(Looked::Nobody)
    }

    fn brief(&self) -> Brief<'_> {
        Brief {
            plan: &self.orders.plan,
            policy: &self.orders.policy,
            demands: self.orders.demands(),
            participants: &self.participants,
            bound: &self.orders.bound,
            history: self.recorder.history,
        }
    }

    fn play(&mut self, role: Role, author: &Author) -> Result<Looked, Refusal> {
        let brief = self.brief();
        let next = match role {
            Role::Planner => brief.planner(),
            Role::Critic => brief.critic(&mut self.recorder.artifacts()),
            Role::Executor => brief.executor(&self.hands(), &mut self.recorder.artifacts()),
            Role::Auditor => Ok(brief.auditor()),
            // They take no turn in a run.
            Role::Desk | Role::Holder | Role::Operator | Role::Agent | Role::Answerer | Role::Person => {
                Ok(None)
            }
        };
        match next {
            Ok(Some(next)) => self.perform(author, next),
            Ok(None) => Ok(Looked::Nobody),
            Err(RoleError::Look(error)) => Err(Refusal::new(Code::StoreTrouble, error)),
            // Every resume would meet it again.
            Err(error) => Ok(Looked::Hopeless(format!("the {role} cannot go on: {error}"))),
        }
    }

    fn hands(&self) -> Hands<'_> {
        let ready = self.report.ready.first().map(|tool| tool.call.as_str());
        Hands { report: self.ended.as_ref(), lost: &self.lost, ready, ahead: &self.ahead }
    }

    fn perform(&mut self, author: &Author, next: Move) -> Result<Looked, Refusal> {
        match next {
            Move::Say(facts @ Facts::SessionInitialized(_), content) => {
                self.recorder.open(author, (facts, content), &self.orders.recorded_policy)?;
            }
            Move::Say(facts, content) => {
                let ends = matches!(facts, Facts::ToolExecutionCompleted(_) | Facts::ToolExecutionFailed(_));
                self.recorder.say(author, facts, content)?;
                if ends {
                    self.ended = None;
                }
            }
            Move::Confirm { mut facts, content, within } => {
                let now = self.recorder.now()?;
                facts.deadline = within.map(|within| now.plus_millis(within));
                self.recorder.say(author, facts.into(), Some(Content::ConfirmationAsked(content)))?;
            }
            Move::Store { name, media_type, bytes } => {
                self.recorder.store(author, (&name, media_type), bytes)?;
            }
            Move::Prepare { call, ahead: false } => {
                return Ok(Looked::Client(DriveStep::Prepare(ToolToPrepare { call })));
            }
            Move::Prepare { call, ahead: true } => self.ahead.push(call),
            Move::Start { call, facts } => {
                let content = ExecutionContent { limits: self.limits(&call)?.try_into()? };
                self.recorder.say(author, facts.into(), Some(Content::ToolExecutionStarted(content)))?;
            }
            Move::Run { call } => return self.start(call).map(Looked::Client),
            Move::Conclude(facts, content) => {
                self.recorder.commit()?;
                match check_record(self.recorder.ledger, self.recorder.trace) {
                    Ok(()) => self.recorder.say(author, facts, content)?,
                    Err(Refusal { code: Code::RecordUnproven, message, .. }) => {
                        return Ok(Looked::Client(DriveStep::Unproven(UnprovenRun { message })));
                    }
                    Err(refusal) => return Err(refusal),
                }
            }
            Move::Verify => return self.verify(author),
        }
        Ok(Looked::Moved)
    }

    fn limits(&self, call: &str) -> Result<Vec<Text<1, 1024>>, Refusal> {
        let ready = self.report.ready.first().filter(|tool| tool.call == call);
        let ReadyTool { limits, .. } =
            ready.ok_or_else(|| Refusal::bug(&"a tool starts that is not ready"))?;
        let lines = limits.iter().take(MAX_LIMITS).map(|line| Text::cut(line));
        Ok(lines.collect::<Result<Vec<_>, LimitError>>()?)
    }

    fn start(&mut self, call: String) -> Result<DriveStep, Refusal> {
        let open = self.recorder.history.intents.values().filter(|intent| intent.ended.is_none());
        let started = open.filter_map(|intent| intent.started).max();
        let started = started.ok_or_else(|| Refusal::bug(&"a tool runs whose start is not recorded"))?;
        let ahead = self.ahead.split_off(self.report.ahead.len());
        Ok(DriveStep::Run(ToolToRun { call, started, ahead }))
    }

    /// Verifies everything, has the client keep the report, and then records what was found.
    fn verify(&mut self, author: &Author) -> Result<Looked, Refusal> {
        self.recorder.commit()?;
        let (history, kept) = (&self.recorder.history, self.report.kept);
        let is_kept = |audited: &Audited| {
            audited.length == history.state().length() && kept == Some(audited.found.content.report)
        };
        if let Some(Audited { found: Found { status, content, report }, .. }) =
            self.audited.take().filter(is_kept)
        {
            let through = history.verification;
            let through = through.ok_or_else(|| Refusal::bug(&"a verification that has not begun"))?;
            let facts = VerificationRunCompleted { status, through };
            self.recorder.store_report(author, report)?;
            self.recorder.say(author, facts.into(), Some(Content::VerificationRunCompleted(content)))?;
            return Ok(Looked::Moved);
        }
        let profile = self.orders.plan.task().profile;
        let options = Options { profile, threads: threads(), ..Options::default() };
        let (ledger, trace) = (self.recorder.ledger, self.recorder.trace);
        let report = audit::audit(ledger, trace, &options, &mut |_| ())??;
        let found = verdict(&report)?;
        let report = String::from_utf8(found.report.clone()).map_err(|error| Refusal::bug(&error))?;
        *self.audited = Some(Audited { length: history.state().length(), found });
        Ok(Looked::Client(DriveStep::Keep(AuditReport { report })))
    }

    /// Gives an agent of its own its turn, if there is anything it could do.
    fn turn(&mut self, role: Role) -> Result<Looked, Refusal> {
        let judges = matches!(role, Role::Critic | Role::Planner);
        let rested = self.report.rested.iter().find(|rested| rested.role == role).map(|rested| rested.length);
        // Who judged everything there is has nothing to add; who works may go on once the others had their look.
        let nothing_new = judges && rested == Some(self.recorder.history.state().length());
        if nothing_new || !concerns(role, self.recorder.history) {
            return Ok(Looked::Nobody);
        }
        Ok(Looked::Client(DriveStep::Turn(AgentTurn { role, now: self.recorder.now()? })))
    }
}

/// How many limits an event names at most.
const MAX_LIMITS: usize = 32;
