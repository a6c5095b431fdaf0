//! The command line: what may be typed, and what `--help` says about it.

mod confirm;
#[cfg(test)]
mod examples;
mod help;
mod identity;
mod kind;
mod passkey;
mod plan;
mod question;
mod rules;
mod run;
mod server;
mod setup;
mod similar;
mod store;
mod verify;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use demur_core::limit::Text;
use demur_ledger::{
    facts::{RevocationReason, Risk},
    role::Role,
};

pub(crate) use confirm::{AskConfirmation, ConfirmCommand, DecideConfirmation};
pub(crate) use identity::{
    IdentityCommand, NameIdentity, RegisterIdentity, RevokeIdentity, RotateIdentity, Signing, VerifyIdentity,
};
pub(crate) use passkey::{PasskeyCommand, ResetPasskeys};
pub(crate) use plan::{
    AmendPlan, AskGapAgain, AttestPlan, Audit, AuditCommand, BeginOperation, Check, ConfirmPlan, HandOff,
    HandOffCommand, ListPlans, PlanCommand, PlanSpeaker, ResolvePlan, RulesChoice, SubmitPlan, VerifyPaper,
    WithdrawPlan,
};
pub(crate) use question::{
    ActOnQuestion, AnswerQuestion, Ask, ExtendQuestion, Inbox, PassQuestion, ShowQuestion, TypedQuestion,
    Wait, Watch, duration,
};
pub(crate) use rules::{CheckRules, ExplainRules, RulesCommand, UseRules};
pub(crate) use run::{AbortRun, ResumeRun, Run, RunCommand, StatusRun, Until};
pub(crate) use server::{
    Doctor, Era, Forms, Mcp, Open, PeopleCommand, Serve, Sessions, Stop, TokenCommand, ToolSet,
};
pub(crate) use setup::{ClientName, HookCommand, HookOptions, Setup};
pub(crate) use similar::{named, suggest};
pub(crate) use store::{
    BackupStore, Erase, Export, ListTraces, RestoreStore, ShowTrace, StoreCommand, TraceCommand,
};
pub(crate) use verify::Verify;

use crate::holder_name::HolderName;

