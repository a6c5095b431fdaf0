//! The four roles against a desk, with tasks, policies and tools that were drawn by lot: what a role says next is never
//! refused, every run ends, and one that is interrupted goes on from its record alone.

use std::{collections::BTreeSet, fmt::Write as _};

use demur_core::{
    hash::sha256,
    random::{Random as _, Seeded},
};
use demur_ledger::{
    content::{ExecutionContent, VerificationContent},
    event_type::{Content, EventType, Facts},
    facts::{FailureKind, Participant, VerificationRunCompleted, VerificationStatus},
    name::Sequence,
    role::Role,
    state::Phase,
};
use demur_run::{
    TaskPlan,
    history::History,
    line::{FromDesk, ShownArtifact},
    policy::Policy,
    role::{Brief, Hands, Look, Move, Report, order},
    task::Task,
};

use crate::office::{Office, list, rounds, text};

/// What the auditor reports.
const REPORT: &[u8] = br#"{"status":"pass"}"#;

struct Dice(Seeded);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// Returns a task with up to three units, each with calls, fallbacks and reserves as they fall.
fn draw_task(dice: &mut Dice) -> String {
    let mut task = "name = \"drawn\"\nobjective = \"drawn by lot\"\n".to_owned();
    let (units, mut calls, mut plain) = (1 + dice.below(3), Vec::new(), Vec::new());
    for unit in 0..units {
        write!(task, "\n[[proposal]]\nobjective = \"unit {unit}\"\n").unwrap();
        match dice.below(4) {
            0 if unit > 0 => writeln!(task, "replaces = \"unit {}\"", unit - 1).unwrap(),
            1 if !calls.is_empty() && !task.contains("fallback_for") => {
                writeln!(task, "fallback_for = {:?}", calls[0]).unwrap();
            }
            _ => {}
        }
        for call in 0..dice.below(4).max(u64::from(unit == 0)) {
            let name = format!("call-{unit}-{call}");
            let (tool, risk) = (dice.one(&["safe", "safe", "risky", "unknown"]), dice.one(&RISKS));
            let reserve = !calls.is_empty() && dice.below(4) == 0;
            write!(
                task,
                "\n[[proposal.call]]\nname = {name:?}\ntool = {tool:?}\ncommand = [{tool:?}]\nrisk = {risk:?}\n\
                 justification = \"drawn\"\nreserve = {reserve}\n"
            )
            .unwrap();
            if !reserve {
                plain.push(name.clone());
            }
            calls.push(name);
        }
    }
    for (claim, call) in plain.iter().enumerate().take(1 + usize::from(dice.below(2) == 0)) {
        write!(task, "\n[[claim]]\ntext = \"claim {claim}\"\nconfidence = 50\ncalls = [{call:?}]\n").unwrap();
        if dice.below(2) == 0 {
            // What is in reserve may be among them.
            let all = [std::slice::from_ref(call), &calls[..]].concat();
            write!(
                task,
                "[claim.if_challenged]\ntext = \"answer {claim}\"\nconfidence = 60\ncalls = {all:?}\n"
            )
            .unwrap();
        }
    }
    task
}

fn draw_policy(dice: &mut Dice) -> String {
    let (from, minimum, below) = (dice.one(&RISKS), 1 + dice.below(2), 1 + dice.below(4));
    let (fallback, retries) = (dice.below(2) == 0, dice.below(3));
    let conditions = dice.one(&["", "\"be careful\"", "\"be careful\", \"be quick\""]);
    let unknown = if dice.below(2) == 0 { "[tools.unknown]\n" } else { "" };
    format!(
        "approval_from = {from:?}\nevidence_minimum = {minimum}\nchallenge_below = {below}\nfallback = {fallback}\n\
         retry_limit = {retries}\nconditions = [{conditions}]\n[tools.safe]\n[tools.risky]\nrisk = \"high\"\n{unknown}"
    )
}

const RISKS: [&str; 4] = ["low", "medium", "high", "critical"];

/// Recorded bytes are never needed: the inputs are those of the task.
struct Blind;

impl Look for Blind {
    fn artifact(&mut self, _: Sequence) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// A run as one process drives it.
struct Driver<'a> {
    office: &'a mut Office,
    plan: TaskPlan,
    policy: Policy,
    participants: Vec<Participant>,
    history: History,
    lost: BTreeSet<Sequence>,
    ready: Option<String>,
    ahead: Vec<String>,
    report: Option<Report>,
}

impl<'a> Driver<'a> {
    /// Returns a process that knows the files and the record, and nothing else.
    fn new(office: &'a mut Office, task: &str, policy: &str) -> Self {
        let mut history = History::new();
        catch_up(&mut history, office);
        let open = history.intents.values().filter(|intent| intent.ended.is_none());
        let lost = open.filter_map(|intent| intent.started).collect();
        let participants = office.hello(Role::Planner).participants.to_vec();
        let (plan, policy) =
            (TaskPlan::new(Task::parse(task).unwrap()).unwrap(), Policy::parse(policy).unwrap());
        office.document = Some(policy.document(plan.task()).unwrap());
        let (ready, ahead, report) = (None, Vec::new(), None);
        Self { office, plan, policy, participants, history, lost, ready, ahead, report }
    }

