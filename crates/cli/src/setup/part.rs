//! One file of a client, what belongs into it, and what becomes of it.

use serde_json::Value;

use super::{
    block,
    client::{Client, Format, HOOKS, Location, hooks, servers},
    diff::{Line, diff},
    edit::{self, Edited, Slot},
    entry::{Entry, is_our_hook, is_ours},
    file::Target,
    json::{self, Dialect},
    toml_file,
    tree::Tree,
    unsafe_change::Unsafe,
    yaml_file,
};
use crate::{
    arguments::{ClientName, Setup},
    error::CommandError,
    output::Paint,
    visible::visible_path,
};

/// A file, and what belongs into it.
pub(super) struct Part {
    location: Location,
    client: &'static str,
    what: What,
}

/// What belongs into a file.
enum What {
    /// A member or an element, which is recognized by what it says.
    Json { dialect: Dialect, slot: &'static Slot<'static>, tree: Tree, is_ours: fn(&Value) -> bool },
    /// A table with its lines.
    Toml { table: &'static str, lines: Vec<String> },
    /// The lines of an entry.
    Yaml { lines: Vec<String> },
}

/// Returns the files that a setup concerns.
pub(super) fn parts(known: &Client, entry: &Entry, arguments: &Setup) -> Result<Vec<Part>, CommandError> {
    let mut parts = Vec::new();
    // The hook alone can be taken out.
    if !(arguments.undo && arguments.hook) {
        let location = servers(arguments.client, arguments.project)?;
        parts.push(Part { location, client: known.word, what: server(known, entry, arguments)? });
    }
    if arguments.client == ClientName::ClaudeCode && (arguments.hook || arguments.undo) {
        let tree = entry.hook(arguments.strict)?;
        let what = What::Json { dialect: Dialect::Strict, slot: &HOOKS, tree, is_ours: is_our_hook };
        parts.push(Part { location: hooks(arguments.project)?, client: known.word, what });
    }
    Ok(parts)
}

fn server(known: &Client, entry: &Entry, arguments: &Setup) -> Result<What, CommandError> {
    let (command, words) = (entry.command()?, entry.arguments()?);
    Ok(match known.format {
        Format::Json(dialect, slot) => {
            // In a project the file is shared with Claude Code, and says the same for both.
            let with_tools = arguments.client == ClientName::Copilot && !arguments.project;
            What::Json { dialect, slot, tree: entry.json(with_tools)?, is_ours }
        }
        Format::Toml(table) => {
            What::Toml { table, lines: toml_file::lines(table, &command, &words, &entry.environment) }
        }
        Format::Yaml => What::Yaml { lines: yaml_file::lines(&command, &words, &entry.environment) },
    })
}

impl Part {
    /// Returns where the file is.
    pub(super) fn path(&self) -> String {
        visible_path(&self.location.path)
    }

    /// Returns the text of a file that holds nothing else.
    pub(super) fn alone(&self) -> String {
        match &self.what {
            What::Json { slot, tree, .. } => edit::alone(slot, tree),
            What::Toml { lines, .. } => block::marked(self.client, "", lines, "\n") + "\n",
            What::Yaml { lines } => block::marked(self.client, "", &yaml_file::alone(lines), "\n") + "\n",
        }
    }

    /// Returns what becomes of the file.
    pub(super) fn change(&self, arguments: &Setup) -> Result<Change, CommandError> {
        let Location { path, within } = &self.location;
        // What is the user's is for nobody else; a project is as its folder.
        let mode = if arguments.project { 0o666 } else { 0o600 };
        let target = Target::open(path, within, arguments.follow_links, mode)?;
        let edited = match (&target.before, arguments.undo) {
            (None, true) => Ok(Edited::Unchanged),
            (None, false) => Ok(Edited::Text(self.alone())),
            (Some(text), true) => self.take_out(text),
            (Some(text), false) => self.put(text),
        };
        let edited = edited.map_err(|reason| self.left_alone(&reason, arguments.undo))?;
        Ok(Change { target, edited })
    }

    fn put(&self, text: &str) -> Result<Edited, Unsafe> {
        match &self.what {
            What::Json { dialect, slot, tree, is_ours } => {
                check_name(text, *dialect, slot)?;
                Ok(edit::put(text, *dialect, slot, tree, is_ours)?)
            }
            What::Toml { table, lines } => toml_file::put(text, self.client, table, lines),
            What::Yaml { lines } => yaml_file::put(text, self.client, lines),
        }
    }

    fn take_out(&self, text: &str) -> Result<Edited, Unsafe> {
        match &self.what {
            What::Json { dialect, slot, is_ours, .. } => {
                check_name(text, *dialect, slot)?;
                Ok(edit::take_out(text, *dialect, slot, is_ours)?)
            }
            What::Toml { table, .. } => toml_file::take_out(text, table),
            What::Yaml { .. } => yaml_file::take_out(text),
        }
    }

    fn left_alone(&self, reason: &Unsafe, undo: bool) -> CommandError {
        let code = match reason {
            Unsafe::Malformed(_) => "CONFIG_MALFORMED",
            Unsafe::Taken { .. } => "NAME_TAKEN",
            Unsafe::Shape { .. } => "CONFIG_UNSAFE",
        };
        let hint = if undo {
            "nothing was changed; take it out by hand".to_owned()
        } else {
            format!("nothing was changed; `demur setup {} --print` shows what to put in by hand", self.client)
        };
        CommandError::refused(code, format!("{}: {reason}", self.path())).with_hint(hint)
    }
}

/// Somebody else's entry of the same name is not ours to change.
fn check_name(text: &str, dialect: Dialect, slot: &Slot<'_>) -> Result<(), Unsafe> {
    let Some(name) = slot.name else { return Ok(()) };
    let root = json::parse(text, dialect)?;
    let holder = slot.path.iter().try_fold(&root, |node, name| node.member(name).map(|member| &member.value));
    let there = holder.and_then(|holder| holder.member(name));
    let foreign = there.is_some_and(|member| !is_ours(&member.value.value()));
    if foreign { Err(Unsafe::taken(name)) } else { Ok(()) }
}

/// A file and what becomes of it.
pub(super) struct Change {
    target: Target,
    edited: Edited,
}

impl Change {
    /// Returns whether something becomes of it.
    pub(super) fn is_one(&self) -> bool {
        self.edited != Edited::Unchanged
    }

    /// Returns where the file is.
    pub(super) fn path(&self) -> String {
        visible_path(&self.target.path)
    }

    /// Writes the file.
    pub(super) fn write(&self) -> Result<(), CommandError> {
        self.target.write(&self.edited)
    }

    /// Returns the difference, line by line.
    pub(super) fn lines(&self) -> Vec<Line> {
        let before = self.target.before.as_deref().unwrap_or_default();
        match &self.edited {
            Edited::Unchanged => Vec::new(),
            Edited::Text(after) => diff(before, after),
            Edited::Gone => diff(before, ""),
        }
    }

    /// Returns the name of the file and the difference, as people read it.
    pub(super) fn shown(&self, paint: Paint) -> Vec<String> {
        let what = match (&self.target.before, &self.edited) {
            (_, Edited::Unchanged) => return Vec::new(),
            (None, _) => " (new)",
            (_, Edited::Gone) => " (removed: nothing else was in it)",
            _ => "",
        };
        let name = format!("{}{what}", self.path());
        [paint.strong(&name)].into_iter().chain(self.lines().iter().map(|line| line.shown(paint))).collect()
    }
}
