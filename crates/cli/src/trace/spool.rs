//! A file without a name: an export that is read twice and then gone.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{BufWriter, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use demur_core::random::Random as _;
use demur_desk::{durable, operating_system::OperatingSystem};

use crate::{context::Context, export, failure::Failure, lookup::TypedId, reader::ExportTrouble};

/// Returns the export of a trace in a file that nobody else can open, at its beginning.
pub(super) fn spool(context: &Context<'_>, typed: &TypedId) -> Result<File, Failure> {
    let (reader, trace) = export::find(context, typed)?;
    let (path, file) = nameless()?;
    let trouble = |error| Failure::file("write", &path, &error);
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

/// Returns a new file whose name is gone already: it goes away with the process, however that ends.
fn nameless() -> Result<(PathBuf, File), Failure> {
    let mut suffix = [0; 8];
    OperatingSystem::open()?.fill(&mut suffix);
    let path = env::temp_dir().join(format!("demur-spool-{:016x}", u64::from_be_bytes(suffix)));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let file = file.map_err(|error| Failure::file("create", &path, &error))?;
    durable::discard(&path);
    Ok((path, file))
}
