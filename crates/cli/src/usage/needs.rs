//! Which option needs another one that was left out.

use std::ffi::OsString;

use clap::{Command, Parser as _, error::ErrorKind};

use crate::arguments::Arguments;

/// Returns the option without which these words would miss nothing.
pub(super) fn needing(words: &[OsString], command: &Command) -> Option<String> {
    (1..words.len()).find_map(|place| {
        let word = words[place].to_str()?.strip_prefix("--")?;
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let option = command.get_arguments().find(|option| option.get_long() == Some(name))?;
        let length = if option.get_action().takes_values() && value.is_none() { 2 } else { 1 };
        let rest = words.iter().take(place).chain(words.iter().skip(place + length));
        let missing = Arguments::try_parse_from(rest)
            .is_err_and(|error| error.kind() == ErrorKind::MissingRequiredArgument);
        (!missing).then(|| format!("--{name}"))
    })
}
