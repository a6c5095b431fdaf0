//! The decision: a command against the state, everything else as parameters. The same input gives the same
//! decision, whoever asks and whenever (`docs/design/003-engine-and-store.md`).

use demur_core::{canonical, commitment::Salt, limit::Text, random::Random, time::Timestamp};
use demur_ledger::{
    admission::AdmissionError,
    chain::{Body as EventBody, Stamp},
    content::{Opening, RefusalContent},
    envelope::{Event, Record, Said},
    event_type::{Content, EventType, Facts, TraceKind},
    facts::{CommandRefused, RecoveryRecorded, RefusalCode, SessionAborted},
    name::{CommandId, Position, PrincipalId, TraceId},
    registry::{Registry, RegistryError},
    role::Role,
    state::{GuardError, State as RunState, Step},
};

use crate::{
    command::{Command, Submitted},
    context::Context,
    entry::Entry,
    refusal::Refusal,
    state::{Body, State},
};

/// What follows from a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What is recorded, chained to the state's tip. Recording it is the caller's duty, before the reply.
    pub events: Vec<Entry>,
    /// What the door is told once the events are recorded.
    pub reply: Reply,
}

/// What the door is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is recorded here.
    Recorded(Position),
    /// The same command was recorded before; nothing is recorded again.
    Repeated {
        /// In this trace.
        trace: TraceId,
        /// There.
        position: Position,
    },
    /// No. The domain state has not changed; that it was refused may be among the events.
    Refused(Refusal),
}

/// Returns what follows from this command in this state.
pub fn decide(
    state: &State,
    context: &Context<'_>,
    command: Command,
    now: Timestamp,
    random: &mut dyn Random,
) -> Decision {
    if state.is_failed() {
        return Decision::refused(Refusal::trace_failed());
    }
    // The clock may go back, the record does not: this is the time the event will carry, and a statement must
    // not have expired by then.
    let now = now.max(state.tip().time());
    let decided = match command {
        Command::Submit(submitted) => return submit(state, context, *submitted, now, random),
        Command::Abort(reason) => record(
            state,
            context,
            (EventType::SessionAborted, Role::Operator, SessionAborted {}.into()),
            &Content::SessionAborted(reason),
            now,
            random,
        ),
        Command::Recover(note) => recover(state, context, &Content::RecoveryRecorded(note), now, random),
    };
    match decided {
        Ok(entry) => Decision::recorded(entry),
        Err(refusal) => Decision::refused(refusal),
    }
}

impl Decision {
    const fn refused(refusal: Refusal) -> Self {
        Self { events: Vec::new(), reply: Reply::Refused(refusal) }
    }

    fn recorded(entry: Entry) -> Self {
        let reply = Reply::Recorded(entry.event.position());
        Self { events: vec![entry], reply }
    }
}

fn submit(
    state: &State,
    context: &Context<'_>,
    submitted: Submitted,
    now: Timestamp,
    random: &mut dyn Random,
) -> Decision {
    let checked = submitted.checked();
    if let Some(earlier) = &context.earlier
        && earlier.statement == checked.statement_bytes()
    {
        let reply = Reply::Repeated { trace: earlier.trace, position: earlier.position };
        return Decision { events: Vec::new(), reply };
    }
    let (key, command) = (checked.key(), checked.statement().command);
    match admit(state, context, submitted, now) {
        Ok(entry) => Decision::recorded(entry),
        Err(refusal) => {
            let participant = context.registry.key(&key).map(|record| record.principal);
            let events = participant
                .and_then(|principal| {
                    record_refusal(state, context, &refusal, (principal, command), now, random)
                })
                .into_iter()
                .collect();
            Decision { events, reply: Reply::Refused(refusal) }
        }
    }
}

