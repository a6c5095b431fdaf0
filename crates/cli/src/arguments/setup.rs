//! What may be typed after `setup` and `hook`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use demur_core::limit::Text;

use super::{help, server::ToolSet};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is given or not")]
pub(crate) struct Setup {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: ClientName,
    /// Take out what an earlier setup put in
    #[arg(long)]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(long, conflicts_with = "print")]
    pub(crate) yes: bool,
    /// Print what would be put in, and write nothing
    #[arg(long, conflicts_with = "undo")]
    pub(crate) print: bool,
    /// For everybody who works on the project in this folder
    #[arg(long, conflicts_with = "user")]
    pub(crate) project: bool,
    /// For you, in every project (default)
    #[arg(long)]
    pub(crate) user: bool,
    /// Which tools besides those for asking
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SETS")]
    pub(crate) tools: Vec<ToolSet>,
    /// Also refuse tool calls while a question is open that must be answered (Claude Code)
    #[arg(long)]
    pub(crate) hook: bool,
    /// With --hook: also wake an idle session when an answer comes; Claude Code shows that as a hook error
    #[arg(long, requires = "hook")]
    pub(crate) wake: bool,
    /// Write through a link that leads elsewhere
    #[arg(long)]
    pub(crate) follow_links: bool,
}

/// A program that speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code
    ClaudeCode,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
    /// Codex
    Codex,
    /// GitHub Copilot CLI
    Copilot,
    /// Cursor
    Cursor,
    /// Hermes Agent
    Hermes,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Answer the hooks of Claude Code
    #[command(long_about = help::HOOK_CLAUDE_CODE_ABOUT, after_long_help = help::HOOK_CLAUDE_CODE_EXAMPLES)]
    ClaudeCode(HookOptions),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HookOptions {
    /// Whose questions count; may be given more than once
    #[arg(long, value_name = "NAME", default_value = "claude-code")]
    pub(crate) asker: Vec<Text<1, 64>>,
    /// Another name under which Claude Code knows demur; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// The file whose table `operations` says what a name means; without it guard.toml in the data folder
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// At the end of a turn: wait for an answer, and wake the session with it
    #[arg(long)]
    pub(crate) wake: bool,
}
