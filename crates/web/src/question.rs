//! A question as pages show it: in the wording that the visitor wants, with the forms that fit its kinds.

mod draft;
mod outcome;
mod page;

use demur_api::question::QuestionView;
use demur_core::{time::Timestamp, visible::visible};
use demur_ledger::{
    content::AnswerValue,
    facts::{AnswerKind, Assurance, Severity},
    question::OutcomeKind,
};

pub use draft::{Draft, Wrong};
pub use outcome::{Closed, how_known};
pub use page::{Happening, Notice, QuestionPage, VisitorRights};

use crate::{
    frame::{Level, Visitor},
    passkey::Sending,
    text::{self, Html, Writer},
    when::When,
    words::{ENGLISH, Words, fill},
};

/// How somebody looks at a question.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// When.
    pub now: Timestamp,
    /// In which wording.
    pub level: Level,
    /// Who; none shows no forms.
    pub visitor: Option<&'a Visitor>,
    /// Whether everything is shown, and not only the beginning of what is long.
    pub whole: bool,
}

/// A question, ready to be shown.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its name.
    pub id: String,
    /// Its trace.
    pub trace: String,
    /// `open`, or what became of it.
    pub state: OutcomeKind,
    /// `block` or `warn`.
    pub severity: &'static str,
    /// The same in words.
    pub weight: &'static str,
    /// Who asks.
    pub asker: Html,
    /// Whose plan it is about, and what that is about.
    pub plan: Option<Html>,
    /// Who wrote the words.
    pub writer: Html,
    /// Language and direction of the words, as attributes.
    pub tongue: Html,
    /// The beginning of the question, for the title of a page.
    pub title: String,
    /// The question for one line.
    pub heading: Html,
    /// The question as a block, where a line does not say everything.
    pub body: Option<Html>,
    /// What was found and why it is not enough.
    pub context: Option<Html>,
    /// How much was left out of what is long, in words.
    pub left_out: Option<String>,
    /// What the answer is for.
    pub field: Option<Html>,
    /// What waits.
    pub blocks: Vec<String>,
    /// When it was asked.
    pub asked: When,
    /// When it ends.
    pub deadline: Option<When>,
    /// What holds then.
    pub default: Option<Html>,
    /// What the asker would answer, where that is no choice.
    pub recommendation: Option<Html>,
    /// What became of it; none while it is open.
    pub closed: Option<Closed>,
    /// Whether the program that asked has hung up.
    pub deserted: bool,
    /// In which wording it is shown.
    pub level: Level,
    /// The forms; none for somebody who may not answer, or where it is settled.
    pub ways: Option<Ways>,
    /// Why there are no forms though it is open.
    pub no_way: Option<&'static str>,
    /// Whether that is because the visitor has no passkey.
    pub wants_passkey: bool,
    /// Whether the visitor can decline it, give more time and so on.
    pub may_act: bool,
    /// How the visitor changes an answer of their own; none where there is none, and in lists.
    pub change: Option<Change>,
    /// What was typed before, and what is wrong with it.
    pub draft: Draft,
    /// The texts of the interface.
    pub words: &'static Words,
}

/// How an answer can be changed by whoever gave it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The number of the event with the answer.
    pub answer: String,
    /// How it can be answered anew.
    pub ways: Ways,
}

/// How a question can be answered.
#[derive(Clone, Debug)]
pub struct Ways {
    /// By choosing.
    pub choices: Vec<Offer>,
    /// By yes or no; the asker's recommendation stands beside it.
    pub yes_no: Option<YesNo>,
    /// By one of these texts.
    pub suggestions: Vec<Html>,
    /// By what fits.
    pub kinds: Vec<AnswerKind>,
    /// By accepting what it points at.
    pub accept: bool,
    /// What the form carries that sends a secret at once.
    pub form_key: String,
    /// How a secret can be sent, which no page shows for review.
    pub sending: Sending,
}

impl Ways {
    pub(crate) fn text(&self) -> bool {
        self.kinds.contains(&AnswerKind::Freetext)
    }

    pub(crate) fn number(&self) -> bool {
        self.kinds.contains(&AnswerKind::Numeric)
    }

