//! A person who signs with a passkey. The same code works out what is recorded for everybody; here it stops the first time, so that
//! the statement can be signed, and goes on the second time, with the statement that was signed.

use std::sync::{Mutex, PoisonError};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{canonical, commitment::Salt, limit::Text};
use demur_ledger::{
    admission::Checked,
    author::{Draft, Prepared},
    event_type::{Content, Facts},
    name::{CommandId, PersonId, Position, TraceId},
    passkey::Assertion,
    registry::Registry,
    role::Role,
    statement::{Statement, Submission},
};
use demur_sequencer::SequencerError;

use crate::operating_system::OperatingSystem;

/// A person with a passkey.
#[derive(Debug)]
pub struct PasskeySpeaker {
    person: PersonId,
    name: Text<1, 256>,
    stage: Stage,
}

/// How far the touch is.
#[derive(Debug)]
enum Stage {
    /// Nothing is signed yet: what is to be signed is noted.
    Preparing(Box<Mutex<Noted>>),
    /// This was signed.
    Signed(Box<SignedStatement>),
}

/// What was worked out while a touch is prepared.
#[derive(Debug, Default)]
struct Noted {
    prepared: Option<Prepared>,
    secret_salt: Option<Salt>,
}

/// A statement with what a passkey made of it.
#[derive(Clone, Debug)]
pub(super) struct SignedStatement {
    pub(super) prepared: Prepared,
    pub(super) assertion: Assertion,
    /// The salt of the secret that it answers with.
    pub(super) secret_salt: Option<Salt>,
}

/// Where a statement is to stand.
pub(crate) struct StatementPlace<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) trace: TraceId,
    pub(crate) seen: Option<Position>,
    pub(crate) role: Role,
}

impl PasskeySpeaker {
    /// Returns a person for whom a touch is prepared.
    pub(super) fn preparing(person: PersonId, name: Text<1, 256>) -> Self {
        Self { person, name, stage: Stage::Preparing(Box::default()) }
    }

    /// Returns a person who has signed this.
    pub(super) fn signed(person: PersonId, name: Text<1, 256>, signed: SignedStatement) -> Self {
        Self { person, name, stage: Stage::Signed(Box::new(signed)) }
    }

    /// Returns who it is.
    pub(crate) const fn person(&self) -> PersonId {
        self.person
    }

    /// Returns what they are called.
    pub(crate) const fn name(&self) -> &Text<1, 256> {
        &self.name
    }

    /// Returns what waits for the touch, with the salt of the secret in it; none where nothing has to be signed.
    pub(super) fn into_prepared(self: std::sync::Arc<Self>) -> Option<(Prepared, Option<Salt>)> {
        match &self.stage {
            Stage::Preparing(noted) => {
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                noted.prepared.take().map(|prepared| (prepared, noted.secret_salt))
            }
            Stage::Signed(_) => None,
        }
    }

    /// Returns the salt of a secret that is answered: the same when it is signed and when it is recorded.
    pub(crate) fn secret_salt(&self, mut system: OperatingSystem) -> Result<Salt, Refusal> {
        match &self.stage {
            Stage::Preparing(noted) => {
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(*noted.secret_salt.get_or_insert_with(|| Salt::draw(&mut system)))
            }
            Stage::Signed(signed) => signed.secret_salt.ok_or_else(stale),
        }
    }

    /// Returns the statement that was signed, if it says exactly this; while a touch is prepared, notes what is to be signed.
    pub(crate) fn say(
        &self,
        place: &StatementPlace<'_>,
        said: &(Facts, Option<Content>),
        system: OperatingSystem,
    ) -> Result<Checked, Refusal> {
        let signed = self.signed_or_noted(place, said, system)?;
        let checked = Checked::new(signed.submission(), Some(place.registry));
        let checked =
            checked.map_err(|error| SequencerError::from(demur_engine::refusal::RuleRefusal::from(error)))?;
        check_same(checked.statement(), &signed.prepared, said)?;
        Ok(checked)
    }

    /// The same, to be checked elsewhere.
    pub(super) fn submission(
        &self,
        place: &StatementPlace<'_>,
        said: &(Facts, Option<Content>),
        system: OperatingSystem,
    ) -> Result<Submission, Refusal> {
        let signed = self.signed_or_noted(place, said, system)?;
        let statement = Statement::parse(&signed.prepared.statement).map_err(|error| Refusal::bug(&error))?;
        check_same(&statement, &signed.prepared, said)?;
        Ok(signed.submission())
    }

    /// Returns what was signed; while a touch is prepared, notes what is to be signed and says that it has to be.
    fn signed_or_noted(
        &self,
        place: &StatementPlace<'_>,
        (facts, content): &(Facts, Option<Content>),
        mut system: OperatingSystem,
    ) -> Result<&SignedStatement, Refusal> {
        let noted = match &self.stage {
            Stage::Signed(signed) => return Ok(signed),
            Stage::Preparing(noted) => noted,
        };
        let now = system.now()?;
        let draft = Draft {
            command: CommandId::new(now, &mut system),
            content: content.clone(),
            facts: facts.clone(),
            not_after: now.plus_millis(TOUCH_LIFETIME_MILLIS),
            role: place.role,
            seen: place.seen,
            store: Some(place.registry.store()),
            trace: place.trace,
        };
        let prepared = draft.prepare(Salt::draw(&mut system)).map_err(|error| Refusal::bug(&error))?;
        noted.lock().unwrap_or_else(PoisonError::into_inner).prepared = Some(prepared);
        Err(Refusal::new(Code::TouchNeeded, "this is recorded once a passkey has signed it"))
    }
}

impl SignedStatement {
    fn submission(&self) -> Submission {
        self.prepared.clone().assert(self.assertion.clone())
    }
}

/// Checks that what would be recorded now is what was signed.
fn check_same(
    statement: &Statement,
    signed: &Prepared,
    (facts, content): &(Facts, Option<Content>),
) -> Result<(), Refusal> {
    let words = content.as_ref().map(canonical::to_vec).transpose().map_err(|error| Refusal::bug(&error))?;
    let signed_words = signed.opening.as_ref().map(|opening| &opening.bytes);
    if statement.facts == *facts && signed_words == words.as_ref() {
        return Ok(());
    }
    Err(stale())
}

fn stale() -> Refusal {
    let message = "expected what you signed to be what is recorded, found that it changed in between";
    Refusal::new(Code::TouchStale, message).with_cure("look at it again and sign what is there now")
}

/// How long what is prepared may be signed and sent, in milliseconds.
pub(super) const TOUCH_LIFETIME_MILLIS: u64 = 10 * 60 * 1000;
