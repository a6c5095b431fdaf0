//! The operations of the API, by what they are about.

pub mod aaep;
pub mod feed;
pub mod mcp;
pub mod open;
pub mod pages;
pub mod plans;
pub mod questions;
pub mod runs;
pub mod server;
pub mod sign_in;
pub mod traces;
pub mod verify;

use std::sync::Arc;

use axum::{Router, middleware};
use demur_api::operation as op;

use crate::{
    api::{self, Api, Route},
    credentials,
    service::Shared,
};

/// Returns every operation.
pub fn all() -> Api {
    let api = Api::default();
    let api = questions::add(api);
    let api = plans::add(api);
    let api = runs::add(api);
    let api = traces::add(api);
    let api = verify::add(api);
    let api = api.mount::<op::ListIdentities>().mount::<op::ShowIdentity>();
    let api = api.mount::<op::VerifyIdentityMessages>();
    let api = aaep::add(feed::add(api));
    let api = api.mount::<op::MakeToken>().mount::<op::ListTokens>().mount::<op::RevokeToken>();
    let api = api.mount::<op::AddPerson>().mount::<op::ListPeople>().mount::<op::RemovePerson>();
    let api = api.mount::<op::ListSessions>().mount::<op::EndSession>().mount::<op::EndSessions>();
    let api = api.mount::<op::ListPasskeys>().mount::<op::AddPasskey>().mount::<op::MakeSetupCode>();
    let api = api.mount::<op::ShowPasskeyToReset>().mount::<op::ResetPasskeys>();
    let api = api.mount::<op::PrepareTouch>().mount::<op::FinishTouch>();
    let api = sign_in::add(api);
    let api = server::add(api).mount::<op::SetHook>().mount::<op::ShowRequestStateKey>();
    let api = local(api);
    let api = pages::add(api);
    open::add(api)
}

/// Adds what the user of this machine alone may do: keys, plans by the word of a key of the folder, the store itself.
fn local(api: Api) -> Api {
    let api = api.mount::<op::ListKeys>().mount::<op::RegisterKey>();
    let api = api.mount::<op::RotateKey>().mount::<op::RevokeKey>();
    let api = api.mount::<op::ListPlans>().mount::<op::ShowPlanHere>().mount::<op::CheckPlanUnder>();
    let api = api.mount::<op::SubmitPlanAs>().mount::<op::ResolveGapAs>().mount::<op::BeginOperationAs>();
    let api = api.mount::<op::ConfirmPlanAs>().mount::<op::AttestPlanAs>();
    let api = api.mount::<op::FindIds>().mount::<op::MakeCheckpoint>();
    api.mount::<op::CheckStore>().mount::<op::ShowStoreCheck>()
}

/// Returns the routes of a service, and the operations behind them.
pub fn router(service: &Shared) -> Router {
    let (router, operations) = all().into_parts();
    let described = Arc::new(open::Described::new(&operations));
    router
        .merge(mcp::route(service))
        .fallback(api::nothing_here)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(axum::Extension(described))
        .layer(middleware::from_fn_with_state(Arc::clone(service), credentials::identify))
        .with_state(Arc::clone(service))
}

/// Returns every operation without its handler.
pub fn operations() -> Vec<Route> {
    all().into_parts().1
}
