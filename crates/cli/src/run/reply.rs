//! What came of a run, for people and for programs.

use demur_core::visible::visible;
use demur_desk::visible::{shell_word, visible_path};
use demur_ledger::{
    facts::{FailureKind, VerificationStatus},
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_run::history::{History, Intended, Proposed};
use serde::Serialize;

use super::folder::RunFolder;
use crate::{
    exit::Exit,
    output::{Paint, Reply, counted_as},
};

/// The answer of `demur run`.
#[derive(Debug, Serialize)]
pub(crate) struct RunReply {
    claims: Vec<ClaimLine>,
    events: u64,
    /// Where the tools worked.
    folder: String,
    pub(crate) phase: Phase,
    tools: ToolCount,
    pub(crate) trace: TraceId,
    /// The auditor's verdict, once there is one.
    pub(crate) verdict: Option<VerificationStatus>,
    /// Whether nobody could go on because the critic refused or blocked something.
    #[serde(skip)]
    stopped: bool,
}

/// A claim in play.
#[derive(Debug, Serialize)]
pub(super) struct ClaimLine {
    claim: Sequence,
    disputed: bool,
    evidence: Vec<Sequence>,
    text: String,
}

/// How tool calls ended.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ToolCount {
    blocked: u64,
    completed: u64,
    failed: u64,
    /// Failed because demur itself ended.
    lost: u64,
    open: u64,
}

impl RunReply {
    /// Returns what came of a run.
    pub(super) fn new(trace: TraceId, history: &History, folder: &RunFolder, stuck: bool) -> Self {
        Self {
            claims: ClaimLine::all(history),
            events: history.state().length(),
            folder: folder.work().to_string_lossy().into_owned(),
            phase: history.state().phase(),
            tools: ToolCount::of(history),
            trace,
            verdict: history.verdict,
            stopped: stuck
                && (history.proposals.values().any(Proposed::is_refused)
                    || history.intents.values().any(Intended::is_blocked)),
        }
    }

    /// Returns the auditor's verdict in words, to follow the state of the run.
    pub(crate) const fn verdict_words(&self) -> &'static str {
        match self.verdict {
            Some(VerificationStatus::Pass) => ": the audit passed",
            Some(VerificationStatus::PassWithWarnings) => ": the audit passed with warnings",
            Some(VerificationStatus::Fail) => ": the audit failed",
            None => "",
        }
    }

    /// Returns how the command ends.
    pub(super) fn exit(&self) -> Exit {
        match self.phase {
            Phase::Failed => Exit::VerificationFailed,
            Phase::Aborted if self.tools.ran() == 0 && self.stopped => Exit::PolicyBlocked,
            Phase::Aborted => Exit::Refused,
            _ => Exit::Success,
        }
    }
}

impl ClaimLine {
    /// Returns the claims in play.
    pub(super) fn all(history: &History) -> Vec<Self> {
        let line = |(claim, disputed)| {
            let said = history.claims.get(&claim);
            Self {
                claim,
                disputed,
                evidence: said.map(|said| said.evidence.clone()).unwrap_or_default(),
                text: said.map(|said| said.text.clone()).unwrap_or_default(),
            }
        };
        history.state().claims().map(line).collect()
    }

    /// Returns it in words.
    pub(super) fn words(&self) -> String {
        let evidence: Vec<String> = self.evidence.iter().map(|at| format!("#{at}")).collect();
        let disputed = if self.disputed { ", disputed" } else { "" };
        let text = format!("\u{201c}{}\u{201d}", visible(&self.text));
        format!("  #{} {text} on {}{disputed}", self.claim, evidence.join(" "))
    }
}

impl ToolCount {
    /// Returns how the tool calls of a run ended.
    pub(super) fn of(history: &History) -> Self {
        let mut count = Self::default();
        for intent in history.intents.values() {
            let slot = match &intent.ended {
                Some(ended) => match ended.failure {
                    None => &mut count.completed,
                    Some(FailureKind::Lost) => &mut count.lost,
                    Some(_) => &mut count.failed,
                },
                None if intent.is_blocked() => &mut count.blocked,
                None => &mut count.open,
            };
            *slot += 1;
        }
        count
    }

    const fn ran(&self) -> u64 {
        self.completed + self.failed + self.lost
    }

    /// Returns it in words.
    pub(super) fn words(&self) -> String {
        let Self { blocked, completed, failed, lost, open } = self;
        let parts = [
            (completed, "completed"),
            (failed, "failed"),
            (blocked, "blocked"),
            (lost, "lost"),
            (open, "open"),
        ];
        let some: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| **count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if some.is_empty() { "none".to_owned() } else { some.join(", ") }
    }
}

impl Reply for RunReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let phase = match self.phase {
            Phase::Completed => paint.good("completed"),
            Phase::Failed => paint.bad("failed"),
            Phase::Aborted => paint.bad("aborted"),
            other => paint.strong(other.as_str()),
        };
        let verdict = self.verdict_words();
        let mut lines = vec![
            format!(
                "{}   {phase}{verdict}, {}",
                paint.strong("run"),
                counted_as(self.events, "event", "events")
            ),
            format!("{} {}", paint.strong("trace"), self.trace),
            format!("{} {}", paint.strong("tools"), self.tools.words()),
        ];
        if !self.claims.is_empty() {
            lines.push(paint.strong("claims"));
            lines.extend(self.claims.iter().map(ClaimLine::words));
        }
        lines.push(match self.phase {
            Phase::Completed => format!("What the tools left is in {}.", visible_path(self.folder.as_ref())),
            Phase::Failed | Phase::Aborted => format!("`demur trace show {}` says why.", self.trace),
            _ => format!("`demur run resume {}` goes on.", shell_word(self.trace.to_string().as_ref())),
        });
        lines
    }
}
