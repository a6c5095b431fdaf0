//! The verifier: what passes, what the report says, and that it never says more than it checked.

use demur_core::{hash::Digest, key::SecretKey};
use demur_ledger::{
    envelope::Event,
    export::{Disclosure, ExportWriter, Header},
    facts::{ClaimChallenged, ContentErased, FinalStatementSigned, VerificationProfile, VerificationStatus},
    name::{Sequence, StoreId},
    role::Role,
    signed::{Head, Signed},
    verify::{
        Check, ClaimStanding, Code, Compared, FindingSeverity, KnownHead, Options, Pin, Report, Verdict,
        VerifyError, compare, verify, verify_whole,
    },
};

use crate::{
    export::{eventful, export, export_as, export_without},
    world::{INPUT, World, list, text},
};

pub(crate) fn check(file: &[u8], options: &Options) -> Report {
    verify_whole(file, options).unwrap()
}

pub(crate) fn default(file: &[u8]) -> Report {
    check(file, &Options::default())
}

#[track_caller]
pub(crate) fn fails(file: &[u8], options: &Options, code: Code) -> Report {
    let report = check(file, options);
    assert_eq!((report.verdict, report.code()), (Verdict::Fail, Some(code)), "{}", report.to_text());
    report
}

/// LED-34 ONE-04
#[test]
fn a_whole_run_passes() {
    let (world, artifacts) = eventful();
    let report = default(&export(&world, &artifacts));
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    assert_eq!(report.scope.events, world.events.len() as u64);
    assert_eq!(report.scope.state, Some("completed"));
    let statements: u64 = report.proven_by_key.iter().map(|key| key.statements).sum();
    assert_eq!(statements, world.events.len() as u64);
    assert!(report.proven_by_key.iter().all(|key| key.desk_says.as_deref() == Some("somebody")));
    assert!(report.words.contains("internally consistent; origin and completeness not established"));
    assert!(report.words.contains("later events may exist"));
    assert!(report.checks.iter().all(|check| check.worst.is_none()));
    let not_made: Vec<_> =
        report.checks.iter().filter(|check| !check.made).map(|check| check.check).collect();
    assert_eq!(not_made, [Check::Inclusion, Check::Anchor, Check::Equivocation]);
}

/// LED-28
#[test]
fn the_report_is_the_same_every_time_and_names_the_trace() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let one = default(&file);
    let many = check(&file, &Options { threads: 4, ..Options::default() });
    assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&many).unwrap());
    assert_eq!(one.to_text(), many.to_text());
    assert_eq!(one.to_html(), many.to_html());
    assert_eq!(one.scope.trace, world.run.chain().trace());
    assert_eq!(one.scope.through, world.run.chain().head());
}

/// LED-26
#[test]
fn each_claim_is_shown_with_its_one_key_and_its_evidence() {
    let (world, artifacts) = eventful();
    let report = default(&export(&world, &artifacts));
    let [claim] = report.claims.as_slice() else { panic!("expected one claim in play") };
    assert_eq!(claim.key, world.agent(Role::Executor).public().fingerprint());
    assert_eq!(claim.evidence.len(), 2);
    assert_eq!(claim.text.as_deref(), Some("five words"));
}

#[test]
fn pins_receipts_and_known_heads_anchor_a_file() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let receipt = world.desk.receipt(&world.events[5].event).unwrap().unwrap();
    let options = Options {
        pins: vec![
            Pin { name: "desk".into(), fingerprint: world.desk.key().public().fingerprint() },
            Pin { name: "alice".into(), fingerprint: world.agent(Role::Critic).public().fingerprint() },
        ],
        against: vec![
            KnownHead { sequence: None, hash: *world.events[3].event.hash() },
            KnownHead { sequence: Some(Sequence::from(4)), hash: *world.events[4].event.hash() },
        ],
        receipts: vec![receipt],
        require_anchor: true,
        ..Options::default()
    };
    let report = check(&file, &options);
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    assert!(report.words.contains("anchored by the pinned key of desk"), "{}", report.words);
    assert_eq!((report.anchors.receipts, report.anchors.heads), (1, 2));
    let pins: Vec<_> = report.anchors.pins.iter().map(|pin| (pin.name.as_str(), pin.standing)).collect();
    assert_eq!(pins, [("desk", "active"), ("alice", "active")]);
    assert_eq!(report.anchors.pins[0].through, report.last_trusted, "the desk's key signed the file");
    assert!(report.proven_by_key.iter().any(|key| key.pinned_as.as_deref() == Some("alice")));
}

