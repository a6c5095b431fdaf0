//! What may be typed after `ask`, `wait`, `inbox`, `show`, `answer`, `decline`, `extend`, `pass`, `cancel` and `watch`.

use std::{str::FromStr, time::Duration};

use clap::Args;
use demur_api::question::{Kind, NoQuestion, QuestionText};
use demur_core::limit::Text;
use demur_ledger::{content::Choice, facts::AnswerKind};
use demur_store::contract::Cursor;

use super::kind::KindParser;
use crate::lookup::TypedId;

/// The words of a question as they were typed.
#[derive(Clone, Debug)]
pub(crate) enum TypedQuestion {
    /// The words themselves.
    Words(QuestionText),
    /// `-`: they come on standard input.
    Input,
}

impl FromStr for TypedQuestion {
    type Err = NoQuestion;

    fn from_str(typed: &str) -> Result<Self, NoQuestion> {
        if typed == "-" { Ok(Self::Input) } else { typed.parse().map(Self::Words) }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question, up to 16384 characters; `-` reads it from standard input
    pub(crate) question: TypedQuestion,
    /// Something that can be chosen: a value, or VALUE=LABEL; at least two
    #[arg(long, value_name = "VALUE=LABEL", value_parser = choice)]
    pub(crate) choice: Vec<Choice>,
    /// What kind of answer fits [default: choice with --choice, otherwise text]
    #[arg(long, value_parser = KindParser)]
    pub(crate) kind: Option<Kind>,
    /// What the answer is for, as a dotted path
    #[arg(long, value_name = "FIELD")]
    pub(crate) field: Option<Text<1, 256>>,
    /// What was found and why it is not enough
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<Text<1, 4096>>,
    /// What holds if nobody answers in time; needs --timeout
    #[arg(long, value_name = "ANSWER", requires = "timeout")]
    pub(crate) default: Option<String>,
    /// How long to wait, such as 90s, 5m, 2h or 1d [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// The answer is a secret: it is printed here and recorded nowhere
    #[arg(long, conflicts_with_all = ["choice", "kind", "default"])]
    pub(crate) secret: bool,
    /// Print the question's id and do not wait
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// The name under which to ask
    #[arg(long = "as", value_name = "NAME", default_value = "ask")]
    pub(crate) asker: Text<1, 64>,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// The questions: ids, the beginnings of ids, numbers of a list, or `last`; up to 64
    #[arg(value_name = "QUESTION", required = true, num_args = 1..=64)]
    pub(crate) questions: Vec<TypedId>,
    /// Wait for the first of them that is settled, and print its answer alone
    #[arg(long)]
    pub(crate) any: bool,
}

impl Ask {
    /// Returns whether the answer is a secret.
    pub(crate) fn is_secret(&self) -> bool {
        self.secret || self.kind == Some(Kind(AnswerKind::Secret))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowQuestion {
    /// The question: its number in `demur inbox --list`, its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: TypedId,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerQuestion {
    /// The question: its number in `demur inbox --list`, its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: TypedId,
    /// The answer: a text, yes or no, a number, a choice; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, required_unless_present_any = ["accept", "revoke"])]
    pub(crate) answer: Option<String>,
    /// Accept what a question of the kind "please confirm" points at
    #[arg(long, conflicts_with = "answer")]
    pub(crate) accept: bool,
    /// Put this answer in the place of your own
    #[arg(long, conflicts_with = "accept")]
    pub(crate) replace: bool,
    /// Take your own answer back: the question is open again
    #[arg(long, conflicts_with_all = ["answer", "accept", "replace", "note"])]
    pub(crate) revoke: bool,
    /// Why, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<Text<1, 4096>>,
    /// Why the answer is taken back, up to 1000 characters; needs --revoke
    #[arg(long, value_name = "TEXT", requires = "revoke", conflicts_with_all = ["answer", "accept", "note"])]
    pub(crate) reason: Option<Text<1, 1000>>,
}

#[derive(Debug, Args)]
pub(crate) struct ActOnQuestion {
    /// The question: its number in `demur inbox --list`, its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: TypedId,
    /// Why, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct ExtendQuestion {
    /// The question: its number in `demur inbox --list`, its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: TypedId,
    /// How much more time, such as 90s, 5m, 2h or 1d
    #[arg(value_name = "TIME", value_parser = duration)]
    pub(crate) time: Duration,
    /// Why, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct PassQuestion {
    /// The question: its number in `demur inbox --list`, its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: TypedId,
    /// The name of somebody who can answer: of a key for answering, or of a person
    #[arg(long = "to", value_name = "NAME", required_unless_present = "people")]
    pub(crate) to: Vec<Text<1, 64>>,
    /// Let people answer from now on
    #[arg(long)]
    pub(crate) people: bool,
    /// Why, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Begin after this event of the feed, 0 for the very first [default: from now on]
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<Cursor>,
}

#[derive(Debug, Args)]
pub(crate) struct Inbox {
    /// Print what waits and exit
    #[arg(long)]
    pub(crate) list: bool,
    /// With --list: also what is settled
    #[arg(long, requires = "list")]
    pub(crate) all: bool,
}

/// Returns a choice: a value, or a value and what people read.
fn choice(text: &str) -> Result<Choice, String> {
    let (value, label) = text.split_once('=').unwrap_or((text, text));
    let wrong = |error: demur_core::limit::LimitError| error.to_string();
    Ok(Choice { label: label.try_into().map_err(wrong)?, value: value.try_into().map_err(wrong)? })
}

/// Returns a length of time: a number and s, m, h or d.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a number and s, m, h or d, such as 5m, found {text:?}");
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number = u64::from_str(number).map_err(|_| expected())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(expected()),
    };
    let seconds = number.checked_mul(seconds).filter(|seconds| (1..=MAX_WAIT_SECONDS).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| format!("expected from 1s to 365d, found {text:?}"))
}

/// How long anything waits at most, in seconds.
const MAX_WAIT_SECONDS: u64 = 31_536_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_a_number_and_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(duration("1d"), Ok(Duration::from_hours(24)));
        for text in ["", "5", "m", "0s", "-5m", "5 m", "5w", "366d", "99999999999999999999d", "1.5h"] {
            duration(text).unwrap_err();
        }
    }

    #[test]
    fn choices_have_a_label_or_are_one() {
        let shown =
            |text: &str| choice(text).map(|choice| (choice.value.to_string(), choice.label.to_string()));
        assert_eq!(shown("a=The first").unwrap(), ("a".to_owned(), "The first".to_owned()));
        assert_eq!(shown("a").unwrap(), ("a".to_owned(), "a".to_owned()));
        assert_eq!(shown("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        choice("=x").unwrap_err();
        choice("x=").unwrap_err();
    }
}
