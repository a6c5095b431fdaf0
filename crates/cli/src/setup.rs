//! `demur setup`: makes demur known to a program that speaks MCP, and unknown again (CLR-06). The difference is shown before
//! anything is written; what cannot be changed safely is left alone, and what belongs into it is printed.

mod block;
mod client;
mod diff;
mod edit;
mod entry;
mod file;
mod hooks;
mod json;
mod malformed;
mod part;
mod toml_file;
mod tree;
mod unsafe_change;
mod yaml_file;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use demur_api::{
    call::ApiRequest,
    hook::Hook,
    operation::{NoArguments, SetHook},
};
use demur_core::limit::Text;
use demur_desk::{
    data::DataFolder,
    marks::{self, AskerStanding},
    visible::visible_path,
};
use serde::Serialize;

use self::{
    client::{Client, client},
    entry::Entry,
    part::{Change, Part, parts},
};
use crate::{
    arguments::{ClientName, Setup},
    client::{self as server_client},
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
    passkey,
};

/// Changes the configuration of a client, or prints what would be put in.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Setup) -> Result<(), Failure> {
    let known = client(arguments.client);
    if arguments.hook && arguments.client != ClientName::ClaudeCode {
        let message = format!("expected claude-code with --hook: {} has no such hook here", known.title);
        return Err(Failure::input("USAGE", message).with_hint("leave --hook out"));
    }
    let mut entry = Entry::new(context, &known, arguments)?;
    let parts = parts(&known, &mut entry, arguments)?;
    if arguments.print {
        return context.output.reply(&Printed {
            files: parts.iter().map(|part| Snippet { path: part.path(), text: part.alone() }).collect(),
        });
    }
    let (changes, trouble) = changes(&parts, arguments)?;
    let wanted = changes.iter().any(Change::is_one);
    if wanted && !arguments.yes {
        confirm(context, &changes)?;
    }
    for change in &changes {
        change.write()?;
    }
    let mut done = Done::new(&known, &entry, arguments, &changes);
    if done.action == "added" && !has_passkey(context) {
        done.notes.insert(0, PASSKEY_NOTE.to_owned());
    }
    if arguments.client == ClientName::ClaudeCode && (arguments.hook || arguments.undo) {
        done.notes.extend(in_force(&entry, context, !arguments.undo));
    }
    context.output.reply(&done)?;
    trouble.map_or(Ok(()), Err)
}

/// Returns whether there is a passkey, or nobody can tell: nothing is started for it.
fn has_passkey(context: &Context<'_>) -> bool {
    let found = || -> Result<bool, Failure> {
        match server_client::Client::for_list(context)? {
            Some(client) => Ok(!passkey::list(&client)?.needs_setup_code),
            None => Ok(false),
        }
    };
    found().unwrap_or(true)
}

/// Returns what becomes of the files. One that cannot be changed stops everything that is put in; when something is taken
/// out it keeps nothing in the others, and is told at the end if something of ours may be in it.
fn changes(parts: &[Part], arguments: &Setup) -> Result<(Vec<Change>, Option<Failure>), Failure> {
    let (mut changes, mut trouble) = (Vec::new(), None);
    for part in parts {
        match part.change(arguments) {
            Ok(change) => changes.push(change),
            Err(error) if arguments.undo && parts.len() > 1 => {
                trouble = trouble.or(Some((error, part.may_hold_ours())));
            }
            Err(error) => return Err(error),
        }
    }
    match trouble {
        Some((error, _)) if !changes.iter().any(Change::is_one) => Err(error),
        Some((error, true)) => Ok((changes, Some(error))),
        _ => Ok((changes, None)),
    }
}

/// Tells the server of the data folder whom the hook stops. Returns a note where that has to wait: the hook says so itself
/// when it is called first.
fn in_force(entry: &Entry, context: &Context<'_>, on: bool) -> Option<String> {
    let tell = || -> Result<(), Failure> {
        let data = match entry.data() {
            Some(folder) => DataFolder::at(folder.to_owned()),
            None => context.data()?,
        };
        let known = marks::standing(data.path(), [ASKER].into_iter());
        let is_on = known.is_ok_and(|standing| standing != AskerStanding::Unknown);
        // Where nothing was ever recorded there is nothing to be told. What the disk does not know may still be in force.
        if (is_on && on) || !data.has_store()? {
            return Ok(());
        }
        let askers = vec![Text::try_from(ASKER)?].try_into()?;
        let request = ApiRequest::<SetHook>::send(NoArguments {}, Hook { askers, off: !on });
        server_client::Client::starting(data)?.call(request).map(drop)
    };
    let error = tell().err()?;
    let when = if on { "The hook is in force from its first call on" } else { "Its questions stay marked" };
    Some(format!("{when}: the server of the data folder could not be told ({error})."))
}