#[test]
fn anchors_that_contradict_the_file_fail() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let required = Options { require_anchor: true, ..Options::default() };
    fails(&file, &required, Code::AnchorMissing);
    let stranger = SecretKey::from_seed(&[7; 32]).public().fingerprint();
    let agent = world.agent(Role::Critic).public().fingerprint();
    for (name, fingerprint) in [("alice", stranger), ("desk", agent)] {
        let pins = vec![Pin { name: name.into(), fingerprint }];
        fails(&file, &Options { pins, ..Options::default() }, Code::PinMismatch);
    }
    let other = Digest::from_bytes([1; 32]);
    let moved = *world.events[3].event.hash();
    for (sequence, hash) in
        [(None, other), (Some(Sequence::from(4)), moved), (Some(Sequence::from(900)), moved)]
    {
        let against = vec![KnownHead { sequence, hash }];
        fails(&file, &Options { against, ..Options::default() }, Code::AgainstMismatch);
    }
}

/// LED-29
#[test]
fn a_receipt_shows_a_tail_that_was_cut_off() {
    let (mut world, artifacts) = eventful();
    let last = world.events.last().unwrap().event.clone();
    let receipt = world.desk.receipt(&last).unwrap().unwrap();
    // The desk of the same store exports a shorter history, properly signed.
    world.events.truncate(world.events.len() - 2);
    let file = export(&world, &artifacts);
    let report = default(&file);
    assert_ne!(report.verdict, Verdict::Fail, "{}", report.to_text());
    let options = Options { receipts: vec![receipt], ..Options::default() };
    fails(&file, &options, Code::ReceiptMismatch);
}

#[test]
fn two_exports_of_one_trace_are_compared() {
    let (world, artifacts) = eventful();
    let whole = default(&export(&world, &artifacts));
    let (mut cut, _) = eventful();
    cut.events.truncate(6);
    let prefix = default(&export(&cut, &artifacts));
    assert_eq!(compare(&whole, &prefix), Compared::Agree);
    let (mut parted, proposal) = World::executing();
    parted.intend(proposal, demur_ledger::facts::Risk::Medium);
    let elsewhere = default(&export(&parted, &[]));
    let Compared::Part(found) = compare(&whole, &elsewhere) else { panic!("two histories") };
    assert!(!found.in_registry);
    assert_eq!(found.sequence.number(), 4, "both worlds begin alike and part at the intent");
    let other = default(&export(&opened_elsewhere(), &[]));
    assert!(matches!(compare(&whole, &other), Compared::Incomparable(_)));
}

fn opened_elsewhere() -> World {
    let mut world = World::seeded(3);
    let opening = world.opening(crate::world::usual_policy());
    world.say(opening).unwrap();
    world
}

/// LED-15
#[test]
fn an_unfinished_run_passes_with_a_warning_and_fails_when_strict() {
    let world = World::auditing();
    let file = export(&world, &[]);
    // The output of the tool call has no artifact line, which is malformed, not missing.
    fails(&file, &Options::default(), Code::FileMalformed);
    let mut world = World::opened();
    world.propose();
    let file = export(&world, &[]);
    let report = default(&file);
    assert_eq!(report.verdict, Verdict::PassWithWarnings);
    assert!(report.findings.iter().any(|finding| finding.code == Code::FinalizationIncomplete));
    let strict = Options { profile: VerificationProfile::Strict, ..Options::default() };
    fails(&file, &strict, Code::FinalizationIncomplete);
}

/// LED-13
#[test]
fn a_disputed_claim_warns_and_fails_when_strict() {
    let (mut world, artifacts) = disputed();
    world.verify(VerificationStatus::PassWithWarnings).unwrap();
    let file = export(&world, &artifacts);
    let report = default(&file);
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    assert!(report.claims[0].disputed);
    let strict = Options { profile: VerificationProfile::Strict, ..Options::default() };
    fails(&file, &strict, Code::ClaimDisputed);
}

pub(crate) type Artifacts = Vec<(Sequence, demur_ledger::author::Artifact)>;