    pub(crate) fn secret(&self) -> bool {
        self.kinds.contains(&AnswerKind::Secret)
    }
}

/// Something that can be chosen.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What people read.
    pub label: Html,
    /// Whether the asker would choose it.
    pub recommended: bool,
}

/// Yes and no, and which of them the asker would choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct YesNo {
    /// Whether it is yes.
    pub recommends_yes: bool,
    /// Whether it is no.
    pub recommends_no: bool,
}

impl Card {
    /// Returns a question as somebody sees it.
    pub fn new(question: &QuestionView, look: &Look<'_>) -> Self {
        let writer = if question.gap.is_some() { Writer::Rule } else { Writer::Agent };
        let language = question.language.as_deref();
        let said = wording(question, look.level);
        let (heading, body, left_out) = lines(said, language, &writer, look.whole);
        let (ways, no_way) = ways(question, look);
        let offered = ways.as_ref().is_some_and(|ways| !ways.choices.is_empty() || ways.yes_no.is_some());
        Self {
            id: question.id.to_string(),
            trace: question.trace.to_string(),
            state: question.state,
            severity: match question.severity {
                Severity::Block => "block",
                Severity::Warn => "warn",
            },
            weight: weight(question.severity),
            asker: text::line(question.asked_by()),
            plan: question.plan.as_ref().map(|plan| text::line(&plan.words())),
            writer: writer.words(),
            tongue: text::tongue(language),
            title: visible(text::cut(said, MAX_TITLE_CHARS).0).into_owned(),
            heading,
            body,
            context: context(question, look, &writer),
            left_out: (left_out > 0).then(|| fill(ENGLISH.more_characters, &[&left_out])),
            field: question.field.as_deref().map(text::line),
            blocks: question.blocks.iter().map(ToString::to_string).collect(),
            asked: When::new(question.asked, look.now),
            deadline: question.deadline.map(|deadline| When::new(deadline, look.now)),
            default: question.default.as_ref().map(|value| value_words(question, value)),
            recommendation: question
                .recommendation
                .as_ref()
                .filter(|_| !offered)
                .map(|value| value_words(question, value)),
            closed: question.outcome.as_ref().map(|ending| Closed::new(question, ending, look.now)),
            deserted: question.waited_for == Some(false),
            level: look.level,
            may_act: may_act(question, look),
            wants_passkey: no_way == Some(ENGLISH.assurance_too_low),
            ways,
            no_way,
            change: change(question, look),
            draft: Draft::default(),
            words: &ENGLISH,
        }
    }

    /// Returns whether it still waits.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }
}

/// Returns how much depends on a question, in words.
pub const fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => ENGLISH.must_be_answered,
        Severity::Warn => ENGLISH.please_confirm,
    }
}

/// Returns the words of a question at a level.
pub fn wording(question: &QuestionView, level: Level) -> &str {
    let words = match level {
        Level::Terse => &question.terse,
        Level::Normal => &question.question,
        Level::Detailed => &question.detailed,
    };
    words.as_deref().unwrap_or(ENGLISH.erased)
}

/// Returns a value as people read it: the label of a choice and not what it is recorded as.
pub fn value_words(question: &QuestionView, value: &AnswerValue) -> Html {
    let label = match value {
        AnswerValue::Text(text) => {
            question.choices.iter().find(|choice| choice.value.as_str() == text.as_str())
        }
        _ => None,
    };
    match label {
        Some(choice) => text::line(&choice.label),
        None => text::line(&value.to_string()),
    }
}

/// Returns the words for a heading, the whole of them where a heading does not do, and how much was left out.
fn lines(
    said: &str,
    language: Option<&str>,
    writer: &Writer<'_>,
    whole: bool,
) -> (Html, Option<Html>, usize) {
    let (heading, beyond) = text::beginning(said, MAX_HEADING_CHARS);
    if beyond == 0 && text::is_plain(said) {
        return (heading, None, 0);
    }
    let (shown, left_out) = if whole { (said, 0) } else { text::cut(said, MAX_LISTED_CHARS) };
    (heading, Some(text::block(shown, language, writer)), left_out)
}

