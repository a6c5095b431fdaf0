//! The proof that nothing was guessed: it holds for an honest trace and names what was done to any other.

use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::{AnswerValue, ConfirmationContent, DefaultContent, QuestionContent, RefusalContent},
    event_type::{Content, Facts},
    facts::{Assurance, Attribution, CommandRefused, Door, Question, QuestionAsked, QuestionDefaulted, Root},
    name::Sequence,
    role::Role,
};
use demur_plan::{
    act::{Act, Voice},
    no_guess::{NoGuess, Problem, SettledBy},
};
use serde_json::{Map, Value, json};

use crate::{
    lifecycle::{attest, with},
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
    assert_eq!(
        origin("output_path"),
        "answered by a person: same user, recorded by demur; perhaps the asker"
    );
    assert_eq!(
        (report.packs.as_slice(), report.rules),
        (&["default 1".to_owned()][..], office.session().rules_hash())
    );
    assert_eq!(origin("description"), "as submitted: the agent's word");
    let outcomes: Vec<_> = report.gaps.iter().map(|gap| (gap.id.as_str(), gap.outcome)).collect();
    assert_eq!(outcomes, [("gap-001", "accepted"), ("gap-002", "answered")]);
}

/// CLR-52: there is nothing in it that somebody could have guessed.
#[test]
fn a_plan_that_says_nothing_is_confirmed_and_holds() {
    let mut office = Office::with_pack("", "", &json!({}));
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds() && report.values.is_empty(), "{report:?}");
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

/// CLR-52
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

/// CLR-52
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

/// CLR-52: a record that calls a gap withdrawn which is still asked, or leaves one out, whether or not a newer one took its place.
#[test]
fn a_record_that_withdraws_other_gaps_is_named() {
    for changed in ["round", "document"] {
        let mut office = Office::with(&json!({"description": "a status page", "operation": "add"}));
        let session = office.session();
        let gap = session.gap("gap-001").unwrap();
        let (act, _) =
            session.answer(gap, "the usual one", assurance(Who::Person), Voice::default()).unwrap();
        let mut act = office.signed(Who::Person, act);
        let paper = act.consequences.sayings.iter_mut().find_map(|saying| match &mut saying.content {
            Some(Content::PaperRecorded(content)) if content.paper.contains_key(changed) => Some(content),
            _ => None,
        });
        paper.unwrap().paper["record"]["withdrawn_gaps"] = json!(["gap-001"]);
        office.record(Who::Person, act).unwrap();
        assert_eq!(codes(&office), ["PAPER_DIFFERS"], "{changed}");
    }
}

/// CLR-52 ONE-08
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

/// CLR-52 ONE-08: nobody answered, and something was assumed.
#[test]
fn a_default_that_took_effect_is_named() {
    let other = Office::with(&with(&json!({"real_build": true})));
    let (event, words) = other.events[2].clone();
    let (Facts::GapFound(gap), Some(Content::GapFound(words))) = (event.said().unwrap().facts, words) else {
        panic!("no gap")
    };
    let mut office = Office::with(&with(&json!({})));
    let deadline = Some(office.now().plus_millis(5000));
    let question = Question { default: true, deadline, ..gap.0.clone() };
    let default = AnswerValue::Text("dist".try_into().unwrap());
    let content = QuestionContent {
        ask: None,
        default: Some(default.clone()),
        field: None,
        gap: None,
        request: None,
        rule: None,
        ..words
    };
    let act =
        |facts: Facts, content| Act { facts, content, consequences: Consequences::default(), papers: None };
    let asked = act(QuestionAsked(question).into(), Content::QuestionAsked(content));
    let question = office.perform(Who::Agent, asked).unwrap();
    office.pass(60_000);
    let content = Content::QuestionDefaulted(DefaultContent { default });
    office.desk_records(act(QuestionDefaulted { question }.into(), content));
    office.confirm().unwrap();
    assert_eq!(codes(&office), ["DEFAULTED"]);
}

