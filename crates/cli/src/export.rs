//! `demur export` and `demur trace export`: one trace as one file that anybody can verify without us (ONE-04).

mod file;

use std::{
    io::{self, BufWriter, ErrorKind, Write},
    path::Path,
};

use demur_api::code::Code;
use demur_desk::{
    data::DataFolder,
    visible::{shell_word, visible_path},
};
use demur_ledger::name::{Position, TraceId};
use serde::Serialize;

pub(crate) use self::file::NewFile;

use crate::{
    arguments::Export,
    context::Context,
    failure::Failure,
    lookup::{self, TypedId},
    output::{Output, Paint, Reply, counted_as},
    reader::{ExportTrouble, Reader},
};

/// Exports a trace.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Export) -> Result<(), Failure> {
    let out = arguments.out.as_deref().filter(|path| *path != Path::new("-"));
    match out {
        Some(path) => to_file(context, arguments, path),
        None if context.output.is_json() => {
            let message =
                "expected --out FILE with --json: without it the export itself goes to standard output";
            Err(Failure::input("USAGE", message).with_hint("the export is JSON already, one object per line"))
        }
        None => to_standard_output(context, arguments),
    }
}

fn to_file(context: &mut Context<'_>, arguments: &Export, path: &Path) -> Result<(), Failure> {
    let (reader, trace) = find(context, &arguments.trace)?;
    let mut file = NewFile::begin(path, arguments.force, "write the export")?;
    let through = reader.export(trace, &mut file, context.output.is_watched());
    let through = through.map_err(|error| file.trouble(error))?;
    file.finish()?;
    let events = through.sequence.next().number();
    context.output.reply(&ExportReply { events, file: path.to_string_lossy().into_owned(), through, trace })
}

fn to_standard_output(context: &mut Context<'_>, arguments: &Export) -> Result<(), Failure> {
    let (reader, trace) = find(context, &arguments.trace)?;
    let watched = context.output.is_watched();
    let mut out = BufWriter::with_capacity(BUFFER, Standard(&mut *context.output));
    match reader.export(trace, &mut out, watched) {
        Ok(_) => Ok(()),
        // Whoever read it has seen enough.
        Err(_) if out.get_ref().0.is_deserted() => {
            // What is left in the buffer is for nobody.
            let _ = out.into_parts();
            Ok(())
        }
        Err(ExportTrouble::Output(error)) => {
            let _ = out.into_parts();
            Err(Failure::of(Code::OutputTrouble, error))
        }
        Err(ExportTrouble::Refused(failure)) => {
            let _ = out.into_parts();
            Err(failure)
        }
    }
}

/// Returns the trace that is meant, and whom to read it from.
pub(crate) fn find(context: &Context<'_>, typed: &TypedId) -> Result<(Reader, TraceId), Failure> {
    let data = context.data()?;
    let reader = Reader::open(data.clone())?;
    match lookup::any_trace(&reader, typed) {
        Err(error) if typed.is_last() && error.is(Code::TraceUnknown) => Err(no_traces(&data)),
        found => Ok((reader, found?)),
    }
}

fn no_traces(data: &DataFolder) -> Failure {
    let message = format!("expected a trace in {}, found only the registry", visible_path(data.path()));
    Failure::input("NO_TRACE", message)
        .with_hint("`demur demo` shows how one comes about; `demur export registry` gives the registry")
}

/// Standard output as a place to write to. It ends when nobody reads any more.
struct Standard<'a>(&'a mut Output);

impl Write for Standard<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| io::Error::other(error.to_string()))?;
        if self.0.is_deserted() { Err(ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Serialize)]
struct ExportReply {
    /// How many events of the trace are in the file.
    events: u64,
    file: String,
    /// The newest of them.
    through: Position,
    trace: TraceId,
}

impl Reply for ExportReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let path = Path::new(&self.file);
        let (verb, file) = (paint.good("Exported:"), visible_path(path));
        vec![
            format!(
                "{verb} {} of trace {} to {file}",
                counted_as(self.events, "event", "events"),
                self.trace
            ),
            format!("Check it: demur verify {}", shell_word(path)),
        ]
    }
}

/// How much is gathered before it is written.
const BUFFER: usize = 1 << 16;
