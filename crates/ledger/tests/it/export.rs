//! The export: every line reads back, the checkpoint binds the file, a newer format is named as such.

use demur_core::{
    commitment::Commitment,
    hash::{Hasher, Purpose},
};
use demur_ledger::{
    author::Artifact,
    chain::Chain,
    export::{Disclosure, ExportWriter, Header, Line, LineError},
    facts::{
        ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRevised, FinalStatementSigned, ProposalDecision,
        Risk, ToolExecutionCompleted, ToolExecutionStarted, VerificationStatus,
    },
    name::Sequence,
    role::Role,
};

use crate::{
    committed::committed,
    world::{INPUT, World, list, text},
};

/// Returns a run that uses most of the format, and the bytes of its artifacts.
pub(crate) fn eventful() -> (World, Vec<(Sequence, Artifact)>) {
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::Approved);
    let intent = world.intend(proposal, Risk::Low);
    let mut artifacts = Vec::new();
    let mut keep = |world: &mut World, bytes: &[u8]| {
        let artifact = world.artifact(bytes);
        let at = world.keep(&artifact);
        artifacts.push((at, artifact));
        at
    };
    let input = keep(&mut world, INPUT);
    let started = world.say(ToolExecutionStarted { input: Some(input), intent }).unwrap();
    let output = keep(&mut world, b"5\n");
    let more = keep(&mut world, "one two three four f\u{ef}ve\n".as_bytes());
    let ended = world.say(ToolExecutionCompleted { outputs: list([output, more]), started }).unwrap();
    let facts = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(facts.clone()).unwrap();
    let challenge = world.say(ClaimChallenged { claim }).unwrap();
    let revision = ClaimRevised {
        about_failure: false,
        evidence: list([output, more]),
        executions: facts.executions,
        replaces: claim,
    };
    let revised = world.say_as(Role::Executor, revision).unwrap();
    world.say(ClaimResolved { challenge }).unwrap();
    world.say(FinalStatementSigned { claims: list([revised]) }).unwrap();
    world.verify(VerificationStatus::Pass).unwrap();
    (world, artifacts)
}

/// Returns the export of the events a world has.
pub(crate) fn export(world: &World, artifacts: &[(Sequence, Artifact)]) -> Vec<u8> {
    export_as(world, artifacts, None)
}

/// Returns the same, with the artifacts' bytes kept back in this way. The head is that of the last event there is,
/// so a world whose events were cut off is exported as a lying desk would.
pub(crate) fn export_as(
    world: &World,
    artifacts: &[(Sequence, Artifact)],
    kept_back: Option<Disclosure>,
) -> Vec<u8> {
    export_with(world, artifacts, kept_back, &[], &[])
}

/// Returns the same with nothing in it of what these events say and record.
pub(crate) fn export_without(
    world: &World,
    artifacts: &[(Sequence, Artifact)],
    erased: &[Sequence],
) -> Vec<u8> {
    export_with(world, artifacts, None, erased, &[])
}

/// Returns the same with nothing in it of what these events of the registry say.
pub(crate) fn export_without_names(
    world: &World,
    artifacts: &[(Sequence, Artifact)],
    nameless: &[Sequence],
) -> Vec<u8> {
    export_with(world, artifacts, None, &[], nameless)
}

fn export_with(
    world: &World,
    artifacts: &[(Sequence, Artifact)],
    kept_back: Option<Disclosure>,
    erased: &[Sequence],
    nameless: &[Sequence],
) -> Vec<u8> {
    let header = Header {
        format: 1,
        software: text("demur test"),
        store: world.desk.store(),
        trace: world.run.chain().trace(),
    };
    let (mut writer, mut file) = ExportWriter::begin(&header).unwrap();
    for recorded in &world.registry {
        let is_nameless = nameless.contains(&recorded.event.position().sequence);
        file.extend(if is_nameless {
            writer.event_without_content(&recorded.event, Disclosure::Withheld).unwrap()
        } else {
            writer.event(&recorded.event, recorded.opening.as_ref()).unwrap()
        });
    }
    let head = world.desk.head(world.desk.registry_chain()).unwrap().unwrap();
    file.extend(writer.head(&head).unwrap());
    let mut chain = Chain::new(world.run.chain().trace());
    for recorded in &world.events {
        chain.push(&recorded.event);
        let at = recorded.event.position().sequence;
        if erased.contains(&at) {
            file.extend(match recorded.opening {
                Some(_) => writer.event_without_content(&recorded.event, Disclosure::Erased).unwrap(),
                None => writer.event(&recorded.event, None).unwrap(),
            });
            if artifacts.iter().chain(&world.reports).any(|(recorded, _)| *recorded == at) {
                file.extend(writer.artifact_without_bytes(at, Disclosure::Erased).unwrap());
            }
            continue;
        }
        file.extend(writer.event(&recorded.event, recorded.opening.as_ref()).unwrap());
        if let Some((_, report)) = world.reports.iter().find(|(recorded, _)| *recorded == at) {
            file.extend(writer.artifact(at, &report.bytes, &report.salt).unwrap());
        }
        let artifact = artifacts.iter().find(|(recorded, _)| *recorded == at);
        file.extend(match (artifact, kept_back) {
            (Some(_), Some(disclosure)) => writer.artifact_without_bytes(at, disclosure).unwrap(),
            (Some((_, artifact)), None) => writer.artifact(at, &artifact.bytes, &artifact.salt).unwrap(),
            (None, _) => Vec::new(),
        });
    }
    let head = world.desk.head(&chain).unwrap().unwrap();
    file.extend(writer.head(&head).unwrap());
    let registry = (world.desk.registry().head(), 1);
    file.extend(writer.finish(chain.head().unwrap(), registry, world.now, world.desk.key()).unwrap());
    file
}

