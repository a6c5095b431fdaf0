//! What may be typed after `demur passkey`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;

#[derive(Debug, Subcommand)]
pub(crate) enum PasskeyCommand {
    /// Make the code for the first passkey of this server
    #[command(long_about = help::PASSKEY_CODE_ABOUT, after_long_help = help::PASSKEY_CODE_EXAMPLES)]
    Code,
    /// List the passkeys, and those that wait
    #[command(after_long_help = help::PASSKEY_LIST_EXAMPLES)]
    List,
    /// End all passkeys but a new one, with the recovery key
    #[command(long_about = help::PASSKEY_RESET_ABOUT, after_long_help = help::PASSKEY_RESET_EXAMPLES)]
    Reset(ResetPasskeys),
}

#[derive(Debug, Args)]
pub(crate) struct ResetPasskeys {
    /// The new passkey, which waits: the first 6 digits of its fingerprint or more, as `demur passkey list` shows it
    #[arg(value_name = "FINGERPRINT")]
    pub(crate) key: String,
    /// The file with the recovery key of the server's own key
    #[arg(long, value_name = "FILE")]
    pub(crate) recovery: PathBuf,
}
