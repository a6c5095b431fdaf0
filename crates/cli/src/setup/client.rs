//! The clients: which file they read, for the user and for a project, and what demur is called in it. Which page of their
//! documentation says so, and when it was read, stands in `docs/clients/`.

use std::path::{Path, PathBuf};

use super::{edit::Slot, json::Dialect};
use crate::{arguments::ClientName, failure::Failure};

/// What is known about a client.
pub(super) struct Client {
    /// As it is typed.
    pub(super) word: &'static str,
    /// As it calls itself.
    pub(super) title: &'static str,
    pub(super) format: Format,
    /// How to see that it worked.
    pub(super) next: &'static str,
    /// What `demur mcp` is told about this client: the protocol that serves it best, and how long it lets a call wait.
    pub(super) options: &'static [&'static str],
    /// Whether it hands its whole environment on. One that does not leaves `HOME` out, too.
    pub(super) hands_on_home: bool,
}

/// How a configuration file is written.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// JSON with the servers below this name.
    Json(Dialect, &'static Slot<'static>),
    /// TOML, with a table for each server.
    Toml(&'static str),
    /// YAML, with an entry for each server.
    Yaml,
}

/// Where a file lies, and the folder that it may not lead out of.
pub(super) struct Location {
    pub(super) path: PathBuf,
    pub(super) within: PathBuf,
}

/// Returns what is known about a client.
pub(super) const fn client(name: ClientName) -> Client {
    let (word, title, format, next) = match name {
        ClientName::ClaudeCode => (
            "claude-code",
            "Claude Code",
            Format::Json(Dialect::Strict, &SERVERS),
            "restart Claude Code; `/mcp` lists demur",
        ),
        ClientName::VsCode => (
            "vscode",
            "VS Code",
            Format::Json(Dialect::WithComments, &VSCODE_SERVERS),
            "run \"MCP: List Servers\" in VS Code, start demur and trust it",
        ),
        ClientName::Codex => {
            ("codex", "Codex", Format::Toml("mcp_servers.demur"), "start Codex anew; `/mcp` lists demur")
        }
        ClientName::Copilot => (
            "copilot",
            "Copilot CLI",
            Format::Json(Dialect::Strict, &SERVERS),
            "start Copilot CLI anew; `/mcp show` lists demur",
        ),
        ClientName::Cursor => (
            "cursor",
            "Cursor",
            Format::Json(Dialect::WithComments, &SERVERS),
            "start Cursor anew, and switch demur on under MCP",
        ),
        ClientName::Hermes => ("hermes", "Hermes", Format::Yaml, "type `/reload-mcp` in Hermes"),
    };
    let options: &[&str] = match name {
        // With 2025-11-25 it shows a form that can be taken back, and waits for more than a day.
        ClientName::ClaudeCode => &["--era", "2025", "--wait", "24h"],
        // A minute less than `tool_timeout_sec`.
        ClientName::Codex => &["--wait", "59m"],
        _ => &[],
    };
    Client { word, title, format, next, options, hands_on_home: !matches!(name, ClientName::Copilot) }
}

/// Returns where a client looks for its servers.
pub(super) fn servers(name: ClientName, project: bool) -> Result<Location, Failure> {
    if project {
        let inside = match name {
            ClientName::ClaudeCode | ClientName::Copilot => ".mcp.json",
            ClientName::VsCode => ".vscode/mcp.json",
            ClientName::Codex => ".codex/config.toml",
            ClientName::Cursor => ".cursor/mcp.json",
            ClientName::Hermes => {
                let message = "Hermes has one configuration, and none for a project";
                return Err(Failure::input("USAGE", message).with_hint("leave --project out"));
            }
        };
        return in_project(inside);
    }
    match name {
        // With a folder of its own it keeps this file in there as well.
        ClientName::ClaudeCode => of_user(Some("CLAUDE_CONFIG_DIR"), "", ".claude.json"),
        ClientName::VsCode if cfg!(target_os = "macos") => {
            of_user(None, "Library/Application Support", "Code/User/mcp.json")
        }
        ClientName::VsCode => of_user(Some("XDG_CONFIG_HOME"), ".config", "Code/User/mcp.json"),
        ClientName::Codex => of_user(Some("CODEX_HOME"), ".codex", "config.toml"),
        ClientName::Copilot => of_user(Some("COPILOT_HOME"), ".copilot", "mcp-config.json"),
        ClientName::Cursor => of_user(None, ".cursor", "mcp.json"),
        ClientName::Hermes => of_user(Some("HERMES_HOME"), ".hermes", "config.yaml"),
    }
}

/// Returns where Claude Code looks for its hooks.
pub(super) fn settings(project: bool) -> Result<Location, Failure> {
    if project {
        in_project(".claude/settings.json")
    } else {
        of_user(Some("CLAUDE_CONFIG_DIR"), ".claude", "settings.json")
    }
}

fn in_project(inside: &str) -> Result<Location, Failure> {
    let within = std::env::current_dir().map_err(|error| {
        Failure::internal("FOLDER_TROUBLE", format!("this folder cannot be used: {error}"))
    })?;
    Ok(Location { path: within.join(inside), within })
}

/// Returns a file of the user's, in the folder that the variable names or else in this one of the home folder.
fn of_user(variable: Option<&str>, folder: &str, file: &str) -> Result<Location, Failure> {
    let named = variable.and_then(absolute);
    if let Some(within) = named {
        return Ok(Location { path: within.join(file), within });
    }
    let within = absolute("HOME").ok_or_else(|| {
        Failure::input("NO_HOME", "expected HOME to name your folder, found no such variable")
            .with_hint("--project writes into this folder")
    })?;
    Ok(Location { path: within.join(folder).join(file), within })
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| Path::is_absolute(path))
}

/// Where the servers of Claude Code, Copilot CLI and Cursor are.
const SERVERS: Slot<'_> = Slot { path: &["mcpServers"], name: Some("demur") };
/// Where those of VS Code are.
const VSCODE_SERVERS: Slot<'_> = Slot { path: &["servers"], name: Some("demur") };
/// Where the hooks of Claude Code are: before a tool call, and where a session is told something.
pub(super) const BEFORE_TOOL: Slot<'_> = Slot { path: &["hooks", "PreToolUse"], name: None };
/// See [`BEFORE_TOOL`].
pub(super) const AT_START: Slot<'_> = Slot { path: &["hooks", "SessionStart"], name: None };
/// See [`BEFORE_TOOL`].
pub(super) const AT_PROMPT: Slot<'_> = Slot { path: &["hooks", "UserPromptSubmit"], name: None };
/// See [`BEFORE_TOOL`].
pub(super) const AT_END: Slot<'_> = Slot { path: &["hooks", "Stop"], name: None };
