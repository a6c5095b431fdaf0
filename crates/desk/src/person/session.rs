//! Signing in, signing out and being removed. Both are one change of several records, so that a link brings one session at most and no
//! session outlives its person, whichever process does which.

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};
use demur_core::{hash::Digest, limit::Text};
use demur_ledger::{
    facts::PersonRemoved,
    name::{PersonId, TokenId},
};

use super::{Person, called, file, find, journal, link, list, removing, role_of};
use crate::{
    access::{self, Browser, Caller, LOOKING, LinkOrigin},
    desk::Desk,
    name,
    owner::Owner,
    passkey::Administrator,
    records,
};

/// A session that begins.
pub(crate) struct NewSession {
    /// Its public name.
    pub(crate) id: TokenId,
    /// Who signed in.
    pub(crate) name: Text<1, 64>,
    /// What this one may do.
    pub(crate) role: PersonRole,
    /// Who this one is on record.
    pub(crate) person: PersonId,
    /// What the session rests on.
    pub(crate) rests_on: LinkOrigin,
}

impl Desk {
    /// Returns whom a code signs in, if it is good. May block.
    pub fn holder_of_link(&self, code: &str) -> Result<(Text<1, 256>, PersonRole), Refusal> {
        let owner = &*self.owner()?;
        let code = link::typed(code).ok_or_else(link_spent)?;
        let (_, link) = link::find(owner, &code)?.ok_or_else(link_spent)?;
        match &link.person {
            Some(name) => {
                let (_, person) = find(owner, name).map_err(gone)?;
                Ok((Text::try_from(person.name.as_str())?, person.role))
            }
            None => Ok((self.user().clone(), PersonRole::Operator)),
        }
    }

    /// Signs somebody in with the code of a link, which is spent; returns the secret of the session, and how many seconds it is good
    /// at the longest. May block.
    pub fn sign_in(&self, code: &str, browser: &Browser) -> Result<(String, u64), Refusal> {
        let owner = &*self.owner()?;
        let code = &*link::typed(code).ok_or_else(link_spent)?;
        for _ in 0..records::ATTEMPTS {
            let (version, link) = link::find(owner, code)?.ok_or_else(link_spent)?;
            let name = link.person.clone().map_or_else(|| Text::cut(self.user()), Ok)?;
            // Somebody may have been removed since, or have another role now.
            let (role, held) = role_of(self, owner, &name)?;
            let (person, _) = called(owner, &name)?.ok_or_else(link_spent)?;
            self.tokens().expect_room(owner)?;
            let id = TokenId::new(owner.system().now()?, &mut { owner.system() });
            let spent = link::spending(code, version)?;
            let swaps: Vec<_> = held.iter().cloned().chain([spent]).collect();
            let Some(opened) = journal::note_sign_in(owner, (person, id.into()), link.origin, &swaps)? else {
                continue;
            };
            link.file.as_deref().into_iter().for_each(file::remove);
            let new = NewSession { id, name, role, person, rests_on: link.origin };
            return self.begin_session(owner, new, opened.hash, browser);
        }
        Err(records::contended())
    }

    /// Begins the session of somebody whose sign-in is on record, unless they were removed or have another role by now.
    pub(crate) fn begin_session(
        &self,
        owner: &Owner,
        new: NewSession,
        opened: Digest,
        browser: &Browser,
    ) -> Result<(String, u64), Refusal> {
        // Their record was written anew with the sign-in.
        let (role, held) = role_of(self, owner, &new.name)?;
        let swaps = held.into_iter().collect();
        let begun =
            self.tokens().begin(owner, NewSession { role, ..new }, (opened, browser.clone()), swaps)?;
        begun.ok_or_else(records::contended)
    }

    /// Ends the session of a caller who signed in. May block.
    pub fn sign_out(&self, caller: &Caller) -> Result<(), Refusal> {
        match self.admit(caller, LOOKING)?.caller() {
            Caller::Token(token) => self.tokens().revoke(&*self.owner()?, &token.id).map(drop),
            Caller::Local { .. } | Caller::Stranger => Err(access::stranger()),
        }
    }

    /// Removes somebody, with every link and every session; returns how many sessions there were.
    pub(crate) fn remove_person(
        &self,
        owner: &Owner,
        caller: &Caller,
        name: &str,
        by: &Administrator<'_>,
    ) -> Result<(Person, u64), Refusal> {
        for _ in 0..records::ATTEMPTS {
            let (version, person) = find(owner, name)?;
            expect_another_operator(owner, caller, &person)?;
            let mut swaps = vec![removing(&person, version)?];
            // Somebody of this name who is added later is somebody else.
            swaps.extend(name::forgetting_relayed(owner, name)?);
            swaps.extend(link::forgetting(owner.sequencer().store(), name)?);
            let state = |swaps: &[_]| by.state(owner, PersonRemoved { person: person.id }, None, swaps);
            if let Some(ended) = self.tokens().end_sessions(owner, name, swaps, state)? {
                return Ok((person, ended));
            }
        }
        Err(records::contended())
    }
}

/// Refuses the last operator who would remove the own name, and with it the way in of everybody who administers from elsewhere.
fn expect_another_operator(owner: &Owner, by: &Caller, person: &Person) -> Result<(), Refusal> {
    let is_own = by.person().is_some_and(|token| name::same(&token.name, &person.name));
    let is_other =
        |other: &Person| other.role == PersonRole::Operator && !name::same(&other.name, &person.name);
    if !is_own || person.role != PersonRole::Operator || list(owner)?.iter().any(is_other) {
        return Ok(());
    }
    let message =
        "expected another operator who stays, found none: nobody could sign in to administer this server";
    Err(Refusal::new(Code::LastOperator, message).with_cure(
        "add another operator first; until there is a passkey, the user of the machine can remove anybody with `demur people remove`",
    ))
}

pub(super) fn gone(refusal: Refusal) -> Refusal {
    if refusal.code == Code::PersonUnknown { link_spent() } else { refusal }
}

/// Returns what somebody hears whose code is not good.
pub fn link_spent() -> Refusal {
    let message =
        "expected a code that is good, found one that was used, is older than five minutes, or is none";
    Refusal::new(Code::LinkSpent, message).with_cure("`demur open` makes a new one")
}
