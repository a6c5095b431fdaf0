//! What can be checked of one line without the lines before it: this part runs on all cores.

use demur_core::{
    canonical,
    commitment::{Commitment, Salt},
    hash::{Digest, sha256},
    key::Batch,
    limit::Limits,
};
use serde_json::value::RawValue;

use super::{Chunk, Code, Options, StatedChecks, finding::Found, stated::Outcomes};
use crate::{
    admission,
    content::ContentRule,
    envelope::Event,
    event_type::{Content, Facts, TypeName},
    export::{
        ArtifactLine, Disclosure, EventLine, Header, Line, LineError,
        cut::{self, CutEvent},
    },
    meaning::{self, Meaning},
    name::Sequence,
    passkey::{Assertion, PasskeyError},
    proof::{KeySignature, Proof, ProofError, ProofKind, Subject},
    registry::{Registry, Standing},
    signed::{Checkpoint, Head, Inclusion, Signed},
    timeline::Words,
    verify::papers::is_quoted,
};

/// One line, examined.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) part: Part,
    pub(super) found: Vec<Found>,
}

/// What the line is.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most lines are events, and a list of lines is one allocation")]
pub(super) enum Part {
    /// Not a line of this format.
    Unreadable,
    /// An event line whose event breaks the schema.
    UnreadableEvent,
    Header(Header),
    Event(Examined),
    Artifact(Bytes),
    Head(Signed<Head>),
    Inclusion(Inclusion),
    Checkpoint(Signed<Checkpoint>),
}

/// An event that could be read.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) event: Event,
    /// Whether envelope and statement agree, so that the state can go by it.
    pub(super) agrees: bool,
    /// What the walk needs of the content, where that is disclosed and holds. The rest is freed on the thread that
    /// made it.
    pub(super) words: Option<Words>,
    /// What the guards need of it.
    pub(super) meaning: Option<Meaning>,
    /// Whether the content is in the file.
    pub(super) disclosure: Disclosure,
    /// All of it, where papers are held against it.
    pub(super) quoted: Option<Box<Content>>,
}

/// An artifact's bytes, reduced to what they commit to and what others name them by.
#[derive(Debug)]
pub(super) struct Bytes {
    pub(super) event: Sequence,
    pub(super) disclosure: Disclosure,
    pub(super) commitment: Option<Commitment>,
    /// SHA-256 of the bytes.
    pub(super) digest: Option<Digest>,
    /// The digest of the program that they start, where they are the input of a call.
    pub(super) program: Option<Digest>,
    /// What came of the checks on them.
    pub(super) outcomes: Outcomes,
}

/// Examines the lines of a chunk against a registry and puts them into `items`. Signatures are checked together.
pub(super) fn examine(chunk: &Chunk, registry: &Registry, options: &Options, items: &mut Vec<Item>) {
    let mut batch = Batch::with_capacity(if options.signatures { chunk.count() } else { 0 });
    let mut signed = Vec::new();
    items.reserve(chunk.count());
    // The walk needs the bytes of an event only where a receipt may ask for the statement.
    let keep = if options.receipts.is_empty() { Keep::Envelope } else { Keep::Bytes };
    for line in chunk.lines() {
        let (mut item, statement) = read(line, keep, &options.checks);
        if let Part::Event(examined) = &item.part {
            check_author(&examined.event, registry, &mut item.found);
            if options.signatures {
                match push_signature(&examined.event, statement, registry, &mut batch) {
                    Ok(true) => signed.push(items.len()),
                    Ok(false) => {}
                    Err(error) => item.found.push(bad_assertion(error)),
                }
            }
        }
        let unreadable = matches!(item.part, Part::Unreadable | Part::UnreadableEvent);
        items.push(item);
        if unreadable {
            break;
        }
    }
    if let Err(bad) = batch.verify() {
        for index in bad {
            items[signed[index]].found.push(bad_signature());
        }
    }
}

/// How much of an event stays in memory once it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// The envelope and the hash.
    Envelope,
    /// The exact bytes too.
    Bytes,
}

