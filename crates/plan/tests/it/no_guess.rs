//! The proof that nothing was guessed: it holds for an honest trace and names what was done to any other.

use demur_ledger::{content::ConfirmationContent, event_type::Content, name::Sequence};
use demur_plan::{
    act::{Act, Voice},
    no_guess::NoGuess,
};
use serde_json::json;

use crate::{
    lifecycle::with,
    office::{Office, Who, assurance},
};

/// CLR-52 ONE-08
#[test]
fn an_honest_session_holds_and_tells_where_every_value_came_from() {
    let mut office = Office::with(&with(&json!({"real_build": true, "standards_selected": ["gdpr"]})));
    office.answer(Who::Person, "gap-002", "dist");
    office.accept("gap-001");
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
    let origin =
        |field: &str| report.values.iter().find(|value| value.field == field).unwrap().origin.as_str();
    assert_eq!(origin("output_path"), "answered by a person: the desk's word");
    assert_eq!(
        (report.packs.as_slice(), report.rules),
        (&["default 1".to_owned()][..], office.session().rules_hash())
    );
    assert_eq!(origin("description"), "as submitted: the agent's word");
    let outcomes: Vec<_> = report.gaps.iter().map(|gap| (gap.id.as_str(), gap.outcome)).collect();
    assert_eq!(outcomes, [("gap-001", "accepted"), ("gap-002", "answered")]);
}

#[test]
fn a_session_that_was_not_confirmed_does_not_hold() {
    let office = Office::with(&with(&json!({})));
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.problems.is_empty() && !report.holds(), "{report:?}");
}

/// CLR-52
#[test]
fn a_gap_that_the_desk_keeps_to_itself_is_named() {
    let plan = with(&json!({"real_build": true}));
    let mut office = Office::quiet(&plan, |sayings| sayings.truncate(1));
    office.confirm().unwrap();
    assert_eq!(codes(&office), ["GAP_NOT_ASKED", "PAPER_DIFFERS", "CONFIRMED_WITH_GAP"]);
}

#[test]
fn a_gap_in_other_words_than_the_rules_have_is_named() {
    let plan = with(&json!({"real_build": true}));
    let mut office = Office::quiet(&plan, |sayings| {
        let Some(Content::GapFound(content)) = &mut sayings[1].content else { panic!("no gap") };
        content.wording.normal = "Shall I go on?".try_into().unwrap();
    });
    office.answer(Who::Person, "gap-001", "dist");
    office.confirm().unwrap();
    assert_eq!(codes(&office), ["GAP_DIFFERS"]);
}

#[test]
fn a_gap_that_the_rules_do_not_find_is_named() {
    let asked = with(&json!({"real_build": true}));
    let other = Office::with(&asked);
    let gap = other.events[2].clone();
    let mut office = Office::with(&with(&json!({})));
    office.desk_says(gap);
    assert_eq!(codes(&office)[0], "GAP_UNFOUNDED");
}

/// CLR-24: what the desk did not sign when it happened is missing for good.
#[test]
fn a_paper_that_the_desk_did_not_sign_is_named() {
    for (gone, codes_found) in [(1, &["PAPER_MISSING"][..]), (0, &["PAPER_MISSING"])] {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        let session = office.session();
        let gap = session.gap("gap-001").unwrap();
        let (act, _) = session.answer(gap, "dist", assurance(Who::Person), Voice::default()).unwrap();
        let mut act = office.signed(Who::Person, act);
        act.consequences.sayings.remove(gone);
        office.record(Who::Person, act).unwrap();
        assert_eq!(codes(&office), codes_found, "without paper {gone}");
    }
}

/// CLR-45: a round that calls an answer settled which the rules did not take.
#[test]
fn a_round_that_says_more_than_the_rules_is_named() {
    let mut office = Office::with(&json!({"description": "a status page", "operation": "add"}));
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    let (act, _) = session.answer(gap, "the usual one", assurance(Who::Person), Voice::default()).unwrap();
    let mut act = office.signed(Who::Person, act);
    let paper = act.consequences.sayings.iter_mut().find_map(|saying| match &mut saying.content {
        Some(Content::PaperRecorded(content)) if content.paper.contains_key("round") => Some(content),
        _ => None,
    });
    paper.unwrap().paper["round"]["resolved"] = json!(true);
    office.record(Who::Person, act).unwrap();
    assert_eq!(codes(&office), ["PAPER_DIFFERS"]);
}