/// CLR-52 CLR-71: another plan, another count of rounds, another signature, or a key that is not the desk's.
#[test]
fn an_attestation_that_says_something_else_is_named() {
    let changes: [fn(&mut Map<String, Value>); 3] = [
        |attested| attested["inputs"]["output_path"] = json!("/"),
        |attested| attested["inputs"]["clarification_rounds"] = json!(0),
        |attested| attested["agent_version"] = json!("2"),
    ];
    for change in changes.into_iter().map(Some).chain([None]) {
        let mut office = Office::with(&with(&json!({"real_build": true})));
        office.answer(Who::Person, "gap-001", "dist");
        let confirmed = office.confirm().unwrap();
        let attestation = attest(&office).unwrap();
        let mut act = office.session().attesting(confirmed, &attestation).unwrap();
        let Content::PlanAttested(content) = &mut act.content else { panic!("no attestation") };
        if let Some(change) = change {
            change(&mut content.attestation);
        }
        office.perform(Who::Agent, act).unwrap();
        let guesses = office.guesses();
        let codes: Vec<_> = guesses.problems.iter().map(|problem| problem.code).collect();
        if change.is_some() {
            assert!(
                !codes.is_empty() && codes.iter().all(|code| *code == "ATTESTATION_DIFFERS"),
                "{guesses:?}"
            );
        } else {
            assert!(codes.is_empty(), "as it was made it holds: {guesses:?}");
        }
    }
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

/// Returns what was done for a plan with so many gaps, of which so many were answered.
fn effort_for(mut office: Office, gaps: usize, answers: usize) -> u64 {
    assert_eq!(office.session().open_gaps().count(), gaps);
    for number in 1..=answers {
        office.answer(Who::Person, &format!("gap-{number:03}"), &format!("tool-{number}"));
    }
    if gaps == answers {
        office.confirm().unwrap();
        assert!(office.guesses().problems.is_empty());
    }
    NoGuess::counted(office.events, u64::MAX, None).unwrap().1
}

/// ONE-12: ten times the gaps take at most twelve times the work, also where nothing but the gaps counts.
#[test]
fn work_grows_with_the_gaps_and_not_with_their_square() {
    let vague =
        "[[ambiguous]]\nid = \"vague\"\nphrases = [\"any\"]\nfields = [\"tools.*\"]\nquestion = \"?\"\n";
    let effort = |gaps| {
        let plan = json!({"tools": vec!["any"; gaps]});
        effort_for(Office::with_pack(vague, "", &plan), gaps, 2)
    };
    let (few, many) = (effort(25), effort(250));
    assert!(many <= 12 * few, "{few} for 25 gaps, {many} for 250");
}

/// ONE-12: ten times the gaps and the answers take at most twelve times the work under the built-in rules.
#[test]
fn work_grows_with_gaps_and_answers() {
    let effort = |gaps| {
        let plan = with(&json!({"tools": vec!["the standard one"; gaps]}));
        effort_for(Office::with(&plan), gaps, gaps)
    };
    let (few, many) = (effort(8), effort(80));
    assert!(many <= 12 * few, "{few} for 8 gaps and answers, {many} for 80");
}

/// Returns the rules that ask for each of so many fields in a row of its own.
fn a_row_for_each(fields: usize) -> String {
    let row =
        |number| format!("[[required]]\nid = \"r{number:03}\"\nfield = \"f{number:03}\"\nquestion = \"?\"\n");
    (1..=fields).map(row).collect()
}

/// ONE-12: ten times the rows, gaps and answers take at most twelve times the work.
#[test]
fn work_grows_with_the_gaps_also_where_each_has_a_row_of_its_own() {
    let effort = |gaps| effort_for(Office::with_pack(&a_row_for_each(gaps), "", &json!({})), gaps, gaps);
    let (few, many) = (effort(8), effort(80));
    assert!(many <= 12 * few, "{few} for 8 rows, {many} for 80");
}

/// CLR-52: whether a field depends on another, is uncovered or no longer asked for by its answer, or stands in a record: what the desk
/// says, which looks at all of the plan, is what the reader expects, who looks at what an answer changes.
#[test]
fn an_answer_changes_what_it_changes_however_much_of_the_plan_is_looked_at() {
    let row = |id: &str, field: &str, more: &str| {
        format!("[[required]]\nid = \"{id}\"\nfield = \"{field}\"\nquestion = \"{field}?\"\n{more}\n")
    };
    let rows = [
        row("a", "a", "choices = [\"x\", \"y\"]"),
        row("b", "b", "when = { a = [\"x\"] }"),
        row("c", "c", "when = { a = [\"y\"], b = [\"z\"] }"),
        row("d", "d.e", "kinds = [\"number\"]"),
        row("e", "d.f", "when = { \"d.e\" = [\"1\"] }\nassurance = \"terminal\""),
        row("f", "g", "severity = \"WARN\""),
        row("g", "b", "kinds = [\"number\"]\nwhen = { g = [\"n\"] }"),
    ];
    let policy = "@id(\"p\")\n@field(\"q\")\n@question(\"{context.r}?\")\n@kinds(\"text\")\n\
                  forbid (principal, action, resource) when { context.r == \"bad\" };\n";
    let said = ["x", "y", "z", "1", "n", "bad", "7", "word"];
    for (cedar, number) in
        [("", 0..24_usize), (policy, 24..48)].into_iter().flat_map(|(c, ns)| ns.map(move |n| (c, n)))
    {
        let mut office = Office::with_pack(&rows.concat(), cedar, &json!({"b": "z"}));
        for step in 0..12 {
            let open: Vec<String> = office.session().open_gaps().map(|gap| gap.id.to_string()).collect();
            let Some(gap) = open.get((number * 7 + step * 3) % open.len().max(1)) else { break };
            office.answer(Who::Person, gap, said[(number * 5 + step) % said.len()]);
        }
        let report = office.guesses();
        assert!(report.problems.is_empty(), "story {number}: {:?}", report.problems);
    }
}

/// CLR-52: after an answer that nothing but rows of its own depends on, a gap that the desk keeps to itself is missed.
#[test]
fn a_gap_that_an_answer_uncovers_is_missed_where_the_desk_does_not_ask_it() {
    let pack = "[[required]]\nid = \"a\"\nfield = \"a\"\nquestion = \"?\"\n\
                [[required]]\nid = \"b\"\nfield = \"b\"\nquestion = \"?\"\nwhen = { a = [\"x\"] }\n";
    for is_kept_back in [false, true] {
        let mut office = Office::with_pack(pack, "", &json!({}));
        let session = office.session();
        let (act, _) = session
            .answer(session.gap("gap-001").unwrap(), "x", assurance(Who::Person), Voice::default())
            .unwrap();
        let mut act = office.signed(Who::Person, act);
        if is_kept_back {
            act.consequences.sayings.retain(|saying| !matches!(saying.facts, Facts::GapFound(_)));
        }
        office.record(Who::Person, act).unwrap();
        let codes: Vec<_> = office.guesses().problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes.contains(&"GAP_NOT_ASKED"), is_kept_back, "{codes:?}");
    }
}

