//! A forger: changes anything in a valid export, repairs all that needs no key (or no author's key), and must
//! never get a "pass". Knows the format by its JSON alone and uses none of the verifier's code.
#![expect(clippy::disallowed_methods, reason = "tests read the committed corpus")]

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use demur_core::{
    canonical,
    hash::{Hasher, Purpose, digest, sha256},
    key::SecretKey,
    random::{Random, Seeded},
};
use demur_ledger::{
    event_type::EventType,
    verify::{Options, Verdict, verify_whole},
};
use serde_json::{Value, json};

use crate::{
    corpus::folder,
    export::{eventful, export},
    world::{World, rounds},
};

/// Honest files of the corpus, and the label from which the key of their desk was made. With the runs below they have an event of
/// every type: runs, plans with papers and amendments, confirmations, acts of people, registries with clients and tokens, an erasure.
const HONEST: [(&str, &str); 38] = [
    ("guess-attested", "guesses"),
    ("guess-consent-asked-again", "guesses"),
    ("guess-self-relayed", "guesses"),
    ("valid-agent-key-rotated", "rotated"),
    ("valid-amended", "papers"),
    ("valid-attribution-own", "own and told"),
    ("valid-attribution-relay", "through a relay"),
    ("valid-audit-asks", "honest audit"),
    ("valid-calls-renamed", "calls renamed"),
    ("valid-client-tokens", "lives of tokens"),
    ("valid-client-two", "two clients"),
    ("valid-conditions-shown", "honest conditions"),
    ("valid-confirmation-demanded", "demanded confirmations"),
    ("valid-confirmation-expired", "confirmations"),
    ("valid-confirmation-instead", "confirmations"),
    ("valid-confirmation-other-program", "confirmations"),
    ("valid-papers-rejected", "papers"),
    ("valid-plan", "clarified plan"),
    ("valid-plan-complete", "plan without gaps"),
    ("valid-plan-gap-repeated", "repeated gap"),
    ("valid-plan-question", "plan and question"),
    ("valid-plan-question-secret", "secrets"),
    ("valid-plan-withdrawn-open", "withdrawn"),
    ("valid-question-answered", "answered"),
    ("valid-question-defaulted", "deadlines"),
    ("valid-question-escalated", "deadlines"),
    ("valid-question-passed-on", "deadlines"),
    ("valid-question-reopened-late", "deadlines"),
    ("valid-question-superseded", "answered"),
    ("valid-refusal-recovery-abort", "refusals"),
    ("valid-registry-erased", "erased-name"),
    ("valid-registry-export", "registry-only"),
    ("valid-revocation-proven", "revoked"),
    ("valid-run-questions", "asking run"),
    ("valid-store-restored", "restored"),
    ("valid-withdrawn", "papers"),
    ("valid-withdrawn-confirmation", "plans"),
    ("wait-retract", "waiting"),
];

/// A valid export as a forger sees it.
struct Original {
    bytes: Vec<u8>,
    lines: Vec<Value>,
    desk: SecretKey,
}

impl Original {
    fn new(bytes: Vec<u8>, desk: &SecretKey) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        Self { bytes, lines, desk: SecretKey::from_seed(&desk.seed()) }
    }
}

fn originals() -> Vec<Original> {
    let (world, artifacts) = eventful();
    let mut aborted = World::opened();
    aborted.propose();
    aborted.say(demur_ledger::facts::SessionAborted { attribution: None }).unwrap();
    let mut originals = vec![
        Original::new(export(&world, &artifacts), world.desk.key()),
        Original::new(export(&aborted, &[]), aborted.desk.key()),
    ];
    originals.extend(HONEST.map(|(name, label)| {
        let bytes = fs::read(folder().join(format!("files/{name}.jsonl"))).unwrap();
        let seed = sha256(format!("demur attack corpus\0key {label}/desk\00").as_bytes());
        let desk = SecretKey::from_seed(seed.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains(&desk.public().fingerprint().to_string()), "{name} is of another desk");
        Original::new(bytes, &desk)
    }));
    originals
}

/// The types that no file of the corpus has yet: the tests of the engine forge them.
const WITHOUT_FILE: [EventType; 7] = [
    EventType::PersonChanged,
    EventType::PersonRemoved,
    EventType::PasskeyAdded,
    EventType::PasskeyRemoved,
    EventType::PasskeyReset,
    EventType::JournalOpened,
    EventType::SessionOpened,
];

