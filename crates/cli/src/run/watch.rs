//! Whoever watches a run: one line per event on a terminal; in a pipe only what somebody has to do, on standard error. Only what
//! is on the disk is told.

use demur_core::{canonical, visible::visible, words::beginning};
use demur_desk::key_directory::software;
use demur_ledger::{
    content::Opening,
    envelope::{Event, FORMAT},
    export::{Disclosure, ExportWriter, Header},
    name::{StoreId, TraceId},
    timeline::{Entry, Timeline},
};
use serde::Serialize;

use crate::{failure::Failure, output::Output};

/// Who watches.
pub(super) struct Watch<'a> {
    output: Option<&'a mut Output>,
    /// Whether events are told.
    is_live: bool,
    timeline: Timeline,
}

impl<'a> Watch<'a> {
    /// Returns the watch over a run, if anybody watches.
    pub(super) fn new(
        output: Option<&'a mut Output>,
        store: StoreId,
        trace: TraceId,
    ) -> Result<Self, Failure> {
        #[derive(Serialize)]
        struct Line {
            header: Header,
        }
        let header = Header { format: FORMAT, software: software()?, store, trace };
        let mut timeline = Timeline::new();
        timeline.read(&canonical::to_vec(&Line { header })?).map_err(|error| Failure::bug(&error))?;
        let is_live = output.as_ref().is_some_and(|output| output.is_live());
        Ok(Self { output, is_live, timeline })
    }

    /// Takes an event in that was told before, in another process: later ones refer to it.
    pub(super) fn learn(
        &mut self,
        event: &Event,
        opening: Option<&Opening>,
    ) -> Result<Option<Entry>, Failure> {
        if !self.is_live {
            return Ok(None);
        }
        let disclosure = if opening.is_some() { Disclosure::Disclosed } else { Disclosure::Absent };
        let mut line = ExportWriter::event_line(event, opening, disclosure)?;
        line.pop();
        self.timeline.read(&line).map_err(|error| Failure::bug(&error))
    }

    /// Tells what somebody has to do: whoever reads a pipe would wait in vain without it.
    pub(super) fn call_for(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.output {
            Some(output) if self.is_live => output.tell(&format!("       {text}")),
            Some(output) => {
                output.notice(&format!("The run {text}"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Tells an event.
    pub(super) fn tell(&mut self, event: &Event, opening: Option<&Opening>) -> Result<(), Failure> {
        let entry = self.learn(event, opening)?;
        let (Some(entry), Some(output)) = (entry, &mut self.output) else { return Ok(()) };
        let (at, role, what) = (entry.sequence.number(), entry.role, visible(&entry.what).into_owned());
        let why = entry.why.as_deref().map(|why| format!(": {}", visible(&short(why)))).unwrap_or_default();
        output.tell(&format!("{at:>5}  {role:<8}  {what}{why}"))?;
        match entry.phase.filter(|step| step.from != step.to) {
            Some(step) => {
                let paint = output.paint();
                output.tell(&format!("       {}", paint.strong(&format!("now {}", step.to))))
            }
            None => Ok(()),
        }
    }
}

/// Returns one line of a reason.
fn short(text: &str) -> String {
    let line = beginning(text.lines().next().unwrap_or_default(), WIDTH);
    if line.len() < text.len() { format!("{line}...") } else { line.to_owned() }
}

const WIDTH: usize = 100;