/// ONE-12: what was let pass is looked at again after each change, and that is counted.
#[test]
fn looking_at_consents_again_is_counted() {
    let row = |number: usize| {
        format!(
            "@id(\"p{number}\")\n@severity(\"WARN\")\n@field(\"f{number}\")\n@question(\"{number}?\")\n\
                 @kinds(\"text\")\nforbid (principal, action, resource) when {{ context.size == 1 }};\n"
        )
    };
    let effort = |accepted: usize| {
        let policies: String = (1..=8).map(row).collect();
        let asked = "[[required]]\nid = \"a\"\nfield = \"a\"\nquestion = \"a?\"\n";
        let mut office = Office::with_pack(asked, &policies, &json!({"size": 1}));
        for number in 2..2 + accepted {
            office.accept(&format!("gap-{number:03}"));
        }
        let before = NoGuess::counted(office.events.clone(), u64::MAX, None).unwrap().1;
        office.answer(Who::Person, "gap-001", "x");
        NoGuess::counted(office.events, u64::MAX, None).unwrap().1 - before
    };
    let (none, eight) = (effort(0), effort(8));
    assert!(eight >= none + 8, "{none} without consents, {eight} with eight");
}

/// ONE-12: an emptied pack under the name of the built-in one is told.
#[test]
fn rules_that_are_not_those_they_are_called_after_are_named() {
    let mut document: Value =
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

fn settled(pack: &str, settle: impl FnOnce(&mut Office)) -> NoGuess {
    let pack = format!("{pack}[[required]]\nid = \"a\"\nfield = \"a\"\nquestion = \"a?\"\n");
    let mut office = Office::with_pack(&pack, "", &json!({}));
    settle(&mut office);
    office.confirm().unwrap();
    office.guesses()
}

fn of(list: &[Problem]) -> Vec<&'static str> {
    list.iter().map(|problem| problem.code).collect()
}