/// Returns the export of a run with this many artifacts of eight kilobytes.
fn long(artifacts: u32) -> Vec<u8> {
    use demur_ledger::facts::ProposalDecision;
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::Approved);
    let mut kept = Vec::new();
    for number in 0..artifacts {
        let artifact = world.artifact(&[number.to_le_bytes(); 2048].concat());
        let at = world.say(artifact.facts()).unwrap();
        kept.push((at, artifact));
    }
    export(&world, &kept)
}

/// One chunk, a few that are read before anybody starts, and many that circulate between threads.
#[test]
fn files_of_any_length_are_read_alike_by_any_number_of_threads() {
    for (artifacts, least) in [(2, 20_000), (40, 400_000), (400, 4_000_000)] {
        let sound = long(artifacts);
        assert!(sound.len() > least, "{} bytes", sound.len());
        let mut damaged = sound.clone();
        let signature = b"\"signature\":\"";
        let middle = damaged.len() * 2 / 3;
        let place = damaged[middle..].windows(signature.len()).position(|part| part == signature).unwrap();
        let digit = &mut damaged[middle + place + signature.len()];
        *digit = if *digit == b'0' { b'1' } else { b'0' };
        let mut cut = sound.clone();
        cut.truncate(middle);
        for (file, verdict) in
            [(&sound, Verdict::PassWithWarnings), (&damaged, Verdict::Fail), (&cut, Verdict::Fail)]
        {
            let one = check(file, &Options { threads: 1, ..Options::default() });
            assert_eq!(one.verdict, verdict, "{}", one.to_text());
            for threads in [2, 3, 8] {
                let many = check(file, &Options { threads, ..Options::default() });
                assert_eq!(many.to_text(), one.to_text(), "{threads} threads, {artifacts} artifacts");
            }
        }
    }
}

/// Returns a run with this many artifacts, none of them recorded with a signature that holds.
pub(crate) fn unsigned(artifacts: u32) -> Vec<u8> {
    let text = String::from_utf8(long(artifacts)).unwrap();
    let lines = text.lines().map(|line| {
        if !line.contains("\"type\":\"artifact_recorded\"") {
            return line.to_owned();
        }
        let place = line.find("\"signature\":\"").unwrap() + 13;
        let digit = if &line[place..=place] == "0" { "1" } else { "0" };
        format!("{}{digit}{}", &line[..place], &line[place + 1..])
    });
    (lines.collect::<Vec<_>>().join("\n") + "\n").into_bytes()
}

#[test]
fn every_finding_is_counted_and_the_first_are_told() {
    let report = default(&unsigned(400));
    let of = |check| report.checks.iter().find(|made| made.check == check).unwrap();
    let signatures = of(Check::Signature);
    assert_eq!((signatures.findings, signatures.worst), (400, Some(FindingSeverity::Failure)));
    assert_eq!(report.findings.len(), 256);
    assert_eq!(report.findings_total, report.checks.iter().map(|made| made.findings).sum::<u64>());
}

#[test]
fn progress_tells_the_bytes_that_were_read() {
    for artifacts in [2, 40, 400] {
        let file = long(artifacts);
        // The registry and the line after its head are read before anything is told.
        let head = file.windows(9).position(|part| part == b"\n{\"head\":").unwrap() + 1;
        let opening: usize =
            file[head..].split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum();
        let opening = head + opening;
        for threads in [1, 4] {
            let mut told = Vec::new();
            let options = Options { threads, ..Options::default() };
            verify(&file[..], &options, &mut |bytes| told.push(bytes)).unwrap();
            assert!(told.is_sorted_by(|before, after| before < after), "{told:?}");
            assert_eq!(*told.last().unwrap(), (file.len() - opening) as u64);
        }
    }
}

