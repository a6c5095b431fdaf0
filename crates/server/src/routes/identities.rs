//! Identities over HTTP: the public facts of every key in the registry.

use axum::{Json, extract::State};
use demur_api::{
    code::Code,
    key::{KeyEntry, ListedIdentities},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::key::Fingerprint;
use hyper::{Method, StatusCode};

use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::GET,
            "/v1/identities",
            "listIdentities",
            SEEING,
            "List every key of the registry, the oldest first",
        )
        .gives::<ListedIdentities>(StatusCode::OK, "The keys"),
        list,
    )
    .with(
        Operation::new(
            Method::GET,
            "/v1/identities/{fingerprint}",
            "identity",
            SEEING,
            "Say whose a key is, what it may do and what became of it",
        )
        .gives::<KeyEntry>(StatusCode::OK, "The key"),
        show,
    )
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

/// Who may know: everybody who asks, answers or reads.
const SEEING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay, Scope::Read];
