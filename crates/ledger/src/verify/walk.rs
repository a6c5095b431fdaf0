//! The lines of the trace in order: what needs those before it.

mod anchored;
mod clients;
mod finish;

use std::collections::{BTreeMap, BTreeSet};

use demur_core::{
    commitment::Commitment,
    hash::Digest,
    key::{Fingerprint, Signature},
};

use self::clients::own_judge;
use super::{
    Code, Options, StatedChecks,
    acts::ActBook,
    claims::ClaimBook,
    conditions::ConditionBook,
    erased::ErasureBook,
    examine::{self, Bytes, Examined, Item, Part},
    finding::{Findings, Found, Section},
    input::End,
    opening::Names,
    papers::PaperBook,
    report::{Anchors, Report},
    sandbox::SandboxBook,
    stated::Outcomes,
    terms::TermsBook,
    trail::Trail,
};
use crate::{
    envelope::{Event, Said},
    event_type::Facts,
    export::{Disclosure, Header},
    meaning::{ArtifactDigests, Known, Meaning},
    name::{ClientId, Sequence},
    proof::ProofKind,
    question::RestedBook,
    registry::Registry,
    role::Role,
    signed::{Checkpoint, Inclusion, Signed},
    state::GuardError,
    timeline::Words,
    trace_state::TraceState,
};

/// Where in the file the walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Events,
    Inclusions,
    Checkpoint,
    /// A line could not be read: nothing after it counts.
    Broken,
}

/// The walk through the trace.
pub(super) struct Walk<'a> {
    pub(super) registry: &'a Registry,
    pub(super) trail: Trail,
    pub(super) registry_trail: Option<Trail>,
    /// The state of the run; none once the replay had to stop, or in a registry export.
    pub(super) state: Option<TraceState>,
    /// The bytes that were disclosed so far, by digest.
    artifacts: ArtifactDigests,
    /// The checks that may come, and what came of them where the bytes went by, by artifact.
    stated: &'a StatedChecks,
    outcomes: BTreeMap<Sequence, Outcomes>,
    pub(super) claims: ClaimBook,
    pub(super) conditions: ConditionBook,
    pub(super) rested: RestedBook,
    pub(super) acts: ActBook,
    pub(super) sandbox: SandboxBook,
    terms: TermsBook,
    /// SHA-256 of the text of the policy, where that is disclosed.
    pub(super) policy_hash: Option<Digest>,
    papers: PaperBook,
    pub(super) erasures: ErasureBook,
    pub(super) speakers: BTreeMap<Fingerprint, Spoken>,
    /// The clients through which acts came.
    pub(super) clients: BTreeSet<ClientId>,
    /// The touches of each passkey.
    pub(super) touches: BTreeMap<Fingerprint, Touches>,
    pub(super) records: BTreeMap<String, u64>,
    pub(super) checkpoint: Option<(u64, Signed<Checkpoint>)>,
    stage: Stage,
    after_head: bool,
    /// What was recorded by the event before, and must come next.
    awaited: Option<Awaited>,
    inclusions: Vec<Inclusion>,
    signatures: bool,
    whole: bool,
}

/// Bytes whose line must come next.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    event: Sequence,
    commitment: Commitment,
    is_report: bool,
}

/// How much one key said, and where last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spoken {
    pub(super) statements: u64,
    pub(super) last: Sequence,
}