/// Reads one line and checks what it says of itself; returns the bytes of the statement in it too.
pub(super) fn read<'a>(line: &'a [u8], keep: Keep, checks: &StatedChecks) -> (Item, Option<&'a [u8]>) {
    let item = |part| (Item { part, found: Vec::new() }, None);
    if let Some(cut) = cut::event_line(line) {
        let statement = cut.statement;
        return (read_event(Opened::from_cut(cut, keep)), statement);
    }
    if let Some(line) = cut::artifact_line(line) {
        return (read_artifact(&line, checks), None);
    }
    match Line::parse(line) {
        Ok(Line::Header(header)) => item(Part::Header(header)),
        Ok(Line::Event(line)) => match line.event() {
            Ok(event) => {
                let statement = event.statement_in(line.event.get());
                (read_event(Opened::from_line(&line, event, keep)), statement)
            }
            Err(error) => {
                let found = vec![Found::new(Code::SchemaInvalid, error.to_string())];
                (Item { part: Part::UnreadableEvent, found }, None)
            }
        },
        Ok(Line::Artifact(line)) => (read_artifact(&line, checks), None),
        Ok(Line::Head(head)) => item(Part::Head(head)),
        Ok(Line::Inclusion(inclusion)) => item(Part::Inclusion(inclusion)),
        Ok(Line::Checkpoint(checkpoint)) => item(Part::Checkpoint(checkpoint)),
        Err(error) => (unreadable(&error), None),
    }
}

/// An event line with its event, whichever way it was read.
pub(super) struct Opened<'a> {
    pub(super) event: Event,
    pub(super) content: Option<&'a str>,
    /// Whether the content is known to be within the limits of content.
    pub(super) bounded: bool,
    pub(super) disclosure: Disclosure,
    pub(super) salt: Option<Salt>,
}

impl<'a> Opened<'a> {
    fn from_cut(cut: CutEvent<'a>, keep: Keep) -> Self {
        let CutEvent { content, disclosure, envelope, bytes, statement, salt } = cut;
        let event = match keep {
            Keep::Envelope => Event::without_bytes(envelope, bytes),
            Keep::Bytes => Event::from_cut(envelope, bytes, statement),
        };
        Self { event, content, bounded: true, disclosure, salt }
    }

    fn from_line(line: &EventLine<'a>, mut event: Event, keep: Keep) -> Self {
        if keep == Keep::Envelope {
            event.forget_bytes();
        }
        let content = line.content.map(RawValue::get);
        Self { event, content, bounded: false, disclosure: line.disclosure, salt: line.salt }
    }
}

/// The frame of a line is not of this format; what stands inside an event line comes later.
fn unreadable(error: &LineError) -> Item {
    let code = match error {
        LineError::Format { .. } => Code::FormatNewer,
        _ => Code::FileMalformed,
    };
    failed(code, error.to_string())
}

/// Returns an event that stands in no file, and what it says wrong of itself.
pub(super) fn read_alone(opened: Opened<'_>) -> (Event, Vec<Found>) {
    let event = opened.event.clone();
    (event, read_event(opened).found)
}

fn read_event(opened: Opened<'_>) -> Item {
    let event = &opened.event;
    let mut found = Vec::new();
    let agrees = match event.agree() {
        Ok(said) => {
            if let TypeName::Unknown(name) = said.kind {
                found.push(Found::new(Code::TypeUnknown, format!("this version does not know {name}")));
            }
            if let Proof::Unknown(proof) = &event.envelope().proof {
                let message = format!("this version does not know the proof {}", proof.name());
                found.push(Found::new(Code::ProofUnknown, message));
            }
            check_statement(event, &mut found);
            true
        }
        Err(error) => {
            found.push(Found::new(Code::StatementMismatch, error.to_string()));
            false
        }
    };
    let content = match check_content(&opened) {
        Ok(content) => content,
        Err(finding) if finding.code.check() == super::Check::File => {
            return Item { part: Part::Unreadable, found: vec![finding] };
        }
        Err(finding) => {
            found.push(finding);
            None
        }
    };
    if let (Some(statement), Some(content)) = (&event.envelope().statement, &content)
        && let Err(error) = admission::check_sources(statement, content)
    {
        found.push(Found::new(Code::CitesUnseen, error.to_string()));
    }
    let meaning = content.as_ref().and_then(Meaning::of);
    let quoted = content.as_ref().filter(|content| is_quoted(content)).cloned().map(Box::new);
    let words = content.and_then(Words::of);
    let disclosure = opened.disclosure;
    let examined = Examined { event: opened.event, agrees, words, meaning, disclosure, quoted };
    Item { part: Part::Event(examined), found }
}

