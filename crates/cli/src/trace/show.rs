//! `demur trace show`: a trace as a timeline that a person understands, under the verdict on the export it comes from,
//! which is a file or is made from the store.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _},
    path::Path,
};

use demur_core::{limit::Limits, visible::visible};
use demur_ledger::{
    timeline::{Entry, Timeline},
    verify::{Options, Report, Verdict, verify},
};
use serde::Serialize;

use super::spool::spool;
use crate::{
    archive::Chosen,
    arguments::ShowTrace,
    context::Context,
    error::CommandError,
    exit::Exit,
    output::{Paint, Reply},
    verify::{threads, unreadable},
    visible::visible_path,
};

/// Shows the timeline of a file or of a trace. It is read twice from one handle: first to verify it, then to tell it.
pub(super) fn run(context: &mut Context<'_>, arguments: &ShowTrace) -> Result<Exit, CommandError> {
    let path = &arguments.what;
    let chosen = path.to_str().and_then(|text| text.parse::<Chosen>().ok());
    let mut file = match chosen {
        Some(chosen) => spool(context, chosen)?,
        None => open(path)?,
    };
    let options = Options { threads: threads(), ..Options::default() };
    let report = verify(BufReader::new(&file), &options, &mut |_| ())
        .map_err(|error| unreadable(&visible_path(path), &error))?;
    file.rewind().map_err(|error| CommandError::unreadable(path, &error))?;
    let entries = entries(path, file)?;
    let shown = Shown { entries, report };
    context.output.reply(&shown)?;
    Ok(if shown.report.verdict == Verdict::Fail { Exit::VerificationFailed } else { Exit::Success })
}

fn open(path: &Path) -> Result<File, CommandError> {
    let trouble = |error: io::Error| {
        let shown = CommandError::unreadable(path, &error);
        if error.kind() == io::ErrorKind::NotFound { shown.with_hint(NO_SUCH_FILE) } else { shown }
    };
    let file = File::open(path).map_err(trouble)?;
    if !file.metadata().map_err(trouble)?.is_file() {
        let message = format!("expected a file, found something else: {}", visible_path(path));
        let error = CommandError::input("FILE_UNREADABLE", message);
        return Err(error.with_hint("the file is read twice: save it to the disk first"));
    }
    Ok(file)
}

/// Reads up to the first line that cannot be read: the report says what is wrong with it.
fn entries(path: &Path, file: File) -> Result<Vec<Entry>, CommandError> {
    let mut reader = BufReader::new(file);
    let mut timeline = Timeline::new();
    let mut entries = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = Limits::LINE.bytes as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut line);
        read.map_err(|error| CommandError::unreadable(path, &error))?;
        let Some(whole) = line.strip_suffix(b"\n") else { return Ok(entries) };
        match timeline.read(whole) {
            Ok(entry) => entries.extend(entry),
            Err(_) => return Ok(entries),
        }
    }
}

/// The answer.
#[derive(Serialize)]
struct Shown {
    entries: Vec<Entry>,
    report: Report,
}

impl Shown {
    /// Returns whether nothing speaks against an event or what comes before it.
    fn holds(&self, entry: &Entry) -> bool {
        let report = &self.report;
        report.verdict != Verdict::Fail || report.last_trusted.is_some_and(|last| entry.sequence <= last)
    }

    /// Returns what must not be relied on, if anything.
    fn caution(&self) -> Option<String> {
        let report = &self.report;
        let reliable = match (report.verdict, report.last_trusted) {
            (Verdict::Pass | Verdict::PassWithWarnings, _) => return None,
            (Verdict::NotEstablished, _) => "Not everything here could be checked".to_owned(),
            (Verdict::Fail, Some(last)) => format!("Do not rely on anything after event #{last}"),
            (Verdict::Fail, None) => "Do not rely on anything in this file".to_owned(),
        };
        Some(format!("{reliable}: `demur verify` says why."))
    }

    fn told(&self, entry: &Entry, paint: Paint) -> Vec<String> {
        let mark = if self.holds(entry) { "" } else { "? " };
        let word = if entry.signed { "" } else { " (desk's word)" };
        let head = format!("{mark}#{} {}", entry.sequence, visible(&entry.who));
        let role = if entry.signed { format!(" ({})", entry.role) } else { String::new() };
        let mut lines = vec![format!("{}{role} {}{word}", paint.strong(&head), visible(&entry.what))];
        if let Some(why) = &entry.why {
            lines.push(format!("    \u{201c}{}\u{201d}", visible(why)));
        }
        let cites: Vec<_> = entry.cites.iter().map(|cited| format!("#{cited}")).collect();
        let rests = if cites.is_empty() { String::new() } else { format!(", refers to {}", cites.join(" ")) };
        lines.push(format!("    {} at {}{rests}", visible(&entry.kind), entry.time));
        lines
    }
}

impl Reply for Shown {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![
            format!("{}    {}", paint.strong("trace"), self.report.scope.trace),
            format!("{}  {}", paint.strong("verdict"), self.report.words),
        ];
        lines.extend(self.caution().map(|caution| paint.bad(&caution)));
        for entry in &self.entries {
            lines.push(String::new());
            lines.extend(self.told(entry, paint));
        }
        if self.entries.is_empty() {
            lines.extend([String::new(), "No event of this trace could be read.".to_owned()]);
        }
        lines
    }
}

const NO_SUCH_FILE: &str =
    "expected is a file, the id of a trace as `demur trace list` shows it, `last` or `registry`";
