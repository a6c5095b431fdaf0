//! A file without a name: an export that is read twice and then gone.

use std::{
    env,
    fs::File,
    io::{BufWriter, Seek as _, Write as _},
};

use demur_desk::spool::nameless;

use crate::{context::Context, export, failure::Failure, lookup::TypedId, reader::ExportTrouble};

/// Returns the export of a trace in a file that nobody else can open, at its beginning.
pub(super) fn spool(context: &Context<'_>, typed: &TypedId) -> Result<File, Failure> {
    let (reader, trace) = export::find(context, typed)?;
    let place = env::temp_dir();
    let trouble = |error| Failure::file("write a file in", &place, &error);
    let file = nameless().map_err(trouble)?;
    let mut out = BufWriter::new(file);
    reader.export(trace, &mut out, context.output.is_watched()).map_err(|error| match error {
        ExportTrouble::Output(error) => trouble(error),
        ExportTrouble::Refused(failure) => failure,
    })?;
    out.flush().map_err(trouble)?;
    let mut file = out.into_inner().map_err(|error| trouble(error.into_error()))?;
    file.rewind().map_err(trouble)?;
    Ok(file)
}
