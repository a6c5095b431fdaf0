//! The run is driven: whoever has something to do next does it, until the run has ended, may go no further, or nobody
//! can go on.

use std::collections::BTreeMap;

use demur_core::{canonical, hash::sha256};
use demur_ledger::{
    author::Author,
    content::{ExecutionContent, VerificationContent},
    event_type::{Content, Facts},
    facts::{Participant, VerificationRunCompleted, VerificationStatus},
    role::Role,
    state::Phase,
    verify::Options,
};
use demur_run::{
    history::History,
    line::{Hello, PROTOCOL},
    role::{Brief, Move},
};
use demur_store::contract::Failure;

use super::{
    agent::Agent,
    cast::{Cast, Playing},
    desk::{Desk, Shelf},
    folder::{Orders, RunFolder},
    tools::Tools,
    turn::{self, Interrupted},
};
use crate::{
    audit::{self, audit},
    error::CommandError,
    exit::Exit,
    verify::threads,
};

/// A run and everybody in it.
pub(super) struct Drive<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) orders: &'a Orders,
    cast: &'a Cast,
    participants: Vec<Participant>,
    folder: &'a RunFolder,
    tools: Tools,
    agents: BTreeMap<Role, Agent>,
}

impl<'a> Drive<'a> {
    /// Returns a run that is ready to begin or to go on.
    pub(super) fn new(
        desk: Desk<'a>,
        orders: &'a Orders,
        cast: &'a Cast,
        folder: &'a RunFolder,
    ) -> Result<Self, CommandError> {
        let mut tools = Tools::new(&folder.work(), &orders.policy.limits)?;
        let open = desk.history.intents.values().filter(|intent| intent.ended.is_none());
        tools.give_up(open.filter_map(|intent| intent.started));
        let participants = cast.participants();
        Ok(Self { desk, orders, cast, participants, folder, tools, agents: BTreeMap::new() })
    }

    /// Goes on until the run has ended or has come as far as it may.
    pub(super) fn run(&mut self, until: Option<Phase>) -> Result<(), CommandError> {
        let ended = self.go(until);
        // What was said before something went wrong is not lost.
        let committed = self.desk.commit();
        let phase = self.desk.history.state().phase();
        for agent in self.agents.values_mut() {
            // An agent that no longer listens misses nothing that matters.
            let _ = turn::farewell(&self.desk, agent, phase);
        }
        ended.and(committed)
    }

    fn go(&mut self, until: Option<Phase>) -> Result<(), CommandError> {
        loop {
            let phase = self.desk.history.state().phase();
            if phase.is_final() || until.is_some_and(|until| phase >= until) {
                return Ok(());
            }
            match self.step(phase) {
                Ok(true) => {}
                Ok(false) => {
                    let obstacle = self.brief().obstacle();
                    return self.desk.abort(&obstacle);
                }
                Err((role, Interrupted::Agent(error))) => {
                    return self.desk.abort(&format!("the {role} is an agent of its own, and {error}"));
                }
                Err((_, Interrupted::Here(error))) => return Err(error),
            }
        }
    }

