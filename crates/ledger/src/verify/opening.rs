//! The first part of an export: the header and the registry, line by line, because everything after it is
//! checked against it.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

use demur_core::key::{Batch, Fingerprint};

use super::{
    Code, Input, Options, StatedChecks, VerifyError,
    erased::ErasureBook,
    examine::{self, Examined, Item, Keep, Part},
    finding::{Findings, Found, Section},
    input::{Chunk, End},
    trail::Trail,
};
use crate::{
    attribution::ClientNames,
    envelope::Event,
    event_type::{Facts, TraceKind, TypeName},
    export::Header,
    name::{PersonId, Sequence},
    proof::{ProofError, Subject},
    registry::{Registry, RegistryError},
    timeline::Words,
};

/// What the first part of the file gave.
pub(super) struct Opening {
    pub(super) header: Header,
    /// The registry, if all of it holds.
    pub(super) registry: Option<Registry>,
    /// The registry's own trail.
    pub(super) trail: Option<Trail>,
    pub(super) names: Names,
    pub(super) erasures: ErasureBook,
    /// The first line that is not the registry's any more.
    pub(super) next: Option<Chunk>,
    /// Whether the file ended or cannot be read on.
    pub(super) ended: bool,
}

/// What the desk says that others are called.
#[derive(Default)]
pub(super) struct Names {
    /// The holders of keys.
    pub(super) keys: Vec<(Fingerprint, String)>,
    /// The keys whose holders' names were erased or withheld.
    pub(super) hidden: Vec<Fingerprint>,
    pub(super) clients: ClientNames,
    pub(super) people: BTreeMap<PersonId, PersonName>,
}

/// What a person is called.
pub(super) struct PersonName {
    /// None where the newest event does not disclose it.
    pub(super) name: Option<String>,
    /// Whether a passkey signed it.
    pub(super) is_signed: bool,
}

impl Names {
    fn take(&mut self, examined: &Examined) {
        let Ok(said) = examined.event.said() else { return };
        let name = match &examined.words {
            Some(Words::Name(name)) => Some(name.to_string()),
            _ => None,
        };
        match (said.facts, name) {
            (Facts::StoreCreated(facts), Some(name)) => self.keys.push((facts.key.fingerprint(), name)),
            (Facts::KeyRegistered(facts), Some(name)) => self.keys.push((facts.key.fingerprint(), name)),
            (Facts::StoreCreated(facts), None) => self.hidden.push(facts.key.fingerprint()),
            (Facts::KeyRegistered(facts), None) => self.hidden.push(facts.key.fingerprint()),
            (Facts::ClientBound(facts), name) => self.clients.give(facts.client, name),
            (Facts::TokenMade(facts), name) => self.clients.give(facts.client, name),
            (Facts::PersonAdded(facts), name) => self.call(facts.person, name, &examined.event),
            (Facts::PersonChanged(facts), name) => self.call(facts.person, name, &examined.event),
            _ => {}
        }
    }
}

impl Names {
    /// What a passkey signed stands until a passkey signs another name: the desk alone does not rename anybody.
    fn call(&mut self, person: PersonId, name: Option<String>, event: &Event) {
        let is_signed = event.envelope().proof.assertion().is_some();
        if is_signed || self.people.get(&person).is_none_or(|known| !known.is_signed) {
            self.people.insert(person, PersonName { name, is_signed });
        }
    }
}

