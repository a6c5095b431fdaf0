//! Values as they stand in columns. A value that nobody of us could have written is an error of conversion,
//! which the store reports as damage; a word that a newer version may have written is refused as such.

use std::error::Error as StdError;

use demur_core::{
    commitment::Salt,
    hash::Digest,
    id::Ulid,
    key::{Fingerprint, Signature},
    time::Timestamp,
};
use demur_ledger::{
    confirmation::ConfirmationStanding,
    content::Opening,
    entry::{Address, ArtifactPlace},
    event_type::{TraceKind, TypeName},
    facts::Severity,
    name::{CommandId, Position, PrincipalId, Sequence, StoreId, TraceId},
    proof::KeySignature,
    question::OutcomeKind,
    role::Role,
    signed::{Head, Signed},
    state::Phase,
};
use rusqlite::{Error, Result, Row, types::Type};

use crate::contract::{Kept, LeaseId, Stored};

/// Returns a ULID as it is stored.
pub(super) fn ulid(ulid: Ulid) -> [u8; 16] {
    ulid.as_u128().to_be_bytes()
}

/// Returns a number as it is stored. Sequences, times and epochs end far below the limit.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a limit as SQLite takes it.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Reads a number that is never negative.
pub(super) fn unsigned(row: &Row<'_>, index: usize) -> Result<u64> {
    u64::try_from(row.get::<_, i64>(index)?).map_err(wrong(index))
}

pub(super) fn trace(row: &Row<'_>, index: usize) -> Result<TraceId> {
    Ok(Ulid::from_u128(u128::from_be_bytes(row.get(index)?)).into())
}

pub(super) fn principal(row: &Row<'_>, index: usize) -> Result<PrincipalId> {
    Ok(Ulid::from_u128(u128::from_be_bytes(row.get(index)?)).into())
}

pub(super) fn command(row: &Row<'_>, index: usize) -> Result<CommandId> {
    Ok(Ulid::from_u128(u128::from_be_bytes(row.get(index)?)).into())
}

pub(super) fn digest(row: &Row<'_>, index: usize) -> Result<Digest> {
    row.get(index).map(Digest::from_bytes)
}

pub(super) fn sequence(row: &Row<'_>, index: usize) -> Result<Sequence> {
    Sequence::try_from(unsigned(row, index)?).map_err(wrong(index))
}

/// Reads sequence and hash from two neighbouring columns.
pub(super) fn position(row: &Row<'_>, index: usize) -> Result<Position> {
    Ok(Position::new(sequence(row, index)?, digest(row, index + 1)?))
}

pub(super) fn time(row: &Row<'_>, index: usize) -> Result<Timestamp> {
    Timestamp::from_millis(unsigned(row, index)?).map_err(wrong(index))
}

pub(super) fn kind(row: &Row<'_>, index: usize) -> Result<TraceKind> {
    let kinds = [TraceKind::Registry, TraceKind::Run, TraceKind::Work, TraceKind::Journal];
    word(row, index, "kind of trace", |text| kinds.into_iter().find(|kind| kind.as_str() == text))
}

pub(super) fn phase(row: &Row<'_>, index: usize) -> Result<Option<Phase>> {
    if row.get_ref(index)?.as_str_or_null()?.is_none() {
        return Ok(None);
    }
    let known = |text: &str| Phase::ALL.into_iter().find(|phase| phase.as_str() == text);
    word(row, index, "phase of a run", known).map(Some)
}

pub(super) fn role(row: &Row<'_>, index: usize) -> Result<Role> {
    word(row, index, "role", Role::from_name)
}

pub(super) fn outcome(row: &Row<'_>, index: usize) -> Result<OutcomeKind> {
    word(row, index, "outcome of a question", OutcomeKind::from_word)
}

pub(super) fn standing(row: &Row<'_>, index: usize) -> Result<ConfirmationStanding> {
    word(row, index, "outcome of a confirmation", ConfirmationStanding::from_word)
}

pub(super) fn severity(row: &Row<'_>, index: usize) -> Result<Severity> {
    let known = |text: &str| SEVERITIES.into_iter().find(|severity| severity_word(*severity) == text);
    word(row, index, "severity", known)
}

/// Reads one of the words that stand for `what`. One that is made like them may be of a newer version.
fn word<T>(
    row: &Row<'_>,
    index: usize,
    what: &'static str,
    known: impl FnOnce(&str) -> Option<T>,
) -> Result<T> {
    let text = row.get_ref(index)?.as_str()?;
    known(text).ok_or_else(|| {
        // Words in columns are made like the names of event types.
        if TypeName::try_from(text).is_ok() {
            wrong(index)(UnknownWord { what, word: text.to_owned() })
        } else {
            wrong(index)(format!("expected the word for the {what}"))
        }
    })
}

/// A word in a column that a newer version may have written.
#[derive(Debug, thiserror::Error)]
#[error("{word} is no {what} that is known here")]
pub(super) struct UnknownWord {
    pub(super) what: &'static str,
    pub(super) word: String,
}

