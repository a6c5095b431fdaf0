//! Which papers may follow which event: each right behind its cause, in one order, once (`docs/format.md` 11).

use serde::{Deserialize, Serialize};

use crate::{
    event_type::Facts,
    facts::{PaperKind, PaperRecorded},
    name::{Position, Sequence},
    question::{Asked, Questions},
    state::GuardError,
};

/// What happened last that papers are written about. Everything else ends it: what was not written then is not
/// written later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PaperTrail(Option<Cause>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cause {
    at: Sequence,
    /// What may still be written, in this order.
    due: Vec<PaperKind>,
    /// Whether a paper was written.
    written: bool,
}

impl PaperTrail {
    pub(super) fn guard(&self, facts: &PaperRecorded, head: Option<Position>) -> Result<(), GuardError> {
        let (field, sequence) = ("about", facts.about);
        let fits = match facts.kind {
            PaperKind::Handoff => head.is_some_and(|head| head.sequence == facts.about),
            PaperKind::Acceptance | PaperKind::Document | PaperKind::Round => {
                let is_due = |cause: &Cause| cause.at == facts.about && cause.due.contains(&facts.kind);
                self.0.as_ref().is_some_and(is_due)
            }
        };
        let expected = match facts.kind {
            PaperKind::Acceptance => "the confirmation just before it, once",
            PaperKind::Document => "the submission or change just before it, once",
            PaperKind::Handoff => "the newest event, which the package comes after",
            PaperKind::Round => "the answer to a gap just before it, or its revocation, once",
        };
        if fits { Ok(()) } else { Err(GuardError::Reference { field, sequence, expected }) }
    }

    /// Folds an event in. `questions` are those before it.
    pub(super) fn fold(&mut self, at: Sequence, facts: &Facts, questions: &Questions) {
        use PaperKind::{Acceptance, Document, Round};
        let is_gap = |question| questions.find(question).is_some_and(Asked::is_gap);
        let due: &[PaperKind] = match facts {
            Facts::PlanSubmitted(_) | Facts::PlanAmended(_) | Facts::PlanWithdrawn(_) => &[Document],
            Facts::QuestionAnswered(facts) if is_gap(facts.question.sequence) => &[Round, Document],
            Facts::AnswerSuperseded(facts) if is_gap(facts.answer.question.sequence) => &[Round, Document],
            Facts::AnswerRejected(facts) if is_gap(facts.question) => &[Round, Document],
            Facts::GapAccepted(facts) if is_gap(facts.question.sequence) => &[Round, Document],
            Facts::AnswerRevoked(facts) if is_gap(facts.question) => &[Round, Document],
            Facts::PlanConfirmed(_) => &[Acceptance],
            Facts::RulesRecorded(_)
            | Facts::GapFound(_)
            | Facts::GapWithdrawn(_)
            | Facts::ConfirmationExpired(_) => {
                // What the rules make the desk say follows the cause; then come the papers.
                if self.0.as_ref().is_some_and(|cause| cause.written) {
                    self.0 = None;
                }
                return;
            }
            Facts::PaperRecorded(facts) => return self.write(facts.kind),
            // A refusal changes nothing, here neither.
            Facts::CommandRefused(_) => return,
            _ => &[],
        };
        self.0 = (!due.is_empty()).then(|| Cause { at, due: due.to_vec(), written: false });
    }

    fn write(&mut self, kind: PaperKind) {
        if kind == PaperKind::Handoff {
            self.0 = None;
        } else if let Some(cause) = &mut self.0 {
            cause.written = true;
            let after = cause.due.iter().position(|due| *due == kind).map_or(0, |place| place + 1);
            cause.due.drain(..after);
        }
    }
}
