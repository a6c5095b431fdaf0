//! The journal of a store: every sign-in is an event of it. It is a trace of its own, opened once; a record says which.

use demur_api::refusal::Refusal;
use demur_engine::command::{Command, Consequences, Saying};
use demur_ledger::{
    event_type::Facts,
    facts::{Attribution, Door, JournalOpened, SessionOpened},
    name::{PersonId, Position, SessionId, TraceId},
    role::Role,
};
use demur_sequencer::SequencerError;
use demur_store::contract::{RecordKey, Swap};

use crate::{access::LinkOrigin, owner::Owner, records};

/// Returns the trace of the journal; it is opened where there is none yet.
pub(crate) fn journal(owner: &Owner) -> Result<TraceId, Refusal> {
    for _ in 0..records::ATTEMPTS {
        if let Some((_, trace)) = records::find::<TraceId>(owner.sequencer().store(), &key()?)? {
            return Ok(trace);
        }
        let mut system = owner.system();
        let trace = TraceId::new(system.now()?, &mut system);
        let opens = records::creation(key()?, records::value(&trace, None)?);
        match owner.sequencer().perform_with(trace, &saying(Role::Desk, JournalOpened {}), &[opens]) {
            // Another process was faster.
            Err(SequencerError::RecordChanged) => {}
            opened => return Ok(opened.map(|_| trace)?),
        }
    }
    Err(records::contended())
}

/// Records that somebody signed in by a code, together with changes of records; none where these were not what they were taken for.
pub(super) fn note_sign_in(
    owner: &Owner,
    (person, session): (PersonId, SessionId),
    origin: LinkOrigin,
    swaps: &[Swap],
) -> Result<Option<Position>, Refusal> {
    let trace = journal(owner)?;
    let way = Attribution {
        client: origin.client,
        person: Some(person),
        ..Attribution::new(Door::Page, origin.root)
    };
    let facts = SessionOpened { attribution: Some(Box::new(way)), by: origin.by, person, session };
    match owner.sequencer().perform_with(trace, &saying(Role::Person, facts), swaps) {
        Ok(recorded) => Ok(Some(recorded.position)),
        Err(SequencerError::RecordChanged) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn saying(role: Role, facts: impl Into<Facts>) -> Command {
    Command::record(Saying { role, facts: facts.into(), content: None }, Consequences::default())
}

fn key() -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new("journal")?)
}
