//! The export: one trace in one file, with the registry and all it takes to check it (`docs/format.md` 9).
//! JSON Lines; each line is canonical JSON with one member that names what it is.

pub mod cut;
mod line;
mod writer;

pub use line::{ArtifactLine, Disclosure, EventLine, Header, Line, LineError};
pub use writer::ExportWriter;
