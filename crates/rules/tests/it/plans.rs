//! Plans: what is refused, the order of findings, answers.

use demur_rules::{Assurance, Judgement, Pack, Plan, Rules, Settled, error::PlanError};
use serde_json::json;

use crate::world::{self, plan};

fn refused(text: &str) -> String {
    Plan::read(text.as_bytes()).unwrap_err().to_string()
}

/// CLR-02
#[test]
fn a_plan_that_cannot_be_asked_about_is_refused() {
    for text in ["[]", "\"text\"", "1", "null", "true"] {
        assert!(refused(text).contains("expected an object"), "{text}");
    }
    assert!(refused("{").contains("strict JSON"));
    assert!(refused(r#"{"a": 1, "a": 2}"#).contains("strict JSON"));
    assert!(refused(r#"{"a": 9007199254740993}"#).contains("strict JSON"));
    assert!(refused(&format!("{{\"a\": {}1{}}}", "[".repeat(20), "]".repeat(20))).contains("strict JSON"));
    assert!(refused(&format!("{{\"a\": \"{}\"}}", "x".repeat(300_000))).contains("strict JSON"));
    assert!(refused(r#"{"a b": 1}"#).starts_with("a b:"));
    assert!(refused(r#"{"a": [{"b.c": 1}]}"#).starts_with("b.c:"));
    assert!(refused(&format!("{{\"{}\": 1}}", "x".repeat(201))).contains("rename it"));
    for text in [
        r#"{"": 1}"#,
        r#"{"": null}"#,
        r#"{"": {"a": 1}, "a": 2}"#,
        r#"{"a": {"": {"": 1}}}"#,
        r#"{"a": [{"b": 1}, {"": 1}]}"#,
        r#"{"": {"": ""}}"#,
    ] {
        assert!(refused(text).starts_with("\"\": expected a member named"), "{text}");
    }
    assert_eq!(Plan::read(br#"{"derived": {}}"#), Err(PlanError::Reserved));
    assert!(matches!(Plan::try_from(json!({"a": 1_u64 << 60})), Err(PlanError::Write(_))));
}

#[test]
fn a_plan_with_more_gaps_than_a_document_holds_is_refused() {
    let rules = world::rules("default");
    let plan = Plan::try_from(json!({"libraries": vec!["latest"; 300]})).unwrap();
    let error = rules.detect(&plan, &Settled::default()).unwrap_err();
    assert_eq!(error.limit, 256);
}

#[test]
fn findings_come_in_the_order_of_the_seed() {
    let rules = world::rules("default");
    let plan = plan(
        r#"{"standards_selected": ["JSP 440", "GDPR", "usual"], "deployment_target": "USWDS", "real_build": true,
            "languages": ["x1", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "ar-sa"]}"#,
    );
    let findings = rules.detect(&plan, &Settled::default()).unwrap();
    let found: Vec<&str> = findings.iter().map(|finding| finding.field.as_str()).collect();
    let mut expected = vec!["component_type", "description", "operation", "standards_selected.2"];
    expected.extend(["compliance.overlaps.gdpr.lgpd", "compliance.jurisdiction"]);
    let languages: Vec<String> = (1..11).map(|index| format!("languages.{index}")).collect();
    expected.extend(languages.iter().map(String::as_str));
    expected.extend(["languages.0", "layout.direction", "output_path"]);
    assert_eq!(found, expected);
}

/// CLR-16, CLR-32
#[test]
fn only_a_warning_can_be_accepted() {
    let rules = world::rules("default");
    let plan = plan(r#"{"component_type": "x", "operation": "add", "standards_selected": ["GDPR"]}"#);
    let findings = rules.detect(&plan, &Settled::default()).unwrap();
    let mut settled = Settled::default();
    assert!(settled.accept(&findings[0]).unwrap_err().to_string().contains("answer it"));
    settled.accept(&findings[1]).unwrap();
    let left = rules.detect(&plan, &settled).unwrap();
    assert_eq!(left, findings[..1]);
    let stored: Settled = serde_json::from_value(serde_json::to_value(&settled).unwrap()).unwrap();
    assert_eq!(stored, settled);
}

/// CLR-44
#[test]
fn an_answer_that_does_not_settle_says_why() {
    let rules = world::rules("travel");
    let base = r#"{"traveller": {"name": "A", "nationality": "GB"}, "budget": {"amount": 9, "currency": "GBP"},
        "payment": {"currency": "GBP"}, "fare": {"refundable": true}, "trip": {"to": "Leeds", "country": "GB", "kind": "round",
        "depart": 20260510}}"#;
    let plan = plan(base);
    let finding = rules.detect(&plan, &Settled::default().from_any_source()).unwrap().remove(0);
    let why = |answer: &str| match rules
        .judge(&plan, &Settled::default().from_any_source(), &finding, answer)
        .unwrap()
    {
        Judgement::Escalates { why, .. } => why.to_string(),
        settled @ Judgement::Settles { .. } => panic!("{settled:?}"),
    };
    assert_eq!(why("both"), "trip.kind: expected one of one-way, return, found \"both\"");
    let complete = world::plan(&base.replace("round", "one-way"));
    let error =
        rules.judge(&complete, &Settled::default().from_any_source(), &finding, "return").unwrap_err();
    assert!(error.to_string().contains("expected an open gap"), "{error}");
}

/// CLR-44: a gap below something that has no members can be answered, and its question says what gives way.
#[test]
fn an_answer_takes_the_place_of_what_leaves_no_room_for_it() {
    let rules = world::rules("default");
    let plan = plan(
        r#"{"description": "d", "component_type": "x", "operation": "add", "compliance": true, "layout": ["wide"],
        "languages": ["ar-sa"], "standards_selected": ["GDPR", "JSP 440"], "deployment_target": "USWDS"}"#,
    );
    let findings = rules.detect(&plan, &Settled::default()).unwrap();
    let at = |field: &str| findings.iter().find(|finding| finding.field.as_str() == field).unwrap();
    let conflict = at("compliance.jurisdiction");
    assert_eq!(
        conflict.question,
        "compliance is \"true\", which leaves no room for compliance.jurisdiction: an answer takes its place. JSP 440 (UK MOD) \
         selected but deployment target is USWDS (USA). Which jurisdiction applies?"
    );
    assert!(conflict.because.ends_with("; compliance leaves no room for it"), "{}", conflict.because);
    let mut answered = plan.clone();
    for (field, answer) in [
        ("compliance.jurisdiction", "jsp-440-only"),
        ("compliance.overlaps.gdpr.lgpd", "yes"),
        ("layout.direction", "rtl"),
    ] {
        let judgement = rules.judge(&answered, &Settled::default(), at(field), answer).unwrap();
        let Judgement::Settles { plan, new } = judgement else { panic!("{field}: {judgement:?}") };
        assert_eq!(new, [], "{field}");
        answered = plan;
    }
    assert_eq!(rules.detect(&answered, &Settled::default()).unwrap(), []);
    let compliance = json!({"jurisdiction": "jsp-440-only", "overlaps": {"gdpr": {"lgpd": true}}});
    assert_eq!(answered.as_value()["compliance"], compliance);
    assert_eq!(answered.as_value()["layout"], json!({"direction": "rtl"}));
}

/// CLR-44: the same for what a condition lacks.
#[test]
fn what_a_condition_lacks_below_a_text_can_be_answered() {
    let rules = world::rules("travel");
    let plan = plan(
        r#"{"traveller": {"name": "A", "nationality": "GB"}, "budget": {"amount": 9, "currency": "GBP"}, "payment": "card",
        "fare": {"refundable": true}, "trip": {"to": "Leeds", "country": "GB", "kind": "one-way", "depart": 20260510}}"#,
    );
    let findings = rules.detect(&plan, &Settled::default().from_any_source()).unwrap();
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].question.starts_with("payment is \"card\", which leaves no room"),
        "{}",
        findings[0].question
    );
    let judgement = rules.judge(&plan, &Settled::default().from_any_source(), &findings[0], "GBP").unwrap();
    let Judgement::Settles { plan, .. } = judgement else { panic!("{judgement:?}") };
    assert_eq!(plan.as_value()["payment"], json!({"currency": "GBP"}));
}

/// CLR-11, CLR-44: a phrase is found in every disguise, however much of it cannot be seen.
#[test]
fn a_phrase_is_found_under_what_cannot_be_seen() {
    let rules = world::rules("default");
    let found = |value: &str| {
        let plan = json!({"description": "d", "component_type": "x", "operation": "add", "hosting": value});
        rules.detect(&Plan::try_from(plan).unwrap(), &Settled::default()).unwrap().len()
    };
    let padded = format!("the usual{}", "\u{200b}".repeat(2_000));
    for value in [
        "the\u{ad} usu\u{200d}al",
        "the\tusual\u{0}",
        "the\u{3000}usual\u{feff}",
        "ＴＨＥ　ＵＳＵＡＬ！",
        &padded,
    ] {
        assert_eq!(found(value), 1, "{value:?}");
    }
    let words = format!("{} the usual {}", "just use ".repeat(20), "one please ".repeat(20));
    assert_eq!(found(&words), 1);
    for value in
        ["the usual suspects", "please", "one", "is it up to you", &"the usual ".repeat(100), ";", ""]
    {
        assert_eq!(found(value), 0, "{value:?}");
    }
}

/// CLR-44: a choice counts whatever it is made of.
#[test]
fn a_choice_without_letters_can_be_chosen() {
    let table = "[pack]\nname = \"p\"\nversion = \"1\"\n[[required]]\nid = \"sign\"\nfield = \"sign\"\n\
        question = \"{field}?\"\nchoices = [\"+\", \"-\"]\n";
    let rules = Rules::layer(&[Pack::read([("pack.toml", table)]).unwrap()]).unwrap();
    let empty = plan("{}");
    let findings = rules.detect(&empty, &Settled::default()).unwrap();
    for (answer, settles) in [("+", true), (" - ", true), ("?", false), ("\u{200b}", false)] {
        let judgement = rules.judge(&empty, &Settled::default(), &findings[0], answer).unwrap();
        assert_eq!(matches!(judgement, Judgement::Settles { .. }), settles, "{answer}");
    }
}

#[test]
fn values_are_written_where_they_belong() {
    let plan = plan(r#"{"list": [1], "none": null}"#);
    let with = |field: &str| {
        plan.with_value(&field.parse().unwrap(), json!("x")).map(|plan| plan.as_value().clone())
    };
    assert_eq!(with("a.b").unwrap()["a"], json!({"b": "x"}));
    assert_eq!(with("none.b").unwrap()["none"], json!({"b": "x"}));
    assert_eq!(with("list.0").unwrap()["list"], json!(["x"]));
    assert_eq!(with("list.1").unwrap()["list"], json!([1, "x"]));
    assert!(with("list.2").is_err());
    assert!(with("list.0.a").is_err());
    assert_eq!(with("derived"), Err(PlanError::Reserved));
}

/// AEP-17
#[test]
fn a_question_shows_what_is_in_the_plan_without_being_led_astray_by_it() {
    let rules = world::rules("default");
    let long = format!("\u{202e}{}", "x".repeat(500));
    let plan =
        json!({"description": "d", "component_type": "x", "operation": "add", "standards_selected": [long]});
    let findings = rules.detect(&Plan::try_from(plan).unwrap(), &Settled::default()).unwrap();
    assert!(findings[0].question.contains("\\u{202e}xxx"), "{}", findings[0].question);
    assert!(findings[0].question.chars().count() < 300);
    world::gap(&findings[0]).unwrap();
}

#[test]
fn a_finding_explains_itself() {
    let rules = world::rules("default");
    let plan = plan(
        r#"{"description": "d", "component_type": "x", "operation": "add", "standards_selected": ["JSP 440"],
        "deployment_target": "USWDS"}"#,
    );
    let lines = rules.explain(&plan, &Settled::default()).unwrap();
    let expected = "compliance.jurisdiction: row uk-mod-us-design of [[conflict]] in pack default: jsp-440 is selected and the \
                    target is uswds";
    assert_eq!(lines, [expected]);
}

#[test]
fn one_question_carries_the_strictest_demand_of_all_rules_that_need_it() {
    let rules: Rules = world::rules("travel");
    let plan = plan(
        r#"{"traveller": {"name": "A", "nationality": "GB"}, "budget": {"currency": "GBP"}, "payment": {"currency": "GBP"},
        "fare": {"refundable": true}, "trip": {"to": "Leeds", "country": "GB", "kind": "one-way", "depart": 20260510},
        "price": {"amount": 5, "currency": "GBP"}}"#,
    );
    let findings = rules.detect(&plan, &Settled::default().from_any_source()).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].rule.as_str(), findings[0].assurance), ("required/budget", Assurance::SignedIn));
}

#[test]
fn numbers_are_what_the_record_will_have_however_they_are_spelled() {
    let plain = Plan::read(br#"{"amount": 100, "rate": 0, "share": 1}"#).unwrap();
    assert_eq!(Plan::read(br#"{"amount": 1e2, "rate": -0, "share": 1.0}"#).unwrap(), plain);
    let spelled = json!({"amount": 1e2, "rate": -0.0, "share": 1.0});
    assert_eq!(Plan::try_from(spelled).unwrap(), plain);
}
