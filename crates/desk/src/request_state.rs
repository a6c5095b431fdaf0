//! The secrets with which request states are sealed: that of the desk, and those of programs that seal for one client.

use demur_api::{code::Code, refusal::Refusal, request_state::RequestStateKey};
use demur_core::hash::Digest;
use zeroize::Zeroizing;

use crate::{access::Caller, desk::Desk, keyring::SecretPurpose, owner::Owner};

impl Desk {
    /// Returns the secret with which this desk seals what its clients carry: every desk with the same keyring opens it. May
    /// block.
    pub fn request_state_key(&self) -> Result<Zeroizing<[u8; 32]>, Refusal> {
        self.owner()?.keyring().derive(&SecretPurpose::RequestStates)
    }
}

/// Returns the secret of a program that seals for the caller. It opens nothing that the desk sealed, or another client.
pub(crate) fn key_of(owner: &Owner, caller: &Caller) -> Result<RequestStateKey, Refusal> {
    let Caller::Local { name, client, .. } = caller else {
        return Err(Refusal::new(Code::Forbidden, "expected the user of this machine, found another caller"));
    };
    let purpose = SecretPurpose::RequestStatesOf { user: name.as_str(), client: client.as_deref() };
    Ok(RequestStateKey { key: Digest::from_bytes(*owner.keyring().derive(&purpose)?) })
}
