//! The operations of identities.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    key::{KeyEntry, ListedIdentities},
    operation as op,
    refusal::Refusal,
};

use crate::{
    access::{Admitted, Sight},
    desk::Desk,
    entry::{Handle, Handled},
    owner::Owner,
};

/// Returns the keys whose names the caller may know: its own and the desk's, or all of them.
fn seen(owner: &Owner, by: &Admitted) -> Result<impl Iterator<Item = KeyEntry>, Refusal> {
    let sight = Sight::of(by.caller(), owner.sequencer().registry());
    let entries = owner.entries()?.into_iter();
    Ok(entries.filter(move |entry| sight.sees_key_of(entry.principal)))
}

impl Handle<op::ListIdentities> for Desk {
    fn handle(&self, by: &Admitted, _: ApiRequest<op::ListIdentities>) -> Handled<op::ListIdentities> {
        let identities = seen(&*self.owner()?, by)?.map(KeyEntry::public).collect();
        Ok(ApiReply::new(ListedIdentities { identities }))
    }
}

impl Handle<op::ShowIdentity> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowIdentity>) -> Handled<op::ShowIdentity> {
        let found = seen(&*self.owner()?, by)?
            .find(|entry| entry.fingerprint == request.path.fingerprint)
            .ok_or_else(|| {
                Refusal::new(Code::IdentityUnknown, "expected the fingerprint of a key, found another")
                    .with_cure("GET /v1/identities names them")
            })?;
        Ok(ApiReply::new(found.public()))
    }
}
