//! A record or a package beside an export of its own session: demur keeps each that it signs in the trace. One that is not there
//! was made after the export, and then goes on from what the export has; otherwise it was changed or cut.

use std::{fs::File, io::BufReader, path::Path};

use demur_api::code::Code;
use demur_clarify::uuid::Uuid;
use demur_desk::verification::{PlanEvents, PlanEventsError};
use demur_ledger::{
    event_type::Content,
    name::{Sequence, TraceId},
    verify::Verdict,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{failure::Failure, verify};

/// How a document stands to the trace in an export.
pub(super) enum Recorded {
    /// The export is of another trace: nothing was compared.
    Elsewhere,
    /// It is in this event, word for word.
    At(Sequence),
    /// It was made after the export, and has everything that the export has.
    Later,
    /// What is wrong.
    Not(String),
}

/// A document as it stands in an event.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// The record, a member of most papers.
    Record,
    /// The package, a paper of its own.
    Package,
}

/// Looks for a document in the export at this path.
pub(super) fn find(
    path: &Path,
    session: Uuid,
    part: Part,
    document: &impl Serialize,
) -> Result<Recorded, Failure> {
    let report = verify::quietly(path)?;
    if report.scope.trace != TraceId::of_session(session.as_u128()) {
        return Ok(Recorded::Elsewhere);
    }
    if report.verdict == Verdict::Fail {
        let code = report.code().map_or_else(String::new, |code| format!(": {code}"));
        return Ok(Recorded::Not(format!("the export of its session does not hold{code}")));
    }
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let events = PlanEvents::read(BufReader::new(file), &report).map_err(|error| match error {
        PlanEventsError::Read(error) => Failure::unreadable(path, &error),
        PlanEventsError::Changed => Failure::of(Code::FileUnreadable, format!("--registry: {error}")),
    })?;
    let events = match events {
        PlanEvents::Read { events, .. } => events,
        PlanEvents::TooMany(reason) => return Ok(Recorded::Not(reason)),
    };
    let wanted = serde_json::to_value(document).map_err(|error| Failure::bug(&error))?;
    let mut kept = Kept::default();
    for (event, content) in &events {
        let paper = match content {
            Some(Content::PaperRecorded(content)) => Value::Object(content.paper.clone()),
            Some(Content::PlanAttested(content)) => json!({ "attestation": content.attestation }),
            _ => continue,
        };
        kept.take(&paper);
        let is_it = match part {
            Part::Record => kept.record.as_ref() == Some(&wanted),
            Part::Package => paper == wanted,
        };
        if is_it {
            return Ok(Recorded::At(event.position().sequence));
        }
    }
    Ok(kept.contradiction(part, &wanted).map_or(Recorded::Later, |why| Recorded::Not(why.to_owned())))
}

/// What the papers of a session say, one after the other.
#[derive(Default)]
struct Kept {
    rounds: Vec<Value>,
    /// The newest record: papers have it without its rounds.
    record: Option<Value>,
    /// What was attested of the plan.
    inputs: Vec<Value>,
}

impl Kept {
    fn take(&mut self, paper: &Value) {
        self.rounds.extend(paper.get("round").cloned());
        self.inputs.extend(paper.get("attestation").map(|attested| attested["inputs"].clone()));
        if let Some(seal) = paper.get("record") {
            let mut record = seal.clone();
            record["chain"] = Value::Array(self.rounds.clone());
            self.record = Some(record);
        }
    }

    /// Returns what a document that is in no event has against what the events have.
    fn contradiction(&self, part: Part, document: &Value) -> Option<&'static str> {
        let (record, attested) = match part {
            Part::Record => (document, &Value::Null),
            Part::Package => {
                (&document["context"]["clarification_chain"], &document["context"]["attestation"])
            }
        };
        if !record["chain"].as_array().is_some_and(|rounds| rounds.starts_with(&self.rounds)) {
            return Some("its session has other rounds, or more: it was changed or cut");
        }
        if !attested.is_null() && self.inputs.iter().any(|inputs| *inputs != attested["inputs"]) {
            return Some("its session attests another plan: it was changed");
        }
        None
    }
}