/// Returns a severity as it is stored.
pub(super) const fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => "block",
        Severity::Warn => "warn",
    }
}

/// Returns a signed head without what its row says already.
pub(super) fn compact_head(head: &Signed<Head>) -> [u8; HEAD] {
    let document = &head.document;
    let mut bytes = [0; HEAD];
    let mut rest = &mut bytes[..];
    for part in [
        &[HEAD_FORM][..],
        &document.epoch.to_be_bytes(),
        &document.registry.sequence.number().to_be_bytes(),
        document.registry.hash.as_bytes(),
        document.store.as_digest().as_bytes(),
        head.proof.key.as_digest().as_bytes(),
        head.proof.signature.as_bytes(),
    ] {
        let (place, after) = rest.split_at_mut(part.len());
        place.copy_from_slice(part);
        rest = after;
    }
    bytes
}

fn head(bytes: &[u8], trace: TraceId, head: Position) -> Option<Signed<Head>> {
    let (&[form], rest) = bytes.split_first_chunk()?;
    let (epoch, rest) = rest.split_first_chunk()?;
    let (sequence, rest) = rest.split_first_chunk()?;
    let (hash, rest) = rest.split_first_chunk()?;
    let (store, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_first_chunk()?;
    let signature: &[u8; 64] = rest.try_into().ok()?;
    if form != HEAD_FORM {
        return None;
    }
    let sequence = Sequence::try_from(u64::from_be_bytes(*sequence)).ok()?;
    let document = Head {
        epoch: u64::from_be_bytes(*epoch),
        head,
        registry: Position::new(sequence, Digest::from_bytes(*hash)),
        store: StoreId::new(Digest::from_bytes(*store)),
        trace,
    };
    let key = Fingerprint::from(Digest::from_bytes(*key));
    Some(Signed { document, proof: KeySignature { key, signature: Signature::from_bytes(*signature) } })
}

/// Reads an event selected with [`stored_columns`], whose columns begin at `index`.
pub(super) fn stored(row: &Row<'_>, index: usize) -> Result<Stored> {
    let position = position(row, index + 1)?;
    let head = match row.get_ref(index + 3)?.as_blob_or_null()? {
        None => None,
        Some(bytes) => {
            let known = head(bytes, trace(row, index)?, position);
            Some(known.ok_or_else(|| wrong(index + 3)("expected a signed head"))?)
        }
    };
    let content = kept(row, index + 6, index + 8, |salt, content| {
        Some(Opening { bytes: content.to_vec(), salt: salt.try_into().map(Salt::from_bytes).ok()? })
    })?;
    let artifact = kept(row, index + 5, index + 4, |salt, artifact| {
        let address = Address::from_digest(artifact.try_into().map(Digest::from_bytes).ok()?);
        Some(ArtifactPlace { address, salt: salt.try_into().map(Salt::from_bytes).ok()? })
    })?;
    let writer = LeaseId::new(unsigned(row, index + 9)?);
    Ok(Stored { bytes: row.get(index + 7)?, hash: position.hash, content, artifact, head, writer })
}

/// Reads what is kept beside an event: two nulls, two empty values, or salt and thing.
fn kept<T>(
    row: &Row<'_>,
    salt: usize,
    thing: usize,
    read: impl FnOnce(&[u8], &[u8]) -> Option<T>,
) -> Result<Kept<T>> {
    match (row.get_ref(salt)?.as_blob_or_null()?, row.get_ref(thing)?.as_blob_or_null()?) {
        (None, None) => Ok(Kept::Absent),
        (Some([]), Some([])) => Ok(Kept::Erased),
        (Some(salt), Some(bytes)) => {
            read(salt, bytes).map(Kept::Here).ok_or_else(|| wrong(thing)("expected salt and value"))
        }
        _ => Err(wrong(thing)("expected salt and value")),
    }
}

pub(super) fn wrong<E: Into<Box<dyn StdError + Send + Sync>>>(index: usize) -> impl FnOnce(E) -> Error {
    move |error| Error::FromSqlConversionFailure(index, Type::Null, error.into())
}

/// The columns that [`stored`] reads and the tables they are in.
macro_rules! stored_columns {
    () => {
        "t.trace, e.sequence, e.hash, e.head, e.artifact, e.artifact_salt, e.content_salt, e.bytes, e.content,
         e.writer FROM events e JOIN traces t ON t.id = e.trace"
    };
}
pub(super) use stored_columns;

/// Every severity there is.
pub(super) const SEVERITIES: [Severity; 2] = [Severity::Block, Severity::Warn];

/// The length of a compact head: form, epoch, registry position, store, key, signature.
const HEAD: usize = 1 + 8 + 8 + 32 + 32 + 32 + 64;

/// The only form there is.
const HEAD_FORM: u8 = 1;
