//! Tokens, made and taken back by the user of this machine only.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    operation,
    token::{ListedTokens, MadeToken, NewToken, ShownToken},
};
use demur_core::limit::Whole;
use hyper::StatusCode;

use crate::{
    api::{Api, Operation},
    caller::Token,
    problem::Problem,
    read::{Document, Named},
    service::Shared,
    tokens::Wanted,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::MakeToken>(), create)
        .with(Operation::of::<operation::ListTokens>(), list)
        .with(Operation::of::<operation::RevokeToken>(), revoke)
}

impl From<Token> for ShownToken {
    fn from(token: Token) -> Self {
        let Token { id, name, scopes, created, expires, .. } = token;
        Self { id, name: name.to_string(), scopes, created, expires }
    }
}

async fn create(
    State(service): State<Shared>,
    Document(new): Document<NewToken>,
) -> Result<Response, Problem> {
    let made = service.work(move |service, owner| {
        let scopes = new.scopes.to_vec();
        let wanted = Wanted { name: new.name, scopes, seconds: new.seconds.map(Whole::as_u64), role: None };
        service.tokens.create(owner, wanted)
    });
    let (token, secret) = made.await?;
    Ok((StatusCode::CREATED, Json(MadeToken { token: token.into(), secret })).into_response())
}

async fn list(State(service): State<Shared>) -> Result<Json<ListedTokens>, Problem> {
    let tokens = service.work(|service, owner| service.tokens.list(owner)).await?;
    Ok(Json(ListedTokens { tokens: tokens.into_iter().map(ShownToken::from).collect() }))
}

async fn revoke(
    State(service): State<Shared>,
    Named(id): Named<String>,
) -> Result<Json<ShownToken>, Problem> {
    let revoked = service.work(move |service, owner| service.tokens.revoke(owner, &id)).await?;
    Ok(Json(revoked.into()))
}
