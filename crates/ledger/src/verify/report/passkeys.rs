//! Passkeys in the report: whose each is, who vouches for it, and what one knows of an act that was signed with it. A passkey
//! proves who approved; that a page showed what was approved stays the desk's word.

use demur_core::{
    key::Fingerprint,
    quote::quoted,
    visible::visible,
    words::{counted, counted_as},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Names, Options, Walk};
use crate::{
    attribution::how_known,
    facts::Assurance,
    name::PersonId,
    registry::{PasskeyOrigin, PasskeyRecord, Registry},
    verify::acts::SaidAnswer,
};

/// A passkey that spoke in the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PasskeyReport {
    /// The passkey: proven.
    pub fingerprint: Fingerprint,
    /// Whose it is, as the registry has it.
    pub person: PersonId,
    /// What that person is called, and by whom.
    pub called: String,
    /// The reader's own name for it, if pinned.
    pub pinned_as: Option<String>,
    /// Where it is kept, by its own flags.
    pub kept: &'static str,
    /// Who vouches for it.
    pub vouched: String,
    /// What became of it.
    pub standing: &'static str,
    /// How many statements of the trace were signed with it.
    pub statements: u64,
    /// With how many touches.
    pub touches: u64,
    /// The most that were signed with one of these, here and in other traces.
    pub most_at_once: u64,
}

/// What is known of people, for whoever tells how one knows.
#[derive(Clone, Copy)]
pub(super) struct Acquaintance<'a> {
    pub(super) registry: &'a Registry,
    pub(super) names: &'a Names,
    pub(super) options: &'a Options,
}

impl Acquaintance<'_> {
    /// Returns how one knows who did something: `act` names it, as in "this answer".
    pub(super) fn how(&self, assurance: Assurance, said: Option<&SaidAnswer>, act: &str) -> String {
        if let Some(sentence) = said.and_then(|said| self.touched(said, act)) {
            return sentence;
        }
        let way = said.and_then(|said| said.way.as_ref());
        let known = how_known(assurance, way, &self.names.clients);
        let person = way.and_then(|way| way.person).zip(said);
        match person {
            Some((person, said)) if self.registry.has_passkey_at(person, said.pinned) => {
                format!("{known} although {} has a passkey", self.person(person))
            }
            _ => known,
        }
    }

    /// Returns what an assertion proves, if there is one.
    fn touched(&self, said: &SaidAnswer, act: &str) -> Option<String> {
        let touch = said.touch?;
        let record = self.registry.passkey(&touch.key)?;
        let at_once = match touch.leaves {
            1 => "with a touch of its own".to_owned(),
            leaves => format!("with one touch for {}", counted(leaves, "statement")),
        };
        Some(format!(
            "passkey {} of {}, verified user, {} by its own flags, {}, signed exactly {act}; that the page showed it is \
             recorded by demur; {at_once}",
            touch.key.short(),
            self.person(record.enrolment.person),
            kept(record),
            self.vouched(&touch.key, record),
        ))
    }

    /// Returns what a person is called: by a passkey, or by demur.
    fn person(&self, person: PersonId) -> String {
        match self.names.people.get(&person) {
            Some(known) if known.is_signed => match &known.name {
                Some(name) => format!("person {}", quoted(name)),
                None => format!("person {person}, whose name is not established"),
            },
            Some(known) => match &known.name {
                Some(name) => format!("person {person}, whom demur calls {}", quoted(name)),
                None => format!("person {person}, whose name is not established"),
            },
            None => format!("person {person}"),
        }
    }

    fn pinned(&self, key: &Fingerprint) -> Option<&str> {
        let pin = self.options.pins.iter().find(|pin| pin.fingerprint == *key);
        pin.map(|pin| pin.name.as_str())
    }

    fn vouched(&self, key: &Fingerprint, record: &PasskeyRecord) -> String {
        let pinned = self.pinned(key).map(|name| format!("pinned as {}", visible(name)));
        match (record.origin, pinned) {
            (_, Some(pinned)) => pinned,
            (PasskeyOrigin::Root { .. }, None) => "the root: nobody vouches, pin it".to_owned(),
            (PasskeyOrigin::Recovery, None) => "vouched for by the recovery key of demur".to_owned(),
            (PasskeyOrigin::Vouched { by }, None) => self.vouched_by(by),
        }
    }

    /// Returns the passkey that vouches, and what stands behind that in turn.
    fn vouched_by(&self, by: Fingerprint) -> String {
        let mut last = by;
        // Each came in after the one that vouches for it, so this ends.
        while let Some(PasskeyOrigin::Vouched { by }) = self.origin_unless_pinned(&last) {
            last = by;
        }
        let behind = match (self.pinned(&last), self.origin_unless_pinned(&last)) {
            (Some(name), _) => format!("pinned as {}", visible(name)),
            (None, Some(PasskeyOrigin::Recovery)) => "brought in with the recovery key of demur".to_owned(),
            (None, _) => "root: nobody vouches, pin it".to_owned(),
        };
        match (last == by, self.registry.passkey(&last).map(|record| record.origin)) {
            (true, Some(PasskeyOrigin::Root { .. })) => {
                format!("vouched for by root {} ({behind})", by.short())
            }
            (true, _) => format!("vouched for by {} ({behind})", by.short()),
            (false, _) => {
                format!("vouched for by {}, and behind that {} ({behind})", by.short(), last.short())
            }
        }
    }

    fn origin_unless_pinned(&self, key: &Fingerprint) -> Option<PasskeyOrigin> {
        let record = self.registry.passkey(key)?;
        self.pinned(key).is_none().then_some(record.origin)
    }

    /// Returns the passkeys that spoke.
    pub(super) fn passkeys(&self, walk: &Walk<'_>) -> Vec<PasskeyReport> {
        let report = |(fingerprint, spoken): (&Fingerprint, &super::super::walk::Spoken)| {
            let record = self.registry.passkey(fingerprint)?;
            let touches = walk.touches.get(fingerprint);
            Some(PasskeyReport {
                fingerprint: *fingerprint,
                person: record.enrolment.person,
                called: self.person(record.enrolment.person),
                pinned_as: self.pinned(fingerprint).map(ToOwned::to_owned),
                kept: kept(record),
                vouched: self.vouched(fingerprint, record),
                standing: standing(record),
                statements: spoken.statements,
                touches: touches.map_or(0, |touches| touches.signatures.len() as u64),
                most_at_once: touches.map_or(0, |touches| touches.most_at_once),
            })
        };
        walk.speakers.iter().filter_map(report).collect()
    }
}

/// Returns one passkey as one line.
pub(super) fn row(report: &PasskeyReport) -> String {
    format!(
        "{} of {}, {} by its own flags, {}, {}; {} with {}, at most {} with one",
        report.fingerprint.short(),
        report.called,
        report.kept,
        report.standing,
        report.vouched,
        counted(report.statements, "statement"),
        counted_as(report.touches, "touch", "touches"),
        report.most_at_once,
    )
}

/// Returns what became of a passkey.
pub(in crate::verify) const fn standing(record: &PasskeyRecord) -> &'static str {
    if record.ended.is_some() { "removed" } else { "active" }
}

const fn kept(record: &PasskeyRecord) -> &'static str {
    match (record.enrolment.eligible, record.enrolment.synced) {
        (false, _) => "device-bound",
        (true, false) => "made to be synced",
        (true, true) => "synced",
    }
}
