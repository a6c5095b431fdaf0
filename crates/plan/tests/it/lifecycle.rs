//! From a plan to its attestation: refused, asked, answered, confirmed, attested.

use demur_clarify::{
    attestation::{FileAction, FileHash, Outputs, Particulars},
    audit::Known,
    keys::KeyHistory,
    status::PlanStatus,
    time::Time,
};
use demur_core::limit::{List, Text};
use demur_engine::command::Signing;
use demur_ledger::{
    content::{AnswerValue, Sealed},
    desk::DeskError,
    event_type::{Content, Facts},
    facts::AnswerKind,
    name::Operation,
};
use demur_plan::{
    Session,
    act::{self, Act, Judged},
    no_guess::NoGuess,
    session::ACCEPTED,
};
use serde_json::{Value, json};

use crate::office::{Office, Who, assurance, uuid};

/// CLR-03 CLR-30 CLR-44 CLR-50 CLR-61 CLR-71
#[test]
fn a_plan_is_refused_asked_about_answered_confirmed_and_attested() {
    let mut office = Office::with(&json!({"description": "a status page", "operation": "add"}));
    assert_eq!(open(&office), ["component_type"]);
    assert_eq!(office.session().standing(), PlanStatus::NeedsClarification);
    assert!(attest(&office).is_err(), "a gap is open");
    // It names nothing: the gap stays, under the same name.
    assert!(matches!(office.answer(Who::Answerer, "gap-001", "the usual one"), Judged::Escalated(_)));
    assert_eq!(open(&office), ["component_type"]);
    // It settles the gap and uncovers two more.
    assert!(matches!(office.answer(Who::Answerer, "gap-001", "webpart-react"), Judged::Resolved));
    let mut uncovered = open(&office);
    uncovered.sort();
    assert_eq!(uncovered, ["api_choice", "data_storage"]);
    let (second, third) = (field(&office, "gap-002"), field(&office, "gap-003"));
    let value = |field: &str| if field == "api_choice" { "rest" } else { "properties" };
    office.answer(Who::Person, "gap-002", value(&second));
    office.answer(Who::Answerer, "gap-003", value(&third));
    assert_eq!(office.session().standing(), PlanStatus::ReadyToProceed);
    assert!(office.session().due().unwrap().is_empty());
    office.confirm().unwrap();
    assert_eq!(office.session().standing(), PlanStatus::Confirmed);

    let (session, desk) = (office.session(), office.signer());
    let record = session.audit().unwrap();
    let verified = record.verify(&KeyHistory::single(&desk), &[]).unwrap();
    assert_eq!((verified.rounds(), record.all_resolved), (4, true));
    let resolved: Vec<_> = record.chain.iter().map(demur_clarify::round::Round::is_resolved).collect();
    assert_eq!(resolved, [false, true, true, true]);
    let accepted = session.acceptance().unwrap();
    accepted.verify(&KeyHistory::single(&desk), &record).unwrap();
    assert_eq!(accepted.inputs.clarification_rounds(), 4);
    let attestation = attest(&office).unwrap();
    attestation.verify(&KeyHistory::single(&desk), &record).unwrap();
    assert_eq!(attestation.inputs.clarification_rounds(), 4);
    let plan = Value::Object(attestation.inputs.plan());
    let expected = json!({
        "description": "a status page", "operation": "add", "component_type": "webpart-react",
        "api_choice": "rest", "data_storage": "properties",
    });
    assert_eq!(plan, expected);
}

/// CLR-12 CLR-13 CLR-17 ONE-08
#[test]
fn a_list_of_compliance_is_clarified_and_every_value_keeps_its_source() {
    let plan = json!({"compliance": ["JSP 440", "the standard one"], "deployment_target": "USWDS"});
    let mut office = Office::with(&with(&plan));
    assert_eq!(open(&office), ["compliance.1", "compliance.jurisdiction"]);
    office.answer(Who::Answerer, "gap-001", "WCAG 2.2 AA");
    office.answer(Who::Answerer, "gap-002", "uswds-only");
    office.confirm().unwrap();
    let confirmed = office.session().plan().as_value()["compliance"].clone();
    let expected = json!({"jurisdiction": "uswds-only", "standards": ["JSP 440", "WCAG 2.2 AA"]});
    assert_eq!(confirmed, expected);
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{:?}", report.problems);
    let origin =
        |field: &str| report.values.iter().find(|value| value.field == field).unwrap().origin.clone();
    assert_eq!(origin("compliance.standards.0"), "as submitted: the agent's word");
    assert_eq!(
        origin("compliance.standards.1"),
        "answered by another key, whose client is not recorded: perhaps the asker's"
    );
}

