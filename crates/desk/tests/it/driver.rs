//! A run is driven: what a client holds comes with each report, so that any answer may get lost and either side may be
//! another than before.

use std::sync::atomic::{AtomicBool, Ordering};

use demur_api::{
    code::Code,
    refusal::Refusal,
    run::{
        Base64Bytes, ClaimId, ClaimRun, ClaimedRun, DriveReply, DriveReport, DriveStep, ReadRunParameters,
        ReadyTool, RunOrders, SubmitInRun, ToolReport, ToolToRun, TurnReport,
    },
};
use demur_core::limit::Text;
use demur_desk::{data::DataFolder, operating_system::OperatingSystem, owner::Owner, run::driver};
use demur_ledger::{
    author::{Artifact, Place as Spot},
    content::ArtifactContent,
    event_type::Content,
    facts::{Attribution, Door, FailureKind, Root},
    name::{Sequence, TraceId},
    role::Role,
    state::Phase,
};
use tempfile::TempDir;

/// A data folder with one run.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    owner: Option<Owner>,
    pub(crate) trace: TraceId,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
        let mut system = OperatingSystem::open().unwrap();
        Self { folder, owner: Some(owner), trace: TraceId::new(system.now().unwrap(), &mut system) }
    }

    pub(crate) fn owner(&self) -> &Owner {
        self.owner.as_ref().unwrap()
    }

    /// Opens the folder anew, as the next server does.
    fn reopen(&mut self) {
        self.owner = None;
        self.owner = Some(Owner::open(&DataFolder::at(self.folder.path().to_owned())).unwrap());
    }

    pub(crate) fn claim(
        &self,
        claim: ClaimId,
        abandoned: bool,
        orders: Option<RunOrders>,
    ) -> Result<ClaimedRun, Refusal> {
        driver::claim(self.owner(), self.trace, &ClaimRun { claim, abandoned, orders, began: None })
    }

    pub(crate) fn drive(&self, report: &DriveReport) -> Result<DriveReply, Refusal> {
        driver::drive(self.owner(), self.trace, report)
    }

    pub(crate) fn begun(&self) -> (ClaimId, ToolToRun) {
        let claim = claim_id();
        self.claim(claim, false, Some(orders("two"))).unwrap();
        let step = self.drive(&report(claim)).unwrap().step;
        assert!(matches!(&step, DriveStep::Prepare(tool) if tool.call == "one"), "{step:?}");
        let step = self.drive(&DriveReport { ready: ready("one"), ..report(claim) }).unwrap().step;
        (claim, started(step))
    }
}

pub(crate) fn claim_id() -> ClaimId {
    let mut system = OperatingSystem::open().unwrap();
    ClaimId::new(system.now().unwrap(), &mut system)
}

/// Returns the orders of two calls, of which the second has this name.
pub(crate) fn orders(second: &str) -> RunOrders {
    orders_of(&["one".to_owned(), second.to_owned()])
}

fn orders_of(calls: &[String]) -> RunOrders {
    let call = |name: &String| {
        format!("\n[[goal.call]]\nname = {name:?}\ntool = \"echo\"\ncommand = [\"echo\", {name:?}]\n")
    };
    let task = format!(
        "name = \"a task\"\nobjective = \"something\"\n\n[[goal]]\nobjective = \"the work\"\n{}\n\
         [[goal.claim]]\ntext = \"Done.\"\nconfidence = 90\ncalls = [{:?}]\n",
        calls.iter().map(call).collect::<String>(),
        calls[0]
    );
    RunOrders { task, policy: "retry_limit = 1\n[tools.echo]\n".to_owned(), files: String::new() }
}

pub(crate) fn report(claim: ClaimId) -> DriveReport {
    DriveReport {
        claim,
        until: None,
        ended: None,
        ready: Vec::new(),
        ahead: Vec::new(),
        turn: None,
        rested: Vec::new(),
        kept: None,
        leaves: false,
    }
}