    /// Makes one step; returns whether there was one.
    fn step(&mut self, dice: &mut Dice) -> bool {
        for role in order(self.history.state().phase()) {
            let brief = Brief {
                plan: &self.plan,
                policy: &self.policy,
                demands: self.policy.demands(self.plan.task()),
                participants: &self.participants,
                bound: &[],
                history: &self.history,
            };
            let ready = self.ready.as_deref();
            let hands = Hands { report: self.report.as_ref(), lost: &self.lost, ready, ahead: &self.ahead };
            let next = match role {
                Role::Critic => brief.critic(&mut Blind).unwrap(),
                Role::Planner => brief.planner().unwrap(),
                Role::Executor => brief.executor(&hands).unwrap(),
                _ => brief.auditor(),
            };
            if let Some(next) = next {
                self.perform(*role, next, dice);
                return true;
            }
        }
        false
    }

    fn perform(&mut self, role: Role, next: Move, dice: &mut Dice) {
        match next {
            Move::Say(facts, content) | Move::Conclude(facts, content) => self.say(role, facts, content),
            Move::Store { name, bytes, .. } => {
                self.office.store(&name, &bytes);
                self.catch_up();
            }
            Move::Prepare { call, ahead: true } => {
                self.ahead.push(call);
                assert!(self.ahead.len() <= 2, "{:?}", self.ahead);
            }
            Move::Prepare { call, ahead: false } => {
                self.ahead.retain(|later| *later != call);
                self.ready = Some(call);
            }
            Move::Start { call, facts } => {
                assert_eq!(self.ready.as_deref(), Some(&*call), "a tool starts once it is ready");
                let content = ExecutionContent { limits: list([]) };
                self.say(role, facts.into(), Some(Content::ToolExecutionStarted(content)));
            }
            Move::Run { call } => {
                assert_eq!(self.ready.take().unwrap(), call, "a tool runs once it is ready");
                self.ready = (!self.ahead.is_empty()).then(|| self.ahead.remove(0));
                self.report = Some(report(call, dice));
            }
            Move::Verify => {
                let (status, through) = (VerificationStatus::Pass, self.history.verification.unwrap());
                self.office.report(REPORT);
                self.catch_up();
                let content = VerificationContent { report: sha256(REPORT), summary: text("held") };
                let content = Some(Content::VerificationRunCompleted(content));
                self.say(role, VerificationRunCompleted { status, through }.into(), content);
            }
        }
    }

    fn say(&mut self, role: Role, facts: Facts, content: Option<Content>) {
        let ends = matches!(facts, Facts::ToolExecutionCompleted(_) | Facts::ToolExecutionFailed(_));
        let said = format!("{facts:?}");
        if let Err(refused) = self.office.say(role, facts, content) {
            panic!("{role} said {said} while {}: {refused:?}", self.history.state().phase());
        }
        if ends {
            self.report = None;
        }
        self.catch_up();
    }

    fn catch_up(&mut self) {
        catch_up(&mut self.history, self.office);
    }
}

/// Takes in what is new.
fn catch_up(history: &mut History, office: &Office) {
    let known = history.state().length();
    for line in office.lines() {
        match line {
            FromDesk::Event(shown) if shown.event.position().sequence.number() >= known => {
                let content = shown.opening.as_ref().map(|opening| &opening.bytes[..]);
                history.take(&shown.event, content).unwrap();
            }
            FromDesk::Artifact(ShownArtifact { event, artifact: Some(artifact), .. })
                if event.number() >= known =>
            {
                history.learn(*event, sha256(&artifact.bytes));
            }
            _ => {}
        }
    }
}

/// Returns how a tool ended, by lot.
fn report(call: String, dice: &mut Dice) -> Report {
    let failure = match dice.below(5) {
        0 => Some(FailureKind::Exit),
        1 => Some(FailureKind::Timeout),
        _ => None,
    };
    let write = |chance: u64| if chance == 0 { Vec::new() } else { b"something".to_vec() };
    let (stdout, stderr) = (write(dice.below(4)), write(dice.below(2)));
    let note = failure.map(|_| "it went wrong".to_owned());
    Report { call, failure, exit_status: None, duration: 1, stdout, stderr, note }
}

/// LED-22, LED-04, LED-21, LED-32
#[test]
fn proof_roles_never_say_what_the_desk_refuses_and_go_on_after_any_event() {
    let (mut ended, mut stuck, mut interrupted) = (0, 0, 0);
    for round in 0..rounds(5_000, 150) {
        let mut dice = Dice(Seeded::from_number(round as u64));
        let (task, policy) = (draw_task(&mut dice), draw_policy(&mut dice));
        let mut office = Office::new();
        let mut steps = 0;
        'run: loop {
            let mut driver = Driver::new(&mut office, &task, &policy);
            loop {
                if driver.history.state().phase().is_final() {
                    ended += 1;
                    break 'run;
                }
                if !driver.step(&mut dice) {
                    stuck += 1;
                    break 'run;
                }
                steps += 1;
                assert!(steps < 2_000, "round {round} does not end");
                // The process is killed: the next one knows only what is recorded.
                if dice.below(12) == 0 {
                    interrupted += 1;
                    break;
                }
            }
        }
        check(&office, round);
    }
    assert!(ended > stuck && stuck > 0 && interrupted > ended, "{ended} {stuck} {interrupted}");
}

/// Every start has an intent of its own, and nothing stays open in a run that completed.
fn check(office: &Office, round: usize) {
    let intents: Vec<Sequence> = office
        .facts()
        .into_iter()
        .filter_map(|(_, facts)| match facts {
            Facts::ToolExecutionStarted(facts) => Some(facts.intent),
            _ => None,
        })
        .collect();
    let different: BTreeSet<_> = intents.iter().collect();
    assert_eq!(different.len(), intents.len(), "round {round}: an intent was used twice");
    if office.phase() == Phase::Completed {
        let ends =
            office.count(EventType::ToolExecutionCompleted) + office.count(EventType::ToolExecutionFailed);
        assert_eq!(ends, intents.len(), "round {round}: something is still open");
    }
}
