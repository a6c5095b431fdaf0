//! Event and artifact lines, cut apart in one pass (`docs/format.md` 3 to 5 and 9).
//!
//! Canonical JSON has one spelling, and an envelope has fixed fields: so almost every byte of an event line is
//! known beforehand, and a reader that compares it with what must stand there has checked its form and found its
//! fields at once. Only content and facts are free; they are scanned as values of their own.
//!
//! A cut that succeeds says the same as [`Line::parse`](super::Line::parse) and
//! [`EventLine::event`](super::EventLine::event). One that fails says nothing: the line may be wrong, or good in a
//! way that is too rare to be cut, such as an event of a later type. Then those two have the word, and the error.

use demur_core::{
    canonical,
    commitment::Salt,
    hash::Digest,
    id::Ulid,
    key::{Fingerprint, Signature},
    limit::Limits,
    time::Timestamp,
};

use super::{ArtifactLine, Disclosure};
use crate::{
    envelope::{Envelope, FORMAT, Record, event_hash},
    event_type::{EventType, Facts},
    name::{Position, Sequence, StoreId},
    proof::{KeySignature, Proof},
    role::Role,
    statement::Statement,
};

/// An event line in its parts.
#[derive(Debug)]
pub struct CutEvent<'a> {
    /// The content, if disclosed: canonical and within [`Limits::CONTENT`].
    pub content: Option<&'a str>,
    /// What became of the content.
    pub disclosure: Disclosure,
    /// The envelope.
    pub envelope: Envelope,
    /// The exact bytes of the envelope.
    pub bytes: &'a [u8],
    /// The exact bytes the author signed.
    pub statement: Option<&'a [u8]>,
    /// The salt, if the content is disclosed.
    pub salt: Option<Salt>,
}

impl CutEvent<'_> {
    /// Returns the hash that names the event.
    pub fn hash(&self) -> Digest {
        event_hash(self.bytes)
    }
}

