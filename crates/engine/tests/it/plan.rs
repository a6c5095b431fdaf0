//! Plans: submitted, asked about, confirmed, attested, each only when it may be.

use demur_core::time::Timestamp;
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying, Signing},
};
use demur_ledger::{
    admission::Checked,
    content::{ConfirmationContent, Provenance},
    event_type::Content,
    facts::{
        AnswerKind, AnswerRevoked, GapAccepted, GapFound, OperationStarted, PlanAttested, PlanConfirmed,
        PlanSubmitted, ProposalCreated, Question, QuestionAnswered, QuestionAsked, RulesRecorded, Severity,
    },
    name::{Position, Sequence},
    role::Role,
    verify::{Code, FindingSeverity, Report},
};

use crate::{
    asking::{answer, at, fitting, operation, question, typed},
    words::{list, text, whole},
    world::{To, World, position, refusal},
};

/// CLR-30 CLR-31 CLR-32 CLR-61 CLR-62
#[test]
fn a_plan_is_confirmed_when_every_gap_is_settled_and_attested_after_that() {
    let (mut world, gaps) = World::planned();
    let [block, warn] = gaps;
    let build = || OperationStarted { confirmation: None, operation: operation("build") };
    assert_eq!(refusal(&world.speak(Role::Agent, build())).code, "OPERATION_BLOCKED");
    // What has no name of its own may be any.
    let unnamed = || OperationStarted { confirmation: None, operation: operation("Operation") };
    let refused = refusal(&world.speak(Role::Agent, unnamed()));
    assert_eq!(refused.code, "OPERATION_BLOCKED");
    assert!(refused.message.starts_with("an operation without a name of its own"), "{refused}");
    position(
        &world.speak(Role::Agent, OperationStarted { confirmation: None, operation: operation("read") }),
    );
    let open = refusal(&world.speak(Role::Agent, PlanConfirmed {}));
    assert_eq!(open.code, "QUESTIONS_OPEN");
    for gap in gaps {
        assert!(open.message.contains(&gap.sequence.to_string()), "{open}");
    }
    let attest = |confirmed| PlanAttested { confirmed };
    assert_eq!(refusal(&world.speak(Role::Agent, attest(Sequence::FIRST))).code, "OUT_OF_PLAN");

    position(&world.speak(Role::Answerer, answer(block)));
    position(&world.speak(Role::Agent, build()));
    assert_eq!(refusal(&world.speak(Role::Agent, PlanConfirmed {})).code, "QUESTIONS_OPEN");
    let accept = |question| GapAccepted { attribution: None, assurance: typed(question).assurance, question };
    position(&world.told(Role::Person, accept(warn)));
    let confirmed = position(&world.speak(Role::Agent, PlanConfirmed {})).sequence;

    let given = Sequence::from(u32::try_from(confirmed.number()).unwrap() - 3);
    let revoke = AnswerRevoked { attribution: None, answer: given, question: block.sequence };
    assert_eq!(world.refused_answer(revoke).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.speak(Role::Agent, PlanConfirmed {})).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.speak(Role::Agent, QuestionAsked(question()))).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.told(Role::Desk, GapFound(question()))).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.speak(Role::Agent, attest(Sequence::FIRST))).code, "REFERENCE");
    position(&world.speak(Role::Agent, attest(confirmed)));
    assert_eq!(refusal(&world.speak(Role::Agent, attest(confirmed))).code, "OUT_OF_PLAN");
    let report = world.verified();
    assert!(lacks_papers_alone(&report), "{report:?}");
    let told: Vec<_> = report.questions.iter().map(|question| question.outcome).collect();
    assert_eq!(told, ["answered", "accepted"]);
    let accepted = &report.questions[1];
    assert_eq!(accepted.how.as_deref(), Some("same user, recorded by demur"));
    assert!(accepted.attribution.is_some(), "an acceptance says how it came, too");
}

/// CLR-32
#[test]
fn a_gap_that_must_be_answered_cannot_be_accepted() {
    let (mut world, [block, _]) = World::planned();
    let accept = GapAccepted { attribution: None, assurance: typed(block).assurance, question: block };
    assert_eq!(refusal(&world.told(Role::Person, accept)).code, "MUST_BE_ANSWERED");
}

