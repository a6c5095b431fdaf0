//! What a plan became: the whole plan once nothing is missing, its attestation, and whether an attestation holds (CLR-60,
//! CLR-71).

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    plan::{AttestationChecks, AttestedPlan, VerifiedAttestation, WholePlan},
    refusal::Refusal,
};
use demur_clarify::{attestation::Attestation, keys::KeyHistory};
use demur_ledger::role::Role;

use super::seen;
use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
    owner::Owner,
    session,
};

impl Handle<op::ShowWholePlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowWholePlan>) -> Handled<op::ShowWholePlan> {
        let found = seen(&*self.owner()?, by.caller(), request.path.session)?;
        let plan = found.whole_plan().ok_or_else(|| {
            let open: Vec<_> = found.open_gaps().map(|gap| gap.id.to_string()).collect();
            let message = format!("expected a plan without open gaps, found {}", open.join(", "));
            Refusal::new(Code::NeedsClarification, message).with_cure("settle them first")
        })?;
        Ok(ApiReply::new(WholePlan { plan }))
    }
}

impl Handle<op::ShowAttestation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ShowAttestation>,
    ) -> Handled<op::ShowAttestation> {
        let found = seen(&*self.owner()?, by.caller(), request.path.session)?;
        let attestation = found.attestation()?.ok_or_else(|| {
            let message = format!("expected a plan that is attested, found {}", found.standing().as_str());
            Refusal::new(Code::NotAttested, message).with_cure("attest what was made of it first")
        })?;
        Ok(ApiReply::new(AttestedPlan { attestation, event: None }))
    }
}

impl Handle<op::VerifyAttestation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::VerifyAttestation>,
    ) -> Handled<op::VerifyAttestation> {
        let (owner, attestation) = (&*self.owner()?, request.body.attestation);
        let found = seen(owner, by.caller(), attestation.session_id)?;
        verified(owner, &found, &attestation).map(ApiReply::new)
    }
}

fn verified(
    owner: &Owner,
    session: &demur_plan::Session,
    attestation: &Attestation,
) -> Result<VerifiedAttestation, Refusal> {
    let record = session.audit()?;
    // The desk may have another key by now: the one that signed has to have been its own.
    let registry = owner.sequencer().registry();
    let desk = registry.keys().filter(|(_, entry)| entry.roles.contains(&Role::Desk));
    let signer = session::signer_of(owner, session)?;
    let name = signer.agent_id();
    let own = KeyHistory::known(name.clone(), desk.map(|(_, entry)| entry.public.into()));
    let key = attestation.agent_public_key;
    let was_own = own.has(&key);
    let pinned = KeyHistory::pinned(name.clone(), key);
    let input = attestation.signing_input().map_err(demur_plan::Error::from)?;
    let seal = pinned.verify("signature", attestation.timestamp, &input, &attestation.signature);
    let whole = attestation.verify(&pinned, &record);
    let chain = record.verify(&own, &[]);
    let recorded =
        session.attestation()?.as_ref() == Some(attestation) || session.acceptance() == Some(attestation);
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