/// Returns the event of a statement that door, guards and registry let through.
fn admit(
    state: &State,
    context: &Context<'_>,
    submitted: Submitted,
    now: Timestamp,
) -> Result<Entry, Refusal> {
    if context.earlier.is_some() {
        return Err(AdmissionError::CommandUsed.into());
    }
    let registry = state.registry().unwrap_or(context.registry);
    let checked = submitted.checked();
    let actor = checked.admit(Some(registry), state.tip(), context.seen, now)?;
    let statement = checked.statement();
    let said = Said { kind: &statement.kind, role: statement.role, facts: &statement.facts };
    match state.body() {
        Body::Registry(_) if checked.kind().rule().trace != TraceKind::Registry => {
            return Err(RegistryError::NotRegistry { kind: checked.kind().into() }.into());
        }
        Body::Registry(_) => {}
        Body::Run(run) => guard(run, state, actor, said)?,
        Body::Empty => guard(&RunState::new(), state, actor, said)?,
    }
    let mut stamp = stamp(registry, now);
    if let Facts::StoreRestored(facts) = &statement.facts {
        stamp.epoch = facts.epoch.as_u64();
    }
    let (checked, artifact) = submitted.into_parts()?;
    let (body, opening) = checked.into_body();
    let event = envelop(state, &stamp, actor, body)?;
    if let Body::Registry(registry) = state.body() {
        // It is small and changes rarely: trying the event on a copy is the simplest way to ask it.
        registry.clone().apply(&event)?;
    }
    Ok(Entry { event, opening, artifact })
}

fn guard(run: &RunState, state: &State, actor: PrincipalId, said: Said<'_>) -> Result<(), GuardError> {
    run.check(&Step { sequence: state.tip().next(), actor, said }).map(|_| ())
}

fn recover(
    state: &State,
    context: &Context<'_>,
    words: &Content,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Entry, Refusal> {
    let through = state.tip().head().ok_or_else(Refusal::not_a_run)?;
    let said = (EventType::RecoveryRecorded, Role::Desk, RecoveryRecorded { through }.into());
    record(state, context, said, words, now, random)
}

/// Returns the event that notes a refusal, if the refused one takes part in this run and was not refused too often
/// lately. Strangers leave no mark in a trace.
fn record_refusal(
    state: &State,
    context: &Context<'_>,
    refusal: &Refusal,
    (principal, command): (PrincipalId, CommandId),
    now: Timestamp,
    random: &mut dyn Random,
) -> Option<Entry> {
    let takes_part = state.run().is_some_and(|run| run.has_participant(principal));
    if !takes_part || !state.refusals().allows(principal, now) {
        return None;
    }
    let code = RefusalCode::try_from(refusal.code.to_owned()).ok()?;
    let message = format!("{}; {}", refusal.message, refusal.cure);
    let message = Text::cut(&message).ok()?;
    let field = refusal.field.and_then(|field| field.try_into().ok());
    let facts = CommandRefused { code, command, principal };
    let said = (EventType::CommandRefused, Role::Desk, facts.into());
    record(state, context, said, &Content::CommandRefused(RefusalContent { field, message }), now, random)
        .ok()
}

/// Returns an event on the desk's own word.
fn record(
    state: &State,
    context: &Context<'_>,
    (kind, role, facts): (EventType, Role, Facts),
    words: &Content,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Entry, Refusal> {
    let run = state.run().ok_or_else(Refusal::not_a_run)?;
    let actor = context.registry.desk();
    guard(run, state, actor, Said { kind: &kind.into(), role, facts: &facts })?;
    let bytes = canonical::to_vec(words).map_err(|error| Refusal::too_large(error.to_string()))?;
    let opening =
        Opening::new(bytes, Salt::draw(random)).map_err(|error| Refusal::too_large(error.to_string()))?;
    let record = Record { cause: None, facts, role, kind: kind.into() };
    let body = EventBody::Record(record.into(), Some(opening.commitment()));
    let event = envelop(state, &stamp(context.registry, now), actor, body)?;
    Ok(Entry { event, opening: Some(opening), artifact: None })
}

fn envelop(state: &State, stamp: &Stamp, actor: PrincipalId, body: EventBody) -> Result<Event, Refusal> {
    state.tip().envelop(stamp, actor, body).map_err(|error| Refusal::too_large(error.to_string()))
}

fn stamp(registry: &Registry, now: Timestamp) -> Stamp {
    let head = registry.head();
    Stamp {
        store: Some(registry.store()),
        epoch: registry.epoch_at(head.sequence),
        registry: Some(head),
        now,
    }
}
