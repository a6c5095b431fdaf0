//! What somebody wants to do about a question, read from a form and held against the question. What does not fit is told
//! beside its field, in words that say what to do.

use demur_api::question::QuestionView;
use demur_core::limit::{List, Text, Whole};
use demur_ledger::{
    content::AnswerValue,
    facts::{AnswerKind, Severity},
    name::Sequence,
};
use demur_web::{
    question::{Draft, Wrong, value_words},
    text::{self, Html, Writer},
    words::{ENGLISH, fill},
};
use zeroize::Zeroizing;

use super::super::Form;

/// What somebody wants to do.
#[derive(Clone, Debug)]
pub(super) enum Intent {
    /// Answer.
    Answer { value: AnswerValue, note: Option<Text<1, 4096>> },
    /// Put another answer in the place of an own one.
    Replace { value: AnswerValue, note: Option<Text<1, 4096>>, answer: Option<Sequence> },
    /// Take an own answer back.
    Revoke { reason: Option<Text<1, 1000>>, answer: Option<Sequence> },
    /// Accept what it points at.
    Accept { note: Option<Text<1, 4096>> },
    /// Decline.
    Decline { reason: Option<Text<1, 4096>> },
    /// Decline with a question of one's own.
    AskBack { words: Text<1, 4096> },
    /// Hand it to others.
    Pass { to: Text<1, 64>, people: bool, reason: Option<Text<1, 4096>> },
    /// Give more time.
    Extend { seconds: Whole<1, 31_536_000> },
    /// Call it off.
    Cancel { reason: Option<Text<1, 4096>> },
    /// Put a gap of a plan again.
    AskAgain { reason: Option<Text<1, 4096>> },
    /// Take the plan back that it belongs to.
    WithdrawPlan { reason: Option<Text<1, 4096>> },
}

impl Intent {
    /// Returns what a form asks for.
    pub(super) fn read(act: &str, form: &Form, question: &QuestionView) -> Result<Self, Wrong> {
        Ok(match act {
            "answer" => Self::Answer { value: answer(form, question)?, note: optional(form, "note")? },
            "replace" => Self::Replace {
                value: answer(form, question)?,
                note: optional(form, "note")?,
                answer: replaced(form)?,
            },
            "revoke" => Self::Revoke { reason: optional(form, "reason")?, answer: replaced(form)? },
            "accept" if question.gap.is_some() && question.severity == Severity::Warn => {
                Self::Accept { note: optional(form, "note")? }
            }
            "decline" => Self::Decline { reason: optional(form, "reason")? },
            "ask-back" => Self::AskBack { words: required(form, "words")? },
            "pass" => Self::Pass {
                to: required(form, "to").map_err(|_| wrong("to", ENGLISH.wrong_name))?,
                people: form.one("people").is_some(),
                reason: optional(form, "reason")?,
            },
            "extend" => Self::Extend { seconds: seconds(form)? },
            "cancel" => Self::Cancel { reason: optional(form, "reason")? },
            "ask-again" if question.plan.is_some() => Self::AskAgain { reason: optional(form, "reason")? },
            "withdraw-plan" if question.plan.is_some() => {
                Self::WithdrawPlan { reason: optional(form, "reason")? }
            }
            _ => return Err(wrong("act", ENGLISH.wrong_act)),
        })
    }