/// ONE-04
#[test]
fn every_line_of_an_export_reads_back() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let mut events = world.registry.iter().chain(&world.events);
    let mut digest = Hasher::new(Purpose::Export);
    let mut recorded = None;
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        match Line::parse(line.strip_suffix(b"\n").unwrap()).unwrap() {
            Line::Event(line) => {
                let expected = events.next().unwrap();
                assert_eq!(line.event().unwrap(), expected.event);
                assert_eq!(
                    line.content().unwrap(),
                    expected.opening.as_ref().map(|open| open.bytes.as_slice())
                );
                recorded = Some(line.event().unwrap());
            }
            Line::Artifact(line) => {
                let event = recorded.take().unwrap();
                let Some(commitment) = event.agree().unwrap().facts.recorded_bytes() else {
                    panic!("misplaced")
                };
                let bytes = line.bytes().unwrap().unwrap();
                assert_eq!(Commitment::to_artifact(&line.salt.unwrap(), &bytes), *commitment);
            }
            Line::Head(head) => head.verify(&world.desk.key().public()).unwrap(),
            Line::Checkpoint(checkpoint) => {
                checkpoint.verify(&world.desk.key().public()).unwrap();
                assert_eq!(checkpoint.document.bytes, digest.clone().finish());
                assert_eq!(Some(checkpoint.document.head), world.run.chain().head());
            }
            Line::Header(header) => assert_eq!(header.store, world.desk.store()),
            other @ Line::Inclusion(_) => panic!("{other:?}"),
        }
        digest.update(line);
    }
    assert!(events.next().is_none());
}

#[test]
fn the_golden_export_never_changes() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    committed("conformance/ledger/golden/run.jsonl", &file);
}

#[test]
fn withheld_and_missing_parts_are_named() {
    let (world, artifacts) = eventful();
    let header = Header {
        format: 1,
        software: text("demur test"),
        store: world.desk.store(),
        trace: world.run.chain().trace(),
    };
    let (mut writer, _) = ExportWriter::begin(&header).unwrap();
    let line = writer.event_without_content(&world.events[0].event, Disclosure::Withheld).unwrap();
    let Line::Event(line) = Line::parse(line.trim_ascii_end()).unwrap() else { panic!("no event") };
    assert_eq!((line.disclosure, line.content().unwrap(), line.salt), (Disclosure::Withheld, None, None));
    let line = writer.artifact_without_bytes(artifacts[0].0, Disclosure::Missing).unwrap();
    let Line::Artifact(line) = Line::parse(line.trim_ascii_end()).unwrap() else { panic!("no artifact") };
    assert_eq!((line.disclosure, line.bytes().unwrap()), (Disclosure::Missing, None));
}

#[test]
fn a_newer_format_is_named_as_such() {
    let newer = br#"{"header":{"format":2,"language":"later","store":7}}"#;
    let error = Line::parse(newer).unwrap_err();
    assert!(matches!(error, LineError::Format { found: 2 }), "{error}");
    assert!(error.to_string().contains("newer version"));
}

#[test]
fn lines_that_are_not_ours_are_refused_in_one_sentence() {
    for line in ["", "{}", "[]", "null", "{\"event\":{}}", "{\"later\":{}}", "hello", "{\"header\":1}"] {
        let error = Line::parse(line.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("expected"), "{line}: {error}");
        assert!(!error.contains('\n'));
    }
}

/// LED-12
#[test]
fn an_artifact_opens_only_its_own_commitment() {
    let mut world = World::new();
    let artifact = world.artifact(b"bytes");
    let other = Artifact { bytes: b"byte".to_vec(), ..artifact.clone() };
    assert_ne!(artifact.facts(), other.facts());
    assert!(artifact.facts().commitment.opens_artifact(&artifact.salt, b"bytes"));
    assert!(!artifact.facts().commitment.opens_content(&artifact.salt, b"bytes"));
}