/// LED-05 LED-29
#[test]
fn proof_no_changed_and_repaired_export_passes() {
    let originals = originals();
    for original in &originals {
        let report = verify_whole(&original.bytes, &Options::default()).unwrap();
        assert!(report.verdict < Verdict::NotEstablished, "{}", report.to_text());
        assert_eq!(repaired(original, original.lines.clone(), Keys::None), original.bytes);
    }
    let told: BTreeSet<&str> =
        originals.iter().flat_map(|original| &original.lines).filter_map(type_of).collect();
    let untold: Vec<_> = EventType::ALL.iter().filter(|kind| !told.contains(kind.as_str())).collect();
    assert_eq!(untold, WITHOUT_FILE.iter().collect::<Vec<_>>(), "nobody tries to forge some types");
    let all = rounds(1_000_000, 2_000);
    let tried = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        for worker in 0..workers {
            let (originals, tried) = (&originals, &tried);
            scope.spawn(move || {
                let mut random = Seeded::from_number(0xF0_46E4 + worker as u64);
                while tried.fetch_add(1, Ordering::Relaxed) < all {
                    forge(&originals[below(&mut random, originals.len())], &mut random);
                }
            });
        }
    });
}

fn type_of(line: &Value) -> Option<&str> {
    let event = &line["event"]["event"];
    event["statement"]["type"].as_str().or(event["record"]["type"].as_str())
}

/// Makes one forgery that differs from the original and checks that it does not pass.
fn forge(original: &Original, random: &mut Seeded) {
    let (forged, how) = match below(random, 3) {
        0 => (byte_changed(original, random), "a byte changed, all repaired that needs no key"),
        1 => {
            (value_changed(original, random, |_| true, Keys::None), "a value changed, repaired without a key")
        }
        _ => (value_changed(original, random, authored, Keys::Desk), "an author's value changed by the desk"),
    };
    if forged == original.bytes {
        return;
    }
    if let Ok(report) = verify_whole(&forged, &Options::default()) {
        assert!(
            report.verdict >= Verdict::NotEstablished,
            "{how} and passed:\n{}",
            String::from_utf8_lossy(&forged)
        );
    }
}

/// Whose keys the forger has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    None,
    Desk,
}

/// Changes one byte of one line; if the line is still JSON, everything around it is repaired.
fn byte_changed(original: &Original, random: &mut Seeded) -> Vec<u8> {
    let mut bytes = original.bytes.clone();
    let at = below(random, bytes.len());
    match below(random, 4) {
        0 => bytes[at] ^= 1 << below(random, 8),
        1 => bytes[at] = pick(random, b"0123456789abcdefABZ\"{}[],:\\ \n"),
        2 => {
            bytes.remove(at);
        }
        _ => bytes.insert(at, pick(random, b"0123456789abcdef\",}{")),
    }
    let lines: Result<Vec<Value>, _> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(serde_json::from_slice)
        .collect();
    match lines {
        Ok(lines) => repaired(original, lines, Keys::None),
        Err(_) => bytes,
    }
}

/// Replaces one value that `chosen` admits by another of the file or by a small change of itself.
fn value_changed(
    original: &Original,
    random: &mut Seeded,
    chosen: impl Fn(&str) -> bool,
    keys: Keys,
) -> Vec<u8> {
    let mut lines = original.lines.clone();
    let line = below(random, lines.len());
    let mut leaves = Vec::new();
    collect(&lines[line], String::new(), &mut leaves);
    leaves.retain(|(path, _)| chosen(path));
    if leaves.is_empty() {
        return original.bytes.clone();
    }
    let (path, value) = leaves[below(random, leaves.len())].clone();
    let mut others = Vec::new();
    collect(&original.lines[below(random, lines.len())], String::new(), &mut others);
    let other = others[below(random, others.len())].1.clone();
    let changed = match (&value, below(random, 3)) {
        (_, 0) => other,
        (Value::Number(number), _) => {
            json!(number.as_u64().unwrap_or(0).wrapping_add(1 + below(random, 2) as u64) & 0xffff)
        }
        (Value::String(text), _) if !text.is_empty() => json!(retyped(text, random)),
        (Value::Bool(value), _) => json!(!value),
        (Value::Null, _) => json!({}),
        _ => Value::Null,
    };
    *lines[line].pointer_mut(&path).unwrap() = changed;
    repaired(original, lines, keys)
}

/// What an author signed or committed to: the statement, its proof, and what opens its commitments. The first
/// lines, the desk's own statements, are the desk's to change.
fn authored(path: &str) -> bool {
    let signed = path.starts_with("/event/event/statement") || path.starts_with("/event/event/proof");
    let opened =
        path.starts_with("/event/content") || path == "/event/salt" || path.starts_with("/artifact/");
    signed || opened
}

