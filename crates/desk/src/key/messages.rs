//! Signed messages about identities: whether they hold, and what the identity is at a time, the same as from
//! `demur identity verify --json` (CLR-72; identity protocol 1.0.0, `docs/clarify.md` 8). The registry has no part in it.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    refusal::Refusal,
};
use demur_clarify::{
    identity::{Found, IdentityVerification, VerificationError},
    time::Time,
};
use serde_json::value::RawValue;

use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
};

impl Handle<op::VerifyIdentityMessages> for Desk {
    fn handle(
        &self,
        _: &Admitted,
        request: ApiRequest<op::VerifyIdentityMessages>,
    ) -> Handled<op::VerifyIdentityMessages> {
        let given = request.body;
        let at = match given.at {
            Some(at) => at,
            None => Time::from(self.now()?),
        };
        let history = found("identity", &given.identity)?;
        let came = found("messages", &given.messages)?;
        let verified =
            IdentityVerification::of(&history, &came, given.key, at).map_err(|error| refused(&error))?;
        Ok(ApiReply::new(verified))
    }
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