/// Whoever names a desk's key must have it, even if everything that follows is signed with another: here the whole
/// file is made with the desk's own key, but for one digit.
#[test]
fn a_store_that_its_desk_did_not_sign_fails() {
    let world = World::new();
    let first = &world.registry[0];
    let signed = String::from_utf8(first.event.bytes().to_vec()).unwrap();
    let place = signed.find("\"signature\":\"").unwrap() + 13;
    let digit = if &signed[place..=place] == "0" { "1" } else { "0" };
    let forged = format!("{}{digit}{}", &signed[..place], &signed[place + 1..]);
    let event = Event::parse(forged.as_bytes()).unwrap();
    let (store, trace) = (StoreId::new(*event.hash()), event.envelope().trace);
    let header = Header { format: 1, software: text("test"), store, trace };
    let (mut writer, mut file) = ExportWriter::begin(&header).unwrap();
    file.extend(writer.event(&event, first.opening.as_ref()).unwrap());
    let (position, key) = (event.position(), world.desk.key());
    let head = Head { epoch: 1, head: position, registry: position, store, trace };
    file.extend(writer.head(&Signed::new(head, key).unwrap()).unwrap());
    file.extend(writer.finish(position, (position, 1), world.now, key).unwrap());
    let report = fails(&file, &Options::default(), Code::SigInvalid);
    assert_eq!(report.findings_total, 1, "{}", report.to_text());
}

/// A file whose reading is interrupted now and then, and fails at one place if it has any.
struct Flaky<'a> {
    file: &'a [u8],
    read: usize,
    fails_at: Option<usize>,
    interrupted: bool,
}

impl std::io::Read for Flaky<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        if self.fails_at.is_some_and(|place| self.read >= place) {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        let length = buffer.len().min(70_000).min(self.file.len() - self.read);
        buffer[..length].copy_from_slice(&self.file[self.read..self.read + length]);
        self.read += length;
        Ok(length)
    }
}

#[test]
fn an_interrupted_reading_goes_on_and_a_failed_one_is_told() {
    for artifacts in [2, 40, 400] {
        let file = long(artifacts);
        for threads in [1, 4] {
            let options = Options { threads, ..Options::default() };
            let read = |fails_at| {
                let flaky = Flaky { file: &file, read: 0, fails_at, interrupted: false };
                verify(std::io::BufReader::new(flaky), &options, &mut |_| ())
            };
            assert_eq!(read(None).unwrap().to_text(), check(&file, &options).to_text());
            for place in [0, file.len() / 2, file.len() - 1] {
                assert!(
                    matches!(read(Some(place)), Err(VerifyError::Read(_))),
                    "at {place} of {}",
                    file.len()
                );
            }
        }
    }
}

pub(crate) fn disputed() -> (World, Artifacts) {
    let (mut world, artifacts, claim) = claimed();
    world.say(ClaimChallenged { claim }).unwrap();
    world.say(FinalStatementSigned { claims: list([claim]) }).unwrap();
    (world, artifacts)
}

pub(crate) fn claimed() -> (World, Artifacts, Sequence) {
    use demur_ledger::facts::{
        ClaimIssued, ProposalDecision, Risk, ToolExecutionCompleted, ToolExecutionStarted,
    };
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::Approved);
    let intent = world.intend(proposal, Risk::Low);
    let given = world.artifact(INPUT);
    let input = world.keep(&given);
    let started = world.say(ToolExecutionStarted { input: Some(input), intent }).unwrap();
    let artifact = world.artifact(b"5");
    let output = world.keep(&artifact);
    let ended = world.say(ToolExecutionCompleted { outputs: list([output]), started }).unwrap();
    let facts = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(facts).unwrap();
    (world, vec![(input, given), (output, artifact)], claim)
}

/// LED-19 LED-24
#[test]
fn a_missing_artifact_fails_and_leaves_the_claim_unproven() {
    let (mut world, artifacts) = disputed();
    world.verify(VerificationStatus::Fail).unwrap();
    let file = export_as(&world, &artifacts, Some(Disclosure::Missing));
    let report = fails(&file, &Options::default(), Code::ArtifactMissing);
    assert!(report.findings.iter().any(|finding| finding.code == Code::ClaimUnproven));
    let lenient = Options { profile: VerificationProfile::Lenient, ..Options::default() };
    let report = fails(&file, &lenient, Code::ArtifactMissing);
    let unproven = report.findings.iter().find(|finding| finding.code == Code::ClaimUnproven).unwrap();
    assert_eq!(unproven.severity, FindingSeverity::Warning);
}

