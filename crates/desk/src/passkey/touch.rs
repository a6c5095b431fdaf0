//! One touch: what it signs is worked out and kept, and recorded once the passkey has signed it. Each act counts by itself: one that
//! somebody else was faster with does not keep the others back.

use std::sync::Arc;

use demur_api::{
    code::Code,
    passkey::{ActResult, ActStatus, BrowserAssertion, FinishedTouch, PreparedTouch, TouchAct, TouchRequest},
    refusal::Refusal,
};
use demur_core::{hash::Digest, limit::Text};
use demur_ledger::{
    facts::{Enrolment, WebOrigin},
    name::PersonId,
    passkey::{Assertion, ExpectedAssertion},
    registry::Registry,
};
use demur_store::contract::Swap;

use super::{
    PasskeySpeaker,
    act::stands_alone,
    assertion, bytes,
    enrol::finish_root,
    is_active,
    kept::{self, KeptAct, KeptStatement, KeptTouch, TouchPurpose},
    no_passkey,
    speaker::{SignedStatement, TOUCH_LIFETIME_MILLIS},
    text,
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
        let acts = kept.iter().map(|act| act.result.clone()).collect();
        if leaves.is_empty() {
            return Ok(PreparedTouch { acts, touch: None });
        }
        let (session, what) = (signer.token.id.clone(), TouchPurpose::Acts(kept));
        let name = kept::keep(owner, &KeptTouch { session, person, what })?;
        let credentials = passkeys.iter().map(|passkey| text(&passkey.credential)).collect();
        let touch = request(name, &leaves, credentials, host(&self.origin()?)?);
        Ok(PreparedTouch { acts, touch: Some(touch) })
    }

    /// Works out what is to be signed of an act, if anything is.
    fn work_out(&self, signer: &Signer<'_>, act: TouchAct) -> Result<WorkedOut, Refusal> {
        let speaker = signer.preparing()?;
        let done = self.do_touched(signer, &speaker, &act);
        let Some((prepared, secret_salt)) = speaker.into_prepared() else {
            let result = done.unwrap_or_else(ActResult::refused);
            let kept = KeptAct { act, result, statement: None, secret_salt: None };
            return Ok(WorkedOut { leaf: None, kept });
        };
        let (result, leaf) = (ActResult::of(ActStatus::Waits), prepared.leaf());
        let statement = Some(KeptStatement::of(prepared)?);
        Ok(WorkedOut { leaf: Some(leaf), kept: KeptAct { act, result, statement, secret_salt } })
    }

    /// Records what a passkey has signed.
    pub(super) fn finish_touch(
        &self,
        signer: &Signer<'_>,
        name: &str,
        made: &BrowserAssertion,
    ) -> Result<FinishedTouch, Refusal> {
        let owner = signer.owner;
        let (touch, taken) = kept::find(owner, name, signer.person)?;
        // A touch is of the session that it was shown in.
        if touch.session != signer.token.id {
            return Err(kept::gone());
        }
        let finished = match touch.what {
            TouchPurpose::Root { enrolment, setup_code, statement } => {
                return finish_root(owner, (&enrolment, statement), made, (taken, setup_code));
            }
            TouchPurpose::Possession { enrolment, label, leaf } => {
                self.finish_possession(signer, (enrolment, label, leaf), made)?
            }
            TouchPurpose::Acts(acts) => self.finish_acts(signer, acts, made)?,
        };
        forget(owner, taken)?;
        Ok(finished)
    }

    fn finish_acts(
        &self,
        signer: &Signer<'_>,
        acts: Vec<KeptAct>,
        made: &BrowserAssertion,
    ) -> Result<FinishedTouch, Refusal> {
        let registry = signer.owner.sequencer().newest_registry()?;
        let passkey = signing_passkey(&registry, (signer.person, &self.origin()?), made)?;
        let assertion = assertion(made, &passkey, leaves(&acts))?;
        // A wrong signature is wrong for all of them: it is said before anything is recorded.
        check(&assertion, &passkey).map_err(|refusal| {
            refusal.with_cure("nothing was recorded; load the page again and sign once more")
        })?;
        let name = signer.name()?;
        let mut results = Vec::new();
        for KeptAct { act, result, statement, secret_salt } in acts {
            let Some(statement) = statement else {
                results.push(result);
                continue;
            };
            let (prepared, assertion) = (statement.prepared(), assertion.clone());
            let statement = SignedStatement { prepared, assertion, secret_salt };
            let speaker = Arc::new(PasskeySpeaker::signed(signer.person, name.clone(), statement));
            let done = self.do_touched(signer, &speaker, &act);
            results.push(done.unwrap_or_else(ActResult::refused));
        }
        Ok(FinishedTouch { acts: results, next: None })
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
        let here = speaking_at(registry, &origin).filter(|passkey| passkey.person == person);
        let here: Vec<_> = here.cloned().collect();
        if here.is_empty() { Err(no_passkey()) } else { Ok(here) }
    }
}

/// Returns the passkeys that speak at this address.
pub(super) fn speaking_at<'a>(
    registry: &'a Registry,
    origin: &'a str,
) -> impl Iterator<Item = &'a Enrolment> {
    let active = registry.passkeys().map(|(_, record)| record).filter(|record| is_active(record));
    active.map(|record| &record.enrolment).filter(move |passkey| *passkey.origin == *origin)
}

/// Returns the passkey of a person at this address that signed, by the name that its authenticator has for it.
pub(super) fn signing_passkey(
    registry: &Registry,
    (person, origin): (PersonId, &str),
    made: &BrowserAssertion,
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
pub(super) fn check(assertion: &Assertion, enrolment: &Enrolment) -> Result<(), Refusal> {
    let Some(leaf) = assertion.leaves.first().copied() else { return Err(kept::gone()) };
    let expected = ExpectedAssertion { leaf, is_alone: false, enrolment };
    assertion.admit(&expected).map_err(|error| Refusal::new(Code::of(error.code()), error))
}

/// Returns what a browser is told to have signed under this name, by one of these credentials.
pub(super) fn request(name: String, leaves: &[Digest], credentials: Vec<String>, rp: String) -> TouchRequest {
    let challenge = text(Assertion::challenge(leaves).as_bytes());
    TouchRequest { name, challenge, credentials, rp, seconds: TOUCH_LIFETIME_MILLIS / 1000 }
}

/// Returns the host name that passkeys of an address are for.
pub(super) fn host(origin: &str) -> Result<String, Refusal> {
    let origin = WebOrigin::try_from(origin.to_owned()).map_err(|error| Refusal::bug(&error))?;
    Ok(origin.host().to_owned())
}

fn leaves(acts: &[KeptAct]) -> Vec<Digest> {
    acts.iter().filter_map(|act| act.statement.as_ref()).map(KeptStatement::leaf).collect()
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
