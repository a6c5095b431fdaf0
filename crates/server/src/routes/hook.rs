//! What a hook of a client asks: which questions stop an agent now. Whoever asks so is stopped from then on: marks are kept
//! for it, and it cannot call off its own questions.

use axum::{Json, extract::State};
use demur_api::{
    hook::{Hook, Stopped},
    operation,
};
use demur_core::limit::Text;
use demur_desk::marks;

use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Document,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::SetHook>(), hook)
}

async fn hook(
    State(service): State<Shared>,
    Document(given): Document<Hook>,
) -> Result<Json<Stopped>, Problem> {
    let address = service.address();
    let found = service.work(move |_, owner| {
        let names: Vec<&str> = given.askers.iter().map(Text::as_str).collect();
        let questions = marks::name(owner, &names, !given.off)?;
        Ok(Stopped { questions, address })
    });
    Ok(Json(found.await?))
}