/// CLR-33 ONE-07: two keys of one client are one asker, whatever principals they have.
#[test]
fn a_gap_that_a_key_of_the_askers_client_settles_is_named() {
    let by_own_client = |office: &mut Office| {
        office.bind_both();
        office.answer(Who::Answerer, "gap-001", "b");
    };
    let report = settled("", by_own_client);
    assert_eq!(of(&report.problems), ["SELF_SETTLED"], "{report:?}");
    assert!(!report.holds());
    assert_eq!(report.gaps[0].settled_by, Some(SettledBy::AskersClient));
    assert_eq!(report.gaps[0].by.as_deref(), Some("a key of the asker's client"));
    assert_eq!((report.counts.own_word, report.counts.other_agent), (1, 0));
    let report = settled("[settings]\nown_answers = \"all\"\n", by_own_client);
    assert!(report.holds(), "the rules allow it: {report:?}");
    assert_eq!(of(&report.warnings), ["SELF_SETTLED"], "{report:?}");
    let report = settled("", |office| drop(office.answer(Who::Answerer, "gap-001", "b")));
    assert!(report.holds() && report.warnings.is_empty() && report.remarks.is_empty(), "{report:?}");
    assert_eq!(report.gaps[0].settled_by, Some(SettledBy::UnboundKey));
    assert_eq!(
        (report.counts.unbound_key, report.counts.other_agent),
        (1, 0),
        "nobody knows that it is another's"
    );
}

/// CLR-33: what is only demur's word is told as such, with the program that passed it on.
#[test]
fn what_a_person_said_is_told_with_the_way_it_came() {
    let report = settled("", |office| drop(office.answer(Who::Person, "gap-001", "b")));
    assert!(report.holds() && report.warnings.is_empty(), "{report:?}");
    assert_eq!(of(&report.remarks), ["SAME_USER"], "{report:?}");
    for own in [true, false] {
        let report = settled("", |office| {
            let client = Some(office.bind_both());
            office.way = Attribution { client, own, ..Attribution::new(Door::Mcp, Root::Client) };
            if !own {
                office.way.client = None;
            }
            let session = office.session();
            let gap = session.gap("gap-001").unwrap();
            let (act, _) = session.answer(gap, "b", Assurance::Relayed, Voice::default()).unwrap();
            office.perform(Who::Person, act).unwrap();
        });
        assert!(report.holds() && report.warnings.is_empty(), "{report:?}");
        let expected: &[&str] = if own { &["SELF_RELAYED"] } else { &[] };
        assert_eq!(of(&report.remarks), expected, "{report:?}");
        let by = if own { SettledBy::RelayedByAsker } else { SettledBy::Relayed };
        assert_eq!(report.gaps[0].settled_by, Some(by));
        assert!(report.gaps[0].by.as_deref().unwrap().contains("recorded by demur"), "{report:?}");
    }
}

/// A refusal changes nothing: what the rules make the desk say may come after it.
#[test]
fn a_refusal_among_what_the_desk_says_is_no_problem() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    let (act, _) = session.answer(gap, "dist", Assurance::Terminal, Voice::default()).unwrap();
    let mut act = office.signed(Who::Person, act);
    let facts = CommandRefused {
        code: "NOT_ENTITLED".to_owned().try_into().unwrap(),
        command: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
        principal: office.principal(Who::Answerer),
    };
    let content = RefusalContent { field: None, message: "no".try_into().unwrap() };
    let refusal =
        Saying { role: Role::Desk, facts: facts.into(), content: Some(Content::CommandRefused(content)) };
    act.consequences.sayings.insert(0, refusal);
    office.record(Who::Person, act).unwrap();
    office.confirm().unwrap();
    let report = office.guesses();
    assert!(report.holds(), "{report:?}");
}