/// Shows what would be written, and asks.
fn confirm(context: &mut Context<'_>, changes: &[Change]) -> Result<(), Failure> {
    let somebody = io::stdin().is_terminal() && context.output.is_live();
    let paint = context.output.paint();
    let shown: Vec<String> = changes.iter().flat_map(|change| change.shown(paint)).collect();
    context.output.tell(&shown.join("\n"))?;
    if !somebody {
        let message = "nothing was written: nobody is here to be asked";
        return Err(Failure::input("CONFIRMATION_NEEDED", message).with_hint("--yes writes without asking"));
    }
    let mut line = String::new();
    let asked = io::stdout().write_all(b"Write this? [y/N] ").and_then(|()| io::stdout().flush());
    let read = asked.and_then(|()| io::stdin().lock().read_line(&mut line));
    read.map_err(|error| Failure::internal("TERMINAL_TROUBLE", error))?;
    if ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(Failure::refused("NOT_CONFIRMED", "nothing was written: you did not say yes"))
}

#[derive(Serialize)]
struct Printed {
    files: Vec<Snippet>,
}

#[derive(Serialize)]
struct Snippet {
    path: String,
    text: String,
}

impl Reply for Printed {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let text = |file: &Snippet| file.text.trim_end().to_owned();
        match self.files.as_slice() {
            // Alone, so that a program can take it.
            [file] => vec![text(file)],
            files => files.iter().flat_map(|file| [paint.strong(&file.path), text(file)]).collect(),
        }
    }
}

#[derive(Serialize)]
struct Done {
    client: &'static str,
    /// `added`, `removed` or `unchanged`.
    action: &'static str,
    files: Vec<ChangedFile>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ChangedFile {
    path: String,
    changed: bool,
    diff: Vec<String>,
}

impl Done {
    fn new(known: &Client, entry: &Entry, arguments: &Setup, changes: &[Change]) -> Self {
        let any = changes.iter().any(Change::is_one);
        let action = match (any, arguments.undo) {
            (false, _) => "unchanged",
            (true, true) => "removed",
            (true, false) => "added",
        };
        let file = |change: &Change| ChangedFile {
            path: change.path(),
            changed: change.is_one(),
            diff: change.lines().iter().map(diff::Line::plain).collect(),
        };
        let mut notes = Vec::new();
        if action == "added" {
            notes.push(format!("Next: {}.", known.next));
            if !entry.is_found_by_name() {
                notes.push(
                    "`demur` is not in your PATH: put it there, or others will not find it either."
                        .to_owned(),
                );
            }
            if let Some(folder) = entry.data().filter(|_| arguments.project) {
                let folder = visible_path(folder);
                notes.push(format!(
                    "The file names a folder of this machine, {folder}: it is not for others."
                ));
            }
        }
        Self { client: known.word, action, files: changes.iter().map(file).collect(), notes }
    }
}

impl Reply for Done {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let said = match self.action {
            "added" => "Written:",
            "removed" => "Taken out:",
            _ => "Nothing to do:",
        };
        let written = self.action != "unchanged";
        let of_interest = self.files.iter().filter(|file| file.changed || !written);
        let ending = if written { "" } else { " is as it should be" };
        let mut lines: Vec<String> =
            of_interest.map(|file| format!("{} {}{ending}", paint.good(said), file.path)).collect();
        lines.extend(self.notes.iter().cloned());
        lines
    }
}

/// The name under which Claude Code asks.
const ASKER: &str = "claude-code";

/// What is said while nobody has a passkey.
const PASSKEY_NOTE: &str = "First: `demur open` lets you add a passkey, so that no program can answer for you. Later nobody could tell whose it is.";
