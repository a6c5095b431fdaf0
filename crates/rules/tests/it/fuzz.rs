//! Random plans, packs and answers: nothing panics, nothing grows without bound, the same input gives the same output.

use demur_rules::{Judgement, Pack, Plan, Rules, Settled, error::PlanError, judge::Why};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value};

use crate::world;

/// Values that rules know, and others.
fn value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "JSP 440",
        "GDPR",
        "USWDS",
        "va.gov",
        "ar-sa",
        "he-IL",
        "latest",
        "NIST",
        "MOD Defence",
        "",
        " ",
        "???",
        "\u{200b}",
        "rtl",
        "return",
        "EUR",
        "IN",
        "webpart-react",
        "add",
        "the usual hotel",
        "\u{202e}x",
        "both-with-nato-stanag",
    ]);
    let leaf = prop_oneof![
        words.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-5_i64..20_270_101).prop_map(Value::from),
        Just(Value::from(1.5)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "component_type",
        "operation",
        "description",
        "standards_selected",
        "compliance",
        "standards",
        "jurisdiction",
        "overlaps",
        "gdpr",
        "lgpd",
        "languages",
        "layout",
        "direction",
        "real_build",
        "output_path",
        "deployment_target",
        "trip",
        "country",
        "kind",
        "depart",
        "return",
        "traveller",
        "nationality",
        "passport_expires",
        "budget",
        "amount",
        "currency",
        "payment",
        "price",
        "fare",
        "refundable",
        "hotel",
        "nights",
        "name",
        "visa",
        "held",
        "0",
    ])
    .prop_map(str::to_owned)
}

fn plan() -> impl Strategy<Value = Plan> {
    prop::collection::btree_map(key(), value(), 0..12).prop_map(|members| {
        let members: Map<String, Value> = members.into_iter().collect();
        Plan::try_from(Value::Object(members)).unwrap()
    })
}

fn run<S: Strategy>(
    full: usize,
    reduced: usize,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let cases = u32::try_from(world::count(full, reduced)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(strategy, test).unwrap_or_else(|error| panic!("{error}"));
}

/// CLR-02: detection is deterministic, bounded, finds nothing twice, and every finding becomes a gap.
#[test]
fn fuzz_detection_is_deterministic_and_bounded() {
    let all = [world::rules("default"), world::rules("travel")];
    run(200_000, 2_000, &plan(), |plan| {
        for rules in &all {
            let found = rules.detect(&plan, &Settled::default()).unwrap();
            let again = Plan::read(&plan.to_canonical().unwrap()).unwrap();
            prop_assert_eq!(&found, &rules.detect(&again, &Settled::default()).unwrap());
            prop_assert!(found.len() <= 256);
            for (index, finding) in found.iter().enumerate() {
                prop_assert!(!found[..index].iter().any(|other| other.is_same(finding)));
                world::gap(finding).unwrap();
            }
        }
        Ok(())
    });
}

/// CLR-44: an answer settles exactly if the gap is gone and nothing new is at its field.
#[test]
fn fuzz_an_answer_settles_only_what_detection_no_longer_finds() {
    let all = [world::rules("default"), world::rules("travel")];
    let answers = prop::sample::select(vec![
        "yes",
        "no",
        "7",
        "20300101",
        "GBP",
        "EUR",
        "rtl",
        "the usual one",
        "as before",
        "dist",
        "jsp-440-only",
        "one-way",
        "a, b",
        "GDPR",
        "NIST",
        "",
        "x",
    ]);
    run(50_000, 1_000, &(plan(), answers), |(plan, answer)| {
        for rules in &all {
            for finding in rules.detect(&plan, &Settled::default()).unwrap() {
                let judgement = rules.judge(&plan, &Settled::default(), &finding, answer).unwrap();
                // No gap is at a place where nothing can be written.
                let dead = |why: &Why| matches!(why, Why::Plan(PlanError::Place { .. }));
                prop_assert!(
                    !matches!(&judgement, Judgement::Escalates { why, .. } if dead(why)),
                    "{}",
                    finding.field
                );
                if let Judgement::Settles { plan: answered, new } = judgement {
                    let mut settled = Settled::default();
                    settled.answer(&finding.field, finding.assurance);
                    let after = rules.detect(&answered, &settled).unwrap();
                    prop_assert!(!after.iter().any(|open| open.is_same(&finding)));
                    prop_assert!(!new.iter().any(|open| open.field == finding.field));
                    prop_assert!(answered.value(&finding.field).is_some());
                }
            }
        }
        Ok(())
    });
}

/// CLR-16: no bytes break the readers of packs, plans and documents.
#[test]
fn fuzz_damaged_packs_are_refused_or_taken_without_a_panic() {
    let packs = [world::files("default"), world::files("travel")];
    let documents = [world::rules("default").document().to_vec(), world::rules("travel").document().to_vec()];
    let damage = (0..2_usize, 0..2_usize, any::<prop::sample::Index>(), any::<u8>(), 0..3_usize);
    run(50_000, 300, &damage, |(pack, file, at, byte, how)| {
        let mut files = packs[pack].map(|(name, text)| (name, text.as_bytes().to_vec()));
        spoil(&mut files[file].1, at, byte, how);
        if let Err(error) = Pack::read(files).and_then(|pack| Rules::layer(&[pack])) {
            prop_assert!(error.to_string().contains("expected"));
        }
        let mut document = documents[pack].clone();
        spoil(&mut document, at, byte, how);
        if let Ok(rules) = Rules::from_document(&document) {
            prop_assert_eq!(rules.document(), &document[..]);
        }
        Ok(())
    });
}

#[test]
fn fuzz_plan_bytes_never_panic() {
    let bytes = prop::collection::vec(
        prop::sample::select(b"{}[]\",:.0123456789truefalsn \\u\xff\x00ab".to_vec()),
        0..64,
    );
    run(500_000, 10_000, &bytes, |bytes| {
        if let Ok(plan) = Plan::read(&bytes) {
            prop_assert!(plan.as_value().is_object());
        }
        Ok(())
    });
}

fn spoil(bytes: &mut Vec<u8>, at: prop::sample::Index, byte: u8, how: usize) {
    let at = at.index(bytes.len());
    match how {
        0 => bytes[at] = byte,
        1 => drop(bytes.remove(at)),
        _ => bytes.insert(at, byte),
    }
}
