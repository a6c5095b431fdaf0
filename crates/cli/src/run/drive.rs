//! The hands of a run: the server says what comes next, here tools run and agents in processes of their own have their turns.

use std::{collections::BTreeMap, path::Path};

use demur_api::{
    call::ApiRequest,
    code::Code,
    confirmation::ConfirmationId,
    operation::{OfConfirmation, WaitForConfirmation},
    question::WaitParameters,
    run::{
        AgentTurn, AuditReport, AwaitedConfirmation, ClaimedRun, DriveReport, DriveStep, Rested, RunStop,
        ToolToPrepare, ToolToRun, TurnReport,
    },
};
use demur_core::{
    hash::{Digest, sha256},
    time::Timestamp,
};
use demur_ledger::{role::Role, state::Phase};
use demur_run::{Orders, task::Call};

use super::{
    agent::Agent,
    folder::RunFolder,
    halt::Halt,
    record::{Record, unproven},
    tools::Tools,
    turn::{self, Interrupted},
};
use crate::failure::Failure;

/// A run and everybody in it.
pub(super) struct Drive<'a> {
    pub(super) record: Record<'a>,
    orders: &'a Orders,
    claimed: &'a ClaimedRun,
    /// Where the task file was: agents in processes of their own start there.
    home: &'a Path,
    folder: &'a RunFolder,
    tools: Tools,
    /// Ends the tool that works, once the run is over.
    halt: Halt,
    agents: BTreeMap<Role, Agent>,
    /// What came of the last turn of an agent.
    turn: Option<TurnReport>,
    /// The hash of the auditor's report, once it is kept.
    kept: Option<Digest>,
    /// Nobody had anything left to do.
    pub(super) stuck: bool,
    /// The confirmation that whoever watches was told to look at.
    told: Option<ConfirmationId>,
}

impl<'a> Drive<'a> {
    /// Returns a run that is ready to begin or to go on.
    pub(super) fn new(
        record: Record<'a>,
        (orders, claimed): (&'a Orders, &'a ClaimedRun),
        (home, folder): (&'a Path, &'a RunFolder),
    ) -> Result<Self, Failure> {
        let tools = Tools::new(&folder.work(), &orders.policy)?;
        let (halt, agents) = (Halt::default(), BTreeMap::new());
        let (turn, kept, stuck, told) = (None, None, false, None);
        Ok(Self { record, orders, claimed, home, folder, tools, halt, agents, turn, kept, stuck, told })
    }

    /// Goes on until the run has ended or has come as far as it may.
    pub(super) fn run(&mut self, until: Option<Phase>) -> Result<(), Failure> {
        let ended = self.go(until);
        if ended.is_err() {
            // What was recorded before something went wrong is told, and others may go on.
            let _ = self.record.catch_up(true);
            let report = self.report(until);
            self.record.leave(report);
        }
        // Also where the run only stopped: an agent that is hung up on without a word takes it for a fault.
        let phase = self.record.history.state().phase();
        for agent in self.agents.values_mut() {
            // An agent that no longer listens misses nothing that matters.
            let _ = turn::farewell(&self.record, agent, phase);
        }
        ended
    }

    fn go(&mut self, until: Option<Phase>) -> Result<(), Failure> {
        loop {
            let report = self.report(until);
            let reply = self.record.report(&report)?;
            self.turn = None;
            self.tools.forget_ended(&self.record.history);
            match reply.step {
                DriveStep::Prepare(ToolToPrepare { call }) => self.prepare(&call)?,
                DriveStep::Run(ToolToRun { call, started, ahead }) => {
                    for later in ahead {
                        self.tools.prepare_after(self.call(&later)?);
                    }
                    let (api, halt) = (self.record.api, self.halt.clone());
                    let claimed = (self.record.trace, self.record.claim.claim);
                    api.renewing(claimed, &halt, || self.tools.run(&call, started, &halt))?;
                }
                DriveStep::Turn(AgentTurn { role, now }) => self.turn = Some(self.give_turn(role, now)?),
                DriveStep::Await(AwaitedConfirmation { confirmation }) => self.wait_for(confirmation)?,
                DriveStep::Keep(AuditReport { report }) => {
                    self.folder.keep_report(report.as_bytes())?;
                    self.kept = Some(sha256(report.as_bytes()));
                }
                DriveStep::Unproven(found) => return Err(unproven(found)),
                DriveStep::Over(RunStop { stuck, .. }) => {
                    self.stuck = stuck;
                    return Ok(());
                }
            }
        }
    }