fn check_statement(event: &Event, found: &mut Vec<Found>) {
    let envelope = event.envelope();
    if let Some(statement) = &envelope.statement {
        if let Err(error) = admission::check_cites(statement) {
            found.push(Found::new(Code::CitesUnseen, error.to_string()));
        }
        if envelope.time > statement.not_after {
            let message = format!("recorded at {}, expired at {}", envelope.time, statement.not_after);
            found.push(Found::new(Code::StatementExpired, message));
        }
    }
    if let Some(record) = &envelope.record {
        let mut unseen = None;
        record.facts.cites(&mut |cited| {
            if cited >= envelope.sequence {
                unseen = unseen.or(Some(cited));
            }
        });
        if let Some(cited) = unseen {
            let message = format!("the record refers to event {cited}, which comes later");
            found.push(Found::new(Code::CitesUnseen, message));
        }
    }
}

/// Returns the content if it is disclosed and holds.
fn check_content(opened: &Opened<'_>) -> Result<Option<Content>, Found> {
    let Opened { event, content, disclosure, salt, .. } = opened;
    check_disclosure(*disclosure, content.is_some(), salt.is_some())?;
    let said = event.said().ok();
    let kind = said.and_then(|said| said.facts.event_type());
    let mismatch = |message: &str| Err(Found::new(Code::CommitmentMismatch, message));
    if let Some(kind) = kind
        && (kind.rule().content == ContentRule::Required) != event.envelope().content.is_some()
    {
        return mismatch("the table and the commitment disagree about whether there is content");
    }
    match (disclosure, event.envelope().content) {
        (Disclosure::Absent, None) => Ok(None),
        (Disclosure::Absent, Some(_)) => {
            mismatch("there is a commitment, and the line says there is no content")
        }
        (_, None) => mismatch("there is no commitment, and the line says there is content"),
        (Disclosure::Disclosed, Some(commitment)) => {
            let (Some(content), Some(salt)) = (content, salt) else { return Ok(None) };
            if !commitment.opens_content(salt, content.as_bytes()) {
                return mismatch("content and salt do not open the commitment");
            }
            fitting(opened, content, said.map(|said| said.facts))
        }
        (disclosure, Some(_)) => {
            let words = if *disclosure == Disclosure::Erased { "erased" } else { "not in the file" };
            Err(Found::new(Code::NotDisclosed, format!("the content is {words}")))
        }
    }
}

/// Returns the content if it is of its type and fits the facts. Of a later type, only the limits are checked.
fn fitting(opened: &Opened<'_>, text: &str, facts: Option<&Facts>) -> Result<Option<Content>, Found> {
    let invalid = |error: &dyn std::error::Error| Found::new(Code::ContentInvalid, error.to_string());
    if !opened.bounded {
        canonical::check(text.as_bytes(), &Limits::CONTENT).map_err(|error| invalid(&error))?;
    }
    let Some((facts, kind)) = facts.and_then(|facts| Some((facts, facts.event_type()?))) else {
        return Ok(None);
    };
    let content = Content::from_checked(kind, text).map_err(|error| invalid(&error))?;
    admission::agrees(facts, &content).map_err(|error| invalid(&error))?;
    Ok(Some(content))
}

/// What is disclosed is there with its salt; what is not, is not.
fn check_disclosure(disclosure: Disclosure, content: bool, salt: bool) -> Result<(), Found> {
    let disclosed = disclosure == Disclosure::Disclosed;
    if content == disclosed && salt == disclosed {
        return Ok(());
    }
    Err(Found::new(Code::FileMalformed, "expected content and salt exactly where they are disclosed"))
}

