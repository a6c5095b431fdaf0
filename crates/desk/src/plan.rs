//! A plan on its way from submission to attestation (CLR-30): read from its trace, gone on with, read again. The same
//! for every door.

mod amend;
mod attest;
mod change;
mod handle;
mod list;
mod spoken;
mod standing;

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    operation::OfGap,
    plan::PlanStanding,
    question::QuestionId,
    refusal::Refusal,
};
use demur_clarify::{
    document::Document, handoff::Handoff, name::AgentId, seal::Signer, status::PlanStatus, time::Time,
    uuid::Uuid,
};
use demur_core::{
    id::Uuid7,
    limit::{List, Text},
};
use demur_engine::command::Saying;
use demur_ledger::{
    author::Author,
    content::{OperationObject, Shown, Wording},
    facts::Severity,
    name::{Operation, Position, TraceId},
    role::Role,
};
use demur_plan::{
    Error, Gap, Session,
    act::{self, Act, Judged},
    session::ACCEPTED,
};
use demur_rules::{Plan, Rules};
use demur_sequencer::SequencerError;

pub use amend::{amend, ask_again, withdraw, withdraw_gap};
pub use attest::{MadeOutput, attest};
pub use change::{replace, revoke};
pub use list::list;
pub(crate) use list::{PlanPage, plan_page, session_of};
pub(crate) use spoken::resolve_as;
pub use spoken::{attest_as, begin_as, check_under, confirm_as, show, submit_as};
pub use standing::{resolved, standing};

use crate::{
    operating_system::OperatingSystem,
    owner::Owner,
    question::{Kept, record_deliveries},
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
    standing.unread = rules.unread(plan);
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

/// Records a plan with every gap that the rules find. The same submission again is recorded once (CLR-04). Returns the session,
/// and whether it was there already.
pub fn submit(owner: &Owner, submission: Submission<'_>) -> Result<(Session, bool), Refusal> {
    let Submission { author, name, plan, rules, session } = submission;
    let uuid = session.map_or_else(new_uuid, Ok)?;
    let (trace, principal) = (TraceId::of_session(uuid.as_u128()), author.principal());
    let is_there = || -> Result<bool, Refusal> { Ok(owner.sequencer().store().trace(trace)?.is_some()) };
    let mut repeated = is_there()?;
    if !repeated {
        let speaker = Speaker::Key(author);
        let submitted =
            session::perform(owner, trace, &speaker, || Ok((act::submit(uuid, name, plan, rules)?, ())));
        if let Err(error) = submitted {
            // Somebody else with the same session may have been faster: then what is there decides.
            repeated = is_there()?;
            if !repeated {
                return Err(error);
            }
        }
    }
    let session = session::read(owner.sequencer(), uuid)?;
    if session.is_submission_of(plan, rules, principal) {
        return Ok((session, repeated));
    }
    let message = format!(
        "expected a session that is new or of this plan, found that {uuid} is taken: another plan, other rules or another agent"
    );
    Err(Refusal::new(Code::SessionConflict, message)
        .with_cure("change the plan of this session with `demur plan amend`, or submit this one under a session of its own"))
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
    let found = session::read(owner.sequencer(), session)?;
    if found.repeats_answer(gap, answer, speaker.principal())? {
        return Ok((None, Judged::Resolved));
    }
    if let (Some(answer), Some(agent)) = (answer, found.work().agent())
        && let Some(kept) = Kept::of(owner, agent, speaker)
    {
        let (path, note) = (OfGap { session, gap: gap.to_owned() }, kept.note(resolution.note.as_ref())?);
        claim(owner, &kept.asker, &path, answer, Some(&note))?;
        return Ok((None, Judged::Suggested));
    }
    let mut told = None;
    let performed = session::perform(owner, TraceId::of_session(session.as_u128()), speaker, || {
        let session = session::read(owner.sequencer(), session)?;
        let (act, judged) = resolving(&session, speaker, resolution, wording)?;
        told = Some(judged.clone());
        Ok((act, judged))
    });
    judged(performed, told)
}

/// Records what whoever submitted a plan would answer to a gap of it. The same again is recorded once.
pub(crate) fn claim(
    owner: &Owner,
    author: &Arc<Author>,
    OfGap { session, gap }: &OfGap,
    answer: &str,
    note: Option<&Text<1, 4096>>,
) -> Result<(), Refusal> {
    let read = || session::read(owner.sequencer(), *session);
    let is_said =
        |now: &Session| -> Result<bool, Refusal> { Ok(now.claim(now.gap(gap)?, answer, None)?.is_none()) };
    if is_said(&read()?)? {
        return Ok(());
    }
    let (trace, speaker) = (TraceId::of_session(session.as_u128()), Speaker::Key(Arc::clone(author)));
    let claimed = session::perform(owner, trace, &speaker, || {
        let now = read()?;
        let claim = now.claim(now.gap(gap)?, answer, note.cloned())?;
        claim.map(|act| (act, ())).ok_or_else(|| Refusal::new(Code::Moved, "the same was said meanwhile"))
    });
    match claimed {
        // The same key said the same meanwhile, through another connection.
        Err(error) if error.code == Code::Moved && is_said(&read()?)? => Ok(()),
        claimed => claimed.map(drop),
    }
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
        let reason = note.map_or_else(|| Text::try_from(ACCEPTED), Ok)?;
        return Ok((session.accept(gap, speaker.assurance(), by, reason)?, Judged::Resolved));
    };
    // Also where the answer does not fit: nothing that the submitter says of its own plan is anybody's answer.
    let is_own = speaker.principal().is_some_and(|principal| session.work().agent() == Some(principal));
    if is_own && !Session::is_settled_by_submitter(gap) {
        let message = "expected an answer of somebody else, found one of the key that submitted the plan";
        return Err(Refusal::new(Code::of("SELF_ANSWER"), message).with_cure("let another answerer answer"));
    }
    let shown = by.is_some().then(|| gap.shown()).transpose()?.map(|shown| Shown { wording, ..shown });
    Ok(session.answer(gap, answer, speaker.assurance(), act::Voice { by, note, shown })?)
}

