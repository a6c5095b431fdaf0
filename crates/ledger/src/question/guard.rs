//! What may happen to a question: who may answer, when, with what assurance, and what waits for it.

use std::collections::BTreeSet;

use demur_core::limit::List;

use super::{Asked, Given, Outcome, QuestionError, Questions, UNNAMED, author, way::AnswerWay};
use crate::{
    event_type::Facts,
    facts::{
        AnswerKind, Answerers, Assurance, Attribution, Question, QuestionAnswered, QuestionEscalated,
        QuestionExtended, Severity,
    },
    name::{Operation, Position, PrincipalId, Sequence},
    proof::ProofKind,
    role::Role,
    state::Step,
};

impl Questions {
    /// Checks that this may happen to the questions now; other events have no say here.
    pub(crate) fn guard(&self, step: &Step<'_>) -> Result<(), QuestionError> {
        match step.said.facts {
            Facts::QuestionAsked(facts) => self.guard_ask(step, &facts.0),
            Facts::GapFound(facts) => self.guard_ask(step, &facts.0),
            Facts::QuestionAnswered(facts) => self.guard_answer(step, facts),
            Facts::AnswerSuperseded(facts) => self.guard_supersession(step, &facts.answer, facts.replaces),
            Facts::AnswerRevoked(facts) => {
                let way = facts.attribution.as_deref();
                // Where no way is told, that is what is wrong with it.
                let claimed = match step.proof {
                    ProofKind::Webauthn => Some(Assurance::Passkey),
                    _ => way.map(|way| way.root.bears()),
                };
                self.guard_own_answer(step, (facts.question, facts.answer), (claimed, way))
            }
            Facts::AnswerClaimed(facts) => self.guard_claim(step, facts.question),
            Facts::AnswerRejected(facts) => self.known(facts.question)?.guard_open(facts.question, step),
            Facts::GapAccepted(facts) => self.guard_acceptance(step, &facts.question, facts.assurance),
            Facts::GapWithdrawn(facts) => self.guard_withdrawal(facts.question),
            Facts::QuestionDeclined(facts) if step.said.role == Role::Agent => {
                self.guard_taking_back(step, facts.question)
            }
            Facts::QuestionDeclined(facts) => self.guard_answerer(step, facts.question),
            Facts::QuestionPassedOn(facts) => self.guard_handing_on(step, facts.question, &facts.answerers),
            Facts::QuestionDelivered(facts) => self.guard_delivery(facts.question),
            Facts::QuestionEscalated(facts) => self.guard_escalation(step, facts),
            Facts::QuestionExtended(facts) => self.guard_extension(step, facts),
            Facts::QuestionCancelled(facts) => self.guard_cancellation(step, facts.question),
            Facts::QuestionExpired(facts) => self.guard_timeout(step, facts.question, false),
            Facts::QuestionDefaulted(facts) => self.guard_timeout(step, facts.question, true),
            _ => Ok(()),
        }
    }

    /// Checks that nothing waits for an answer to this operation. `depends` says whether what is about to happen
    /// depends on the event that a question is about.
    pub(crate) fn guard_operation(
        &self,
        operation: &str,
        depends: impl Fn(Sequence) -> bool,
    ) -> Result<(), QuestionError> {
        match self.blocking(operation, depends) {
            Some(question) => {
                Err(QuestionError::OperationBlocked { operation: operation.to_owned(), question })
            }
            None => Ok(()),
        }
    }

    /// Checks the same for an operation in work. One that is called by no name of its own may be any: it waits for every question
    /// that something waits for.
    pub(crate) fn guard_started(&self, operation: &str) -> Result<(), QuestionError> {
        if !operation.eq_ignore_ascii_case(UNNAMED) {
            return self.guard_operation(operation, |_| true);
        }
        match self.unsettled().find(|(_, asked)| !asked.facts.blocks.is_empty()) {
            Some((question, _)) => {
                let operation = "an operation without a name of its own".to_owned();
                Err(QuestionError::OperationBlocked { operation, question })
            }
            None => Ok(()),
        }
    }

