//! Plans by the word of a key of this data folder, or of a person at its terminal: what the command line asks for.

use std::sync::Arc;

use demur_api::{
    code::Code,
    operation::OfGap,
    plan::{
        AttestPlanAs, AttestedPlan, BeginOperationAs, CheckPlanUnder, ConfirmPlanAs, GapStatus, PlanStanding,
        ResolveGapAs, SubmitPlanAs, ToldGap, ToldPlan,
    },
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_ledger::{author::Author, name::Sequence, role::Role};
use demur_plan::Session;
use demur_rules::{Plan, Rules};
use demur_sequencer::Sequencer;
use serde_json::{Map, Value};

use super::{MadeOutput, Resolution, Submission};
use crate::{
    access::Caller,
    keyring::Keyring,
    owner::Owner,
    session::{self, Speaker},
};

/// Holds a plan against rules that came along; nothing is recorded.
pub fn check_under(
    ledger: &Sequencer,
    keyring: &dyn Keyring,
    given: CheckPlanUnder,
) -> Result<PlanStanding, Refusal> {
    let (plan, rules) = (plan(given.plan)?, rules(&given.rules)?);
    super::check(&plan, &rules, Some(&session::signer(ledger, keyring)?))
}

/// Says where a plan stands.
pub fn show(ledger: &Sequencer, session: Uuid) -> Result<ToldPlan, Refusal> {
    Ok(ToldPlan::new(super::standing(&session::read(ledger, session)?)?, None))
}

/// Submits a plan.
pub fn submit_as(owner: &Owner, given: SubmitPlanAs) -> Result<ToldPlan, Refusal> {
    let (plan, rules) = (plan(given.plan)?, rules(&given.rules)?);
    let name = given.author.parse().map_err(|error| Refusal::new(Code::AgentName, error))?;
    let author = agent(owner, &given.author)?;
    let submission =
        Submission { author, name: &name, plan: &plan, rules: &rules, session: given.session_id };
    let (session, _) = super::submit(owner, submission)?;
    told(owner, &session, &given.author, Some(Sequence::FIRST))
}

/// Answers a gap, or accepts it as it is.
pub(crate) fn resolve_as(
    owner: &Owner,
    caller: &Caller,
    OfGap { session: id, gap }: OfGap,
    given: ResolveGapAs,
) -> Result<ToldGap, Refusal> {
    let speaker = match &given.author {
        Some(name) => Speaker::Key(session::author(owner, name, Role::Answerer)?),
        // What comes through a client is the client's word.
        None => caller.answerer(owner, Some(given.by.clone()))?,
    };
    let resolution = Resolution { session: id, gap: &gap, answer: given.answer.as_deref(), note: given.note };
    let (at, judged) = super::resolve(owner, &speaker, &resolution)?;
    let session = session::read(owner.sequencer(), id)?;
    let to = given.author.as_ref().unwrap_or(&given.by);
    let plan = told(owner, &session, to, at.map(|at| at.sequence))?;
    let reason = judged.unsettled();
    let status = if reason.is_none() { GapStatus::Resolved } else { GapStatus::Escalated };
    Ok(ToldGap { status, reason, plan })
}

/// Begins an operation.
pub fn begin_as(owner: &Owner, session: Uuid, given: &BeginOperationAs) -> Result<ToldPlan, Refusal> {
    let author = agent(owner, &given.author)?;
    let session = super::begin(owner, author, session, &given.operation, given.exact.as_ref())?;
    told(owner, &session, &given.author, None)
}

/// Confirms a plan.
pub fn confirm_as(owner: &Owner, session: Uuid, given: &ConfirmPlanAs) -> Result<ToldPlan, Refusal> {
    let author = agent(owner, &given.author)?;
    let (at, session) = super::confirm(owner, author, session)?;
    told(owner, &session, &given.author, Some(at.sequence))
}

/// Attests what was made of a plan.
pub fn attest_as(owner: &Owner, session: Uuid, given: &AttestPlanAs) -> Result<AttestedPlan, Refusal> {
    let author = agent(owner, &given.author)?;
    let made = MadeOutput { path: &given.output_path, files: &given.files, version: &given.program_version };
    super::attest(owner, author, session, made)
}

fn agent(owner: &Owner, name: &str) -> Result<Arc<Author>, Refusal> {
    session::author(owner, name, Role::Agent)
}

/// Says where a session stands, and records that its open gaps were put before somebody.
fn told(owner: &Owner, session: &Session, to: &str, event: Option<Sequence>) -> Result<ToldPlan, Refusal> {
    let standing = super::standing(session)?;
    super::deliver(owner, session, to, CHANNEL)?;
    Ok(ToldPlan::new(standing, event))
}

fn plan(members: Map<String, Value>) -> Result<Plan, Refusal> {
    Plan::try_from(Value::Object(members))
        .map_err(|error| Refusal::new(Code::PlanMalformed, error).about("plan"))
}

fn rules(document: &str) -> Result<Rules, Refusal> {
    Rules::from_document(document.as_bytes()).map_err(|error| {
        let message = format!("expected {}, found {}", error.expected, error.found);
        Refusal::malformed(message).about("rules")
    })
}

/// The way on which questions of a plan reach somebody here.
const CHANNEL: &str = "command line";
