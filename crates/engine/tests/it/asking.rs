//! Questions and plans for the tests: facts, words that fit them, and people who speak through the desk.

use demur_core::{commitment::Commitment, hash::sha256};
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
    refusal::RuleRefusal,
};
use demur_ledger::{
    content::{
        ActContent, AnswerClaimContent, AnswerContent, AnswerValue, AttestationContent, Choice,
        ConfirmationContent, DefaultContent, DeliveryContent, PlanContent, QuestionContent, RulesContent,
        Sealed, Shown, Wording, Wordings,
    },
    event_type::{Content, Facts},
    facts::{AnswerKind, Answerers, Assurance, Question, QuestionAnswered, QuestionAsked, Severity},
    name::{Operation, Position, PrincipalId, Sequence},
    role::Role,
};

use crate::{
    confirmation,
    words::{list, text, way_of, whole},
    world::{Sent, Speaker, To, World, position, refusal},
};

impl World {
    /// Returns a store where an agent and an answerer are registered, too.
    pub(crate) fn asking() -> Self {
        let mut world = Self::new();
        for role in [Role::Agent, Role::Answerer] {
            let speaker = world.new_speaker(role);
            world.register(&speaker);
            world.speakers.push(speaker);
        }
        world
    }

    /// Returns one where the agent has asked this.
    pub(crate) fn asked(question: Question) -> (Self, Position) {
        let mut world = Self::asking();
        let asked = world.ask(question);
        (world, asked)
    }

    /// Has the agent ask.
    #[track_caller]
    pub(crate) fn ask(&mut self, question: Question) -> Position {
        position(&self.speak(Role::Agent, QuestionAsked(question)))
    }

    /// Has whoever speaks in this role say this.
    pub(crate) fn speak(&mut self, role: Role, facts: impl Into<Facts>) -> Reply {
        let sent = self.spoken(role, facts);
        self.send(To::Run, &sent)
    }

    /// Returns what whoever speaks in this role would send.
    pub(crate) fn spoken(&mut self, role: Role, facts: impl Into<Facts>) -> Sent {
        let draft = self.draft(To::Run, role, facts);
        let key = self.speaker(role).key.clone();
        self.sign(draft, &key)
    }

    /// Has a person do this through the desk, or the desk itself.
    pub(crate) fn told(&mut self, role: Role, facts: impl Into<Facts>) -> Reply {
        let mut facts = facts.into();
        if role == Role::Person && facts.attribution() == Some(None) {
            facts.attribute(way_of(&facts));
        }
        let content = fitting(&facts);
        let first = Saying { role, facts, content };
        self.command(To::Run, Command::record(first, Consequences::default()))
    }

    /// Returns the code with which the desk refuses what an answerer says.
    #[track_caller]
    pub(crate) fn refused_answer(&mut self, facts: impl Into<Facts>) -> RuleRefusal {
        refusal(&self.speak(Role::Answerer, facts))
    }

    /// Registers somebody else who may answer.
    pub(crate) fn other_answerer(&mut self) -> PrincipalId {
        let speaker: Speaker = self.new_speaker(Role::Answerer);
        self.register(&speaker);
        let principal = speaker.principal;
        self.speakers.push(speaker);
        principal
    }
}

/// Returns a question that anybody may answer in any words.
pub(crate) fn question() -> Question {
    Question {
        about: None,
        answerers: anybody(),
        asker_settles: false,
        assurance: Assurance::Agent,
        blocks: list([operation("build")]),
        choices: whole(0),
        deadline: None,
        default: false,
        kinds: list([AnswerKind::Freetext]),
        repeats: None,
        severity: Severity::Block,
    }
}

/// Returns people and everybody with the role.
pub(crate) const fn anybody() -> Answerers {
    Answerers { people: true, principals: None }
}

/// Returns the name of an operation.
pub(crate) fn operation(name: &str) -> Operation {
    Operation::try_from(name.to_owned()).unwrap()
}

/// Returns an answer in words, by a key.
pub(crate) const fn answer(question: Position) -> QuestionAnswered {
    QuestionAnswered {
        attribution: None,
        assurance: Assurance::Agent,
        choice: None,
        kind: AnswerKind::Freetext,
        question,
    }
}

/// Returns an answer in words, by a person at the terminal.
pub(crate) fn typed(question: Position) -> QuestionAnswered {
    QuestionAnswered { assurance: Assurance::Terminal, ..answer(question) }
}