    /// Returns the first question that something of this name waits for.
    pub(crate) fn blocking(&self, name: &str, depends: impl Fn(Sequence) -> bool) -> Option<Sequence> {
        let blocks = |asked: &Asked| {
            asked.facts.blocks.iter().any(|blocked| blocked.as_str().eq_ignore_ascii_case(name))
                && asked.facts.about.is_none_or(&depends)
        };
        self.unsettled().find(|(_, asked)| blocks(asked)).map(|(question, _)| question)
    }

    /// Checks that every question is settled: nothing is concluded over an open one (CLR-31).
    pub(crate) fn guard_conclusion(&self) -> Result<(), QuestionError> {
        let open: Vec<Sequence> = self.unsettled().map(|(at, _)| at).collect();
        if open.is_empty() { Ok(()) } else { Err(QuestionError::Unsettled { questions: open }) }
    }

    fn guard_ask(&self, step: &Step<'_>, facts: &Question) -> Result<(), QuestionError> {
        if self.0.len() >= LIMIT {
            return Err(QuestionError::TooMany { limit: LIMIT });
        }
        check_shape(facts)?;
        if facts.is_secret() && step.said.role == Role::Desk {
            // The answer to a gap goes into the plan, which everybody reads.
            return Err(QuestionError::Form { field: "kinds", expected: "no secret in a gap" });
        }
        let excluded = (!facts.asker_settles).then_some(step.actor);
        check_somebody(&facts.answerers, facts.assurance, excluded)?;
        if facts.deadline.is_some_and(|deadline| deadline <= step.time) {
            return Err(QuestionError::Form { field: "deadline", expected: "a time to come" });
        }
        let Some(repeated) = facts.repeats else { return Ok(()) };
        // When the rules find a gap again it is the same gap, whoever settled it before.
        let replaceable =
            |asked: &Asked| asked.gap && !matches!(asked.outcome, Outcome::Cancelled | Outcome::Defaulted);
        match self.0.get(&repeated) {
            Some(asked) if step.said.role == Role::Desk && replaceable(asked) => Ok(()),
            _ => Err(QuestionError::Form {
                field: "repeats",
                expected: "null, or in a gap another gap that was neither cancelled nor settled by a default",
            }),
        }
    }

    /// The heart of it: the first valid answer by somebody entitled, in time, with enough assurance (ONE-02).
    fn guard_answer(&self, step: &Step<'_>, facts: &QuestionAnswered) -> Result<(), QuestionError> {
        let asked = self.exact(&facts.question)?;
        asked.guard_open(facts.question.sequence, step)?;
        asked.guard_entitled(step, facts.assurance)?;
        asked.guard_kind(facts)
    }

    fn guard_acceptance(
        &self,
        step: &Step<'_>,
        question: &Position,
        assurance: Assurance,
    ) -> Result<(), QuestionError> {
        let asked = self.exact(question)?;
        asked.guard_open(question.sequence, step)?;
        if asked.facts.severity == Severity::Block {
            return Err(QuestionError::MustBeAnswered { question: question.sequence });
        }
        // What the rules warn of, only a person lets pass.
        if assurance < Assurance::Relayed {
            return Err(QuestionError::AssuranceTooLow { claimed: assurance, least: Assurance::Relayed });
        }
        asked.guard_entitled(step, assurance)
    }

    /// Declining and passing on are for those who could answer.
    fn guard_answerer(&self, step: &Step<'_>, question: Sequence) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        asked.guard_open(question, step)?;
        asked.guard_named(step)?;
        match step.proof {
            // A key cannot take a question away from people that it could not answer itself.
            ProofKind::Ed25519 => asked.guard_least(Assurance::Agent),
            ProofKind::None | ProofKind::Webauthn | ProofKind::Unknown => Ok(()),
        }
    }

