//! A plan is amended or withdrawn in its session, and a gap is withdrawn and put again.

use demur_clarify::{keys::KeyHistory, status::PlanStatus};
use demur_core::limit::Text;
use demur_ledger::{
    content::AmendedContent, desk::DeskError, event_type::Content, facts::Assurance, question::Outcome,
};
use demur_plan::{Error, act, no_guess::NoGuess};
use demur_rules::Plan;
use serde_json::json;

use crate::{
    lifecycle::{open, with},
    office::{Office, Who},
};

/// CLR-34
#[test]
fn an_amended_plan_is_held_against_the_rules_and_its_gaps_keep_their_names() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    let asked = office.session().open_gaps().next().unwrap().id.clone();
    assert_eq!((asked.as_str(), open(&office)), ("gap-001", vec!["output_path".to_owned()]));
    // The amendment takes the reason away, then brings it back: it is the same gap.
    office.amend(&json!({"real_build": false})).unwrap();
    assert_eq!(office.session().standing(), PlanStatus::ReadyToProceed);
    office.amend(&json!({"real_build": true, "description": "a page"})).unwrap();
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    assert_eq!((gap.field.as_str(), session.gaps().count()), ("output_path", 1));
    office.answer(Who::Person, "gap-001", "dist");
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
    let origin = |field: &str| {
        let value = report.values.iter().find(|value| value.field == field).unwrap();
        value.origin.clone()
    };
    assert!(origin("description").starts_with("as amended in event "), "{report:?}");
    assert!(origin("output_path").starts_with("answered by"), "{report:?}");
    let record = office.session().audit().unwrap();
    record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
    assert!(record.all_resolved);
}

/// CLR-34
#[test]
fn an_answer_survives_an_amendment_and_can_still_be_taken_back() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    // The agent sends its own file again, which never had the answer.
    let session = office.session();
    let again = Plan::try_from(with(&json!({"real_build": true, "description": "another page"}))).unwrap();
    let act = session.amend(&again).unwrap().unwrap();
    let Content::PlanAmended(content) = &act.content else { panic!("no amendment") };
    assert_eq!(content.plan["output_path"], "dist", "what it says has the answer in it");
    office.perform(Who::Agent, act).unwrap();
    assert_eq!(office.session().plan().as_value()["output_path"], "dist");
    assert!(office.session().amend(&again).unwrap().is_none(), "the same again changes nothing");
    office.revoke(Who::Person, "gap-001").unwrap();
    let session = office.session();
    assert_eq!(session.plan().as_value().get("output_path"), None);
    assert_eq!(session.plan().as_value()["description"], "another page");
    assert_eq!(open(&office), ["output_path"]);
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
}

/// CLR-34
#[test]
fn what_a_person_answered_is_not_amended() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    let session = office.session();
    let other = with(&json!({"real_build": true, "output_path": "elsewhere"}));
    let refused = session.amend(&Plan::try_from(other.clone()).unwrap());
    assert!(matches!(&refused, Err(Error::FieldAnswered { gap, .. }) if gap == "gap-001"), "{refused:?}");
    // An agent that says so all the same is refused by the guards, also where it leaves the answer out.
    let mut honest = office.session().amend(&Plan::try_from(with(&json!({}))).unwrap()).unwrap().unwrap();
    for plan in [other, with(&json!({"real_build": true}))] {
        honest.content = Content::PlanAmended(AmendedContent { plan: plan.as_object().unwrap().clone() });
        let refused = office.perform(Who::Agent, honest.clone());
        assert_eq!(code(refused), "FIELD_ANSWERED");
    }
    assert_eq!(office.session().plan().as_value()["output_path"], "dist");
}

#[test]
fn a_list_that_was_answered_is_found_in_an_amended_plan() {
    let rules = "[settings]\nlists = [\"cities\"]\n[[required]]\nid = \"cities\"\nfield = \"cities\"\nquestion = \"Where to?\"\n";
    let mut office = Office::with_pack(rules, "", &json!({"goal": "a trip"}));
    office.answer(Who::Person, "gap-001", "Bern, Basel");
    assert_eq!(office.session().plan().as_value()["cities"], json!(["Bern", "Basel"]));
    office.amend(&json!({"goal": "a longer trip"})).unwrap();
    let session = office.session();
    let fewer = Plan::try_from(json!({"goal": "a trip", "cities": ["Bern"]})).unwrap();
    assert!(matches!(session.amend(&fewer), Err(Error::FieldAnswered { .. })));
}

