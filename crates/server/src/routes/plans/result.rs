//! What a plan became: the whole plan once nothing is missing, its attestation, and whether an attestation holds (CLR-60,
//! CLR-71).

use axum::{Extension, Json, extract::State};
use demur_api::{
    code::Code,
    operation,
    plan::{AttestationChecks, AttestedPlan, VerifiedAttestation, VerifyAttestation, WholePlan},
    refusal::Refusal,
};
use demur_clarify::{attestation::Attestation, keys::KeyHistory, uuid::Uuid};
use demur_desk::{owner::Owner, session};
use demur_ledger::role::Role;

use super::seen;
use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::ShowWholePlan>(), whole)
        .with(Operation::of::<operation::ShowAttestation>(), attestation)
        .with(Operation::of::<operation::VerifyAttestation>(), verify)
}

async fn whole(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
) -> Result<Json<WholePlan>, Problem> {
    let found = service.work(move |_, owner| {
        let found = seen(owner, &caller, session)?;
        let plan = found.whole_plan().ok_or_else(|| {
            let open: Vec<_> = found.open_gaps().map(|gap| gap.id.to_string()).collect();
            let message = format!("expected a plan without open gaps, found {}", open.join(", "));
            Refusal::new(Code::NeedsClarification, message).with_cure("settle them first")
        })?;
        Ok(WholePlan { plan })
    });
    Ok(Json(found.await?))
}

async fn attestation(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
) -> Result<Json<AttestedPlan>, Problem> {
    let found = service.work(move |_, owner| {
        let found = seen(owner, &caller, session)?;
        let attestation = found.attestation()?.ok_or_else(|| {
            let message = format!("expected a plan that is attested, found {}", found.standing().as_str());
            Refusal::new(Code::NotAttested, message).with_cure("attest what was made of it first")
        })?;
        Ok(AttestedPlan { attestation, event: None })
    });
    Ok(Json(found.await?))
}

async fn verify(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Document(given): Document<VerifyAttestation>,
) -> Result<Json<VerifiedAttestation>, Problem> {
    let verified = service.work(move |_, owner| {
        let found = seen(owner, &caller, given.attestation.session_id)?;
        verified(owner, &found, &given.attestation)
    });
    Ok(Json(verified.await?))
}

fn verified(
    owner: &Owner,
    session: &demur_plan::Session,
    attestation: &Attestation,
) -> Result<VerifiedAttestation, Refusal> {
    let signer = session::signer(owner.ledger(), owner.keystore())?;
    let record = session.audit(&signer)?;
    let own = KeyHistory::single(&signer);
    let key = attestation.agent_public_key;
    // The desk may have another key by now: the one that signed has to have been its own.
    let was_own = owner
        .ledger()
        .registry()
        .keys()
        .any(|(_, entry)| entry.roles.contains(&Role::Desk) && entry.public == *key.bare());
    let pinned = KeyHistory::pinned(session::name(), key);
    let input = attestation.signing_input().map_err(demur_plan::Error::from)?;
    let seal = pinned.verify("signature", attestation.timestamp, &input, &attestation.signature);
    let whole = attestation.verify(&pinned, &record);
    let chain = record.verify(&own, &[]);
    let recorded = session.attestation()?.as_ref() == Some(attestation);
    let checks = AttestationChecks {
        signature: was_own && seal.is_ok(),
        hash_chain: whole.is_ok(),
        clarification_chain: chain.is_ok(),
        recorded,
    };
    let valid = checks.signature && checks.hash_chain && checks.clarification_chain && checks.recorded;
    let reason = if valid {
        None
    } else if !was_own {
        Some("it is signed with a key that was never this desk's".to_owned())
    } else {
        let found = seal.map(drop).and(whole).and(chain.map(drop)).err().map(|error| error.to_string());
        Some(found.unwrap_or_else(|| "another attestation is on record, or none".to_owned()))
    };
    Ok(VerifiedAttestation { valid, checks, reason })
}