fn read_artifact(line: &ArtifactLine<'_>, checks: &StatedChecks) -> Item {
    let malformed = |message: &str| failed(Code::FileMalformed, message.to_owned());
    if check_disclosure(line.disclosure, line.bytes.is_some(), line.salt.is_some()).is_err() {
        return malformed("expected bytes and salt exactly where they are disclosed");
    }
    if line.disclosure == Disclosure::Absent {
        return malformed("an artifact is disclosed, withheld, erased or missing, never absent");
    }
    let bytes = match line.bytes() {
        Ok(bytes) => bytes,
        Err(error) => return failed(Code::FileMalformed, error.to_string()),
    };
    let (event, disclosure) = (line.event, line.disclosure);
    let outcomes = bytes.as_deref().map(|bytes| checks.evaluate(event, bytes)).unwrap_or_default();
    let program = bytes.as_deref().and_then(meaning::program);
    let reduce = |(salt, bytes): (Salt, Vec<u8>)| (Commitment::to_artifact(&salt, &bytes), sha256(&bytes));
    let (commitment, digest) = line.salt.zip(bytes).map(reduce).unzip();
    let part = Part::Artifact(Bytes { event, disclosure, commitment, digest, program, outcomes });
    Item { part, found: Vec::new() }
}

/// Returns the bytes in an artifact line that was examined before.
pub(super) fn bytes_in(line: &[u8]) -> Option<Vec<u8>> {
    let read = |line: &ArtifactLine<'_>| line.bytes().ok().flatten();
    if let Some(line) = cut::artifact_line(line) {
        return read(&line);
    }
    match Line::parse(line) {
        Ok(Line::Artifact(line)) => read(&line),
        _ => None,
    }
}

/// Checks pin, epoch, key, role and actor of an event of the trace.
pub(super) fn check_author(event: &Event, registry: &Registry, found: &mut Vec<Found>) {
    let envelope = event.envelope();
    if envelope.store != Some(registry.store()) {
        found.push(Found::new(Code::StatementMismatch, "the event is of another store than the registry"));
    }
    let Some(pin) = envelope.registry else { return };
    if !registry.holds(&pin) {
        let message = format!("position {} with this hash is not in the registry", pin.sequence);
        found.push(Found::new(Code::RegistryPin, message));
        return;
    }
    let epoch = registry.epoch_at(pin.sequence);
    if envelope.epoch != epoch {
        let message = format!("expected epoch {epoch}, found {}", envelope.epoch);
        found.push(Found::new(Code::EpochMismatch, message));
    }
    if let Some(time) = registry.time_at(pin.sequence).filter(|time| envelope.time < *time) {
        let message =
            format!("recorded at {}, and pins registry event {} of {time}", envelope.time, pin.sequence);
        // Nobody touches a passkey before it is known: with one the date cannot be a mistake of the clock.
        let touched = envelope.proof.kind() == ProofKind::Webauthn;
        found.push(Found::new(if touched { Code::PasskeyInvalid } else { Code::TimeBeforePin }, message));
    }
    let kind = event.said().ok().and_then(|said| said.facts.event_type());
    match &envelope.proof {
        Proof::Ed25519(proof) => check_key(event, proof, pin.sequence, registry, found),
        Proof::Webauthn(assertion) => check_passkey(event, assertion, pin.sequence, registry, found),
        Proof::None => {
            if envelope.actor != registry.desk() {
                found.push(Found::new(Code::ActorMismatch, "without a key only the desk can be the actor"));
            }
        }
        Proof::Unknown(_) => return,
    }
    if let Some(kind) = kind
        && !kind.admits_proof(envelope.proof.kind())
    {
        let code = match envelope.proof.kind() {
            ProofKind::None => Code::SigMissing,
            ProofKind::Ed25519 | ProofKind::Webauthn | ProofKind::Unknown => Code::StatementMismatch,
        };
        let message = format!("{kind} does not take the proof {}", envelope.proof.kind().as_str());
        found.push(Found::new(code, message));
    }
}

