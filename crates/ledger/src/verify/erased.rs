//! What the file says of erasures, held against what it discloses: what was erased is not there, and what is marked as erased
//! was erased by an event.

use std::collections::BTreeSet;

use demur_core::{quote::quoted, time::Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Code,
    examine::Examined,
    finding::{Findings, Found, Section},
};
use crate::{
    erasure::Erasures, event_type::Facts, export::Disclosure, name::Sequence, role::Role, state::SequenceSet,
    timeline::Words,
};

/// The erasures of one trace of a file, or of its registry.
#[derive(Default)]
pub(super) struct ErasureBook {
    erasures: Erasures,
    /// What has content or an artifact in the file.
    disclosed: SequenceSet,
    /// What is marked as erased and was not erased by an event so far.
    marked: BTreeSet<Sequence>,
    rows: Vec<ErasureReport>,
    /// What was erased and is in the file: the line and the event that erased it, and the event.
    kept: Vec<(u64, Sequence, Sequence)>,
}

/// One erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErasureReport {
    /// The event whose words were erased.
    pub event: Sequence,
    /// Whether it is an event of the registry.
    pub registry: bool,
    /// The papers that went with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub papers: Vec<Sequence>,
    /// The event that says so.
    pub erased: Sequence,
    /// Who signed it; none where it is recorded by demur.
    pub by: Option<crate::name::PrincipalId>,
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// Why; none where that is not disclosed.
    pub why: Option<String>,
}

impl ErasureReport {
    /// Returns the erasure in words.
    pub(super) fn row(&self) -> String {
        let place = if self.registry { "registry " } else { "" };
        let by = self.by.map_or_else(
            || "recorded by demur".to_owned(),
            |principal| format!("by the operator's key of {principal}"),
        );
        let why = self.why.as_deref().map_or_else(
            || "for a reason not disclosed".to_owned(),
            |why| format!("because {}", quoted(why)),
        );
        let row =
            format!("{place}#{} was erased on {} {why}, {by} in #{}", self.event, self.time, self.erased);
        if self.papers.is_empty() {
            return row;
        }
        let papers: Vec<_> = self.papers.iter().map(|paper| format!("#{paper}")).collect();
        row + "; the papers that quoted it went with it: " + &papers.join(", ")
    }
}

impl ErasureBook {
    /// Takes an event that stands at a place and a line of the file.
    pub(super) fn take(&mut self, at: Sequence, line: u64, examined: &Examined, section: Section) {
        self.note(at, examined.disclosure);
        let Ok(said) = examined.event.said() else { return };
        if let Facts::ContentErased(facts) = said.facts
            && self.erasures.guard(at, said.facts).is_ok()
        {
            let gone = self.erasures.gone_with(facts.event);
            for event in &gone {
                self.marked.remove(event);
                if self.disclosed.contains(*event) {
                    self.kept.push((line, at, *event));
                }
            }
            if self.rows.len() < MAX_ROWS {
                let envelope = examined.event.envelope();
                self.rows.push(ErasureReport {
                    event: facts.event,
                    registry: section == Section::Registry,
                    papers: gone.into_iter().filter(|one| *one != facts.event).collect(),
                    erased: at,
                    by: (said.role == Role::Operator).then_some(envelope.actor),
                    time: envelope.time,
                    why: match &examined.words {
                        Some(Words::Erasure(why)) => Some(why.to_string()),
                        _ => None,
                    },
                });
            }
        }
        self.erasures.fold(at, said.facts);
    }

    /// Takes note of how the content or the artifact of an event is disclosed.
    pub(super) fn note(&mut self, at: Sequence, disclosure: Disclosure) {
        match disclosure {
            Disclosure::Disclosed => self.disclosed.insert(at),
            Disclosure::Erased => drop(self.marked.insert(at)),
            Disclosure::Withheld | Disclosure::Missing | Disclosure::Absent => {}
        }
    }

    /// Reports what was erased and is in the file. Not before the end of a registry: names that are there or gone take nothing
    /// from what its keys prove.
    pub(super) fn report_kept(&self, section: Section, findings: &mut Findings) {
        for (line, at, event) in &self.kept {
            let message = format!("#{event} was erased here, and the file has what it said");
            findings.add(section, Some(*line), Some(*at), Found::new(Code::NotErased, message));
        }
    }

    /// Reports what is marked as erased though no event says so. That shows at the end of the file.
    pub(super) fn report_unrecorded(&self, section: Section, findings: &mut Findings) {
        for event in &self.marked {
            let message = "its line says that it was erased, and no event records that";
            findings.add(section, None, Some(*event), Found::new(Code::ErasureUnrecorded, message));
        }
    }

    /// Returns the erasures, in order.
    pub(super) fn into_reports(self) -> Vec<ErasureReport> {
        self.rows
    }
}

/// How many erasures a report lists.
const MAX_ROWS: usize = 256;
