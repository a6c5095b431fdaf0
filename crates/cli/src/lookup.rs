//! Which thing is meant by an id that somebody typed: the whole id, the beginning of it, or `last`; of a question also
//! the number that a list printed. Every command looks here, so that all of them take the same and refuse alike.

mod event;
mod number;
mod plan;
mod question;
mod trace;

use std::{convert::Infallible, str::FromStr};

use demur_core::{visible::visible, words::clipped};

pub(crate) use event::event;
pub(crate) use number::QuestionNumbers;
pub(crate) use plan::session;
pub(crate) use question::question;
pub(crate) use trace::{REGISTRY, any_trace, run, trace};

use demur_desk::find::begins_trace;

use crate::failure::Failure;

/// An id as somebody typed it. What it names is not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedId(String);

impl TypedId {
    /// Returns what was typed.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what stands for the newest.
    pub(crate) fn last() -> Self {
        Self(LAST.to_owned())
    }

    /// Returns whether the newest is meant.
    pub(crate) fn is_last(&self) -> bool {
        self.0 == LAST
    }

    /// Returns whether it can be the id of a trace, or the beginning of one.
    pub(crate) fn begins_trace(&self) -> bool {
        self.0.len() >= SHORTEST_PREFIX && begins_trace(&self.0)
    }

    /// Refuses a beginning that is too short to mean anything.
    fn check_length(&self, noun: Noun) -> Result<(), Failure> {
        if self.0.chars().count() < SHORTEST_PREFIX { Err(noun.too_short(&self.0)) } else { Ok(()) }
    }
}

impl FromStr for TypedId {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// A kind of thing that has an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noun {
    Question,
    Confirmation,
    Trace,
    Plan,
    Run,
    Key,
    Token,
}

impl Noun {
    const fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Confirmation => "confirmation",
            Self::Trace => "trace",
            Self::Plan => "plan",
            Self::Run => "run",
            Self::Key => "key",
            Self::Token => "token",
        }
    }

    /// Returns the command that lists them.
    const fn listing(self) -> &'static str {
        match self {
            Self::Question => "demur inbox --list --all",
            Self::Confirmation => "demur confirm list --all",
            Self::Trace | Self::Run => "demur trace list",
            Self::Plan => "demur plan list",
            Self::Key => "demur keys list",
            Self::Token => "demur token list",
        }
    }

    const fn unknown_code(self) -> &'static str {
        match self {
            Self::Question => "QUESTION_UNKNOWN",
            Self::Confirmation => "CONFIRMATION_UNKNOWN",
            Self::Trace => "TRACE_UNKNOWN",
            Self::Plan => "SESSION_UNKNOWN",
            Self::Run => "RUN_UNKNOWN",
            Self::Key => "KEY_UNKNOWN",
            Self::Token => "TOKEN_UNKNOWN",
        }
    }

    const fn ambiguous_code(self) -> &'static str {
        match self {
            Self::Question => "QUESTION_AMBIGUOUS",
            Self::Confirmation => "CONFIRMATION_AMBIGUOUS",
            Self::Trace => "TRACE_AMBIGUOUS",
            Self::Plan => "SESSION_AMBIGUOUS",
            Self::Run => "RUN_AMBIGUOUS",
            Self::Key => "KEY_AMBIGUOUS",
            Self::Token => "TOKEN_AMBIGUOUS",
        }
    }

    /// Returns the error of an id that nothing has.
    pub(crate) fn unknown(self, typed: &str) -> Failure {
        let word = self.word();
        let message = format!(
            "expected a {word} of this data folder, found none whose id begins with {}",
            quoted(typed)
        );
        Failure::input(self.unknown_code(), message).with_hint(format!("`{}` shows the ids", self.listing()))
    }

    /// Returns the error of `last` where there is nothing yet.
    pub(crate) fn none(self) -> Failure {
        let word = self.word();
        let message = format!("expected a {word} for `last`, found none in this data folder");
        Failure::input(self.unknown_code(), message)
            .with_hint(format!("`{}` shows what is there", self.listing()))
    }

    /// Returns the error of a beginning that is too short to mean anything.
    pub(crate) fn too_short(self, typed: &str) -> Failure {
        let word = self.word();
        let message = format!(
            "expected at least {SHORTEST_PREFIX} characters of the id of a {word}, found {}",
            quoted(typed)
        );
        Failure::input("ID_TOO_SHORT", message).with_hint(format!("`{}` shows the ids", self.listing()))
    }

    /// Returns the error of a beginning that several ids have, with as many of them as a line holds.
    pub(crate) fn ambiguous(self, typed: &str, candidates: &[String]) -> Failure {
        let word = self.word();
        let many =
            if candidates.len() > MAX_CANDIDATES { "many".to_owned() } else { candidates.len().to_string() };
        let message = format!("expected one {word}, found {many} whose ids begin with {}", quoted(typed));
        let named =
            candidates.iter().take(MAX_CANDIDATES).map(|id| visible(id)).collect::<Vec<_>>().join(", ");
        let more = if candidates.len() > MAX_CANDIDATES { ", and more" } else { "" };
        Failure::input(self.ambiguous_code(), message)
            .with_hint(format!("type more of the id: {named}{more}; `{}` shows them", self.listing()))
    }

    /// Returns the one thing that was found.
    pub(crate) fn one<T: Copy>(self, typed: &str, found: &[(T, String)]) -> Result<T, Failure> {
        match found {
            [] => Err(self.unknown(typed)),
            [(thing, _)] => Ok(*thing),
            many => {
                let candidates: Vec<String> = many.iter().map(|(_, id)| id.clone()).collect();
                Err(self.ambiguous(typed, &candidates))
            }
        }
    }
}

