//! What the rules ask changes with every answer: questions are put again, withdrawn or added, and nobody answers around a
//! rule that demands more.

use demur_ledger::{event_type::Facts, facts::Assurance, question::Outcome};
use demur_plan::{
    Error, Gap, Session,
    act::{self, Act, Judged, Voice},
    no_guess::NoGuess,
};
use demur_rules::{Plan, Rules};
use serde_json::{Value, json};

use crate::{
    lifecycle::with,
    office::{Office, Who, uuid},
};

/// ONE-07: the strict rule comes to apply only after another answer, at a field that a mild one already asks about.
#[test]
fn a_question_that_a_rule_makes_stricter_is_put_again_with_its_demands() {
    let mut office = Office::with_pack(LATE, STRICT, &json!({}));
    assert_eq!(open(&office), ["budget", "mode"]);
    let mode = id(&office, "mode");
    office.answer(Who::Answerer, &mode, "prod");
    let (session, budget) = (office.session(), id(&office, "budget"));
    let gap = session.gap(&budget).unwrap();
    let asked = session.work().questions().find(gap.question.sequence).unwrap().facts();
    assert_eq!(asked.assurance, Assurance::Terminal);
    assert_eq!(asked.blocks.iter().map(ToString::to_string).collect::<Vec<_>>(), ["pay"]);
    let (act, _) = session.answer(gap, "99", Assurance::Agent, Voice::default()).unwrap();
    assert!(office.perform(Who::Answerer, act).is_err(), "a key is not enough any more");
    office.answer(Who::Person, &budget, "99");
    finish(&mut office);
}

/// ONE-07: two rules ask about one field, and one of them demands a person.
#[test]
fn nobody_answers_around_a_gap_at_the_same_field_that_demands_more() {
    let mut office = Office::with_pack(VAGUE, PERSON, &json!({"env": "the usual"}));
    assert_eq!(open(&office), ["env", "env"]);
    let session = office.session();
    let mild = session.open_gaps().find(|gap| least(&session, gap) == Assurance::Agent).unwrap();
    let refused = session.answer(mild, "prod", Assurance::Agent, Voice::default()).unwrap_err();
    assert!(matches!(refused, Error::Stricter { least: "same user", .. }), "{refused}");
    let mild = mild.id.to_string();
    office.answer(Who::Person, &mild, "prod");
    assert!(open(&office).is_empty(), "the other was withdrawn");
    let session = office.session();
    let outcomes: Vec<_> = session.gaps().map(|(_, outcome)| outcome.map(Outcome::as_str)).collect();
    assert!(outcomes.contains(&Some("withdrawn")), "{outcomes:?}");
    finish(&mut office);
}

/// CLR-52: a desk that lets it through is found out.
#[test]
fn an_answer_around_a_stricter_gap_is_named() {
    let mut office = Office::with_pack(VAGUE, PERSON, &json!({"env": "the usual"}));
    let session = office.session();
    let mild = session.open_gaps().find(|gap| least(&session, gap) == Assurance::Agent).unwrap();
    let (act, _) = session.answer(mild, "prod", Assurance::Terminal, Voice::default()).unwrap();
    let Facts::QuestionAnswered(mut facts) = act.facts else { panic!("no answer") };
    facts.assurance = Assurance::Agent;
    office.perform(Who::Answerer, Act { facts: facts.into(), ..act }).unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.problems.iter().any(|problem| problem.code == "ANSWERED_BELOW"), "{report:?}");
}

/// The built-in pack: a vague jurisdiction is also a conflict; one answer settles both.
#[test]
fn a_gap_that_another_answer_settles_is_withdrawn_and_the_session_can_be_finished() {
    let plan = with(&json!({
        "compliance": {"jurisdiction": "as before"},
        "standards_selected": ["jsp-440"], "deployment_target": "uswds",
    }));
    let mut office = Office::with(&plan);
    assert_eq!(open(&office), ["compliance.jurisdiction", "compliance.jurisdiction"]);
    let first = office.session().open_gaps().next().unwrap().id.to_string();
    office.answer(Who::Person, &first, "jsp-440-only");
    assert!(open(&office).is_empty(), "{:?}", open(&office));
    finish(&mut office);
}

#[test]
fn choices_of_an_open_question_follow_the_plan() {
    let plan = json!({"std": ["s1"], "target": ["the usual", "t2"]});
    let mut office = Office::with_pack(TARGETS, "", &plan);
    let choices = |office: &Office| -> Vec<String> {
        let session = office.session();
        let gap = session.gap(&id(office, "j")).unwrap();
        gap.content.choices.iter().map(|choice| choice.value.to_string()).collect()
    };
    let (before, vague) = (choices(&office), id(&office, "target.0"));
    office.answer(Who::Answerer, &vague, "t1");
    assert_ne!(choices(&office), before, "the question was put again");
    let (chosen, conflict) = (choices(&office)[0].clone(), id(&office, "j"));
    assert!(matches!(office.answer(Who::Answerer, &conflict, &chosen), Judged::Resolved));
}

