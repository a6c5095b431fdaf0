//! What the desk signed in a session, read from its trace.

use demur_clarify::{
    attestation::Attestation,
    audit::{AuditRecord, RecordSeal},
    chain::Chain,
    document::Document,
    paper::{AcceptancePaper, DocumentPaper, RoundPaper},
    read,
    uuid::Uuid,
};
use demur_core::canonical;
use demur_ledger::{content::PaperContent, facts::PaperKind, name::Sequence};
use serde::{Serialize, de::DeserializeOwned};

use crate::Error;

/// The papers of a session so far.
#[derive(Clone, Debug)]
pub(crate) struct SignedPapers {
    pub(crate) chain: Chain,
    /// The newest seal of the record.
    pub(crate) seal: Option<RecordSeal>,
    document: Option<Document>,
    acceptance: Option<Attestation>,
}

impl SignedPapers {
    pub(crate) const fn new(session: Uuid) -> Self {
        Self { chain: Chain::new(session), seal: None, document: None, acceptance: None }
    }

    /// Takes in a paper that was recorded.
    pub(crate) fn fold(
        &mut self,
        kind: PaperKind,
        at: Sequence,
        content: &PaperContent,
    ) -> Result<(), Error> {
        match kind {
            PaperKind::Round => {
                let paper: RoundPaper = parse(at, content)?;
                self.chain.push(paper.round)?;
                self.seal = Some(paper.record);
            }
            PaperKind::Document => {
                let paper: DocumentPaper = parse(at, content)?;
                self.document = paper.document;
                self.seal = Some(paper.record);
            }
            PaperKind::Acceptance => {
                let paper: AcceptancePaper = parse(at, content)?;
                self.acceptance = Some(paper.attestation);
                self.seal = Some(paper.record);
            }
            PaperKind::Handoff => {}
        }
        Ok(())
    }

    pub(crate) const fn document(&self) -> Option<&Document> {
        self.document.as_ref()
    }

    pub(crate) const fn acceptance(&self) -> Option<&Attestation> {
        self.acceptance.as_ref()
    }

    /// Returns the newest record.
    pub(crate) fn record(&self) -> Result<Option<AuditRecord>, Error> {
        Ok(self.seal.as_ref().map(|seal| self.chain.sealed(seal)).transpose()?)
    }
}

fn parse<T: DeserializeOwned + Serialize>(at: Sequence, content: &PaperContent) -> Result<T, Error> {
    let expected = "a paper of the clarification protocol";
    let bytes = canonical::to_vec(&content.paper).map_err(|_| Error::Trace { at, expected })?;
    Ok(read::from_slice(&bytes)?)
}