    /// Returns its word in addresses.
    pub(super) const fn act(&self) -> &'static str {
        match self {
            Self::Answer { .. } => "answer",
            Self::Replace { .. } => "replace",
            Self::Revoke { .. } => "revoke",
            Self::Accept { .. } => "accept",
            Self::Decline { .. } => "decline",
            Self::AskBack { .. } => "ask-back",
            Self::Pass { .. } => "pass",
            Self::Extend { .. } => "extend",
            Self::Cancel { .. } => "cancel",
            Self::AskAgain { .. } => "ask-again",
            Self::WithdrawPlan { .. } => "withdraw-plan",
        }
    }

    /// Returns what is done, in words.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Answer { .. } => ENGLISH.act_answer.to_owned(),
            Self::Replace { .. } => ENGLISH.act_replace.to_owned(),
            Self::Revoke { .. } => ENGLISH.act_revoke.to_owned(),
            Self::Accept { .. } => ENGLISH.act_accept.to_owned(),
            Self::Decline { .. } => ENGLISH.act_decline.to_owned(),
            Self::AskBack { .. } => ENGLISH.act_ask_back.to_owned(),
            Self::Pass { to, people: false, .. } => format!("{} {}", ENGLISH.act_pass, to.as_str()),
            Self::Pass { to, people: true, .. } => {
                format!("{} {}, {}", ENGLISH.act_pass, to.as_str(), ENGLISH.act_pass_people)
            }
            Self::Extend { seconds } => format!("{} {}", ENGLISH.act_extend, span(seconds.as_u64())),
            Self::Cancel { .. } => ENGLISH.act_cancel.to_owned(),
            Self::AskAgain { .. } => ENGLISH.ask_again.to_owned(),
            Self::WithdrawPlan { .. } => ENGLISH.withdraw_plan.to_owned(),
        }
    }

    /// Returns what follows from it.
    pub(super) const fn consequence(&self) -> &'static str {
        match self {
            Self::Answer { .. } => ENGLISH.review_final,
            Self::Replace { .. } => ENGLISH.replace_meaning,
            Self::Revoke { .. } => ENGLISH.revoke_meaning,
            Self::Accept { .. } => ENGLISH.confirm_meaning,
            Self::Decline { .. } => ENGLISH.decline_meaning,
            Self::AskBack { .. } => ENGLISH.ask_back_meaning,
            Self::Pass { .. } => ENGLISH.pass_meaning,
            Self::Extend { .. } => ENGLISH.extend_meaning,
            Self::Cancel { .. } => ENGLISH.cancel_meaning,
            Self::AskAgain { .. } => ENGLISH.ask_again_meaning,
            Self::WithdrawPlan { .. } => ENGLISH.withdraw_plan_meaning,
        }
    }

    /// Returns the answer on one line, and what is recorded where that is something else.
    pub(super) fn shown(&self, question: &QuestionView) -> (Option<Html>, Option<Html>) {
        let (Self::Answer { value, .. } | Self::Replace { value, .. }) = self else { return (None, None) };
        let is_choice = value.fits(AnswerKind::MultipleChoice, &question.choices);
        if matches!(value, AnswerValue::Text(_)) && !is_choice {
            return (None, None);
        }
        let (shown, recorded) = (value_words(question, value), text::line(&value.to_string()));
        let differs = is_choice && shown != recorded;
        (Some(shown), differs.then_some(recorded))
    }

    /// Returns the words that are sent, as a block.
    pub(super) fn words(&self, question: &QuestionView, name: &str) -> Option<Html> {
        let said = match self {
            Self::Answer { value: AnswerValue::Text(said), .. }
            | Self::Replace { value: AnswerValue::Text(said), .. }
                if self.shown(question).0.is_none() =>
            {
                said.as_str()
            }
            Self::Revoke { reason, .. } => reason.as_deref()?,
            Self::AskBack { words } => words.as_str(),
            Self::Decline { reason }
            | Self::Pass { reason, .. }
            | Self::Cancel { reason }
            | Self::AskAgain { reason }
            | Self::WithdrawPlan { reason } => reason.as_deref()?,
            _ => return None,
        };
        Some(text::block(said, None, &Writer::Named(name)))
    }

    /// Returns whether a note can go with it.
    pub(super) const fn takes_note(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Replace { .. } | Self::Accept { .. })
    }

    /// Returns whether a passkey can sign it.
    pub(super) const fn is_signable(&self) -> bool {
        self.settles() || matches!(self, Self::Decline { .. } | Self::AskBack { .. })
    }

    /// Returns whether it has to be as sure as the question wants.
    pub(super) const fn settles(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Replace { .. } | Self::Revoke { .. } | Self::Accept { .. })
    }

    /// Returns whether it is about the answer that counts.
    pub(super) const fn changes_answer(&self) -> bool {
        matches!(self, Self::Replace { .. } | Self::Revoke { .. })
    }
}

/// Returns what is said of a secret that no page shows again, not even to be sent from there.
pub(super) fn typed_again() -> Wrong {
    wrong("secret", ENGLISH.wrong_secret)
}

/// Returns what was typed, to be shown again. A secret is typed again.
pub(super) fn draft(act: &str, form: &Form, wrong: Option<Wrong>) -> Draft {
    let typed = |name: &&str| form.one(name).map(|value| ((*name).to_owned(), value));
    let fields = CARRIED.iter().chain(&["note"]).filter_map(typed).collect();
    Draft { act: act.to_owned(), fields, wrong }
}

/// Returns what the form of a review carries besides its key and the note.
pub(super) fn carried(form: &Form) -> Vec<(&'static str, String)> {
    CARRIED.iter().filter_map(|name| form.one(name).map(|value| (*name, value))).collect()
}

/// Returns the event of the answer that the form was about.
fn replaced(form: &Form) -> Result<Option<Sequence>, Wrong> {
    let Some(typed) = form.one("replaces") else { return Ok(None) };
    let number = typed.parse::<u64>().ok().and_then(|number| Sequence::try_from(number).ok());
    number.map(Some).ok_or_else(|| wrong("act", ENGLISH.wrong_act))
}

