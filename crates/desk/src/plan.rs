//! A plan on its way from submission to attestation (CLR-30): read from its trace, gone on with, read again. The same
//! for every door.

mod change;
mod handle;
mod list;
mod spoken;
mod standing;

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    plan::PlanStanding,
    refusal::Refusal,
};
use demur_clarify::{
    attestation::{Attestation, FileHashes, Outputs, Particulars},
    document::Document,
    name::AgentId,
    seal::Signer,
    status::PlanStatus,
    time::Time,
    uuid::Uuid,
};
use demur_core::{
    id::Uuid7,
    limit::{List, Text},
};
use demur_engine::command::Consequences;
use demur_ledger::{
    author::Author,
    content::{Shown, Wording},
    name::{Operation, Position, Sequence},
};
use demur_plan::{
    Error, Session,
    act::{self, Act, Judged},
};
use demur_rules::{Plan, Rules};
use demur_sequencer::Sequencer;

pub use change::{replace, revoke};
pub use list::list;
pub(crate) use list::{PlanPage, plan_page, session_of};
pub(crate) use spoken::resolve_as;
pub use spoken::{attest_as, begin_as, check_under, confirm_as, show, submit_as};
pub use standing::{resolved, standing};

use crate::{
    keyring::Keyring,
    operating_system::OperatingSystem,
    owner::Owner,
    session::{self, Speaker},
};

/// A plan that an agent submits.
#[derive(Debug)]
pub struct Submission<'a> {
    /// Its author.
    pub author: Arc<Author>,
    /// The author's name in the protocol.
    pub name: &'a AgentId,
    /// The plan.
    pub plan: &'a Plan,
    /// What it is held against.
    pub rules: &'a Rules,
    /// The name of the session, if the agent has chosen one.
    pub session: Option<Uuid>,
}

/// Returns what the rules find in a plan, with the signed document that asks; nothing is recorded.
pub fn check(plan: &Plan, rules: &Rules, signer: Option<&Signer>) -> Result<PlanStanding, Refusal> {
    let (gaps, closed): (Vec<_>, Vec<_>) = act::gaps(plan, rules)?.into_iter().unzip();
    let status = if gaps.is_empty() { PlanStatus::ReadyToProceed } else { PlanStatus::NeedsClarification };
    let mut standing = PlanStanding::new(status, gaps.clone(), rules.hash().to_string(), None);
    let named = gaps.iter().zip(closed).filter(|(_, closed)| *closed);
    standing.closed = named.map(|(gap, _)| gap.id().to_string()).collect();
    if let Some(signer) = signer.filter(|_| !gaps.is_empty()) {
        let now = OperatingSystem::open()?.now()?;
        let gaps = List::try_from(gaps).map_err(|_| Refusal::bug(&"more gaps than a document has"))?;
        let document = Document::sign(new_uuid()?, Time::from(now), gaps, 0.try_into()?, signer);
        standing.document = Some(document.map_err(Error::from)?);
    }
    Ok(standing)
}

/// Records a plan with every gap that the rules find. The same submission again is recorded once (CLR-04).
pub fn submit(owner: &Owner, submission: Submission<'_>) -> Result<Session, Refusal> {
    let Submission { author, name, plan, rules, session } = submission;
    let uuid = session.map_or_else(new_uuid, Ok)?;
    let (trace, principal) = (session::trace_of(uuid), author.principal());
    if owner.ledger().store().trace(trace)?.is_none() {
        let speaker = Speaker::Key(author);
        let submitted =
            session::perform(owner, trace, &speaker, || Ok((act::submit(uuid, name, plan, rules)?, ())));
        // Somebody else with the same session may have been faster: then what is there decides.
        if let Err(error) = submitted
            && owner.ledger().store().trace(trace)?.is_none()
        {
            return Err(error);
        }
    }
    let session = session::read(owner.ledger(), uuid)?;
    if session.is_submission_of(plan, rules, principal) {
        return Ok(session);
    }
    let message = format!("session {uuid} is about another plan, under other rules or of another agent");
    Err(Refusal::new(Code::SessionConflict, message)
        .with_cure("submit the plan under a session of its own, or answer what is asked about the other"))
}

/// What somebody says to settle a gap.
#[derive(Debug)]
pub struct Resolution<'a> {
    /// The session.
    pub session: Uuid,
    /// The gap's name in it.
    pub gap: &'a str,
    /// The answer; none to accept a warning as it is.
    pub answer: Option<&'a str>,
    /// Why, in their words.
    pub note: Option<Text<1, 4096>>,
}

/// Records an answer to a gap, or that it is accepted. Returns the event, if one was recorded now, and what the rules
/// say about it.
pub fn resolve(
    owner: &Owner,
    speaker: &Speaker,
    resolution: &Resolution<'_>,
) -> Result<(Option<Position>, Judged), Refusal> {
    resolve_shown(owner, speaker, resolution, Wording::Normal)
}

/// The same, by somebody who was shown the gap in this wording.
pub fn resolve_shown(
    owner: &Owner,
    speaker: &Speaker,
    resolution: &Resolution<'_>,
    wording: Wording,
) -> Result<(Option<Position>, Judged), Refusal> {
    let Resolution { session, gap, answer, .. } = *resolution;
    if session::read(owner.ledger(), session)?.repeats_answer(gap, answer, speaker.principal())? {
        return Ok((None, Judged::Resolved));
    }
    let mut told = None;
    let performed = session::perform(owner, session::trace_of(session), speaker, || {
        let session = session::read(owner.ledger(), session)?;
        let (act, judged) = resolving(&session, speaker, resolution, wording)?;
        told = Some(judged.clone());
        Ok((act, judged))
    });
    judged(performed, told)
}

