//! Signing in with a passkey. The sign-in itself is what the passkey signs, so the name is typed first. Every name gets the same
//! answer after the same work: who is here, strangers do not learn. Nothing is kept for them; what their browser carries back is
//! sealed, and that it is used once, the journal sees to.

use std::sync::Arc;

use demur_api::{
    code::Code,
    passkey::{BrowserAssertion, TouchRequest},
    refusal::Refusal,
};
use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
    time::Timestamp,
};
use demur_ledger::{
    event_type::Facts,
    facts::{Root, SessionOpened},
    name::{PersonId, SessionId, TokenId},
    passkey::Assertion,
    registry::Registry,
    role::Role,
};
use demur_sequencer::SequencerError;
use serde::{Deserialize, Serialize};

use super::{
    PasskeySpeaker, StatementPlace, assertion, bytes,
    kept::{self, KeptStatement},
    other_credentials,
    speaker::TOUCH_LIFETIME_MILLIS,
    text,
    touch::{check, host, request, signing_passkey, speaking_at},
};
use crate::{
    access::{Browser, LinkOrigin},
    desk::Desk,
    keyring::SecretPurpose,
    owner::Owner,
    person::{self, NewSession},
    seal::apply_key,
};

/// A sign-in that waits for its passkey, as the browser carries it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PreparedSignIn {
    expires: Timestamp,
    name: Text<1, 64>,
    person: PersonId,
    session: SessionId,
    statement: KeptStatement,
}

impl Desk {
    /// Prepares the sign-in of the person with this name, if there is one. May block.
    pub fn prepare_sign_in(&self, typed: &Text<1, 64>) -> Result<TouchRequest, Refusal> {
        let owner = &*self.owner()?;
        let (origin, now) = (self.origin()?, owner.system().now()?);
        let registry = owner.sequencer().newest_registry()?;
        if speaking_at(&registry, &origin).next().is_none() {
            return Err(no_passkeys());
        }
        let found = person::called(owner, typed).ok().flatten();
        let (person, name) =
            found.unwrap_or_else(|| (PersonId::new(now, &mut { owner.system() }), typed.clone()));
        let own = speaking_at(&registry, &origin).filter(|passkey| passkey.person == person);
        let credentials = other_credentials::beside(owner, typed, own)?;
        let session = SessionId::from(TokenId::new(now, &mut { owner.system() }));
        let statement = statement(owner, person, (&name, session))?;
        let leaf = statement.leaf();
        let expires = now.plus_millis(TOUCH_LIFETIME_MILLIS);
        let sealed = seal(owner, &PreparedSignIn { expires, name, person, session, statement })?;
        Ok(request(sealed, &[leaf], credentials, host(&origin)?))
    }

    /// Signs somebody in whose passkey has signed that; returns the secret of the session, and how many seconds it is good at the
    /// longest. May block.
    pub fn sign_in_with_passkey(
        &self,
        sealed: &str,
        made: &BrowserAssertion,
        browser: &Browser,
    ) -> Result<(String, u64), Refusal> {
        let owner = &*self.owner()?;
        let PreparedSignIn { name, person, session, statement, .. } = open(owner, sealed)?;
        let registry = owner.sequencer().newest_registry()?;
        let prepared = statement.prepared();
        let assertion = proven(&registry, (person, &self.origin()?), made, prepared.leaf())?;
        let (role, held) = person::role_of(self, owner, &name)?;
        self.tokens().expect_room(owner)?;
        let swaps: Vec<_> = held.into_iter().collect();
        let opened = match owner.sequencer().submit_with(prepared.assert(assertion), None, &swaps) {
            Ok(opened) if !opened.repeated => opened.position,
            // It signed in already, or whose it is has changed.
            Ok(_) | Err(SequencerError::RecordChanged) => return Err(kept::gone()),
            Err(error) => return Err(error.into()),
        };
        let rests_on = LinkOrigin { client: None, root: Root::Passkey, by: None };
        let new = NewSession { id: session.into(), name, role, person, rests_on };
        self.begin_session(owner, new, opened.hash, browser)
    }
}

/// Returns the assertion of a passkey of this person over this, if it holds. Whatever is wrong with it, a stranger hears the same; and
/// where there is no such passkey, the work is done with another one's.
fn proven(
    registry: &Registry,
    (person, origin): (PersonId, &str),
    made: &BrowserAssertion,
    leaf: Digest,
) -> Result<Assertion, Refusal> {
    let own = signing_passkey(registry, (person, origin), made).ok();
    let is_own = own.is_some();
    let passkey = own.or_else(|| speaking_at(registry, origin).next().cloned()).ok_or_else(not_proven)?;
    let made = assertion(made, &passkey, vec![leaf]);
    let proven = made.and_then(|made| check(&made, &passkey).map(|()| made));
    proven.ok().filter(|_| is_own).ok_or_else(not_proven)
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
    let said = speaker.submission(&place, &(facts, None), owner.system());
    match speaker.into_prepared() {
        Some((prepared, _)) => KeptStatement::of(prepared),
        None => Err(said.err().unwrap_or_else(kept::gone)),
    }
}

/// Seals a sign-in for whoever carries it: a word that was drawn for it, a mark that it comes from here, and what is sealed.
fn seal(owner: &Owner, sign_in: &PreparedSignIn) -> Result<String, Refusal> {
    let mut word = [0; 32];
    owner.system().fill(&mut word);
    let word = text(&word);
    let mut sealed = serde_json::to_vec(sign_in).map_err(|error| Refusal::bug(&error))?;
    apply_key(owner, &SecretPurpose::SignIn(&word), &mut sealed)?;
    let sealed = format!("{word}.{}", text(&sealed));
    let mark = owner.keyring().derive(&SecretPurpose::SignInMark(&sealed))?;
    Ok(format!("{sealed}.{}", text(&*mark)))
}

/// Returns a sign-in that was sealed here and still waits.
fn open(owner: &Owner, carried: &str) -> Result<PreparedSignIn, Refusal> {
    let (sealed, mark) = carried.rsplit_once('.').ok_or_else(kept::gone)?;
    let expected = owner.keyring().derive(&SecretPurpose::SignInMark(sealed))?;
    // By their digests: how long it takes says nothing of the mark.
    if sha256(mark.as_bytes()) != sha256(text(&*expected).as_bytes()) {
        return Err(kept::gone());
    }
    let (word, sealed) = sealed.split_once('.').ok_or_else(kept::gone)?;
    let mut sealed = bytes("touch", sealed)?;
    apply_key(owner, &SecretPurpose::SignIn(word), &mut sealed)?;
    let sign_in: PreparedSignIn = serde_json::from_slice(&sealed).map_err(|error| Refusal::bug(&error))?;
    if sign_in.expires <= owner.system().now()? {
        return Err(kept::gone());
    }
    Ok(sign_in)
}

fn no_passkeys() -> Refusal {
    let message = "expected a passkey for this address, found none on this server";
    Refusal::new(Code::PasskeyMissing, message).with_cure(BY_CODE)
}

fn not_proven() -> Refusal {
    let message = "expected the signature of a passkey that signs this person in, found another";
    Refusal::new(Code::PasskeyMissing, message).with_cure(BY_CODE)
}

const BY_CODE: &str = "sign in with a code: `demur open` makes one at the terminal of the server";