/// CLR-44
#[test]
fn an_answer_that_does_not_settle_is_recorded_and_the_gap_is_put_again() {
    let (mut world, [block, _]) = World::planned();
    let again = Question { repeats: Some(block.sequence), ..question() };
    let sent = world.spoken(Role::Answerer, answer(block));
    let sayings = vec![saying(GapFound(again))];
    let after = world.run.state.tip().head();
    let reply = world.send_with(&sent, Consequences { after, signing: None, sayings });
    let given = position(&reply).sequence;
    let asked = at(&world, given.next());
    assert_eq!(world.run.state.tip().head(), Some(asked));
    let open: Vec<_> = world.run.state.questions().unwrap().unsettled().map(|(at, _)| at).collect();
    assert!(open.contains(&asked.sequence) && !open.contains(&block.sequence), "{open:?}");
    assert_eq!(world.refused_answer(answer(block)).code, "QUESTION_UNKNOWN");
    position(&world.speak(Role::Answerer, answer(asked)));
    assert!(lacks_papers_alone(&world.verified()));
}

/// CLR-24: documents carry the time of their event, so what the desk signed is recorded under that time or not at all.
#[test]
fn what_the_desk_signed_is_recorded_under_its_time_or_made_again() {
    let (mut world, [block, _]) = World::planned();
    let newest = world.run.state.tip().time();
    world.now = newest.plus_millis(20_000);
    let registry = world.known_registry().head();
    let sent = world.spoken(Role::Answerer, answer(block));
    let signed = |at: Timestamp, registry| Consequences {
        after: None,
        signing: Some(Signing { at, registry }),
        sayings: vec![saying(GapFound(question()))],
    };
    let now = world.now;
    let other = Position::new(registry.sequence, world.run.state.tip().head().unwrap().hash);
    for (at, registry) in [
        (now.plus_millis(1), registry),
        (newest.plus_millis(1), registry),
        (Timestamp::MIN, registry),
        (now, other),
    ] {
        assert_eq!(world.send_with(&sent, signed(at, registry)), Reply::Moved, "{at}");
    }
    let at = newest.plus_millis(15_000);
    position(&world.send_with(&sent, signed(at, registry)));
    let times: Vec<_> = world.run.entries.iter().rev().map(|entry| entry.event.envelope().time).collect();
    assert_eq!(times[..2], [at, at], "the answer and what the desk added");
}

#[test]
fn what_the_desk_adds_holds_only_where_it_was_worked_out() {
    let (mut world, [block, warn]) = World::planned();
    let sent = world.spoken(Role::Answerer, answer(block));
    let after = world.run.state.tip().head();
    position(&world.speak(Role::Answerer, answer(warn)));
    let consequences = Consequences { after, signing: None, sayings: vec![saying(GapFound(question()))] };
    assert_eq!(world.send_with(&sent, consequences), Reply::Moved);
    // The same statement, without a new signature, once it was worked out again.
    let after = world.run.state.tip().head();
    position(&world.send_with(&sent, Consequences { after, signing: None, sayings: Vec::new() }));
}

/// ONE-12: the desk does not choose later who answered what.
#[test]
fn a_plan_is_not_confirmed_with_a_source_that_its_agent_had_not_seen() {
    let (mut world, [block, warn]) = World::planned();
    position(&world.speak(Role::Answerer, answer(block)));
    let accept = GapAccepted { attribution: None, assurance: typed(warn).assurance, question: warn };
    position(&world.told(Role::Person, accept));
    for (is_seen, code) in [(false, Some("CITES_UNSEEN")), (true, None)] {
        let mut draft = world.draft(To::Run, Role::Agent, PlanConfirmed {});
        let newest = draft.seen.unwrap();
        let source = Provenance { field: text("a"), pointer: text("/answer"), source: newest.sequence };
        let content = ConfirmationContent { plan: serde_json::Map::new(), provenance: list([source]) };
        (draft.content, draft.seen) =
            (Some(Content::PlanConfirmed(content)), Some(if is_seen { newest } else { block }));
        let key = world.speaker(Role::Agent).key.clone();
        let sent = world.sign(draft, &key);
        let reply = world.send(To::Run, &sent);
        match code {
            Some(code) => assert_eq!(refusal(&reply).code, code),
            None => assert!(position(&reply).sequence > newest.sequence),
        }
    }
}

/// A gap that the desk would add to a trace that another of its words has closed for gaps.
#[test]
fn what_the_desk_adds_must_follow_from_what_came_before() {
    let (mut world, [block, warn]) = World::planned();
    position(&world.speak(Role::Answerer, answer(block)));
    position(&world.told(
        Role::Person,
        GapAccepted { attribution: None, assurance: typed(warn).assurance, question: warn },
    ));
    let sent = world.spoken(Role::Agent, PlanConfirmed {});
    let sayings = vec![saying(GapFound(question()))];
    let reply = world.send_with(&sent, Consequences { after: None, signing: None, sayings });
    assert_eq!(refusal(&reply).code, "OUT_OF_PLAN");
    assert_eq!(world.run.state.work().unwrap().plan(), demur_ledger::trace_state::PlanStage::Submitted);
}