    /// Waits a while until somebody says yes or no; whether the run goes on shows with the next report.
    fn wait_for(&mut self, confirmation: ConfirmationId) -> Result<(), Failure> {
        if self.told != Some(confirmation) {
            self.told = Some(confirmation);
            self.record.call_for(&format!("waits for a yes or a no: demur confirm show {confirmation}"))?;
        }
        let (api, halt) = (self.record.api, self.halt.clone());
        let claimed = (self.record.trace, self.record.claim.claim);
        let query = WaitParameters { seconds: Some(CONFIRMATION_WAIT_SECONDS) };
        let request = ApiRequest::<WaitForConfirmation>::get(OfConfirmation { confirmation }, query);
        match api.renewing(claimed, &halt, || api.call(request)) {
            // Another server takes over, and the next report finds it.
            Err(error) if !error.is(Code::Stopping) => Err(error),
            _ => Ok(()),
        }
    }

    fn report(&mut self, until: Option<Phase>) -> DriveReport {
        let rested = |(role, agent): (&Role, &Agent)| Some(Rested { role: *role, length: agent.rested? });
        DriveReport {
            claim: self.record.claim.claim,
            until,
            ended: self.tools.ended().cloned(),
            ready: self.tools.ready().into_iter().collect(),
            ahead: self.tools.ahead(),
            turn: self.turn.clone(),
            rested: self.agents.iter().filter_map(rested).collect(),
            kept: self.kept,
            leaves: false,
        }
    }

    fn prepare(&mut self, call: &str) -> Result<(), Failure> {
        let call = self.call(call)?;
        self.tools.prepare_first(call);
        self.tools.expect_ready()
    }

    fn call(&self, name: &str) -> Result<&'a Call, Failure> {
        let found = self.orders.plan.task().call(name);
        found.map(|(_, call)| call).ok_or_else(|| Failure::bug(&"a call that is not in the task"))
    }

    /// Gives an agent of its own its turn.
    fn give_turn(&mut self, role: Role, now: Timestamp) -> Result<TurnReport, Failure> {
        let (api, halt) = (self.record.api, self.halt.clone());
        let claimed = (self.record.trace, self.record.claim.claim);
        match api.renewing(claimed, &halt, || self.take_turn(role, now)) {
            Ok(moved) => Ok(TurnReport { role, moved, failed: None }),
            Err(Interrupted::Agent(error)) => {
                Ok(TurnReport { role, moved: false, failed: Some(error.to_string()) })
            }
            Err(Interrupted::Here(error)) => Err(error),
        }
    }

    fn take_turn(&mut self, role: Role, now: Timestamp) -> Result<bool, Interrupted> {
        if !self.agents.contains_key(&role) {
            let agent = self.start(role)?;
            self.agents.insert(role, agent);
        }
        match self.agents.get_mut(&role) {
            Some(agent) => turn::take_turn(&mut self.record, agent, now),
            None => Ok(false),
        }
    }

    fn start(&self, role: Role) -> Result<Agent, Interrupted> {
        let player = self.orders.plan.task().agents.get(&role);
        let player = player.ok_or_else(|| Failure::bug(&"an agent that the task does not name"))?;
        let ClaimedRun { origin, participants, .. } = self.claimed;
        let hello = self.orders.hello(role, participants, origin.store, self.record.trace)?;
        let hello = hello.ok_or_else(|| Failure::bug(&"a role without a player"))?;
        let agent = Agent::start(player, hello, self.home)?;
        turn::greet(&agent)?;
        Ok(agent)
    }
}

/// How long one request waits for a yes or a no.
const CONFIRMATION_WAIT_SECONDS: u64 = 20;
