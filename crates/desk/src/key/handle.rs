//! The operations of identities.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    key::{KeyEntry, ListedIdentities},
    operation as op,
    refusal::Refusal,
};

use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
};

impl Handle<op::ListIdentities> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ListIdentities>) -> Handled<op::ListIdentities> {
        let entries = self.owner()?.entries()?;
        let identities = entries.into_iter().map(KeyEntry::public).collect();
        Ok(ApiReply::new(ListedIdentities { identities }))
    }
}

impl Handle<op::ShowIdentity> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::ShowIdentity>) -> Handled<op::ShowIdentity> {
        let mut entries = self.owner()?.entries()?.into_iter();
        let found = entries.find(|entry| entry.fingerprint == request.path.fingerprint).ok_or_else(|| {
            Refusal::new(Code::IdentityUnknown, "expected the fingerprint of a key, found another")
                .with_cure("GET /v1/identities names them")
        })?;
        Ok(ApiReply::new(found.public()))
    }
}
