//! Why something may not happen to a question now, each with a stable code, the field and the cure.

use demur_core::time::Timestamp;

use super::Given;
use crate::{
    attribution::assurance_word,
    facts::{AnswerKind, Assurance},
    name::{PrincipalId, Sequence},
    state::Blame,
};

/// A rule of questions said no. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// No such question in this trace.
    #[error("expected a question of this trace, found event {question}")]
    Unknown {
        /// The event it names.
        question: Sequence,
    },
    /// Another question than the one the author saw.
    #[error("the hash is not that of question {question}: an answer belongs to one question in one wording")]
    OtherQuestion {
        /// The question at that place.
        question: Sequence,
    },
    /// Somebody was first (ONE-02).
    #[error(
        "question {question} was already answered by {} in event {} at {} ({})",
        who(.given), .given.at, .given.time, assurance_word(.given.assurance)
    )]
    AlreadyAnswered {
        /// The question.
        question: Sequence,
        /// The answer that won.
        given: Given,
    },
    /// It ended in another way.
    #[error("question {question} is closed: {outcome}")]
    Closed {
        /// The question.
        question: Sequence,
        /// How.
        outcome: &'static str,
    },
    /// Too late.
    #[error("question {question} ended unanswered at {deadline}")]
    Expired {
        /// The question.
        question: Sequence,
        /// Its end.
        deadline: Timestamp,
    },
    /// Too early for expiry or default.
    #[error("question {question} can still be answered: its deadline has not passed, or it has none")]
    StillInTime {
        /// The question.
        question: Sequence,
    },
    /// The asker answers itself (ONE-07).
    #[error(
        "an asker does not settle its own question, nor whoever submitted a plan a gap of it: what it thinks is an answer_claimed"
    )]
    SelfAnswer,
    /// Not among those who may answer.
    #[error("{principal} is not among those who may answer this")]
    NotEntitled {
        /// Who.
        principal: PrincipalId,
    },
    /// People may not answer it.
    #[error("this is for the keys it names, not for people")]
    NotForPeople,
    /// An assurance that the proof does not carry.
    #[error("the proof {proof} cannot carry the assurance {:?}", assurance_word(*claimed))]
    AssuranceForged {
        /// What the facts say.
        claimed: Assurance,
        /// What stands behind it.
        proof: &'static str,
    },
    /// Less than the question demands.
    #[error("expected at least the assurance {:?}, found {:?}", assurance_word(*least), assurance_word(*claimed))]
    AssuranceTooLow {
        /// What was found.
        claimed: Assurance,
        /// What the question demands.
        least: Assurance,
    },
    /// Less than the answer has that it would replace.
    #[error(
        "expected at least the assurance {:?}, that of the answer in event {answer}, found {:?}",
        assurance_word(*least), assurance_word(*claimed)
    )]
    ReplacesSurer {
        /// What was found.
        claimed: Assurance,
        /// What the answer has.
        least: Assurance,
        /// The answer.
        answer: Sequence,
    },
    /// Not a kind of answer that fits (AEP-10).
    #[error("expected {}, found {}", kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" or "), found.as_str())]
    Kind {
        /// What was found.
        found: AnswerKind,
        /// What fits.
        kinds: Vec<AnswerKind>,
    },
    /// No such choice.
    #[error("expected the number of one of the {choices} choices")]
    Choice {
        /// How many there are.
        choices: u64,
    },
    /// A warning can be accepted, this cannot.
    #[error("question {question} must be answered: only one of severity warn can be accepted as it is")]
    MustBeAnswered {
        /// The question.
        question: Sequence,
    },
    /// Only the asker may.
    #[error("only the asker of question {question} may do this")]
    NotAsker {
        /// The question.
        question: Sequence,
    },
    /// A guess at a secret.
    #[error(
        "the answer to question {question} is secret: what the asker thinks it is has no place in the record"
    )]
    Secret {
        /// The question.
        question: Sequence,
    },
    /// Somebody else's answer.
    #[error("answer {answer} has another author: only its author replaces it or takes it back")]
    NotYourAnswer {
        /// The answer.
        answer: Sequence,
    },
    /// No answer that could be replaced or taken back.
    #[error("question {question} is open: there is no answer to replace or to take back")]
    NotAnswered {
        /// The question.
        question: Sequence,
    },
    /// Not the answer that counts.
    #[error("the answer to question {question} is event {answer}")]
    NotTheAnswer {
        /// The question.
        question: Sequence,
        /// Its answer.
        answer: Sequence,
    },
    /// Something waits for an answer (CLR-62, LED-31).
    #[error("{operation} is blocked until question {question} is settled")]
    OperationBlocked {
        /// What.
        operation: String,
        /// The question.
        question: Sequence,
    },
    /// Not every question is settled (CLR-31).
    #[error(
        "expected every question to be settled, still open: {}",
        questions.iter().map(Sequence::to_string).collect::<Vec<_>>().join(", ")
    )]
    Unsettled {
        /// Those that are not.
        questions: Vec<Sequence>,
    },
    /// A question whose parts do not belong together.
    #[error("{field}: expected {expected}")]
    Form {
        /// The fact.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// More questions than a trace has room for.
    #[error("a trace has at most {limit} questions")]
    TooMany {
        /// How many.
        limit: usize,
    },
}

fn who(given: &Given) -> String {
    given.by.map_or_else(|| "a person".to_owned(), |principal| principal.to_string())
}

