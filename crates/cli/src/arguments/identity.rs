//! What may be typed after `identity`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use demur_clarify::{identity::RevocationReason, name::AgentId, seal::AgentKey, time::Time};
use demur_core::limit::Text;

use super::help;

#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Sign the message that binds a key to an agent
    #[command(long_about = help::IDENTITY_REGISTER_ABOUT, after_long_help = help::IDENTITY_REGISTER_EXAMPLES)]
    Register(RegisterIdentity),
    /// Sign the message that replaces an agent's key by another
    #[command(long_about = help::IDENTITY_ROTATE_ABOUT, after_long_help = help::IDENTITY_ROTATE_EXAMPLES)]
    Rotate(RotateIdentity),
    /// Sign the message that ends an agent's identity
    #[command(long_about = help::IDENTITY_REVOKE_ABOUT, after_long_help = help::IDENTITY_REVOKE_EXAMPLES)]
    Revoke(RevokeIdentity),
    /// Show or choose the name under which demur signs the documents of plans
    #[command(long_about = help::IDENTITY_NAME_ABOUT, after_long_help = help::IDENTITY_NAME_EXAMPLES)]
    Name(NameIdentity),
    /// Check messages, and say what an identity is at a time
    #[command(long_about = help::IDENTITY_VERIFY_ABOUT, after_long_help = help::IDENTITY_VERIFY_EXAMPLES)]
    Verify(VerifyIdentity),
}

/// What every command that signs takes.
#[derive(Debug, Args)]
pub(crate) struct Signing {
    /// The agent's name in the message, where it is not the name of the key's holder
    #[arg(long, value_name = "ID")]
    pub(crate) agent_id: Option<AgentId>,
    /// Write the message to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RegisterIdentity {
    /// The key: a name, the first 6 digits of a fingerprint or more, or `last`
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
    /// When the key ends by itself, such as 2027-01-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<Time>,
    /// A decentralized identifier of the agent, up to 200 characters
    #[arg(long, value_name = "DID")]
    pub(crate) did: Option<Text<1, 200>>,
    #[command(flatten)]
    pub(crate) signing: Signing,
}

#[derive(Debug, Args)]
pub(crate) struct RotateIdentity {
    /// The old key: a name, the first 6 digits of a fingerprint or more, or `last`
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
    /// The new key, in the same way; it has to be in the keyring too
    #[arg(long, value_name = "NAME|FINGERPRINT")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) signing: Signing,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeIdentity {
    /// The key: a name, the first 6 digits of a fingerprint or more, or `last`
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
    /// Why
    #[arg(long, value_enum)]
    pub(crate) reason: IdentityReason,
    #[command(flatten)]
    pub(crate) signing: Signing,
}

#[derive(Debug, Args)]
pub(crate) struct NameIdentity {
    /// The name from now on; without one, the name there is
    #[arg(value_name = "ID")]
    pub(crate) agent_id: Option<AgentId>,
    /// Sign as `demur-desk` again
    #[arg(long, conflicts_with = "agent_id")]
    pub(crate) built_in: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyIdentity {
    /// Messages, one or more in each file, in their order; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The key that you know to be the agent's first
    #[arg(long, value_name = "ed25519:HEX")]
    pub(crate) key: Option<AgentKey>,
    /// The agent's earlier messages, from its registration on; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Vec<PathBuf>,
    /// The time to judge at, such as 2026-05-10T15:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Time>,
}

/// The reasons of the identity protocol.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum IdentityReason {
    /// Somebody else may have the key
    Compromised,
    /// The agent is no longer used
    Retired,
}

impl From<IdentityReason> for RevocationReason {
    fn from(reason: IdentityReason) -> Self {
        match reason {
            IdentityReason::Compromised => Self::Compromised,
            IdentityReason::Retired => Self::Retired,
        }
    }
}