/// The touches of one passkey: by what was signed with each, since one may stand in several events.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    pub(super) signatures: BTreeSet<Signature>,
    /// The most statements that one of them signed.
    pub(super) most_at_once: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        header: &Header,
        registry: &'a Registry,
        registry_trail: Option<Trail>,
        options: &'a Options,
    ) -> Self {
        let of_the_registry = header.trace == registry.trace();
        Self {
            registry,
            trail: Trail::new(header.trace, &options.receipts),
            registry_trail,
            state: (!of_the_registry).then(TraceState::default),
            artifacts: ArtifactDigests::new(),
            stated: &options.checks,
            outcomes: BTreeMap::new(),
            claims: ClaimBook::default(),
            conditions: ConditionBook::default(),
            rested: RestedBook::new(),
            acts: ActBook::default(),
            sandbox: SandboxBook::default(),
            terms: TermsBook::default(),
            policy_hash: None,
            papers: PaperBook::default(),
            erasures: ErasureBook::default(),
            speakers: BTreeMap::new(),
            clients: BTreeSet::new(),
            touches: BTreeMap::new(),
            records: BTreeMap::new(),
            checkpoint: None,
            stage: if of_the_registry { Stage::Inclusions } else { Stage::Events },
            after_head: false,
            awaited: None,
            inclusions: Vec::new(),
            signatures: options.signatures,
            whole: false,
        }
    }

    /// Returns whether the file holds inclusion proofs.
    pub(super) const fn has_inclusions(&self) -> bool {
        !self.inclusions.is_empty()
    }

    /// Returns whether the rest of the file still counts.
    pub(super) fn goes_on(&self) -> bool {
        self.stage != Stage::Broken
    }

    /// Takes one line. What was found of it goes to the findings; the rest stays where it is, to be freed at once
    /// with its neighbours.
    pub(super) fn take(&mut self, line: u64, text: &[u8], item: &mut Item, findings: &mut Findings) {
        if !self.goes_on() {
            return;
        }
        let mut found = std::mem::take(&mut item.found);
        let mut sequence = None;
        if let Err(finding) = self.check_place(&item.part) {
            self.stage = Stage::Broken;
            found.push(finding);
        } else {
            match &mut item.part {
                Part::Event(examined) => {
                    self.after_head = false;
                    // By its place in the file: the number it gives itself may be the lie.
                    sequence = Some(self.trail.next());
                    self.erasures.take(self.trail.next(), line, examined, Section::Trace);
                    self.take_event(line, examined, &mut found);
                }
                Part::Artifact(bytes) => {
                    sequence = Some(bytes.event);
                    self.erasures.note(bytes.event, bytes.disclosure);
                    self.take_artifact(bytes, text, &mut found);
                }
                Part::Head(head) => {
                    self.after_head = true;
                    let checked = self.trail.check_head(head, self.registry, self.signatures);
                    found.extend(checked.err());
                }
                Part::Inclusion(inclusion) => {
                    found.extend(self.check_inclusion(inclusion).err());
                    self.inclusions.push(inclusion.clone());
                }
                Part::Checkpoint(checkpoint) => self.checkpoint = Some((line, checkpoint.clone())),
                Part::UnreadableEvent => sequence = Some(self.trail.next()),
                Part::Header(_) | Part::Unreadable => {}
            }
        }
        found.sort_by_key(|finding| finding.code.check());
        for finding in found {
            findings.add(Section::Trace, Some(line), sequence, finding);
        }
    }

    /// Reports why no more lines came.
    pub(super) fn end(&mut self, line: u64, end: End, findings: &mut Findings) {
        let after_checkpoint = self.stage == Stage::Checkpoint;
        if end == End::Whole && after_checkpoint {
            self.whole = true;
        } else if self.goes_on() {
            let (code, message) = if after_checkpoint {
                (Code::FileMalformed, "expected nothing after the checkpoint")
            } else {
                super::opening::ending(end)
            };
            findings.add(Section::File, Some(line), None, Found::new(code, message));
            self.stage = Stage::Broken;
        }
    }

    /// Checks that a line of this kind may stand here, and moves the stage on.
    fn check_place(&mut self, part: &Part) -> Result<(), Found> {
        let malformed = |message: &str| Err(Found::new(Code::FileMalformed, message));
        if matches!(part, Part::Unreadable | Part::UnreadableEvent) {
            self.stage = Stage::Broken;
            return Ok(());
        }
        if self.stage == Stage::Checkpoint {
            return malformed("expected nothing after the checkpoint");
        }
        match (part, &self.awaited) {
            (Part::Artifact(bytes), Some(awaited)) if bytes.event == awaited.event => return Ok(()),
            (Part::Artifact(_), _) => {
                return malformed("expected an artifact only after the event that records it");
            }
            (_, Some(awaited)) => {
                return malformed(&format!("expected the artifact of event {} in this line", awaited.event));
            }
            (_, None) => {}
        }
        match (part, self.stage) {
            (Part::Head(_), Stage::Events) if self.after_head => {
                malformed("expected one head after an event")
            }
            (Part::Event(_) | Part::Head(_), Stage::Events) => Ok(()),
            (Part::Event(_) | Part::Head(_), _) => malformed("expected no more events or heads here"),
            (Part::Inclusion(_), Stage::Events) if self.trail.last().is_none() => {
                malformed("expected the events of the trace before an inclusion")
            }
            (Part::Inclusion(_), _) => {
                self.stage = Stage::Inclusions;
                Ok(())
            }
            (Part::Checkpoint(_), _) => {
                self.stage = Stage::Checkpoint;
                Ok(())
            }
            _ => malformed("expected an event, a head, an artifact, an inclusion or the checkpoint"),
        }
    }

    fn take_event(&mut self, line: u64, examined: &mut Examined, found: &mut Vec<Found>) {
        found.extend(self.settle_check(examined));
        let event = &examined.event;
        self.trail.follow(event, line, found);
        let Ok(said) = event.said() else {
            self.state = None;
            return;
        };
        let at = event.envelope().sequence;
        self.count_speaker(event, &said);
        self.clients.extend(said.facts.attribution().flatten().and_then(|way| way.client));
        if let Some(commitment) = said.facts.recorded_bytes() {
            let is_report = matches!(said.facts, Facts::ReportRecorded(_));
            self.awaited = Some(Awaited { event: at, commitment: *commitment, is_report });
        }
        if event.is_unknown() || !examined.agrees {
            // What the event means is not known, so neither is the state after it.
            self.state = None;
        }
        let Some(state) = &mut self.state else { return };
        let known = Known { meaning: examined.meaning.as_ref(), artifacts: &self.artifacts };
        match state.follow(event, known) {
            Ok(broken) => {
                found.extend(broken.iter().map(Found::from));
                found.extend(own_judge(state, self.registry, event, known));
                found.extend(state.check_way(self.registry, event).err().as_ref().map(Found::from));
                if let Some(Words::Policy(hash)) = &examined.words {
                    self.policy_hash = Some(*hash);
                }
                found.extend(self.terms.take(at, said.facts, examined.words.as_ref()));
                if let (Some(work), true) = (state.work(), self.signatures) {
                    let judged = self.papers.take(
                        event,
                        said.facts,
                        examined.quoted.as_deref(),
                        (work, self.registry),
                    );
                    found.extend(judged.err().map(|message| Found::new(Code::PaperInvalid, message)));
                }
                let by_critic = said.role == Role::Critic;
                let beside = (examined.meaning.as_ref(), state.questions(), by_critic);
                self.conditions.take(at, said.facts, beside);
                let tool = examined.meaning.as_ref().and_then(Meaning::tool);
                let rested = self.rested.take(at, said.facts, tool).iter();
                found.extend(rested.map(|rested| Found::new(Code::AnswerChanged, rested.to_string())));
                found.extend(self.acts.take(examined, state.confirmations()));
                self.sandbox.take(examined);
                self.claims.take(examined);
            }
            // A broken chain was reported; the guards cannot add to that.
            Err(GuardError::Place { .. }) => self.state = None,
            Err(error) => {
                let code = match error {
                    GuardError::NotOfThisTrace { .. }
                    | GuardError::RoleForbidden { .. }
                    | GuardError::NotParticipant { .. } => Code::RolePolicyViolation,
                    _ => Code::OrderViolation,
                };
                found.push(Found::new(code, format!("{error} ({})", error.code())));
                self.state = None;
            }
        }
    }

    /// Counts who spoke, and how: with a key, with which touch of a passkey, or through the desk.
    fn count_speaker(&mut self, event: &Event, said: &Said<'_>) {
        let (proof, at) = (&event.envelope().proof, event.envelope().sequence);
        if let Some(made) = proof.assertion() {
            let touches = self.touches.entry(made.key).or_default();
            touches.signatures.insert(made.signature);
            touches.most_at_once = touches.most_at_once.max(made.leaves.len() as u64);
        }
        match proof.key() {
            Some(key) => {
                let spoken = self.speakers.entry(key).or_insert(Spoken { statements: 0, last: at });
                spoken.statements += 1;
                spoken.last = spoken.last.max(at);
            }
            None if proof.kind() == ProofKind::None => {
                *self.records.entry(said.kind.to_string()).or_default() += 1;
            }
            None => {}
        }
    }

    /// Says of the check that an event states whether it is true, as far as the bytes it looks into went by.
    fn settle_check(&self, examined: &mut Examined) -> Option<Found> {
        let Examined { event, meaning, .. } = examined;
        let Facts::CheckStated(facts) = event.said().ok()?.facts else { return None };
        let meaning = meaning.as_mut()?;
        let outcomes = self.outcomes.get(&facts.artifact);
        let outcome = outcomes
            .zip(meaning.check())
            .and_then(|(outcomes, stated)| self.stated.outcome(facts.artifact, &stated.check, outcomes));
        meaning.settle_check(outcome);
        let has_bytes = self.artifacts.find(facts.artifact).is_some();
        let message = "nobody looked for it before the bytes of its artifact went by";
        (has_bytes && outcome.is_none()).then(|| Found::new(Code::CheckNotMade, message))
    }

    fn take_artifact(&mut self, bytes: &Bytes, text: &[u8], found: &mut Vec<Found>) {
        let Some(Awaited { event: at, commitment: expected, is_report }) = self.awaited.take() else {
            return;
        };
        match (bytes.disclosure, bytes.commitment) {
            (Disclosure::Disclosed, Some(commitment)) if commitment == expected => {
                if let Some(digest) = bytes.digest {
                    self.artifacts.push(at, digest);
                }
                if let Some(program) = bytes.program {
                    self.artifacts.learn_program(at, program);
                }
                if !bytes.outcomes.is_empty() {
                    self.outcomes.insert(at, bytes.outcomes.clone());
                }
                // There are few of them, and only here is known which artifacts are reports.
                if let Some(report) =
                    (is_report && self.state.is_some()).then(|| examine::bytes_in(text)).flatten()
                {
                    self.artifacts.read_report(at, &report);
                }
            }
            (Disclosure::Disclosed, _) => {
                self.claims.spoil(at);
                let message = "bytes and salt do not open the commitment in the facts";
                found.push(Found::new(Code::ArtifactHashMismatch, message));
            }
            (Disclosure::Missing, _) => {
                self.claims.spoil(at);
                found.push(Found::new(Code::ArtifactMissing, "the store no longer finds the bytes"));
            }
            (disclosure, _) => {
                self.claims.hide(at);
                let words = if disclosure == Disclosure::Erased { "erased" } else { "withheld" };
                found.push(Found::new(Code::NotDisclosed, format!("the artifact is {words}")));
            }
        }
    }

    pub(super) fn into_report(
        self,
        header: &Header,
        findings: Findings,
        anchors: Anchors,
        names: &Names,
        options: &Options,
    ) -> Report {
        Report::new(self, header, findings, anchors, names, options)
    }
}
