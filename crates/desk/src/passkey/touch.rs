//! One touch: what it signs is worked out and kept, and recorded once the passkey has signed it. Each act counts by itself: one that
//! somebody else was faster with does not keep the others back.

use std::sync::Arc;

use demur_api::{
    code::Code,
    passkey::{FinishedTouch, MadeTouch, PreparedTouch, TouchAct, TouchStanding, TouchedAct},
    refusal::Refusal,
};
use demur_core::{hash::Digest, limit::Text};
use demur_ledger::{
    facts::Enrolment,
    name::PersonId,
    passkey::{Assertion, ExpectedAssertion},
    registry::Registry,
};
use demur_store::contract::Swap;

use super::{
    PasskeySpeaker,
    act::stands_alone,
    assertion, bytes,
    enrol::{finish_root, prepared},
    is_active,
    kept::{self, KeptAct, KeptStatement, KeptTouch, TouchedThing},
    no_passkey,
    speaker::SignedStatement,
};
use crate::{
    access::{Caller, Token},
    desk::Desk,
    owner::Owner,
    records,
};

/// Somebody who is signed in and signs.
pub(super) struct Signer<'a> {
    pub(super) owner: &'a Owner,
    pub(super) caller: &'a Caller,
    pub(super) token: &'a Token,
    pub(super) person: PersonId,
}

impl<'a> Signer<'a> {
    /// Returns the person of a session.
    pub(super) fn of(owner: &'a Owner, caller: &'a Caller) -> Result<Self, Refusal> {
        let token = caller.person().ok_or_else(|| {
            let message = "expected a person who is signed in with a browser, found another caller";
            Refusal::new(Code::Forbidden, message).with_cure("`demur open` signs a browser in")
        })?;
        let person = token.person.ok_or_else(|| {
            let message = "expected a session that says whose it is, found one of an older version";
            Refusal::new(Code::Forbidden, message).with_cure("sign out and in again: `demur open`")
        })?;
        Ok(Self { owner, caller, token, person })
    }

    /// Returns what the person is called.
    pub(super) fn name(&self) -> Result<Text<1, 256>, Refusal> {
        Ok(Text::try_from(self.token.name.as_str())?)
    }

    fn preparing(&self) -> Result<Arc<PasskeySpeaker>, Refusal> {
        Ok(Arc::new(PasskeySpeaker::preparing(self.person, self.name()?)))
    }
}

/// An act as far as it was worked out.
struct WorkedOut {
    leaf: Option<Digest>,
    kept: KeptAct,
}

impl Desk {
    /// Prepares what a person signs with one touch.
    pub(super) fn prepare_touch(
        &self,
        signer: &Signer<'_>,
        acts: Vec<TouchAct>,
    ) -> Result<PreparedTouch, Refusal> {
        let (owner, person) = (signer.owner, signer.person);
        if acts.len() > 1 && acts.iter().any(stands_alone) {
            let message = "expected this to be signed with a touch of its own, found it in a list";
            return Err(Refusal::malformed(message).with_cure("prepare a touch for each"));
        }
        let registry = owner.sequencer().newest_registry()?;
        let passkeys = self.passkeys_here(&registry, person)?;
        let worked_out = acts.into_iter().map(|act| self.work_out(signer, act));
        let worked_out = worked_out.collect::<Result<Vec<_>, _>>()?;
        let leaves: Vec<_> = worked_out.iter().filter_map(|act| act.leaf).collect();
        // What is signed as a list is signed once: a list of one question twice is one leaf too few.
        if has_twice(&leaves) {
            return Err(Refusal::malformed("expected each act once, found one twice"));
        }
        let kept: Vec<_> = worked_out.into_iter().map(|act| act.kept).collect();
        let standings = kept.iter().map(|act| act.standing.clone()).collect();
        let name = if leaves.is_empty() {
            None
        } else {
            let (session, what) = (Some(signer.token.id.clone()), TouchedThing::Acts(kept));
            Some(kept::keep(owner, &KeptTouch { session, person, what })?)
        };
        Ok(PreparedTouch { acts: standings, ..prepared(name, &leaves, &passkeys) })
    }

    /// Works out what is to be signed of an act, if anything is.
    fn work_out(&self, signer: &Signer<'_>, act: TouchAct) -> Result<WorkedOut, Refusal> {
        let speaker = signer.preparing()?;
        let done = self.do_touched(signer, &speaker, &act);
        let Some((prepared, secret_salt)) = speaker.into_prepared() else {
            let standing = done.unwrap_or_else(TouchedAct::refused);
            let kept = KeptAct { act, standing, statement: None, secret_salt: None };
            return Ok(WorkedOut { leaf: None, kept });
        };
        let (standing, leaf) = (TouchedAct::standing(TouchStanding::Waits), prepared.leaf());
        let statement = Some(KeptStatement::of(prepared)?);
        Ok(WorkedOut { leaf: Some(leaf), kept: KeptAct { act, standing, statement, secret_salt } })
    }

