//! The layout of a timeline: the sentence of each event at the margin, what belongs to it below, labels in one
//! column, long text wrapped beside them.

use demur_core::visible::visible;
use demur_ledger::{
    name::Sequence,
    question::RestedEvent,
    state::Phase,
    timeline::Entry,
    verify::{ClaimReport, ClaimStanding, Report, Verdict},
};

use crate::{
    keys::clock,
    output::{Paint, counted_as},
};

/// A timeline in the making, under the report on its trace.
pub(super) struct Told<'a> {
    report: &'a Report,
    paint: Paint,
    /// The width of the text beside the labels.
    width: usize,
    /// The command that verifies the same trace.
    verifying: String,
    /// The newest start of a tool and the limits it told.
    limits: Option<(Sequence, Vec<String>)>,
}

impl<'a> Told<'a> {
    /// Returns the timeline of the trace that this report is about, for a terminal with so many columns.
    pub(super) fn new(report: &'a Report, verifying: String, paint: Paint, columns: Option<usize>) -> Self {
        let width = columns.map_or(WIDTH, |columns| columns.saturating_sub(BESIDE).clamp(NARROWEST, WIDTH));
        Self { report, paint, width, verifying, limits: None }
    }

    /// Returns what stands above the events.
    pub(super) fn begin(&self) -> String {
        let (report, paint) = (self.report, self.paint);
        let mut lines = vec![format!("{}    {}", paint.strong("trace"), report.scope.trace)];
        lines.extend(report.scope.state.map(|state| format!("{}    {state}", paint.strong("state"))));
        lines.push(format!("{}  {}", paint.strong("verdict"), report.words));
        let caution = report.caution().map(|caution| format!("{caution}: `{}` says why.", self.verifying));
        lines.extend(caution.map(|caution| paint.bad(&caution)));
        lines.join("\n") + "\n"
    }

    /// Returns one event, with an empty line before it.
    pub(super) fn entry(&mut self, entry: &Entry) -> String {
        let mark = if self.holds(entry) { "" } else { "? " };
        let head = format!("{mark}#{} {}", entry.sequence, visible(&entry.who));
        let role = if entry.signed { format!(" ({})", entry.role) } else { String::new() };
        let word = if entry.signed { "" } else { " (desk's word)" };
        let what = visible(&entry.what);
        let mut text = format!("\n{}{role} {what}{word}\n", self.paint.strong(&head));
        let known = self.known_limits(entry);
        if let Some(at) = known {
            self.row(&mut text, "limit", &format!("the same as in #{at}"));
        }
        for detail in entry.details() {
            if known.is_none() || detail.label != "limit" {
                self.row(&mut text, detail.label, &detail.text);
            }
        }
        for rested in self.report.rested.iter().filter(|rested| rested.event == entry.sequence) {
            let RestedEvent { answer, ended, how, .. } = rested;
            let how = how.as_str();
            self.row(&mut text, "warning", &format!("done on the answer of #{answer}, which #{ended} {how}"));
        }
        self.row(&mut text, "record", &format!("{} at {}", entry.kind, clock(entry.time)));
        text
    }

    /// Returns what stands below the events: where the run ended up, and the claims it leaves.
    pub(super) fn end(&self, any: bool) -> String {
        if !any {
            return "\nNo event of this trace could be read.\n".to_owned();
        }
        let claims = &self.report.claims;
        let Some(state) = self.report.scope.state else { return String::new() };
        if !Phase::ALL.iter().any(|phase| phase.as_str() == state) {
            return self.end_of_work(state);
        }
        let left = if claims.is_empty() { "It leaves no claim." } else { "It leaves these claims:" };
        let mark = if self.report.verdict == Verdict::Fail { "? " } else { "" };
        let mut text = format!("\n{mark}The run is {state}. {left}\n");
        for claim in claims {
            let (label, words) = (format!("#{}", claim.claim), standing(claim));
            self.row(&mut text, &label, &words);
        }
        text
    }

