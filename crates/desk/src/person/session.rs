//! Signing in and being removed. Both are one change of several records, so that a link brings one session at most and no
//! session outlives its person, whichever process does which.

use std::time::Duration;

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};

use super::{Person, find, holding, link, removing};
use crate::{
    access::{self, Caller, LOOKING},
    desk::Desk,
    owner::Owner,
    records,
    token::Wanted,
};

impl Desk {
    /// Returns whether the code of a link is good. May block.
    pub fn knows_link(&self, code: &str) -> Result<bool, Refusal> {
        Ok(is_code(code) && link::find(&*self.owner()?, code)?.is_some())
    }

    /// Signs somebody in with the code of a link, which is spent; returns the secret of the session. May block.
    pub fn sign_in(&self, code: &str) -> Result<String, Refusal> {
        let owner = &*self.owner()?;
        if !is_code(code) {
            return Err(link_spent());
        }
        for _ in 0..records::ATTEMPTS {
            let (version, link) = link::find(owner, code)?.ok_or_else(link_spent)?;
            let mut swaps = vec![link::spending(code, version)?];
            let (name, role) = match &link.person {
                // Somebody may have been removed since, or have another role now.
                Some(name) => {
                    let (version, person) = find(owner, name).map_err(|error| match error.code {
                        Code::PersonUnknown => link_spent(),
                        _ => error,
                    })?;
                    swaps.push(holding(&person, version)?);
                    (person.name.to_string(), person.role)
                }
                None => (self.user().to_string(), PersonRole::Operator),
            };
            let wanted = Wanted::session(&name, role, SESSION_TIMEOUT.as_secs(), link.origin)?;
            if let Some((_, secret)) = self.tokens().make(owner, wanted, swaps)? {
                return Ok(secret);
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
    pub(super) fn remove_person(&self, owner: &Owner, name: &str) -> Result<(Person, u64), Refusal> {
        for _ in 0..records::ATTEMPTS {
            let (version, person) = find(owner, name)?;
            let mut swaps = vec![removing(&person, version)?];
            swaps.extend(link::forgetting(owner.sequencer().store(), name)?);
            if let Some(ended) = self.tokens().end_sessions(owner, name, swaps)? {
                return Ok((person, ended));
            }
        }
        Err(records::contended())
    }
}

fn is_code(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns what somebody hears whose link is not good.
pub fn link_spent() -> Refusal {
    let message =
        "expected a link that is good, found one that was used, is older than five minutes, or is none";
    Refusal::new(Code::LinkSpent, message).with_cure("`demur open` makes a new one")
}

/// How long a browser stays signed in.
pub const SESSION_TIMEOUT: Duration = Duration::from_hours(12);
