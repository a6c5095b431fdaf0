//! The decision: a command against the state, everything else as parameters. The same input gives the same
//! decision, whoever asks and whenever (`docs/design/003-engine-and-store.md`).

use demur_core::{canonical, commitment::Salt, limit::Text, random::Random, time::Timestamp};
use demur_ledger::{
    admission::{AdmissionError, Checked, agrees},
    attribution::{check_way, is_own, tell_own},
    client::{check_confirming, check_distinct},
    confirmation::Confirmations,
    content::{Opening, ReasonContent, RefusalContent, Terms},
    entry::{ArtifactPlace, Entry},
    envelope::{Body as EventBody, Event, Record, Said, Stamp},
    event_type::{Content, EventType, Facts, TraceKind},
    facts::{
        Attribution, CommandRefused, ConfirmationExpired, QuestionExpired, RecoveryRecorded, RefusalCode,
        SessionAborted,
    },
    meaning::{Known, Meaning, MeaningError},
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    proof::ProofKind,
    question::{OutcomeKind, QuestionError, Questions},
    registry::{KeyRecord, Registry, RegistryError},
    role::Role,
    state::{GuardError, Step},
    trace_state::TraceState,
};

use crate::{
    command::{Command, Consequences, Saying, Signing, answered},
    context::Context,
    refusal::RuleRefusal,
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
    /// The trace is not where the desk's words were worked out from; nothing is recorded.
    Moved,
    /// No. The domain state has not changed; that it was refused may be among the events.
    Refused(RuleRefusal),
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
        return Decision::refused(RuleRefusal::trace_failed());
    }
    // A statement must not have expired by the time that its event will carry.
    let now = match command.signing() {
        Some(signing) if !is_current(&signing, state, context, now) => {
            return Decision { events: Vec::new(), reply: Reply::Moved };
        }
        Some(signing) => signing.at,
        None => state.tip().time_at(now),
    };
    let decided = match command {
        Command::Submit { said, artifact, rest, stated } => {
            return submit(state, context, (*said, artifact), (rest, stated), now, random);
        }
        Command::Abort(way, reason) => {
            return abort(state, context, (way, reason), now, random).unwrap_or_else(Decision::refused);
        }
        Command::Recover(note) => recover(state, context, &Content::RecoveryRecorded(note), now, random),
        Command::Record { first, rest } => return tell(state, context, *first, rest, now, random),
    };
    match decided {
        Ok(entry) => Decision::recorded(entry),
        Err(refusal) => Decision::refused(refusal),
    }
}