/// ONE-08
#[test]
fn an_answered_entry_of_a_list_has_its_answer_as_source() {
    let mut office = Office::with(&with(&json!({"standards_selected": ["the standard one", "jsp-440"]})));
    let (vague, given) = (id(&office, "standards_selected.0"), office.events.len() as u64);
    office.answer(Who::Person, &vague, "wcag-2-2-aa");
    finish(&mut office);
    let report = NoGuess::check(office.events.clone()).unwrap();
    let source =
        |field: &str| report.values.iter().find(|value| value.field == field).unwrap().source.number();
    assert_eq!((source("standards_selected.0"), source("standards_selected.1")), (given, 0));
}

/// CLR-04
#[test]
fn the_same_answer_again_is_known_and_another_is_not() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    let session = office.session();
    assert!(session.repeats_answer("gap-001", Some("dist"), None).unwrap());
    assert!(!session.repeats_answer("gap-001", Some("out"), None).unwrap());
    let other = session.work().agent();
    assert!(!session.repeats_answer("gap-001", Some("dist"), other).unwrap(), "somebody else");
}

#[test]
fn an_answer_longer_than_the_record_can_hold_is_refused() {
    let office = Office::with(&with(&json!({"real_build": true})));
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    let answer =
        |length: usize| session.answer(gap, &"x".repeat(length), Assurance::Terminal, Voice::default());
    answer(4000).unwrap();
    assert!(matches!(answer(4001), Err(Error::Limit { field: "answer", .. })));
}

#[test]
fn plans_that_could_never_be_confirmed_or_attested_are_refused_at_once() {
    let rules = Rules::builtin().unwrap();
    let submit = |plan: &Value| {
        let plan = Plan::read(plan.to_string().as_bytes()).unwrap();
        act::submit(uuid(), &"builder-01".parse().unwrap(), &plan, &rules).map(|_| ())
    };
    for reserved in ["clarification_rounds", "clarification_chain_ref", "input_hash"] {
        let refused = submit(&with(&json!({reserved: 7}))).unwrap_err();
        assert!(matches!(refused, Error::Reserved { .. }), "{refused}");
    }
    let many: Vec<u32> = (0..1000).collect();
    let refused = submit(&with(&json!({"numbers": many, "others": many[..100]}))).unwrap_err();
    assert!(matches!(refused, Error::TooManyValues { most: 1024, .. }), "{refused}");
    submit(&with(&json!({"numbers": many}))).unwrap();
}

fn finish(office: &mut Office) {
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
}

fn open(office: &Office) -> Vec<String> {
    let mut open: Vec<_> = office.session().open_gaps().map(|gap| gap.field.to_string()).collect();
    open.sort();
    open
}

/// Returns the name of the open gap at a field.
fn id(office: &Office, field: &str) -> String {
    let session = office.session();
    let gap = session.open_gaps().find(|gap| gap.field.as_str() == field).cloned();
    gap.unwrap_or_else(|| panic!("no gap at {field}")).id.to_string()
}

fn least(session: &Session, gap: &Gap) -> Assurance {
    session.work().questions().find(gap.question.sequence).unwrap().facts().assurance
}

const LATE: &str = r#"
[settings]
blocks = ["deploy"]
[[required]]
id = "mode"
field = "mode"
question = "mode is not given. Which mode?"
kinds = ["text"]
[[required]]
id = "budget-mild"
field = "budget"
question = "budget is not given. How much?"
severity = "WARN"
kinds = ["number"]
"#;

const STRICT: &str = r#"
@id("budget-strict")
@field("budget")
@question("In production a person says the budget; it is {value}. How much?")
@blocks("pay")
@assurance("terminal")
@kinds("number")
forbid (principal, action, resource)
when { context has mode && context.mode == "prod" && context.budget > 1000 };
"#;

const VAGUE: &str = r#"
[settings]
blocks = ["deploy"]
[[ambiguous]]
id = "vague"
phrases = ["the usual"]
fields = ["**"]
question = "{field} is {value}. What is meant?"
"#;

const PERSON: &str = r#"
@id("who")
@field("env")
@question("Only staging or prod, and a person says which; env is {value}.")
@assurance("terminal")
@kinds("text")
forbid (principal, action, resource)
when { !(["staging", "prod"].contains(context.env)) };
"#;

const TARGETS: &str = r#"
[settings]
standards = ["std"]
targets = ["target"]
blocks = ["build"]
[[standard]]
id = "s1"
name = "S1"
[[target]]
id = "t1"
name = "T1"
[[target]]
id = "t2"
name = "T2"
[[conflict]]
id = "c"
standards = ["s1"]
targets = ["t1", "t2"]
field = "j"
question = "{standard_id} with {target_id}?"
resolutions = ["{standard_id}-only", "{target_id}-only"]
[[ambiguous]]
id = "v"
phrases = ["the usual"]
fields = ["**"]
question = "{field} is {value}. What is meant?"
"#;
