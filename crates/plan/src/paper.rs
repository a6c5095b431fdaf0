//! The papers of a session: documents of the clarification protocol that the desk signs when something happens, in the
//! same commit, and that everybody reads from then on. Nothing is signed by asking for it (CLR-04, CLR-20, CLR-24, CLR-50,
//! CLR-61, CLR-70, CLR-71).

mod signed;
mod unsigned;

use demur_clarify::{
    attestation::{Attestation, Outputs, Particulars},
    audit::AuditRecord,
    document::Document,
    handoff::{self, Handoff},
    name::AgentId,
    seal::Signer,
    uuid::Uuid,
};
use demur_core::{
    canonical,
    limit::{List, Text},
};
use demur_engine::command::{Consequences, Signing};
use demur_ledger::{
    content::{AttestationContent, PaperContent},
    event_type::Content,
    facts::{PaperKind, PaperRecorded, PlanAttested},
    name::Sequence,
};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use signed::SignedPapers;
pub(crate) use unsigned::UnsignedRound;
pub use unsigned::{DeskHand, UnsignedPapers};

use crate::{
    Error, Session,
    act::{Act, members},
    error::limit,
};

impl Session {
    /// Returns the name under which the documents of this session are signed; none where nothing was asked yet.
    pub fn signed_as(&self) -> Option<AgentId> {
        let asked = self.gaps.iter().find_map(|gap| gap.content.ask.as_ref());
        asked?.get("agent_id")?.as_str()?.parse().ok()
    }

    /// Returns the document that asks, as it was signed; there is none once every gap is settled.
    pub const fn document(&self) -> Option<&Document> {
        self.papers.document()
    }

    /// Returns the audit record of every round so far, as it was signed.
    pub fn audit(&self) -> Result<AuditRecord, Error> {
        let at = self.head().map_or(Sequence::FIRST, |head| head.sequence);
        self.papers.record()?.ok_or(Error::Trace { at, expected: "the signed record of the session" })
    }

    /// Returns the attestation of the plan as it was confirmed; none before that (CLR-30).
    pub const fn acceptance(&self) -> Option<&Attestation> {
        self.papers.acceptance()
    }

    /// Returns the plan with every answer in it; none while a gap is open, or where one was when the plan was withdrawn (CLR-60).
    pub fn whole_plan(&self) -> Option<Map<String, Value>> {
        self.is_all_resolved().then(|| members(&self.plan))
    }

    /// Returns the attestation of what was made of the plan; refused while a gap is open.
    pub fn attest(
        &self,
        particulars: Particulars,
        outputs: Outputs,
        desk: &Signer,
    ) -> Result<Attestation, Error> {
        Ok(Attestation::sign(particulars, &members(&self.plan), outputs, &self.audit()?, desk)?)
    }

    /// Returns what the agent says to record an attestation of its confirmed plan.
    pub fn attesting(&self, confirmed: Sequence, attestation: &Attestation) -> Result<Act, Error> {
        Ok(Act {
            facts: PlanAttested { confirmed }.into(),
            content: Content::PlanAttested(AttestationContent { attestation: object(attestation)? }),
            consequences: Consequences::default(),
            papers: None,
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

    /// Returns the package for whoever goes on with the work, and what the desk says to keep it.
    pub fn handoff(
        &self,
        handoff_id: Uuid,
        task: &str,
        (signing, desk): (Signing, &Signer),
    ) -> Result<(Act, Handoff), Error> {
        let description = Text::cut(task).map_err(limit("task"))?;
        let mut context = handoff::Context::new(description, self.audit()?)?;
        context.attestation = self.attestation()?.or_else(|| self.acceptance().cloned());
        let task_id = Text::try_from(self.uuid.to_string().as_str()).map_err(limit("task_id"))?;
        let handoff = Handoff::sign(handoff_id, task_id, context, List::default(), desk)?;
        let about = self.head().map_or(Sequence::FIRST, |head| head.sequence);
        let act = Act {
            facts: PaperRecorded { about, kind: PaperKind::Handoff }.into(),
            content: Content::PaperRecorded(PaperContent { paper: object(&handoff)? }),
            consequences: Consequences { after: self.head(), signing: Some(signing), sayings: Vec::new() },
            papers: None,
        };
        Ok((act, handoff))
    }
}

/// Returns a document as the members of its JSON.
pub(crate) fn object(document: &impl Serialize) -> Result<Map<String, Value>, Error> {
    let bytes = canonical::to_vec(document).map_err(|_| unwritable(Sequence::FIRST))?;
    serde_json::from_slice(&bytes).map_err(|_| unwritable(Sequence::FIRST))
}

const fn unwritable(at: Sequence) -> Error {
    Error::Trace { at, expected: "a document in canonical JSON" }
}
