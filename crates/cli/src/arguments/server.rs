//! What may be typed after `mcp`, `serve`, `status`, `stop`, `token`, `open` and `people`.

use std::{net::SocketAddr, ops::RangeInclusive, time::Duration};

use clap::{Args, Subcommand, ValueEnum, value_parser};
use demur_api::{
    person::PersonRole,
    scope::Scope,
    server_limits::{ServerLimits, TokenQuotas},
};
use demur_core::limit::Text;
use demur_desk::settings::PageHost;
use demur_server::{network::Network, public_url::PublicUrl};

use super::{help, plan::RulesChoice, question::duration};
use crate::lookup::TypedId;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen on this port of this machine, or not at all if it is taken; the folder keeps it [default: the port that the folder has; a new one takes 7373 for the default data folder, otherwise a free one]
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,
    /// Listen at this address, behind a proxy that speaks TLS; needs --public-url
    #[arg(long, value_name = "ADDRESS:PORT", requires = "public_url")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address under which browsers reach the proxy in front, such as `https://demur.example`
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<PublicUrl>,
    /// A proxy that is believed when it says for whom it speaks (X-Forwarded-For), such as 127.0.0.1 or 10.0.0.0/8; may be given more than once [default: none, everybody behind the proxy counts as one]
    #[arg(long = "trusted-proxy", value_name = "ADDRESS", requires = "public_url")]
    pub(crate) trusted_proxies: Vec<Network>,
    /// Under which name of this machine pages are, for a browser that does not know the usual one [default: demur.localhost]
    #[arg(long, value_name = "NAME", value_enum, conflicts_with = "public_url")]
    pub(crate) page_host: Option<PageHostName>,
    /// Sign a browser out that was not used for this time, such as 30m [default: 60m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) session_idle: Option<Duration>,
    /// Sign a browser out after this time in any case, such as 8h [default: 12h]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) session_timeout: Option<Duration>,
    /// Do not listen on TCP at all
    #[arg(long, conflicts_with_all = ["port", "listen", "public_url"])]
    pub(crate) no_tcp: bool,
    #[command(flatten)]
    pub(crate) rules: RulesChoice,
    /// End after this time without callers and without open questions, such as 10m [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) idle: Option<Duration>,
    /// Take at most so many connections over TCP at once
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().connections)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::CONNECTIONS)))]
    pub(crate) max_connections: u32,
    /// Take at most so many connections of your own commands at once; one of eight is kept for commands that do not wait
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().local_connections)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::LOCAL_CONNECTIONS)))]
    pub(crate) max_local_connections: u32,
    /// Keep at most so many tokens, with the sessions of people who are signed in
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().tokens)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::TOKENS)))]
    pub(crate) max_tokens: u32,
    /// Let at most so many people sign in besides you
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().people)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::PEOPLE)))]
    pub(crate) max_people: u32,
    /// Let at most so many connections over TCP wait that have not shown a token yet
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().stranger_connections)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::CONNECTIONS)))]
    pub(crate) max_stranger_connections: u32,
    /// Keep at most so many MiB of what is being sent in memory, for you and as much for all others
    #[arg(long, value_name = "MIB", default_value_t = ServerLimits::default().body_mebibytes)]
    #[arg(value_parser = value_parser!(u32).range(within(ServerLimits::BODY_MEBIBYTES)))]
    pub(crate) max_body_memory: u32,
    #[command(flatten)]
    pub(crate) quotas: Quotas,
    /// Run apart from whoever started it
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

/// How much one token may have. What is left out is as the settings of the data folder say, or as it comes with demur.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "each is the name of a flag")]
pub(crate) struct Quotas {
    /// Let one token have at most so many open questions and confirmations [default: 64]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(within(TokenQuotas::OPEN_QUESTIONS)))]
    max_open_questions: Option<u32>,
    /// Let one token ask at most so often in an hour [default: 600]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(within(TokenQuotas::ASKS_PER_HOUR)))]
    max_asks_per_hour: Option<u32>,
    /// Record at most so many MiB of one token in an hour [default: 256]
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u32).range(within(TokenQuotas::MEBIBYTES_PER_HOUR)))]
    max_recorded_per_hour: Option<u32>,
    /// Let one token have at most so many connections over TCP [default: 256]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(within(TokenQuotas::WAITS)))]
    max_token_connections: Option<u32>,
    /// Let one token have at most so many sessions of MCP clients before 2026-07-28 [default: 16]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(within(TokenQuotas::MCP_SESSIONS)))]
    max_mcp_sessions: Option<u32>,
    /// Let at most so many requests of one token wait [default: 256]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(within(TokenQuotas::WAITS)))]
    max_waits: Option<u32>,
}

impl Quotas {
    /// Returns the quotas that are meant, over those that are kept.
    pub(crate) fn over(&self, kept: TokenQuotas) -> TokenQuotas {
        TokenQuotas {
            open_questions: self.max_open_questions.unwrap_or(kept.open_questions),
            asks_per_hour: self.max_asks_per_hour.unwrap_or(kept.asks_per_hour),
            mebibytes_per_hour: self.max_recorded_per_hour.unwrap_or(kept.mebibytes_per_hour),
            connections: self.max_token_connections.unwrap_or(kept.connections),
            mcp_sessions: self.max_mcp_sessions.unwrap_or(kept.mcp_sessions),
            waits: self.max_waits.unwrap_or(kept.waits),
        }
    }
}