#[test]
fn what_is_withheld_or_erased_is_not_established_and_never_passes() {
    let (mut world, artifacts) = disputed();
    world.verify(VerificationStatus::Pass).unwrap();
    let withheld = export_as(&world, &artifacts, Some(Disclosure::Withheld));
    for (at, _) in &artifacts {
        world.say(ContentErased { event: *at }).unwrap();
    }
    let gone: Vec<_> = artifacts.iter().map(|(at, _)| *at).collect();
    let erased = export_without(&world, &artifacts, &gone);
    for (file, words) in [(withheld, "the artifact is withheld"), (erased, "the artifact is erased")] {
        let report = default(&file);
        assert!(report.findings.iter().any(|finding| finding.message == words), "{}", report.to_text());
        assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
        assert!(!report.words.contains("consistent"), "{}", report.words);
        assert_eq!(report.claims[0].standing, ClaimStanding::NotEstablished);
    }
}

/// Returns the file with one event line changed.
fn with_line(file: &[u8], containing: &str, change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let text = String::from_utf8(file.to_vec()).unwrap();
    let line = text.lines().find(|line| line.contains(containing)).unwrap();
    let mut value = serde_json::from_str(line).unwrap();
    change(&mut value);
    let changed = demur_core::canonical::to_vec(&value).unwrap();
    text.replacen(line, &String::from_utf8(changed).unwrap(), 1).into_bytes()
}

#[test]
fn a_line_that_contradicts_itself_ends_the_reading() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let file = with_line(&file, "\"type\":\"tool_intent_signed\"", |line| {
        line["event"]["disclosure"] = "withheld".into();
    });
    let report = fails(&file, &Options::default(), Code::FileMalformed);
    assert_eq!(report.scope.events, 4, "something after the line was taken");
    assert_eq!(report.findings_total, 1);
}

#[test]
fn what_the_desk_recorded_is_counted_as_its_word() {
    use demur_ledger::{
        event_type::{EventType, Facts},
        facts::{Attribution, Door, Root, SessionAborted},
    };
    let mut world = World::opened();
    let mut facts = Facts::from(SessionAborted { attribution: None });
    facts.attribute(Attribution::new(Door::Socket, Root::SameUser));
    let content = crate::world::fitting(&facts).unwrap();
    let said = (EventType::SessionAborted, Role::Operator, facts);
    let World { desk, run, now, random, events, .. } = &mut world;
    events.push(desk.record(run, said, &content, None, *now, random).unwrap());
    let report = default(&export(&world, &[]));
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    assert_eq!(report.desk_word.records.get("session_aborted"), Some(&1));
}

#[test]
fn no_event_has_two_heads() {
    let (world, artifacts) = eventful();
    let text = String::from_utf8(export(&world, &artifacts)).unwrap();
    for head in text.lines().filter(|line| line.starts_with("{\"head\":")) {
        let doubled = text.replacen(head, &format!("{head}\n{head}"), 1);
        fails(doubled.as_bytes(), &Options::default(), Code::FileMalformed);
    }
}

#[test]
fn an_author_that_saw_its_own_event_is_reported_once() {
    let mut world = World::opened();
    world.propose();
    let bytes = crate::format::changed(&world.events[2].event, |event| {
        event["statement"]["seen"]["sequence"] = 2.into();
    });
    world.events[2].event = Event::parse(&bytes).unwrap();
    let options = Options { signatures: false, ..Options::default() };
    let report = fails(&export(&world, &[]), &options, Code::StatementMismatch);
    let again = report.findings.iter().any(|finding| finding.code == Code::SeenInvalid);
    assert!(!again, "{}", report.to_text());
}

#[test]
fn erased_and_withheld_content_are_told_apart() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    for (disclosure, words) in
        [("erased", "erased"), ("withheld", "not in the file"), ("missing", "not in the file")]
    {
        let file = with_line(&file, "\"type\":\"tool_intent_signed\"", |line| {
            line["event"]["disclosure"] = disclosure.into();
            line["event"]["content"] = serde_json::Value::Null;
            line["event"]["salt"] = serde_json::Value::Null;
        });
        let report = default(&file);
        let found = report.findings.iter().find(|finding| finding.code == Code::NotDisclosed).unwrap();
        assert!(found.message.contains(words), "{}", found.message);
    }
}

#[test]
fn a_claim_that_was_taken_back_is_not_reported() {
    use demur_ledger::facts::ClaimRetracted;
    let (mut world, artifacts, claim) = claimed();
    assert_eq!(default(&export(&world, &artifacts)).claims.len(), 1);
    world.say_as(Role::Executor, ClaimRetracted { claim }).unwrap();
    assert!(default(&export(&world, &artifacts)).claims.is_empty());
}