fn context(question: &QuestionView, look: &Look<'_>, writer: &Writer<'_>) -> Option<Html> {
    let said = question.context.as_deref()?;
    // The detailed wording often ends with it.
    if look.level == Level::Detailed && wording(question, Level::Detailed).contains(said) {
        return None;
    }
    let shown = if look.whole { said } else { text::cut(said, MAX_LISTED_CHARS).0 };
    Some(text::block(shown, question.language.as_deref(), writer))
}

/// Returns the forms, or why there are none.
fn ways(question: &QuestionView, look: &Look<'_>) -> (Option<Ways>, Option<&'static str>) {
    let Some(visitor) = look.visitor.filter(|_| question.is_open()) else { return (None, None) };
    if !visitor.may_answer {
        return (None, Some(ENGLISH.auditor_reads));
    }
    if !question.people {
        return (None, Some(ENGLISH.only_people_not));
    }
    match Sending::of(visitor, question.assurance) {
        Sending::Missing => (None, Some(ENGLISH.assurance_too_low)),
        sending @ (Sending::Plain | Sending::Either | Sending::Signed) => {
            (Some(fitting(question, visitor, sending)), None)
        }
    }
}

/// Returns whether a visitor may do something about a question, be it to decline it.
fn may_act(question: &QuestionView, look: &Look<'_>) -> bool {
    question.is_open() && question.people && look.visitor.is_some_and(|visitor| visitor.may_answer)
}

/// Returns how sure somebody has to be who answers a question, or changes an answer: no less than the answer was.
pub fn least(question: &QuestionView) -> Assurance {
    let given = question.outcome.as_ref().and_then(|ending| ending.assurance);
    given.map_or(question.assurance, |given| given.max(question.assurance))
}

/// Returns how a visitor changes the answer to a question, if it is their own: one that was relayed is any person's.
fn change(question: &QuestionView, look: &Look<'_>) -> Option<Change> {
    let visitor = look.visitor.filter(|visitor| look.whole && visitor.may_answer && question.people)?;
    let ending = question.outcome.as_ref().filter(|ending| ending.state == OutcomeKind::Answered)?;
    let assurance = ending.assurance?;
    let is_own = assurance == Assurance::Relayed || ending.by.as_deref() == Some(visitor.name.as_str());
    // A passkey speaks in the name of its person, and another key in its holder's.
    let is_of_person = ending.principal.is_none() || assurance == Assurance::Passkey;
    let sending = Sending::of(visitor, least(question));
    (is_own && is_of_person && !sending.is_missing())
        .then(|| Change { answer: ending.event.to_string(), ways: fitting(question, visitor, sending) })
}

/// Returns the forms that fit the kinds of a question.
fn fitting(question: &QuestionView, visitor: &Visitor, sending: Sending) -> Ways {
    let has = |kind| question.kinds.contains(&kind);
    let recommends = |value: &AnswerValue| question.recommendation.as_ref() == Some(value);
    let choices = question.choices.iter().map(|choice| {
        let recommended = matches!(&question.recommendation, Some(AnswerValue::Text(text)) if text.as_str() == choice.value.as_str());
        Offer { label: text::line(&choice.label), recommended }
    });
    let yes_no = YesNo {
        recommends_yes: recommends(&AnswerValue::Flag(true)),
        recommends_no: recommends(&AnswerValue::Flag(false)),
    };
    let suggests = has(AnswerKind::Freetext);
    Ways {
        choices: choices.filter(|_| has(AnswerKind::MultipleChoice)).collect(),
        yes_no: has(AnswerKind::YesNo).then_some(yes_no),
        suggestions: question.suggestions.iter().filter(|_| suggests).map(|said| text::line(said)).collect(),
        kinds: question.kinds.clone(),
        accept: question.gap.is_some() && question.severity == Severity::Warn,
        form_key: visitor.form_key.clone(),
        sending,
    }
}

/// How many characters a title has at most.
const MAX_TITLE_CHARS: usize = 60;
/// How many characters a heading has at most.
const MAX_HEADING_CHARS: usize = 240;
/// How many characters a list shows of a text.
const MAX_LISTED_CHARS: usize = 1200;
