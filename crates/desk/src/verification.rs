//! What a verification of an export answers: the report, which is the same for the same file, and apart from it how two
//! files compare, whether anything was guessed (CLR-52), and how it went. The same document from every door.

use std::{
    io::{self, BufRead, Read as _},
    time::Duration,
};

use demur_core::{hash::Digest, limit::Limits};
use demur_ledger::{
    envelope::Event,
    event_type::Content,
    export::Line,
    facts::VerificationProfile,
    name::Sequence,
    verify::{Check, Code, Compared, FindingSeverity, Report, Verdict, compare},
};
use demur_plan::no_guess::NoGuess;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strictly a file is verified.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyParameters {
    /// `strict`, `default` or `lenient`; otherwise `default`.
    pub profile: Option<VerificationProfile>,
    /// Whether to ask the rules in the file again, and show that nothing in its plan was guessed.
    pub no_guess: Option<bool>,
}

/// What a verification found, and apart from it how it went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Verification {
    /// The code of the first failure.
    pub code: Option<Code>,
    /// How two files compare; none where there is one.
    pub comparison: Option<Comparison>,
    /// Whether anything was guessed, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_guess: Option<Guesses>,
    /// The report, which is the same for the same file.
    pub report: Report,
    /// How it went.
    pub run: VerificationRun,
    /// The report of the second file, where there is one.
    pub second: Option<Report>,
    /// The verdict over everything.
    pub verdict: Verdict,
}

/// How a verification went: the only part that differs from one run to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerificationRun {
    /// How long it took.
    pub elapsed_ms: u64,
}

/// How two files compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "VerificationComparison")]
pub enum Comparison {
    /// They agree wherever both have an event.
    Agree,
    /// They part at one event.
    Differ(Difference),
    /// They part where the store came back from a backup.
    Abandoned(AbandonedHistory),
    /// They cannot be compared.
    Incomparable(Unsaid),
}

/// Where two files part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationDifference")]
pub struct Difference {
    /// Whether both files hold: then the desk signed two histories.
    pub equivocation: bool,
    /// What the first file has there.
    pub first: Digest,
    /// What the second file has there.
    pub second: Digest,
    /// Whether they part in the registry, or else in the trace.
    pub in_registry: bool,
    /// The event.
    pub sequence: Sequence,
}

/// What a restoration of the store left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationAbandoned")]
pub struct AbandonedHistory {
    /// How many events only the first file has.
    pub only_first: u64,
    /// How many events only the second file has.
    pub only_second: u64,
}

/// What can be said about guesses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "VerificationGuesses")]
pub enum Guesses {
    /// Nothing: the file does not hold, has other rules than the reader named, or is not the trace of a plan.
    NotEstablished(Unsaid),
    /// The rules were asked again.
    Checked(Box<CheckedGuesses>),
}

/// The events of a plan's trace, each with its content.
#[derive(Debug)]
pub enum PlanEvents {
    /// All of them.
    Read {
        /// The events.
        events: Vec<(Event, Option<Content>)>,
        /// How many bytes they have in the file.
        bytes: u64,
    },
    /// More than are looked at, and why.
    TooMany(String),
}

/// Why the events of a plan could not be read once more.
#[derive(Debug, thiserror::Error)]
pub enum PlanEventsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file is not the one that was verified.
    #[error("expected the bytes that were verified, found others: the file changed meanwhile")]
    Changed,
}

impl PlanEvents {
    /// Reads the events of the trace that a report is about. Each is held against the hash that was verified: the file may
    /// have changed since.
    pub fn read(mut file: impl BufRead, report: &Report) -> Result<Self, PlanEventsError> {
        let (mut events, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
        loop {
            line.clear();
            file.by_ref().take(Limits::LINE.bytes as u64 + 1).read_until(b'\n', &mut line)?;
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            let Ok(Line::Event(found)) = Line::parse(whole) else { continue };
            let (Ok(event), Ok(content)) = (found.event(), found.content()) else { continue };
            if event.envelope().trace != report.scope.trace {
                continue;
            }
            bytes += whole.len() as u64;
            if events.len() == MAX_EVENTS || bytes > MAX_BYTES {
                let reason =
                    format!("the trace has more than {MAX_EVENTS} events, or more than {MAX_BYTES} bytes");
                return Ok(Self::TooMany(reason));
            }
            let opened = match (event.envelope().content, &found.salt, content) {
                (Some(commitment), Some(salt), Some(content)) => commitment.opens_content(salt, content),
                _ => true,
            };
            if report.hashes().get(events.len()) != Some(event.hash()) || !opened {
                return Err(PlanEventsError::Changed);
            }
            let kind = event.said().ok().and_then(|said| said.facts.event_type());
            let content = kind.zip(content).and_then(|(kind, bytes)| Content::parse(kind, bytes).ok());
            events.push((event, content));
        }
        if events.len() == report.hashes().len() {
            Ok(Self::Read { events, bytes })
        } else {
            Err(PlanEventsError::Changed)
        }
    }
}

/// More than the trace of a plan can need: it has at most 4,096 questions.
const MAX_EVENTS: usize = 65_536;

/// How many bytes of the trace are held in memory at once.
const MAX_BYTES: u64 = 256 << 20;

/// Why nothing is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationUnsaid")]
pub struct Unsaid {
    /// Why.
    pub reason: String,
}

/// What the rules show that travel in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedGuesses {
    /// Whether they are the rules that the reader named.
    pub known: bool,
    /// What they show.
    #[serde(flatten)]
    pub shows: NoGuess,
}

