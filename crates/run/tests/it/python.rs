//! The agents in `examples/agents/python` as processes of their own, with a desk in memory at the other end.

use std::{
    io::{BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use demur_core::canonical;
use demur_ledger::{
    content::{ClaimContent, ExecutionContent, ExecutionResultContent, RationaleContent, ReasonContent},
    event_type::{Content, EventType, Facts},
    facts::{
        ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRevised, FailureKind, IntentDecision, Risk,
        ToolExecutionCompleted, ToolExecutionStarted, ToolIntentReviewed,
    },
    name::Sequence,
    role::Role,
    state::Phase,
};
use demur_run::line::FromDesk;
use tempfile::TempDir;

use crate::office::{Line, Office, list, text, whole};

/// An agent in a process of its own.
struct Process {
    child: Child,
    line: Line<BufReader<ChildStdout>, ChildStdin>,
    folder: TempDir,
}

impl Process {
    fn critic(office: &Office) -> Self {
        Self::start(office, Role::Critic, "critic.py", None)
    }

    fn executor(office: &Office, plan: &str) -> Self {
        Self::start(office, Role::Executor, "executor.py", Some(plan))
    }

    fn start(office: &Office, role: Role, script: &str, plan: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("scratch")).unwrap();
        let mut command = command(&folder, office, role, script);
        command.args(plan.map(|plan| write(&folder, "plan.json", plan)));
        let mut child = command.spawn().unwrap();
        let (reader, writer) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let line = Line::greet(BufReader::new(reader), writer, office, role);
        Self { child, line, folder }
    }

    fn turn(&mut self, office: &mut Office) -> Vec<Result<Sequence, String>> {
        self.line.turn(office)
    }

    /// Says that the run is over, and checks that the agent leaves in peace.
    fn end(mut self, office: &Office) {
        self.line.end(office);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Returns the call of a script with the key file of a role.
fn command(folder: &TempDir, office: &Office, role: Role, script: &str) -> Command {
    let mut command = python();
    command.arg(examples().join("python").join(script)).arg(write(folder, "key", &office.key_file(role)));
    command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Returns a Python with what `conformance/python/requirements.txt` lists.
fn python() -> Command {
    let interpreter = std::env::var_os("DEMUR_PYTHON");
    let mut command = Command::new(interpreter.expect("DEMUR_PYTHON is not set: run `cargo xtask test`"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents")
}

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    path
}

fn plan() -> String {
    std::fs::read_to_string(examples().join("plan.json")).unwrap()
}

/// A plan whose two calls are harmless.
const COUNT_TWICE: &str = r#"{"calls":[
    {"claim":"It has one line.","command":["wc","-l"],"name":"lines","risk":"low","stdin":"a b\n","tool":"wc"},
    {"claim":"It has two words.","command":["wc","-w"],"name":"words","risk":"low","stdin":"a b\n","tool":"wc"}
],"verdict":"Counted."}"#;

impl Office {
    fn start(&mut self, intent: Sequence) -> Sequence {
        let content = Content::ToolExecutionStarted(ExecutionContent { limits: list([]) });
        let facts = ToolExecutionStarted { input: Some(self.artifacts()[0]), intent };
        self.say(Role::Executor, facts, content).unwrap().sequence
    }

    fn complete(&mut self, started: Sequence, outputs: &[Sequence]) -> Sequence {
        let content =
            ExecutionResultContent { duration_ms: whole(1), exit_status: Some(whole(0)), note: None };
        let facts = ToolExecutionCompleted { outputs: list(outputs), started };
        self.say(Role::Executor, facts, Content::ToolExecutionCompleted(content)).unwrap().sequence
    }

    fn review(&mut self, intent: Sequence, decision: IntentDecision) {
        let content = RationaleContent { rationale: text("because") };
        let facts = ToolIntentReviewed { decision, intent };
        self.say(Role::Critic, facts, Content::ToolIntentReviewed(content)).unwrap();
    }

    fn artifacts(&self) -> Vec<Sequence> {
        self.places(EventType::ArtifactRecorded)
    }

    fn places(&self, kind: EventType) -> Vec<Sequence> {
        let facts = self.facts().into_iter();
        facts.filter(|(_, facts)| facts.event_type() == Some(kind)).map(|(at, _)| at).collect()
    }

    fn decision(&self, of: Sequence) -> Option<IntentDecision> {
        self.facts().into_iter().find_map(|(_, facts)| match facts {
            Facts::ToolIntentReviewed(ToolIntentReviewed { decision, intent }) if intent == of => {
                Some(decision)
            }
            _ => None,
        })
    }
}

#[test]
fn critic_lets_through_what_is_recorded_and_harmless_and_blocks_the_rest() {
    let mut office = Office::with_proposal();
    let mut critic = Process::critic(&office);
    assert_eq!(critic.turn(&mut office), [Ok(3.into())]);
    assert_eq!(office.phase(), Phase::Executing);
    let cases = [
        (office.intend("count", &["wc", "-l"], Risk::Low), IntentDecision::Approved),
        (office.intend("build", &["make"], Risk::Medium), IntentDecision::Approved),
        (office.intend("play", &["make"], Risk::Low), IntentDecision::Blocked),
        (office.intend("clean up", &["rm", "-r", "/"], Risk::Critical), IntentDecision::Blocked),
        (office.intend("fetch", &["/usr/bin/curl", "example.com"], Risk::High), IntentDecision::Blocked),
        (office.intend("nothing", &[], Risk::High), IntentDecision::Blocked),
        (office.intend_with(b"never recorded", Risk::High), IntentDecision::Blocked),
    ];
    office.store("input.json", b"\xff");
    let unreadable = office.intend_with(b"\xff", Risk::High);
    assert!(critic.turn(&mut office).iter().all(Result::is_ok));
    for (intent, decision) in cases.into_iter().chain([(unreadable, IntentDecision::Blocked)]) {
        assert_eq!(office.decision(intent), Some(decision), "intent {intent}");
    }
    assert_eq!(critic.turn(&mut office), [], "it says nothing twice");
    critic.end(&office);
}

#[test]
fn critic_blocks_a_proposal_of_a_tool_that_it_would_never_let_through() {
    let mut office = Office::with_proposal();
    office.propose(&["rm"]);
    let mut critic = Process::critic(&office);
    assert_eq!(critic.turn(&mut office), [Ok(4.into()), Ok(5.into())]);
    let decided = office.facts().into_iter().filter_map(|(_, facts)| match facts {
        Facts::ProposalReviewed(facts) => Some(format!("{:?}", facts.decision)),
        _ => None,
    });
    assert_eq!(decided.collect::<Vec<_>>(), ["Approved", "Blocked"]);
    critic.end(&office);
}

#[test]
fn critic_challenges_a_claim_that_rests_on_too_little_until_it_does_not() {
    let mut office = Office::approved();
    let intent = office.intend("count", &["wc"], Risk::Low);
    office.review(intent, IntentDecision::Approved);
    let started = office.start(intent);
    let outputs = [office.store("count.stdout", b"4"), office.store("count.stderr", b"")];
    let executions = list([office.complete(started, &outputs)]);
    let content = || ClaimContent { confidence: whole(90), text: text("it has four lines") };
    let evidence = list([outputs[0]]);
    let facts = ClaimIssued { about_failure: false, evidence, executions: executions.clone() };
    let claim = office.say(Role::Executor, facts, Content::ClaimIssued(content())).unwrap().sequence;
    let mut critic = Process::critic(&office);
    critic.turn(&mut office);
    assert_eq!(office.count(EventType::ClaimChallenged), 1);
    let evidence = list(outputs);
    let facts = ClaimRevised { about_failure: false, evidence, executions, replaces: claim };
    office.say(Role::Executor, facts, Content::ClaimRevised(content())).unwrap();
    critic.turn(&mut office);
    assert_eq!(office.count(EventType::ClaimResolved), 1);
    assert_eq!(critic.turn(&mut office), []);
    critic.end(&office);
}

#[test]
fn executor_and_critic_bring_a_run_to_its_final_statement() {
    let mut office = Office::with_proposal();
    let (mut critic, mut executor) = (Process::critic(&office), Process::executor(&office, &plan()));
    for _ in 0..4 {
        assert!(critic.turn(&mut office).iter().all(Result::is_ok));
        assert!(executor.turn(&mut office).iter().all(Result::is_ok));
    }
    assert_eq!(office.phase(), Phase::Auditing);
    assert_eq!(office.count(EventType::ToolIntentSigned), 2);
    assert_eq!(office.count(EventType::ToolExecutionCompleted), 1, "what was blocked was not executed");
    assert!(executor.folder.path().join("scratch").is_dir());
    let output = office.lines().iter().filter_map(|line| match line {
        FromDesk::Artifact(shown) => shown.artifact.as_ref().map(|artifact| artifact.bytes.as_slice()),
        _ => None,
    });
    assert_eq!(output.collect::<Vec<_>>()[1], b"4\n");
    critic.end(&office);
    executor.end(&office);
}

#[test]
fn executor_waits_for_the_critic_and_never_executes_what_is_blocked() {
    let mut office = Office::approved();
    let mut executor = Process::executor(&office, COUNT_TWICE);
    assert_eq!(executor.turn(&mut office).len(), 2, "input and intent");
    assert_eq!(executor.turn(&mut office), [], "nobody has reviewed the intent");
    office.review(office.places(EventType::ToolIntentSigned)[0], IntentDecision::Blocked);
    assert_eq!(executor.turn(&mut office).len(), 2, "it goes on to its next call");
    assert_eq!(office.count(EventType::ToolExecutionStarted), 0);
    office.review(office.places(EventType::ToolIntentSigned)[1], IntentDecision::Blocked);
    assert_eq!(executor.turn(&mut office), [], "there is nothing to claim");
    executor.end(&office);
}

#[test]
fn executor_answers_a_challenge_with_everything_it_has() {
    let mut office = Office::approved();
    let mut executor = Process::executor(&office, COUNT_TWICE);
    for call in 0..2 {
        executor.turn(&mut office);
        office.review(office.places(EventType::ToolIntentSigned)[call], IntentDecision::Approved);
    }
    executor.turn(&mut office);
    let claims = office.places(EventType::ClaimIssued);
    assert_eq!((office.phase(), claims.len()), (Phase::Claiming, 2));
    let reason = || ReasonContent { reason: text("is that all?") };
    let facts = ClaimChallenged { claim: claims[0] };
    let challenge = office.say(Role::Critic, facts, Content::ClaimChallenged(reason())).unwrap().sequence;
    assert_eq!(executor.turn(&mut office).len(), 1);
    let revised = office.facts().into_iter().find_map(|(_, facts)| match facts {
        Facts::ClaimRevised(facts) => Some(facts.evidence.to_vec()),
        _ => None,
    });
    let produced = office.facts().into_iter().filter_map(|(_, facts)| match facts {
        Facts::ToolExecutionCompleted(facts) => Some(facts.outputs.to_vec()),
        _ => None,
    });
    assert_eq!(revised, Some(produced.flatten().collect()));
    office.say(Role::Critic, ClaimResolved { challenge }, Content::ClaimResolved(reason())).unwrap();
    executor.turn(&mut office);
    assert_eq!(office.phase(), Phase::Auditing);
    executor.end(&office);
}

/// LED-22: nothing is executed twice without a new intent.
#[test]
fn executor_that_is_started_again_goes_on_where_the_record_ends() {
    let mut office = Office::approved();
    let mut first = Process::executor(&office, COUNT_TWICE);
    first.turn(&mut office);
    first.end(&office);
    let intent = office.places(EventType::ToolIntentSigned)[0];
    office.review(intent, IntentDecision::Approved);
    office.start(intent);
    let mut second = Process::executor(&office, COUNT_TWICE);
    assert!(second.turn(&mut office).iter().all(Result::is_ok));
    let failures = office.facts().into_iter().filter_map(|(_, facts)| match facts {
        Facts::ToolExecutionFailed(facts) => Some(facts.failure),
        _ => None,
    });
    assert_eq!(failures.collect::<Vec<_>>(), [FailureKind::Lost]);
    assert_eq!(office.count(EventType::ToolExecutionStarted), 1);
    assert_eq!(office.count(EventType::ToolIntentSigned), 2, "it went on to its next call");
    second.end(&office);
}

#[test]
fn executor_claims_a_failure_as_one() {
    let broken =
        COUNT_TWICE.replace("\"wc\",\"-l\"", "\"no-such-program\"").replace("\"wc\",\"-w\"", "\"false\"");
    let mut office = Office::approved();
    let mut executor = Process::executor(&office, &broken);
    for call in 0..2 {
        executor.turn(&mut office);
        office.review(office.places(EventType::ToolIntentSigned)[call], IntentDecision::Approved);
    }
    executor.turn(&mut office);
    let failures = office.facts().into_iter().filter_map(|(_, facts)| match facts {
        Facts::ToolExecutionFailed(facts) => Some(facts.failure),
        _ => None,
    });
    assert_eq!(failures.collect::<Vec<_>>(), [FailureKind::NotStarted, FailureKind::Exit]);
    let claims = office.facts().into_iter().filter_map(|(_, facts)| match facts {
        Facts::ClaimIssued(facts) => Some(facts.about_failure),
        _ => None,
    });
    assert_eq!(claims.collect::<Vec<_>>(), [true, true]);
    executor.end(&office);
}

#[test]
fn agent_of_a_desk_that_lies_says_why_it_leaves() {
    let office = Office::with_proposal();
    let hello = FromDesk::Hello(office.hello(Role::Critic));
    let lines = [hello].iter().chain(office.lines()).flat_map(|line| line.to_line().unwrap()).collect();
    let lines = String::from_utf8(lines).unwrap() + "{\"end\":{\"phase\":\"reviewing\"}}\n";
    let cases = [
        ("", "", ""),
        ("\"wc\"", "\"rm\"", "critic: the content of event 2 does not open its commitment\n"),
        ("\"sequence\":1,", "\"sequence\":2,", "critic: event 2 does not follow event 0\n"),
        ("{\"end\":", "{\"end\": ", "critic: expected canonical JSON of one object with one member\n"),
        ("{\"end\":", "{\"fin\":", "critic: the line fin may not stand here\n"),
        ("\"protocol\":1", "\"protocol\":2", "critic: expected a hello of protocol 1\n"),
    ];
    for (old, new, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(&folder, &office, Role::Critic, "critic.py");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        assert!(lines.contains(old), "{old}");
        child.stdin.take().unwrap().write_all(lines.replacen(old, new, 1).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
        assert_eq!((output.status.success(), output.stdout.is_empty()), (expected.is_empty(), true));
    }
}

#[test]
fn python_spells_json_as_we_do_and_refuses_what_agents_do_not_write() {
    let texts = ["", "a\u{7f}\u{80}", "\u{1}\u{1f}\u{8}\t\n\u{c}\r\"\\/", "\u{fb33}\u{1f600}é", "\u{2028}"];
    let value: Vec<_> = texts.iter().map(|text| (text, [0_u64, (1 << 53) - 1])).collect();
    let keyed: std::collections::BTreeMap<&str, u8> = texts.iter().map(|text| (*text, 1)).collect();
    let expected = canonical::to_vec(&(value, keyed)).unwrap();
    let script = "import json, sys; from demur_format import canonical; \
                  sys.stdout.buffer.write(canonical(json.load(sys.stdin)))";
    let mut command = python();
    command.args(["-c", script]).current_dir(examples().join("python"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&expected).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, expected);
    for refused in ["0.5", "1e3", "9007199254740992", "\"\\ud800\""] {
        let script =
            format!("import json; from demur_format import canonical; canonical(json.loads('{refused}'))");
        let output = python().args(["-c", &script]).current_dir(examples().join("python")).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains("Error: "), "{refused}");
    }
}
