//! What may be typed after `confirm`.

use std::time::Duration;

use clap::{Args, Subcommand};
use demur_core::limit::Text;
use demur_ledger::name::Operation;

use super::{RiskName, duration, help};
use crate::lookup::TypedId;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfirmCommand {
    /// Put one operation before a person, and wait for a yes or a no
    #[command(long_about = help::CONFIRMATION_ASK_ABOUT, after_long_help = help::CONFIRMATION_ASK_EXAMPLES)]
    Ask(AskConfirmation),
    /// List what waits for a yes or a no
    #[command(after_long_help = help::CONFIRMATION_LIST_EXAMPLES)]
    List(ListConfirmations),
    /// Show an operation in full, and what became of it
    #[command(after_long_help = help::CONFIRMATION_SHOW_EXAMPLES)]
    Show(NamedConfirmation),
    /// Wait for a yes or a no to what was asked before
    #[command(after_long_help = help::CONFIRMATION_WAIT_EXAMPLES)]
    Wait(NamedConfirmation),
    /// Say yes to exactly one operation
    #[command(long_about = help::CONFIRMATION_GIVE_ABOUT, after_long_help = help::CONFIRMATION_GIVE_EXAMPLES)]
    Give(DecideConfirmation),
    /// Say no
    #[command(after_long_help = help::CONFIRMATION_REFUSE_EXAMPLES)]
    Refuse(DecideConfirmation),
    /// Record that a confirmed operation starts, once
    #[command(long_about = help::CONFIRMATION_START_ABOUT, after_long_help = help::CONFIRMATION_START_EXAMPLES)]
    Start(StartOperation),
    /// Record that it is over
    #[command(after_long_help = help::CONFIRMATION_END_EXAMPLES)]
    End(EndOperation),
}

#[derive(Debug, Args)]
pub(crate) struct AskConfirmation {
    /// What is to be done, in words
    pub(crate) action: Text<1, 4096>,
    /// The exact operation as a JSON object; `-` reads it from standard input. With --about it is that of the intent
    #[arg(long, value_name = "JSON", required_unless_present = "about", conflicts_with = "about")]
    pub(crate) operation: Option<String>,
    /// What follows from it
    #[arg(long, value_name = "TEXT")]
    pub(crate) consequence: Option<Text<1, 4096>>,
    /// How risky it is
    #[arg(long, value_enum, default_value = "high")]
    pub(crate) risk: RiskName,
    /// How long to wait, such as 90s, 5m, 2h or 1d; then it is refused [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// The trace of a plan, a question or a run that it belongs to [default: a trace of its own]
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<TypedId>,
    /// In a run: the number of the intent that waits for it
    #[arg(long, value_name = "EVENT", requires = "trace")]
    pub(crate) about: Option<u32>,
    /// Print the id and do not wait
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// The name under which to ask
    #[arg(long = "as", value_name = "NAME", default_value = "ask")]
    pub(crate) asker: Text<1, 64>,
}

#[derive(Debug, Args)]
pub(crate) struct ListConfirmations {
    /// Also what was given, refused or expired
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NamedConfirmation {
    /// The confirmation: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "CONFIRMATION")]
    pub(crate) confirmation: TypedId,
}

#[derive(Debug, Args)]
pub(crate) struct DecideConfirmation {
    /// The confirmation: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "CONFIRMATION")]
    pub(crate) confirmation: TypedId,
    /// Decide only if the digest of the operation begins so
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
    /// Why, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct StartOperation {
    /// The confirmation: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "CONFIRMATION")]
    pub(crate) confirmation: TypedId,
    /// The exact operation that starts, as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) operation: String,
    /// The name that open questions may block it under
    #[arg(long, value_name = "NAME", default_value = "operation", value_parser = operation)]
    pub(crate) name: Operation,
}

#[derive(Debug, Args)]
pub(crate) struct EndOperation {
    /// The confirmation: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "CONFIRMATION")]
    pub(crate) confirmation: TypedId,
    /// It failed
    #[arg(long)]
    pub(crate) failed: bool,
}

fn operation(text: &str) -> Result<Operation, String> {
    Operation::try_from(text.to_owned()).map_err(|error| error.to_string())
}