/// The names under which pages can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageHostName {
    /// A name of their own, which browsers lead to this machine
    #[value(name = "demur.localhost")]
    Own,
    /// The name that everything on this machine has
    #[value(name = "localhost")]
    Shared,
}

impl From<PageHostName> for PageHost {
    fn from(name: PageHostName) -> Self {
        match name {
            PageHostName::Own => Self::Own,
            PageHostName::Shared => Self::Shared,
        }
    }
}

/// Returns a range as the parser of arguments takes it.
fn within(range: RangeInclusive<u32>) -> RangeInclusive<i64> {
    i64::from(*range.start())..=i64::from(*range.end())
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look whether a server can have this port [default: 7373 for the default data folder]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// How long the server may take to end, such as 30s or 2m [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Kill the server if it has not ended by then
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Offer these tools too; asking a person is always offered
    #[arg(long, value_name = "SET", value_enum, value_delimiter = ',')]
    pub(crate) tools: Vec<ToolSet>,
    /// How long a call waits for a person at most, such as 24h [default: 45s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) wait: Option<Duration>,
    /// Speak only the protocol revisions of this year; their forms can be taken back
    #[arg(long, value_name = "YEAR", value_enum)]
    pub(crate) era: Option<Era>,
    /// Where a client that takes the call as a task is shown a form: not at all, or in the task
    #[arg(long, value_name = "WHERE", value_enum, default_value = "call")]
    pub(crate) forms: Forms,
}

/// A part of the history of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// 2025-06-18 and 2025-11-25
    #[value(name = "2025")]
    Of2025,
}

/// Where forms are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Forms {
    /// In calls only; a task has none
    Call,
    /// In tasks too
    Task,
}

/// A set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSet {
    /// Plans: clarify, scaffold, confirm, attest
    Wwa,
    /// Accountable runs
    Session,
    /// Operations that a person confirms
    Confirm,
    /// All of them
    All,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Print an address and a code to type there, and start no browser
    #[arg(long)]
    pub(crate) print: bool,
    /// For whom the code is, as `demur people list` shows the name [default: you]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) person: Option<Text<1, 64>>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PeopleCommand {
    /// Let somebody sign in with a browser
    #[command(long_about = help::PEOPLE_ADD_ABOUT, after_long_help = help::PEOPLE_ADD_EXAMPLES)]
    Add(AddPerson),
    /// List the people who can sign in
    #[command(after_long_help = help::PEOPLE_LIST_EXAMPLES)]
    List,
    /// Let somebody sign in no longer
    #[command(long_about = help::PEOPLE_REMOVE_ABOUT, after_long_help = help::PEOPLE_REMOVE_EXAMPLES)]
    Remove(RemovePerson),
    /// List the browsers that are signed in, and sign them out
    #[command(long_about = help::PEOPLE_SESSIONS_ABOUT, after_long_help = help::PEOPLE_SESSIONS_EXAMPLES)]
    Sessions(Sessions),
}

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Sign this browser out: its id as the list shows it
    #[arg(long, value_name = "ID", conflicts_with_all = ["person", "end_all"])]
    pub(crate) end: Option<String>,
    /// Sign every browser out, or with --of every browser of one person
    #[arg(long)]
    pub(crate) end_all: bool,
    /// Those of one person only
    #[arg(long = "of", value_name = "NAME")]
    pub(crate) person: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddPerson {
    /// The name under which this one answers: 1 to 64 characters, nobody else's
    pub(crate) name: Text<1, 64>,
    /// What this one may do
    #[arg(long, value_enum)]
    pub(crate) role: PersonRoleName,
}

#[derive(Debug, Args)]
pub(crate) struct RemovePerson {
    /// The name, as `demur people list` shows it
    pub(crate) name: Text<1, 64>,
}

/// The roles that people can have.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PersonRoleName {
    /// Sees and answers, reads every trace, calls questions off
    Operator,
    /// Sees and answers, reads every trace
    Answerer,
    /// Reads everything, changes nothing
    Auditor,
}

impl From<PersonRoleName> for PersonRole {
    fn from(role: PersonRoleName) -> Self {
        match role {
            PersonRoleName::Operator => Self::Operator,
            PersonRoleName::Answerer => Self::Answerer,
            PersonRoleName::Auditor => Self::Auditor,
        }
    }
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
    /// What it allows: ask, answer, relay, read, operate or metrics; may be given more than once
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    pub(crate) scopes: Vec<Scope>,
    /// With the scope relay: a person whose words it passes on, whoever asked; may be given more than once
    #[arg(long = "for", value_name = "PERSON", conflicts_with = "for_anyone")]
    pub(crate) people: Vec<Text<1, 64>>,
    /// With the scope relay: pass on what anybody says, about questions of its own program alone
    #[arg(long)]
    pub(crate) for_anyone: bool,
    /// How long it is good for, such as 30d [default: until it is taken back]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) expires: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeToken {
    /// The token: its id as `demur token list` shows it, the first 6 characters of it or more, or `last`
    pub(crate) id: TypedId,
}
