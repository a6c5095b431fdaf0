//! From a plan without gaps to the attestation of what was made of it. Each tool looks first whether a gap is open, and
//! refuses while one is (CLR-61, CLR-63).

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, NoArguments, Nothing, OfPlan, ShowAttestation},
    plan::{AttestPlan, ConfirmPlan, MadeFile, VerifiedAttestation, VerifyAttestation},
    refusal::Refusal,
};
use demur_clarify::{attestation::Attestation, status::PlanStatus, uuid::Uuid};
use rmcp::model::CallToolResponse;

use super::{Attested, Standing, Verified, guard, record, told};
use crate::{
    arguments::{
        self,
        plan::{GivenAttestation, GivenSession, Made},
    },
    host::CallerConnection,
    reply::{self, Stop},
    tool_call::ToolCall,
};

/// Confirms a plan with every answer in it.
pub(crate) async fn confirm(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &GivenSession,
) -> Result<CallToolResponse, Stop> {
    if let Err(refused) = guard(call, given.session_id).await? {
        return Ok(refused.into());
    }
    let standing = confirming(call, given.session_id).await?;
    Ok(told(&standing).into())
}

async fn confirming(call: &ToolCall<'_, impl CallerConnection>, session: Uuid) -> Result<Standing, Stop> {
    let body = ConfirmPlan { agent: None };
    let request = ApiRequest::<operation::ConfirmPlan>::send(OfPlan { session }, body);
    Ok(Standing::of(call.visitor.ask(request).await?))
}

/// Confirms a plan, where that was not done, and attests what was made of it.
pub(crate) async fn attest(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Made,
) -> Result<CallToolResponse, Stop> {
    let standing = match guard(call, given.session_id).await? {
        Err(refused) => return Ok(refused.into()),
        Ok(standing) => standing,
    };
    if standing.status == PlanStatus::ReadyToProceed {
        confirming(call, given.session_id).await?;
    }
    attesting(call, given, true).await
}

/// Attests what was made of a confirmed plan.
pub(crate) async fn sign(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Made,
) -> Result<CallToolResponse, Stop> {
    match guard(call, given.session_id).await? {
        Err(refused) => Ok(refused.into()),
        Ok(_) => attesting(call, given, false).await,
    }
}

async fn attesting(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Made,
    whole: bool,
) -> Result<CallToolResponse, Stop> {
    let file = |file: &arguments::plan::MadeFile| MadeFile { path: file.path.clone(), sha256: file.sha256 };
    let files = given.files.iter().map(file).collect::<Vec<_>>();
    let body = AttestPlan {
        output_path: given.output_path.clone(),
        files: files.try_into().map_err(|error| Refusal::bug(&error))?,
        program_version: given.program_version.clone(),
        agent: None,
    };
    let path = OfPlan { session: given.session_id };
    let reply = call.visitor.ask(ApiRequest::<operation::AttestPlan>::send(path, body)).await?;
    let attested = Attested::of(reply.attestation, whole);
    let words = attested.words();
    Ok(reply::with(&attested, words).into())
}

/// Says whether an attestation holds, and why not.
pub(crate) async fn verify(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &GivenAttestation,
) -> Result<CallToolResponse, Stop> {
    let attestation = match (&given.attestation, given.session_id) {
        (Some(attestation), _) => attestation.clone(),
        (None, Some(session)) => recorded(call, session).await?,
        (None, None) => {
            let message = "expected an attestation or a session_id, found neither";
            return Err(Refusal::new(Code::Arguments, message).into());
        }
    };
    let body = VerifyAttestation { attestation };
    let request = ApiRequest::<operation::VerifyAttestation>::send(NoArguments {}, body);
    let VerifiedAttestation { valid, checks, reason } = call.visitor.ask(request).await?;
    let verified = Verified { valid, checks, reason };
    let why = verified.reason.as_deref().map_or_else(String::new, |why| format!(": {why}"));
    let words = format!("{}{why}.", if verified.valid { "Valid" } else { "Not valid" });
    Ok(reply::with(&verified, words).into())
}

/// Gives an attestation with the rounds before it.
pub(crate) async fn audit(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &GivenSession,
) -> Result<CallToolResponse, Stop> {
    let attestation = recorded(call, given.session_id).await?;
    let record = record(&call.visitor, given.session_id).await?;
    let attested = Attested::of(attestation, true).with_rounds(&record);
    let words = attested.words();
    Ok(reply::with(&attested, words).into())
}

async fn recorded(call: &ToolCall<'_, impl CallerConnection>, session: Uuid) -> Result<Attestation, Stop> {
    let found = call.visitor.ask(ApiRequest::<ShowAttestation>::get(OfPlan { session }, Nothing {})).await?;
    Ok(found.attestation)
}
