//! The operations of the API, by what they are about.

pub mod drive;
pub mod feed;
pub mod hook;
pub mod identities;
pub mod identity_messages;
pub mod mcp;
pub mod open;
pub mod pages;
pub mod people;
pub mod plans;
pub mod questions;
pub mod runs;
pub mod server;
pub mod sign_in;
pub mod tokens;
pub mod traces;
pub mod verify;

use std::sync::Arc;

use axum::{Router, middleware};
use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_desk::owner::Owner;
use demur_ledger::name::{PrincipalId, TraceId};

use crate::{
    api::{self, Api, Operation},
    caller::Caller,
    gate,
    service::Shared,
};

/// Returns every operation.
pub fn all() -> Api {
    let api = Api::default();
    let api = questions::add(api);
    let api = plans::add(api);
    let api = runs::add(api);
    let api = drive::add(api);
    let api = traces::add(api);
    let api = verify::add(api);
    let api = identities::add(api);
    let api = identity_messages::add(api);
    let api = feed::add(api);
    let api = tokens::add(api);
    let api = people::add(api);
    let api = sign_in::add(api);
    let api = server::add(api);
    let api = hook::add(api);
    let api = pages::add(api);
    open::add(api)
}

/// Returns the routes of a service, and the operations behind them.
pub fn router(service: &Shared) -> Router {
    let (router, operations) = all().into_parts();
    let described = Arc::new(open::Described::new(&operations));
    let inside = router.clone().with_state(Arc::clone(service));
    router
        .merge(mcp::route(service, inside))
        .fallback(api::nothing_here)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(axum::Extension(described))
        .layer(middleware::from_fn_with_state(Arc::clone(service), gate::pass))
        .with_state(Arc::clone(service))
}

/// Returns every operation without its handler.
pub fn operations() -> Vec<Operation> {
    all().into_parts().1
}

/// Checks that a caller may read this trace; one that it may not read is as unknown as one that is not there.
pub(crate) fn check_trace(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<(), Refusal> {
    let takes_part = |principal: PrincipalId| -> Result<bool, Refusal> {
        let state = owner.ledger().look(trace)?;
        Ok(state.trace().is_some_and(|state| state.has_participant(principal)))
    };
    let may = match caller {
        _ if caller.may(&[Scope::Read]) => true,
        Caller::Token(token) => match token.principal {
            Some(principal) if takes_part(principal)? => true,
            Some(_) => plays_in(owner, caller, trace)?,
            None => false,
        },
        Caller::Local { .. } | Caller::Stranger => false,
    };
    if may {
        return Ok(());
    }
    let message = format!("expected a trace of this data folder, found none called {trace}");
    Err(Refusal::new(Code::TraceUnknown, message).with_cure("a token reads the traces it takes part in"))
}

/// Returns whether a caller plays a role in a run, with a key of its own for that role.
fn plays_in(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<bool, Refusal> {
    let seats = caller.seats(owner)?;
    if seats.is_empty() {
        return Ok(false);
    }
    let state = owner.ledger().look(trace)?;
    let plays = |(_, principal): &(_, PrincipalId)| {
        state.trace().is_some_and(|state| state.has_participant(*principal))
    };
    Ok(seats.iter().any(plays))
}