#[test]
fn if_the_desks_words_do_not_hold_nothing_is_recorded() {
    let (mut world, [block, _]) = World::planned();
    let sent = world.spoken(Role::Answerer, answer(block));
    let wrong = Question { kinds: list([AnswerKind::MultipleChoice]), choices: whole(0), ..question() };
    let consequences = Consequences { after: None, signing: None, sayings: vec![saying(GapFound(wrong))] };
    assert_eq!(refusal(&world.send_with(&sent, consequences)).code, "QUESTION_FORM");
    let open = world.run.state.questions().unwrap().unsettled().count();
    assert_eq!(open, 2, "the answer was not recorded either");
}

/// What settles a gap goes into the plan.
#[test]
fn a_gap_is_never_secret() {
    let (mut world, [block, _]) = World::planned();
    let sent = world.spoken(Role::Answerer, answer(block));
    let secret = Question { kinds: list([AnswerKind::Secret]), ..question() };
    let consequences = Consequences { after: None, signing: None, sayings: vec![saying(GapFound(secret))] };
    let refused = refusal(&world.send_with(&sent, consequences));
    assert_eq!((refused.code, refused.field), ("QUESTION_FORM", Some("facts.kinds")));
    let sealed = QuestionAnswered { kind: AnswerKind::Secret, ..answer(block) };
    assert_eq!(world.refused_answer(sealed).code, "ANSWER_KIND");
}

#[test]
fn work_and_runs_keep_to_their_own_events_and_agents() {
    let (mut world, _) = World::planned();
    let proposal = ProposalCreated { fallback_for: None, replaces: None };
    assert_eq!(world.refuses(proposal).code, "NOT_OF_THIS_TRACE");
    assert_eq!(refusal(&world.told(Role::Desk, RulesRecorded {})).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.speak(Role::Agent, PlanSubmitted {})).code, "TRACE_EXISTS");
    let stranger = world.new_speaker(Role::Agent);
    world.register(&stranger);
    world.speakers.push(stranger);
    for reply in [
        world.speak(Role::Agent, OperationStarted { confirmation: None, operation: operation("read") }),
        world.speak(Role::Agent, QuestionAsked(question())),
    ] {
        assert_eq!(refusal(&reply).code, "NOT_PARTICIPANT");
    }

    let mut world = World::opened();
    let agent = world.new_speaker(Role::Agent);
    world.register(&agent);
    world.speakers.push(agent);
    let operation = OperationStarted { confirmation: None, operation: operation("build") };
    assert_eq!(refusal(&world.speak(Role::Agent, operation)).code, "NOT_OF_A_RUN");
}

/// CLR-31
#[test]
fn a_plan_without_rules_is_never_confirmed() {
    let mut world = World::asking();
    position(&world.speak(Role::Agent, PlanSubmitted {}));
    assert_eq!(refusal(&world.speak(Role::Agent, PlanConfirmed {})).code, "OUT_OF_PLAN");
    assert_eq!(refusal(&world.told(Role::Desk, GapFound(question()))).code, "OUT_OF_PLAN");
}

impl World {
    /// Returns a plan with one gap that must be answered and one that may be accepted.
    fn planned() -> (Self, [Position; 2]) {
        let mut world = Self::asking();
        let sent = world.spoken(Role::Agent, PlanSubmitted {});
        let warn = Question { severity: Severity::Warn, blocks: list([]), ..question() };
        let sayings = vec![saying(RulesRecorded {}), saying(GapFound(question())), saying(GapFound(warn))];
        position(&world.send_with(&sent, Consequences { after: None, signing: None, sayings }));
        let gaps = [2_u32, 3].map(|place| at(&world, place.into()));
        (world, gaps)
    }

    fn send_with(&mut self, sent: &crate::world::Sent, consequences: Consequences) -> Reply {
        let said = Checked::new(sent.submission.clone(), Some(self.known_registry())).unwrap();
        self.command(To::Run, Command::submit(said, None, consequences))
    }
}

/// The desk in these tests signs no papers; nothing else may be wrong.
fn lacks_papers_alone(report: &Report) -> bool {
    let failed = report.findings.iter().filter(|finding| finding.severity == FindingSeverity::Failure);
    failed.into_iter().all(|finding| finding.code == Code::PaperInvalid)
}

fn saying(facts: impl Into<demur_ledger::event_type::Facts>) -> Saying {
    let facts = facts.into();
    let content = fitting(&facts);
    Saying { role: Role::Desk, facts, content }
}
