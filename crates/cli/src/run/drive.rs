//! The run is driven: whoever has something to do next does it, until the run has ended, may go no further, or nobody
//! can go on.

use std::collections::BTreeMap;

use super::{
    agent::Agent,
    cast::{Cast, Playing},
    desk::{Desk, Shelf},
    folder::{Orders, RunFolder},
    tools::Tools,
    turn::{self, Interrupted},
};
use crate::{
    audit::{audit, threads},
    failure::Failure,
};
use demur_api::code::Code;
use demur_desk::run::{check_record, verdict};
use demur_ledger::{
    author::Author,
    content::ExecutionContent,
    event_type::{Content, Facts},
    facts::VerificationRunCompleted,
    role::Role,
    state::Phase,
    verify::Options,
};
use demur_run::{
    line::{Hello, PROTOCOL},
    role::{Brief, Move, RoleError, concerns, order},
};

/// A run and everybody in it.
pub(super) struct Drive<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) orders: &'a Orders,
    cast: &'a Cast,
    folder: &'a RunFolder,
    tools: Tools,
    agents: BTreeMap<Role, Agent>,
    /// Nobody had anything left to do.
    pub(super) stuck: bool,
}

impl<'a> Drive<'a> {
    /// Returns a run that is ready to begin or to go on.
    pub(super) fn new(
        desk: Desk<'a>,
        orders: &'a Orders,
        cast: &'a Cast,
        folder: &'a RunFolder,
    ) -> Result<Self, Failure> {
        let mut tools = Tools::new(&folder.work(), &orders.policy.limits)?;
        let open = desk.history.intents.values().filter(|intent| intent.ended.is_none());
        tools.give_up(open.filter_map(|intent| intent.started));
        let mut desk = desk;
        desk.participants = cast.participants();
        Ok(Self { desk, orders, cast, folder, tools, agents: BTreeMap::new(), stuck: false })
    }

    /// Goes on until the run has ended or has come as far as it may.
    pub(super) fn run(&mut self, until: Option<Phase>) -> Result<(), Failure> {
        let ended = self.go(until);
        // What was said before something went wrong is not lost.
        let committed = self.desk.commit();
        let phase = self.desk.history.state().phase();
        // Where something could not be recorded, nobody knows how it ends.
        let told = ended.is_ok() && committed.is_ok();
        for agent in self.agents.values_mut().filter(|_| told) {
            // An agent that no longer listens misses nothing that matters.
            let _ = turn::farewell(&self.desk, agent, phase);
        }
        ended.and(committed)
    }

    fn go(&mut self, until: Option<Phase>) -> Result<(), Failure> {
        loop {
            let phase = self.desk.history.state().phase();
            if phase.is_final() || until.is_some_and(|until| phase >= until) {
                return Ok(());
            }
            match self.step(phase) {
                Ok(true) => {}
                Ok(false) => {
                    let obstacle = self.brief().obstacle();
                    self.stuck = true;
                    return self.desk.abort(&obstacle);
                }
                Err((role, Interrupted::Agent(error))) => {
                    return self.desk.abort(&format!("the {role} is an agent of its own, and {error}"));
                }
                Err((_, Interrupted::Task(reason))) => return self.desk.abort(&reason),
                Err((_, Interrupted::Here(error))) => return Err(error),
            }
        }
    }

    /// Lets the first of those who may speak in this phase do one thing. Returns whether anybody did.
    fn step(&mut self, phase: Phase) -> Result<bool, (Role, Interrupted)> {
        for role in order(phase) {
            let moved = match self.cast.playing(*role) {
                Some(Playing::Here(author)) => self.play(*role, author),
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
            demands: self.orders.demands(),
            participants: &self.desk.participants,
            bound: &self.orders.bound,
            history: &self.desk.history,
        }
    }

    fn play(&mut self, role: Role, author: &Author) -> Result<bool, Interrupted> {
        let brief = self.brief();
        let next = match role {
            Role::Planner => brief.planner(),
            Role::Critic => brief.critic(&mut Shelf { ledger: self.desk.ledger, trace: self.desk.trace }),
            Role::Executor => brief.executor(&self.tools.hands()),
            _ => Ok(brief.auditor()),
        };
        match next {
            Ok(Some(next)) => self.perform(author, next).map(|()| true).map_err(Interrupted::Here),
            Ok(None) => Ok(false),
            Err(RoleError::Look(error)) => Err(Failure::of(Code::StoreTrouble, error).into()),
            // Every resume would meet it again.
            Err(error) => Err(Interrupted::Task(format!("the {role} cannot go on: {error}"))),
        }
    }

    fn perform(&mut self, author: &Author, next: Move) -> Result<(), Failure> {
        match next {
            Move::Say(facts, content) => self.say(author, facts, content),
            Move::Store { name, media_type, bytes } => self.desk.store(author, (&name, media_type), bytes),
            Move::Prepare { call, ahead } => match self.orders.plan.task().call(&call) {
                Some((_, call)) => {
                    self.tools.prepare(call, ahead);
                    Ok(())
                }
                None => Err(Failure::bug(&"a call that is not in the task")),
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
                check_record(self.desk.ledger, self.desk.trace)?;
                self.desk.say(author, facts, content)
            }
            Move::Verify => self.verify(author),
        }
    }

    fn say(&mut self, author: &Author, facts: Facts, content: Option<Content>) -> Result<(), Failure> {
        let ends = matches!(facts, Facts::ToolExecutionCompleted(_) | Facts::ToolExecutionFailed(_));
        self.desk.say(author, facts, content)?;
        if ends {
            self.tools.forget();
        }
        Ok(())
    }

    fn verify(&mut self, author: &Author) -> Result<(), Failure> {
        self.desk.commit()?;
        let profile = self.orders.plan.task().profile;
        let options = Options { profile, threads: threads(), ..Options::default() };
        let report = audit(self.desk.ledger, self.desk.trace, &options, &mut |_| ())??;
        let (status, content, bytes) = verdict(&report)?;
        self.folder.keep_report(&bytes)?;
        let through = self.desk.history.verification;
        let through = through.ok_or_else(|| Failure::bug(&"a verification that has not begun"))?;
        let facts = VerificationRunCompleted { status, through };
        self.desk.say(author, facts.into(), Some(Content::VerificationRunCompleted(content)))
    }

    /// Gives an agent of its own its turn, if there is anything it could do.
    fn give_turn(&mut self, role: Role) -> Result<bool, Interrupted> {
        let judges = matches!(role, Role::Critic | Role::Planner);
        let seen = self.agents.get(&role).and_then(|agent| agent.rested);
        // Whoever judged everything there is has nothing to add; whoever works may go on once the others had their look.
        let nothing_new = judges && seen == Some(self.desk.history.state().length());
        if nothing_new || !concerns(role, &self.desk.history) {
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
        let player = player.ok_or_else(|| Failure::bug(&"an agent that the task does not name"))?;
        let part = self.desk.participants.iter().find(|one| one.role == role).copied();
        let part = part.ok_or_else(|| Failure::bug(&"a role without a player"))?;
        let constraints = self.orders.constraints()?;
        let hello = Hello {
            constraints,
            participants: self.desk.participants.clone().try_into()?,
            policy: self.orders.demands(),
            principal: part.principal,
            protocol: PROTOCOL,
            role,
            store: self.desk.ledger.registry().store(),
            trace: self.desk.trace,
        };
        let agent = Agent::start(player, hello, &self.orders.home)?;
        turn::greet(&agent)?;
        Ok(agent)
    }
}