/// CLR-34
#[test]
fn only_the_agent_amends_and_only_before_the_end() {
    let plan = with(&json!({"real_build": true}));
    let amended = |description: &str| with(&json!({"description": description}));
    let mut office = Office::with(&plan);
    let act = office.session().amend(&Plan::try_from(amended("x")).unwrap()).unwrap().unwrap();
    assert!(office.perform(Who::Answerer, act.clone()).is_err(), "another key");
    assert!(office.perform(Who::Person, act.clone()).is_err(), "a person");
    office.answer(Who::Person, "gap-001", "dist");
    office.confirm().unwrap();
    assert_eq!(code(office.perform(Who::Agent, act.clone())), "OUT_OF_PLAN");
    let mut office = Office::with(&plan);
    let act = office.session().amend(&Plan::try_from(amended("x")).unwrap()).unwrap().unwrap();
    withdraw(&mut office, Who::Agent);
    assert_eq!(code(office.perform(Who::Agent, act)), "OUT_OF_PLAN");
}

/// CLR-34
#[test]
fn with_a_plan_everything_that_was_asked_about_it_is_withdrawn() {
    for who in [Who::Agent, Who::Person] {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        let asked = office.session();
        let gap = asked.gap("gap-001").unwrap();
        let (answer, _) = asked.answer(gap, "dist", Assurance::Terminal, act::Voice::default()).unwrap();
        withdraw(&mut office, who);
        let session = office.session();
        assert_eq!(session.standing(), PlanStatus::Withdrawn);
        assert_eq!((session.open_gaps().count(), session.document().is_none()), (0, true));
        let record = session.audit().unwrap();
        assert!(!record.all_resolved, "nobody answered what was open");
        record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
        let report = NoGuess::check(office.events.clone()).unwrap();
        assert!(!report.holds() && report.problems.is_empty(), "{report:?}");
        assert_eq!(code(office.perform(Who::Person, answer)), "QUESTION_CLOSED");
        let build = "build".to_owned().try_into().unwrap();
        assert_eq!(code(office.perform(Who::Agent, act::begin(build, None, None).unwrap())), "OUT_OF_PLAN");
        assert_eq!(code(office.confirm()), "OUT_OF_PLAN");
        let again = office.session().withdraw(None, reason()).unwrap();
        assert_eq!(code(office.perform(Who::Agent, again)), "OUT_OF_PLAN");
    }
}

/// CLR-34
#[test]
fn a_gap_that_is_withdrawn_holds_the_plan_up_until_it_is_put_again() {
    for who in [Who::Agent, Who::Person] {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        let session = office.session();
        let gap = session.gap("gap-001").unwrap();
        let act = session.withdraw_gap(gap, None, reason()).unwrap().unwrap();
        office.perform(who, act).unwrap();
        let session = office.session();
        let gap = session.gap("gap-001").unwrap();
        assert!(matches!(session.gaps().next().unwrap().1, Some(Outcome::Declined)));
        assert!(session.withdraw_gap(gap, None, reason()).unwrap().is_none(), "once");
        assert_eq!(code(office.confirm()), "QUESTIONS_OPEN");
        let (answer, _) = session.answer(gap, "dist", Assurance::Terminal, act::Voice::default()).unwrap();
        assert_eq!(code(office.perform(Who::Person, answer)), "QUESTION_CLOSED");
        let again = session.put_again(gap, None, reason()).unwrap().unwrap();
        office.perform(Who::Agent, again).unwrap();
        assert!(office.session().put_again(gap, None, reason()).unwrap().is_none(), "it is open");
        office.answer(Who::Person, "gap-001", "dist");
        let session = office.session();
        let settled = session.put_again(session.gap("gap-001").unwrap(), None, reason());
        assert!(matches!(settled, Err(Error::Settled { .. })), "{settled:?}");
        office.confirm().unwrap();
        let report = NoGuess::check(office.events.clone()).unwrap();
        assert!(report.holds(), "{report:?}");
    }
}

