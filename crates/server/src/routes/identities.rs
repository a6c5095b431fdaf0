//! Identities over HTTP: the public facts of every key in the registry.

use axum::{Json, extract::State};
use demur_api::{
    code::Code,
    key::{KeyEntry, ListedIdentities},
    operation,
    refusal::Refusal,
};
use demur_core::key::Fingerprint;

use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::ListIdentities>(), list)
        .with(Operation::of::<operation::ShowIdentity>(), show)
}

async fn list(State(service): State<Shared>) -> Result<Json<ListedIdentities>, Problem> {
    let entries = service.work(|_, owner| owner.entries()).await?;
    Ok(Json(ListedIdentities { identities: entries.into_iter().map(KeyEntry::public).collect() }))
}

async fn show(
    State(service): State<Shared>,
    Named(fingerprint): Named<Fingerprint>,
) -> Result<Json<KeyEntry>, Problem> {
    let found = service.work(move |_, owner| {
        let found = owner.entries()?.into_iter().find(|entry| entry.fingerprint == fingerprint);
        found.ok_or_else(|| {
            Refusal::new(Code::IdentityUnknown, "expected the fingerprint of a key, found another")
                .with_cure("GET /v1/identities names them")
        })
    });
    Ok(Json(found.await?.public()))
}
