//! The lines of the trace in order: what needs those before it.

use std::collections::BTreeMap;

use demur_core::{
    commitment::Commitment,
    hash::Digest,
    key::Fingerprint,
    merkle::{self, Scheme},
    words::counted_as,
};

use super::{
    Code, Options, StatedChecks,
    acts::ActBook,
    claims::ClaimBook,
    erased::ErasureBook,
    examine::{self, Bytes, Examined, Item, Part},
    finding::{Findings, Found, Section},
    input::End,
    opening::Names,
    papers::PaperBook,
    report::{Anchors, Report},
    stated::Outcomes,
    terms::TermsBook,
    trail::{Trail, check_desk},
};
use crate::{
    client::{check_confirming, held_roles, wants_distinct},
    envelope::Event,
    event_type::{Facts, TypeName},
    export::{Disclosure, Header},
    facts::VerificationProfile,
    meaning::{ArtifactDigests, Known, MeaningError},
    name::Sequence,
    question::RestedBook,
    registry::Registry,
    signed::{Checkpoint, Inclusion, Signed},
    state::{GuardError, State, Step},
    timeline::Words,
    trace_state::{PlanStage, TraceState},
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
    pub(super) rested: RestedBook,
    pub(super) acts: ActBook,
    terms: TermsBook,
    /// SHA-256 of the text of the policy, where that is disclosed.
    pub(super) policy_hash: Option<Digest>,
    papers: PaperBook,
    pub(super) erasures: ErasureBook,
    pub(super) speakers: BTreeMap<Fingerprint, Spoken>,
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
            rested: RestedBook::new(),
            acts: ActBook::default(),
            terms: TermsBook::default(),
            policy_hash: None,
            papers: PaperBook::default(),
            erasures: ErasureBook::default(),
            speakers: BTreeMap::new(),
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
        match event.envelope().proof.key() {
            Some(key) => {
                let spoken = self.speakers.entry(key).or_insert(Spoken { statements: 0, last: at });
                spoken.statements += 1;
                spoken.last = spoken.last.max(at);
            }
            None => *self.records.entry(said.kind.to_string()).or_default() += 1,
        }
        if let Some(commitment) = said.facts.recorded_bytes() {
            let is_report = matches!(said.facts, Facts::ReportRecorded(_));
            self.awaited = Some(Awaited { event: at, commitment: *commitment, is_report });
        }
        if matches!(said.kind, TypeName::Unknown(_)) || !examined.agrees {
            // What the event means is not known, so neither is the state after it.
            self.state = None;
        }
        let Some(state) = &mut self.state else { return };
        let known = Known { meaning: examined.meaning.as_ref(), artifacts: &self.artifacts };
        match state.follow(event, known) {
            Ok(broken) => {
                found.extend(broken.iter().map(meant));
                if let (Facts::PolicyRecorded(_), Some(run)) = (said.facts, state.run()) {
                    found.extend(forbidden_clients(run, self.registry));
                }
                found.extend(own_confirmation(state, self.registry, event, known));
                found.extend(state.check_own(self.registry, event).err().as_ref().map(meant));
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
                self.rested.take(at, said.facts);
                found.extend(self.acts.take(examined));
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

    fn check_inclusion(&self, inclusion: &Inclusion) -> Result<(), Found> {
        let invalid = |message: &str| Err(Found::new(Code::InclusionInvalid, message));
        let Some((root, traces)) = self.registry.root(inclusion.registry) else {
            return invalid("the registry event records no root");
        };
        let leaf = &inclusion.leaf;
        let last = leaf.length.as_u64().checked_sub(1).and_then(|last| usize::try_from(last).ok());
        let head = last.and_then(|last| self.trail.hashes().get(last));
        if leaf.trace != self.trail.trace() || head != Some(&leaf.head) {
            return invalid("the leaf is not this trace as it is in the file");
        }
        let Ok(hash) = leaf.hash() else { return invalid("the leaf cannot be hashed") };
        let index = inclusion.index.as_u64();
        if merkle::verify_inclusion(Scheme::DEMUR, &hash, index, traces, &inclusion.path, &root) {
            Ok(())
        } else {
            invalid("the path does not lead to the recorded root")
        }
    }

    /// Checks what can only be said at the end.
    pub(super) fn finish(&mut self, digest: Option<Digest>, findings: &mut Findings) {
        self.erasures.report_kept(Section::Trace, findings);
        if !self.whole {
            return;
        }
        if self.trail.trace() != self.registry.trace() && self.trail.last().is_none() {
            let found = Found::new(Code::FileMalformed, "expected the events of the trace, found none");
            self.report(Err(found), findings);
        } else if self.trail.last().is_some() {
            let checked = self.trail.check_last_head();
            self.report(checked, findings);
        }
        for (sequence, line) in self.trail.repeated() {
            let found = Found::new(Code::ReplayDuplicate, "this key used this command id before");
            findings.add(Section::Trace, Some(line), Some(sequence), found);
        }
        if let Some((line, checkpoint)) = &self.checkpoint
            && let Err(found) = self.check_checkpoint(checkpoint, digest)
        {
            findings.add(Section::File, Some(*line), None, found);
        }
        self.check_revoked(findings);
        self.erasures.report_unrecorded(Section::Trace, findings);
        if let Err((at, message)) = self.papers.finish(self.registry) {
            findings.add(Section::Trace, None, Some(at), Found::new(Code::PaperInvalid, message));
        }
        match &self.state {
            Some(TraceState::Run(run)) => {
                self.claims.check(run, findings);
                check_clients(run, self.registry, findings);
                if run.phase() != crate::state::Phase::Completed {
                    unfinished(format!("the run is {}", run.phase()), findings);
                }
            }
            Some(TraceState::Work(work)) if work.plan() == PlanStage::Submitted => {
                unfinished("the plan is not confirmed".to_owned(), findings);
            }
            Some(TraceState::Work(work)) if work.plan() == PlanStage::Withdrawn => {
                unfinished("the plan was withdrawn".to_owned(), findings);
            }
            Some(TraceState::Work(_) | TraceState::New) | None => {}
        }
        let questions = self.state.as_ref().and_then(TraceState::questions);
        let open = questions.map_or(0, |questions| questions.unsettled().count());
        if open > 0 {
            let questions = counted_as(open, "question is", "questions are");
            unfinished(format!("{questions} not settled"), findings);
        }
        let confirmations = self.state.as_ref().and_then(TraceState::confirmations);
        let open = confirmations.map_or(0, |confirmations| confirmations.open().count());
        if open > 0 {
            let confirmations = counted_as(open, "confirmation is", "confirmations are");
            unfinished(format!("{confirmations} neither given nor refused"), findings);
        }
    }

    fn report(&self, checked: Result<(), Found>, findings: &mut Findings) {
        if let Err(found) = checked {
            let line = self.checkpoint.as_ref().map(|(line, _)| *line);
            findings.add(Section::Trace, line, None, found);
        }
    }

    fn check_checkpoint(&self, signed: &Signed<Checkpoint>, digest: Option<Digest>) -> Result<(), Found> {
        let checkpoint = &signed.document;
        let invalid = |message: &str| Err(Found::new(Code::CheckpointInvalid, message));
        if checkpoint.store != self.registry.store() || checkpoint.trace != self.trail.trace() {
            let message = "the checkpoint is of another store or trace than the events";
            return Err(Found::new(Code::StatementMismatch, message));
        }
        if Some(checkpoint.head) != self.last() {
            return invalid("the checkpoint names another last event");
        }
        if checkpoint.registry != self.registry.head() {
            return invalid("the checkpoint names another last registry event");
        }
        if Some(checkpoint.bytes) != digest {
            return invalid("the bytes before the checkpoint are not those the desk signed");
        }
        check_desk(signed, &checkpoint.registry, checkpoint.epoch, self.registry, self.signatures)
            .or_else(|message| invalid(&format!("the checkpoint {message}")))
    }

    /// Returns the last event of the exported trace.
    pub(super) fn last(&self) -> Option<crate::name::Position> {
        if self.trail.trace() == self.registry.trace() {
            Some(self.registry.head())
        } else {
            self.trail.last()
        }
    }

    /// Returns the key that signed the checkpoint.
    pub(super) fn signer(&self) -> Option<Fingerprint> {
        self.checkpoint.as_ref().map(|(_, checkpoint)| checkpoint.proof.key)
    }

    /// Returns the last event of the trace that a key stands behind: the desk's by signing the file, another's by what it
    /// said last. A key that was revoked stands behind what is proven to come before that.
    pub(super) fn through(&self, key: &Fingerprint) -> Option<Sequence> {
        let said = self.speakers.get(key).map(|spoken| spoken.last);
        let signed = self.last().filter(|_| self.signer() == Some(*key)).map(|last| last.sequence);
        let last = said.max(signed)?;
        let revoked = self.registry.key(key).and_then(|record| record.revoked);
        revoked.is_none_or(|revoked| self.is_shown_before(revoked, last)).then_some(last)
    }

    /// Returns whether an event is proven to come before a revocation: it stands under its root.
    fn is_shown_before(&self, revoked: Sequence, event: Sequence) -> bool {
        self.inclusions.iter().any(|inclusion| {
            inclusion.registry == revoked
                && inclusion.leaf.length.as_u64() > event.number()
                && self.check_inclusion(inclusion).is_ok()
        })
    }

    /// What a key's holder is called is said by nobody if the name is gone. Who asks for everything asks for that too,
    /// unless it has a name of its own for the key.
    pub(super) fn check_names(&self, nameless: &[Fingerprint], options: &Options, findings: &mut Findings) {
        if options.profile != VerificationProfile::Strict {
            return;
        }
        let is_pinned = |key: &Fingerprint| options.pins.iter().any(|pin| pin.fingerprint == *key);
        for key in self.speakers.keys().filter(|key| nameless.contains(key) && !is_pinned(key)) {
            let message = format!("the name of who holds the key {} is not in the file", key.short());
            findings.add(Section::Registry, None, None, Found::new(Code::NameMissing, message));
        }
    }

    /// What a key said before it was revoked is proven to come before only under the revocation's root.
    fn check_revoked(&self, findings: &mut Findings) {
        for (fingerprint, spoken) in &self.speakers {
            let revoked = self.registry.key(fingerprint).and_then(|record| record.revoked);
            let Some(revoked) = revoked else { continue };
            if !self.is_shown_before(revoked, spoken.last) {
                let message = format!("the key {} was revoked later", fingerprint.short());
                findings.add(Section::Trace, None, None, Found::new(Code::OrderRestsOnDesk, message));
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

/// Returns the finding of a demand that an event breaks.
fn meant(error: &MeaningError) -> Found {
    let code = match error {
        MeaningError::PolicyMismatch { .. } => Code::PolicyMismatch,
        MeaningError::InputMissing | MeaningError::InputMismatch { .. } => Code::InputMismatch,
        MeaningError::ToolNotProposed { .. } => Code::ToolNotProposed,
        MeaningError::ToolNotAllowed { .. } => Code::ToolNotAllowed,
        MeaningError::RiskUnderstated { .. } => Code::RiskUnderstated,
        MeaningError::BlockedAgain { .. } => Code::BlockedAgain,
        MeaningError::RetryLimit { .. } => Code::RetryLimit,
        MeaningError::ToolBlocked { .. } => Code::ToolBlocked,
        MeaningError::EvidenceForeign { .. } | MeaningError::EvidenceAlike { .. } => Code::EvidenceWeak,
        MeaningError::BundleDiffers { .. } => Code::BundleDiffers,
        MeaningError::ConditionUnshown { .. } => Code::ConditionUnshown,
        MeaningError::CheckFailed { .. } => Code::CheckFailed,
        MeaningError::ReportMissing | MeaningError::ReportDiffers { .. } => Code::ReportMismatch,
        MeaningError::ConfirmationMismatch { .. } => Code::ConfirmationMismatch,
        MeaningError::ConfirmationSpent { .. } => Code::ConfirmationSpent,
        MeaningError::OperationUnconfirmed { .. }
        | MeaningError::OperationUntold { .. }
        | MeaningError::ToolUnconfirmed { .. } => Code::OperationUnconfirmed,
        MeaningError::SpokeAfterFinal { .. } => Code::SpokeAfterFinal,
        MeaningError::FieldAnswered { .. } => Code::FieldAnswered,
        MeaningError::ClientHeldRoles(_) => Code::ClientHeldRoles,
        MeaningError::AttributionPresence { .. } | MeaningError::AssuranceOverstated { .. } => {
            Code::AssuranceOverstated
        }
        MeaningError::OwnClient | MeaningError::OwnClientUntold { .. } => Code::OwnClient,
    };
    Found::new(code, error.to_string())
}

/// Returns the clients that do the work of a run and judge it although its policy forbids that, by everything that the
/// registry in the file says.
fn forbidden_clients(run: &State, registry: &Registry) -> Vec<Found> {
    let held = if wants_distinct(run) { held_roles(run, registry) } else { Vec::new() };
    let found = |held| Found::forbidden(Code::ClientHeldRoles, format!("{held}, and the policy forbids it"));
    held.iter().map(found).collect()
}

/// Returns that a client confirmed or refused its own operation, by everything that the registry in the file says.
fn own_confirmation(
    trace: &TraceState,
    registry: &Registry,
    event: &Event,
    known: Known<'_>,
) -> Option<Found> {
    let step = Step::of(event, known).ok()?;
    let error = check_confirming(trace, registry, &step).err()?;
    Some(Found::new(Code::OrderViolation, format!("{error} ({})", error.code())))
}

/// Reports the clients that did the work of a run and judged it where nothing forbids that.
fn check_clients(run: &State, registry: &Registry, findings: &mut Findings) {
    if wants_distinct(run) {
        return;
    }
    for held in held_roles(run, registry) {
        findings.add(Section::Trace, None, None, Found::new(Code::ClientHeldRoles, held.to_string()));
    }
}

fn unfinished(message: String, findings: &mut Findings) {
    findings.add(Section::Trace, None, None, Found::new(Code::FinalizationIncomplete, message));
}
