//! What an answer has to be and how sure its author has to be (design: "One question, many doors").

use demur_core::visible::is_blank;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an answer is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One of the choices, and nothing else.
    Choice,
    /// Yes or no. What is recorded of a table says `yes_no`.
    #[serde(alias = "yes-no")]
    YesNo,
    /// A whole number.
    Number,
    /// A list, its entries between commas.
    List,
    /// Any text.
    Text,
}

/// How an answer must have come in, at least; the order is that of the design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assurance {
    /// An agent's key.
    #[default]
    Agent,
    /// A person, through the asking client.
    Relayed,
    /// The same user on this machine.
    Terminal,
    /// A signed-in person.
    #[serde(alias = "signed_in")]
    SignedIn,
    /// A passkey.
    Passkey,
}

/// Which gaps whoever submitted the plan may settle with an answer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnAnswers {
    /// All of them.
    All,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Choice, Self::YesNo, Self::Number, Self::List, Self::Text];

    /// Returns its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            Self::YesNo => "yes-no",
            Self::Number => "number",
            Self::List => "list",
            Self::Text => "text",
        }
    }

    /// Returns what an answer must be, in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Choice => "one of the choices",
            Self::YesNo => "yes or no",
            Self::Number => "a whole number",
            Self::List => "a list with commas between its entries",
            Self::Text => "a text with a letter or digit",
        }
    }

    /// Returns the value that an answer of this kind is; none if it is not of this kind.
    pub(crate) fn read(self, answer: &str, choices: &[String]) -> Option<Value> {
        let answer = answer.trim();
        match self {
            Self::Text => (!is_blank(answer)).then(|| Value::from(answer)),
            Self::Choice => choices.iter().find(|choice| *choice == answer).map(|_| Value::from(answer)),
            Self::YesNo => match answer.to_ascii_lowercase().as_str() {
                "yes" | "true" => Some(Value::Bool(true)),
                "no" | "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Number => {
                let number: i64 = answer.parse().ok()?;
                (number.unsigned_abs() < 1 << 53).then(|| Value::from(number))
            }
            Self::List => {
                let entries: Vec<&str> = answer.split(',').map(str::trim).collect();
                entries.iter().all(|entry| !is_blank(entry)).then(|| Value::from(entries))
            }
        }
    }

    /// Returns whether a value in a plan is of this kind.
    pub(crate) fn fits(self, value: &Value, choices: &[String]) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Choice => value.as_str().is_some_and(|value| choices.iter().any(|choice| choice == value)),
            Self::YesNo => value.is_boolean(),
            Self::Number => value.as_i64().is_some(),
            Self::List => value.is_array(),
        }
    }
}

impl Assurance {
    /// Every assurance, the least first.
    pub const ALL: [Self; 5] = [Self::Agent, Self::Relayed, Self::Terminal, Self::SignedIn, Self::Passkey];

    /// Returns its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Relayed => "relayed",
            Self::Terminal => "terminal",
            Self::SignedIn => "signed-in",
            Self::Passkey => "passkey",
        }
    }
}
