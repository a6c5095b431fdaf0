//! Signing in with a passkey. The sign-in itself is what the passkey signs, so the name is typed first; a name that nobody has and
//! one without a passkey get the same answer.

use std::sync::Arc;

use demur_api::{
    code::Code,
    passkey::{MadeTouch, PreparedTouch},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_ledger::{
    event_type::Facts,
    facts::{Root, SessionOpened},
    name::{PersonId, SessionId, TokenId},
    role::Role,
};
use demur_sequencer::SequencerError;

use super::{
    PasskeySpeaker, StatementPlace, assertion,
    enrol::prepared,
    kept::{self, KeptStatement, KeptTouch, TouchedThing},
    touch::signing_passkey,
};
use crate::{
    access::{Browser, LinkOrigin},
    desk::Desk,
    owner::Owner,
    person::{self, NewSession},
};

impl Desk {
    /// Prepares the sign-in of the person with this name. May block.
    pub fn prepare_sign_in(&self, name: &str) -> Result<PreparedTouch, Refusal> {
        let owner = &*self.owner()?;
        let name = Text::try_from(name.trim()).map_err(|_| nobody())?;
        // Whatever is wrong with a name, a stranger hears the same.
        let found = person::called(owner, &name).map_err(|_| nobody())?;
        let (person, name) = found.ok_or_else(nobody)?;
        let registry = owner.sequencer().newest_registry()?;
        let passkeys = self.passkeys_here(&registry, person).map_err(|_| nobody())?;
        let session = SessionId::from(TokenId::new(owner.system().now()?, &mut { owner.system() }));
        let statement = statement(owner, person, (&name, session))?;
        let leaf = statement.prepared()?.leaf();
        let what = TouchedThing::SignIn { session, name, statement };
        let touch = kept::keep(owner, &KeptTouch { session: None, person, what })?;
        Ok(prepared(Some(touch), &[leaf], &passkeys))
    }

    /// Signs somebody in whose passkey has signed that; returns the secret of the session, and how many seconds it is good at the
    /// longest. May block.
    pub fn sign_in_with_passkey(
        &self,
        touch: &str,
        made: &MadeTouch,
        browser: &Browser,
    ) -> Result<(String, u64), Refusal> {
        let owner = &*self.owner()?;
        let (kept, taken) = kept::find(owner, touch, None)?;
        let TouchedThing::SignIn { session, name, statement } = kept.what else { return Err(kept::gone()) };
        let registry = owner.sequencer().newest_registry()?;
        let passkey = signing_passkey(&registry, (kept.person, &self.origin()?), made)?;
        let (role, held) = person::role_of(self, owner, &name)?;
        let prepared = statement.prepared()?;
        let assertion = assertion(made, &passkey, vec![prepared.leaf()])?;
        self.tokens().expect_room(owner)?;
        let swaps: Vec<_> = held.iter().cloned().chain([taken]).collect();
        let opened = match owner.sequencer().submit_with(prepared.assert(assertion), None, &swaps) {
            Err(SequencerError::RecordChanged) => return Err(kept::gone()),
            opened => opened?.position,
        };
        let rests_on = LinkOrigin { client: None, root: Root::Passkey, by: None };
        let new = NewSession { id: session.into(), name, role, person: kept.person, rests_on };
        self.begin_session(owner, new, opened.hash, browser)
    }
}

/// Works out the statement with which a session begins.
fn statement(
    owner: &Owner,
    person: PersonId,
    (name, session): (&Text<1, 64>, SessionId),
) -> Result<KeptStatement, Refusal> {
    let trace = person::journal(owner)?;
    let speaker = Arc::new(PasskeySpeaker::preparing(person, Text::try_from(name.as_str())?));
    let registry = &*owner.sequencer().registry();
    let seen = owner.sequencer().newest(trace)?;
    let facts: Facts = SessionOpened { attribution: None, by: None, person, session }.into();
    let place = StatementPlace { registry, trace, seen, role: Role::Person };
    let said = speaker.submission(&place, (facts, None), owner.system());
    match speaker.into_prepared() {
        Some((prepared, _)) => KeptStatement::of(prepared),
        None => Err(said.err().unwrap_or_else(kept::gone)),
    }
}

fn nobody() -> Refusal {
    let message = "expected the name of somebody with a passkey for this address, found another";
    Refusal::new(Code::PasskeyMissing, message)
        .with_cure("sign in with a code: `demur open` makes one at the terminal of the server")
}
