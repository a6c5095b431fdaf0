//! What the server counts, in the format of Prometheus. Nothing in it names a person, a question or an answer.

use demur_api::refusal::Refusal;
use demur_desk::{
    desk::{Count, Listener},
    figures::DeskFigures,
};
use demur_ledger::{
    entry::Entry,
    name::TraceId,
    question::{OutcomeKind, QuestionEffect, question_effect},
};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// The counters of this process.
pub struct Metrics {
    registry: Registry,
    outcomes: Family<OutcomeLabel, Counter>,
    questions: Family<OutcomeLabel, Gauge>,
    asked: Counter,
    time_to_answer: Histogram,
    events: Gauge,
    commits: Gauge,
    refusals: Gauge,
    queue: Gauge,
    requests: Family<RequestLabel, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    status: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("demur"),
            outcomes: Family::default(),
            questions: Family::default(),
            asked: Counter::default(),
            time_to_answer: Histogram::new(BUCKETS),
            events: Gauge::default(),
            commits: Gauge::default(),
            refusals: Gauge::default(),
            queue: Gauge::default(),
            requests: Family::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("questions_asked", "Questions asked since the start", self.asked.clone());
        registry.register(
            "question_outcomes",
            "What became of questions since the start",
            self.outcomes.clone(),
        );
        registry.register(
            "questions",
            "Questions in the store by what became of them",
            self.questions.clone(),
        );
        registry.register(
            "time_to_answer_seconds",
            "From the question to its answer",
            self.time_to_answer.clone(),
        );
        registry.register(
            "events_appended",
            "Events recorded since the folder was opened",
            self.events.clone(),
        );
        registry.register(
            "commits_synced",
            "Commits on the disk since the folder was opened",
            self.commits.clone(),
        );
        registry.register(
            "commands_refused",
            "Commands refused since the folder was opened",
            self.refusals.clone(),
        );
        registry.register("queue_depth", "Callers in line to have something recorded", self.queue.clone());
        registry.register("requests", "Requests answered by status", self.requests.clone());
    }

    /// Counts a request that was answered.
    pub fn count_request(&self, status: u16) {
        self.requests.get_or_create(&RequestLabel { status }).inc();
    }

    fn count(&self, entries: &[Entry]) {
        for entry in entries {
            let Ok(said) = entry.event.said() else { continue };
            match question_effect(said.facts) {
                Some(QuestionEffect::Asked(_)) => {
                    self.asked.inc();
                }
                Some(QuestionEffect::Ended(_, outcome)) => {
                    self.outcomes.get_or_create(&OutcomeLabel { outcome: outcome.as_str() }).inc();
                }
                Some(QuestionEffect::Reopened(_) | QuestionEffect::Changed(_)) | None => {}
            }
        }
    }

    /// Returns everything as text.
    pub fn text(&self, figures: &DeskFigures) -> Result<String, Refusal> {
        let set = |gauge: &Gauge, number: u64| gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
        set(&self.events, figures.events);
        set(&self.commits, figures.commits);
        set(&self.refusals, figures.refusals);
        set(&self.queue, figures.queued);
        for kind in OutcomeKind::ALL {
            self.questions.get_or_create(&OutcomeLabel { outcome: kind.as_str() }).set(0);
        }
        for (kind, count) in &figures.questions {
            set(&self.questions.get_or_create(&OutcomeLabel { outcome: kind.as_str() }), *count);
        }
        let mut page = String::new();
        text::encode(&mut page, &self.registry).map_err(|error| Refusal::bug(&error))?;
        Ok(page)
    }
}

impl Listener for Metrics {
    fn recorded(&self, _: TraceId, entries: &[Entry]) {
        self.count(entries);
    }
}

impl Count for Metrics {
    fn answered_after(&self, seconds: f64) {
        self.time_to_answer.observe(seconds);
    }
}

/// From a tenth of a second to a day.
const BUCKETS: [f64; 12] =
    [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0];
