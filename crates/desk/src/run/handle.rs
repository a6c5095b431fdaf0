//! The operations of accountable runs (seed 002): opened, spoken in by whoever takes part, audited, looked at. The desk
//! signs with a key of the caller's own for each role, `NAME.ROLE`. Every guard of the ledger is in force.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_api::{
    call::{ApiReply, ApiRequest, IdempotencyKey},
    code::Code,
    operation as op,
    refusal::Refusal,
    run::{AuditedRun, GivenArtifact, OpenRun, RunEvent, SayInRun},
};
use demur_engine::refusal::RuleRefusal;
use demur_ledger::{
    author::Author,
    client::check_speaker,
    content::SessionContent,
    name::TraceId,
    role::Role,
    state::{GuardError, Phase},
};
use demur_sequencer::SequencerError;
use serde_json::value::RawValue;

use super::{Audited, RunOpening, Saying, audit, author, check_run, end::follow_end, open, say, standing};
use crate::{
    access::{Admitted, Caller, check_trace},
    client::MadeFor,
    desk::Desk,
    entry::{Handle, Handled},
    owner::Owner,
};

impl Handle<op::OpenRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::OpenRun>) -> Handled<op::OpenRun> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let OpenRun { trace, task, objective, constraints, agents, policy, agent } = request.body;
        let planner = caller.player(owner, agent.as_deref())?;
        let opening = RunOpening {
            planner: &planner,
            agents: &agents,
            // Who has a token cannot fill the registry with names.
            anybody: caller.is_local(),
            trace,
            content: SessionContent { constraints, objective, task },
            demands: policy,
            client: caller.playing_as(&planner)?,
        };
        let opened = open(owner, &opening)?;
        Ok(ApiReply { document: standing(owner, opened.trace)?, repeated: opened.repeated })
    }
}

impl Handle<op::ShowRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowRun>) -> Handled<op::ShowRun> {
        let (owner, trace) = (&*self.owner()?, request.path.trace);
        seen(owner, by.caller(), trace)?;
        standing(owner, trace).map(ApiReply::new)
    }
}

impl Handle<op::SayInRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::SayInRun>) -> Handled<op::SayInRun> {
        let (owner, caller, trace) = (&*self.owner()?, by.caller(), request.path.trace);
        let SayInRun { role, kind, facts, content, artifact, agent } = request.body;
        // These look at the whole record.
        let looks = matches!(&*kind, "final_statement_signed" | "verification_run_completed");
        let _turn = looks.then(|| self.large_turn(by.caller())).transpose()?;
        seen(owner, caller, trace)?;
        let player = caller.player(owner, agent.as_deref())?;
        let author = author(owner, &player, role)?;
        speaks(owner, &caller.playing_as(&player)?, trace, &author)?;
        let artifact = artifact.map(bytes).transpose()?;
        let saying = Saying { trace, kind: kind.to_string(), facts, content, artifact };
        self.quotas().note_recorded(caller, self.now()?, size(&saying));
        let recorded = say(owner, &author, saying, request.key.as_ref().map(IdempotencyKey::as_str))?;
        let phase = owner.sequencer().store().trace(trace)?.and_then(|summary| summary.phase);
        if phase.is_some_and(Phase::is_final) {
            follow_end(owner);
        }
        let (sequence, hash) = (recorded.position.sequence, recorded.position.hash);
        Ok(ApiReply { document: RunEvent { trace, sequence, hash, phase }, repeated: recorded.repeated })
    }
}

/// Returns about how much something says.
fn size(saying: &Saying) -> usize {
    let members = saying.facts.iter().chain(saying.content.iter().flatten());
    let said: usize = members.map(|(name, value)| name.len() + value.to_string().len()).sum();
    said + saying.artifact.as_ref().map_or(0, |(bytes, _)| bytes.len())
}

impl Handle<op::AuditRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AuditRun>) -> Handled<op::AuditRun> {
        let _turn = self.large_turn(by.caller())?;
        let (owner, caller, trace) = (&*self.owner()?, by.caller(), request.path.trace);
        seen(owner, caller, trace)?;
        let player = caller.player(owner, request.body.agent.as_deref())?;
        let author = author(owner, &player, Role::Auditor)?;
        speaks(owner, &caller.playing_as(&player)?, trace, &author)?;
        let Audited { profile, status, events, report } = audit(owner, &author, trace, request.body.profile)?;
        let report = report.map(raw).transpose()?;
        let run = standing(owner, trace)?;
        if run.phase.is_final() {
            follow_end(owner);
        }
        Ok(ApiReply::new(AuditedRun { status, profile, events, report, run }))
    }
}

/// Binds the key of a role to a client that speaks with it: whoever was named before it had spoken is whoever speaks.
/// Where the key is not this client's yet, checks first that the policy lets this one speak: a binding stays, and one that the policy
/// forbids would fail the file of the run for good.
pub(crate) fn speaks(
    owner: &Owner,
    made_for: &MadeFor,
    trace: TraceId,
    author: &Author,
) -> Result<(), Refusal> {
    let key = author.public().fingerprint();
    let (MadeFor::Client(client), registry) = (made_for, owner.sequencer().registry()) else {
        return owner.bind(key, made_for);
    };
    if registry.key(&key).is_some_and(|record| record.clients.contains(&client.id)) {
        return Ok(());
    }
    let state = owner.sequencer().look(trace)?;
    let checked = state.run().map_or(Ok(()), |run| {
        check_speaker(run, &registry, client.id, author.role()).map_err(GuardError::Meaning)
    });
    checked.map_err(|error| Refusal::from(SequencerError::from(RuleRefusal::from(error))))?;
    owner.bind(key, made_for)
}

/// Checks that a run is there and this caller may see it.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<(), Refusal> {
    check_trace(owner, caller, trace)?;
    check_run(owner.sequencer().store(), trace).map(|_| ())
}

/// Returns the bytes of a report as they are: the verdict names them by digest.
fn raw(report: Vec<u8>) -> Result<Box<RawValue>, Refusal> {
    let text = String::from_utf8(report).map_err(|error| Refusal::bug(&error))?;
    RawValue::from_string(text).map_err(|error| Refusal::bug(&error))
}

fn bytes(artifact: GivenArtifact) -> Result<(Vec<u8>, &'static str), Refusal> {
    match (artifact.text, artifact.base64) {
        (Some(text), None) => Ok((text.into_bytes(), "text/plain")),
        (None, Some(text)) => {
            let bytes = STANDARD.decode(text).map_err(|error| {
                Refusal::new(Code::Malformed, format!("expected base64: {error}")).about("artifact.base64")
            })?;
            Ok((bytes, "application/octet-stream"))
        }
        _ => Err(Refusal::new(Code::Malformed, "expected either text or base64, found both or neither")
            .about("artifact")),
    }
}