/// Returns the choices of every question that has some.
pub(crate) fn choices(count: u64) -> Vec<Choice> {
    (0..count).map(|at| Choice { label: text("a label"), value: text(&format!("value-{at}")) }).collect()
}

/// Returns content that fits these facts.
pub(crate) fn fitting(facts: &Facts) -> Option<Content> {
    Some(match facts {
        Facts::QuestionAsked(facts) => Content::QuestionAsked(asks(&facts.0)),
        Facts::GapFound(facts) => Content::GapFound(asks(&facts.0)),
        Facts::QuestionAnswered(facts) => Content::QuestionAnswered(answers(facts)),
        Facts::AnswerSuperseded(facts) => Content::AnswerSuperseded(answers(&facts.answer)),
        Facts::AnswerClaimed(_) => {
            Content::AnswerClaimed(AnswerClaimContent { answer: words("surely"), note: None })
        }
        Facts::QuestionDelivered(_) => Content::QuestionDelivered(DeliveryContent {
            channel: text("terminal"),
            said_by: None,
            shown: shown(),
            to: text("somebody"),
        }),
        Facts::QuestionDefaulted(_) => {
            Content::QuestionDefaulted(DefaultContent { default: words("as usual") })
        }
        Facts::GapAccepted(_) => Content::GapAccepted(act()),
        Facts::AnswerRevoked(_) => Content::AnswerRevoked(act()),
        Facts::QuestionDeclined(_) => Content::QuestionDeclined(act()),
        Facts::QuestionPassedOn(_) => Content::QuestionPassedOn(act()),
        Facts::QuestionEscalated(_) => Content::QuestionEscalated(act()),
        Facts::QuestionExtended(_) => Content::QuestionExtended(act()),
        Facts::QuestionCancelled(_) => Content::QuestionCancelled(act()),
        other => return of_plans(other),
    })
}

fn of_plans(facts: &Facts) -> Option<Content> {
    Some(match facts {
        Facts::PlanSubmitted(_) => Content::PlanSubmitted(PlanContent {
            agent: text("builder"),
            plan: serde_json::Map::new(),
            session: text("0196bb7c-0000-7000-8000-000000000001"),
        }),
        Facts::RulesRecorded(_) => Content::RulesRecorded(RulesContent {
            document: serde_json::Map::new(),
            hash: sha256(b"{}"),
            packs: list([text("default")]),
        }),
        Facts::PlanConfirmed(_) => {
            Content::PlanConfirmed(ConfirmationContent { plan: serde_json::Map::new(), provenance: list([]) })
        }
        Facts::PlanAttested(_) => {
            Content::PlanAttested(AttestationContent { attestation: serde_json::Map::new() })
        }
        other => return confirmation::fitting(other),
    })
}

fn asks(facts: &Question) -> QuestionContent {
    QuestionContent {
        ask: None,
        choices: list(choices(facts.choices.as_u64())),
        context: None,
        default: facts.default.then(|| words("as usual")),
        field: Some(text("output_path")),
        gap: None,
        language: text("en"),
        recommendation: None,
        request: Some(sha256(b"the request")),
        rule: None,
        suggestions: list([]),
        wording: Wordings {
            detailed: text("Where to, and why does it matter?"),
            normal: text("Where to?"),
            terse: text("Where?"),
        },
    }
}

/// Returns the words of an answer to any question of these tests.
pub(crate) fn answers(facts: &QuestionAnswered) -> AnswerContent {
    let answer = match (facts.kind, facts.choice) {
        (AnswerKind::YesNo, _) => AnswerValue::Flag(true),
        (AnswerKind::Numeric, _) => AnswerValue::Number(3.into()),
        (AnswerKind::MultipleChoice, Some(choice)) => words(&format!("value-{}", choice.as_u64())),
        (AnswerKind::Secret, _) => {
            AnswerValue::Sealed(Sealed { commitment: Commitment::from(sha256(b"a secret")) })
        }
        _ => words("dist"),
    };
    let shown = Some(shown());
    AnswerContent { answer, by: None, note: None, request: Some(sha256(b"the request")), signed: None, shown }
}

fn words(value: &str) -> AnswerValue {
    AnswerValue::Text(text(value))
}

fn shown() -> Shown {
    Shown { choices: list([]), language: text("en"), recommendation: false, wording: Wording::Normal }
}

fn act() -> ActContent {
    ActContent { by: None, reason: text("because") }
}

/// Returns the place of an event.
pub(crate) fn at(world: &World, sequence: Sequence) -> Position {
    Position::new(sequence, world.run.hash(sequence).unwrap())
}