pub(crate) fn ready(call: &str) -> Vec<ReadyTool> {
    vec![ReadyTool { call: call.to_owned(), limits: vec!["time: 30 s".to_owned()] }]
}

pub(crate) fn ended(started: Sequence, call: &str) -> ToolReport {
    ToolReport {
        started,
        call: call.to_owned(),
        failure: None,
        exit_status: Some(0),
        duration: 7,
        stdout: Base64Bytes(b"out\n".to_vec()),
        stderr: Base64Bytes::default(),
        note: None,
    }
}

pub(crate) fn started(step: DriveStep) -> ToolToRun {
    match step {
        DriveStep::Run(tool) => tool,
        other => panic!("expected a tool to run, found {other:?}"),
    }
}

/// Returns the types of the events on these lines.
pub(crate) fn kinds(lines: &[String]) -> Vec<String> {
    let kind = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let event = &line["event"];
        let statement = &event["event"]["statement"];
        let said = if statement.is_object() { &statement["type"] } else { &event["event"]["record"]["type"] };
        said.as_str().unwrap_or_else(|| panic!("no type in {line}")).to_owned()
    };
    lines.iter().map(kind).collect()
}

/// Returns the places of the events on these lines.
pub(crate) fn places(lines: &[String]) -> Vec<u64> {
    let place = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["event"]["event"]["sequence"].as_u64().unwrap()
    };
    lines.iter().map(place).collect()
}

fn code<T>(refused: Result<T, Refusal>) -> Code {
    refused.map(|_| ()).unwrap_err().code
}

#[test]
fn tool_whose_start_was_recorded_and_never_told_runs_once() {
    let place = Place::new();
    let (claim, tool) = place.begun();
    let again = place.drive(&DriveReport { ready: ready("one"), ..report(claim) }).unwrap();
    assert_eq!((again.events.len(), started(again.step).started), (0, tool.started));
}

#[test]
fn end_that_is_reported_twice_is_recorded_once() {
    let place = Place::new();
    let (claim, tool) = place.begun();
    assert_eq!(tool.ahead, ["two"]);
    let both =
        || DriveReport { ended: Some(ended(tool.started, "one")), ready: ready("two"), ..report(claim) };
    let first = place.drive(&both()).unwrap();
    let expected = [
        "artifact_recorded",
        "tool_execution_completed",
        "artifact_recorded",
        "tool_intent_signed",
        "tool_execution_started",
    ];
    assert_eq!(kinds(&first.events), expected);
    let second = place.drive(&both()).unwrap();
    assert_eq!((second.events.len(), second.length), (0, first.length));
    assert_eq!(started(second.step), started(first.step));
}

/// LED-22
#[test]
fn start_that_the_next_client_does_not_hold_is_lost() {
    let place = Place::new();
    let (first, _) = place.begun();
    let second = claim_id();
    place.claim(second, true, Some(orders("two"))).unwrap();
    let reply = place.drive(&report(second)).unwrap();
    assert_eq!(kinds(&reply.events), ["tool_execution_failed"]);
    assert!(reply.events[0].contains("\"failure\":\"lost\""), "{}", reply.events[0]);
    // What is known, and no more: the first client may still be there.
    assert!(reply.events[0].contains("\"nobody reported the end of the tool"), "{}", reply.events[0]);
    assert!(matches!(reply.step, DriveStep::Prepare(_)));
    // Who was shut out hears so, and changes nothing.
    assert_eq!(code(place.drive(&report(first))), Code::ClaimUnknown);
    assert_eq!(code(place.claim(first, false, Some(orders("two")))), Code::RunClaimed);
}

#[test]
fn next_server_goes_on_with_the_same_client() {
    let mut place = Place::new();
    let (claim, tool) = place.begun();
    place.reopen();
    let both =
        || DriveReport { ended: Some(ended(tool.started, "one")), ready: ready("two"), ..report(claim) };
    assert_eq!(code(place.drive(&both())), Code::ClaimUnknown);
    assert_eq!(code(place.claim(claim, false, None)), Code::ClaimUnknown);
    place.claim(claim, false, Some(orders("two"))).unwrap();
    let reply = place.drive(&both()).unwrap();
    assert!(kinds(&reply.events).contains(&"tool_execution_completed".to_owned()));
    assert_eq!(started(reply.step).call, "two");
}