    /// Whoever submitted a plan no longer asks about a gap of it. The gap stays: what waits for it goes on waiting.
    fn guard_taking_back(&self, step: &Step<'_>, question: Sequence) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        if asked.submitter != Some(step.actor) {
            return Err(QuestionError::NotAsker { question });
        }
        asked.guard_open(question, step)
    }

    /// After a plan was withdrawn the desk closes what is not settled.
    pub(crate) fn guard_plan_withdrawn(&self, question: Sequence) -> Result<(), QuestionError> {
        self.known(question)?.guard_unsettled(question)
    }

    /// After a run was aborted the desk closes what is still open, whatever its deadline.
    pub(crate) fn guard_closing(&self, question: Sequence) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        if asked.outcome == Outcome::Open { Ok(()) } else { Err(asked.closed(question)) }
    }

    /// Whoever hands a question on leaves somebody who may answer it.
    fn guard_handing_on(
        &self,
        step: &Step<'_>,
        question: Sequence,
        answerers: &Answerers,
    ) -> Result<(), QuestionError> {
        self.guard_answerer(step, question)?;
        let asked = self.known(question)?;
        asked.guard_answerers(answerers, asked.facts.assurance)
    }

    /// An asker says what it thinks the answer is, which settles nothing; about a gap, whoever submitted the plan does. A secret
    /// is not written down as a guess.
    fn guard_claim(&self, step: &Step<'_>, question: Sequence) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        if asked.submitter.unwrap_or(asked.asker) != step.actor {
            return Err(QuestionError::NotAsker { question });
        }
        asked.guard_unsettled(question)?;
        if asked.facts.is_secret() { Err(QuestionError::Secret { question }) } else { Ok(()) }
    }

    /// An asker speaks about its own question: whether that still waits or not, it changes nothing.
    fn guard_cancellation(&self, step: &Step<'_>, question: Sequence) -> Result<(), QuestionError> {
        self.own(step, question)?.guard_unsettled(question)
    }

    fn guard_extension(&self, step: &Step<'_>, facts: &QuestionExtended) -> Result<(), QuestionError> {
        let asked = self.own(step, facts.question)?;
        asked.guard_open(facts.question, step)?;
        if asked.facts.deadline.is_some_and(|deadline| facts.deadline > deadline) {
            return Ok(());
        }
        Err(QuestionError::Form { field: "deadline", expected: "a time after the deadline there is" })
    }

    fn guard_escalation(&self, step: &Step<'_>, facts: &QuestionEscalated) -> Result<(), QuestionError> {
        let asked = self.known(facts.question)?;
        asked.guard_unsettled(facts.question)?;
        asked.guard_answerers(&facts.answerers, facts.assurance)?;
        if facts.assurance < asked.facts.assurance {
            return Err(QuestionError::Form { field: "assurance", expected: "no less than before" });
        }
        if facts.deadline.is_some_and(|deadline| deadline <= step.time) {
            return Err(QuestionError::Form { field: "deadline", expected: "a time to come" });
        }
        Ok(())
    }

    /// Expiry and default follow from the clock in the envelope, and from nothing else (AEP-07, AEP-08).
    fn guard_timeout(
        &self,
        step: &Step<'_>,
        question: Sequence,
        defaulted: bool,
    ) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        if asked.outcome != Outcome::Open {
            return Err(asked.closed(question));
        }
        if asked.in_time(step.time) {
            return Err(QuestionError::StillInTime { question });
        }
        if asked.facts.default == defaulted {
            Ok(())
        } else {
            Err(QuestionError::Form {
                field: "question",
                expected: "a default exactly where one was declared, otherwise expiry",
            })
        }
    }

    /// Only whoever gave an answer takes it back or replaces it (CLR-04), known as surely as then.
    fn guard_own_answer(
        &self,
        step: &Step<'_>,
        (question, answer): (Sequence, Sequence),
        (claimed, way): (Option<Assurance>, Option<&Attribution>),
    ) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        match asked.outcome {
            Outcome::Answered(given) if given.at != answer => {
                Err(QuestionError::NotTheAnswer { question, answer: given.at })
            }
            Outcome::Answered(given) if given.by == author(step) => {
                asked.guard_change(given, claimed, AnswerWay::of(step, way))
            }
            Outcome::Answered(given) => Err(QuestionError::NotYourAnswer { answer: given.at }),
            Outcome::Open => Err(QuestionError::NotAnswered { question }),
            Outcome::Accepted(_)
            | Outcome::Declined
            | Outcome::Expired
            | Outcome::Defaulted
            | Outcome::Cancelled
            | Outcome::Withdrawn => Err(asked.closed(question)),
        }
    }

    fn guard_supersession(
        &self,
        step: &Step<'_>,
        facts: &QuestionAnswered,
        replaced: Sequence,
    ) -> Result<(), QuestionError> {
        let asked = self.exact(&facts.question)?;
        let said = (Some(facts.assurance), facts.attribution.as_deref());
        self.guard_own_answer(step, (facts.question.sequence, replaced), said)?;
        asked.guard_entitled(step, facts.assurance)?;
        asked.guard_kind(facts)
    }

    /// Only what the rules asked can the rules no longer find.
    fn guard_withdrawal(&self, question: Sequence) -> Result<(), QuestionError> {
        let asked = self.known(question)?;
        asked.guard_unsettled(question)?;
        if asked.gap { Ok(()) } else { Err(QuestionError::NotAsker { question }) }
    }

    /// What was put before somebody is a fact, whatever became of the question.
    fn guard_delivery(&self, question: Sequence) -> Result<(), QuestionError> {
        self.known(question).map(|_| ())
    }

    fn known(&self, question: Sequence) -> Result<&Asked, QuestionError> {
        self.0.get(&question).ok_or(QuestionError::Unknown { question })
    }

    fn own(&self, step: &Step<'_>, question: Sequence) -> Result<&Asked, QuestionError> {
        let asked = self.known(question)?;
        if asked.asker == step.actor { Ok(asked) } else { Err(QuestionError::NotAsker { question }) }
    }

    /// An answer belongs to one question in one wording.
    fn exact(&self, question: &Position) -> Result<&Asked, QuestionError> {
        let asked = self.known(question.sequence)?;
        if asked.hash == question.hash {
            Ok(asked)
        } else {
            Err(QuestionError::OtherQuestion { question: question.sequence })
        }
    }
}

