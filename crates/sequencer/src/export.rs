//! A trace as one file that anybody can verify offline (`docs/format.md` 9; ONE-04), written while others append.

use std::io::Write;

use demur_core::limit::Text;
use demur_ledger::{
    entry::ArtifactPlace,
    envelope::{Event, FORMAT},
    export::{Disclosure, ExportWriter, Header},
    name::{Position, Sequence, TraceId},
    registry::Registry,
};
use demur_store::contract::{Kept, Stored};

use super::{RootTrees, Sequencer, SequencerError, head_document, read_event};

/// Is told how many events were written.
pub type ExportProgress<'a> = &'a mut dyn FnMut(u64);

/// Says of an event of the registry whether its content goes into an export.
type Shows<'a> = &'a dyn Fn(&Event) -> bool;

impl Sequencer {
    /// Writes a trace as it is now, with its registry, and returns its newest event in the file.
    pub fn export(
        &self,
        trace: TraceId,
        software: Text<1, 128>,
        out: &mut dyn Write,
        progress: ExportProgress<'_>,
    ) -> Result<Position, SequencerError> {
        self.export_under(None, trace, software, out, progress)
    }

    /// Writes a trace as [`Self::export`] does, for somebody who is shown the words of these events of the registry and of no
    /// others.
    pub fn export_showing(
        &self,
        shows: Shows<'_>,
        trace: TraceId,
        software: Text<1, 128>,
        out: &mut dyn Write,
    ) -> Result<Position, SequencerError> {
        self.write_export((None, shows), trace, software, (out, &mut |_| ()))
    }

    /// Writes a trace as [`Self::export`] does, with roots that were read before, for whoever exports many traces.
    pub fn export_under(
        &self,
        trees: Option<&RootTrees>,
        trace: TraceId,
        software: Text<1, 128>,
        out: &mut dyn Write,
        progress: ExportProgress<'_>,
    ) -> Result<Position, SequencerError> {
        self.write_export((trees, &|_| true), trace, software, (out, progress))
    }

    fn write_export(
        &self,
        (trees, shows): (Option<&RootTrees>, Shows<'_>),
        trace: TraceId,
        software: Text<1, 128>,
        (out, progress): (&mut dyn Write, ExportProgress<'_>),
    ) -> Result<Position, SequencerError> {
        // First the trace, then the registry: whatever the trace pins is then in the registry.
        let newest = self.store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?.head;
        let registry = self.newest_registry()?;
        let header = Header { format: FORMAT, software, store: registry.store(), trace };
        let (writer, line) = ExportWriter::begin(&header)?;
        out.write_all(&line)?;
        let registry_head = registry.head();
        let mut export =
            Export { sequencer: self, registry: &registry, shows, writer, out, progress, events: 0 };
        export.trace(registry.trace(), registry_head)?;
        let newest = if trace == registry.trace() { registry_head } else { newest };
        if trace != registry.trace() {
            export.trace(trace, newest)?;
            match trees {
                Some(trees) => export.inclusions(trace, newest, trees)?,
                None => export.inclusions(trace, newest, &self.root_trees_over(trace, &registry)?)?,
            }
        }
        let position = (registry_head, registry.epoch_at(registry_head.sequence));
        let Export { writer, out, .. } = export;
        let desk = self.at_hand.desk_at(&registry, registry_head.sequence)?;
        out.write_all(&writer.finish(newest, position, self.at_hand.system.now(), &desk)?)?;
        out.flush()?;
        Ok(newest)
    }
}

struct Export<'a> {
    sequencer: &'a Sequencer,
    registry: &'a Registry,
    /// Whether the words of an event of the registry are shown.
    shows: Shows<'a>,
    writer: ExportWriter,
    out: &'a mut dyn Write,
    progress: ExportProgress<'a>,
    events: u64,
}

impl Export<'_> {
    /// Writes the events of a trace up to this one, then its head.
    fn trace(&mut self, trace: TraceId, through: Position) -> Result<(), SequencerError> {
        let mut next = Sequence::FIRST;
        while next <= through.sequence {
            let page = self.sequencer.store.events(trace, next, EVENTS_PER_READ)?;
            if page.is_empty() {
                return Err(damaged(trace, next));
            }
            for stored in page {
                if next > through.sequence {
                    break;
                }
                self.event(trace, next, &stored)?;
                next = next.next();
            }
        }
        let head = head_document(through, self.registry, trace);
        let at = head.registry.sequence;
        let line = self.writer.head(&self.sequencer.at_hand.sign(head, self.registry, at)?)?;
        Ok(self.out.write_all(&line)?)
    }

    fn inclusions(
        &mut self,
        trace: TraceId,
        newest: Position,
        trees: &RootTrees,
    ) -> Result<(), SequencerError> {
        for inclusion in trees.inclusions(trace, newest) {
            let line = self.writer.inclusion(&inclusion)?;
            self.out.write_all(&line)?;
        }
        Ok(())
    }

    fn event(&mut self, trace: TraceId, at: Sequence, stored: &Stored) -> Result<(), SequencerError> {
        let event = read_event(trace, at, stored)?;
        let line = match &stored.content {
            Kept::Here(_) if trace == self.registry.trace() && !(self.shows)(&event) => {
                self.writer.event_without_content(&event, Disclosure::Withheld)?
            }
            Kept::Here(opening) => self.writer.event(&event, Some(opening))?,
            Kept::Erased => self.writer.event_without_content(&event, Disclosure::Erased)?,
            Kept::Absent if event.envelope().content.is_some() => {
                self.writer.event_without_content(&event, Disclosure::Missing)?
            }
            Kept::Absent => self.writer.event(&event, None)?,
        };
        self.out.write_all(&line)?;
        if event.said().is_ok_and(|said| said.facts.recorded_bytes().is_some()) {
            self.artifact(at, &stored.artifact)?;
        }
        self.events += 1;
        (self.progress)(self.events);
        Ok(())
    }

    fn artifact(&mut self, at: Sequence, kept: &Kept<ArtifactPlace>) -> Result<(), SequencerError> {
        let line = match kept {
            Kept::Here(place) => match self.sequencer.store.artifact(&place.address)? {
                Some(bytes) => self.writer.artifact(at, &bytes, &place.salt)?,
                None => self.writer.artifact_without_bytes(at, Disclosure::Missing)?,
            },
            Kept::Erased => self.writer.artifact_without_bytes(at, Disclosure::Erased)?,
            Kept::Absent => self.writer.artifact_without_bytes(at, Disclosure::Missing)?,
        };
        Ok(self.out.write_all(&line)?)
    }
}

fn damaged(trace: TraceId, sequence: Sequence) -> SequencerError {
    SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" }
}

/// How many events are read at once.
const EVENTS_PER_READ: usize = 256;
