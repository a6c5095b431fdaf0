//! What can only be said at the end of the file.

use demur_core::{hash::Digest, words::counted_as};

use super::{Walk, clients::check_clients};
use crate::{
    facts::{Attribution, Root},
    signed::{Checkpoint, Signed},
    state::{Phase, State},
    trace_state::{PlanStage, TraceState},
    verify::{
        Code,
        finding::{Findings, Found, Section},
        trail::check_desk,
    },
};

impl Walk<'_> {
    /// Checks what can only be said at the end.
    pub(in crate::verify) fn finish(&mut self, digest: Option<Digest>, findings: &mut Findings) {
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
        self.report_unfinished(findings);
    }

    /// Reports what keeps the trace from being over, and what only its end shows.
    fn report_unfinished(&mut self, findings: &mut Findings) {
        match &self.state {
            Some(TraceState::Run(run)) => {
                self.claims.check(run, findings);
                check_clients(run, self.registry, self.trail.pin(), findings);
                self.report_same_user(run, findings);
                if run.phase() != Phase::Completed {
                    unfinished(format!("the run is {}", run.phase()), findings);
                }
            }
            Some(TraceState::Work(work)) if work.plan() == PlanStage::Submitted => {
                unfinished("the plan is not confirmed".to_owned(), findings);
            }
            Some(TraceState::Work(work)) if work.plan() == PlanStage::Withdrawn => {
                unfinished("the plan was withdrawn".to_owned(), findings);
            }
            Some(TraceState::Work(_) | TraceState::Journal(_) | TraceState::New) | None => {}
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

    /// Says in the strict profile of which tools a program of the same user gave the yes: perhaps the one that wanted it.
    fn report_same_user(&self, run: &State, findings: &mut Findings) {
        if !findings.is_strict() {
            return;
        }
        for (_, asked) in run.confirmations().iter().filter(|(_, asked)| asked.outcome().is_yes_of_a_person())
        {
            let said = asked.outcome().said().and_then(|said| Some((said.at, self.acts.said(said.at)?)));
            let is_same_user = |way: &Attribution| way.root == Root::SameUser;
            let same_user = said.filter(|(_, said)| said.way.as_ref().is_some_and(is_same_user));
            for ((said, _), started) in
                same_user.iter().flat_map(|one| asked.starts().iter().map(move |at| (one, at)))
            {
                let message = format!(
                    "the tool that started in event {started} rests on a yes, event {said}, of the same user: perhaps of the asker"
                );
                findings.add(Section::Trace, None, Some(*started), Found::new(Code::SameUser, message));
            }
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
}

fn unfinished(message: String, findings: &mut Findings) {
    findings.add(Section::Trace, None, None, Found::new(Code::FinalizationIncomplete, message));
}