fn withdraw(office: &mut Office, who: Who) {
    let act = office.session().withdraw(None, reason()).unwrap();
    office.perform(who, act).unwrap();
}

fn reason() -> Text<1, 4096> {
    Text::try_from("no longer needed").unwrap()
}

fn code<T>(refused: Result<T, DeskError>) -> &'static str {
    match refused {
        Err(DeskError::Guard(error)) => error.code(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("expected a refusal"),
    }
}

/// Rules that ask for cities, then what for; one answer makes them ask about an entry of the other.
const CITIES: &str = "[settings]\nlists = [\"cities\"]\n\
    [[required]]\nid = \"cities\"\nfield = \"cities\"\nquestion = \"Where to?\"\n\
    [[required]]\nid = \"goal\"\nfield = \"goal\"\nquestion = \"What for?\"\n";
const WHICH: &str = "@id(\"which\")\n@severity(\"BLOCK\")\n@field(\"cities.0\")\n@question(\"Which Bern?\")\n\
    @kinds(\"text\")\n\
    forbid (principal, action, resource) when { context.goal == \"far\" && context.cities.contains(\"Bern\") };\n";

/// CLR-34: an answer that a later one replaced in part holds up no amendment, and what both made is not the agent's to change.
#[test]
fn an_answer_that_a_later_one_replaced_below_it_stays_as_both_made_it() {
    let mut office = Office::with_pack(CITIES, WHICH, &json!({"size": 1}));
    office.answer(Who::Person, "gap-001", "Bern, Basel");
    office.answer(Who::Person, "gap-002", "far");
    assert_eq!(open(&office), ["cities.0"]);
    office.answer(Who::Person, "gap-003", "Bern (CH)");
    office.amend(&json!({"size": 2})).unwrap();
    let session = office.session();
    assert_eq!(session.plan().as_value()["cities"], json!(["Bern (CH)", "Basel"]));
    assert_eq!(session.plan().as_value()["size"], 2);
    for cities in [json!(["Bern (CH)", "Rome"]), json!(["Rome", "Basel"]), json!(["Bern (CH)"])] {
        let other = json!({"size": 2, "goal": "far", "cities": cities});
        let refused = session.amend(&Plan::try_from(other.clone()).unwrap());
        assert!(matches!(refused, Err(Error::FieldAnswered { .. })), "{cities}: {refused:?}");
        let same = Plan::try_from(json!({"size": 3})).unwrap();
        let mut lying = session.amend(&same).unwrap().unwrap();
        lying.content = Content::PlanAmended(AmendedContent { plan: other.as_object().unwrap().clone() });
        assert_eq!(code(office.perform(Who::Agent, lying)), "FIELD_ANSWERED", "{cities}");
    }
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
}

/// CLR-04: the newest plan submitted again is the same submission, with the answers in it or without.
#[test]
fn an_amended_plan_is_known_when_it_is_submitted_again() {
    let submitted = json!({"size": 1});
    let mut office = Office::with_pack(CITIES, "", &submitted);
    office.answer(Who::Person, "gap-001", "Bern");
    let whole = json!({"size": 2, "cities": ["Bern"]});
    let is_known = |office: &Office, plan: &serde_json::Value| {
        let (session, plan) = (office.session(), Plan::try_from(plan.clone()).unwrap());
        let rules = office.rules();
        session.is_submission_of(&plan, &rules, session.work().agent().unwrap())
    };
    assert!(is_known(&office, &submitted));
    assert!(!is_known(&office, &json!({"size": 2})), "not amended yet");
    office.amend(&json!({"size": 2})).unwrap();
    for plan in [json!({"size": 2}), whole, submitted] {
        assert!(is_known(&office, &plan), "{plan}");
    }
    for plan in [json!({"size": 3}), json!({"size": 2, "cities": ["Rome"]}), json!({"size": 2, "more": 1})] {
        assert!(!is_known(&office, &plan), "{plan}");
    }
}
