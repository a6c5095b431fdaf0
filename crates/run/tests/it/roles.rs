//! The four roles against a desk, with tasks, policies and tools that were drawn by lot: what a role says next is never
//! refused, every run ends, and one that is interrupted goes on from its record alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

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

/// Returns a task with up to three goals, each with calls, fallbacks, reserves, values and claims as they fall.
fn draw_task(dice: &mut Dice) -> String {
    let mut task = "name = \"drawn\"\nobjective = \"drawn by lot\"\n".to_owned();
    for goal in 0..=dice.below(3) {
        write!(task, "\n[[goal]]\nobjective = \"goal {goal}\"\n").unwrap();
        let mut plain: Vec<String> = Vec::new();
        for call in 0..=dice.below(4) {
            let name = format!("call-{goal}-{call}");
            let (tool, risk) = (dice.one(&["safe", "safe", "risky", "unknown"]), dice.one(&RISKS));
            write!(
                task,
                "\n[[goal.call]]\nname = {name:?}\ntool = {tool:?}\ncommand = [{tool:?}]\nrisk = {risk:?}\n{}\n",
                dice.one(&["", "shows.size = \"size\"", PLACE, PLACE])
            )
            .unwrap();
            match dice.below(4) {
                0 if call > 0 => task += "reserve = true\n",
                1 if !plain.is_empty() => {
                    writeln!(task, "fallback_for = {:?}", plain.pop().unwrap()).unwrap();
                }
                _ => plain.push(name),
            }
        }
        for claim in 0..u64::from(goal == 0) + dice.below(2) {
            let shown = ["size", "words"].iter().filter(|name| shows(&task, goal, name)).collect::<Vec<_>>();
            let value = match shown.len() as u64 {
                0 => String::new(),
                count => format!("{{{}}}", shown[usize::try_from(dice.below(count)).unwrap()]),
            };
            write!(task, "\n[[goal.claim]]\ntext = \"claim {goal} {claim} {value}\"\n").unwrap();
            if value == "{size}" && dice.below(2) == 0 {
                task += "expect.size = { is = \"gt\", value = 8 }\n";
            }
        }
    }
    task
}

/// Returns whether a call of a goal that is always run shows a value.
fn shows(task: &str, goal: u64, value: &str) -> bool {
    let calls = task.split("[[goal.call]]").filter(|call| call.contains(&format!("\"call-{goal}-")));
    calls
        .filter(|call| !call.contains("reserve") && !call.contains("fallback_for"))
        .any(|call| call.contains(&format!("shows.{value}")))
}

/// Where a tool that is in the mood says how many words there are.
const PLACE: &str = "shows.words = { after = \"words: \", before = \";\" }";

fn draw_policy(dice: &mut Dice) -> String {
    let (from, minimum, below) = (dice.one(&RISKS), 1 + dice.below(2), 1 + dice.below(4));
    let (fallback, retries, unchecked) = (dice.below(2) == 0, dice.below(3), dice.below(3) == 0);
    let conditions =
        dice.one(&["", "", QUIET, "{ text = \"be quick\", at = \"size\", is = \"lt\", value = 9 }"]);
    let unknown = if dice.below(2) == 0 { "[tools.unknown]\n" } else { "" };
    format!(
        "approval_from = {from:?}\nevidence_minimum = {minimum}\nchallenge_below = {below}\nfallback = {fallback}\n\
         challenge_unchecked = {unchecked}\nretry_limit = {retries}\nconditions = [{conditions}]\n[tools.safe]\n\
         [tools.risky]\nrisk = \"high\"\n{unknown}"
    )
}

/// A condition that holds, and one that does for some tools only.
const QUIET: &str = "{ text = \"be quiet\", at = { pointer = \"/stdin\" }, is = \"eq\", value = \"\" }, \
                     { text = \"be plain\", tools = [\"safe\"], at = { pointer = \"/command/0\" }, is = \"ne\", value = \"risky\" }";

const RISKS: [&str; 4] = ["low", "medium", "high", "critical"];

/// What is recorded, by its event.
struct Shelf(BTreeMap<Sequence, Vec<u8>>);

impl Look for Shelf {
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(&at).cloned())
    }
}

fn recorded(office: &Office) -> Shelf {
    let bytes = office.lines().iter().filter_map(|line| match line {
        FromDesk::Artifact(ShownArtifact { event, artifact: Some(artifact), .. }) => {
            Some((*event, artifact.bytes.clone()))
        }
        _ => None,
    });
    Shelf(bytes.collect())
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
                Role::Critic => brief.critic(&mut recorded(self.office)).unwrap(),
                Role::Planner => brief.planner().unwrap(),
                Role::Executor => brief.executor(&hands, &mut recorded(self.office)).unwrap(),
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
            Move::Confirm { facts, content, .. } => {
                self.say(role, facts.into(), Some(Content::ConfirmationAsked(content)));
            }
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
                let mut bytes = |digest: &_| {
                    let mut artifacts = recorded(office).0.into_values();
                    artifacts.find(|bytes| sha256(bytes) == *digest)
                };
                history.take_with(&shown.event, content, &mut bytes).unwrap();
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
    let stdout = dice.one(&["", "something", "words: 5;", "words: 5;\n", "words: 6;"]).into();
    let stderr = dice.one(&["", "something"]).into();
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