/// Records that an agent begins an operation that no open question blocks (CLR-62).
pub fn begin(
    owner: &Owner,
    author: Arc<Author>,
    session: Uuid,
    operation: &Operation,
    exact: Option<&OperationObject>,
) -> Result<Session, Refusal> {
    session::read(owner.sequencer(), session)?;
    let (trace, speaker) = (TraceId::of_session(session.as_u128()), Speaker::Key(author));
    let begun = session::perform(owner, trace, &speaker, || {
        let state = owner.sequencer().look(trace)?;
        Ok((act::begin(operation.clone(), exact.cloned(), state.confirmations())?, ()))
    });
    let now = session::read(owner.sequencer(), session)?;
    match begun {
        Ok(_) => Ok(now),
        Err(error) if error.code.as_str() == "OPERATION_BLOCKED" => {
            let blocking = now.open_gaps().filter(|gap| gap.blocks(operation)).collect::<Vec<_>>();
            let message = format!("{operation} is blocked until this is settled: {}", named(&blocking));
            Err(with_gaps(error, message, &now, &blocking))
        }
        Err(error) if error.code == Code::Rule(RuleCode::OPERATION_UNCONFIRMED) && exact.is_none() => {
            let command = format!("`demur plan begin {session} {operation} --exact JSON`");
            Err(error.with_cure(format!("tell exactly what begins: {command}, or `exact` over HTTP")))
        }
        Err(error) => Err(error),
    }
}