impl QuestionError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "QUESTION_UNKNOWN",
            Self::OtherQuestion { .. } => "QUESTION_OTHER",
            Self::AlreadyAnswered { .. } => "ALREADY_ANSWERED",
            Self::Closed { .. } => "QUESTION_CLOSED",
            Self::Expired { .. } => "QUESTION_EXPIRED",
            Self::StillInTime { .. } => "QUESTION_IN_TIME",
            Self::SelfAnswer => "SELF_ANSWER",
            Self::NotEntitled { .. } | Self::NotForPeople => "NOT_ENTITLED",
            Self::AssuranceForged { .. } => "ASSURANCE_FORGED",
            Self::AssuranceTooLow { .. } | Self::ReplacesSurer { .. } => "ASSURANCE_TOO_LOW",
            Self::Kind { .. } => "ANSWER_KIND",
            Self::Choice { .. } => "ANSWER_CHOICE",
            Self::MustBeAnswered { .. } => "MUST_BE_ANSWERED",
            Self::NotAsker { .. } => "NOT_ASKER",
            Self::Secret { .. } => "QUESTION_SECRET",
            Self::NotYourAnswer { .. } => "NOT_YOUR_ANSWER",
            Self::NotAnswered { .. } => "NOT_ANSWERED",
            Self::NotTheAnswer { .. } => "NOT_THE_ANSWER",
            Self::OperationBlocked { .. } => "OPERATION_BLOCKED",
            Self::Unsettled { .. } => "QUESTIONS_OPEN",
            Self::Form { .. } => "QUESTION_FORM",
            Self::TooMany { .. } => "TOO_MANY",
        }
    }

    /// Returns the field of the statement it is about.
    pub fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown { .. }
            | Self::OtherQuestion { .. }
            | Self::AlreadyAnswered { .. }
            | Self::Closed { .. }
            | Self::Expired { .. }
            | Self::StillInTime { .. }
            | Self::MustBeAnswered { .. }
            | Self::NotAsker { .. }
            | Self::NotAnswered { .. }
            | Self::Secret { .. } => "facts.question",
            Self::SelfAnswer | Self::NotEntitled { .. } => "proof.key",
            Self::NotForPeople => "statement.role",
            Self::AssuranceForged { .. } | Self::AssuranceTooLow { .. } => "facts.assurance",
            Self::ReplacesSurer { .. } => "facts.answer.assurance",
            Self::Kind { .. } => "facts.kind",
            Self::Choice { .. } => "facts.choice",
            Self::NotYourAnswer { .. } | Self::NotTheAnswer { .. } => "facts.answer",
            Self::OperationBlocked { .. } => "facts.operation",
            Self::Unsettled { .. } | Self::TooMany { .. } => return None,
            Self::Form { field, .. } => match *field {
                "answerers" => "facts.answerers",
                "assurance" => "facts.assurance",
                "blocks" => "facts.blocks",
                "choice" => "facts.choice",
                "choices" => "facts.choices",
                "deadline" => "facts.deadline",
                "kinds" => "facts.kinds",
                "repeats" => "facts.repeats",
                _ => "facts.question",
            },
        })
    }

    /// Returns what has to happen first, or instead.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "name the event that asked",
            Self::OtherQuestion { .. } => "read the question again and answer that",
            Self::AlreadyAnswered { .. } => "read the answer; only its author can replace it or take it back",
            Self::Closed { .. } => "ask again, or let the desk escalate it",
            Self::Expired { .. } => "ask the desk to escalate it, or ask again",
            Self::StillInTime { .. } => "wait for the deadline",
            Self::SelfAnswer => "let another answerer answer",
            Self::NotEntitled { .. } => "let an answerer whom the question names answer",
            Self::NotForPeople => "answer with a key that the question names",
            Self::AssuranceForged { .. } => "say the assurance that the proof carries",
            Self::AssuranceTooLow { .. } => "answer through an interface with more assurance",
            Self::ReplacesSurer { .. } => "replace it through an interface with as much assurance",
            Self::Kind { .. } => "answer in one of the kinds the question accepts",
            Self::Choice { .. } => "choose one of the choices",
            Self::MustBeAnswered { .. } | Self::NotAnswered { .. } => "answer it",
            Self::NotAsker { .. } => "leave this to the asker",
            Self::Secret { .. } => "wait for the answer",
            Self::NotYourAnswer { .. } => "leave this to the author of the answer",
            Self::NotTheAnswer { .. } => "name the answer that counts",
            Self::OperationBlocked { .. } => "wait for the answer, then try again",
            Self::Unsettled { .. } => "answer the open questions, or accept the warnings among them",
            Self::Form { .. } => "ask with parts that belong together",
            Self::TooMany { .. } => "open a new trace",
        }
    }

    /// Returns who has to do something about it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Unknown { .. }
            | Self::OtherQuestion { .. }
            | Self::Kind { .. }
            | Self::Choice { .. }
            | Self::NotTheAnswer { .. }
            | Self::Form { .. } => Blame::Malformed,
            Self::AlreadyAnswered { .. }
            | Self::Closed { .. }
            | Self::Expired { .. }
            | Self::SelfAnswer
            | Self::NotEntitled { .. }
            | Self::NotForPeople
            | Self::AssuranceForged { .. }
            | Self::AssuranceTooLow { .. }
            | Self::ReplacesSurer { .. }
            | Self::MustBeAnswered { .. }
            | Self::NotAsker { .. }
            | Self::Secret { .. }
            | Self::NotYourAnswer { .. } => Blame::Forbidden,
            Self::StillInTime { .. }
            | Self::NotAnswered { .. }
            | Self::OperationBlocked { .. }
            | Self::Unsettled { .. }
            | Self::TooMany { .. } => Blame::TooEarly,
        }
    }
}
