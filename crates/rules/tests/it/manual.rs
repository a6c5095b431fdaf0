//! The examples of `docs/rules.md` do what it says.

use demur_rules::{Assurance, Judgement, Pack, Plan, Rules, Settled, builtin};

const MANUAL: &str = include_str!("../../../../docs/rules.md");

/// Returns the blocks of code in this language, in their order.
fn blocks(language: &str) -> Vec<&'static str> {
    let open = format!("```{language}\n");
    MANUAL.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// CLR-16
#[test]
fn the_pack_of_the_manual_finds_what_the_manual_says() {
    let pack = Pack::read([("pack.toml", blocks("toml")[0]), ("kitchen.cedar", blocks("cedar")[0])]).unwrap();
    let rules = Rules::layer(&[pack]).unwrap();
    let plan = Plan::read(blocks("json")[0].as_bytes()).unwrap();
    let settled = Settled::default();
    let found = rules.detect(&plan, &settled).unwrap();
    let fields: Vec<&str> = found.iter().map(|finding| finding.field.as_str()).collect();
    assert_eq!(fields, ["menu", "room"]);
    let fewer = plan.with_value(&"guests".parse().unwrap(), 12.into()).unwrap();
    assert_eq!(rules.detect(&fewer, &settled).unwrap().len(), 1);
    let Judgement::Settles { new, .. } = rules.judge(&plan, &settled, &found[1], "cellar").unwrap() else {
        panic!("a room settles the question about the room")
    };
    assert_eq!(
        new[0].question,
        "25 guests come, but cellar has no kitchen for more than 20. How many guests come?"
    );
    assert_eq!(new[0].assurance, Assurance::Agent);
}

/// CLR-16: the files that the manual's commands use are the ones it shows.
#[test]
fn the_example_is_what_the_manual_shows() {
    assert_eq!(blocks("toml")[0], include_str!("../../../../examples/rules/party/pack.toml"));
    assert_eq!(blocks("cedar")[0], include_str!("../../../../examples/rules/party/kitchen.cedar"));
    assert_eq!(blocks("json")[0], include_str!("../../../../examples/rules/party/plan.json"));
}

/// CLR-16: laid over the built-in pack, the same plan has the five gaps that the manual names.
#[test]
fn the_pack_of_the_manual_over_the_builtin_one_finds_five_gaps() {
    let pack = Pack::read([("pack.toml", blocks("toml")[0]), ("kitchen.cedar", blocks("cedar")[0])]).unwrap();
    let rules = Rules::layer(&[builtin::pack().unwrap(), pack]).unwrap();
    let found =
        rules.detect(&Plan::read(blocks("json")[0].as_bytes()).unwrap(), &Settled::default()).unwrap();
    let mut fields: Vec<&str> = found.iter().map(|finding| finding.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["component_type", "description", "menu", "operation", "room"]);
}

/// CLR-16
#[test]
fn the_layer_of_the_manual_can_be_laid_over_the_builtin_pack() {
    let layer = Pack::read([("pack.toml", blocks("toml")[2])]).unwrap();
    let rules = Rules::layer(&[builtin::pack().unwrap(), layer]).unwrap();
    let plan = Plan::read(
        br#"{"description": "d", "component_type": "x", "operation": "add", "real_build": true, "standards_selected": ["acme 1"]}"#,
    );
    assert_eq!(rules.detect(&plan.unwrap(), &Settled::default()).unwrap(), []);
}