    /// Returns where a plan or a question of its own ended up.
    fn end_of_work(&self, state: &str) -> String {
        let questions = &self.report.questions;
        let settled = ["answered", "accepted", "defaulted", "cancelled"];
        let settled = questions.iter().filter(|question| settled.contains(&question.outcome)).count();
        let mark = if self.report.verdict == Verdict::Fail { "? " } else { "" };
        let of = counted_as(questions.len() as u64, "question is", "questions are");
        format!("\n{mark}It is {state}: {settled} of {of} settled.\n")
    }

    /// Returns whether nothing speaks against an event or what comes before it.
    fn holds(&self, entry: &Entry) -> bool {
        let report = self.report;
        report.verdict != Verdict::Fail || report.last_trusted.is_some_and(|last| entry.sequence <= last)
    }

    /// Returns the earlier start with the limits of this one: most calls of a run have the same, and there are many.
    fn known_limits(&mut self, entry: &Entry) -> Option<Sequence> {
        let known = self.limits.as_ref().filter(|(_, limits)| *limits == entry.limits).map(|(at, _)| *at);
        if known.is_none() && !entry.limits.is_empty() {
            self.limits = Some((entry.sequence, entry.limits.clone()));
        }
        known
    }

    /// Adds a labelled text. Every line of it is indented, so that none can pass for an event or a label.
    fn row(&self, text: &mut String, label: &str, words: &str) {
        let label = format!("{label:<LABEL$}");
        let label = if label.starts_with("DISPUTED") { self.paint.strong(&label) } else { label };
        for (index, line) in words.split('\n').flat_map(|line| wrapped(line, self.width)).enumerate() {
            let beside = if index == 0 { label.as_str() } else { NO_LABEL };
            *text += format!("{INDENT}{beside} {line}").trim_end();
            text.push('\n');
        }
    }
}

/// Returns a claim at the end of its run.
fn standing(claim: &ClaimReport) -> String {
    let text =
        claim.text.as_ref().map_or("(not disclosed)".to_owned(), |text| format!("\u{201c}{text}\u{201d}"));
    let open = claim.challenges.iter().filter(|challenge| challenge.closed_by.is_none());
    let open: Vec<_> = open.map(|challenge| format!("#{}", challenge.challenge)).collect();
    let mut marks = Vec::new();
    match claim.standing {
        ClaimStanding::Evidenced => {}
        ClaimStanding::NotEstablished => marks.push("not established".to_owned()),
        ClaimStanding::Unproven => marks.push("UNPROVEN".to_owned()),
    }
    if !open.is_empty() {
        marks.push(format!("DISPUTED by challenge {}", open.join(" and ")));
    }
    if marks.is_empty() { text } else { format!("{}: {text}", marks.join(", ")) }
}

/// Returns a line of text as lines that fit beside the labels. A word that does not fit stands alone.
fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in visible(words).split(' ') {
        let more = word.chars().count();
        if length > 0 && length + 1 + more > width {
            lines.push(String::new());
            length = 0;
        }
        // There is always a line: the list begins with one.
        let Some(line) = lines.last_mut() else { continue };
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += more;
    }
    lines
}

const INDENT: &str = "    ";
/// The width of the labels.
const LABEL: usize = 10;
const NO_LABEL: &str = "          ";
/// The columns that indent, label and a space take.
const BESIDE: usize = 15;
/// The width of the text beside them: with indent and label as much as the widest help, or what the terminal has.
const WIDTH: usize = 85;
const NARROWEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_no_word_is_cut() {
        let word = "w".repeat(WIDTH + 5);
        let short = ["aaaa"; 20].join(" ");
        let lines = wrapped(&format!("{short} {word} end"), WIDTH);
        assert_eq!(lines, [["aaaa"; 17].join(" "), ["aaaa"; 3].join(" "), word, "end".to_owned()]);
        assert!(lines[0].len() <= WIDTH);
    }

    #[test]
    fn empty_text_is_one_empty_line() {
        assert_eq!(wrapped("", WIDTH), [""]);
    }
}