#[test]
fn a_confirmed_plan_with_other_values_or_sources_is_named() {
    for (change, code) in [
        (other_value as fn(&mut ConfirmationContent), &["PLAN_DIFFERS", "VALUE_DIFFERS"][..]),
        (other_source, &["PROVENANCE_DIFFERS"]),
        (wrong_source, &["PROVENANCE_DIFFERS", "VALUE_DIFFERS"]),
    ] {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        office.answer(Who::Person, "gap-001", "dist");
        let mut act: Act = office.session().confirm().unwrap();
        let Content::PlanConfirmed(content) = &mut act.content else { panic!("no confirmation") };
        change(content);
        office.perform(Who::Agent, act).unwrap();
        assert_eq!(codes(&office), code);
    }
}

fn other_value(content: &mut ConfirmationContent) {
    content.plan.insert("output_path".to_owned(), json!("/"));
}

fn other_source(content: &mut ConfirmationContent) {
    let mut sources = content.provenance.to_vec();
    sources.pop();
    content.provenance = sources.try_into().unwrap();
}

/// The answered value is said to come from the plan as it was submitted.
fn wrong_source(content: &mut ConfirmationContent) {
    let mut sources = content.provenance.to_vec();
    for one in sources.iter_mut().filter(|one| one.field.as_str() == "output_path") {
        one.source = Sequence::FIRST;
        one.pointer = "/plan/description".try_into().unwrap();
    }
    content.provenance = sources.try_into().unwrap();
}

fn codes(office: &Office) -> Vec<&'static str> {
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(!report.holds());
    report.problems.iter().map(|problem| problem.code).collect()
}

/// ONE-12: ten times the answers take at most twelve times the work, counted and not timed; beyond its budget nothing is said.
#[test]
fn work_grows_with_the_answers_and_has_an_end() {
    let effort = |answers: usize| {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        office.answer(Who::Person, "gap-001", "dist");
        for number in 1..answers {
            let judged = office.replace(Who::Person, "gap-001", &format!("dist-{number}")).unwrap();
            assert!(matches!(judged, demur_plan::act::Judged::Resolved));
        }
        office.confirm().unwrap();
        (NoGuess::counted(office.events.clone(), u64::MAX, None).unwrap().1, office.events)
    };
    let ((few, _), (many, events)) = (effort(5), effort(50));
    assert!(many <= 12 * few, "{few} for 5 answers, {many} for 50");
    let error = NoGuess::counted(events, many / 2, None).unwrap_err();
    assert!(error.to_string().contains("asked so often"), "{error}");
}

/// ONE-12: an emptied pack under the name of the built-in one is told.
#[test]
fn rules_that_are_not_those_they_are_called_after_are_named() {
    let mut document: serde_json::Value =
        serde_json::from_slice(demur_rules::Rules::builtin().unwrap().document()).unwrap();
    assert_eq!(demur_rules::Rules::builtin().unwrap().differences().unwrap(), Vec::<String>::new());
    document["required"] = json!({});
    let bytes = demur_core::canonical::to_vec(&document).unwrap();
    let emptied = demur_rules::Rules::from_document(&bytes).unwrap();
    let told = emptied.differences().unwrap();
    assert!(matches!(&told[..], [one] if one.contains("was changed")), "{told:?}");
    for (_, entry) in document["standards"].as_object_mut().unwrap() {
        entry["pack"] = "elsewhere".into();
    }
    let bytes = demur_core::canonical::to_vec(&document).unwrap();
    let told = demur_rules::Rules::from_document(&bytes).unwrap().differences().unwrap();
    assert!(told.iter().any(|one| one.contains("do not name")), "{told:?}");
}
