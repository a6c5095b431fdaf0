//! Signing in, signing out and being removed. Both are one change of several records, so that a link brings one session at most and no
//! session outlives its person, whichever process does which.

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};
use demur_core::limit::Text;

use super::{Person, file, find, holding, link, list, removing};
use crate::{
    access::{self, Browser, Caller, LOOKING},
    desk::Desk,
    name,
    owner::Owner,
    records,
    token::Wanted,
};

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
        let seconds = self.tokens().timeouts().absolute.as_secs();
        for _ in 0..records::ATTEMPTS {
            let (version, link) = link::find(owner, code)?.ok_or_else(link_spent)?;
            let mut swaps = vec![link::spending(code, version)?];
            let (name, role) = match &link.person {
                // Somebody may have been removed since, or have another role now.
                Some(name) => {
                    let (version, person) = find(owner, name).map_err(gone)?;
                    swaps.push(holding(&person, version)?);
                    (person.name.to_string(), person.role)
                }
                None => (self.user().to_string(), PersonRole::Operator),
            };
            let wanted = Wanted::session(&name, role, seconds, link.origin, browser.clone())?;
            if let Some((_, secret)) = self.tokens().make(owner, wanted, swaps)? {
                link.file.as_deref().into_iter().for_each(file::remove);
                return Ok((secret, seconds));
            }
        }
        Err(records::contended())
    }

    /// Ends the session of a caller who signed in. May block.
    pub fn sign_out(&self, caller: &Caller) -> Result<(), Refusal> {
        match self.admit(caller, LOOKING)?.caller() {
            Caller::Token(token) => self.tokens().revoke(&*self.owner()?, &token.id).map(drop),
            Caller::Local { .. } | Caller::Stranger => Err(access::stranger()),
        }
    }

    /// Removes somebody, with every link and every session; returns how many sessions there were.
    pub(super) fn remove_person(
        &self,
        owner: &Owner,
        by: &Caller,
        name: &str,
    ) -> Result<(Person, u64), Refusal> {
        for _ in 0..records::ATTEMPTS {
            let (version, person) = find(owner, name)?;
            expect_another_operator(owner, by, &person)?;
            let mut swaps = vec![removing(&person, version)?];
            swaps.extend(link::forgetting(owner.sequencer().store(), name)?);
            if let Some(ended) = self.tokens().end_sessions(owner, name, swaps)? {
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
        "add another operator first; the user of the machine can remove anybody with `demur people remove`",
    ))
}

fn gone(refusal: Refusal) -> Refusal {
    if refusal.code == Code::PersonUnknown { link_spent() } else { refusal }
}

/// Returns what somebody hears whose code is not good.
pub fn link_spent() -> Refusal {
    let message =
        "expected a code that is good, found one that was used, is older than five minutes, or is none";
    Refusal::new(Code::LinkSpent, message).with_cure("`demur open` makes a new one")
}
