//! Identities over HTTP: the public facts of every key in the registry.

use axum::{Json, extract::State};
use demur_core::{
    key::{Fingerprint, PublicKey},
    time::Timestamp,
};
use demur_desk::{
    error::CommandError,
    key_entry::{KeyEntry, Moment, Origin, Revocation, Status},
};
use demur_ledger::{name::PrincipalId, role::Role};
use hyper::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    api::{Api, Operation},
    caller::Scope,
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
        .gives::<Identity>(StatusCode::OK, "The key"),
        show,
    )
}

/// Every key.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedIdentities {
    /// The oldest first.
    identities: Vec<Identity>,
}

/// A key, as everybody may know it.
#[derive(Debug, Serialize, JsonSchema)]
struct Identity {
    /// What proves it.
    fingerprint: Fingerprint,
    /// Whose it is: the desk's claim.
    name: String,
    /// How it came in.
    origin: Origin,
    /// Whoever holds it.
    principal: PrincipalId,
    /// The key itself.
    public_key: PublicKey,
    /// The key that may rotate this one when it is lost.
    recovery: Option<Fingerprint>,
    /// When a rotated key is retired at the earliest.
    retires_after: Option<Timestamp>,
    /// When it was retired.
    retired: Option<Moment>,
    /// When and why it was revoked.
    revoked: Option<Revocation>,
    /// What it may speak as.
    roles: Vec<Role>,
    /// When it got a successor.
    rotated: Option<Moment>,
    /// When it came in.
    since: Moment,
    /// What it can still do.
    status: Status,
}

impl From<KeyEntry> for Identity {
    fn from(entry: KeyEntry) -> Self {
        // Where its secret lies is nobody's business.
        Self {
            fingerprint: entry.fingerprint,
            name: entry.name,
            origin: entry.origin,
            principal: entry.principal,
            public_key: entry.public_key,
            recovery: entry.recovery,
            retires_after: entry.retires_after,
            retired: entry.retired,
            revoked: entry.revoked,
            roles: entry.roles,
            rotated: entry.rotated,
            since: entry.since,
            status: entry.status,
        }
    }
}

async fn list(State(service): State<Shared>) -> Result<Json<ListedIdentities>, Problem> {
    let entries = service.work(|_, owner| owner.entries()).await?;
    Ok(Json(ListedIdentities { identities: entries.into_iter().map(Identity::from).collect() }))
}

async fn show(
    State(service): State<Shared>,
    Named(fingerprint): Named<Fingerprint>,
) -> Result<Json<Identity>, Problem> {
    let found = service.work(move |_, owner| {
        let found = owner.entries()?.into_iter().find(|entry| entry.fingerprint == fingerprint);
        found.ok_or_else(|| {
            CommandError::input("IDENTITY_UNKNOWN", "expected the fingerprint of a key, found another")
                .with_hint("GET /v1/identities names them")
        })
    });
    Ok(Json(found.await?.into()))
}

/// Who may know: everybody who asks, answers or reads.
const SEEING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay, Scope::Read];
