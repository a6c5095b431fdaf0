//! The seed: its three examples as they stand there, and its schema held against our reader.

use demur_aaep::{
    error::Rule,
    event::EventReader,
    payload::Payload,
    prompt::{Prompt, PromptTerms},
    word::ResponseKind,
};
use demur_core::limit::Text;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    committed::conformance,
    json_schema::misfit,
    world::{complete, minimal, read},
};

fn example(number: usize) -> String {
    conformance(&format!("seed/example-{number}.json"))
}

fn schema() -> Value {
    serde_json::from_str(&conformance("seed/seed-001.txt")).unwrap()
}

/// AEP-01
#[test]
fn the_examples_are_those_of_the_seed() {
    let seed = conformance("seed/seed-001.txt");
    for number in 1..=3 {
        assert!(seed.contains(example(number).trim_end()), "example {number}");
    }
    assert_eq!(schema()["examples"].as_array().unwrap().len(), 3);
}

/// AEP-01 AEP-02
#[test]
fn the_examples_are_taken_and_written_with_the_same_meaning() {
    for number in 1..=3 {
        let text = example(number);
        let received = EventReader::default().read(text.as_bytes()).unwrap();
        assert_eq!(received.text, text);
        assert_eq!(received.excesses, []);
        assert!(received.event.is_critical());
        let written: Value = serde_json::from_str(&received.event.to_json().unwrap()).unwrap();
        assert_eq!(written, serde_json::from_str::<Value>(&text).unwrap(), "example {number}");
        assert_eq!(misfit(&schema(), &written), None);
    }
}

/// AEP-07 AEP-10 AEP-11 AEP-12
#[test]
fn the_examples_ask_what_they_say() {
    let prompt = |number| {
        let text = example(number);
        let event = EventReader::default().read(text.as_bytes()).unwrap().event;
        let Payload::AwaitingClarification(payload) = &event.payload else { panic!() };
        assert!(payload.timeout_seconds.as_u64() >= 180);
        Prompt::open(&event).unwrap()
    };
    let terms = |prompt: &Prompt| match prompt.terms() {
        PromptTerms::Clarification(terms) => terms.clone(),
        PromptTerms::Confirmation(_) => panic!(),
    };
    let first = terms(&prompt(1));
    assert_eq!(first.kinds.into_iter().collect::<Vec<_>>(), [ResponseKind::Freetext]);
    assert_eq!(first.default, None);
    let second = terms(&prompt(2));
    assert_eq!(
        second.kinds.iter().copied().collect::<Vec<_>>(),
        [ResponseKind::MultipleChoice, ResponseKind::Numeric]
    );
    assert_eq!(second.choices.iter().map(Text::as_str).collect::<Vec<_>>(), ["60", "65", "67", "70"]);
    assert_eq!(second.default_answer().unwrap().kind, ResponseKind::MultipleChoice);
    assert_eq!(prompt(2).deadline().to_string(), "2026-05-24T14:27:12.890Z");
    assert_eq!(prompt(3).token().as_str(), "rpl_5d8f1a2c9e3b6a4d");
}

/// Returns values for a field, good ones and bad ones.
fn values() -> Vec<(&'static str, Vec<Value>)> {
    let choice = |value: &str| json!({"value": value, "label": "L"});
    let many = |count: usize| (0..count).map(|index| choice(&index.to_string())).collect::<Value>();
    vec![
        (
            "type",
            vec![json!("aaep:agent.awaiting.clarification"), json!("aaep:agent.state.changed"), json!(1)],
        ),
        ("urgency", vec![json!("critical"), json!("normal"), json!("loud"), Value::Null]),
        (
            "question",
            vec![json!("Q"), json!(""), json!("q".repeat(16_384)), json!("q".repeat(16_385)), json!(1)],
        ),
        (
            "reply_token",
            vec![json!("rpl_a"), json!("rpl_"), json!("rpl_a-b"), json!(format!("rpl_{}", "a".repeat(65)))],
        ),
        (
            "timeout_seconds",
            vec![json!(1), json!(86_400), json!(0), json!(86_401), json!(30.0), json!(30.5), json!("30")],
        ),
        ("summary_terse", vec![json!("s"), json!(""), json!("s".repeat(4096)), json!("s".repeat(4097))]),
        ("summary_normal", vec![json!("s"), json!(""), json!("s".repeat(16_385))]),
        ("summary_detailed", vec![json!("s"), json!(["s"])]),
        (
            "accepted_response_kinds",
            vec![
                json!(["freetext"]),
                json!(["multiple_choice", "numeric"]),
                json!(["yes_no", "yes_no"]),
                json!([]),
                json!(["freetext", "yes_no", "multiple_choice", "numeric"]),
                json!(["voice"]),
                json!("freetext"),
            ],
        ),
        (
            "choices",
            vec![
                many(2),
                many(32),
                many(33),
                many(1),
                json!([choice("a"), choice("a")]),
                json!([{"value": "a"}, {"value": "b"}]),
                json!([{"value": "a", "label": "A", "x": 1}, choice("b")]),
                json!([{"value": "v".repeat(257), "label": "A"}, choice("b")]),
            ],
        ),
        ("context", vec![json!("c"), json!(""), json!("c".repeat(4097))]),
        ("default_response", vec![json!("65"), json!("0"), json!(""), json!("d".repeat(4097)), json!(65)]),
    ]
}

/// What the schema lets through and we do not, each for a reason in the prose or because JSON Schema cannot say it.
const STRICTER: [Rule; 3] = [Rule::Choices, Rule::ChoiceValues, Rule::DefaultResponse];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// AEP-01: what we take fits the schema of the seed, and what fits it we take or refuse by a rule of the prose.
    #[test]
    fn the_reader_agrees_with_the_schema_of_the_seed(
        is_complete in any::<bool>(), picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 0..4),
    ) {
        let name = "awaiting.clarification";
        let mut event = if is_complete { complete(name) } else { minimal(name) };
        for (field, value, is_removed) in picks {
            let values = values();
            let (field, values) = field.get(&values);
            let object = event.as_object_mut().unwrap();
            match value.get(values) {
                _ if is_removed && *field != "type" => drop(object.remove(*field)),
                Value::Null => drop(object.remove(*field)),
                value => drop(object.insert((*field).to_owned(), value.clone())),
            }
        }
        let is_of_another_type = event["type"] != "aaep:agent.awaiting.clarification";
        match (read(&event), misfit(&schema(), &event)) {
            (Ok(_), Some(why)) => prop_assert!(is_of_another_type, "taken, although {}", why),
            (Err(error), None) => prop_assert!(STRICTER.contains(&error.rule), "{}", error),
            _ => {}
        }
    }
}

/// AEP-02: in the schema the urgency may be left out.
#[test]
fn an_event_without_urgency_fits_the_schema_and_what_is_written_has_one() {
    assert_eq!(misfit(&schema(), &minimal("awaiting.clarification")), None);
    let event = read(&minimal("awaiting.clarification")).unwrap();
    let written: Value = serde_json::from_str(&event.to_json().unwrap()).unwrap();
    assert_eq!((misfit(&schema(), &written), &written["urgency"]), (None, &json!("critical")));
}
