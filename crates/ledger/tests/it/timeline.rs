//! The timeline: who said what, why, on what it rests, and where the run stands after it.

use demur_ledger::{
    event_type::{Content, Facts},
    facts::{
        ClaimChallenged, ClaimResolved, ClaimRetracted, ClaimRevised, FailureKind, FinalStatementSigned,
        ProposalDecision, ToolExecutionFailed, ToolExecutionStarted,
    },
    name::Sequence,
    role::Role,
    state::Phase,
    timeline::{Entry, Timeline},
};
use serde_json::Value;

use crate::{
    export::{eventful, export},
    world::{World, list, text},
};

/// Returns the entries of a file, up to the first line that cannot be read.
pub(crate) fn entries(file: &[u8]) -> Vec<Entry> {
    let mut timeline = Timeline::new();
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map_while(|line| timeline.read(line).ok()).flatten().collect()
}

/// Has the agent of this role say this with content that was changed, and records it.
pub(crate) fn say_with(
    world: &mut World,
    role: Role,
    facts: impl Into<Facts>,
    change: impl FnOnce(&mut Content),
) -> Sequence {
    world.say_with(role, facts, change).unwrap()
}

/// Returns the entries of a world whose artifacts are not of interest.
fn told(world: &World) -> Vec<Entry> {
    entries(&export(world, &[]))
}

fn rows(entry: &Entry) -> Vec<String> {
    entry.details().iter().map(|detail| format!("{}: {}", detail.label, detail.text)).collect()
}

/// LED-03
#[test]
fn every_step_shows_where_the_run_stands() {
    let (world, artifacts) = eventful();
    let entries = entries(&export(&world, &artifacts));
    assert_eq!(entries.len(), world.events.len());
    let steps: Vec<_> = entries.iter().map(|entry| entry.phase.unwrap()).collect();
    assert_eq!(steps[0].from, Phase::Initialized);
    assert!(steps.is_sorted_by(|before, after| before.to == after.from), "{steps:?}");
    let changes = steps.iter().filter(|step| step.from != step.to).map(|step| step.to);
    let expected = [
        Phase::Planning,
        Phase::Reviewing,
        Phase::Executing,
        Phase::Claiming,
        Phase::Auditing,
        Phase::Completed,
    ];
    assert_eq!(changes.collect::<Vec<_>>(), expected);
    let shown: Vec<_> = entries.iter().flat_map(rows).filter(|row| row.starts_with("state")).collect();
    assert_eq!(shown.len(), expected.len(), "only changes are shown: {shown:?}");
    assert_eq!(shown[1], "state: planning -> reviewing");
}

/// LED-01
#[test]
fn opening_names_who_takes_part_and_what_is_demanded() {
    let entries = told(&World::opened());
    let opening = entries[0].opening.as_ref().unwrap();
    let names = opening.participants.iter().map(|one| one.name.as_deref());
    assert!(names.eq([Some("somebody"); 4]));
    let mut roles: Vec<_> = opening.participants.iter().map(|one| one.role).collect();
    roles.sort();
    assert_eq!(roles, Role::OF_A_RUN);
    let rows = rows(&entries[0]);
    assert!(rows.contains(&"task: “count”".to_owned()), "{rows:?}");
    let policy = "policy: approval from high risk, 1 artifact per claim at least, 1 retry per call, \
                  fallback allowed";
    assert!(rows.contains(&policy.to_owned()), "{rows:?}");
}

/// LED-13 LED-24
#[test]
fn claims_name_their_evidence_and_their_executions() {
    let (world, artifacts) = eventful();
    let entries = entries(&export(&world, &artifacts));
    let claim = entries.iter().find(|entry| entry.kind == "claim_issued").unwrap();
    let named: Vec<_> = claim.evidence.iter().map(|event| (event.sequence, event.name.as_deref())).collect();
    assert_eq!(named, [(Sequence::from(7), Some("words"))]);
    let rows = rows(claim);
    for row in ["evidence: #7 words", "execution: #9 wc: completed, exit status 0, 3 ms", "sure: 90 %"] {
        assert!(rows.contains(&row.to_owned()), "{row} is not in {rows:?}");
    }
}

