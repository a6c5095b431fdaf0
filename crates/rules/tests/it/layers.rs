//! Layers, the stored document and its hash.

use demur_core::canonical;
use demur_rules::{Pack, Rules, Settled, builtin};

use crate::world::{self, plan};

const PLAN: &str = r#"{"description": "d", "component_type": "library", "operation": "add",
    "standards_selected": ["ACME-1"], "languages": ["fr"], "real_build": true}"#;

fn own(table: &str, conditions: &str) -> Pack {
    let table = format!("[pack]\nname = \"own\"\nversion = \"7\"\n{table}");
    Pack::read([("pack.toml", table.as_str()), ("a.cedar", conditions)])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn layered(table: &str, conditions: &str) -> Rules {
    let packs = [builtin::pack().unwrap(), own(table, conditions)];
    Rules::layer(&packs).unwrap_or_else(|error| panic!("{error}"))
}

fn rules_found(rules: &Rules, text: &str) -> Vec<String> {
    let findings = rules.detect(&plan(text), &Settled::default()).unwrap();
    findings.iter().map(|finding| finding.rule.to_string()).collect()
}

/// CLR-16
#[test]
fn a_later_pack_adds_replaces_and_removes() {
    let before = rules_found(&world::rules("default"), PLAN);
    assert_eq!(before, ["unknown-standard/acme-1", "language/fr", "policy/real-build-output"]);

    let added = layered(
        "[[standard]]\nid = \"acme-1\"\nname = \"ACME 1\"\n[[language]]\nid = \"fr\"\nname = \"French\"\n",
        "",
    );
    assert_eq!(rules_found(&added, PLAN), ["policy/real-build-output"]);

    let removed = layered("[[policy]]\nid = \"real-build-output\"\nremove = true\n", "");
    assert_eq!(rules_found(&removed, PLAN), ["unknown-standard/acme-1", "language/fr"]);

    let replaced = layered(
        "[settings]\nunknown_standard = \"BLOCK\"\n",
        "@id(\"real-build-output\") @severity(\"WARN\") @field(\"output_path\") @question(\"where?\")
         forbid (principal, action, resource) when { context.real_build && context.output_path == \"\" };",
    );
    let findings = replaced.detect(&plan(PLAN), &Settled::default()).unwrap();
    assert_eq!(format!("{:?}", findings[0].severity), "Block");
    assert_eq!((findings[2].question.as_str(), findings[2].blocked_operations.len()), ("where?", 0));
    assert!(findings[2].because.contains("pack own"), "{}", findings[2].because);
    assert_eq!(replaced.packs().len(), 2);
}

/// CLR-16
#[test]
fn a_pack_of_its_own_wordings_is_used() {
    let rules = layered("[wording]\nunknown_standard = \"What is {value} in {field}?\"\n", "");
    let findings = rules.detect(&plan(PLAN), &Settled::default()).unwrap();
    assert_eq!(findings[0].question, "What is ACME-1 in standards_selected.0?");
}

#[test]
fn a_removed_row_that_others_name_is_a_mistake() {
    let packs = [builtin::pack().unwrap(), own("[[standard]]\nid = \"gdpr\"\nremove = true\n", "")];
    let error = Rules::layer(&packs).unwrap_err();
    assert!(error.to_string().starts_with("default/pack.toml:"), "{error}");
    assert!(error.to_string().contains("\"gdpr\""), "{error}");
}

/// CLR-16
#[test]
fn the_hash_is_of_the_rules_and_not_of_their_layout() {
    let table = "[[standard]]\nid = \"a\"\nname = \"A\"\n[[standard]]\nid = \"b\"\nname = \"B\"\n";
    let settings = "[settings]\nstandards = [\"s\"]\n";
    let first = "@id(\"p\") @field(\"f\") @question(\"?\")\nforbid (principal, action, resource) when { context.a && context.b == 1 };";
    let second = "@id(\"q\") @field(\"f\") @question(\"?\")\nforbid (principal, action, resource) unless { context.a };";
    let rules = |table: &str, files: &[(&str, String)]| {
        let head = format!("[pack]\nname = \"x\"\nversion = \"1\"\n{settings}{table}");
        let files = files.iter().cloned().chain([("pack.toml", head)]);
        Rules::layer(&[Pack::read(files).unwrap()]).unwrap().hash()
    };
    let one = rules(table, &[("a.cedar", format!("{first}\n{second}"))]);
    let swapped = "# b first\n[[standard]]\nname = \"B\"\nid = \"b\"\n\n[[standard]]\nname = \"A\"\nid = \"a\"\naliases = []\n";
    let spaced = first.replace("context.a && context.b == 1", "(context[\"a\"]) // why\n && (context.b==1)");
    let other = rules(swapped, &[("z.cedar", spaced), ("y.cedar", second.to_owned())]);
    assert_eq!(one, other);
    let changed = rules(table, &[("a.cedar", format!("{}\n{second}", first.replace("== 1", "== 2")))]);
    assert_ne!(one, changed);
}

/// CLR-16
#[test]
fn the_document_reads_back_as_the_same_rules() {
    for name in ["default", "travel"] {
        let rules = world::rules(name);
        let again = Rules::from_document(rules.document()).unwrap();
        assert_eq!((again.hash(), again.document()), (rules.hash(), rules.document()));
        for file in crate::cases::all().iter().filter(|file| file.pack == name) {
            for case in &file.cases {
                assert_eq!(case.differences(&again, &file.base), "", "{}", case.name);
            }
        }
    }
}

#[test]
fn a_document_with_a_mistake_is_refused() {
    let text = String::from_utf8(world::rules("travel").document().to_vec()).unwrap();
    for (from, to) in [
        ("demur-rules/1", "demur-rules/2"),
        ("\"cldr\":\"49\"", "\"cldr\":\"48\""),
        ("{field} is", "{fied} is"),
        (r#"(context[\"hotel\"] has"#, r#"((context[\"hotel\"] has"#),
        (r#"(context[\"hotel\"] has"#, r#"( context[\"hotel\"] has"#),
        (r#"["one-way","return"]"#, r#"["one-way"]"#),
        ("\"bundles\":{}", "\"bundles\": {}"),
        ("\"bundles\":{}", "\"bundle\":{}"),
        ("\"id\":\"hotel-name\"", "\"id\":\"hotel\""),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        assert!(Rules::from_document(damaged.as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn a_list_in_the_place_of_an_object_is_refused() {
    let whole: serde_json::Value = serde_json::from_slice(world::rules("travel").document()).unwrap();
    for pointer in ["", "/settings"] {
        let mut document = whole.clone();
        let part = document.pointer_mut(pointer).unwrap();
        *part = part.as_object().unwrap().values().cloned().collect();
        let error = Rules::from_document(&canonical::to_vec(&document).unwrap()).unwrap_err();
        assert!(error.to_string().contains("sequence, expected an object"), "{pointer}: {error}");
    }
}

#[test]
fn rules_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&world::rules("default"));
}

/// A row that changes no case is no rule. Each row and policy of the built-in pack is taken out once.
#[test]
fn every_row_of_the_builtin_pack_matters() {
    let files = crate::cases::all();
    let files: Vec<_> = files.iter().filter(|file| file.pack == "default").collect();
    let document: serde_json::Value = serde_json::from_slice(world::rules("default").document()).unwrap();
    let mut idle = Vec::new();
    for (key, table) in [
        ("jurisdictions", "jurisdiction"),
        ("standards", "standard"),
        ("targets", "target"),
        ("bundles", "bundle"),
        ("languages", "language"),
        ("required", "required"),
        ("ambiguous", "ambiguous"),
        ("overlaps", "overlap"),
        ("conflicts", "conflict"),
        ("policies", "policy"),
    ] {
        for id in document[key].as_object().unwrap().keys() {
            let removal = format!("[[{table}]]\nid = \"{id}\"\nremove = true\n");
            // A row that another one names cannot go alone; that other row is tried too.
            let Ok(rules) = Rules::layer(&[builtin::pack().unwrap(), own(&removal, "")]) else { continue };
            let changes = |file: &&&crate::cases::File| {
                file.cases.iter().any(|case| !case.differences(&rules, &file.base).is_empty())
            };
            if files.iter().find(changes).is_none() {
                idle.push(format!("{table}/{id}"));
            }
        }
    }
    // Facts without a question of their own: conditions and attestations read them (tested in facts.rs).
    let facts = [
        "overlap/jsp-440-nato-stanag",
        "overlap/nist-800-171-cmmc",
        "overlap/nist-800-53-800-171",
        "overlap/wcag-aa-en-301-549",
        "overlap/wcag-aa-section-508",
        "overlap/wcag-aaa-aa",
    ];
    assert_eq!(idle, facts);
}