/// Reads header and registry.
pub(super) fn read<R: BufRead>(
    input: &mut Input<R>,
    options: &Options,
    findings: &mut Findings,
) -> Result<Opening, VerifyError> {
    let header = header(&input.first_line()?)?;
    let mut opening = Opening {
        header,
        registry: None,
        trail: None,
        names: Names::default(),
        erasures: ErasureBook::default(),
        next: None,
        ended: false,
    };
    loop {
        let chunk = input.next_line()?;
        let line = chunk.first;
        let Some(item) = single(&chunk) else {
            let (code, message) = ending(chunk.end.unwrap_or(End::Whole));
            findings.add(Section::Registry, Some(line), None, Found::new(code, message));
            opening.ended = true;
            return Ok(opening);
        };
        let ours = match &item.part {
            Part::Event(examined) => opening.is_registry(examined),
            Part::Head(head) => {
                opening.trail.as_ref().is_some_and(|trail| trail.trace() == head.document.trace)
            }
            // Once its last event stands under a head, the registry is over.
            Part::Unreadable | Part::UnreadableEvent => !opening.is_over(),
            _ => false,
        };
        if !ours {
            opening.close(line, &item.part, findings);
            opening.next = Some(chunk);
            return Ok(opening);
        }
        // The unreadable was sorted out above: this is an event or another head of the registry.
        if opening.is_over() {
            let found = Found::new(Code::FileMalformed, "expected nothing of the registry after its head");
            findings.add(Section::Registry, Some(line), None, found);
            opening.ended = true;
            return Ok(opening);
        }
        if !opening.take(line, item, options, findings) {
            opening.ended = true;
            return Ok(opening);
        }
    }
}

impl Opening {
    /// The first event opens the registry; later ones belong to it by their trace.
    fn is_registry(&self, examined: &Examined) -> bool {
        self.trail.as_ref().is_none_or(|trail| trail.trace() == examined.event.envelope().trace)
    }

    fn is_over(&self) -> bool {
        self.trail.as_ref().is_some_and(|trail| trail.check_last_head().is_ok())
    }

    /// Takes one line of the registry; returns whether reading can go on.
    fn take(&mut self, line: u64, item: Item, options: &Options, findings: &mut Findings) -> bool {
        let mut found = item.found;
        let mut sequence = None;
        let mut readable = true;
        match item.part {
            Part::Event(examined) => {
                sequence = Some(self.trail.as_ref().map_or(Sequence::FIRST, Trail::next));
                let at = sequence.unwrap_or(Sequence::FIRST);
                self.take_event(line, &examined, options, &mut found);
                self.erasures.take(at, line, &examined, Section::Registry);
            }
            Part::Head(head) => {
                if let (Some(trail), Some(registry)) = (&mut self.trail, &self.registry)
                    && let Err(finding) = trail.check_head(&head, registry, options.signatures)
                {
                    found.push(finding);
                }
            }
            Part::UnreadableEvent => {
                sequence = Some(self.trail.as_ref().map_or(Sequence::FIRST, Trail::next));
                readable = false;
            }
            _ => readable = false,
        }
        // A name that is kept back takes nothing from what the keys prove.
        found.retain(|finding| finding.code != Code::NotDisclosed);
        found.sort_by_key(|finding| finding.code.check());
        for finding in found {
            findings.add(Section::Registry, Some(line), sequence, finding);
        }
        readable && (self.registry.is_some() || !findings.failed())
    }

    fn take_event(&mut self, line: u64, examined: &Examined, options: &Options, found: &mut Vec<Found>) {
        let event = &examined.event;
        let trail = self.trail.get_or_insert_with(|| Trail::new(event.envelope().trace, &options.receipts));
        trail.follow(event, line, found);
        if !examined.agrees {
            return;
        }
        if options.signatures
            && let Err(finding) = check_signature(event, self.registry.as_ref())
        {
            found.push(finding);
        }
        let (applied, opens) = match &mut self.registry {
            Some(registry) if event.is_unknown() => (registry.pass_over(event), false),
            Some(registry) => (registry.apply(event), false),
            None => (Registry::open(event).map(|registry| self.registry = Some(registry)), true),
        };
        if let Err(error) = applied
            && let Some(finding) = explain(&error, opens)
        {
            found.push(finding);
        }
        self.names.take(examined);
    }

