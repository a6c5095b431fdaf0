//! What a trace is about, in a few words: the task of a run, the name of a plan, the words of a question.

use demur_api::refusal::Refusal;
use demur_ledger::{
    event_type::Content,
    name::{Sequence, TraceId},
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Store, StoreError};
use serde_json::{Map, Value};

use crate::record;

/// Returns what a trace is about, from its first event; none where that was erased or cannot be read.
pub fn subject(store: &dyn Store, trace: TraceId) -> Result<Option<String>, Refusal> {
    match record::read(store, trace, Sequence::FIRST) {
        Ok((_, content)) => Ok(content.as_ref().and_then(about)),
        // A check of the store says what is wrong with it.
        Err(SequencerError::Damaged { .. } | SequencerError::Store(StoreError::TraceNewer { .. })) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns what the first words of a trace are about.
pub fn about(content: &Content) -> Option<String> {
    match content {
        Content::SessionInitialized(content) => Some(content.task.to_string()),
        Content::QuestionAsked(content) => Some(content.wording.normal.to_string()),
        Content::PlanSubmitted(content) => {
            Some(plan_name(&content.plan).unwrap_or_else(|| format!("a plan of {}", content.agent)))
        }
        _ => None,
    }
}

/// Returns what a plan calls itself. Plans are free in form: these are the fields that people use.
pub(crate) fn plan_name(plan: &Map<String, Value>) -> Option<String> {
    let words =
        |field: &&str| plan.get(*field).and_then(Value::as_str).filter(|words| !words.trim().is_empty());
    NAMES.iter().find_map(words).map(str::to_owned)
}

/// The fields of a plan that name it, the best first.
const NAMES: [&str; 9] =
    ["title", "name", "project", "goal", "objective", "task", "intent", "summary", "description"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(plan: Value) -> Option<String> {
        plan_name(&serde_json::from_value(plan).unwrap())
    }

    #[test]
    fn plans_are_called_what_they_call_themselves() {
        assert_eq!(named(json!({ "goal": "g", "title": "Trip to Bern" })).unwrap(), "Trip to Bern");
        assert_eq!(named(json!({ "title": " ", "name": "shop" })).unwrap(), "shop");
        assert_eq!(named(json!({ "title": 3, "other": "x" })), None);
    }
}
