//! What the desk has to sign about something that is about to be recorded: worked out with the rules, signed once the
//! time is known.

use demur_clarify::{
    answer::AnsweredFor,
    ask::Ask,
    attestation::{Attestation, Outputs, Particulars},
    chain::Chain,
    document::Document,
    gap::AnswerText,
    name::AgentId,
    paper::{AcceptancePaper, DocumentPaper, RoundPaper},
    seal::Signer,
    time::Time,
    uuid::Uuid,
};
use demur_core::{
    limit::{List, Text, Whole},
    time::Timestamp,
};
use demur_engine::command::{Saying, Signing};
use demur_ledger::{
    content::PaperContent,
    event_type::{Content, Facts},
    facts::{Assurance, PaperKind, PaperRecorded},
    name::Sequence,
    role::Role,
};
use demur_rules::Plan;
use serde::Serialize;
use serde_json::{Map, Value};

use super::object;
use crate::{
    Error, Session,
    act::{Act, members},
    error::limit,
    gap,
    view::OpenGaps,
};

/// What the desk signs with, when, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct DeskHand<'a> {
    /// Its key.
    pub desk: &'a Signer,
    /// The time and the registry.
    pub signing: Signing,
    /// Whoever speaks: the name of a person, or the principal of a key.
    pub speaker: &'a str,
    /// The name of an attestation, should one be signed.
    pub attestation: Uuid,
}

/// Papers that lack their time and their signatures.
#[derive(Clone, Debug)]
pub struct UnsignedPapers {
    session: Uuid,
    /// The event they are about.
    about: Sequence,
    /// The name under which the documents before were signed.
    signed_as: Option<AgentId>,
    /// When the event before it was recorded.
    not_before: Timestamp,
    /// How often a gap was put before.
    asks: u64,
    chain: Chain,
    gaps: OpenGaps,
    round: Option<UnsignedRound>,
    /// The plan that is confirmed.
    confirmed: Option<Map<String, Value>>,
    /// Whether nothing is asked any more although gaps are open: the plan is withdrawn.
    is_withdrawn: bool,
}

/// A round that lacks its time and its signature.
#[derive(Clone, Debug)]
pub(crate) struct UnsignedRound {
    pub(crate) ask: Ask,
    pub(crate) answer: AnswerText,
    pub(crate) resolved: bool,
    pub(crate) assurance: Assurance,
}

impl Session {
    /// Returns the papers of the next event, after which these gaps are open.
    pub(crate) fn papers(&self, gaps: OpenGaps) -> Result<UnsignedPapers, Error> {
        let expected = "an event before it";
        let head = self.head().ok_or(Error::Trace { at: Sequence::FIRST, expected })?;
        Ok(UnsignedPapers {
            session: self.uuid,
            about: head.sequence.next(),
            signed_as: self.signed_as(),
            not_before: self.newest,
            asks: self.asks,
            chain: self.papers.chain.clone(),
            gaps,
            round: None,
            confirmed: None,
            is_withdrawn: false,
        })
    }
}

impl UnsignedPapers {
    /// Returns those of a submission.
    pub(crate) fn opening(session: Uuid, gaps: OpenGaps) -> Self {
        let (about, not_before, chain) = (Sequence::FIRST, Timestamp::MIN, Chain::new(session));
        let (round, confirmed, is_withdrawn, signed_as) = (None, None, false, None);
        Self { session, about, signed_as, not_before, asks: 0, chain, gaps, round, confirmed, is_withdrawn }
    }

    /// Returns them without a document that asks. What was open stays open in the record.
    pub(crate) fn without_document(self) -> Self {
        Self { is_withdrawn: true, ..self }
    }

    pub(crate) fn with_round(self, round: UnsignedRound) -> Self {
        Self { round: Some(round), ..self }
    }

    pub(crate) fn with_acceptance(self, plan: &Plan) -> Self {
        Self { confirmed: Some(members(plan)), ..self }
    }