/// Returns the event and what the rules say. An answer that is not of its kind was refused; the gap stays open like after
/// any other that does not settle it.
fn judged(
    performed: Result<(Position, Judged), Refusal>,
    told: Option<Judged>,
) -> Result<(Option<Position>, Judged), Refusal> {
    match (performed, told) {
        (Ok((at, judged)), _) => Ok((Some(at), judged)),
        (Err(error), Some(judged @ Judged::Escalated(_))) if error.code.is_about_the_kind() => {
            Ok((None, judged))
        }
        (Err(error), _) => Err(error),
    }
}

/// Returns what is said to settle a gap, and whether it does.
fn resolving(
    session: &Session,
    speaker: &Speaker,
    resolution: &Resolution<'_>,
    wording: Wording,
) -> Result<(Act, Judged), Refusal> {
    let gap = session.gap(resolution.gap)?;
    let (by, note) = (speaker.by(), resolution.note.clone());
    let Some(answer) = resolution.answer else {
        let reason = note.map_or_else(|| Text::try_from("accepted as it is"), Ok)?;
        return Ok((session.accept(gap, speaker.assurance(), by, reason)?, Judged::Resolved));
    };
    let shown = by.is_some().then(|| gap.shown()).transpose()?.map(|shown| Shown { wording, ..shown });
    Ok(session.answer(gap, answer, speaker.assurance(), act::Voice { by, note, shown })?)
}

/// Records that an agent begins an operation that no open question blocks (CLR-62).
pub fn begin(
    owner: &Owner,
    author: Arc<Author>,
    session: Uuid,
    operation: &Operation,
) -> Result<Session, Refusal> {
    session::read(owner.ledger(), session)?;
    let (trace, speaker) = (session::trace_of(session), Speaker::Key(author));
    session::perform(owner, trace, &speaker, || Ok((act::begin(operation.clone()), ())))?;
    session::read(owner.ledger(), session)
}

/// Records that an agent confirms its plan with all answers in it; refused while a gap is open (CLR-31).
pub fn confirm(owner: &Owner, author: Arc<Author>, session: Uuid) -> Result<(Position, Session), Refusal> {
    let (trace, speaker) = (session::trace_of(session), Speaker::Key(author));
    let confirmed = session::perform(owner, trace, &speaker, || {
        Ok((session::read(owner.ledger(), session)?.confirm()?, ()))
    });
    let now = session::read(owner.ledger(), session)?;
    match confirmed {
        Ok((at, ())) => Ok((at, now)),
        Err(error) => Err(with_open_gaps(error, &now)),
    }
}

/// Returns the error with the gaps that are still open (CLR-31).
fn with_open_gaps(error: Refusal, session: &Session) -> Refusal {
    let open: Vec<_> = session.open_gaps().map(|gap| format!("{} ({})", gap.id, gap.field)).collect();
    if open.is_empty() { error } else { error.with_cure(format!("settle {}", open.join(", "))) }
}

/// Records and returns the attestation of what an agent made of its plan.
pub fn attest(
    owner: &Owner,
    author: Arc<Author>,
    session: Uuid,
    path: &str,
    files: &FileHashes,
    version: &Text<1, 64>,
) -> Result<(Sequence, Attestation), Refusal> {
    let signer = session::signer(owner.ledger(), owner.keyring())?;
    let (trace, speaker) = (session::trace_of(session), Speaker::Key(author));
    let (at, attestation) = session::perform(owner, trace, &speaker, || {
        let session = session::read(owner.ledger(), session)?;
        let confirmed = session.confirmed().ok_or_else(|| not_confirmed(&session))?;
        let particulars = Particulars {
            attestation_id: new_uuid()?,
            agent_version: version.clone(),
            timestamp: Time::from(OperatingSystem::open()?.now()?),
            compliance_claims: List::default(),
            deterministic: None,
        };
        let outputs = Outputs::new(Text::cut(path)?, files.clone()).map_err(Error::from)?;
        let attestation = session.attest(particulars, outputs, &signer)?;
        Ok((session.attesting(confirmed, &attestation)?, attestation))
    })?;
    Ok((at.sequence, attestation))
}

fn not_confirmed(session: &Session) -> Refusal {
    let message = format!("expected a confirmed plan, found one that is {}", session.standing().as_str());
    Refusal::new(Code::Rule(RuleCode::OUT_OF_PLAN), message)
        .with_cure("settle every question, then confirm the plan; a plan is attested once")
}

/// Records which open questions were put before whom.
pub fn deliver(owner: &Owner, session: &Session, to: &str, channel: &str) -> Result<(), Refusal> {
    let mut sayings = session.deliveries(to, channel)?.into_iter();
    let Some(first) = sayings.next() else { return Ok(()) };
    let rest = Consequences { after: None, sayings: sayings.collect() };
    owner.ledger().record(session.trace(), first, rest)?;
    Ok(())
}

/// Returns the signed document of a session while gaps are open.
pub fn document(
    session: &Session,
    ledger: &Sequencer,
    keyring: &dyn Keyring,
) -> Result<Option<Document>, Refusal> {
    if session.open_gaps().next().is_none() {
        return Ok(None);
    }
    Ok(Some(session.document(&session::signer(ledger, keyring)?)?))
}

/// Returns a new name for a session, an attestation or a handoff.
pub fn new_uuid() -> Result<Uuid, Refusal> {
    let system = OperatingSystem::open()?;
    Ok(Uuid7::new(system.now()?, &mut { system }).into())
}