/// Agents ask instead of guessing, and can prove later that they did.
#[derive(Debug, Parser)]
#[command(
    name = "demur",
    version,
    long_about = help::ABOUT,
    after_long_help = help::footer(help::EXAMPLES),
    after_help = help::SHORT_FOOTER,
    arg_required_else_help = true,
    max_term_width = 100,
)]
pub(crate) struct Arguments {
    /// Data folder [env: DEMUR_DATA] [default: $XDG_DATA_HOME/demur, else ~/.local/share/demur]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) data: Option<PathBuf>,
    /// Answer with one JSON object; errors are one JSON line on standard error
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Returns the data folder that hints have to name, because the caller named it. A detached server's caller is another
    /// command, which knows how its own user named the folder.
    pub(crate) fn folder_of_hints(&self) -> Option<&Path> {
        let is_detached = matches!(&self.command, Command::Serve(serve) if serve.detached);
        self.data.as_deref().filter(|_| !is_detached)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask a question, wait, and print the answer
    #[command(long_about = help::ASK_ABOUT, after_long_help = help::ASK_EXAMPLES)]
    Ask(Ask),
    /// Wait for questions that were asked before, and print the answer
    #[command(long_about = help::WAIT_ABOUT, after_long_help = help::WAIT_EXAMPLES)]
    Wait(Wait),
    /// See what waits for an answer, and answer it
    #[command(long_about = help::INBOX_ABOUT, after_long_help = help::INBOX_EXAMPLES)]
    Inbox(Inbox),
    /// Show a question and what became of it
    #[command(long_about = help::SHOW_QUESTION_ABOUT, after_long_help = help::SHOW_QUESTION_EXAMPLES)]
    Show(ShowQuestion),
    /// Answer a question
    #[command(long_about = help::ANSWER_ABOUT, after_long_help = help::ANSWER_EXAMPLES)]
    Answer(AnswerQuestion),
    /// Say that you will not answer
    #[command(long_about = help::DECLINE_ABOUT, after_long_help = help::DECLINE_EXAMPLES)]
    Decline(ActOnQuestion),
    /// Give a question more time
    #[command(long_about = help::EXTEND_ABOUT, after_long_help = help::EXTEND_EXAMPLES)]
    Extend(ExtendQuestion),
    /// Hand a question to others
    #[command(long_about = help::PASS_ABOUT, after_long_help = help::PASS_EXAMPLES)]
    Pass(PassQuestion),
    /// Say that no answer is needed any more
    #[command(long_about = help::CANCEL_ABOUT, after_long_help = help::CANCEL_EXAMPLES)]
    Cancel(ActOnQuestion),
    /// Have one operation confirmed by a person before it starts
    #[command(subcommand, long_about = help::CONFIRMATION_ABOUT, after_long_help = help::CONFIRMATION_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Confirm(ConfirmCommand),
    /// Print every event as it is recorded
    #[command(long_about = help::WATCH_ABOUT, after_long_help = help::WATCH_EXAMPLES)]
    Watch(Watch),
    /// Let an agent ask through MCP, on standard input and output
    #[command(long_about = help::MCP_ABOUT, after_long_help = help::MCP_EXAMPLES)]
    Mcp(Mcp),
    /// Make demur known to Claude Code, VS Code, Codex, Copilot, Cursor or Hermes
    #[command(long_about = help::SETUP_ABOUT, after_long_help = help::SETUP_EXAMPLES)]
    Setup(Setup),
    /// Answer the hooks of a program that an agent runs in
    #[command(subcommand, long_about = help::HOOK_ABOUT, after_long_help = help::HOOK_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Hook(HookCommand),
    /// Serve the data folder
    #[command(long_about = help::SERVE_ABOUT, after_long_help = help::SERVE_EXAMPLES)]
    Serve(Serve),
    /// Say which server runs
    #[command(long_about = help::SERVER_STATUS_ABOUT, after_long_help = help::SERVER_STATUS_EXAMPLES)]
    Status,
    /// Make a link that signs a browser in, and open it
    #[command(long_about = help::OPEN_ABOUT, after_long_help = help::OPEN_EXAMPLES)]
    Open(Open),
    /// End the server
    #[command(long_about = help::STOP_ABOUT, after_long_help = help::STOP_EXAMPLES)]
    Stop(Stop),
    /// Check that everything is in order
    #[command(long_about = help::DOCTOR_ABOUT, after_long_help = help::DOCTOR_EXAMPLES)]
    Doctor(Doctor),
    /// Make, list and take back tokens for what is not on this machine
    #[command(subcommand, long_about = help::TOKEN_ABOUT, after_long_help = help::TOKEN_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Token(TokenCommand),
    /// Say who may sign in with a browser, and as what
    #[command(subcommand, long_about = help::PEOPLE_ABOUT, after_long_help = help::PEOPLE_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    People(PeopleCommand),
    /// Say who can prove an answer
    #[command(subcommand, long_about = help::PASSKEY_ABOUT, after_long_help = help::PASSKEY_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Passkey(PasskeyCommand),
    /// Make, list, rotate and revoke the keys that may speak
    #[command(subcommand, long_about = help::KEYS_ABOUT, after_long_help = help::KEYS_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Keys(KeysCommand),
    /// Do a task with four accountable roles: plan, review, execute, audit
    #[command(long_about = help::RUN_ABOUT, after_long_help = help::RUN_EXAMPLES)]
    #[command(disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
    #[command(arg_required_else_help = true)]
    Run(Run),
    /// Say what a plan lacks, field by field
    #[command(long_about = help::CHECK_ABOUT, after_long_help = help::CHECK_EXAMPLES)]
    Check(Check),
    /// Take a plan from submission to attestation
    #[command(subcommand, long_about = help::PLAN_ABOUT, after_long_help = help::PLAN_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Plan(PlanCommand),
    /// Print every question and answer of a session, signed
    #[command(long_about = help::AUDIT_ABOUT, after_long_help = help::AUDIT_EXAMPLES)]
    #[command(disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
    #[command(subcommand_negates_reqs = true)]
    Audit(Audit),
    /// Print the package with which somebody else goes on
    #[command(name = "handoff", long_about = help::HANDOFF_ABOUT, after_long_help = help::HANDOFF_EXAMPLES)]
    #[command(disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
    #[command(subcommand_negates_reqs = true)]
    HandOff(HandOff),
    /// Say what an export proves, what is the desk's word and what is neither
    #[command(long_about = help::VERIFY_ABOUT, after_long_help = help::VERIFY_EXAMPLES)]
    Verify(Verify),
    /// List traces, and read what happened in one
    #[command(subcommand, long_about = help::TRACE_ABOUT, after_long_help = help::TRACE_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Trace(TraceCommand),
    /// Write a trace as one file that anybody can verify
    #[command(long_about = help::EXPORT_ABOUT, after_long_help = help::EXPORT_EXAMPLES)]
    Export(Export),
    /// Erase what one event says, for good; everything else still holds
    #[command(long_about = help::ERASE_ABOUT, after_long_help = help::ERASE_EXAMPLES)]
    Erase(Erase),
    /// Record a hash over all traces as they are now
    #[command(long_about = help::CHECKPOINT_ABOUT, after_long_help = help::CHECKPOINT_EXAMPLES)]
    Checkpoint,
    /// Check, rebuild, back up and restore the store
    #[command(subcommand, long_about = help::STORE_ABOUT, after_long_help = help::STORE_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Store(StoreCommand),
    /// Look at rule packs: what they say, and why a plan has the gaps it has
    #[command(subcommand, long_about = help::RULES_ABOUT, after_long_help = help::RULES_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Rules(RulesCommand),
    /// Sign and check the messages that tell others which key is an agent's
    #[command(subcommand, long_about = help::IDENTITY_ABOUT, after_long_help = help::IDENTITY_EXAMPLES)]
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Identity(IdentityCommand),
    /// Watch four agents do a small task accountably, then check the file they leave
    #[command(long_about = help::DEMO_ABOUT, after_long_help = help::DEMO_EXAMPLES)]
    Demo(Demo),
    /// Print the completion script of a shell
    #[command(long_about = help::COMPLETIONS_ABOUT, after_long_help = help::COMPLETIONS_EXAMPLES)]
    Completions(Completions),
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key and register it
    #[command(long_about = help::NEW_ABOUT, after_long_help = help::NEW_EXAMPLES)]
    New(NewKey),
    /// List every key
    #[command(long_about = help::LIST_ABOUT, after_long_help = help::LIST_EXAMPLES)]
    List,
    /// Show everything public about one key
    #[command(long_about = help::SHOW_ABOUT, after_long_help = help::SHOW_EXAMPLES)]
    Show(ShowKey),
    /// Replace a key by a new one
    #[command(long_about = help::ROTATE_ABOUT, after_long_help = help::ROTATE_EXAMPLES)]
    Rotate(RotateKey),
    /// Take a key's voice away
    #[command(long_about = help::REVOKE_ABOUT, after_long_help = help::REVOKE_EXAMPLES)]
    Revoke(RevokeKey),
}

#[derive(Debug, Args)]
pub(crate) struct NewKey {
    /// Who holds the key: 1 to 64 characters, no name of a person or of a key in use
    pub(crate) name: HolderName,
    /// What the key may speak as
    #[arg(long, value_enum)]
    pub(crate) role: RoleName,
    /// Write the secret to this new file instead of the data folder
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also make a recovery key and write its secret to this new file
    #[arg(long, value_name = "FILE")]
    pub(crate) recovery: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowKey {
    /// A name, the first 6 digits of a fingerprint or more, or `last`
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
}

#[derive(Debug, Args)]
pub(crate) struct RotateKey {
    /// A name, the first 6 digits of a fingerprint or more, or `last`; `desk` is the desk's own key
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
    /// Sign with the recovery key in this file instead of the old key
    #[arg(long, value_name = "FILE")]
    pub(crate) with_recovery: Option<PathBuf>,
    /// Also make a recovery key, for a key that has none, and write its secret to this new file
    #[arg(long, value_name = "FILE", conflicts_with = "with_recovery")]
    pub(crate) recovery: Option<PathBuf>,
    /// Retire the old key at once instead of after 24 hours
    #[arg(long)]
    pub(crate) retire_now: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeKey {
    /// A name, the first 6 digits of a fingerprint or more, or `last`
    #[arg(value_name = "NAME|FINGERPRINT")]
    pub(crate) key: String,
    /// Why
    #[arg(long, value_enum)]
    pub(crate) reason: ReasonName,
    /// A remark for the record, up to 4096 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Use this new or empty folder instead of one in the system's temporary directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// The roles a key can be registered for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleName {
    /// Turns a task into proposals
    Planner,
    /// Runs tools and issues claims
    Executor,
    /// Reviews proposals and intents, challenges claims
    Critic,
    /// Verifies and closes
    Auditor,
    /// Runs demur; may abort
    Operator,
    /// Submits plans and asks
    Agent,
    /// Answers questions
    Answerer,
}

impl From<RoleName> for Role {
    fn from(role: RoleName) -> Self {
        match role {
            RoleName::Planner => Self::Planner,
            RoleName::Executor => Self::Executor,
            RoleName::Critic => Self::Critic,
            RoleName::Auditor => Self::Auditor,
            RoleName::Operator => Self::Operator,
            RoleName::Agent => Self::Agent,
            RoleName::Answerer => Self::Answerer,
        }
    }
}

/// How risky an operation is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RiskName {
    /// It reads only
    Low,
    /// It changes what can be changed back
    Medium,
    /// It changes what is hard to change back
    High,
    /// It may harm people, money or other systems
    Critical,
}

impl From<RiskName> for Risk {
    fn from(risk: RiskName) -> Self {
        match risk {
            RiskName::Low => Self::Low,
            RiskName::Medium => Self::Medium,
            RiskName::High => Self::High,
            RiskName::Critical => Self::Critical,
        }
    }
}

/// The reasons for a revocation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReasonName {
    /// Somebody else may hold the key
    Compromised,
    /// Nobody holds it any more
    Lost,
    /// Its holder no longer takes part
    Withdrawn,
}

impl From<ReasonName> for RevocationReason {
    fn from(reason: ReasonName) -> Self {
        match reason {
            ReasonName::Compromised => Self::Compromised,
            ReasonName::Lost => Self::Lost,
            ReasonName::Withdrawn => Self::Withdrawn,
        }
    }
}

/// Returns whether `--json` was asked for, also where the rest of the command line cannot be read.
pub(crate) fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn json_is_recognized_up_to_the_double_dash() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(asks_for_json(&words("keys new --json --role king")));
        assert!(!asks_for_json(&words("keys show -- --json")));
    }
}