/// Records that an agent confirms its plan with all answers in it; refused while a gap is open (CLR-31).
pub fn confirm(owner: &Owner, author: Arc<Author>, session: Uuid) -> Result<(Position, Session), Refusal> {
    let (trace, speaker) = (TraceId::of_session(session.as_u128()), Speaker::Key(author));
    let confirmed = session::perform(owner, trace, &speaker, || {
        Ok((session::read(owner.sequencer(), session)?.confirm()?, ()))
    });
    let now = session::read(owner.sequencer(), session)?;
    match confirmed {
        Ok((at, ())) => Ok((at, now)),
        Err(error) if now.standing() == PlanStatus::Attested => {
            Err(Refusal { code: error.code, ..attested(&now) })
        }
        Err(error) if error.code.as_str() == "QUESTIONS_OPEN" => {
            let open = now.open_gaps().collect::<Vec<_>>();
            let message = format!("expected every gap to be settled, still open: {}", named(&open));
            Err(with_gaps(error, message, &now, &open))
        }
        Err(error) => Err(error),
    }
}

/// Returns gaps by their names in the session, with their fields.
fn named(gaps: &[&Gap]) -> String {
    gaps.iter().map(|gap| format!("{} ({})", gap.id, gap.field)).collect::<Vec<_>>().join(", ")
}

/// Returns the error with the gaps that are in the way, in the words of the session (CLR-31): the ledger knows questions only.
fn with_gaps(error: Refusal, message: String, session: &Session, gaps: &[&Gap]) -> Refusal {
    let Some(first) = gaps.first() else { return error };
    let id = QuestionId { trace: session.trace(), sequence: first.question.sequence };
    let (uuid, gap) = (session.uuid(), &first.id);
    let left = session
        .gaps()
        .any(|(one, outcome)| one.id == *gap && outcome.is_some_and(|found| found.kind().is_left()));
    let cure = if left {
        format!("nobody is asked about {gap} now: `demur plan ask-again {uuid} {gap}` puts it again")
    } else if first.severity() == Severity::Warn {
        format!(
            "`demur plan resolve {uuid} {gap} --accept` accepts {gap}, with ANSWER instead it is answered; it is question {id} in \
             the inbox"
        )
    } else {
        format!("`demur plan resolve {uuid} {gap} ANSWER` settles {gap}, which is question {id} in the inbox")
    };
    Refusal { message, ..error.with_cure(cure) }
}

/// Returns the refusal of a plan that came to its end.
fn attested(session: &Session) -> Refusal {
    let message = "expected a plan that is not attested yet, found one that is attested already";
    Refusal::new(Code::Rule(RuleCode::OUT_OF_PLAN), message)
        .with_cure(format!("`demur plan show {}` shows it; a new plan is submitted anew", session.uuid()))
}

/// Records which open questions were put before whom, once.
pub fn deliver(owner: &Owner, session: &Session, to: &str, channel: &str) -> Result<(), Refusal> {
    record_deliveries(owner, session.trace(), &session.deliveries(to, channel)?, to, channel).map(drop)
}

/// Signs and keeps the package for whoever goes on with the work.
pub fn hand_off(owner: &Owner, session: Uuid, task: &str) -> Result<Handoff, Refusal> {
    let (trace, id) = (TraceId::of_session(session.as_u128()), new_uuid()?);
    for _ in 0..session::ATTEMPTS {
        let found = session::read(owner.sequencer(), session)?;
        let (desk, signing) = session::signing(owner, found.newest(), found.signed_as())?;
        let (Act { facts, content, consequences, .. }, handoff) =
            found.handoff(id, task, (signing, &desk))?;
        let said = Saying { role: Role::Desk, facts, content: Some(content) };
        match owner.sequencer().record(trace, said, consequences).map_err(Refusal::from) {
            Ok(_) => return Ok(handoff),
            Err(refusal) if refusal.code == Code::Moved => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Err(SequencerError::Contended.into())
}

/// Returns a new name for a session, an attestation or a handoff.
pub fn new_uuid() -> Result<Uuid, Refusal> {
    let system = OperatingSystem::open()?;
    Ok(Uuid7::new(system.now()?, &mut { system }).into())
}
