//! `demur trace show`: a trace as a timeline that a person understands, or as a picture of its states, under the
//! verdict on the export it comes from, which is a file or is made from the store.

mod picture;
mod told;

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _},
    path::Path,
};

use demur_api::code::Code;
use demur_clarify::uuid::Uuid;
use demur_core::{canonical, limit::Limits};
use demur_desk::{
    audit::threads,
    visible::{shell_word, visible_path},
};
use demur_ledger::{
    graph::Graph,
    name::TraceId,
    timeline::{Entry, Timeline},
    verify::{Options, Report, StatedChecks, Verdict, verify},
};
use serde::Serialize;

use self::told::Told;
use super::spool::spool;
use crate::{
    arguments::ShowTrace,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup::{REGISTRY, TypedId},
    verify::unreadable,
};

/// Shows a file or a trace. It is read twice from one handle: first to verify it, then to tell it.
pub(super) fn run(context: &mut Context<'_>, arguments: &ShowTrace) -> Result<Exit, Failure> {
    let path = &arguments.what;
    let drawing = if arguments.graph { Some(picture::begin(context, arguments)?) } else { None };
    let mut file = match in_store(path) {
        Some(typed) => spool(context, &typed)?,
        None => open(path)?,
    };
    let unread = |error: io::Error| Failure::unreadable(path, &error);
    let checks = StatedChecks::find(BufReader::new(&file)).map_err(unread)?;
    file.rewind().map_err(unread)?;
    let options = Options { threads: threads(), checks, ..Options::default() };
    let report = verify(BufReader::new(&file), &options, &mut |_| ())
        .map_err(|error| unreadable(&visible_path(path), &error))?;
    file.rewind().map_err(unread)?;
    let exit = if report.verdict == Verdict::Fail { Exit::VerificationFailed } else { Exit::Success };
    match drawing {
        Some(place) => {
            let mut graph = Graph::new();
            read(path, file, &mut |entry| {
                graph.take(&entry);
                Ok(())
            })?;
            place.draw(context, &graph, &report)?;
        }
        None if context.output.is_json() => {
            let mut entries = Vec::new();
            read(path, file, &mut |entry| {
                entries.push(entry);
                Ok(())
            })?;
            let mut document = canonical::to_vec(&Shown { entries, report })?;
            document.push(b'\n');
            context.output.write(&document)?;
        }
        None => tell(context, path, file, &report)?,
    }
    Ok(exit)
}

/// Returns the trace of the store that is meant, unless a file is. A word or a whole id comes before a file of that name,
/// the beginning of an id after it.
pub(crate) fn in_store(path: &Path) -> Option<TypedId> {
    let typed: TypedId = path.to_str()?.parse().ok()?;
    let text = typed.as_str();
    // The id of a plan's session stands for its trace.
    let is_id = text.parse::<TraceId>().is_ok() || text.parse::<Uuid>().is_ok();
    let is_word = typed.is_last() || text == REGISTRY || is_id;
    (is_word || (typed.begins_trace() && !path.exists())).then_some(typed)
}

/// The answer for programs.
#[derive(Serialize)]
struct Shown {
    entries: Vec<Entry>,
    report: Report,
}

/// Writes entry after entry: a long trace is not gathered first.
fn tell(context: &mut Context<'_>, path: &Path, file: File, report: &Report) -> Result<(), Failure> {
    let verifying = match in_store(path) {
        Some(typed) => verifying(context, typed.as_str()),
        None => format!("demur verify {}", shell_word(path)),
    };
    let mut told = Told::new(report, verifying, context.output.paint(), crate::output::columns());
    let mut waiting = told.begin();
    let mut any = false;
    read(path, file, &mut |entry| {
        any = true;
        waiting.push_str(&told.entry(&entry));
        if waiting.len() >= GATHERED_BYTES {
            context.output.write(waiting.as_bytes())?;
            waiting.clear();
        }
        Ok(())
    })?;
    waiting.push_str(&told.end(any));
    context.output.write(waiting.as_bytes())
}

/// Returns the command that verifies a trace of the data folder.
pub(crate) fn verifying(context: &Context<'_>, trace: &str) -> String {
    format!("{} | demur verify -", context.typed(&format!("export {trace}")))
}

fn open(path: &Path) -> Result<File, Failure> {
    let trouble = |error: io::Error| {
        let shown = Failure::unreadable(path, &error);
        if error.kind() == io::ErrorKind::NotFound { shown.with_hint(NO_SUCH_FILE) } else { shown }
    };
    let file = File::open(path).map_err(trouble)?;
    if !file.metadata().map_err(trouble)?.is_file() {
        let message = format!("expected a file, found something else: {}", visible_path(path));
        let error = Failure::of(Code::FileUnreadable, message);
        return Err(error.with_hint("the file is read twice: save it to the disk first"));
    }
    Ok(file)
}

/// Reads up to the first line that cannot be read: the report says what is wrong with it.
fn read(path: &Path, file: File, take: &mut dyn FnMut(Entry) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut reader = BufReader::new(file);
    let mut timeline = Timeline::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = Limits::LINE.bytes as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut line);
        read.map_err(|error| Failure::unreadable(path, &error))?;
        let Some(whole) = line.strip_suffix(b"\n") else { return Ok(()) };
        match timeline.read(whole) {
            Ok(Some(entry)) => take(entry)?,
            Ok(None) => {}
            Err(_) => return Ok(()),
        }
    }
}

const NO_SUCH_FILE: &str =
    "give a file, `last`, `registry` or the id of a trace: `demur trace list` shows them";
/// How much text is gathered before it is written.
const GATHERED_BYTES: usize = 1 << 16;
