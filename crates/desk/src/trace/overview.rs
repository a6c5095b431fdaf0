//! Traces as people look at them: what is known of each, its events in words, what the verifier says about it. No operations,
//! but admitted like them. A look reads what it shows and no more, and nothing that takes too long.

use demur_api::{
    refusal::Refusal,
    trace::{Line, TraceView},
};
use demur_ledger::{
    event_type::TraceKind,
    graph::Graph,
    name::{Sequence, TraceId},
    question::OutcomeKind,
    timeline::Entry,
    verify::{Options, Report},
};
use demur_store::contract::TraceSummary;

use super::{event, read, unknown_event};
use crate::{
    access::{Caller, LOOKING},
    audit,
    desk::Desk,
    excerpt::{self, FoundArtifact},
    owner::Owner,
};

/// What is known of a trace without reading it.
#[derive(Clone, Debug)]
pub struct TraceOverview {
    /// The trace.
    pub view: TraceView,
    /// Its first event, in words; none if it cannot be read.
    pub opening: Option<Entry>,
    /// What became of the question that it began with; none where it began with something else.
    pub outcome: Option<OutcomeKind>,
}

/// What the verifier says about a trace.
#[derive(Clone, Debug)]
pub enum TraceVerdict {
    /// What it found.
    Report(Box<Report>),
    /// Why the trace cannot be exported.
    NotExported(String),
    /// The trace is too long to be verified for a look.
    TooLong,
}

impl Desk {
    /// Returns up to so many traces, the newest first, and the last of them where there are more. May block.
    pub fn trace_overviews(
        &self,
        caller: &Caller,
        after: Option<TraceId>,
        limit: usize,
    ) -> Result<(Vec<TraceOverview>, Option<TraceId>), Refusal> {
        self.admit(caller, LOOKING)?;
        let owner = &*self.owner()?;
        let (found, next) = read::summaries(owner.sequencer().store(), after, limit)?;
        let overviews = found.into_iter().map(|summary| overview(owner, summary));
        Ok((overviews.collect::<Result<_, _>>()?, next))
    }

    /// Returns a trace, and up to so many of its events from a place on. May block.
    pub fn trace_lines(
        &self,
        caller: &Caller,
        trace: TraceId,
        from: Sequence,
        limit: usize,
    ) -> Result<(TraceOverview, Vec<Line>), Refusal> {
        self.admit(caller, LOOKING)?;
        let owner = &*self.owner()?;
        let summary = excerpt::summary(owner, trace)?;
        let lines = excerpt::read(owner, &summary, from, limit)?;
        Ok((overview(owner, summary)?, lines))
    }

    /// Returns a trace, and one of its events. May block.
    pub fn trace_line(
        &self,
        caller: &Caller,
        trace: TraceId,
        sequence: Sequence,
    ) -> Result<(TraceOverview, Line), Refusal> {
        let (overview, mut lines) = self.trace_lines(caller, trace, sequence, 1)?;
        Ok((overview, lines.pop().ok_or_else(|| unknown_event(trace, sequence))?))
    }

    /// Returns an event, and the artifact that it records with whether it is what the event commits to. May block.
    pub fn checked_artifact(
        &self,
        caller: &Caller,
        trace: TraceId,
        sequence: Sequence,
    ) -> Result<(Line, FoundArtifact), Refusal> {
        let (_, line) = self.trace_line(caller, trace, sequence)?;
        let owner = &*self.owner()?;
        let stored = event(owner, trace, sequence)?;
        let recorded = line.event.as_ref().ok_or_else(|| unknown_event(trace, sequence))?;
        let artifact = excerpt::artifact(owner, recorded, &stored.artifact);
        Ok((line, artifact))
    }

    /// Returns a trace, and what the verifier says about all of it. May block.
    pub fn trace_verdict(
        &self,
        caller: &Caller,
        trace: TraceId,
    ) -> Result<(TraceOverview, TraceVerdict), Refusal> {
        self.admit(caller, LOOKING)?;
        let owner = &*self.owner()?;
        let overview = overview(owner, excerpt::summary(owner, trace)?)?;
        if overview.view.events > MAX_READ_EVENTS {
            return Ok((overview, TraceVerdict::TooLong));
        }
        let options = Options { threads: VERIFIER_THREADS, ..Options::default() };
        let verdict = match audit::audit(owner.sequencer(), trace, &options, &mut |_| ())? {
            Ok(report) => TraceVerdict::Report(Box::new(report)),
            Err(error) => TraceVerdict::NotExported(error.to_string()),
        };
        Ok((overview, verdict))
    }

    /// Returns a trace, and the states that it went through where it is a run that is not too long. May block.
    pub fn run_graph(
        &self,
        caller: &Caller,
        trace: TraceId,
    ) -> Result<(TraceOverview, Option<Graph>), Refusal> {
        self.admit(caller, LOOKING)?;
        let owner = &*self.owner()?;
        let overview = overview(owner, excerpt::summary(owner, trace)?)?;
        let is_drawn = overview.view.kind == TraceKind::Run && overview.view.events <= MAX_READ_EVENTS;
        let graph = is_drawn.then(|| excerpt::graph(owner, trace)).transpose()?;
        Ok((overview, graph))
    }
}

fn overview(owner: &Owner, summary: TraceSummary) -> Result<TraceOverview, Refusal> {
    let question = owner.sequencer().store().question(summary.trace, Sequence::FIRST)?;
    let opening = excerpt::opening(owner, summary.trace)?;
    let outcome = question.map(|question| question.row.outcome);
    Ok(TraceOverview { view: read::view(summary), opening, outcome })
}

/// How many events a trace has at most that is read as a whole.
const MAX_READ_EVENTS: u64 = 200_000;
/// How many threads one verification uses: others want to be served meanwhile.
const VERIFIER_THREADS: usize = 1;
