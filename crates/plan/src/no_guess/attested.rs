//! The attestation of a plan, held against its trace: the plan, the rounds, the session, its hashes, and that a key of the
//! desk signed it which could speak then.

use demur_core::key::Fingerprint;
use demur_ledger::{envelope::Event, registry::Registry};

use super::Check;
use crate::{Error, act};

impl Check<'_> {
    /// Checks the attestation that an event records.
    pub(super) fn check_attestation(&mut self, event: &Event) -> Result<(), Error> {
        let at = event.position().sequence;
        let Some(attestation) = self.session.attestation()? else { return Ok(()) };
        let rounds = self.session.rounds.len() as u64;
        let found = attestation.inputs.clarification_rounds();
        let mut wrong = Vec::new();
        if attestation.inputs.plan() != act::members(&self.session.plan) {
            wrong.push("expected an attestation of the confirmed plan, found another plan in it".to_owned());
        }
        if found != rounds {
            wrong.push(format!("expected {rounds} rounds in the attestation, found {found}"));
        }
        if let Err(error) = attestation.verify_alone(self.session.uuid()) {
            wrong.push(format!("the attestation does not hold: {error}"));
        }
        let signer = attestation.agent_public_key.bare().fingerprint();
        let pin = event.envelope().registry.map(|pin| pin.sequence);
        if let (Some(registry), Some(pin)) = (self.registry, pin)
            && !is_desk(registry, &signer, pin)
        {
            wrong.push("expected an attestation signed by the desk, found another key".to_owned());
        }
        for message in wrong {
            self.problem(at, "ATTESTATION_DIFFERS", message);
        }
        Ok(())
    }
}

fn is_desk(registry: &Registry, signer: &Fingerprint, at: demur_ledger::name::Sequence) -> bool {
    registry.desk_key(signer, at).is_ok()
}