type Call<'a> = &'a dyn Fn(&Place) -> Code;

/// A server keeps a number of runs in mind. What it never knew takes none of their places.
#[test]
fn calls_that_come_to_nothing_push_no_run_out() {
    let mut place = Place::new();
    let (run, (claim, _)) = (place.trace, place.begun());
    let broken = || Some(RunOrders { task: String::new(), ..orders("two") });
    let unknown: [(Code, Call<'_>); 4] = [
        (Code::ClaimUnknown, &|place| code(place.drive(&report(claim_id())))),
        (Code::ClaimUnknown, &|place| code(place.claim(claim_id(), false, None))),
        (Code::TaskInvalid, &|place| code(place.claim(claim_id(), false, broken()))),
        (Code::ClaimUnknown, &|place| {
            let said = SubmitInRun { claim: claim_id(), role: Role::Critic, line: String::new() };
            code(driver::submit(place.owner(), place.trace, &said))
        }),
    ];
    for (expected, call) in unknown {
        for _ in 0..100 {
            place.trace =
                TraceId::new(place.owner().system().now().unwrap(), &mut { place.owner().system() });
            assert_eq!(call(&place), expected);
        }
        place.trace = run;
        place.drive(&DriveReport { ready: ready("one"), ..report(claim) }).unwrap();
    }
}

#[test]
fn run_that_is_driven_is_not_claimed() {
    let place = Place::new();
    let (first, _) = place.begun();
    let second = claim_id();
    assert_eq!(code(place.claim(second, false, Some(orders("two")))), Code::RunClaimed);
    place.drive(&DriveReport { leaves: true, ..report(first) }).unwrap();
    place.claim(second, false, Some(orders("two"))).unwrap();
}

/// An operator need not wait for whoever drives a run.
#[test]
fn whoever_drives_a_run_hears_that_it_was_aborted() {
    let place = Place::new();
    let (claim, tool) = place.begun();
    driver::abort(place.owner(), place.trace, Attribution::new(Door::Socket, Root::SameUser), reason())
        .unwrap();
    assert_eq!(code(place.claim(claim, false, None)), Code::RunOver, "also while a tool works");
    let ended = Some(ended(tool.started, "one"));
    let reply = place.drive(&DriveReport { ended, ..report(claim) }).unwrap();
    assert!(matches!(reply.step, DriveStep::Over(over) if over.phase == Phase::Aborted), "{:?}", reply.step);
    let [aborted] = &reply.events[..] else { panic!("what the tool did is recorded no more: {reply:?}") };
    assert!(aborted.contains("\"session_aborted\""), "{aborted}");
    let again =
        driver::abort(place.owner(), place.trace, Attribution::new(Door::Socket, Root::SameUser), reason());
    assert_eq!(code(again).as_str(), "OUT_OF_PHASE", "recorded once");
    // The claim was given back.
    let second = claim_id();
    place.claim(second, false, Some(orders("two"))).unwrap();
    let step = place.drive(&report(second)).unwrap().step;
    assert!(matches!(step, DriveStep::Over(over) if over.phase == Phase::Aborted), "{step:?}");
    let unknown = TraceId::new(place.owner().system().now().unwrap(), &mut { place.owner().system() });
    assert_eq!(
        code(driver::abort(place.owner(), unknown, Attribution::new(Door::Socket, Root::SameUser), reason()))
            .as_str(),
        "TRACE_UNKNOWN"
    );
}

fn reason() -> Text<1, 16384> {
    "no".try_into().unwrap()
}

#[test]
fn run_goes_on_with_the_texts_that_its_record_names_and_no_others() {
    let place = Place::new();
    let (first, _) = place.begun();
    place.drive(&DriveReport { leaves: true, ..report(first) }).unwrap();
    let second = claim_id();
    assert_eq!(code(place.claim(second, false, Some(orders("three")))), Code::TaskChanged);
    let empty = RunOrders { task: String::new(), ..orders("two") };
    assert_eq!(code(place.claim(second, false, Some(empty))), Code::TaskInvalid);
    // A claim that came to nothing is in nobody's way.
    place.claim(claim_id(), false, Some(orders("two"))).unwrap();
}

#[test]
fn whole_run_is_read_in_order_and_what_an_agent_says_has_to_be_a_statement() {
    let place = Place::new();
    let (claim, _) = place.begun();
    let read = |from| {
        let wanted = ReadRunParameters { from: Some(from), artifacts: Some(true) };
        driver::read_lines(place.owner(), place.trace, &wanted).unwrap().lines
    };
    let lines = read(0);
    let events: Vec<_> = lines.iter().filter(|line| line.starts_with("{\"event\"")).cloned().collect();
    assert_eq!(kinds(&events)[..3], ["session_initialized", "policy_recorded", "proposal_created"]);
    assert!(lines.iter().any(|line| line.starts_with("{\"artifact\"")));
    assert!(read(events.len() as u64).is_empty());
    for line in ["", "{\"done\":{}}", "no JSON"] {
        let said = SubmitInRun { claim, role: Role::Critic, line: line.to_owned() };
        assert_eq!(code(driver::submit(place.owner(), place.trace, &said)), Code::Malformed, "{line}");
    }
}

/// Returns the code and the field of a refusal.
fn blame<T>(refused: Result<T, Refusal>) -> (Code, Option<String>) {
    refused.map(|_| ()).map_err(|refusal| (refusal.code, refusal.field)).unwrap_err()
}

#[test]
fn report_that_does_not_fit_the_run_is_refused_with_its_field_and_records_nothing() {
    let place = Place::new();
    let (claim, tool) = place.begun();
    let length = || place.claim(claim, false, None).unwrap().length;
    let before = length();
    let malformed = |report: DriveReport, field: &str| {
        assert_eq!(blame(place.drive(&report)), (Code::Malformed, Some(field.to_owned())));
        assert_eq!(length(), before);
    };
    // Whoever would be told to run it again would run it twice.
    let other = ended(tool.started, "two");
    malformed(DriveReport { ended: Some(other), ready: ready("one"), ..report(claim) }, "ended.call");
    let long = ToolReport { duration: u64::MAX, ..ended(tool.started, "one") };
    malformed(DriveReport { ended: Some(long), ..report(claim) }, "ended.duration");
    let completed = ToolReport { failure: None, exit_status: Some(3), ..ended(tool.started, "one") };
    malformed(DriveReport { ended: Some(completed), ..report(claim) }, "ended.exit_status");
    let ready = vec![ReadyTool { call: "one".to_owned(), limits: vec![String::new()] }];
    malformed(DriveReport { ready, ..report(claim) }, "ready.limits");
    for failed in [None, Some("it fell silent".to_owned())] {
        let turn = Some(TurnReport { role: Role::Auditor, moved: false, failed });
        malformed(DriveReport { turn, ..report(claim) }, "turn.role");
    }
    // The run goes on.
    let fitting = DriveReport { ended: Some(ended(tool.started, "one")), ..report(claim) };
    assert!(kinds(&place.drive(&fitting).unwrap().events).contains(&"tool_execution_completed".to_owned()));
}

#[test]
fn failure_without_words_is_recorded_and_the_run_goes_on() {
    let place = Place::new();
    let (claim, tool) = place.begun();
    let failure = Some(FailureKind::Exit);
    let failed = ToolReport { failure, note: Some(String::new()), ..ended(tool.started, "one") };
    let reply = place.drive(&DriveReport { ended: Some(failed), ..report(claim) }).unwrap();
    assert!(kinds(&reply.events).contains(&"tool_execution_failed".to_owned()), "{:?}", reply.step);
    assert!(matches!(&reply.step, DriveStep::Prepare(tool) if tool.call == "one"), "{:?}", reply.step);
}

#[test]
fn trace_that_is_no_run_is_neither_claimed_nor_aborted() {
    let mut place = Place::new();
    place.trace = place.owner().sequencer().registry().trace();
    let not_a_run = (Code::NotARun, Some("trace".to_owned()));
    assert_eq!(blame(place.claim(claim_id(), false, Some(orders("two")))), not_a_run);
    assert_eq!(
        code(driver::abort(
            place.owner(),
            place.trace,
            Attribution::new(Door::Socket, Root::SameUser),
            reason()
        ))
        .as_str(),
        "NOT_A_RUN"
    );
}

#[test]
fn place_that_no_event_can_have_is_refused_with_its_field() {
    let place = Place::new();
    place.begun();
    for from in [1 << 53, u64::MAX] {
        let wanted = ReadRunParameters { from: Some(from), artifacts: None };
        let refused = driver::read_lines(place.owner(), place.trace, &wanted);
        assert_eq!(blame(refused), (Code::Malformed, Some("from".to_owned())), "{from}");
    }
}

#[test]
fn run_stops_where_it_may_go_no_further() {
    let place = Place::new();
    let claim = claim_id();
    place.claim(claim, false, Some(orders("two"))).unwrap();
    let reply = place.drive(&DriveReport { until: Some(Phase::Reviewing), ..report(claim) }).unwrap();
    assert_eq!(kinds(&reply.events), ["session_initialized", "policy_recorded", "proposal_created"]);
    assert!(matches!(reply.step, DriveStep::Over(over) if over.phase == Phase::Reviewing && !over.stuck));
    // The claim is given back.
    place.claim(claim_id(), false, Some(orders("two"))).unwrap();
}

/// Records something in the executor's name, past the driver.
pub(crate) fn interrupt(owner: &Owner, trace: TraceId) {
    let mut system = OperatingSystem::open().unwrap();
    let author = owner.find_author("executor", Role::Executor).unwrap().unwrap();
    let head = owner.sequencer().store().trace(trace).unwrap().unwrap().head;
    let (store, now) = (owner.sequencer().registry().store(), system.now().unwrap());
    let at = Spot { store, trace, seen: Some(head), now };
    let artifact = Artifact::new(b"a note".to_vec(), &mut system);
    let content = ArtifactContent {
        media_type: "text/plain".try_into().unwrap(),
        name: "note".try_into().unwrap(),
        size: 6.try_into().unwrap(),
    };
    let content = Some(Content::ArtifactRecorded(content));
    let said = author.say(&at, artifact.facts(), content, &mut system).unwrap();
    owner.sequencer().submit(said, Some(&artifact)).unwrap();
}

/// LED-16: who answers or speaks in a run does so at any moment, and the driver goes on from what is recorded. The client is
/// told everything, and nothing twice.
#[test]
fn others_speak_in_a_run_while_it_is_driven() {
    let place = Place::new();
    let calls: Vec<String> = (0..40).map(|number| format!("call-{number}")).collect();
    let claim = claim_id();
    place.claim(claim, false, Some(orders_of(&calls))).unwrap();
    let mut told = place.drive(&report(claim)).unwrap().events;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                interrupt(place.owner(), place.trace);
            }
        });
        let _ended = Ended(&over);
        let mut last = None;
        for call in &calls {
            let report = DriveReport { ended: last.take(), ready: ready(call), ..report(claim) };
            let reply = place.drive(&report).unwrap();
            told.extend(reply.events);
            assert_eq!(told.len() as u64, reply.length);
            let tool = started(reply.step);
            assert_eq!(tool.call, *call);
            last = Some(ended(tool.started, call));
        }
    });
    assert_eq!(places(&told), (0..told.len() as u64).collect::<Vec<_>>());
    let completed = kinds(&told).iter().filter(|kind| *kind == "tool_execution_completed").count();
    assert_eq!(completed, calls.len() - 1);
}

/// Says that something is over, also where it ends in a panic.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
