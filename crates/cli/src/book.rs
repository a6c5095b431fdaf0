//! The book: the registry of a data folder with all its events, read from `registry.jsonl` and written back
//! whole. Until the store exists this file is the store.
//!
//! The file is an export of the registry (`docs/format.md` 9), so anybody can verify it; reading it does.

mod damage;
mod reader;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Read as _},
    path::Path,
};

use demur_core::{key::SecretKey, limit::Text, random::Random, time::Timestamp};
use demur_ledger::{
    author::Place,
    chain::Chain,
    desk::{Desk, Recorded},
    envelope::FORMAT,
    event_type::{Content, EventType, Facts},
    export::{ExportWriter, Header},
    name::{PrincipalId, Sequence},
    registry::Registry,
    statement::Submission,
};

pub(crate) use damage::Damage;

use crate::{error::CommandError, visible::visible_path};

/// A registry with its events.
#[derive(Debug)]
pub(crate) struct Book {
    registry: Registry,
    chain: Chain,
    recorded: Vec<Recorded>,
    names: BTreeMap<PrincipalId, String>,
}

impl Book {
    /// Returns the book of a new store, whose desk signs with this key.
    pub(crate) fn create(
        desk: SecretKey,
        now: Timestamp,
        random: &mut dyn Random,
    ) -> Result<Self, CommandError> {
        let (desk, first) = Desk::create(desk, None, DESK, now, random)?;
        Ok(Self::of_desk(&desk, vec![first]))
    }

    /// Returns the book of a desk in memory and the registry events it has recorded so far.
    pub(crate) fn of_desk(desk: &Desk, recorded: Vec<Recorded>) -> Self {
        Self::new(desk.registry().clone(), desk.registry_chain().clone(), recorded)
    }

    /// Returns the book in a file, or none where there is no file.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, CommandError> {
        let Some(bytes) = read_limited(path)? else { return Ok(None) };
        Self::parse(&bytes).map(Some).map_err(|damage| damage.of(path))
    }

    /// Returns the book in the bytes of a file, once everything in it holds.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        let (registry, chain, recorded) = reader::read(bytes)?;
        Ok(Self::new(registry, chain, recorded))
    }

    fn new(registry: Registry, chain: Chain, recorded: Vec<Recorded>) -> Self {
        let mut names = BTreeMap::from([(registry.desk(), DESK.to_owned())]);
        for (principal, name) in recorded.iter().filter_map(registered_name) {
            names.entry(principal).or_insert(name);
        }
        Self { registry, chain, recorded, names }
    }

    /// Returns the keys.
    pub(crate) const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the registry's trace.
    pub(crate) const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the name a principal is known by: the desk's claim, never proven.
    pub(crate) fn name(&self, principal: PrincipalId) -> &str {
        self.names.get(&principal).map_or("(no name)", String::as_str)
    }

    /// Returns one event.
    pub(crate) fn event(&self, at: Sequence) -> Option<&Recorded> {
        self.recorded.get(usize::try_from(at.number()).ok()?)
    }

    /// Returns the place of the next statement.
    pub(crate) fn place(&self, now: Timestamp) -> Place {
        let registry = &self.registry;
        Place { store: registry.store(), trace: registry.trace(), seen: self.chain.head(), now }
    }

    /// Records a statement about a key at the desk that has this key.
    pub(crate) fn admit(
        &mut self,
        desk: SecretKey,
        submission: Submission,
        now: Timestamp,
    ) -> Result<Sequence, CommandError> {
        let mut desk = self.desk(desk)?;
        let recorded = desk.admit_key(submission, now)?;
        Ok(self.keep(&desk, recorded))
    }

    /// Records what the desk itself says about a key.
    pub(crate) fn state(
        &mut self,
        desk: SecretKey,
        facts: impl Into<Facts>,
        content: Option<Content>,
        now: Timestamp,
        random: &mut dyn Random,
    ) -> Result<Sequence, CommandError> {
        let mut desk = self.desk(desk)?;
        let recorded = desk.state_key(facts.into(), content, now, random)?;
        Ok(self.keep(&desk, recorded))
    }

    /// Returns the bytes of the file, its head and its checkpoint signed by the desk.
    pub(crate) fn to_bytes(&self, desk: &SecretKey, now: Timestamp) -> Result<Vec<u8>, CommandError> {
        let (store, trace) = (self.registry.store(), self.registry.trace());
        let header = Header { format: FORMAT, software: software()?, store, trace };
        let (mut writer, mut bytes) = ExportWriter::begin(&header)?;
        for Recorded { event, opening } in &self.recorded {
            bytes.extend(writer.event(event, opening.as_ref())?);
        }
        let head = self.desk(desk.clone())?.head(&self.chain)?;
        let head = head.ok_or_else(|| CommandError::bug(&"a registry without events"))?;
        bytes.extend(writer.head(&head)?);
        let registry = (head.document.registry, head.document.epoch);
        bytes.extend(writer.finish(head.document.head, registry, now, desk)?);
        Ok(bytes)
    }

    fn desk(&self, key: SecretKey) -> Result<Desk, CommandError> {
        Ok(Desk::open(key, self.registry.clone(), self.chain.clone())?)
    }

    /// Takes over what a desk has recorded.
    fn keep(&mut self, desk: &Desk, recorded: Recorded) -> Sequence {
        self.registry = desk.registry().clone();
        self.chain = desk.registry_chain().clone();
        let at = recorded.event.envelope().sequence;
        if let Some((principal, name)) = registered_name(&recorded) {
            self.names.entry(principal).or_insert(name);
        }
        self.recorded.push(recorded);
        at
    }
}

/// Returns the name and version that stand in the files we write.
pub(crate) fn software() -> Result<Text<1, 128>, CommandError> {
    Ok(Text::try_from(concat!("demur ", env!("CARGO_PKG_VERSION")))?)
}

fn registered_name(recorded: &Recorded) -> Option<(PrincipalId, String)> {
    let Facts::KeyRegistered(facts) = recorded.event.said().ok()?.facts else { return None };
    let opening = recorded.opening.as_ref()?;
    match Content::parse(EventType::KeyRegistered, &opening.bytes) {
        Ok(Content::KeyRegistered(content)) => Some((facts.principal, content.name.into())),
        _ => None,
    }
}

fn read_limited(path: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    let unreadable = |error| CommandError::unreadable(path, &error);
    let unusable = |message: String| Damage::of_the_file(message);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            return Err(unusable(format!(
                "expected {} to be a file, found something else",
                visible_path(path)
            )));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let path = visible_path(path);
        return Err(unusable(format!("expected {path} to have at most {LARGEST} bytes, found more")));
    }
    Ok(Some(bytes))
}

/// The name of the desk's own keys.
pub(crate) const DESK: &str = "desk";

/// Far more than a registry of a hundred thousand keys.
const LARGEST: u64 = 256 << 20;
