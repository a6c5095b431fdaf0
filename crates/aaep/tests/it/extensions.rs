//! Our extension: everybody who saw a prompt learns how it was resolved.

use demur_aaep::{
    error::Rule,
    event::EventReader,
    prompt::{Prompt, PromptCancellation, PromptInput},
    resolved::{self, PromptResolved, ResolvedOutcome},
};
use serde_json::{Value, json};

use crate::world::{after, event, minimal, of, with};

fn reader() -> EventReader {
    EventReader { extensions: vec![resolved::known().unwrap()], ..EventReader::default() }
}

/// Returns a prompt that ended, and what is told of it.
fn told(input: PromptInput<'_>, at: u64, fields: Value) -> PromptResolved {
    let mut value = minimal("awaiting.clarification");
    value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut prompt = Prompt::open(&event(&value)).unwrap();
    let resolution = prompt.handle(input, after(at)).resolution.unwrap();
    PromptResolved::of(&prompt, &resolution)
}

/// AEP-18
#[test]
fn the_resolution_is_told_beside_the_state_that_everybody_gets() {
    let told = told(PromptInput::Tick, 300_000, json!({}));
    assert_eq!((told.outcome, told.resolved_by.clone()), (ResolvedOutcome::Expired, None));
    let state = event(&with(minimal("state.changed"), "urgency", json!("normal")));
    let event = told.told_in(told.told_in(state).unwrap()).unwrap();
    let text = event.to_json().unwrap();
    let read = reader().read(text.as_bytes()).unwrap().event;
    assert_eq!(read, event);
    let fields = &read.envelope.extensions.unwrap()[&of("demur")];
    assert_eq!(PromptResolved::of_fields(fields).unwrap(), told);
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["@context"], json!(["https://aaep-protocol.org/context/v1", "urn:demur:aaep:v1"]));
    let expected = json!({
        "reply_token": "rpl_1", "event_id": "evt_1", "outcome": "expired", "resolved_at": "2026-05-24T14:27:12.000Z",
    });
    assert_eq!(written["extensions"]["demur"], expected);
}

#[test]
fn an_event_that_tells_of_nothing_else_is_one_of_ours() {
    let told = told(PromptInput::Cancel(PromptCancellation::Renewed), 1000, json!({}));
    let mut value = with(minimal("session.started"), "type", json!(resolved::RESOLVED_TYPE));
    value["@context"] = json!(["https://aaep-protocol.org/context/v1", "urn:demur:aaep:v1"]);
    value["extensions"] = json!({ "demur": told });
    assert!(reader().read(value.to_string().as_bytes()).is_ok());
    value["extensions"]["demur"]["outcome"] = json!("guessed");
    let found =
        reader().read(value.to_string().as_bytes()).map(|_| ()).map_err(|error| (error.rule, error.field));
    assert_eq!(found, Err((Rule::ExtensionSchema, "extensions.demur".to_owned())));
}

/// AEP-08
#[test]
fn a_default_is_told_as_a_default() {
    let told = told(PromptInput::Tick, 300_000, json!({"default_response": "65"}));
    assert_eq!((told.outcome, told.resolved_by), (ResolvedOutcome::Defaulted, None));
}