    /// The registry counts only if all of it holds.
    fn close(&mut self, line: u64, next: &Part, findings: &mut Findings) {
        if let Some(trail) = &self.trail
            && let Err(finding) = trail.check_last_head()
        {
            // Only an event or another head can stand where the head is missing; the rest is out of place.
            let found = match next {
                Part::Event(_) | Part::Head(_) => finding,
                _ => Found::new(Code::FileMalformed, "expected an event of the registry or its head"),
            };
            findings.add(Section::Registry, Some(line), None, found);
        }
        match &self.registry {
            None => {
                let found = Found::new(Code::FileMalformed, "expected the registry after the header");
                findings.add(Section::Registry, Some(line), None, found);
            }
            Some(registry) if registry.store() != self.header.store => {
                let found =
                    Found::new(Code::StatementMismatch, "the header names another store than the registry");
                findings.add(Section::Registry, Some(1), None, found);
            }
            Some(_) => {}
        }
        if let Some(trail) = &self.trail {
            for (sequence, line) in trail.repeated() {
                let found = Found::new(Code::ReplayDuplicate, "this key used this command id before");
                findings.add(Section::Registry, Some(line), Some(sequence), found);
            }
        }
    }
}

fn header(chunk: &Chunk) -> Result<Header, VerifyError> {
    let Some(line) = chunk.lines().next() else {
        let message = "expected a header in the first line, found a line that does not end".to_owned();
        return Err(match chunk.end {
            Some(End::TooLong) => VerifyError::NotAnExport { message },
            _ => VerifyError::NoHeader,
        });
    };
    let (Item { part, found }, _) = examine::read(line, Keep::Bytes, &StatedChecks::default());
    match part {
        Part::Header(header) if header.format == crate::envelope::FORMAT => Ok(header),
        Part::Header(header) => Err(VerifyError::FormatNewer {
            message: format!("expected format {}, found format {}", crate::envelope::FORMAT, header.format),
        }),
        _ => match found.into_iter().next() {
            Some(Found { code: Code::FormatNewer, message, .. }) => Err(VerifyError::FormatNewer { message }),
            Some(Found { message, .. }) => Err(VerifyError::NotAnExport { message }),
            None => Err(VerifyError::NotAnExport { message: "expected a header in the first line".into() }),
        },
    }
}

/// Returns the one line of a chunk, read.
fn single(chunk: &Chunk) -> Option<Item> {
    chunk.lines().next().map(|line| examine::read(line, Keep::Bytes, &StatedChecks::default()).0)
}

/// Returns how a file that ended too early is reported.
pub(super) fn ending(end: End) -> (Code, &'static str) {
    match end {
        End::Whole => (Code::FileTruncated, "the file ends before its checkpoint"),
        End::Inside => (Code::FileTruncated, "the file ends inside a line"),
        End::TooLong => (Code::FileMalformed, "the line is longer than a line may be"),
    }
}

pub(super) fn check_signature(event: &Event, registry: Option<&Registry>) -> Result<(), Found> {
    let mut batch = Batch::new();
    match event.envelope().proof.check(&Subject::of_registry(event), registry, &mut batch) {
        Err(ProofError::Passkey(error)) => return Err(examine::bad_assertion(error)),
        // The rules of the registry say what is wrong with a key that nobody knows.
        Ok(()) | Err(ProofError::NoStatement | ProofError::KeyUnknown { .. }) => {}
    }
    batch.verify().map_err(|_| examine::bad_signature())
}

/// Returns how an error of the registry is reported; a broken chain was reported before. Nothing but the creation of
/// the store opens a registry.
fn explain(error: &RegistryError, opens: bool) -> Option<Found> {
    let code = match error {
        RegistryError::Chain { .. } => return None,
        RegistryError::NotRegistry { .. } if opens => Code::RegistryInvalid,
        RegistryError::NoProof => Code::SigMissing,
        RegistryError::NotRegistry { kind: TypeName::Known(kind) }
            if !kind.stands_in(TraceKind::Registry) =>
        {
            Code::RolePolicyViolation
        }
        _ => Code::RegistryInvalid,
    };
    Some(Found::new(code, error.to_string()))
}

impl From<io::Error> for VerifyError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