impl Asked {
    fn guard_open(&self, question: Sequence, step: &Step<'_>) -> Result<(), QuestionError> {
        match (self.outcome, self.facts.deadline) {
            (Outcome::Open, Some(deadline)) if step.time >= deadline => {
                Err(QuestionError::Expired { question, deadline })
            }
            (Outcome::Open, _) => Ok(()),
            _ => Err(self.closed(question)),
        }
    }

    /// Nobody takes the place of a person who was better known, nor of another whom nothing tells apart but the way in.
    fn guard_change(
        &self,
        given: Given,
        claimed: Option<Assurance>,
        way: Option<AnswerWay>,
    ) -> Result<(), QuestionError> {
        if let Some(claimed) = claimed.filter(|claimed| *claimed < given.assurance) {
            let (least, answer) = (given.assurance, given.at);
            return Err(QuestionError::ReplacesSurer { claimed, least, answer });
        }
        let is_surer = claimed.is_some_and(|claimed| claimed > given.assurance);
        match way.zip(self.way) {
            Some((way, answer)) if !way.may_change(&answer, is_surer) => {
                Err(QuestionError::NotYourAnswer { answer: given.at })
            }
            _ => Ok(()),
        }
    }

    fn guard_unsettled(&self, question: Sequence) -> Result<(), QuestionError> {
        if self.outcome.settles() { Err(self.closed(question)) } else { Ok(()) }
    }