/// CLR-41 ONE-07: what the submitter thinks is kept once and settles nothing; a person does.
#[test]
fn an_answer_of_the_submitter_is_a_claim_that_settles_nothing() {
    let mut office = Office::with(&with(&json!({"component_type": null})));
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    assert!(!Session::is_settled_by_submitter(gap));
    let claim =
        |session: &Session| session.claim(session.gap("gap-001").unwrap(), "webpart-react", None).unwrap();
    office.perform(Who::Agent, claim(&session).unwrap()).unwrap();
    let session = office.session();
    assert!(claim(&session).is_none(), "the same again is nothing new");
    let kept: Vec<_> =
        session.claims(session.gap("gap-001").unwrap()).map(|claim| claim.answer.clone()).collect();
    assert_eq!(kept, ["webpart-react"]);
    assert_eq!(open(&office), ["component_type"]);
    assert_eq!(code(office.confirm()), "QUESTIONS_OPEN");
    office.answer(Who::Person, "gap-001", "webpart-react");
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{:?}", report.problems);
}

/// CLR-16 ONE-07: a pack can let whoever submits a plan settle its gaps; it is in the facts of each of them.
#[test]
fn rules_can_let_the_submitter_settle_gaps() {
    for (setting, settles) in [("", false), ("[settings]\nown_answers = \"all\"\n", true)] {
        let pack = format!("{setting}[[required]]\nid = \"a\"\nfield = \"a\"\nquestion = \"a?\"\n");
        let office = Office::with_pack(&pack, "", &json!({}));
        let session = office.session();
        assert_eq!(Session::is_settled_by_submitter(session.gap("gap-001").unwrap()), settles);
    }
}

/// CLR-44 CLR-45: an answer that a closed choice does not take is a round with its words, and the gap stays open.
#[test]
fn an_answer_outside_of_closed_choices_is_a_round() {
    let mut office = Office::with(&with(&json!({"standards_selected": ["gdpr"]})));
    assert!(office.session().gap("gap-001").unwrap().is_closed());
    assert!(matches!(office.answer(Who::Person, "gap-001", "perhaps"), Judged::Escalated(_)));
    assert_eq!(open(&office), ["compliance.overlaps.gdpr.lgpd"]);
    office.accept("gap-001");
    office.confirm().unwrap();
    let record = office.session().audit().unwrap();
    let rounds: Vec<_> =
        record.chain.iter().map(|round| (round.answer().as_str(), round.is_resolved())).collect();
    assert_eq!(rounds, [("perhaps", false), (ACCEPTED, true)]);
    record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
}

/// CLR-33: each round says who answered and how that is known, under the desk's signature.
#[test]
fn a_round_names_who_answered_and_how_that_is_known() {
    let mut office = Office::with(&with(&json!({"real_build": true, "standards_selected": ["gdpr"]})));
    office.answer(Who::Answerer, "gap-002", "dist");
    office.accept("gap-001");
    let record = office.session().audit().unwrap();
    let told: Vec<_> = record.chain.iter().filter_map(demur_clarify::round::Round::answered_for).collect();
    assert_eq!((told[0].assurance.as_str(), told[1].assurance.as_str()), ("agent", "terminal"));
    assert_eq!(told[0].name.as_str(), office.principal(Who::Answerer).to_string());
    assert_eq!(told[1].name.as_str(), "somebody");
}

/// CLR-12 CLR-31 CLR-32
#[test]
fn a_warning_blocks_the_confirmation_until_somebody_accepts_it() {
    let mut office = Office::with(&with(&json!({"standards_selected": ["gdpr"]})));
    assert_eq!(open(&office), ["compliance.overlaps.gdpr.lgpd"]);
    assert_eq!(code(office.confirm()), "QUESTIONS_OPEN");
    office.accept("gap-001");
    office.confirm().unwrap();
    let record = office.session().audit().unwrap();
    assert_eq!(record.chain[0].answer().as_str(), ACCEPTED);
    assert!(record.all_resolved);
}

/// CLR-62
#[test]
fn an_operation_waits_for_the_gaps_that_block_it() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    assert_eq!(open(&office), ["output_path"]);
    assert_eq!(code(begin(&mut office, "build")), "OPERATION_BLOCKED");
    begin(&mut office, "read").unwrap();
    office.answer(Who::Person, "gap-001", "dist");
    begin(&mut office, "build").unwrap();
}