/// LED-33
#[test]
fn tool_calls_are_told_by_tool_with_limits_input_and_ending() {
    let (world, artifacts) = eventful();
    let entries = entries(&export(&world, &artifacts));
    let [started, completed] = [6, 9].map(|at: usize| &entries[at]);
    assert_eq!(started.what, "starts wc (intent #4)");
    assert_eq!(rows(started), ["limit: one second", "input: #5 words"]);
    assert_eq!(completed.what, "completes wc (execution #6)");
    assert_eq!(rows(completed), ["ended: completed, exit status 0, 3 ms", "output: #7 words, #8 words"]);
    assert!([started, completed].iter().all(|entry| entry.tool.as_deref() == Some("wc")));
}

/// LED-33
#[test]
fn failures_are_told_with_their_kind_and_their_words() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, demur_ledger::facts::Risk::Low);
    let input = world.record_artifact(b"{}");
    let started = world.say(ToolExecutionStarted { input: Some(input), intent }).unwrap();
    let facts = ToolExecutionFailed { failure: FailureKind::Timeout, outputs: list([]), started };
    world.say(facts).unwrap();
    let entries = told(&world);
    let failed = entries.last().unwrap();
    assert_eq!(failed.what, format!("reports that wc (execution #{started}) failed"));
    assert_eq!(rows(failed), ["why: “no such file”", "ended: failed: it took too long, 3 ms"]);
    assert_eq!(failed.ending.unwrap().failure, Some(FailureKind::Timeout));
}

/// LED-10
#[test]
fn conditions_are_told_where_they_are_set_and_where_they_are_met() {
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::ConditionallyApproved);
    let facts = demur_ledger::facts::ToolIntentSigned {
        meets: list([crate::world::whole(0)]),
        ..crate::state::intent(proposal, demur_ledger::facts::Risk::Low)
    };
    world.say(facts).unwrap();
    let entries = told(&world);
    assert_eq!(entries[3].what, "approves proposal #2 on 1 condition");
    assert!(rows(&entries[3]).contains(&"condition: 0: read only".to_owned()));
    assert!(rows(&entries[4]).contains(&"meets: condition 0".to_owned()));
}

/// LED-07
#[test]
fn challenged_claims_are_marked_until_the_challenge_is_closed() {
    let (mut world, claim, facts) = World::claiming();
    let first = world.say(ClaimChallenged { claim }).unwrap();
    let second = world.say(ClaimChallenged { claim }).unwrap();
    let revision = ClaimRevised {
        about_failure: false,
        evidence: facts.evidence,
        executions: facts.executions,
        replaces: claim,
    };
    let revised = world.say_as(Role::Executor, revision).unwrap();
    world.say(ClaimResolved { challenge: second }).unwrap();
    world.say(FinalStatementSigned { claims: list([revised]) }).unwrap();
    let entries = told(&world);
    let disputed: Vec<_> = entries
        .iter()
        .flat_map(|entry| {
            entry.disputed.iter().map(|one| (entry.sequence, one.claim, one.challenges.clone()))
        })
        .collect();
    let [resolved, last] = [revised.next(), revised.next().next()];
    let expected = [
        (first, claim, vec![first]),
        (second, claim, vec![first, second]),
        (revised, revised, vec![first, second]),
        (resolved, revised, vec![first]),
        (last, revised, vec![first]),
    ];
    assert_eq!(disputed, expected);
    let rows = rows(entries.last().unwrap());
    assert!(rows.contains(&format!("DISPUTED: claim #{revised}, by challenge #{first}")), "{rows:?}");
    assert!(rows.contains(&format!("claim: #{revised} “five words”")), "{rows:?}");
}

#[test]
fn retraction_ends_the_dispute() {
    let (mut world, claim, _) = World::claiming();
    world.say(ClaimChallenged { claim }).unwrap();
    world.say_as(Role::Executor, ClaimRetracted { claim }).unwrap();
    let entries = told(&world);
    let last = entries.last().unwrap();
    assert_eq!((last.claims[0].sequence, last.disputed.len()), (claim, 0));
}