impl Verification {
    /// Returns the answer about a file, and about a second one beside it.
    pub fn new(report: Report, second: Option<Report>, no_guess: Option<Guesses>, elapsed: Duration) -> Self {
        let comparison = second.as_ref().map(|second| Comparison::of(&report, second));
        let (found, compared) = comparison.as_ref().map_or((None, Verdict::Pass), |comparison| {
            comparison.weigh(report.scope.profile == VerificationProfile::Strict)
        });
        let guessed =
            no_guess.as_ref().map_or(Verdict::Pass, |guesses| guesses.verdict(report.scope.profile));
        let verdicts = second.iter().map(|report| report.verdict).chain([report.verdict, guessed]);
        let verdict = verdicts.fold(compared, Verdict::max);
        let later = second.as_ref().and_then(Report::code);
        let at_last = (guessed == Verdict::Fail).then_some(Code::Guessed);
        Self {
            // Two histories weigh more than what is wrong with one of them.
            code: found.or_else(|| report.code()).or(later).or(at_last),
            verdict,
            comparison,
            no_guess,
            report,
            run: VerificationRun { elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(LONGEST_MS) },
            second,
        }
    }
}

impl Comparison {
    fn of(first: &Report, second: &Report) -> Self {
        match compare(first, second) {
            Compared::Incomparable(reason) => Self::Incomparable(Unsaid::because(reason)),
            Compared::Agree => Self::Agree,
            Compared::Abandoned(left) => {
                let (only_first, only_second) = (left.only_first, left.only_second);
                Self::Abandoned(AbandonedHistory { only_first, only_second })
            }
            Compared::Part(found) => Self::Differ(Difference {
                equivocation: [first, second].into_iter().all(is_signed_history),
                first: found.first,
                second: found.second,
                in_registry: found.in_registry,
                sequence: found.sequence,
            }),
        }
    }

    /// Returns what it means for the verdict, and the code where that is one of its own.
    fn weigh(&self, is_strict: bool) -> (Option<Code>, Verdict) {
        match self {
            Self::Differ(difference) => {
                (difference.equivocation.then_some(Code::Equivocation), Verdict::Fail)
            }
            Self::Abandoned(_) if is_strict => (Some(Code::HistoryAbandoned), Verdict::Fail),
            Self::Abandoned(_) => (None, Verdict::PassWithWarnings),
            // What was asked for was not found out.
            Self::Incomparable(_) => (None, Verdict::NotEstablished),
            Self::Agree => (None, Verdict::Pass),
        }
    }
}

impl Guesses {
    /// Returns what a file shows, given the report over it and the rules that the reader knows. Its events are read only
    /// if it holds.
    pub fn of<E>(
        report: &Report,
        rules: Option<Digest>,
        events: impl FnOnce() -> Result<PlanEvents, E>,
    ) -> Result<Self, E> {
        if !matches!(report.verdict, Verdict::Pass | Verdict::PassWithWarnings) {
            return Ok(Self::NotEstablished(Unsaid::because("the file does not hold")));
        }
        let (events, bytes) = match events()? {
            PlanEvents::Read { events, bytes } => (events, bytes),
            PlanEvents::TooMany(reason) => return Ok(Self::NotEstablished(Unsaid { reason })),
        };
        Ok(match NoGuess::check_file(events, bytes, report.registry()) {
            Ok(shows) if rules.is_some() && shows.rules != rules => {
                let found = shows.rules.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
                let reason = format!("the file has other rules than you named: {found}");
                Self::NotEstablished(Unsaid { reason })
            }
            Ok(shows) => Self::Checked(Box::new(CheckedGuesses { known: rules.is_some(), shows })),
            Err(error) => Self::NotEstablished(Unsaid { reason: error.to_string() }),
        })
    }

    /// Returns what they mean for the verdict: a plan that nobody confirmed shows nothing yet.
    pub fn verdict(&self, profile: VerificationProfile) -> Verdict {
        let is_strict = profile == VerificationProfile::Strict;
        match self {
            Self::NotEstablished(_) => Verdict::NotEstablished,
            // Whoever is strict takes no answer of the asker itself, whatever the rules allow.
            Self::Checked(checked)
                if checked.shows.holds() && is_strict && !checked.shows.warnings.is_empty() =>
            {
                Verdict::Fail
            }
            Self::Checked(checked)
                if checked.shows.holds()
                    && (!checked.shows.warnings.is_empty()
                        || is_strict && !checked.shows.remarks.is_empty()) =>
            {
                Verdict::PassWithWarnings
            }
            // Rules that are not those they are called after are worth reading.
            Self::Checked(checked) if checked.shows.holds() && !checked.shows.changed.is_empty() => {
                Verdict::PassWithWarnings
            }
            Self::Checked(checked) if checked.shows.holds() => Verdict::Pass,
            Self::Checked(checked) if checked.shows.problems.is_empty() => Verdict::NotEstablished,
            Self::Checked(_) => Verdict::Fail,
        }
    }
}

impl Unsaid {
    fn because(reason: &str) -> Self {
        Self { reason: reason.to_owned() }
    }
}

/// Returns whether the desk's signature stands behind every event of a file, whatever else is wrong with it: a
/// run that broke its rules, or what the reader knows from elsewhere, takes nothing from that.
fn is_signed_history(report: &Report) -> bool {
    let beside = [
        Check::Artifact,
        Check::Role,
        Check::Order,
        Check::Claim,
        Check::Meaning,
        Check::Finalization,
        Check::Anchor,
        Check::Equivocation,
    ];
    let holds = |check: Check, worst: Option<FindingSeverity>| {
        worst != Some(FindingSeverity::Failure) || beside.contains(&check)
    };
    report.scope.signatures && report.checks.iter().all(|check| holds(check.check, check.worst))
}

/// More than that is no exact number of JSON.
const LONGEST_MS: u64 = u64::MAX >> 11;
