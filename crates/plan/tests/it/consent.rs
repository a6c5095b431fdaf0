//! Consent holds for the values it was given for, and a stated assurance for where a value came from.

use demur_clarify::keys::KeyHistory;
use demur_ledger::{content::AmendedContent, event_type::Content, facts::Assurance};
use demur_plan::{
    Error,
    act::{Act, Voice},
    no_guess::NoGuess,
};
use demur_rules::Plan;
use serde_json::{Value, json};

use crate::{
    lifecycle::open,
    office::{Office, Who},
};

/// Every transfer of more than nothing is put before somebody, who may let it pass.
const WARNS: &str = "
@id(\"transfer\")
@field(\"checked\")
@severity(\"WARN\")
@question(\"{context.amount} to {context.to}. Is that right?\")
@kinds(\"yes_no\")
forbid (principal, action, resource)
when { context.amount > 0 && context.to != \"\" } unless { context has checked && context.checked };
";
/// The same, and it must be answered; the words do not show whom it goes to.
const BLOCKS: &str = "
@id(\"transfer\")
@field(\"approved\")
@question(\"{context.amount} go out. Go ahead?\")
@kinds(\"yes_no\")
forbid (principal, action, resource)
when { context.amount > 0 && context.to != \"ourselves\" } unless { context has approved && context.approved };
";
/// The same, and only somebody at a terminal approves.
const STATED: &str = "
@id(\"transfer\")
@field(\"approved\")
@question(\"{context.amount} go out. Go ahead?\")
@kinds(\"yes_no\")
@assurance(\"terminal\")
forbid (principal, action, resource)
when { context.amount > 0 } unless { context has approved && context.approved };
";

fn plan() -> Value {
    json!({"amount": 10, "to": "mallory", "note": "as agreed"})
}

/// Returns whether the agent may not set a field to this, because of what somebody answered.
fn refuses(office: &Office, field: &str, value: Value) -> bool {
    let session = office.session();
    let mut plan = session.plan().as_value().clone();
    plan[field] = value;
    matches!(session.amend(&Plan::try_from(plan).unwrap()), Err(Error::FieldAnswered { .. }))
}

fn report(office: &Office) -> NoGuess {
    NoGuess::check(office.events.clone()).unwrap()
}

fn codes(office: &Office) -> Vec<&'static str> {
    report(office).problems.iter().map(|problem| problem.code).collect()
}

/// CLR-54
#[test]
fn an_acceptance_of_ten_does_not_count_for_a_million() {
    let mut office = Office::with_pack("", WARNS, &plan());
    office.accept("gap-001");
    assert!(open(&office).is_empty());
    // Another field than those that the rule names: it holds.
    office.amend(&json!({"note": "as agreed, twice"})).unwrap();
    assert!(open(&office).is_empty());
    office.amend(&json!({"amount": 1_000_000})).unwrap();
    assert_eq!(open(&office), ["checked"], "it is asked again");
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    assert!(gap.content.wording.normal.contains("1000000 to mallory"), "{:?}", gap.content.wording);
    assert!(office.confirm().is_err());
    office.accept("gap-001");
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));
    let record = office.session().audit().unwrap();
    record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
    assert_eq!(record.total_rounds.as_u64(), 2);
}

/// CLR-54
#[test]
fn a_yes_lapses_with_a_value_that_its_rule_names_and_leaves_the_plan() {
    let mut office = Office::with_pack("", BLOCKS, &plan());
    office.answer(Who::Person, "gap-001", "yes");
    assert_eq!(office.session().plan().as_value()["approved"], true);
    office.amend(&json!({"note": "another"})).unwrap();
    assert!(open(&office).is_empty(), "no rule names the note");
    // Whom it goes to stands in the condition, not in the words.
    office.amend(&json!({"to": "eve"})).unwrap();
    assert_eq!(open(&office), ["approved"]);
    assert_eq!(office.session().plan().as_value().get("approved"), None, "nobody approved this");
    office.answer(Who::Person, "gap-001", "yes");
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));
}

/// CLR-54
#[test]
fn a_value_that_was_filled_in_is_no_consent_and_stays() {
    let rules = "[[required]]\nid = \"to\"\nfield = \"to\"\nquestion = \"To whom?\"\n";
    let mut office = Office::with_pack(rules, "", &json!({"amount": 10}));
    office.answer(Who::Person, "gap-001", "mallory");
    office.amend(&json!({"amount": 1_000_000})).unwrap();
    assert!(open(&office).is_empty());
    assert_eq!(office.session().plan().as_value()["to"], "mallory");
}

/// CLR-54
#[test]
fn an_open_question_is_put_again_when_it_is_about_other_values() {
    let mut office = Office::with_pack("", BLOCKS, &plan());
    let before = office.session().gap("gap-001").unwrap().question;
    let act = |office: &Office| {
        let session = office.session();
        let gap = session.gap("gap-001").unwrap();
        session.answer(gap, "yes", Assurance::Terminal, Voice::default()).unwrap().0
    };
    let early = act(&office);
    office.amend(&json!({"to": "eve"})).unwrap();
    assert_ne!(office.session().gap("gap-001").unwrap().question, before);
    assert!(office.perform(Who::Person, early).is_err(), "an answer to the question before");
    let now = act(&office);
    office.perform(Who::Person, now).unwrap();
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));
}

/// CLR-34 CLR-54: a no that settles nothing is still the last word, until somebody says something else.
#[test]
fn an_agent_does_not_write_its_own_yes_over_a_no() {
    let mut office = Office::with_pack("", BLOCKS, &plan());
    office.answer(Who::Person, "gap-001", "no");
    assert_eq!(open(&office), ["approved"], "it is put again");
    assert!(refuses(&office, "approved", json!(true)));
    assert!(!refuses(&office, "note", json!("another")));
    // Nor by a detour on which the rule asks nothing.
    office.amend(&json!({"to": "ourselves"})).unwrap();
    assert!(open(&office).is_empty());
    assert!(refuses(&office, "approved", json!(true)));
    office.amend(&json!({"to": "mallory", "amount": 5})).unwrap();
    assert_eq!(open(&office), ["approved"]);
    // The guards hold it too.
    let session = office.session();
    let mut changed = session.plan().as_value().clone();
    changed["note"] = json!("another");
    let mut act = session.amend(&Plan::try_from(changed.clone()).unwrap()).unwrap().unwrap();
    changed["approved"] = json!(true);
    act.content = Content::PlanAmended(AmendedContent { plan: changed.as_object().unwrap().clone() });
    let refused = office.perform(Who::Agent, act);
    assert!(format!("{refused:?}").contains("FieldAnswered"), "{refused:?}");
    let mut office = Office::with_pack("", BLOCKS, &plan());
    office.answer(Who::Person, "gap-001", "no");
    office.answer(Who::Person, "gap-001", "yes");
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));
}

/// CLR-54: nor is a yes to other values the agent's to repeat.
#[test]
fn an_agent_does_not_repeat_a_yes_that_lapsed() {
    let mut office = Office::with_pack("", BLOCKS, &plan());
    office.answer(Who::Person, "gap-001", "yes");
    office.amend(&json!({"amount": 1_000_000})).unwrap();
    assert_eq!(open(&office), ["approved"]);
    assert!(refuses(&office, "approved", json!(true)));
    office.amend(&json!({"note": "another"})).unwrap();
    assert_eq!(open(&office), ["approved"]);
}

/// CLR-54: a desk that does not ask again is found out.
#[test]
fn a_consent_that_moved_is_named() {
    for (pack, settle) in [(WARNS, "accept"), (BLOCKS, "answer")] {
        let mut office = Office::with_pack("", pack, &plan());
        if settle == "accept" {
            office.accept("gap-001");
        } else {
            office.answer(Who::Person, "gap-001", "yes");
        }
        let session = office.session();
        let mut changed = session.plan().as_value().clone();
        changed["amount"] = json!(1_000_000);
        let mut act = session.amend(&Plan::try_from(changed.clone()).unwrap()).unwrap().unwrap();
        act.consequences.sayings.clear();
        office.perform(Who::Agent, act).unwrap();
        let mut confirmed = confirming(&office);
        let Content::PlanConfirmed(content) = &mut confirmed.content else { panic!("no confirmation") };
        content.plan = changed.as_object().unwrap().clone();
        office.record(Who::Agent, confirmed).unwrap();
        let codes = codes(&office);
        assert!(codes.contains(&"CONSENT_MOVED") && codes.contains(&"GAP_NOT_ASKED"), "{settle}: {codes:?}");
    }
}

/// CLR-54
#[test]
fn what_the_agent_writes_itself_does_not_satisfy_a_stated_assurance() {
    let mut own = plan();
    own["approved"] = json!(true);
    let mut office = Office::with_pack("", STATED, &own);
    assert_eq!(open(&office), ["approved"], "the agent's own word counts as not given");
    office.answer(Who::Person, "gap-001", "yes");
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));
    // Without a stated assurance the agent's word is as good as any.
    assert!(open(&Office::with_pack("", &STATED.replace("@assurance(\"terminal\")", ""), &own)).is_empty());
}

/// CLR-54
#[test]
fn a_plan_confirmed_below_a_stated_assurance_is_named() {
    let mut own = plan();
    own["approved"] = json!(true);
    let pack = ("[pack]\nname = \"own\"\nversion = \"1\"\n", STATED);
    let mut office = Office::lying(pack, &own, |sayings| {
        sayings.retain(|saying| saying.facts.event_type().unwrap().as_str() == "rules_recorded");
    });
    let confirmed = confirming(&office);
    office.record(Who::Agent, confirmed).unwrap();
    let codes = codes(&office);
    assert!(codes.contains(&"ASSURANCE_BELOW"), "{codes:?}");
}

/// CLR-54: a row about vague values that states an assurance takes no clear value of a lesser source either.
#[test]
fn a_row_about_vague_values_holds_to_the_assurance_it_states() {
    const VAGUE: &str = "[[ambiguous]]\nid = \"vague\"\nphrases = [\"the usual one\"]\nfields = [\"region\"]\n\
                         question = \"Which region?\"\n";
    let sure = format!("{VAGUE}assurance = \"terminal\"\n");
    let long = "a region whose name is longer than any phrase ".repeat(20);
    for (rules, value, asks) in [
        (VAGUE, "eu-1", false),
        (VAGUE, "the usual one", true),
        (sure.as_str(), "eu-1", true),
        (sure.as_str(), long.as_str(), true),
        (sure.as_str(), "the usual one", true),
    ] {
        let office = Office::with_pack(rules, "", &json!({"region": value}));
        assert_eq!(!open(&office).is_empty(), asks, "{value} under {rules}");
    }
    let mut office = Office::with_pack(&sure, "", &json!({"region": "the usual one", "size": 1}));
    office.amend(&json!({"region": "eu-1"})).unwrap();
    assert_eq!(open(&office), ["region"], "its agent does not settle it by writing another value");
    office.answer(Who::Person, "gap-001", "eu-1");
    office.confirm().unwrap();
    assert!(report(&office).holds(), "{:?}", report(&office));

    let toml = format!("[pack]\nname = \"own\"\nversion = \"1\"\n{sure}");
    let mut office = Office::lying((&toml, ""), &json!({"region": "eu-1"}), |sayings| {
        sayings.retain(|saying| saying.facts.event_type().unwrap().as_str() == "rules_recorded");
    });
    let confirmed = confirming(&office);
    office.record(Who::Agent, confirmed).unwrap();
    let codes = codes(&office);
    assert!(codes.contains(&"ASSURANCE_BELOW"), "{codes:?}");
}

/// Returns the confirmation of a plan as it is, whatever the rules say.
fn confirming(office: &Office) -> Act {
    let act = office.session().confirm().unwrap();
    Act { papers: None, ..act }
}