/// Returns which of a few ids that were read already is meant.
pub(crate) fn among(noun: Noun, typed: &TypedId, ids: &[String]) -> Result<String, Failure> {
    if let Some(whole) = ids.iter().find(|id| id.as_str() == typed.as_str()) {
        return Ok(whole.clone());
    }
    if typed.is_last() {
        return ids.last().cloned().ok_or_else(|| noun.none());
    }
    if typed.as_str().chars().count() < SHORTEST_PREFIX {
        return Err(noun.too_short(typed.as_str()));
    }
    let found: Vec<(usize, String)> = ids
        .iter()
        .enumerate()
        .filter(|(_, id)| id.starts_with(typed.as_str()))
        .map(|(at, id)| (at, id.clone()))
        .take(ENOUGH)
        .collect();
    let at = noun.one(typed.as_str(), &found)?;
    ids.get(at).cloned().ok_or_else(|| noun.unknown(typed.as_str()))
}

/// Returns ids as what they are, each with its text. Others than were asked for are none.
fn parsed<T: FromStr>(ids: &[String]) -> Vec<(T, String)> {
    ids.iter().filter_map(|id| Some((id.parse().ok()?, id.clone()))).collect()
}

/// Returns what was typed as it stands in a message: nothing hidden, and not without end.
pub(crate) fn quoted(typed: &str) -> String {
    format!("\"{}\"", visible(&clipped(typed, MAX_QUOTED, "...")))
}

/// What stands for the newest.
pub(crate) const LAST: &str = "last";
/// How many characters of an id have to be typed.
pub(crate) const SHORTEST_PREFIX: usize = 6;
/// How many candidates a message names.
const MAX_CANDIDATES: usize = 5;
/// How many are looked for: one more says that there are more.
const ENOUGH: usize = MAX_CANDIDATES + 1;
/// How many characters of a wrong id a message repeats.
const MAX_QUOTED: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Result<String, String> {
        let ids = ["abcdef1", "abcdef2", "abcdxyz"].map(str::to_owned);
        among(Noun::Token, &typed.parse().unwrap(), &ids).map_err(|error| error.code().to_owned())
    }

    #[test]
    fn whole_ids_unique_beginnings_and_last_are_found() {
        assert_eq!(found("abcdef1").unwrap(), "abcdef1");
        assert_eq!(found("abcdxy").unwrap(), "abcdxyz");
        assert_eq!(found("last").unwrap(), "abcdxyz");
    }

    #[test]
    fn each_way_to_miss_has_its_own_code() {
        assert_eq!(found("abcde").unwrap_err(), "ID_TOO_SHORT");
        assert_eq!(found("abcdef").unwrap_err(), "TOKEN_AMBIGUOUS");
        assert_eq!(found("zzzzzz").unwrap_err(), "TOKEN_UNKNOWN");
    }

    #[test]
    fn candidates_are_named_up_to_a_few() {
        let ids: Vec<String> = (0..9).map(|number| format!("abcdef{number}")).collect();
        let error = Noun::Token.ambiguous("abcdef", &ids);
        let hint = error.hint().unwrap();
        assert!(hint.contains("abcdef4, and more") && !hint.contains("abcdef5"), "{hint}");
    }
}
