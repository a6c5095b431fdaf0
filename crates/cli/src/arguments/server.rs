//! What may be typed after `mcp`, `serve`, `status`, `stop` and `token`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use demur_core::limit::Text;
use demur_server::caller::Scope;

use super::{help, question::duration};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen on this port of this machine [default: 7373 for the default data folder, otherwise a free one, remembered]
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,
    /// Listen at this address, behind a proxy that speaks TLS; needs --proxy
    #[arg(long, value_name = "ADDRESS:PORT", requires = "proxy")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address under which the proxy is reached, such as `https://demur.example`
    #[arg(long, value_name = "ORIGIN", requires = "listen", value_parser = origin)]
    pub(crate) proxy: Vec<String>,
    /// Do not listen on TCP at all
    #[arg(long, conflicts_with_all = ["port", "listen"])]
    pub(crate) no_tcp: bool,
    /// Folder of a rule pack for plans; later ones come over earlier ones
    #[arg(long, value_name = "DIR")]
    pub(crate) rules: Vec<PathBuf>,
    /// End after this time without callers and without open questions, such as 10m [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) idle: Option<Duration>,
    /// Run apart from whoever started it
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Offer these tools too; asking a person is always offered
    #[arg(long, value_name = "SET", value_enum, value_delimiter = ',')]
    pub(crate) tools: Vec<ToolSet>,
}

/// A set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSet {
    /// Plans: clarify, scaffold, confirm, attest
    Wwa,
    /// Accountable runs
    Session,
    /// All of them
    All,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Print the link and start no browser
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token for what is not on this machine
    #[command(long_about = help::TOKEN_NEW_ABOUT, after_long_help = help::TOKEN_NEW_EXAMPLES)]
    New(NewToken),
    /// List the tokens
    #[command(after_long_help = help::TOKEN_LIST_EXAMPLES)]
    List,
    /// Take a token back
    #[command(after_long_help = help::TOKEN_REVOKE_EXAMPLES)]
    Revoke(RevokeToken),
}

#[derive(Debug, Args)]
pub(crate) struct NewToken {
    /// Whose it is: the name under which it asks or answers
    pub(crate) name: Text<1, 64>,
    /// What it allows: ask, answer, relay, read or metrics; may be given more than once
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    pub(crate) scopes: Vec<Scope>,
    /// How long it is good for, such as 30d [default: until it is taken back]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) expires: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeToken {
    /// The id of the token, as `demur token list` shows it
    pub(crate) id: String,
}

/// Returns an origin that a proxy is reached at.
fn origin(text: &str) -> Result<String, String> {
    let host = text
        .strip_prefix("https://")
        .filter(|host| !host.is_empty() && !host.contains(['/', ' ', '@', '?', '#']));
    host.map(|_| text.to_owned())
        .ok_or_else(|| "expected https:// and a name, such as https://demur.example".to_owned())
}
