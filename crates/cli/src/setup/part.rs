//! One file of a client, what belongs into it, and what becomes of it.

use demur_desk::visible::visible_path;
use serde_json::Value;

use super::{
    block,
    client::{Client, Format, Location, servers, settings},
    diff::{Line, diff},
    edit::{self, Edited, Slot},
    entry::{Entry, NAME, is_ours},
    file::Target,
    hooks::hooks,
    json::{self, Dialect},
    toml_file,
    tree::Tree,
    unsafe_change::Unsafe,
    yaml_file,
};
use crate::{
    arguments::{ClientName, Setup},
    failure::Failure,
    output::Paint,
};

/// A file, and what belongs into it.
pub(super) struct Part {
    location: Location,
    client: &'static str,
    what: What,
}

/// What belongs into a file.
enum What {
    /// Members or elements, which are recognized by what they say.
    Json { dialect: Dialect, inserts: Vec<Insert> },
    /// A table with its lines.
    Toml { table: &'static str, lines: Vec<String> },
    /// The lines of an entry.
    Yaml { lines: Vec<String> },
}

/// Something that is put into a JSON file.
pub(super) struct Insert {
    pub(super) slot: &'static Slot<'static>,
    pub(super) tree: Tree,
    pub(super) is_ours: fn(&Value) -> bool,
    /// Whether it is put in only where an earlier one stands.
    pub(super) only_renewed: bool,
}

/// Returns the files that a setup concerns. What an earlier one wrote and this one does not name stays.
pub(super) fn parts(known: &Client, entry: &mut Entry, arguments: &Setup) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    let location = servers(arguments.client, arguments.project)?;
    if !arguments.undo && !arguments.print {
        entry.keep(&words_there(known, &location, arguments));
    }
    // The hook alone can be taken out.
    if !(arguments.undo && arguments.hook) {
        parts.push(Part { location, client: known.word, what: server(known, entry, arguments)? });
    }
    if arguments.client == ClientName::ClaudeCode && (arguments.hook || arguments.undo) {
        let inserts = hooks(entry, arguments.wake)?;
        let what = What::Json { dialect: Dialect::Strict, inserts };
        parts.push(Part { location: settings(arguments.project)?, client: known.word, what });
    }
    Ok(parts)
}

/// Returns the arguments of the entry that an earlier setup wrote; none where there is none that can be read.
fn words_there(known: &Client, location: &Location, arguments: &Setup) -> Vec<String> {
    let Location { path, within } = location;
    let target = Target::open(path, within, arguments.follow_links, 0).ok();
    let text = target.and_then(|target| target.before).unwrap_or_default();
    let words = match known.format {
        Format::Json(dialect, slot) => edit::value(&text, dialect, slot)
            .filter(is_ours)
            .and_then(|entry| serde_json::from_value(entry["args"].clone()).ok()),
        // Words are written there as JSON has them.
        Format::Toml(_) | Format::Yaml => block::find(&text).and_then(|place| {
            let line = text[place].lines().map(str::trim_start).find(|line| line.starts_with("args"))?;
            serde_json::from_str(&line[line.find('[')?..]).ok()
        }),
    };
    words.unwrap_or_default()
}

