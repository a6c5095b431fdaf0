//! What may be typed after `setup` and `hook`.

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
    /// With --hook: refuse also when no server answers
    #[arg(long, requires = "hook")]
    pub(crate) strict: bool,
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
    /// Answer the `PreToolUse` hook of Claude Code
    #[command(long_about = help::HOOK_CLAUDE_CODE_ABOUT, after_long_help = help::HOOK_CLAUDE_CODE_EXAMPLES)]
    ClaudeCode(HookOptions),
}

#[derive(Debug, Args)]
pub(crate) struct HookOptions {
    /// Whose questions count; may be given more than once
    #[arg(long, value_name = "NAME", default_value = "claude-code")]
    pub(crate) asker: Vec<Text<1, 64>>,
    /// Refuse when no server answers, instead of letting the call pass
    #[arg(long)]
    pub(crate) strict: bool,
}
