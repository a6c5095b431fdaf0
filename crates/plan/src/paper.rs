//! The documents of the clarification protocol, made from a session: the same session gives the same bytes, so a
//! duplicate request gets the same response (CLR-04, CLR-20, CLR-50, CLR-61, CLR-70, CLR-71).

use demur_clarify::{
    attestation::{Attestation, Outputs, Particulars},
    audit::AuditRecord,
    chain::Chain,
    document::Document,
    gap::AnswerText,
    handoff::{self, Handoff},
    seal::Signer,
    time::Time,
    uuid::Uuid,
};
use demur_core::{
    canonical,
    limit::{List, Text, Whole},
};
use demur_engine::command::Consequences;
use demur_ledger::{content::AttestationContent, event_type::Content, facts::PlanAttested, name::Sequence};
use serde_json::{Map, Value};

use crate::{
    Error, Session,
    act::{Act, members},
    error::limit,
};

impl Session {
    /// Returns the document that asks; there is none once every gap is settled.
    pub fn document(&self, desk: &Signer) -> Result<Document, Error> {
        let gaps = self.open_gaps().map(super::session::Gap::to_clarify).collect::<Result<Vec<_>, _>>()?;
        if gaps.is_empty() {
            return Err(Error::NothingOpen);
        }
        let gaps = List::try_from(gaps).map_err(limit("gaps"))?;
        let accepted = Whole::try_from(self.accepted()).map_err(limit("accepted_gaps"))?;
        Ok(Document::sign(self.uuid, Time::from(self.changed), gaps, accepted, desk)?)
    }

    /// Returns the audit record of every round so far.
    pub fn audit(&self, desk: &Signer) -> Result<AuditRecord, Error> {
        let mut chain = Chain::new(self.uuid);
        let mut put = self.submitted_at;
        for round in &self.rounds {
            // A round is put after the one before it, even where its gap was found earlier.
            put = put.max(round.asked);
            let ask = chain.ask(round.gap.clone(), Time::from(put), desk)?;
            let answer = AnswerText::cut(&round.answer).map_err(limit("answer"))?;
            let answered = Time::from(round.answered.max(put));
            chain.record(&ask, answer, answered, round.resolved, desk)?;
        }
        Ok(chain.seal(self.open_gaps().next().is_some(), desk)?)
    }

    /// Returns the plan with every answer in it; none while a gap is open (CLR-60).
    pub fn whole_plan(&self) -> Option<Map<String, Value>> {
        self.open_gaps().next().is_none().then(|| members(&self.plan))
    }

    /// Returns the attestation of what was made of the plan; refused while a gap is open.
    pub fn attest(
        &self,
        particulars: Particulars,
        outputs: Outputs,
        desk: &Signer,
    ) -> Result<Attestation, Error> {
        let record = self.audit(desk)?;
        Ok(Attestation::sign(particulars, &members(&self.plan), outputs, &record, desk)?)
    }

    /// Returns what the agent says to record an attestation of its confirmed plan.
    pub fn attesting(&self, confirmed: Sequence, attestation: &Attestation) -> Result<Act, Error> {
        let bytes = canonical::to_vec(attestation).map_err(|_| unwritable(confirmed))?;
        let attestation = serde_json::from_slice(&bytes).map_err(|_| unwritable(confirmed))?;
        Ok(Act {
            facts: PlanAttested { confirmed }.into(),
            content: Content::PlanAttested(AttestationContent { attestation }),
            consequences: Consequences::default(),
        })
    }

    /// Returns the attestation that was recorded, if one was.
    pub fn attestation(&self) -> Result<Option<Attestation>, Error> {
        let read = |members| {
            let bytes = canonical::to_vec(members).map_err(|_| unwritable(Sequence::FIRST))?;
            Ok(demur_clarify::read::from_slice(&bytes)?)
        };
        self.attested.as_ref().map(read).transpose()
    }

    /// Returns the package for whoever goes on with the work.
    pub fn handoff(&self, handoff_id: Uuid, task: &str, desk: &Signer) -> Result<Handoff, Error> {
        let record = self.audit(desk)?;
        let description = Text::cut(task).map_err(limit("task"))?;
        let mut context = handoff::Context::new(description, record)?;
        context.attestation = self.attestation()?;
        let task_id = Text::try_from(self.uuid.to_string().as_str()).map_err(limit("task_id"))?;
        Ok(Handoff::sign(handoff_id, task_id, context, List::default(), desk)?)
    }
}

const fn unwritable(at: Sequence) -> Error {
    Error::Trace { at, expected: "an attestation in canonical JSON" }
}
