//! What the rules read of a plan, what they leave unread, and how jurisdictions lie within one another.

use demur_clarify::gap::Severity;
use demur_rules::{Judgement, Pack, Plan, Rules, Settled, builtin};
use serde_json::json;

use crate::world;

fn own(text: &str) -> Pack {
    let text = format!("[pack]\nname = \"own\"\nversion = \"1\"\n{text}");
    Pack::read([("own/pack.toml", text.as_str())]).unwrap_or_else(|error| panic!("{error}"))
}

fn over_builtin(text: &str) -> Rules {
    Rules::layer(&[builtin::pack().unwrap(), own(text)]).unwrap_or_else(|error| panic!("{error}"))
}

fn found(rules: &Rules, plan: serde_json::Value) -> Vec<(String, Severity)> {
    let findings = rules.detect(&Plan::try_from(plan).unwrap(), &Settled::default()).unwrap();
    findings.into_iter().map(|one| (one.rule.to_string(), one.severity)).collect()
}

/// CLR-17: every field that no rule reads is listed, lists as one field, whatever its name.
#[test]
fn fields_that_no_rule_reads_are_listed() {
    let rules = world::rules("default");
    let plan = Plan::try_from(json!({
        "description": "d", "component_type": "x", "operation": "add", "standards": ["GDPR"], "languages": ["en"],
        "compliance": {"jurisdiction": "uk", "note": "n", "overlaps": {"gdpr": {"lgpd": true, "other": true}}},
        "tags": ["a", "b"], "owner": {"team": {"name": "web"}}, "nothing": null, "empty": {}, "real_build": false,
        "rows": [{"a": 1}, {"a": 2}], "deploymentTarget": "USWDS",
    }));
    let expected = [
        "compliance.note",
        "compliance.overlaps.gdpr.other",
        "deploymentTarget",
        "empty",
        "owner.team.name",
        "rows.0.a",
        "rows.1.a",
        "tags",
    ];
    let mut unread = rules.unread(&plan.unwrap());
    unread.sort();
    assert_eq!(unread, expected);
}

/// CLR-16, CLR-17: a pack says about which fields nobody is asked; packs above add to it.
#[test]
fn a_pack_names_fields_about_which_nobody_is_asked() {
    let plan = json!({"description": "d", "component_type": "x", "operation": "add", "language": "en", "deploymentTarget": "x"});
    let warned = |rules: &Rules| found(rules, plan.clone()).len();
    assert_eq!(warned(&world::rules("default")), 2);
    assert_eq!(warned(&over_builtin("[unread]\nexcept = [\"language\"]\n")), 1);
    let layer = |field: &str| own(&format!("[unread]\nexcept = [\"{field}\"]\n"));
    let both = [builtin::pack().unwrap(), layer("language"), layer("deploymentTarget")];
    assert_eq!(warned(&Rules::layer(&both).unwrap()), 0);
}

/// CLR-17: a target that no row mentions is held against the standards by its jurisdictions alone.
#[test]
fn a_target_of_a_user_s_own_pack_is_held_against_standards_without_a_row_about_the_pair() {
    let rules = over_builtin(
        "[[target]]\nid = \"cloud-gov\"\nname = \"cloud.gov\"\njurisdictions = [\"us\"]\n\
         [[target]]\nid = \"toronto\"\nname = \"Toronto\"\njurisdictions = [\"ca-on-tor\"]\n\
         [[jurisdiction]]\nid = \"ca-on-tor\"\nname = \"City of Toronto\"\nwithin = [\"ca-on\"]\n",
    );
    let of = |standard: &str, target: &str| {
        found(
            &rules,
            json!({"description": "d", "component_type": "x", "operation": "add", "standards": [standard],
                   "deployment_target": target}),
        )
    };
    let blocked = [("jurisdiction/mismatch".to_owned(), Severity::Block)];
    assert_eq!(of("JSP 440", "cloud.gov"), blocked);
    assert_eq!(of("JSP 440", "toronto"), blocked, "a larger one around both is not enough");
    for (standard, target) in [("FedRAMP", "cloud.gov"), ("AODA", "toronto"), ("STANAG", "toronto")] {
        assert_eq!(of(standard, target), [], "{standard} {target}");
    }
}

/// CLR-16: a pack without the built-in one gets its questions about jurisdictions at a field of its own.
#[test]
fn a_pack_of_its_own_says_where_the_jurisdiction_stands() {
    let tables = "[[standard]]\nid = \"s\"\nname = \"S\"\njurisdictions = [\"here\"]\n\
                  [[target]]\nid = \"t\"\nname = \"T\"\njurisdictions = [\"there\"]\n";
    for (setting, field) in [("", "jurisdiction"), ("jurisdiction = \"law.of\"\n", "law.of")] {
        let pack = own(&format!("[settings]\nstandards = [\"s\"]\ntargets = [\"t\"]\n{setting}{tables}"));
        let rules = Rules::layer(&[pack]).unwrap();
        let plan = Plan::try_from(json!({"s": "S", "t": "T"})).unwrap();
        let findings = rules.detect(&plan, &Settled::default()).unwrap();
        assert_eq!(findings[0].field.as_str(), field);
        assert_eq!(
            findings[0].question,
            "S (here) is selected, but the target is T (there). Which of them applies?"
        );
        let answered = rules.judge(&plan, &Settled::default(), &findings[0], "t-only").unwrap();
        assert!(matches!(answered, Judgement::Settles { new, .. } if new.is_empty()));
    }
}

/// CLR-44: what a plan says survives an answer that needs its place.
#[test]
fn a_list_of_compliance_moves_where_the_answer_leaves_room() {
    let rules = world::rules("default");
    let plan = Plan::try_from(json!({
        "description": "d", "component_type": "x", "operation": "add", "compliance": ["JSP 440"], "deployment_target": "USWDS",
    }))
    .unwrap();
    let findings = rules.detect(&plan, &Settled::default()).unwrap();
    let judgement = rules.judge(&plan, &Settled::default(), &findings[0], "jsp-440-only").unwrap();
    let Judgement::Settles { plan: answered, .. } = judgement else { panic!("{judgement:?}") };
    let expected = json!({"jurisdiction": "jsp-440-only", "standards": ["JSP 440"]});
    assert_eq!(answered.as_value()["compliance"], expected);
    assert_eq!(rules.moved_from(&plan, "compliance.standards.0").as_deref(), Some("compliance.0"));
    assert_eq!(rules.moved_from(&plan, "compliance.jurisdiction"), None);
    assert_eq!(rules.moved_from(&answered, "compliance.standards.0"), None);
}