/// Returns the parts of an event line, without its line feed.
pub fn event_line(line: &[u8]) -> Option<CutEvent<'_>> {
    let mut cursor = Cursor::new(line)?;
    cursor.literal(br#"{"event":{"content":"#)?;
    let content =
        cursor.optional(|cursor| cursor.value(&Limits::CONTENT).filter(|text| text.starts_with('{')))?;
    cursor.literal(br#","disclosure":""#)?;
    let disclosure = cursor.disclosure()?;
    cursor.literal(br#","event":"#)?;
    let start = cursor.rest;
    let (envelope, statement) = cursor.envelope()?;
    let bytes = cursor.since(start);
    cursor.literal(br#","salt":"#)?;
    let salt = cursor.optional(Cursor::salt)?;
    cursor.literal(b"}}")?;
    let whole = cursor.rest.is_empty() && bytes.len() <= Limits::EVENT.bytes;
    whole.then_some(CutEvent { content, disclosure, envelope, bytes, statement, salt })
}

/// Returns the parts of an artifact line, without its line feed.
pub fn artifact_line(line: &[u8]) -> Option<ArtifactLine<'_>> {
    let mut cursor = Cursor::new(line)?;
    cursor.literal(br#"{"artifact":{"bytes":"#)?;
    let bytes = cursor.optional(|cursor| {
        let text = cursor.value(&Limits::LINE)?;
        text.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
    })?;
    cursor.literal(br#","disclosure":""#)?;
    let disclosure = cursor.disclosure()?;
    cursor.literal(br#","event":"#)?;
    let event = cursor.sequence()?;
    cursor.literal(br#","salt":"#)?;
    let salt = cursor.optional(Cursor::salt)?;
    cursor.literal(b"}}")?;
    cursor.rest.is_empty().then_some(ArtifactLine { bytes, disclosure, event, salt })
}

/// What is left of a line. Every step takes exactly one spelling, or fails.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn new(line: &'a [u8]) -> Option<Self> {
        (line.len() <= Limits::LINE.bytes).then_some(Self { rest: line })
    }

    /// Takes an envelope; returns the statement's bytes too.
    fn envelope(&mut self) -> Option<(Envelope, Option<&'a [u8]>)> {
        self.literal(br#"{"actor":""#)?;
        let actor = self.ulid()?.into();
        self.literal(br#"","content":"#)?;
        let content = self.optional(Self::digest)?.map(Into::into);
        self.literal(br#","epoch":"#)?;
        let epoch = self.whole().filter(|epoch| *epoch > 0)?;
        self.literal(br#","format":1,"previous":"#)?;
        let previous = self.optional(Self::digest)?;
        self.literal(br#","proof":"#)?;
        let proof = self.proof()?;
        self.literal(br#","record":"#)?;
        let record = self.optional(Self::record)?;
        self.literal(br#","registry":"#)?;
        let registry = self.optional(Self::position)?;
        self.literal(br#","sequence":"#)?;
        let sequence = self.sequence()?;
        self.literal(br#","statement":"#)?;
        let start = self.rest;
        let statement = self.optional(Self::statement)?;
        let signed = statement.is_some().then(|| self.since(start));
        self.literal(br#","store":"#)?;
        let store = self.optional(Self::digest)?.map(StoreId::new);
        self.literal(br#","time":""#)?;
        let time = self.time()?;
        self.literal(br#"","trace":""#)?;
        let trace = self.ulid()?.into();
        self.literal(br#""}"#)?;
        let format = FORMAT;
        let envelope = Envelope {
            actor,
            content,
            epoch,
            format,
            previous,
            proof,
            record,
            registry,
            sequence,
            statement,
            store,
            time,
            trace,
        };
        Some((envelope, signed))
    }

    fn statement(&mut self) -> Option<Statement> {
        self.literal(br#"{"command":""#)?;
        let command = self.ulid()?.into();
        self.literal(br#"","content":"#)?;
        let content = self.optional(Self::digest)?.map(Into::into);
        self.literal(br#","facts":"#)?;
        let facts = self.value(&Limits::EVENT)?;
        self.literal(br#","not_after":""#)?;
        let not_after = self.time()?;
        self.literal(br#"","role":""#)?;
        let role = Role::from_name(self.word()?)?;
        self.literal(br#","seen":"#)?;
        let seen = self.optional(Self::position)?;
        self.literal(br#","store":"#)?;
        let store = self.optional(Self::digest)?.map(StoreId::new);
        self.literal(br#","trace":""#)?;
        let trace = self.ulid()?.into();
        self.literal(br#"","type":""#)?;
        let kind = EventType::from_name(self.word()?)?;
        self.literal(b"}")?;
        let facts = Facts::from_checked(kind, facts).ok()?;
        let kind = kind.into();
        Some(Statement { command, content, facts, not_after, role, seen, store, trace, kind })
    }

    fn record(&mut self) -> Option<Record> {
        self.literal(br#"{"cause":"#)?;
        let cause = self.optional(Self::sequence)?;
        self.literal(br#","facts":"#)?;
        let facts = self.value(&Limits::EVENT)?;
        self.literal(br#","role":""#)?;
        let role = Role::from_name(self.word()?)?;
        self.literal(br#","type":""#)?;
        let kind = EventType::from_name(self.word()?)?;
        self.literal(b"}")?;
        let facts = Facts::from_checked(kind, facts).ok()?;
        Some(Record { cause, facts, role, kind: kind.into() })
    }

    fn proof(&mut self) -> Option<Proof> {
        if self.literal(br#""none""#).is_some() {
            return Some(Proof::None);
        }
        self.literal(br#"{"ed25519":{"key":"#)?;
        let key = Fingerprint::from(self.digest()?);
        self.literal(br#","signature":""#)?;
        let signature = Signature::from_ascii(self.take::<128>()?).ok()?;
        self.literal(br#""}}"#)?;
        Some(Proof::Ed25519(KeySignature { key, signature }))
    }

    fn position(&mut self) -> Option<Position> {
        self.literal(br#"{"hash":"#)?;
        let hash = self.digest()?;
        self.literal(br#","sequence":"#)?;
        let sequence = self.sequence()?;
        self.literal(b"}")?;
        Some(Position::new(sequence, hash))
    }

    /// Takes `null`, or what the other step takes.
    #[expect(clippy::option_option, reason = "the outer one says whether the step was taken")]
    fn optional<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.literal(b"null").is_some() { Some(None) } else { take(self).map(Some) }
    }

    /// Takes any one value.
    fn value(&mut self, limits: &Limits) -> Option<&'a str> {
        let (value, rest) = canonical::split_first(self.rest, limits)?;
        self.rest = rest;
        Some(value)
    }

    /// Takes a digest with its quotes.
    fn digest(&mut self) -> Option<Digest> {
        self.literal(b"\"")?;
        let digest = Digest::from_ascii(self.take::<64>()?).ok()?;
        self.literal(b"\"")?;
        Some(digest)
    }

    /// Takes a salt with its quotes.
    fn salt(&mut self) -> Option<Salt> {
        self.digest().map(|digest| Salt::from_bytes(*digest.as_bytes()))
    }

    fn ulid(&mut self) -> Option<Ulid> {
        Ulid::from_ascii(self.take::<26>()?).ok()
    }

    fn time(&mut self) -> Option<Timestamp> {
        Timestamp::from_ascii(self.take::<24>()?).ok()
    }

    fn sequence(&mut self) -> Option<Sequence> {
        Sequence::try_from(self.whole()?).ok()
    }

    /// Takes a whole number up to 2^53 - 1, as JSON without leading zeros.
    fn whole(&mut self) -> Option<u64> {
        let mut number = 0;
        let mut length = 0;
        // The first digit that would be too many stays, and nothing that may follow a number begins with one.
        while let Some(digit) = self.rest.get(length).filter(|byte| byte.is_ascii_digit() && length < 16) {
            number = number * 10 + u64::from(digit - b'0');
            length += 1;
        }
        let canonical = length == 1 || length > 1 && self.rest[0] != b'0';
        self.rest = &self.rest[length..];
        (canonical && number < 1 << 53).then_some(number)
    }

    fn disclosure(&mut self) -> Option<Disclosure> {
        Some(match self.word()? {
            "absent" => Disclosure::Absent,
            "disclosed" => Disclosure::Disclosed,
            "erased" => Disclosure::Erased,
            "missing" => Disclosure::Missing,
            "withheld" => Disclosure::Withheld,
            _ => return None,
        })
    }

    /// Takes a word up to its closing quote; all words there are are short.
    fn word(&mut self) -> Option<&'a str> {
        let length = self.rest.iter().take(65).position(|byte| *byte == b'"')?;
        let (word, rest) = self.rest.split_at(length);
        self.rest = &rest[1..];
        std::str::from_utf8(word).ok()
    }

    fn literal<const N: usize>(&mut self, literal: &[u8; N]) -> Option<()> {
        let (start, rest) = self.rest.split_first_chunk::<N>()?;
        if start != literal {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(taken)
    }

    /// Returns what was taken since `start` was the rest.
    fn since(&self, start: &'a [u8]) -> &'a [u8] {
        &start[..start.len() - self.rest.len()]
    }
}