#[test]
fn an_export_of_the_registry_itself_is_anchored_like_any_other() {
    let world = World::new();
    let trace = world.desk.registry().trace();
    let header = Header { format: 1, software: text("demur test"), store: world.desk.store(), trace };
    let (mut writer, mut file) = ExportWriter::begin(&header).unwrap();
    for recorded in &world.registry {
        file.extend(writer.event(&recorded.event, recorded.opening.as_ref()).unwrap());
    }
    let head = world.desk.head(world.desk.registry_chain()).unwrap().unwrap();
    file.extend(writer.head(&head).unwrap());
    let last = world.desk.registry().head();
    file.extend(writer.finish(last, (last, 1), world.now, world.desk.key()).unwrap());
    let receipt = world.desk.receipt(&world.registry[2].event).unwrap().unwrap();
    let known = KnownHead { sequence: Some(Sequence::from(3)), hash: *world.registry[3].event.hash() };
    let options = Options {
        receipts: vec![receipt.clone()],
        against: vec![known],
        require_anchor: true,
        ..Options::default()
    };
    let report = check(&file, &options);
    assert_eq!((report.verdict, report.anchors.receipts, report.anchors.heads), (Verdict::Pass, 1, 1));
    assert_eq!(report.scope.events, world.registry.len() as u64);
    // The same receipt does not fit the export of a run of the same store.
    let (world, artifacts) = eventful();
    let options = Options { receipts: vec![receipt], ..Options::default() };
    let report = fails(&export(&world, &artifacts), &options, Code::ReceiptMismatch);
    assert!(report.findings[0].message.contains("another store or trace"), "{}", report.findings[0].message);
}

#[test]
fn hashes_alone_never_pass() {
    let (world, artifacts) = eventful();
    let options = Options { signatures: false, ..Options::default() };
    let report = check(&export(&world, &artifacts), &options);
    assert_eq!(report.verdict, Verdict::NotEstablished);
    assert!(report.to_text().contains("only hashes were checked"));
}

#[test]
fn every_cut_of_a_file_is_noticed() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let ends: Vec<usize> =
        file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let around = ends.iter().flat_map(|end| [end - 1, *end, end + 1]).filter(|length| *length < file.len());
    for length in (0..file.len()).step_by(97).chain(around) {
        match verify(&file[..length], &Options::default(), &mut |_| ()) {
            Ok(report) => assert_eq!(report.verdict, Verdict::Fail, "cut at {length}"),
            Err(VerifyError::NoHeader) => assert!(length < 200, "cut at {length}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn what_is_not_an_export_is_said_in_one_sentence() {
    for (file, code) in [
        (b"".as_slice(), "FILE_TRUNCATED"),
        (&[0xff; 100], "FILE_TRUNCATED"),
        // A header is short: a first line that goes on and on is something else.
        (&[b'x'; 4096], "FILE_TRUNCATED"),
        (&[b'x'; 4097], "FILE_MALFORMED"),
        (b"\n", "FILE_MALFORMED"),
        (b"hello\n", "FILE_MALFORMED"),
        (b"{}\n", "FILE_MALFORMED"),
        (&vec![0; 100_000], "FILE_MALFORMED"),
        (b"{\"header\":{\"format\":1}}\n", "FILE_MALFORMED"),
    ] {
        let error = verify(file, &Options::default(), &mut |_| ()).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let newer = b"{\"header\":{\"format\":2}}\n".as_slice();
    assert_eq!(verify(newer, &Options::default(), &mut |_| ()).unwrap_err().code(), "FORMAT_NEWER");
}

/// LED-18
#[test]
fn the_first_bad_event_and_the_last_trusted_one_are_named() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    let changed = file.replacen("\"type\":\"tool_intent_signed\"", "\"type\":\"claim_retracted\"", 1);
    let report = default(changed.as_bytes());
    assert_eq!(report.verdict, Verdict::Fail);
    let changed = file.replacen("\"risk\":\"low\"", "\"risk\":\"medium\"", 1);
    let report = fails(changed.as_bytes(), &Options::default(), Code::SigInvalid);
    assert_eq!(report.first_bad.map(Sequence::number), Some(4));
    assert_eq!(report.last_trusted.map(Sequence::number), Some(3));
}