fn retyped(text: &str, random: &mut Seeded) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = below(random, characters.len());
    characters[at] = char::from(pick(random, b"0123456789abcdefABCDZ_-. "));
    characters.into_iter().collect()
}

fn collect(value: &Value, path: String, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| collect(member, format!("{path}/{key}"), leaves));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{path}/{at}"), leaves));
        }
        leaf => leaves.push((path, leaf.clone())),
    }
}

/// Chains the events again, makes pins, heads and checkpoint name the new hashes, writes everything canonically,
/// and signs heads and checkpoint if the forger is the desk.
fn repaired(original: &Original, mut lines: Vec<Value>, keys: Keys) -> Vec<u8> {
    let mut heads: Vec<(Value, Value)> = Vec::new(); // (trace, position) of the last event of each trace
    let mut registry: Vec<Value> = Vec::new(); // the hash of each registry event
    let registry_trace = lines.get(1).map(|line| line["event"]["event"]["trace"].clone());
    let mut out: Vec<u8> = Vec::new();
    for line in &mut lines {
        if let Some(event) = line.pointer_mut("/event/event") {
            repair_event(event, &mut heads, &mut registry, registry_trace.as_ref());
        }
        for name in ["head", "checkpoint"] {
            if let Some(document) = line.pointer_mut(&format!("/{name}/document")) {
                repair_document(document, &heads, &registry);
            }
        }
        if let Some(checkpoint) = line.pointer_mut("/checkpoint/document") {
            let mut hasher = Hasher::new(Purpose::Export);
            hasher.update(&out);
            set(checkpoint, "bytes", json!(hasher.finish().to_string()));
        }
        if keys == Keys::Desk {
            sign(line, original);
        }
        match canonical::to_vec(line) {
            Ok(bytes) => out.extend(bytes),
            Err(_) => out.extend(serde_json::to_vec(line).unwrap()),
        }
        out.push(b'\n');
    }
    out
}

fn repair_event(
    event: &mut Value,
    heads: &mut Vec<(Value, Value)>,
    registry: &mut Vec<Value>,
    registry_trace: Option<&Value>,
) {
    let trace = event["trace"].clone();
    let last = heads.iter_mut().find(|(known, _)| *known == trace);
    if let Some((_, position)) = &last {
        let hash = position["hash"].clone();
        set(event, "previous", hash);
    }
    pin(event.pointer_mut("/registry"), registry);
    let Ok(bytes) = canonical::to_vec(event) else { return };
    let hash = json!(digest(Purpose::Envelope, &[&bytes]).to_string());
    let position = json!({"hash": hash, "sequence": event["sequence"]});
    if registry_trace == Some(&trace) {
        registry.push(hash);
    }
    match last {
        Some((_, known)) => *known = position,
        None => heads.push((trace, position)),
    }
}

fn repair_document(document: &mut Value, heads: &[(Value, Value)], registry: &[Value]) {
    let trace = document["trace"].clone();
    if let Some((_, position)) = heads.iter().find(|(known, _)| *known == trace) {
        let (sequence, hash) = (position["sequence"].clone(), position["hash"].clone());
        if document.pointer("/head/sequence") == Some(&sequence)
            && let Some(head) = document.pointer_mut("/head")
        {
            set(head, "hash", hash);
        }
    }
    pin(document.pointer_mut("/registry"), registry);
}

/// Makes a pinned position name the registry event that stands there now.
fn pin(position: Option<&mut Value>, registry: &[Value]) {
    let Some(position) = position else { return };
    let at = position["sequence"].as_u64().and_then(|at| usize::try_from(at).ok());
    if let Some(hash) = at.and_then(|at| registry.get(at)) {
        set(position, "hash", hash.clone());
    }
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(field.to_owned(), value);
    }
}

/// Signs heads and checkpoint with the desk's key.
fn sign(line: &mut Value, original: &Original) {
    for (name, purpose) in [("head", Purpose::Head), ("checkpoint", Purpose::Checkpoint)] {
        let Some(document) = line.pointer(&format!("/{name}/document")) else { continue };
        let Ok(bytes) = canonical::to_vec(document) else { continue };
        let signature = original.desk.sign(purpose, &bytes);
        let key = original.desk.public().fingerprint();
        line[name]["proof"] = json!({"key": key.to_string(), "signature": signature.to_string()});
    }
}

fn pick(random: &mut Seeded, from: &[u8]) -> u8 {
    from[below(random, from.len())]
}

fn below(random: &mut Seeded, limit: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).unwrap()
}