fn answer(form: &Form, question: &QuestionView) -> Result<AnswerValue, Wrong> {
    let has = |kind| question.kinds.contains(&kind);
    let kind = |field, fits: bool| if fits { Ok(()) } else { Err(wrong(field, ENGLISH.wrong_kind)) };
    if let Some(number) = form.one("choice") {
        kind("choice", has(AnswerKind::MultipleChoice))?;
        let chosen = number.parse::<usize>().ok().and_then(|at| question.choices.get(at));
        let chosen = chosen.ok_or_else(|| wrong("choice", ENGLISH.wrong_choice))?;
        return text_value("choice", &chosen.value);
    }
    if let Some(word) = form.one("yes_no") {
        kind("yes_no", has(AnswerKind::YesNo))?;
        return match word.as_str() {
            "yes" => Ok(AnswerValue::Flag(true)),
            "no" => Ok(AnswerValue::Flag(false)),
            _ => Err(wrong("yes_no", ENGLISH.wrong_yes_no)),
        };
    }
    if let Some(number) = form.one("suggestion") {
        kind("text", has(AnswerKind::Freetext))?;
        let chosen = number.parse::<usize>().ok().and_then(|at| question.suggestions.get(at));
        return text_value("text", chosen.ok_or_else(|| wrong("text", ENGLISH.wrong_choice))?);
    }
    if let Some(typed) = form.one("number") {
        kind("number", has(AnswerKind::Numeric))?;
        let number = serde_json::from_str::<serde_json::Number>(typed.trim());
        return number.map(AnswerValue::Number).map_err(|_| wrong("number", ENGLISH.wrong_number));
    }
    if let Some(secret) = form.one("secret").map(Zeroizing::new) {
        kind("secret", has(AnswerKind::Secret))?;
        return text_value("secret", &secret);
    }
    let typed = form.one("text").ok_or_else(|| wrong("act", ENGLISH.wrong_act))?;
    kind("text", has(AnswerKind::Freetext))?;
    text_value("text", typed.trim())
}

fn text_value(field: &'static str, typed: &str) -> Result<AnswerValue, Wrong> {
    fitted(field, typed).map(AnswerValue::Text)
}

fn required<const MOST: usize>(form: &Form, field: &'static str) -> Result<Text<1, MOST>, Wrong> {
    fitted(field, form.one(field).unwrap_or_default().trim())
}

fn optional<const MOST: usize>(form: &Form, field: &'static str) -> Result<Option<Text<1, MOST>>, Wrong> {
    let typed = form.one(field).unwrap_or_default();
    let typed = typed.trim();
    if typed.is_empty() { Ok(None) } else { fitted(field, typed).map(Some) }
}

fn fitted<const MOST: usize>(field: &'static str, typed: &str) -> Result<Text<1, MOST>, Wrong> {
    if typed.is_empty() {
        return Err(wrong(field, ENGLISH.wrong_empty));
    }
    Text::try_from(typed)
        .map_err(|_| Wrong { field, message: fill(ENGLISH.wrong_long, &[&MOST, &typed.chars().count()]) })
}

fn seconds(form: &Form) -> Result<Whole<1, 31_536_000>, Wrong> {
    let seconds = form.one("seconds").and_then(|typed| typed.parse::<u64>().ok());
    let seconds = seconds.and_then(|seconds| Whole::try_from(seconds).ok());
    seconds.ok_or_else(|| wrong("seconds", ENGLISH.wrong_time))
}

/// Returns a span of time in words.
fn span(seconds: u64) -> String {
    match seconds {
        300 => ENGLISH.extend_five_minutes.to_owned(),
        3600 => ENGLISH.extend_hour.to_owned(),
        86_400 => ENGLISH.extend_day.to_owned(),
        other => fill(ENGLISH.extend_seconds, &[&other]),
    }
}

fn wrong(field: &'static str, message: &str) -> Wrong {
    Wrong { field, message: message.to_owned() }
}

/// Returns a list of one name.
pub(super) fn one_name(name: &Text<1, 64>) -> List<Text<1, 64>, 0, 64> {
    // Unwrap safety: one is between none and 64.
    List::try_from(vec![name.clone()]).expect("one fits")
}

/// What a form about a question has, besides the note and a secret, which no page carries.
const CARRIED: [&str; 13] = [
    "level",
    "choice",
    "yes_no",
    "suggestion",
    "text",
    "number",
    "reason",
    "words",
    "to",
    "people",
    "seconds",
    "until",
    "replaces",
];
