//! What a client is told: how to start `demur mcp`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use demur_desk::{
    data::DataFolder,
    visible::{shell_word, visible_path},
};
use serde_json::Value;

use super::{client::Client, tree::Tree};
use crate::{
    arguments::{Setup, ToolSet},
    context::Context,
    failure::Failure,
};

/// How demur is started.
#[derive(Debug)]
pub(super) struct Entry {
    command: PathBuf,
    data: Option<PathBuf>,
    /// Whether somebody named that folder.
    is_named: bool,
    /// What the client needs.
    options: &'static [&'static str],
    /// The sets of tools, in one order whatever was typed.
    tools: Option<String>,
    pub(super) environment: Vec<(String, String)>,
}

impl Entry {
    /// Returns how this client is to start demur.
    pub(super) fn new(context: &Context<'_>, client: &Client, arguments: &Setup) -> Result<Self, Failure> {
        let hands_on_home = client.hands_on_home || arguments.project;
        let log = std::env::var("DEMUR_LOG").ok().filter(|level| !level.is_empty());
        Ok(Self {
            command: if arguments.project { PathBuf::from(NAME) } else { this_program()? },
            data: folder(context, hands_on_home)?,
            is_named: is_named(context),
            options: client.options,
            tools: Some(sets(&arguments.tools).join(",")).filter(|tools| !tools.is_empty()),
            environment: log.map(|level| ("DEMUR_LOG".to_owned(), level)).into_iter().collect(),
        })
    }

    /// Returns the program.
    pub(super) fn command(&self) -> Result<String, Failure> {
        text(&self.command)
    }

    /// Returns its arguments.
    pub(super) fn arguments(&self) -> Result<Vec<String>, Failure> {
        let mut words = vec!["mcp".to_owned()];
        words.extend(self.options.iter().map(|word| (*word).to_owned()));
        if let Some(tools) = &self.tools {
            words.extend(["--tools".to_owned(), tools.clone()]);
        }
        if let Some(folder) = &self.data {
            words.extend(["--data".to_owned(), text(folder)?]);
        }
        Ok(words)
    }

    /// Returns it as JSON.
    pub(super) fn json(&self, with_tools: bool) -> Result<Tree, Failure> {
        let mut members = vec![
            ("type", Tree::Text("stdio".to_owned())),
            ("command", Tree::Text(self.command()?)),
            ("args", Tree::texts(&self.arguments()?)),
        ];
        // The names of variables are known here.
        let pairs = self.environment.iter().map(|(_, value)| ("DEMUR_LOG", Tree::Text(value.clone())));
        if !self.environment.is_empty() {
            members.push(("env", Tree::Object(pairs.collect())));
        }
        if with_tools {
            members.push(("tools", Tree::texts(&["*".to_owned()])));
        }
        Ok(Tree::Object(members))
    }

    /// Takes over from an entry that an earlier setup wrote what this call does not name.
    pub(super) fn keep(&mut self, words: &[String]) {
        let value = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).cloned()
        };
        self.tools = self.tools.take().or_else(|| value("--tools"));
        if !self.is_named {
            self.data = value("--data").map(PathBuf::from).or_else(|| self.data.take());
        }
    }

    /// Returns the line that a shell runs for a hook.
    pub(super) fn hook_line(&self, options: &str) -> Result<String, Failure> {
        text(&self.command)?;
        let mut line = format!("{} {HOOK}{options}", shell_word(&self.command));
        if let Some(folder) = &self.data {
            text(folder)?;
            line = format!("{line} --data {}", shell_word(folder));
        }
        Ok(line)
    }

    /// Returns whether others find the program under its name.
    pub(super) fn is_found_by_name(&self) -> bool {
        self.command.is_absolute() || by_name().is_some()
    }

    /// Returns the data folder that is written down.
    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }
}

/// Returns whether setup wrote this entry.
pub(super) fn is_ours(entry: &Value) -> bool {
    let command = entry["command"].as_str().unwrap_or_default();
    Path::new(command).file_name() == Some(OsStr::new(NAME)) && entry["args"][0] == "mcp"
}

/// Returns the data folder where somebody named one, or where the client would not find the usual one.
fn folder(context: &Context<'_>, hands_on_home: bool) -> Result<Option<PathBuf>, Failure> {
    if !is_named(context) && hands_on_home {
        return Ok(None);
    }
    let folder = DataFolder::locate(context.data)?;
    let absolute = std::path::absolute(folder.path());
    absolute.map(Some).map_err(|error| Failure::file("find", folder.path(), &error))
}

fn is_named(context: &Context<'_>) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    context.data.is_some() || is_set("DEMUR_DATA") || is_set("XDG_DATA_HOME")
}

/// Returns where this program lies: as the shell finds it, so that it stays right after an update.
fn this_program() -> Result<PathBuf, Failure> {
    if let Some(path) = by_name() {
        return Ok(path);
    }
    std::env::current_exe().map_err(|error| {
        Failure::internal("PROGRAM_UNKNOWN", format!("cannot find out where this program lies: {error}"))
    })
}

/// Returns where the shell finds this program.
fn by_name() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?.canonicalize().ok()?;
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(NAME))
        .find(|path| path.canonicalize().is_ok_and(|found| found == this))
}

fn sets(typed: &[ToolSet]) -> Vec<&'static str> {
    if typed.contains(&ToolSet::All) {
        return vec!["all"];
    }
    let known = [(ToolSet::Wwa, "wwa"), (ToolSet::Session, "session")];
    known.into_iter().filter(|(set, _)| typed.contains(set)).map(|(_, name)| name).collect()
}

fn text(path: &Path) -> Result<String, Failure> {
    let plain = path.to_str().filter(|text| *text == visible_path(path));
    plain.map(str::to_owned).ok_or_else(|| {
        let message = format!("expected a path that can be written down, found {}", visible_path(path));
        Failure::input("PATH_UNUSABLE", message).with_hint("name another with --data")
    })
}

/// What demur is called everywhere.
pub(super) const NAME: &str = "demur";
/// What the line of a hook begins with, behind the program.
pub(super) const HOOK: &str = "hook claude-code";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_are_recognized_by_what_they_start() {
        assert!(is_ours(&json!({ "command": "/usr/bin/demur", "args": ["mcp", "--data", "/x"] })));
        assert!(is_ours(&json!({ "command": "demur", "args": ["mcp"] })));
        assert!(!is_ours(&json!({ "command": "npx", "args": ["mcp"] })));
        assert!(!is_ours(&json!({ "url": "http://localhost:7373/mcp" })));
    }
}
