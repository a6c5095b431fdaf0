//! The kind of an answer, typed: help and completions show one name for each, and every spelling that the server reads is
//! read here, too.

use std::ffi::OsStr;

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use demur_api::question::Kind;
use demur_ledger::facts::AnswerKind;

/// Reads a kind of answer.
#[derive(Clone, Debug)]
pub(super) struct KindParser;

impl TypedValueParser for KindParser {
    type Value = Kind;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Kind, Error> {
        if let Some(kind) = value.to_str().and_then(|word| word.parse().ok()) {
            return Ok(kind);
        }
        // It says what was expected, and which one was meant.
        let names = PossibleValuesParser::new(Kind::ALL.map(shown));
        names.try_map(|word| word.parse::<Kind>()).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Kind::ALL.into_iter().map(shown)))
    }
}

/// Returns a kind as help shows it.
fn shown(kind: Kind) -> PossibleValue {
    PossibleValue::new(kind.as_str()).help(match kind.0 {
        AnswerKind::Freetext => "Any text",
        AnswerKind::YesNo => "Yes or no",
        AnswerKind::MultipleChoice => "One of the choices",
        AnswerKind::Numeric => "A number",
        AnswerKind::Secret => "A secret, the same as --secret",
    })
}
