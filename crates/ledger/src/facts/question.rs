//! Facts of questions: asked, answered, declined, handed on, ended (design: one question, many doors; LED-31).

use demur_core::{
    limit::{List, Whole},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribution, EventFacts, MaybeAttribution, RefusalCode};
use crate::name::{Operation, Position, PrincipalId, Sequence, present};

/// A question, as far as anything is decided by it. What it says is content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The proposal or intent of a run that waits for it; without one, everything it blocks does.
    #[serde(deserialize_with = "present")]
    pub about: Option<Sequence>,
    /// Who may answer.
    pub answerers: Answerers,
    /// Whether the asker's own answer counts, because a rule says so (ONE-07).
    pub asker_settles: bool,
    /// The least assurance an answer must have.
    pub assurance: Assurance,
    /// What is refused until it is settled, each once, in the asker's order.
    pub blocks: List<Operation, 0, 32>,
    /// How many choices there are; at least two exactly with the kind `multiple_choice`.
    pub choices: Whole<0, 32>,
    /// When it ends unanswered.
    #[serde(deserialize_with = "present")]
    pub deadline: Option<Timestamp>,
    /// Whether a default was declared for that moment.
    pub default: bool,
    /// The kinds of answer that fit, in order, each once.
    pub kinds: List<AnswerKind, 1, 4>,
    /// The gap this one puts again: its answer did not settle it, or the rules ask otherwise now.
    #[serde(deserialize_with = "present")]
    pub repeats: Option<Sequence>,
    /// How much depends on it.
    pub severity: Severity,
}

impl Question {
    /// Returns whether the answer stays out of the ledger.
    pub fn is_secret(&self) -> bool {
        self.kinds.contains(&AnswerKind::Secret)
    }
}

/// Who may answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answerers {
    /// Whether people may, whose answers the desk records.
    pub people: bool,
    /// Whose keys may, in order, each once; null for every key with the role `answerer`.
    #[serde(deserialize_with = "present")]
    pub principals: Option<List<PrincipalId, 0, 64>>,
}

/// How sure one can be that a person said it, lowest first. Derived from the proof, never from this word alone:
/// a key is `agent`; `relayed`, `terminal` and `signed_in` are the desk's word; `passkey` needs a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// A key said it.
    Agent,
    /// It came through the asking client's own interface.
    Relayed,
    /// The same user of this machine typed it.
    Terminal,
    /// Somebody with a session in the browser said it.
    SignedIn,
    /// A passkey approved it.
    Passkey,
}

impl Assurance {
    /// Every assurance, lowest first.
    pub const ALL: [Self; 5] = [Self::Agent, Self::Relayed, Self::Terminal, Self::SignedIn, Self::Passkey];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Relayed => "relayed",
            Self::Terminal => "terminal",
            Self::SignedIn => "signed_in",
            Self::Passkey => "passkey",
        }
    }
}

/// How much depends on a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Must be answered.
    Block,
    /// Must be answered, or accepted as it is.
    Warn,
}

/// The kinds of answers (AEP-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Any text.
    Freetext,
    /// Yes or no.
    YesNo,
    /// One of the choices, by its value.
    MultipleChoice,
    /// A number.
    Numeric,
    /// A value that stays out of the ledger; the answer holds a commitment to it. Never with another kind.
    Secret,
}

impl AnswerKind {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Freetext => "freetext",
            Self::YesNo => "yes_no",
            Self::MultipleChoice => "multiple_choice",
            Self::Numeric => "numeric",
            Self::Secret => "secret",
        }
    }
}

/// Somebody asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct QuestionAsked(pub Question);

/// The rules found a gap in a plan; the desk asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GapFound(pub Question);

/// What every answer decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionAnswered {
    /// How sure one can be who said it.
    pub assurance: Assurance,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// The number of the choice, from 0, exactly with the kind `multiple_choice`.
    #[serde(deserialize_with = "present")]
    pub choice: Option<Whole<0, 31>>,
    /// What kind of answer it is.
    pub kind: AnswerKind,
    /// The question, by number and hash: an answer belongs to one wording.
    pub question: Position,
}