/// CLR-04
#[test]
fn a_duplicate_request_gets_the_same_bytes() {
    let mut office = Office::with(&json!({"operation": "add"}));
    let bytes = |office: &Office| serde_json::to_vec(office.session().document().unwrap()).unwrap();
    let first = bytes(&office);
    assert_eq!(first, bytes(&office));
    office.answer(Who::Person, "gap-001", "webpart-react");
    assert_ne!(first, bytes(&office), "a gap was settled");
}

/// What settles a gap goes into the plan, and a secret goes nowhere.
#[test]
fn a_secret_settles_no_gap() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    assert_eq!(
        code(office.perform(Who::Answerer, sealed(&office, Who::Answerer, AnswerKind::Secret))),
        "ANSWER_KIND"
    );
    assert_eq!(open(&office), ["output_path"]);
    // The desk in these tests looks at no words; whoever reads the trace does.
    office.perform(Who::Person, sealed(&office, Who::Person, AnswerKind::Freetext)).unwrap();
    let read = Session::read(office.events.clone()).unwrap_err();
    assert!(read.to_string().contains("an answer in the open"), "{read}");
}

/// CLR-51 CLR-70
#[test]
fn a_handoff_carries_the_chain_and_the_receiver_checks_it_against_a_round_it_knows() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Answerer, "gap-001", "dist");
    let desk = office.signer();
    let keys = KeyHistory::single(&desk);
    let record = office.session().audit().unwrap();
    let known = Known { round: record.chain[0].number().into(), hash: record.chain[0].hash().unwrap() };
    let now = office.events.last().unwrap().0.envelope().time;
    let signing = Signing { at: now, registry: office.events[0].0.envelope().registry.unwrap() };
    let session = office.session();
    let (act, handoff) = session.handoff(uuid(), "go on with the build", (signing, &desk)).unwrap();
    office.desk_records(act);
    let received = Time::from(now);
    let verified = handoff.verify(&keys, &keys, received, &[known]).unwrap();
    assert_eq!(verified.rounds(), 1);
}

fn begin(office: &mut Office, operation: &str) -> Result<demur_ledger::name::Sequence, DeskError> {
    let operation = Operation::try_from(operation.to_owned()).unwrap();
    let act = act::begin(operation, None, None).unwrap();
    office.perform(Who::Agent, act)
}

pub(crate) fn attest(office: &Office) -> Result<demur_clarify::attestation::Attestation, demur_plan::Error> {
    let file = FileHash::new(
        "src/index.ts".parse().unwrap(),
        demur_clarify::seal::Sha256::of(&json!("a file")).unwrap(),
        FileAction::Created,
    );
    let outputs = Outputs::new(Text::try_from("dist").unwrap(), List::try_from(vec![file]).unwrap()).unwrap();
    let particulars = Particulars {
        attestation_id: uuid(),
        agent_version: Text::try_from("1.0.0").unwrap(),
        timestamp: "2026-05-10T16:00:00Z".parse().unwrap(),
        compliance_claims: List::default(),
        deterministic: None,
    };
    office.session().attest(particulars, outputs, &office.signer())
}

/// Returns a plan that lacks nothing, with these members.
pub(crate) fn with(members: &Value) -> Value {
    let mut plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    plan
}

pub(crate) fn open(office: &Office) -> Vec<String> {
    office.session().open_gaps().map(|gap| gap.field.to_string()).collect()
}

fn field(office: &Office, gap: &str) -> String {
    office.session().gap(gap).unwrap().field.to_string()
}

fn code<T>(refused: Result<T, DeskError>) -> &'static str {
    match refused {
        Err(DeskError::Guard(error)) => error.code(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("expected a refusal"),
    }
}

/// Returns an answer to the first gap of this kind whose value is sealed.
fn sealed(office: &Office, who: Who, kind: AnswerKind) -> Act {
    let session = office.session();
    let gap = session.gap("gap-001").unwrap();
    let (mut act, _) = session.answer(gap, "dist", assurance(who), act::Voice::default()).unwrap();
    let (Facts::QuestionAnswered(facts), Content::QuestionAnswered(words)) =
        (&mut act.facts, &mut act.content)
    else {
        panic!("{act:?} is no answer")
    };
    facts.kind = kind;
    words.answer = AnswerValue::Sealed(Sealed { commitment: "5a".repeat(32).parse().unwrap() });
    act.consequences = demur_engine::command::Consequences::default();
    act.papers = None;
    act
}