    fn closed(&self, question: Sequence) -> QuestionError {
        match self.outcome {
            Outcome::Answered(given) => QuestionError::AlreadyAnswered { question, given },
            outcome => QuestionError::Closed { question, outcome: outcome.as_str() },
        }
    }

    fn guard_entitled(&self, step: &Step<'_>, claimed: Assurance) -> Result<(), QuestionError> {
        self.guard_named(step)?;
        check_entitled(step, &self.facts.answerers, self.facts.assurance, claimed)
    }

    fn guard_least(&self, claimed: Assurance) -> Result<(), QuestionError> {
        check_least(claimed, self.facts.assurance)
    }

    fn guard_answerers(&self, answerers: &Answerers, least: Assurance) -> Result<(), QuestionError> {
        check_answerers(answerers)?;
        check_somebody(answerers, least, (!self.facts.asker_settles).then_some(self.asker))
    }

    /// Returns whether this one may answer at all. An asker never answers its own question unless a rule says so, and
    /// whoever submitted a plan no gap of it: own is decided by principal, not by key (ONE-07).
    fn guard_named(&self, step: &Step<'_>) -> Result<(), QuestionError> {
        let own = author(step).is_some_and(|one| one == self.asker || self.submitter == Some(one));
        if own && !self.facts.asker_settles {
            return Err(QuestionError::SelfAnswer);
        }
        check_named(step, &self.facts.answerers)
    }

    fn guard_kind(&self, answer: &QuestionAnswered) -> Result<(), QuestionError> {
        if !self.facts.kinds.contains(&answer.kind) {
            return Err(QuestionError::Kind { found: answer.kind, kinds: self.facts.kinds.to_vec() });
        }
        let choices = self.facts.choices.as_u64();
        match (answer.kind, &answer.choice) {
            (AnswerKind::MultipleChoice, Some(choice)) if choice.as_u64() < choices => Ok(()),
            (AnswerKind::MultipleChoice, _) => Err(QuestionError::Choice { choices }),
            (_, None) => Ok(()),
            (_, Some(_)) => Err(QuestionError::Form { field: "choice", expected: "null with this kind" }),
        }
    }
}

fn check_shape(facts: &Question) -> Result<(), QuestionError> {
    check_answerers(&facts.answerers)?;
    check_order("kinds", &facts.kinds)?;
    check_once(&facts.blocks)?;
    let form = |field, expected| Err(QuestionError::Form { field, expected });
    let chooses = facts.kinds.contains(&AnswerKind::MultipleChoice);
    if chooses != (facts.choices.as_u64() > 0) || facts.choices.as_u64() == 1 {
        return form("choices", "two or more exactly with multiple_choice");
    }
    if facts.is_secret() && (facts.kinds.len() > 1 || facts.default) {
        return form("kinds", "secret alone, and without a default");
    }
    if facts.severity == Severity::Warn && !facts.blocks.is_empty() {
        return form("blocks", "nothing in a question of severity warn");
    }
    if facts.default && facts.deadline.is_none() {
        return form("deadline", "a deadline with a default");
    }
    Ok(())
}

/// Checks that this one is among those who may answer, and that what stands behind it is as sure as it says and as is demanded.
pub(crate) fn check_entitled(
    step: &Step<'_>,
    answerers: &Answerers,
    least: Assurance,
    claimed: Assurance,
) -> Result<(), QuestionError> {
    check_named(step, answerers)?;
    let provable = match step.proof {
        ProofKind::Ed25519 => claimed == Assurance::Agent,
        ProofKind::None => !matches!(claimed, Assurance::Agent | Assurance::Passkey),
        ProofKind::Webauthn => claimed == Assurance::Passkey,
        ProofKind::Unknown => false,
    };
    if !provable {
        return Err(QuestionError::AssuranceForged { claimed, proof: step.proof.as_str() });
    }
    check_least(claimed, least)
}