fn check_key(event: &Event, proof: &KeySignature, at: Sequence, registry: &Registry, found: &mut Vec<Found>) {
    let record = match registry.speaker(&proof.key, at) {
        Ok(record) => record,
        // A later version may have brought the key in: then nobody can tell here whose it is.
        Err(Standing::Unknown) if registry.has_unknown_before(at) && registry.key(&proof.key).is_none() => {
            let message = "the key is not in the registry as far as this version can read it";
            found.push(Found::new(Code::TypeUnknown, message));
            return;
        }
        Err(standing) => {
            found.push(Found::new(code_of(standing), standing.to_string()));
            return;
        }
    };
    if let Some(statement) = &event.envelope().statement
        && !record.roles.contains(&statement.role)
    {
        let message = format!("the key {} is not registered as {}", proof.key.short(), statement.role);
        found.push(Found::new(Code::KeyRoleMismatch, message));
    }
    if record.principal != event.envelope().actor {
        let message = format!("the key {} belongs to {}", proof.key.short(), record.principal);
        found.push(Found::new(Code::ActorMismatch, message));
    }
}

/// Checks that a passkey may speak, in this role, and that the event is in the name of its person.
fn check_passkey(
    event: &Event,
    assertion: &Assertion,
    at: Sequence,
    registry: &Registry,
    found: &mut Vec<Found>,
) {
    let key = &assertion.key;
    let Some(record) = registry.passkey(key).filter(|record| record.since <= at) else {
        // A later version may have brought it in.
        let (code, message) = if registry.has_unknown_before(at) && registry.passkey(key).is_none() {
            (Code::TypeUnknown, "the passkey is not in the registry as far as this version can read it")
        } else {
            (Code::KeyUnknown, "the passkey is not in the registry at this position")
        };
        found.push(Found::new(code, message));
        return;
    };
    if let Err(standing) = registry.passkey_speaker(key, at) {
        found.push(Found::new(code_of(standing), standing.to_string()));
    }
    let person = record.enrolment.person;
    let role = registry.role_of(person, at);
    if let Some(statement) = &event.envelope().statement {
        let may_say = |role| admission::speaks_as(role, statement.role, &statement.facts);
        if role.is_some() && !role.is_some_and(may_say) {
            let message = format!("the person {person} may not say this as {}", statement.role);
            found.push(Found::new(Code::KeyRoleMismatch, message));
        }
        if matches!(&statement.facts, Facts::SessionOpened(facts) if facts.person != person) {
            let message =
                format!("the passkey {} is that of {person}, who is not the one in the facts", key.short());
            found.push(Found::new(Code::ActorMismatch, message));
        }
    }
    if person.principal() != event.envelope().actor {
        let message = format!("the passkey {} is that of {person}", key.short());
        found.push(Found::new(Code::ActorMismatch, message));
    }
}

/// Returns the code for what stands against a key.
pub(super) fn code_of(standing: Standing) -> Code {
    match standing {
        Standing::Revoked { .. } => Code::KeyRevoked,
        Standing::Retired { .. } => Code::KeyRetired,
        Standing::Unknown | Standing::NotTheDesk => Code::KeyUnknown,
    }
}

/// Adds what proves the statement to the batch, or checks it at once; returns whether there was something to add. A key that
/// nobody knows was reported before.
pub(super) fn push_signature(
    event: &Event,
    statement: Option<&[u8]>,
    registry: &Registry,
    batch: &mut Batch,
) -> Result<bool, PasskeyError> {
    let before = batch.len();
    match event.envelope().proof.check(&Subject::new(event, statement), Some(registry), batch) {
        Err(ProofError::Passkey(error)) => Err(error),
        Ok(()) | Err(ProofError::NoStatement | ProofError::KeyUnknown { .. }) => Ok(batch.len() > before),
    }
}

/// Returns the finding of an assertion that does not hold.
pub(super) fn bad_assertion(error: PasskeyError) -> Found {
    let code = match error {
        PasskeyError::Signature => Code::SigInvalid,
        PasskeyError::Leaves { .. }
        | PasskeyError::Client { .. }
        | PasskeyError::Authenticator { .. }
        | PasskeyError::BeforePin => Code::PasskeyInvalid,
    };
    Found::new(code, error.to_string())
}

/// Returns the finding of a signature that does not hold.
pub(super) fn bad_signature() -> Found {
    Found::new(Code::SigInvalid, "the signature over the statement does not hold")
}

fn failed(code: Code, message: String) -> Item {
    Item { part: Part::Unreadable, found: vec![Found::new(code, message)] }
}