#[test]
fn what_is_not_disclosed_keeps_its_number() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    let entries = entries(withheld(&file).as_bytes());
    assert_eq!(entries.len(), world.events.len());
    let claim = entries.iter().find(|entry| entry.kind == "claim_issued").unwrap();
    assert_eq!(rows(claim), ["evidence: #7", "execution: #9 completed", "state: executing -> claiming"]);
    assert_eq!(entries[6].what, "starts intent #4");
    assert_eq!((entries[0].who.len(), entries[0].why.as_ref()), (26, None));
}

/// Returns the export with every content kept back.
fn withheld(file: &str) -> String {
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if let Some(event) = value.get_mut("event").and_then(Value::as_object_mut)
            && event["disclosure"] == "disclosed"
        {
            event.insert("content".into(), Value::Null);
            event.insert("salt".into(), Value::Null);
            event.insert("disclosure".into(), "withheld".into());
        }
        value.to_string() + "\n"
    };
    file.lines().map(line).collect()
}

#[test]
fn state_is_silent_after_a_step_that_the_table_does_not_allow() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    // The proposal was rejected, and the tool was run all the same.
    let file = file.replacen("\"decision\":\"approved\"", "\"decision\":\"rejected\"", 1);
    let entries = entries(file.as_bytes());
    let followed: Vec<_> = entries.iter().map(|entry| entry.phase.map(|step| step.to)).collect();
    let expected = [Phase::Planning, Phase::Planning, Phase::Reviewing, Phase::Planning].map(Some);
    assert_eq!(followed[..4], expected);
    assert!(followed[4..].iter().all(Option::is_none) && entries.len() == 18, "{followed:?}");
    assert!(entries.iter().all(|entry| entry.disputed.is_empty()), "nothing is known of disputes either");
}

#[test]
fn long_claims_and_names_are_cited_by_their_beginning() {
    let (mut world, proposal) = World::executing();
    let long = "w".repeat(5000);
    let intent = world.intend(proposal, demur_ledger::facts::Risk::Low);
    let started = world.start(intent);
    let artifact = world.artifact(b"5");
    let evidence = say_with(&mut world, Role::Executor, artifact.facts(), |content| {
        let Content::ArtifactRecorded(content) = content else { panic!("expected an artifact") };
        content.name = text(&long[..1000]);
    });
    let outputs = list([evidence]);
    let ended = world.say(demur_ledger::facts::ToolExecutionCompleted { outputs, started }).unwrap();
    let facts = demur_ledger::facts::ClaimIssued {
        about_failure: false,
        evidence: list([evidence]),
        executions: list([ended]),
    };
    let claim = world.say(facts.clone()).unwrap();
    let demur_ledger::facts::ClaimIssued { about_failure, evidence, executions } = facts;
    let facts = ClaimRevised { about_failure, evidence, executions, replaces: claim };
    let revised = say_with(&mut world, Role::Executor, facts, |content| {
        let Content::ClaimRevised(content) = content else { panic!("expected a claim") };
        content.text = text(&long);
    });
    world.say(ClaimChallenged { claim: revised }).unwrap();
    let entries = told(&world);
    let [.., recorded, _, _, revision, challenge] = entries.as_slice() else {
        panic!("expected more events")
    };
    let lengths = [&revision.evidence[0], &challenge.claims[0]].map(|one| one.name.as_ref().unwrap().len());
    assert!(lengths.iter().all(|length| *length < 200), "{lengths:?}");
    assert_eq!((recorded.what.contains(&long[..1000]), revision.why.as_ref()), (true, Some(&long)));
}

#[test]
fn registry_has_no_states() {
    let world = World::new();
    let first = serde_json::to_value(world.registry[0].event.envelope()).unwrap();
    let (run, registry) = (world.run.chain().trace().to_string(), first["trace"].as_str().unwrap());
    let mut world = world;
    let facts = world.opening(crate::world::usual_policy());
    world.say(facts).unwrap();
    let file = String::from_utf8(export(&world, &[])).unwrap();
    let entries = entries(file.replacen(&run, registry, 1).as_bytes());
    assert_eq!(entries.len(), world.registry.len());
    assert!(entries.iter().all(|entry| entry.phase.is_none()));
    assert_eq!(entries[0].what, "opens the store");
}
