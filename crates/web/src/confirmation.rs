//! Operations that wait for a yes or a no: what is to be done, what follows, the exact operation, and two buttons of which neither
//! is the default.

use askama::Template;
use demur_api::confirmation::ConfirmationView;
use demur_ledger::{
    attribution::assurance_word, confirmation::ConfirmationStanding, facts::Assurance, name::Sequence,
};

use crate::{
    frame::{Frame, Here, Visitor},
    passkey::Sending,
    text::{self, Html, Writer, line},
    when::clock,
    words::Words,
};

/// The list, or one of them whole.
#[derive(Template)]
#[template(path = "confirmations.html")]
pub struct ConfirmationsPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What is shown, in order.
    pub cards: Vec<ConfirmationCard>,
    /// Whether the operation is shown, and the buttons: only where it can be read whole.
    pub whole: bool,
}

/// One confirmation. What agents wrote is made inert.
pub struct ConfirmationCard {
    id: String,
    trace: String,
    action: Html,
    consequence: Option<Html>,
    asker: Html,
    risk: &'static str,
    state: Html,
    note: Option<Html>,
    deadline: Option<String>,
    operation: Html,
    digest: String,
    started: Option<Sequence>,
    /// How that ended, and where that stands.
    ended: Option<(&'static str, Sequence)>,
    /// Who wrote the words.
    writer: Html,
    /// The beginning of what is to be done, for the title of a page.
    title: String,
    asked: String,
    is_open: bool,
    least: Assurance,
}

impl ConfirmationCard {
    /// Returns a confirmation as pages show it.
    pub fn new(shown: &ConfirmationView, words: &Words) -> Self {
        let text = |text: Option<&str>| line(text.unwrap_or(words.confirmation_erased));
        let written = shown.operation.as_ref().and_then(|object| serde_json::to_string_pretty(object).ok());
        let said = shown.outcome.as_ref().map(|ending| {
            let by = ending.by.as_deref().unwrap_or_default();
            let how =
                ending.assurance.map_or_else(String::new, |level| format!(" ({})", assurance_word(level)));
            format!("{by}{how}, {}", clock(ending.time))
        });
        let state = match shown.state {
            ConfirmationStanding::Open => words.confirmation_open,
            ConfirmationStanding::Given => words.confirmation_given,
            ConfirmationStanding::Refused => words.confirmation_refused,
            ConfirmationStanding::Expired => words.confirmation_expired,
        };
        Self {
            id: shown.id.to_string(),
            trace: shown.trace.to_string(),
            action: text(shown.action.as_deref()),
            consequence: shown.consequence.as_deref().map(line),
            asker: line(&shown.asker.name),
            risk: shown.risk.map_or("", |risk| risk.as_str()),
            state: said.map_or_else(|| line(state), |said| line(&format!("{state}: {said}"))),
            note: shown.outcome.as_ref().and_then(|ending| ending.note.as_deref()).map(line),
            deadline: shown.deadline.map(clock),
            operation: lines(written.as_deref().unwrap_or(words.confirmation_erased)),
            digest: shown.digest.map(|digest| digest.to_string()).unwrap_or_default(),
            started: shown.started,
            ended: shown.ended.map(|ended| {
                let how = if ended.failed { words.confirmation_failed } else { words.confirmation_done };
                (how, ended.event)
            }),
            writer: Writer::Agent.words(),
            title: text::cut(shown.action.as_deref().unwrap_or(words.confirmation_erased), MAX_TITLE_CHARS)
                .0
                .to_owned(),
            asked: clock(shown.asked),
            is_open: shown.is_open() && shown.digest.is_some(),
            least: shown.assurance,
        }
    }

    /// Returns how somebody can say yes or no.
    fn sending(&self, visitor: &Visitor) -> Sending {
        Sending::of(visitor, self.least)
    }
}

/// Returns lines one below the other, each made inert.
fn lines(text: &str) -> Html {
    Html::joined(text.lines().map(line), "\n")
}

/// How many characters a title has at most.
const MAX_TITLE_CHARS: usize = 60;
