//! Answers looked at by what they change alone: the same as by looking at all of the plan (ONE-12).

use demur_rules::{
    Assurance, Finding, Judgement, Pack, Plan, Rules, Settled,
    detect::{Glance, KnownFindings},
};
use serde_json::{Value, json};

/// Rows that depend on each other, share fields, stand in records, demand a source, and other tables beside them.
const TABLES: [&str; 5] = [
    "[[required]]\nid = \"a\"\nfield = \"a\"\nquestion = \"?\"\nchoices = [\"x\", \"y\"]\n\
     [[required]]\nid = \"b\"\nfield = \"b\"\nquestion = \"?\"\nwhen = { a = [\"x\"] }\n\
     [[required]]\nid = \"b2\"\nfield = \"b\"\nquestion = \"?\"\nkinds = [\"number\"]\nwhen = { a = [\"y\"] }\n\
     [[required]]\nid = \"d\"\nfield = \"d.e\"\nquestion = \"?\"\nkinds = [\"number\", \"list\"]\n\
     [[required]]\nid = \"d2\"\nfield = \"d\"\nquestion = \"?\"\nassurance = \"terminal\"\n\
     [[required]]\nid = \"w\"\nfield = \"w\"\nquestion = \"?\"\nseverity = \"WARN\"\n",
    "[[ambiguous]]\nid = \"vague\"\nphrases = [\"any\", \"x\"]\nfields = [\"b\", \"d.*\"]\nquestion = \"?\"\n",
    "[[ambiguous]]\nid = \"vague\"\nphrases = [\"any\"]\nfields = [\"**\"]\nquestion = \"?\"\n",
    "[settings]\nlists = [\"b\"]\n",
    "[settings]\nlanguages = \"w\"\n",
];

const POLICIES: [&str; 2] = [
    "",
    "@id(\"p\")\n@field(\"q\")\n@question(\"{context.b}?\")\n@kinds(\"text\")\n\
     forbid (principal, action, resource) when { context.w == \"no\" && context.b == \"any\" };\n",
];

fn rules(tables: &str, policy: &str) -> Rules {
    let (settings, rows) = if tables.starts_with("[settings]") { (tables, TABLES[0]) } else { ("", tables) };
    let rows = if rows == TABLES[0] { rows.to_owned() } else { format!("{}{rows}", TABLES[0]) };
    let toml = format!("[pack]\nname = \"own\"\nversion = \"1\"\n{settings}{rows}");
    Rules::layer(&[Pack::read([("pack.toml", toml.as_str()), ("own.cedar", policy)]).unwrap()]).unwrap()
}

fn plans() -> Vec<Plan> {
    let values = [
        json!({}),
        json!({"a": "x"}),
        json!({"a": "y", "b": "any"}),
        json!({"a": ["x", "y"], "d": {"e": 1}}),
        json!({"d": "in the way"}),
        json!({"d": [1, 2], "w": "no"}),
        json!({"aa": 1, "bb": 2, "note": "free"}),
        json!({"b": null, "d": {}, "w": "de"}),
    ];
    values.into_iter().map(|value: Value| Plan::try_from(value).unwrap()).collect()
}

/// Follows every answer to every gap of a plan, and those that they uncover; returns how many showed at a glance.
fn follow(rules: &Rules, plan: &Plan, settled: &Settled, depth: usize) -> usize {
    let found = KnownFindings::new(rules, plan, settled).unwrap();
    let all = rules.detect(plan, settled).unwrap();
    let answers = ["x", "y", "7", "any", "no", "a, b", "  "];
    let assurances = [Assurance::Agent, Assurance::Terminal];
    let mut seen = 0;
    for finding in &all {
        for (answer, assurance) in
            answers.into_iter().flat_map(|answer| assurances.map(|least| (answer, least)))
        {
            let said = (answer, assurance);
            let glance = rules.glance(&found, (plan, settled), finding, said).unwrap();
            let judged = rules.judge_as(plan, settled, finding, said).unwrap();
            seen += usize::from(!matches!(glance, Glance::Unknown));
            agree(rules, &found, settled, (finding, said), (glance, &judged));
            if let Judgement::Settles { plan, .. } = judged
                && depth > 0
            {
                let mut settled = settled.clone();
                settled.answer(&finding.field, assurance);
                seen += follow(rules, &plan, &settled, depth - 1);
            }
        }
    }
    seen
}

fn agree(
    rules: &Rules,
    found: &KnownFindings,
    settled: &Settled,
    (finding, (answer, assurance)): (&Finding, (&str, Assurance)),
    (glance, judged): (Glance, &Judgement),
) {
    let what = format!("{answer:?} ({assurance:?}) to {} at {}", finding.rule, finding.field);
    match (glance, judged) {
        (Glance::Unknown, _) | (Glance::Escalates, Judgement::Escalates { .. }) => {}
        (Glance::Settles { plan, change }, Judgement::Settles { plan: expected, .. }) => {
            assert_eq!(plan, *expected, "{what}");
            let (mut settled, mut after) = (settled.clone(), found.clone());
            settled.answer(&finding.field, assurance);
            after.apply(&change);
            assert_eq!(after, KnownFindings::new(rules, &plan, &settled).unwrap(), "{what}");
        }
        (glance, judged) => panic!("{what}: {glance:?}, and by all of the plan {judged:?}"),
    }
}

/// ONE-12
#[test]
fn a_glance_says_what_looking_at_all_of_the_plan_says() {
    let mut seen = Vec::new();
    for (tables, policy) in TABLES.iter().flat_map(|tables| POLICIES.map(|policy| (*tables, policy))) {
        let rules = rules(tables, policy);
        seen.push(plans().iter().map(|plan| follow(&rules, plan, &Settled::default(), 1)).sum::<usize>());
    }
    assert!(seen[0] > 500, "answers that show at a glance: {seen:?}");
    assert!(
        seen[4..6].iter().all(|count| *count == 0),
        "a row about every field reads every answer: {seen:?}"
    );
}

/// ONE-12: only a field that a row asks for, and that nothing else reads, is looked at alone.
#[test]
fn a_field_is_apart_where_rows_alone_read_it() {
    let apart = |tables, policy, field: &str| rules(tables, policy).is_apart(&field.parse().unwrap());
    for (field, expected) in [("a", true), ("b", true), ("d", true), ("d.e", true), ("w", true), ("z", false)]
    {
        assert_eq!(apart(TABLES[0], "", field), expected, "{field}");
    }
    // The row that asks for `b` depends on `a`: what else reads `b` reads what `a` changes.
    for (tables, field) in [(TABLES[1], "b"), (TABLES[1], "a"), (TABLES[1], "d.e"), (TABLES[4], "w")] {
        assert!(!apart(tables, "", field), "{field}");
    }
    for (field, expected) in [("w", false), ("b", false), ("a", false), ("d.e", true)] {
        assert_eq!(apart(TABLES[0], POLICIES[1], field), expected, "{field}");
    }
}
