//! The export of a trace, on its way from the server or from the files into whatever it is written to.

use std::io::{self, Write};

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfTrace, ShowTrace},
    store::IdKind,
};
use demur_desk::read_only::{ExportFailure, ReadOnlyFolder};
use demur_ledger::{
    export::Line,
    name::{Position, TraceId},
};

use super::{Find as _, Reader};
use crate::{
    client::{Broken, Client},
    failure::Failure,
    lookup::REGISTRY,
    output::{Progress, counted_as, percent},
};

/// Why an export did not come to its end.
pub(crate) enum ExportTrouble {
    /// It cannot be written where it should go.
    Output(io::Error),
    /// It cannot be had.
    Refused(Failure),
}

impl<E: Into<Failure>> From<E> for ExportTrouble {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl Reader {
    /// Writes a trace as one file and returns its newest event in it.
    pub(crate) fn export(
        &self,
        trace: TraceId,
        out: &mut dyn Write,
        watched: bool,
    ) -> Result<Position, ExportTrouble> {
        let total = if watched { self.count(trace)? } else { 0 };
        let mut progress = Progress::new(watched);
        let mut tell = |events| {
            progress.tell(|| {
                format!("{} written, {} %", counted_as(events, "event", "events"), percent(events, total))
            });
        };
        let written = match self {
            Self::Server(client) => download(client, trace, out, &mut tell),
            Self::Files(files) => copy(files, trace, out, &mut tell),
        };
        progress.clear();
        written
    }

    /// Returns how many events the export of a trace has.
    fn count(&self, trace: TraceId) -> Result<u64, Failure> {
        let events = |trace| -> Result<u64, Failure> {
            Ok(self.call(ApiRequest::<ShowTrace>::get(OfTrace { trace }, Nothing {}))?.events)
        };
        let registry = self.find(IdKind::Trace, REGISTRY)?.first().and_then(|id| id.parse().ok());
        let registry = registry.filter(|registry| *registry != trace).map(events).transpose()?;
        Ok(events(trace)? + registry.unwrap_or(0))
    }
}

fn copy(
    files: &ReadOnlyFolder,
    trace: TraceId,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(u64),
) -> Result<Position, ExportTrouble> {
    files.export(trace, out, tell).map_err(|failure| match failure {
        ExportFailure::Output(error) => ExportTrouble::Output(error),
        ExportFailure::Refused(refusal) => ExportTrouble::from(refusal),
    })
}

fn download(
    client: &Client,
    trace: TraceId,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(u64),
) -> Result<Position, ExportTrouble> {
    let mut lines = Lines { trace, begun: Vec::new(), events: 0, through: None };
    let downloaded = client.download(&format!("/v1/traces/{trace}/export"), &mut |part| {
        out.write_all(part)?;
        lines.take(part);
        tell(lines.events);
        Ok(())
    });
    downloaded.map_err(|broken| match broken {
        Broken::Taker(error) => ExportTrouble::Output(error),
        Broken::Refused(refusal) => ExportTrouble::from(refusal),
    })?;
    out.flush().map_err(ExportTrouble::Output)?;
    lines.through.ok_or_else(|| Failure::bug(&"an export without the head of its trace").into())
}

/// The lines of an export as they come by.
struct Lines {
    trace: TraceId,
    /// The beginning of the line that comes by now.
    begun: Vec<u8>,
    events: u64,
    /// The newest event of the trace.
    through: Option<Position>,
}

impl Lines {
    fn take(&mut self, part: &[u8]) {
        for piece in part.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_KEPT_BYTES.saturating_sub(self.begun.len());
            self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if self.begun.starts_with(br#"{"event":"#) {
            self.events += 1;
        } else if let Ok(Line::Head(head)) = Line::parse(self.begun.trim_ascii_end())
            && head.document.trace == self.trace
        {
            self.through = Some(head.document.head);
        }
        self.begun.clear();
    }
}

/// How much of a line is kept: more than the head of a trace has.
const MAX_KEPT_BYTES: usize = 1 << 14;