/// An answer takes the place of an earlier one, by whoever gave that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerSuperseded {
    /// The new answer.
    pub answer: QuestionAnswered,
    /// The answer it replaces.
    pub replaces: Sequence,
}

/// An answer is taken back; the question is open again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRevoked {
    /// The answer.
    pub answer: Sequence,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// The question.
    pub question: Sequence,
}

/// The asker says what it thinks. It settles nothing (ONE-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerClaimed {
    /// The question.
    pub question: Sequence,
}

/// The desk did not take an answer: it is not of a kind that the question takes. The question stays open (CLR-44).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRejected {
    /// Why, as a stable code.
    pub code: RefusalCode,
    /// The question.
    pub question: Sequence,
}

/// Somebody accepts what a question of severity `warn` points at (CLR-32).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapAccepted {
    /// How sure one can be who said it.
    pub assurance: Assurance,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// The question, by number and hash.
    pub question: Position,
}

/// The rules no longer find the gap: another answer has settled it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapWithdrawn {
    /// The question.
    pub question: Sequence,
}

/// Somebody who could answer will not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionDeclined {
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// The question.
    pub question: Sequence,
}

/// The question was put before somebody. What was shown is content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionDelivered {
    /// The question.
    pub question: Sequence,
    /// To whom, where that is a holder of keys.
    #[serde(deserialize_with = "present")]
    pub to: Option<PrincipalId>,
}

/// The desk puts the question to others: after it was declined or expired, or when an answer did not settle it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionEscalated {
    /// Who may answer from now on.
    pub answerers: Answerers,
    /// The least assurance from now on, never lower than before.
    pub assurance: Assurance,
    /// When it ends now; none for never.
    #[serde(deserialize_with = "present")]
    pub deadline: Option<Timestamp>,
    /// The question.
    pub question: Sequence,
}

/// Somebody who could answer hands the question to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionPassedOn {
    /// Who may answer from now on.
    pub answerers: Answerers,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// The question.
    pub question: Sequence,
}

/// The deadline passed, and there is no default. What waits goes on waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionExpired {
    /// The question.
    pub question: Sequence,
}

/// The deadline passed, and the declared default holds. It is no answer (AEP-08).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionDefaulted {
    /// The question.
    pub question: Sequence,
}

/// The asker gives more time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionExtended {
    /// The new deadline, later than the old one.
    pub deadline: Timestamp,
    /// The question.
    pub question: Sequence,
}

/// The asker no longer needs an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionCancelled {
    /// The question.
    pub question: Sequence,
}

impl EventFacts for QuestionAsked {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.0.about.into_iter().chain(self.0.repeats).for_each(visit);
    }
}

impl EventFacts for GapFound {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.0.about.into_iter().chain(self.0.repeats).for_each(visit);
    }
}

impl EventFacts for AnswerSuperseded {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.answer.question.sequence);
        visit(self.replaces);
    }

    fn attribution(&self) -> Option<Option<&Attribution>> {
        Some(self.answer.attribution.as_deref())
    }

    fn attribute(&mut self, attribution: Attribution) {
        self.answer.attribute(attribution);
    }
}

impl EventFacts for AnswerRevoked {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.answer);
        visit(self.question);
    }

    attributed!();
}

/// Gives acts of people their one citation and their attribution.
macro_rules! acts_of_people {
    ($($facts:ident: $($path:ident).+;)+) => {
        $(impl EventFacts for $facts {
            fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
                visit(self.$($path).+);
            }

            attributed!();
        })+
    };
}

acts_of_people! {
    QuestionAnswered: question.sequence;
    GapAccepted: question.sequence;
    QuestionDeclined: question;
    QuestionPassedOn: question;
}

/// Gives facts that refer to one question their one citation.
macro_rules! cites_the_question {
    ($($facts:ident: $($path:ident).+;)+) => {
        $(impl EventFacts for $facts {
            fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
                visit(self.$($path).+);
            }
        })+
    };
}

cites_the_question! {
    GapWithdrawn: question;
    AnswerClaimed: question;
    AnswerRejected: question;
    QuestionDelivered: question;
    QuestionEscalated: question;
    QuestionExpired: question;
    QuestionDefaulted: question;
    QuestionExtended: question;
    QuestionCancelled: question;
}