    /// Records what a passkey has signed.
    pub(super) fn finish_touch(
        &self,
        signer: &Signer<'_>,
        name: &str,
        made: &MadeTouch,
    ) -> Result<FinishedTouch, Refusal> {
        let owner = signer.owner;
        let (touch, taken) = kept::find(owner, name, Some(signer.person))?;
        // A touch is of the session that it was shown in.
        if touch.session.as_deref() != Some(signer.token.id.as_str()) {
            return Err(kept::gone());
        }
        let finished = match touch.what {
            TouchedThing::Root { enrolment, setup_code, statement } => {
                return finish_root(owner, (&enrolment, &statement), made, (taken, setup_code));
            }
            TouchedThing::Possession { enrolment, label, leaf } => {
                self.finish_possession(signer, (enrolment, label, leaf), made)?
            }
            TouchedThing::Acts(acts) => self.finish_acts(signer, acts, made)?,
            TouchedThing::SignIn { .. } => return Err(kept::gone()),
        };
        forget(owner, taken)?;
        Ok(finished)
    }

    fn finish_acts(
        &self,
        signer: &Signer<'_>,
        acts: Vec<KeptAct>,
        made: &MadeTouch,
    ) -> Result<FinishedTouch, Refusal> {
        let registry = signer.owner.sequencer().newest_registry()?;
        let passkey = signing_passkey(&registry, (signer.person, &self.origin()?), made)?;
        let assertion = assertion(made, &passkey, leaves(&acts)?)?;
        // A wrong signature is wrong for all of them: it is said before anything is recorded.
        check(&assertion, &passkey)?;
        let name = signer.name()?;
        let mut standings = Vec::new();
        for KeptAct { act, standing, statement, secret_salt } in acts {
            let Some(statement) = statement else {
                standings.push(standing);
                continue;
            };
            let statement = SignedStatement {
                prepared: statement.prepared()?,
                assertion: assertion.clone(),
                secret_salt,
            };
            let speaker = Arc::new(PasskeySpeaker::signed(signer.person, name.clone(), statement));
            let done = self.do_touched(signer, &speaker, &act);
            standings.push(done.unwrap_or_else(TouchedAct::refused));
        }
        Ok(FinishedTouch { acts: standings, next: None })
    }

    /// Returns where the pages of this server are: the one address that passkeys sign at.
    pub(super) fn origin(&self) -> Result<String, Refusal> {
        self.pages().ok_or_else(|| self.no_pages())
    }

    /// Returns the passkeys of a person that speak on the pages of this server.
    pub(super) fn passkeys_here(
        &self,
        registry: &Registry,
        person: PersonId,
    ) -> Result<Vec<Enrolment>, Refusal> {
        let origin = self.origin()?;
        let own = registry.passkeys().map(|(_, record)| record);
        let own = own.filter(|record| is_active(record) && record.enrolment.person == person);
        let here = own.filter(|record| *record.enrolment.origin == *origin);
        let here: Vec<_> = here.map(|record| record.enrolment.clone()).collect();
        if here.is_empty() { Err(no_passkey()) } else { Ok(here) }
    }
}

/// Returns the passkey of a person at this address that signed, by the name that its authenticator has for it.
pub(super) fn signing_passkey(
    registry: &Registry,
    (person, origin): (PersonId, &str),
    made: &MadeTouch,
) -> Result<Enrolment, Refusal> {
    let credential = bytes("credential", &made.credential)?;
    let mut own = registry
        .passkeys()
        .filter(|(_, record)| record.enrolment.person == person && *record.enrolment.origin == *origin);
    let found = own.find(|(_, record)| *record.enrolment.credential == *credential);
    let (key, record) = found.ok_or_else(no_passkey)?;
    if !is_active(record) {
        let message = format!("expected a passkey that signs, found that {} was removed", key.short());
        return Err(Refusal::new(Code::of("KEY_REVOKED"), message).with_cure("sign with another passkey"));
    }
    Ok(record.enrolment.clone())
}

/// Checks an assertion by itself: that this passkey made it, here, over these leaves.
fn check(assertion: &Assertion, enrolment: &Enrolment) -> Result<(), Refusal> {
    let Some(leaf) = assertion.leaves.first().copied() else { return Err(kept::gone()) };
    let expected = ExpectedAssertion { leaf, is_alone: false, enrolment };
    let checked = assertion.admit(&expected);
    checked.map_err(|error| {
        Refusal::new(Code::of(error.code()), error)
            .with_cure("nothing was recorded; load the page again and sign once more")
    })
}

fn leaves(acts: &[KeptAct]) -> Result<Vec<Digest>, Refusal> {
    let statements = acts.iter().filter_map(|act| act.statement.as_ref());
    statements.map(|statement| Ok(statement.prepared()?.leaf())).collect()
}

fn has_twice(leaves: &[Digest]) -> bool {
    let mut sorted = leaves.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Takes a touch away that is finished. Somebody may have been faster; what was recorded counts once either way.
fn forget(owner: &Owner, taken: Swap) -> Result<(), Refusal> {
    records::swap(owner, vec![taken]).map(drop)
}
