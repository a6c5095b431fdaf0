//! Signed messages about identities over HTTP: whether they hold, and what the identity is at a time, the same as from
//! `demur identity verify --json` (CLR-72; identity protocol 1.0.0, `docs/clarify.md` 8). The registry has no part in it.

use axum::{Json, extract::State};
use demur_api::{code::Code, identity::VerifyIdentity, operation, refusal::Refusal};
use demur_clarify::{
    identity::{Found, Verification, VerificationError},
    time::Time,
};
use serde_json::value::RawValue;

use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Document,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::VerifyIdentityMessages>(), verify)
}

async fn verify(
    State(service): State<Shared>,
    Document(given): Document<VerifyIdentity>,
) -> Result<Json<Verification>, Problem> {
    // Two thousand signatures take a while: not on a thread that serves others.
    let verified = service.work(move |service, _| {
        let at = match given.at {
            Some(at) => at,
            None => Time::from(service.premises.now()?),
        };
        let history = found("identity", &given.identity)?;
        let came = found("messages", &given.messages)?;
        Verification::of(&history, &came, given.key, at).map_err(|error| refused(&error))
    });
    Ok(Json(verified.await?))
}

/// Returns the messages of a member, each with its place in the document.
fn found(member: &str, messages: &[Box<RawValue>]) -> Result<Vec<Found>, Refusal> {
    let mut found = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let read = Found::read(message.get().as_bytes(), format!("{member}.{index}"));
        found.push(read.map_err(|error| refused(&error))?);
    }
    Ok(found)
}

fn refused(error: &VerificationError) -> Refusal {
    let hint = match error {
        VerificationError::Unanchored { .. } => {
            "give the agent's earlier messages as `identity`, or its key as `key`"
        }
        _ => {
            "a message is {\"message\": {\"agent_id\", \"timestamp\", \"payload\"}, \"signature\"}; GET /schemas names the schemas of the payloads"
        }
    };
    let field = error.place().map(str::to_owned);
    Refusal { field, ..Refusal::new(Code::of(error.code()), error).with_cure(hint) }
}