/// Returns the end of a run on the operator's word, with which everything that is still asked in it ends.
fn abort(
    state: &State,
    context: &Context<'_>,
    (way, reason): (Box<Attribution>, ReasonContent),
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Decision, RuleRefusal> {
    let facts = Facts::from(SessionAborted { attribution: Some(way) });
    let said = (EventType::SessionAborted, Role::Operator, facts);
    let aborted = record(state, context, said, &Content::SessionAborted(reason), now, random)?;
    let run = state.trace().and_then(TraceState::run);
    let questions = run.map(|run| run.questions().unsettled()).into_iter().flatten();
    let open = questions.filter(|(_, asked)| asked.outcome().kind() == OutcomeKind::Open);
    let open = open.map(|(question, _)| Facts::from(QuestionExpired { question }));
    let wanted = run.map(|run| run.confirmations().open()).into_iter().flatten();
    let wanted = wanted.map(|(confirmation, _)| Facts::from(ConfirmationExpired { confirmation }));
    let sayings = open.chain(wanted).map(|facts| Saying { role: Role::Desk, facts, content: None });
    let rest = Consequences { sayings: sayings.collect(), ..Consequences::default() };
    follow(state, context, aborted, rest, now, random)
}

/// Returns what the desk says itself.
fn tell(
    state: &State,
    context: &Context<'_>,
    first: Saying,
    rest: Consequences,
    now: Timestamp,
    random: &mut dyn Random,
) -> Decision {
    if has_moved(state, &rest) {
        return Decision { events: Vec::new(), reply: Reply::Moved };
    }
    let Saying { role, facts, content } = first;
    let decided = say(state, context, (role, facts), content.as_ref(), None, now, random)
        .and_then(|first| follow(state, context, first, rest, now, random));
    decided.unwrap_or_else(|refusal| {
        // What a person was refused is on record like everybody's; the desk stands for whoever has no key.
        let of_a_person = (role == Role::Person).then(|| {
            let command = CommandId::new(now, random);
            record_refusal(state, context, &refusal, (context.registry.desk(), command), now, random)
        });
        let events = of_a_person.flatten().into_iter().collect();
        Decision { events, reply: Reply::Refused(refusal) }
    })
}

/// Returns whether what the desk signed may be recorded under the time that stands in it: the record does not go back,
/// nothing is dated ahead or long before it is recorded, and the key is still the desk's.
fn is_current(signing: &Signing, state: &State, context: &Context<'_>, now: Timestamp) -> bool {
    let (at, newest) = (signing.at, state.tip().time());
    let in_time = at >= newest && (at == newest || (at <= now && now <= at.plus_millis(SIGNED_WORDS_MS)));
    in_time && signing.registry == context.registry.head()
}

fn has_moved(state: &State, consequences: &Consequences) -> bool {
    consequences.after.is_some() && consequences.after != state.tip().head()
}

/// Returns the decision to record this event and what the desk adds to it. If the desk's own words do not hold,
/// nothing is recorded: they belong together.
fn follow(
    state: &State,
    context: &Context<'_>,
    first: Entry,
    consequences: Consequences,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Decision, RuleRefusal> {
    let mut decision = Decision::recorded(first);
    if consequences.sayings.is_empty() {
        return Ok(decision);
    }
    let mut state = state.clone();
    let mut cause = None;
    for Saying { role, facts, content } in consequences.sayings {
        if let Some(newest) = decision.events.last() {
            let known = Known { meaning: newest.meaning.as_ref(), artifacts: &context.artifacts };
            state
                .apply(&newest.event, known)
                .map_err(|error| RuleRefusal::does_not_follow(error.to_string()))?;
        }
        cause = cause.or(state.tip().head().map(|head| head.sequence));
        decision.events.push(say(&state, context, (role, facts), content.as_ref(), cause, now, random)?);
    }
    Ok(decision)
}

/// Returns the decision with what the desk states beside it. If that does not hold, nothing is recorded.
fn state_beside(
    state: &State,
    context: &Context<'_>,
    mut decision: Decision,
    stated: Vec<Checked>,
    now: Timestamp,
) -> Result<Decision, RuleRefusal> {
    let mut state = state.clone();
    let mut folded = 0;
    for checked in stated {
        for entry in decision.events.iter().skip(folded) {
            let known = Known { meaning: entry.meaning.as_ref(), artifacts: &context.artifacts };
            let applied = state.apply(&entry.event, known);
            applied.map_err(|error| RuleRefusal::does_not_follow(error.to_string()))?;
        }
        folded = decision.events.len();
        decision.events.push(admit_statement(&state, context, (checked, Ok(None)), now)?);
    }
    Ok(decision)
}

impl Decision {
    const fn refused(refusal: RuleRefusal) -> Self {
        Self { events: Vec::new(), reply: Reply::Refused(refusal) }
    }

    fn recorded(entry: Entry) -> Self {
        let reply = Reply::Recorded(entry.event.position());
        Self { events: vec![entry], reply }
    }
}

/// A statement, and the artifact that it records.
type Submitted = (Checked, Result<Option<ArtifactPlace>, RuleRefusal>);

fn submit(
    state: &State,
    context: &Context<'_>,
    (said, artifact): Submitted,
    (rest, stated): (Consequences, Vec<Checked>),
    now: Timestamp,
    random: &mut dyn Random,
) -> Decision {
    if let Some(earlier) = &context.earlier
        && earlier.statement == said.statement_bytes()
    {
        let reply = Reply::Repeated { trace: earlier.trace, position: earlier.position };
        return Decision { events: Vec::new(), reply };
    }
    if has_moved(state, &rest) {
        return Decision { events: Vec::new(), reply: Reply::Moved };
    }
    let (key, command) = (said.key(), said.statement().command);
    let decided = admit_statement(state, context, (said, artifact), now)
        .and_then(|first| follow(state, context, first, rest, now, random))
        .and_then(|decision| state_beside(state, context, decision, stated, now));
    match decided {
        Ok(decision) => decision,
        Err(refusal) => {
            let known = context.registry.key(&key).filter(|record| takes_part(state, record));
            let known = known.map(|record| record.principal);
            // People take part wherever they may answer; what one was refused is on record in their own name.
            let person = || context.registry.passkey(&key).map(|record| record.enrolment.person.principal());
            let events = known
                .or_else(person)
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
fn admit_statement(
    state: &State,
    context: &Context<'_>,
    (mut checked, artifact): Submitted,
    now: Timestamp,
) -> Result<Entry, RuleRefusal> {
    if context.earlier.is_some() {
        return Err(AdmissionError::CommandUsed.into());
    }
    checked.settle_check(context.check);
    let registry = state.registry().unwrap_or(context.registry);
    let actor = checked.stand_next(Some(registry), state.tip(), context.seen, now)?;
    let statement = checked.statement();
    let said = Said { kind: &statement.kind, role: statement.role, facts: &statement.facts };
    match state.body() {
        Body::Registry(_) if !checked.kind().stands_in(TraceKind::Registry) => {
            return Err(RegistryError::NotRegistry { kind: checked.kind().into() }.into());
        }
        Body::Registry(_) => {}
        Body::Trace(trace) => {
            let known = Known { meaning: checked.meaning(), artifacts: &context.artifacts };
            guard(trace, (state, registry), actor, (said, known), checked.proof(), now)?;
            if answered(&statement.facts).is_some() {
                let words = checked.opening().map(|opening| Content::parse(checked.kind(), &opening.bytes));
                check_terms(context, &statement.facts, words.and_then(Result::ok).as_ref())?;
            }
        }
    }
    let mut stamp = stamp(registry, now);
    if let Facts::StoreRestored(facts) = &statement.facts {
        stamp.epoch = facts.epoch.as_u64();
    }
    let artifact = artifact?;
    let (body, opening, meaning) = checked.into_body();
    let event = envelop(state, &stamp, actor, body)?;
    if let Body::Registry(registry) = state.body() {
        // It is small and changes rarely: trying the event on a copy is the simplest way to ask it.
        registry.clone().apply(&event)?;
    }
    Ok(Entry { event, opening, artifact, meaning })
}

fn guard(
    trace: &TraceState,
    (state, registry): (&State, &Registry),
    actor: PrincipalId,
    (said, known): (Said<'_>, Known<'_>),
    proof: ProofKind,
    time: Timestamp,
) -> Result<(), GuardError> {
    let step = Step { sequence: state.tip().next(), actor, said, proof, time, known };
    trace.check(&step).map_err(|error| match error {
        // That it is the asker's own says more than that it is too little.
        GuardError::Question(QuestionError::AssuranceTooLow { .. }) if is_own(said.facts) => {
            GuardError::Meaning(MeaningError::OwnClient)
        }
        error => error,
    })?;
    // Whether two principals are one client only the registry tells.
    let at = registry.head().sequence;
    check_confirming(trace, registry, at, &step)?;
    trace
        .run()
        .map_or(Ok(()), |run| check_distinct(run, registry, at, &step))
        .map_err(GuardError::Meaning)?;
    check_way(trace, registry, (at, time), said.facts).map_err(GuardError::Meaning)
}

/// Checks what only the words of the question tell: that the answer is the value of the choice it names, and about
/// the request that waits; that a default is the declared one.
fn check_terms(context: &Context<'_>, facts: &Facts, words: Option<&Content>) -> Result<(), RuleRefusal> {
    let terms = context.question.as_ref().map(|question| question.terms());
    let (choice, checked) = match (facts, words) {
        (Facts::QuestionAnswered(facts), Some(Content::QuestionAnswered(words))) => {
            let check = |terms: &Terms| terms.check_answer(facts.choice, &words.answer, words.request);
            (facts.choice, terms.as_ref().map(check))
        }
        (Facts::AnswerSuperseded(facts), Some(Content::AnswerSuperseded(words))) => {
            let choice = facts.answer.choice;
            let check = |terms: &Terms| terms.check_answer(choice, &words.answer, words.request);
            (choice, terms.as_ref().map(check))
        }
        (Facts::QuestionDefaulted(_), Some(Content::QuestionDefaulted(words))) => {
            (None, terms.as_ref().map(|terms| terms.check_default(&words.default)))
        }
        _ => return Ok(()),
    };
    match checked {
        Some(checked) => Ok(checked?),
        // Without the choices nobody can tell what was chosen.
        None if choice.is_some() => Err(RuleRefusal::question_erased()),
        None => Ok(()),
    }
}

fn recover(
    state: &State,
    context: &Context<'_>,
    words: &Content,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Entry, RuleRefusal> {
    let through = state.tip().head().ok_or_else(RuleRefusal::not_opened)?;
    let said = (EventType::RecoveryRecorded, Role::Desk, RecoveryRecorded { through }.into());
    record(state, context, said, words, now, random)
}

/// Returns whether the holder of a key takes part in a trace: by name, or as one of all who may answer there. Strangers
/// leave no mark.
fn takes_part(state: &State, key: &KeyRecord) -> bool {
    let open_to_all = || {
        let mut questions = state.questions().into_iter().flat_map(Questions::iter);
        let mut confirmations = state.confirmations().into_iter().flat_map(Confirmations::iter);
        questions.any(|(_, asked)| asked.facts().answerers.principals.is_none())
            || confirmations.any(|(_, asked)| asked.facts().answerers.principals.is_none())
    };
    state.trace().is_some_and(|trace| trace.has_participant(key.principal))
        || (key.roles.contains(&Role::Answerer) && open_to_all())
}

/// Returns the event that notes a refusal, unless this one was refused too often lately.
fn record_refusal(
    state: &State,
    context: &Context<'_>,
    refusal: &RuleRefusal,
    (principal, command): (PrincipalId, CommandId),
    now: Timestamp,
    random: &mut dyn Random,
) -> Option<Entry> {
    if !state.refusals().allows(principal, now) {
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

/// Returns an event on the desk's own word, about a trace that is open.
fn record(
    state: &State,
    context: &Context<'_>,
    (kind, role, facts): (EventType, Role, Facts),
    words: &Content,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Entry, RuleRefusal> {
    if kind == EventType::SessionAborted && state.run().is_none() {
        return Err(RuleRefusal::not_a_run());
    }
    say(state, context, (role, facts), Some(words), None, now, random)
}

/// Returns one event on the desk's own word.
fn say(
    state: &State,
    context: &Context<'_>,
    (role, mut facts): (Role, Facts),
    words: Option<&Content>,
    cause: Option<Sequence>,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<Entry, RuleRefusal> {
    let kind = facts.event_type().ok_or_else(RuleRefusal::not_opened)?;
    let trace = match state.body() {
        Body::Registry(_) if kind.stands_in(TraceKind::Registry) => None,
        Body::Registry(_) => return Err(RuleRefusal::not_a_run()),
        Body::Trace(TraceState::New) if kind.opened() != Some(TraceKind::Journal) => {
            return Err(RuleRefusal::not_opened());
        }
        Body::Trace(trace) => Some(trace),
    };
    if !kind.admits_proof(ProofKind::None) {
        return Err(RuleRefusal::needs_a_key(kind));
    }
    let registry = state.registry().unwrap_or(context.registry);
    let actor = registry.desk();
    // Whoever passed the act on need not know who asked.
    if let Some(trace) = trace {
        tell_own(trace, registry, &mut facts);
    }
    let said = Said { kind: &kind.into(), role, facts: &facts };
    let meaning = words.and_then(Meaning::of);
    let known = Known { meaning: meaning.as_ref(), artifacts: &context.artifacts };
    if let Some(trace) = trace {
        guard(trace, (state, registry), actor, (said, known), ProofKind::None, now)?;
    }
    if let Some(words) = words {
        agrees(&facts, words).map_err(AdmissionError::from)?;
    }
    check_terms(context, &facts, words)?;
    let too_large = |error: &dyn std::fmt::Display| RuleRefusal::too_large(error.to_string());
    let bytes = words.map(canonical::to_vec).transpose().map_err(|error| too_large(&error))?;
    let opening = bytes
        .map(|bytes| Opening::new(bytes, Salt::draw(random)))
        .transpose()
        .map_err(|error| too_large(&error))?;
    let commitment = opening.as_ref().map(Opening::commitment);
    let record = Record { cause, facts, role, kind: kind.into() };
    let body = EventBody::Record(record.into(), commitment);
    let event = envelop(state, &stamp(registry, now), actor, body)?;
    if let Body::Registry(registry) = state.body() {
        registry.as_ref().clone().apply(&event)?;
    }
    Ok(Entry { event, opening, artifact: None, meaning })
}

fn envelop(state: &State, stamp: &Stamp, actor: PrincipalId, body: EventBody) -> Result<Event, RuleRefusal> {
    state.tip().envelop(stamp, actor, body).map_err(|error| RuleRefusal::too_large(error.to_string()))
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

/// How long what the desk signed may wait to be recorded: longer than a commit takes, no longer than a deadline may slip.
const SIGNED_WORDS_MS: u64 = 10_000;
