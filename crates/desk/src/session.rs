//! A session at the desk: read from its trace, gone on with, read again if somebody else was faster.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal};
use demur_clarify::{name::AgentId, seal::Signer, uuid::Uuid};
use demur_core::{limit::Text, time::Timestamp};
use demur_engine::command::{Command, Saying, Signing};
use demur_ledger::{
    author::{Author, Place},
    event_type::Facts,
    facts::{Assurance, Attribution},
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    role::Role,
};
use demur_plan::{Error, Session, act::Act, paper::DeskHand};

use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::Swap;

use crate::{
    keyring::Keyring,
    lookup::Lookup,
    owner::{self, Owner},
    passkey::{PasskeySpeaker, StatementPlace},
    plan::new_uuid,
    record,
    visible::shell_word,
};

/// Who says something.
#[derive(Clone, Debug)]
pub enum Speaker {
    /// Somebody with a key.
    Key(Arc<Author>),
    /// A person, through the desk.
    Person {
        /// Who the desk says it is.
        name: Text<1, 256>,
        /// How sure the desk is.
        assurance: Assurance,
        /// The way it came.
        way: Box<Attribution>,
    },
    /// A person who signs with a passkey.
    Passkey(Arc<PasskeySpeaker>),
}

impl Speaker {
    /// Returns a person whose act came this way, as sure as that is.
    pub fn person(name: Text<1, 256>, way: Attribution) -> Self {
        Self::Person { name, assurance: way.root.bears(), way: Box::new(way) }
    }

    /// Returns whose key or passkey it is; none for a person for whom the desk speaks.
    pub fn principal(&self) -> Option<PrincipalId> {
        match self {
            Self::Key(author) => Some(author.principal()),
            Self::Passkey(passkey) => Some(passkey.person().principal()),
            Self::Person { .. } => None,
        }
    }

    /// Returns how sure one can be who speaks.
    pub const fn assurance(&self) -> Assurance {
        match self {
            Self::Key(_) => Assurance::Agent,
            Self::Passkey(_) => Assurance::Passkey,
            Self::Person { assurance, .. } => *assurance,
        }
    }

    /// Returns the name of a person; none where a key speaks.
    pub fn by(&self) -> Option<Text<1, 256>> {
        match self {
            Self::Key(_) => None,
            Self::Person { name, .. } => Some(name.clone()),
            Self::Passkey(passkey) => Some(passkey.name().clone()),
        }
    }
}

/// Returns the session as it is recorded.
pub fn read(ledger: &Sequencer, session: Uuid) -> Result<Session, Refusal> {
    let trace = TraceId::of_session(session.as_u128());
    let unknown = || {
        let message = format!("expected a session of this data folder, found none called {session}");
        Refusal::new(Code::SessionUnknown, message).with_cure("`demur plan list` shows the sessions")
    };
    let store = ledger.store();
    store.trace(trace)?.ok_or_else(unknown)?;
    let mut found: Option<Session> = None;
    record::walk(store, trace, Sequence::FIRST, |event, content| {
        match &mut found {
            Some(read) => {
                let (at, is_gone) = (event.position().sequence, content.is_none());
                read.fold(&event, content).map_err(|error| match error {
                    Error::Trace { .. } if is_gone => erased_in(session, trace, at),
                    error => error.into(),
                })?;
            }
            None if content.is_none() => return Err(erased(session, trace)),
            None => found = Some(Session::open(&event, content).map_err(|_| no_plan(session))?),
        }
        Ok::<_, Refusal>(true)
    })?;
    found.ok_or_else(unknown)
}

fn erased(session: Uuid, trace: TraceId) -> Refusal {
    let message = format!("expected the plan of session {session}, found that its words were erased");
    let cure = format!("`demur trace show {trace}` shows what is left, and why");
    Refusal::new(Code::SessionUnreadable, message).with_cure(cure)
}

fn erased_in(session: Uuid, trace: TraceId, at: Sequence) -> Refusal {
    let message = format!(
        "expected every word of session {session}, found that those of event {at} were erased: where its plan stands cannot be \
         read any more"
    );
    let cure =
        format!("`demur trace show {trace}` shows what is left, and why; a new plan is submitted anew");
    Refusal::new(Code::SessionUnreadable, message).with_cure(cure)
}

fn no_plan(session: Uuid) -> Refusal {
    let message = format!("expected the session of a plan, found another trace under {session}");
    Refusal::new(Code::SessionUnknown, message).with_cure("`demur trace list` shows what is there")
}

/// Returns the key that signs further documents of a session, under the name of those before.
pub(crate) fn signer_of(owner: &Owner, session: &Session) -> Result<Signer, Refusal> {
    let name = session.signed_as().map_or_else(|| owner.keyring().agent_id(), Ok)?;
    Ok(Signer::new(name, owner::desk_key(owner.keyring(), &owner.sequencer().registry())?))
}

/// Returns the key that signs the documents of the clarification protocol.
pub fn signer(ledger: &Sequencer, keyring: &dyn Keyring) -> Result<Signer, Refusal> {
    Ok(Signer::new(keyring.agent_id()?, owner::desk_key(keyring, &ledger.registry())?))
}

/// Returns the author with this name, who speaks in this role.
pub fn author(owner: &Owner, name: &str, role: Role) -> Result<Arc<Author>, Refusal> {
    owner.find_author(name, role)?.ok_or_else(|| {
        let message = format!("expected a key of {name:?} that speaks as {role}, found none");
        Refusal::new(Code::KeyUnknown, message)
            .with_cure(format!("make it with `demur keys new {} --role {role}`", shell_word(name.as_ref())))
    })
}

