//! The auditor's part, done at the desk: the verification begins, everything is verified, and the verdict is what was found.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{canonical, hash::sha256, limit::Text};
use demur_engine::Reply;
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::VerificationContent,
    event_type::{Content, Facts},
    facts::{
        Participant, VerificationProfile, VerificationRunCompleted, VerificationRunStarted,
        VerificationStatus,
    },
    name::{CommandId, Position, Sequence, TraceId},
    role::Role,
    verify::{Options, Report},
};
use demur_run::history::History;
use demur_sequencer::SequencerError;
use serde::Serialize;

use super::{check_run, read_on};
use crate::{
    audit::{self as verifier, threads},
    owner::Owner,
};

/// A run with its verdict.
#[derive(Clone, Debug)]
pub struct Audited {
    /// How strictly it was judged.
    pub profile: VerificationProfile,
    /// The verdict.
    pub status: VerificationStatus,
    /// What was recorded now.
    pub events: Vec<Sequence>,
    /// The report that was recorded now; none where the verdict was there before.
    pub report: Option<Vec<u8>>,
}

/// Verifies a run in the name of its auditor, and records the verdict. One that is there already is told again.
pub fn audit(
    owner: &Owner,
    author: &Arc<Author>,
    trace: TraceId,
    profile: Option<VerificationProfile>,
) -> Result<Audited, Refusal> {
    let ledger = owner.sequencer();
    check_run(ledger.store(), trace)?;
    // What is said in one commit goes by what was read.
    ledger.come_back(trace)?;
    let mut history = History::new();
    read_on(ledger.store(), trace, &mut history, |_, _| Ok::<_, Refusal>(()))?;
    check_profile(&history, profile)?;
    let auditor = Participant { principal: author.principal(), role: Role::Auditor };
    if let (Some(status), Some(profile)) = (history.verdict, history.profile)
        && history.participants.contains(&auditor)
    {
        return Ok(Audited { profile, status, events: Vec::new(), report: None });
    }
    let mut events = Vec::new();
    if history.verification.is_none() || !history.participants.contains(&auditor) {
        let profile = profile.unwrap_or(Options::default().profile);
        events.push(say(owner, author, trace, &history, VerificationRunStarted { profile }, None)?);
        read_on(ledger.store(), trace, &mut history, |_, _| Ok::<_, Refusal>(()))?;
        check_profile(&history, Some(profile))?;
    }
    let begun = history.verification.zip(history.profile);
    let (through, profile) = begun.ok_or_else(|| Refusal::bug(&"a verification that has not begun"))?;
    let options = Options { profile, threads: threads(), ..Options::default() };
    let report = verifier::audit(ledger, trace, &options, &mut |_| ())??;
    let found = verdict(&report)?;
    let (status, report) = (found.status, found.report.clone());
    events.extend(close(owner, author, (trace, &history), found, through)?);
    Ok(Audited { profile, status, events, report: Some(report) })
}

/// What an auditor has to say.
#[derive(Clone, Debug)]
pub struct Found {
    /// The verdict.
    pub status: VerificationStatus,
    /// Its words.
    pub content: VerificationContent,
    /// The report that bears it and that they name: canonical JSON.
    pub report: Vec<u8>,
}

/// Returns what an auditor has to say after this verification.
pub fn verdict(report: &Report) -> Result<Found, Refusal> {
    #[derive(Serialize)]
    struct Borne<'a> {
        #[serde(flatten)]
        report: &'a Report,
        status: VerificationStatus,
    }
    let status = verifier::status(report);
    let bytes = canonical::to_vec(&Borne { report, status })?;
    let summary = match status {
        VerificationStatus::Pass => "every check of the export holds".to_owned(),
        VerificationStatus::PassWithWarnings => "nothing failed, something is worth reading".to_owned(),
        VerificationStatus::Fail => report.words.clone(),
    };
    let content = VerificationContent { report: sha256(&bytes), summary: Text::cut(&summary)? };
    Ok(Found { status, content, report: bytes })
}

/// A verification that has begun is not judged otherwise in the end.
fn check_profile(history: &History, wanted: Option<VerificationProfile>) -> Result<(), Refusal> {
    match (history.profile, wanted) {
        (Some(begun), Some(wanted)) if begun != wanted => {
            let message =
                format!("expected the profile that the verification began with, {begun:?}, found another");
            Err(Refusal::new(Code::ProfileConflict, message.to_lowercase())
                .about("profile")
                .with_cure("leave the profile out"))
        }
        _ => Ok(()),
    }
}

/// Records the report and the verdict on it in one commit; returns where.
fn close(
    owner: &Owner,
    author: &Author,
    (trace, history): (TraceId, &History),
    found: Found,
    through: Position,
) -> Result<[Sequence; 2], Refusal> {
    let (system, ledger) = (owner.system(), owner.sequencer());
    let place = |seen| -> Result<Place, Refusal> {
        Ok(Place { store: ledger.registry().store(), trace, seen, now: system.now()? })
    };
    let Found { status, content, report } = found;
    let report = Artifact::new(report, &mut { system });
    let mut series = ledger.series();
    let said = author.say(&place(history.state().head())?, report.report_facts(), None, &mut { system })?;
    let recorded = heard(series.submit(said, Some(&report))?.reply)?;
    let facts = VerificationRunCompleted { status, through };
    let content = Some(Content::VerificationRunCompleted(content));
    let said = author.say(&place(Some(recorded))?, facts, content, &mut { system })?;
    let closed = heard(series.submit(said, None)?.reply)?;
    series.commit()?;
    Ok([recorded.sequence, closed.sequence])
}

fn heard(reply: Reply) -> Result<Position, Refusal> {
    match reply {
        Reply::Recorded(position) | Reply::Repeated { position, .. } => Ok(position),
        Reply::Refused(refusal) => Err(SequencerError::from(refusal).into()),
        Reply::Moved => Err(SequencerError::Moved.into()),
    }
}

fn say(
    owner: &Owner,
    author: &Author,
    trace: TraceId,
    history: &History,
    facts: impl Into<Facts>,
    content: Option<Content>,
) -> Result<Sequence, Refusal> {
    let (system, ledger) = (owner.system(), owner.sequencer());
    let now = system.now()?;
    let place = Place { store: ledger.registry().store(), trace, seen: history.state().head(), now };
    let spoken =
        author.speak(CommandId::new(now, &mut { system }), &place, facts, content, &mut { system })?;
    Ok(ledger.submit(spoken.into_submission(), None)?.position.sequence)
}