    /// Lets the first of those who may speak in this phase do one thing. Returns whether anybody did.
    fn step(&mut self, phase: Phase) -> Result<bool, (Role, Interrupted)> {
        for role in order(phase) {
            let moved = match self.cast.playing(*role) {
                Some(Playing::Here(author)) => self.play(*role, author).map_err(Interrupted::Here),
                Some(Playing::Separate(_)) => self.give_turn(*role),
                None => Ok(false),
            };
            if moved.map_err(|error| (*role, error))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn brief(&self) -> Brief<'_> {
        Brief {
            plan: &self.orders.plan,
            policy: &self.orders.policy,
            participants: &self.participants,
            bound: &self.orders.bound,
            history: &self.desk.history,
        }
    }

    fn play(&mut self, role: Role, author: &Author) -> Result<bool, CommandError> {
        let brief = self.brief();
        let next = match role {
            Role::Planner => brief.planner(),
            Role::Critic => brief.critic(&mut Shelf { ledger: self.desk.ledger, trace: self.desk.trace }),
            Role::Executor => brief.executor(&self.tools.hands()),
            _ => Ok(brief.auditor()),
        };
        match next.map_err(|error| CommandError::input("TASK_INVALID", error))? {
            Some(next) => self.perform(author, next).map(|()| true),
            None => Ok(false),
        }
    }

    fn perform(&mut self, author: &Author, next: Move) -> Result<(), CommandError> {
        match next {
            Move::Say(facts, content) => self.say(author, facts, content),
            Move::Store { name, media_type, bytes } => self.desk.store(author, (&name, media_type), bytes),
            Move::Prepare { call } => match self.orders.plan.task().call(&call) {
                Some((_, call)) => {
                    self.tools.prepare(call);
                    Ok(())
                }
                None => Err(CommandError::bug(&"a call that is not in the task")),
            },
            Move::Start { call, facts } => {
                let content = ExecutionContent { limits: self.tools.limits(&call)?.try_into()? };
                self.desk.say(author, facts.into(), Some(Content::ToolExecutionStarted(content)))
            }
            Move::Run { call } => {
                // That it starts must be on the disk before it does.
                self.desk.commit()?;
                self.tools.run(&call)
            }
            Move::Conclude(facts, content) => {
                self.desk.commit()?;
                self.check_before_the_end()?;
                self.desk.say(author, facts, content)
            }
            Move::Verify => self.verify(author),
            _ => Err(CommandError::bug(&"a move that this version does not know")),
        }
    }

    fn say(&mut self, author: &Author, facts: Facts, content: Option<Content>) -> Result<(), CommandError> {
        let ends = matches!(facts, Facts::ToolExecutionCompleted(_) | Facts::ToolExecutionFailed(_));
        self.desk.say(author, facts, content)?;
        if ends {
            self.tools.forget();
        }
        Ok(())
    }

    /// No final statement over a record that does not hold (LED-25). Such a record is marked as failed (LED-18, LED-30).
    fn check_before_the_end(&mut self) -> Result<(), CommandError> {
        let options = Options { threads: threads(), ..Options::default() };
        let report = audit(self.desk.ledger, self.desk.trace, &options, &mut |_| ())??;
        let Some(finding) = audit::obstacle(&report) else { return Ok(()) };
        let failure = Failure { sequence: finding.sequence, code: finding.code.as_str().to_owned() };
        self.desk.ledger.mark_failed(self.desk.trace, &failure)?;
        let message = format!("the record does not hold, and the run has failed: {}", finding.message);
        Err(CommandError::new(Exit::VerificationFailed, "RECORD_DAMAGED", message)
            .with_hint("`demur store check` says what else is wrong"))
    }

    fn verify(&mut self, author: &Author) -> Result<(), CommandError> {
        self.desk.commit()?;
        let profile = self.orders.plan.task().profile;
        let options = Options { profile, threads: threads(), ..Options::default() };
        let report = audit(self.desk.ledger, self.desk.trace, &options, &mut |_| ())??;
        let bytes = canonical::to_vec(&report)?;
        self.folder.keep_report(&bytes)?;
        let status = audit::status(&report);
        let summary = match status {
            VerificationStatus::Pass => "every check of the export holds".to_owned(),
            VerificationStatus::PassWithWarnings => "nothing failed, something is worth reading".to_owned(),
            VerificationStatus::Fail => report.words.clone(),
        };
        let summary: String = summary.chars().take(4096).collect();
        let content = VerificationContent { report: sha256(&bytes), summary: summary.as_str().try_into()? };
        let through = self.desk.history.verification;
        let through = through.ok_or_else(|| CommandError::bug(&"a verification that has not begun"))?;
        let facts = VerificationRunCompleted { status, through };
        self.desk.say(author, facts.into(), Some(Content::VerificationRunCompleted(content)))
    }

    /// Gives an agent of its own its turn, if there is anything it could do.
    fn give_turn(&mut self, role: Role) -> Result<bool, Interrupted> {
        if !concerns(role, &self.desk.history) {
            return Ok(false);
        }
        self.desk.commit()?;
        if !self.agents.contains_key(&role) {
            let agent = self.start(role)?;
            self.agents.insert(role, agent);
        }
        match self.agents.get_mut(&role) {
            Some(agent) => turn::take_turn(&mut self.desk, agent),
            None => Ok(false),
        }
    }

    fn start(&self, role: Role) -> Result<Agent, Interrupted> {
        let player = self.orders.plan.task().agents.get(&role);
        let player = player.ok_or_else(|| CommandError::bug(&"an agent that the task does not name"))?;
        let agent = Agent::start(player, &self.orders.home)?;
        let principal = self.participants.iter().find(|one| one.role == role).map(|one| one.principal);
        let hello = Hello {
            participants: self.participants.clone().try_into()?,
            policy: self.orders.policy.facts(),
            principal: principal.ok_or_else(|| CommandError::bug(&"a role without a player"))?,
            protocol: PROTOCOL,
            role,
            store: self.desk.ledger.registry().store(),
            trace: self.desk.trace,
        };
        turn::greet(&agent, hello)?;
        Ok(agent)
    }
}

/// Returns whether a role that is played elsewhere could have something to do: a turn costs a commit and a round trip.
fn concerns(role: Role, history: &History) -> bool {
    let executing = history.state().phase() == Phase::Executing;
    let mut intents = history.intents.values();
    match role {
        Role::Critic if executing => {
            intents.any(|intent| intent.review.is_none() && intent.started.is_none())
                || history.proposals.values().any(|proposed| proposed.review.is_none())
        }
        Role::Planner if executing => {
            intents.any(|intent| intent.ended.as_ref().is_some_and(|ended| ended.failure.is_some()))
        }
        _ => true,
    }
}

/// Returns who may have something to do in a phase, in the order in which they are asked: whoever judges comes before
/// whoever would go on.
const fn order(phase: Phase) -> &'static [Role] {
    match phase {
        Phase::Initialized | Phase::Planning => &[Role::Planner],
        Phase::Reviewing => &[Role::Planner, Role::Critic],
        Phase::Executing => &[Role::Critic, Role::Planner, Role::Executor],
        Phase::Claiming => &[Role::Critic, Role::Executor],
        Phase::Auditing => &[Role::Auditor],
        Phase::Completed | Phase::Failed | Phase::Aborted => &[],
    }
}