/// Records what somebody says and what the desk adds. `make` is asked again as often as the trace moved meanwhile.
pub fn perform<T>(
    owner: &Owner,
    trace: TraceId,
    speaker: &Speaker,
    mut make: impl FnMut() -> Result<(Act, T), Refusal>,
) -> Result<(Position, T), Refusal> {
    for _ in 0..ATTEMPTS {
        let (act, outcome) = make()?;
        match say(owner, trace, speaker, act) {
            Ok(position) => return Ok((position, outcome)),
            Err(error) if error.code == Code::Moved => {}
            Err(error) => return Err(error),
        }
    }
    Err(SequencerError::Contended.into())
}

/// Records what somebody says and what the desk adds, once.
pub(crate) fn say(owner: &Owner, trace: TraceId, speaker: &Speaker, act: Act) -> Result<Position, Refusal> {
    say_with(owner, trace, speaker, act, &[])
}

/// The same, together with changes of records.
pub(crate) fn say_with(
    owner: &Owner,
    trace: TraceId,
    speaker: &Speaker,
    act: Act,
    swaps: &[Swap],
) -> Result<Position, Refusal> {
    if matches!(speaker, Speaker::Passkey(_)) && is_said_by_the_desk(&act.facts) {
        // Nobody signed it: it is told, and is no round of the record.
        let message =
            "expected an answer that settles the question, found one that does not: there is nothing to sign";
        return Err(Refusal::new(Code::AnswerKind, message)
            .with_cure("answer with one of the choices, or in other words"));
    }
    let seen = seen(owner.sequencer(), trace, speaker)?;
    let command = command_at(owner.lookup(), (trace, seen), speaker, signed(owner, speaker, act)?)?;
    Ok(owner.sequencer().perform_with(trace, &command, swaps)?.position)
}

/// Returns what is to be recorded, with what the desk signs about it: under the time that it will be recorded with.
fn signed(owner: &Owner, speaker: &Speaker, act: Act) -> Result<Act, Refusal> {
    let Some(not_before) = act.not_before() else { return Ok(act) };
    let (desk, signing) = signing(owner, not_before, act.signed_as())?;
    let name = match (speaker.by(), speaker.principal()) {
        (Some(name), _) => name.to_string(),
        (None, principal) => principal.map(|principal| principal.to_string()).unwrap_or_default(),
    };
    let attestation = new_uuid()?;
    Ok(act.signed(&DeskHand { desk: &desk, signing, speaker: &name, attestation })?)
}

/// Returns the desk's key, and the time and registry under which it signs now. The clock may go back, the record does not.
/// A session keeps the name under which its documents are signed.
pub(crate) fn signing(
    owner: &Owner,
    not_before: Timestamp,
    name: Option<AgentId>,
) -> Result<(Signer, Signing), Refusal> {
    let registry = owner.sequencer().registry();
    let name = name.map_or_else(|| owner.keyring().agent_id(), Ok)?;
    let desk = Signer::new(name, owner::desk_key(owner.keyring(), &registry)?);
    let now = owner.lookup().system().now()?;
    Ok((desk, Signing { at: now.max(not_before), registry: registry.head() }))
}

/// Returns what somebody with a key has seen of a trace that is there: its newest event.
pub(crate) fn seen(
    ledger: &Sequencer,
    trace: TraceId,
    speaker: &Speaker,
) -> Result<Option<Position>, Refusal> {
    match speaker {
        Speaker::Key(_) | Speaker::Passkey(_) => Ok(ledger.newest(trace)?),
        Speaker::Person { .. } => {
            ledger.newest(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
            Ok(None)
        }
    }
}

/// Returns the command that records what somebody says, who has seen a trace up to here, and what the desk adds.
pub(crate) fn command_at(
    at: &Lookup,
    (trace, seen): (TraceId, Option<Position>),
    speaker: &Speaker,
    act: Act,
) -> Result<Command, Refusal> {
    let Act { mut facts, content, consequences, .. } = act;
    if is_said_by_the_desk(&facts) {
        let first = Saying { role: Role::Desk, facts, content: Some(content) };
        return Ok(Command::record(first, consequences));
    }
    match speaker {
        Speaker::Person { way, .. } => {
            facts.attribute((**way).clone());
            let first = Saying { role: Role::Person, facts, content: Some(content) };
            Ok(Command::record(first, consequences))
        }
        Speaker::Passkey(passkey) => {
            let registry = &at.registry();
            let place = StatementPlace { registry, trace, seen, role: Role::Person };
            Ok(Command::submit(
                passkey.say(&place, &(facts, Some(content)), at.system())?,
                None,
                consequences,
            ))
        }
        Speaker::Key(author) => {
            let mut system = at.system();
            let now = system.now()?;
            let place = Place { store: at.registry().store(), trace, seen, now };
            let id = CommandId::new(now, &mut system);
            let spoken = author.speak(id, &place, facts, Some(content), &mut system)?;
            Ok(Command::submit(spoken, None, consequences))
        }
    }
}

/// Returns whether the desk says so, whoever gave the answer or wants the question put again.
const fn is_said_by_the_desk(facts: &Facts) -> bool {
    matches!(facts, Facts::AnswerRejected(_) | Facts::QuestionEscalated(_))
}

/// How often somebody else may be faster.
pub(crate) const ATTEMPTS: usize = 8;