    /// Signs the asks among what the desk says, and adds the papers.
    fn sign(mut self, sayings: &mut Vec<Saying>, hand: &DeskHand<'_>) -> Result<(), Error> {
        let at = Time::from(hand.signing.at);
        for saying in sayings.iter_mut() {
            self.sign_ask(saying, at, hand.desk)?;
        }
        if let Some(UnsignedRound { ask, answer, resolved, assurance }) = self.round.take() {
            let answered_for = AnsweredFor {
                assurance: Text::try_from(assurance.as_str()).map_err(limit("assurance"))?,
                name: Text::cut(hand.speaker).map_err(limit("by"))?,
            };
            let round = self.chain.record_for(&ask, (answer, at), resolved, Some(answered_for), hand.desk)?;
            let round = round.clone();
            let record = self.chain.seal_with(&self.gaps.open, hand.desk)?.to_seal();
            sayings.push(paper(self.about, PaperKind::Round, &RoundPaper { record, round })?);
        }
        let record = self.chain.seal_with(&self.gaps.open, hand.desk)?;
        let seal = record.to_seal();
        let last = if let Some(plan) = self.confirmed.take() {
            let outputs = Outputs::new(nowhere()?, List::default())?;
            let attestation = Attestation::sign(particulars(hand, at)?, &plan, outputs, &record, hand.desk)?;
            paper(self.about, PaperKind::Acceptance, &AcceptancePaper { attestation, record: seal })?
        } else {
            let document = self.document(at, hand.desk)?;
            paper(self.about, PaperKind::Document, &DocumentPaper { document, record: seal })?
        };
        sayings.push(last);
        Ok(())
    }

    fn sign_ask(&mut self, saying: &mut Saying, at: Time, desk: &Signer) -> Result<(), Error> {
        let (Facts::GapFound(facts), Some(Content::GapFound(content))) = (&saying.facts, &mut saying.content)
        else {
            return Ok(());
        };
        self.asks += 1;
        let round = Whole::try_from(self.asks).map_err(limit("round"))?;
        let gap = gap::of_saying(&facts.0, content)?;
        content.ask = Some(object(&Ask::sign(self.session, round, gap, at, desk)?)?);
        Ok(())
    }

    /// Returns the document that asks for what is open.
    fn document(&self, at: Time, desk: &Signer) -> Result<Option<Document>, Error> {
        let OpenGaps { open, total } = &self.gaps;
        if open.is_empty() || self.is_withdrawn {
            return Ok(None);
        }
        let accepted = Whole::try_from((total - open.len()) as u64).map_err(limit("accepted_gaps"))?;
        let gaps = List::try_from(open.clone()).map_err(limit("gaps"))?;
        Ok(Some(Document::sign(self.session, at, gaps, accepted, desk)?))
    }
}

impl Act {
    /// Returns the earliest time that what the desk signs may carry; none where it signs nothing.
    pub fn not_before(&self) -> Option<Timestamp> {
        self.papers.as_ref().map(|papers| papers.not_before)
    }

    /// Returns the name under which the session's documents were signed so far; none where there are none.
    pub fn signed_as(&self) -> Option<AgentId> {
        self.papers.as_ref()?.signed_as.clone()
    }

    /// Returns what is to be recorded, with everything that the desk signs.
    pub fn signed(mut self, hand: &DeskHand<'_>) -> Result<Self, Error> {
        if let Some(papers) = self.papers.take() {
            if let Content::AnswerRejected(content) = &mut self.content {
                content.by = Text::cut(hand.speaker).map_err(limit("by"))?;
            }
            papers.sign(&mut self.consequences.sayings, hand)?;
            self.consequences.signing = Some(hand.signing);
        }
        Ok(self)
    }
}

fn paper(about: Sequence, kind: PaperKind, paper: &impl Serialize) -> Result<Saying, Error> {
    let content = Some(Content::PaperRecorded(PaperContent { paper: object(paper)? }));
    Ok(Saying { role: Role::Desk, facts: PaperRecorded { about, kind }.into(), content })
}

/// Returns what the attestation of a confirmed plan says of itself: nothing is made of it yet.
fn particulars(hand: &DeskHand<'_>, at: Time) -> Result<Particulars, Error> {
    Ok(Particulars {
        attestation_id: hand.attestation,
        agent_version: Text::try_from(env!("CARGO_PKG_VERSION")).map_err(limit("agent_version"))?,
        timestamp: at,
        compliance_claims: List::default(),
        deterministic: None,
    })
}

/// Returns the folder of what is not made yet.
fn nowhere() -> Result<Text<1, 1024>, Error> {
    Text::try_from(".").map_err(limit("output_path"))
}