fn check_named(step: &Step<'_>, answerers: &Answerers) -> Result<(), QuestionError> {
    let Some(principal) = author(step) else {
        return if answerers.people { Ok(()) } else { Err(QuestionError::NotForPeople) };
    };
    match &answerers.principals {
        Some(named) if !named.contains(&principal) => Err(QuestionError::NotEntitled { principal }),
        _ => Ok(()),
    }
}

fn check_least(claimed: Assurance, least: Assurance) -> Result<(), QuestionError> {
    if claimed < least { Err(QuestionError::AssuranceTooLow { claimed, least }) } else { Ok(()) }
}

pub(crate) fn check_answerers(answerers: &Answerers) -> Result<(), QuestionError> {
    answerers.principals.as_ref().map_or(Ok(()), |named| check_order("answerers", named))
}

fn check_once(blocks: &List<Operation, 0, 32>) -> Result<(), QuestionError> {
    let distinct: BTreeSet<String> = blocks.iter().map(|name| name.as_str().to_ascii_lowercase()).collect();
    if distinct.len() == blocks.len() {
        Ok(())
    } else {
        Err(QuestionError::Form { field: "blocks", expected: "each operation once" })
    }
}

/// Somebody can answer. The asker alone is nobody: it does not answer itself; nor is a key whose word is not enough.
pub(crate) fn check_somebody(
    answerers: &Answerers,
    least: Assurance,
    asker: Option<PrincipalId>,
) -> Result<(), QuestionError> {
    let others = |named: &List<PrincipalId, 0, 64>| named.iter().any(|named| Some(*named) != asker);
    let keys = least == Assurance::Agent && answerers.principals.as_ref().is_none_or(others);
    if answerers.people || keys {
        Ok(())
    } else {
        Err(QuestionError::Form { field: "answerers", expected: "somebody who may answer" })
    }
}

fn check_order<T: Ord, const MIN: usize, const MAX: usize>(
    field: &'static str,
    list: &List<T, MIN, MAX>,
) -> Result<(), QuestionError> {
    if list.is_sorted_by(|left, right| left < right) {
        Ok(())
    } else {
        Err(QuestionError::Form { field, expected: "ascending order, each once" })
    }
}

/// How many questions one trace can have.
const LIMIT: usize = 4096;

#[cfg(test)]
mod tests {
    use demur_core::{limit::Whole, time::Timestamp};

    use super::*;

    /// Where the words are disclosed they contradict such facts; where not, the facts alone must do.
    #[test]
    fn a_secret_has_no_default() {
        let secret = question(&[AnswerKind::Secret]);
        assert_eq!(check_shape(&secret), Ok(()));
        let wrong = check_shape(&Question { default: true, ..secret });
        assert!(matches!(wrong, Err(QuestionError::Form { field: "kinds", .. })), "{wrong:?}");
        let open = Question { default: true, ..question(&[AnswerKind::Freetext]) };
        assert_eq!(check_shape(&open), Ok(()));
    }

    #[test]
    fn a_secret_stands_alone() {
        for other in [AnswerKind::Freetext, AnswerKind::YesNo, AnswerKind::Numeric] {
            let wrong = check_shape(&question(&[other, AnswerKind::Secret]));
            assert!(matches!(wrong, Err(QuestionError::Form { field: "kinds", .. })), "{other:?}: {wrong:?}");
        }
    }

    fn question(kinds: &[AnswerKind]) -> Question {
        Question {
            about: None,
            answerers: Answerers { people: true, principals: None },
            asker_settles: false,
            assurance: Assurance::Agent,
            blocks: List::try_from(vec![]).unwrap(),
            choices: Whole::try_from(0).unwrap(),
            deadline: Some(Timestamp::MIN),
            default: false,
            kinds: List::try_from(kinds.to_vec()).unwrap(),
            repeats: None,
            severity: Severity::Block,
        }
    }
}