fn server(known: &Client, entry: &Entry, arguments: &Setup) -> Result<What, Failure> {
    let (command, words) = (entry.command()?, entry.arguments()?);
    Ok(match known.format {
        Format::Json(dialect, slot) => {
            // In a project the file is shared with Claude Code, and says the same for both.
            let with_tools = arguments.client == ClientName::Copilot && !arguments.project;
            let tree = entry.json(with_tools)?;
            What::Json { dialect, inserts: vec![Insert { slot, tree, is_ours, only_renewed: false }] }
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
            What::Json { dialect, inserts } => {
                let made = inserts.iter().filter(|insert| !insert.only_renewed);
                made.fold(String::new(), |text, insert| {
                    match edit::put(&text, *dialect, insert.slot, &insert.tree, &insert.is_ours) {
                        Ok(Edited::Text(with)) => with.trim_start().to_owned(),
                        // What was just made here can be read, and lacks the rest.
                        _ => text,
                    }
                })
            }
            What::Toml { lines, .. } => block::marked(self.client, "", lines, "\n") + "\n",
            What::Yaml { lines } => block::marked(self.client, "", &yaml_file::alone(lines), "\n") + "\n",
        }
    }

    /// Returns whether an earlier setup may have put something into the file.
    pub(super) fn may_hold_ours(&self) -> bool {
        // What cannot be read may hold anything.
        std::fs::read(&self.location.path)
            .map_or(true, |bytes| bytes.windows(NAME.len()).any(|part| part == NAME.as_bytes()))
    }

    /// Returns what becomes of the file.
    pub(super) fn change(&self, arguments: &Setup) -> Result<Change, Failure> {
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
            What::Json { dialect, inserts } => in_turn(text, inserts, |text, insert| {
                check_name(text, *dialect, insert.slot)?;
                let Insert { slot, tree, is_ours, only_renewed } = insert;
                let lacks = || edit::take_out(text, *dialect, slot, is_ours) == Ok(Edited::Unchanged);
                if *only_renewed && lacks() {
                    return Ok(Edited::Unchanged);
                }
                Ok(edit::put(text, *dialect, slot, tree, is_ours)?)
            }),
            What::Toml { table, lines } => toml_file::put(text, self.client, table, lines),
            What::Yaml { lines } => yaml_file::put(text, self.client, lines),
        }
    }

    fn take_out(&self, text: &str) -> Result<Edited, Unsafe> {
        match &self.what {
            What::Json { dialect, inserts } => {
                let blank = text.trim().is_empty();
                let malformed = json::parse(text, *dialect).err().filter(|_| !blank);
                // A remark that somebody put in since does not keep ours in.
                let dialect = if malformed.is_some() { Dialect::WithComments } else { *dialect };
                // What was put in last goes first, so that each finds the file as it left it.
                let edited = in_turn(text, inserts.iter().rev(), |text, insert| {
                    check_name(text, dialect, insert.slot)?;
                    Ok(edit::take_out(text, dialect, insert.slot, &insert.is_ours)?)
                });
                match (edited, malformed) {
                    (Ok(Edited::Unchanged) | Err(_), Some(malformed)) => Err(malformed.into()),
                    (edited, _) => edited,
                }
            }
            What::Toml { table, .. } => toml_file::take_out(text, table),
            What::Yaml { .. } => yaml_file::take_out(text),
        }
    }

    fn left_alone(&self, reason: &Unsafe, undo: bool) -> Failure {
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
        Failure::refused(code, format!("{}: {reason}", self.path())).with_hint(hint)
    }
}

/// Returns what becomes of a text when one change is made after the other.
fn in_turn<'a>(
    text: &str,
    inserts: impl IntoIterator<Item = &'a Insert>,
    change: impl Fn(&str, &Insert) -> Result<Edited, Unsafe>,
) -> Result<Edited, Unsafe> {
    let mut now = text.to_owned();
    for insert in inserts {
        match change(&now, insert)? {
            Edited::Unchanged => {}
            Edited::Text(changed) => now = changed,
            Edited::Gone => return Ok(Edited::Gone),
        }
    }
    Ok(if now == text { Edited::Unchanged } else { Edited::Text(now) })
}

/// Somebody else's entry of the same name is not ours to change.
fn check_name(text: &str, dialect: Dialect, slot: &Slot<'_>) -> Result<(), Unsafe> {
    let Some(name) = slot.name else { return Ok(()) };
    let foreign = edit::value(text, dialect, slot).is_some_and(|there| !is_ours(&there));
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
    pub(super) fn write(&self) -> Result<(), Failure> {
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
