//! The operations of plans: held against the rules, submitted, answered gap by gap, confirmed (CLR-30). A retry is safe
//! everywhere: a session is named by whoever opens it, and what counted already is told again (CLR-04).

mod amendment;
mod attestation;
mod change;
mod documents;

use std::sync::Arc;

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation::{self as op, OfGap},
    plan::{PlanStanding, ResolvedGap, SubmitPlan},
    question::QuestionId,
    refusal::Refusal,
};
use demur_clarify::{status::PlanStatus, uuid::Uuid};
use demur_core::limit::Text;
use demur_ledger::{author::Author, name::TraceId, role::Role};
use demur_plan::{
    Session,
    act::{self, Judged},
};
use demur_rules::Plan;
use serde_json::{Map, Value};

use super::{Resolution, Submission};
use crate::{
    access::{Admitted, Caller, LOCAL_AGENT, may_read, seen_question},
    desk::Desk,
    entry::{Handle, Handled},
    owner::Owner,
    plan,
    session::{self, Speaker},
};

impl Handle<op::CheckPlan> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::CheckPlan>) -> Handled<op::CheckPlan> {
        let owner = self.owner()?;
        let (plan, signer) =
            (read_plan(request.body.plan)?, session::signer(owner.sequencer(), owner.keyring())?);
        plan::check(&plan, &*self.rules()?, Some(&signer)).map(ApiReply::new)
    }
}

impl Handle<op::SubmitPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::SubmitPlan>) -> Handled<op::SubmitPlan> {
        self.submitted(by.caller(), request.body)
    }

    const ASKS: bool = true;

    /// A plan that is submitted again under its session gets what there is.
    fn repeated(
        &self,
        by: &Admitted,
        request: &ApiRequest<op::SubmitPlan>,
    ) -> Result<Option<ApiReply<PlanStanding>>, Refusal> {
        let is_there = is_submitted(&*self.owner()?, request.body.session_id)?;
        is_there.then(|| self.submitted(by.caller(), request.body.clone())).transpose()
    }
}

impl Desk {
    fn submitted(&self, caller: &Caller, given: SubmitPlan) -> Handled<op::SubmitPlan> {
        let owner = &*self.owner()?;
        let (plan, rules) = (read_plan(given.plan)?, self.rules()?);
        let chosen = given.agent.as_deref();
        let author =
            caller.asker(owner, chosen.or(caller.client()).or(caller.is_local().then_some(LOCAL_AGENT)))?;
        let spoken = owner.key_directory()?.name(author.principal()).to_owned();
        let name = spoken.parse().map_err(|error| Refusal::new(Code::AgentName, error))?;
        // What is there already asks nothing new, however full the caller's quota is.
        let _gaps = if is_submitted(owner, given.session_id)? {
            None
        } else {
            let gaps = act::gaps(&plan, &rules)?.len();
            Some(self.quotas().ask_gaps(owner.sequencer().store(), caller, gaps)?)
        };
        let submission =
            Submission { author, name: &name, plan: &plan, rules: &rules, session: given.session_id };
        let (session, repeated) = plan::submit(owner, submission)?;
        Ok(ApiReply { document: told(owner, &session, &spoken)?, repeated })
    }
}

/// Returns whether something was submitted under this session.
fn is_submitted(owner: &Owner, session: Option<Uuid>) -> Result<bool, Refusal> {
    let Some(session) = session else { return Ok(false) };
    let trace = TraceId::of_session(session.as_u128());
    Ok(owner.sequencer().store().trace(trace)?.is_some())
}

impl Handle<op::ShowPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowPlan>) -> Handled<op::ShowPlan> {
        let owner = &*self.owner()?;
        standing(&seen(owner, by.caller(), request.path.session)?).map(ApiReply::new)
    }
}

impl Handle<op::ResolveGap> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ResolveGap>) -> Handled<op::ResolveGap> {
        let (owner, given) = (&*self.owner()?, request.body);
        seen_gap(owner, by.caller(), &request.path)?;
        let speaker = by.caller().answerer(owner, given.by)?;
        resolving(owner, &speaker, &request.path, given.answer.as_deref(), given.note).map(ApiReply::new)
    }
}

impl Handle<op::ResolveOwnGap> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ResolveOwnGap>) -> Handled<op::ResolveOwnGap> {
        let (owner, given) = (&*self.owner()?, request.body);
        let (session, author) = own(owner, by.caller(), request.path.session, None)?;
        let gap = session.gap(&request.path.gap)?;
        if !Session::is_settled_by_submitter(gap) {
            let Some(answer) = given.answer.filter(|_| given.change.is_none()) else {
                return Err(person_needed(&request.path));
            };
            plan::claim(owner, &author, &request.path, &answer, given.note.as_ref())?;
            return suggested(owner, &author, &request.path).map(ApiReply::new);
        }
        // The rules let whoever submitted the plan answer. It needs a key for that, and its word is an agent's.
        let asker = owner.key_directory()?.name(author.principal()).to_owned();
        let client = by.caller().made_for().or_of_name(owner, &asker)?;
        let answerer = owner.find_or_enrol_for(&format!("{asker}.answers"), Role::Answerer, &client)?;
        let speaker = Speaker::Key(answerer);
        if let Some(change) = given.change {
            return change::changing(owner, &speaker, (&session, &request.path.gap), change, given)
                .map(ApiReply::new);
        }
        resolving(owner, &speaker, &request.path, given.answer.as_deref(), given.note).map(ApiReply::new)
    }
}

/// Returns what becomes of an answer that settles nothing because it is the submitter's own: a suggestion.
fn suggested(owner: &Owner, author: &Author, path: &OfGap) -> Result<ResolvedGap, Refusal> {
    let name = owner.key_directory()?.name(author.principal()).to_owned();
    let session = told(owner, &session::read(owner.sequencer(), path.session)?, &name)?;
    Ok(plan::resolved(&path.gap, None, &Judged::Suggested, session))
}

fn person_needed(OfGap { session, gap }: &OfGap) -> Refusal {
    let message = "expected a person, found whoever submitted the plan: it neither accepts a warning about it nor changes an answer";
    Refusal::new(Code::PersonNeeded, message).with_cure(format!(
        "a person says `demur plan resolve {session} {gap} --accept`, or answers in the inbox"
    ))
}

/// Checks that a caller may see the question behind a gap, as with any other question; one that it may not see is as unknown as
/// one that is not there.
fn seen_gap(owner: &Owner, caller: &Caller, path: &OfGap) -> Result<(), Refusal> {
    let session = session::read(owner.sequencer(), path.session)
        .map_err(|refusal| if caller.is_local() { refusal } else { unknown(path.session) })?;
    let sequence = session.gap(&path.gap)?.question.sequence;
    let shown = seen_question(owner, caller, QuestionId { trace: session.trace(), sequence });
    shown.map(drop).map_err(|refusal| match refusal.code {
        Code::QuestionUnknown => unknown(path.session),
        _ => refusal,
    })
}

fn resolving(
    owner: &Owner,
    speaker: &Speaker,
    OfGap { session, gap }: &OfGap,
    answer: Option<&str>,
    note: Option<Text<1, 4096>>,
) -> Result<ResolvedGap, Refusal> {
    let resolution = Resolution { session: *session, gap, answer, note };
    let (_, judged) = plan::resolve(owner, speaker, &resolution)?;
    let to = match speaker.principal() {
        Some(principal) => owner.key_directory()?.name(principal).to_owned(),
        None => speaker.by().map(|by| by.to_string()).unwrap_or_default(),
    };
    let session = told(owner, &session::read(owner.sequencer(), *session)?, &to)?;
    Ok(plan::resolved(gap, answer, &judged, session))
}

impl Handle<op::BeginOperation> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::BeginOperation>) -> Handled<op::BeginOperation> {
        let (owner, session, given) = (&*self.owner()?, request.path.session, request.body);
        let (_, author) = own(owner, by.caller(), session, given.agent.as_deref())?;
        let name = owner.key_directory()?.name(author.principal()).to_owned();
        let begun = plan::begin(owner, author, session, &given.operation, given.exact.as_ref())?;
        told(owner, &begun, &name).map(ApiReply::new)
    }
}

impl Handle<op::ConfirmPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ConfirmPlan>) -> Handled<op::ConfirmPlan> {
        let (owner, session) = (&*self.owner()?, request.path.session);
        let (found, author) = own(owner, by.caller(), session, request.body.agent.as_deref())?;
        // The same confirmation again.
        if found.standing() == PlanStatus::Confirmed && found.work().agent() == Some(author.principal()) {
            return standing(&found).map(ApiReply::new);
        }
        let name = owner.key_directory()?.name(author.principal()).to_owned();
        told(owner, &plan::confirm(owner, author, session)?.1, &name).map(ApiReply::new)
    }
}

/// Returns where a session stands, and records that its open gaps were put before somebody.
fn told(owner: &Owner, session: &Session, to: &str) -> Result<PlanStanding, Refusal> {
    let standing = standing(session)?;
    plan::deliver(owner, session, to, CHANNEL)?;
    Ok(standing)
}

fn standing(session: &Session) -> Result<PlanStanding, Refusal> {
    Ok(plan::standing(session)?)
}

/// Returns a session that this caller may see; one that it may not see is as unknown as one that is not there.
fn seen(owner: &Owner, caller: &Caller, session: Uuid) -> Result<Session, Refusal> {
    match session::read(owner.sequencer(), session) {
        Ok(found) if may_read(owner, caller, found.trace())? => Ok(found),
        Ok(_) => Err(unknown(session)),
        Err(refusal) if refusal.code == Code::SessionUnknown && !caller.is_local() => Err(unknown(session)),
        Err(refusal) => Err(refusal),
    }
}

/// Returns a session that this caller may go on with, and in whose name.
fn own(
    owner: &Owner,
    caller: &Caller,
    session: Uuid,
    name: Option<&str>,
) -> Result<(Session, Arc<Author>), Refusal> {
    let found = seen(owner, caller, session)?;
    let agent = found.work().agent();
    let name = name.or(caller.client());
    let author = match (caller, name, agent) {
        (Caller::Local { .. }, None, Some(agent)) => Some(owner.author_of(agent)?),
        // No key is made for a name that cannot be the right one.
        (Caller::Local { .. }, Some(name), _) => owner.find_author(name, Role::Agent)?,
        (Caller::Local { .. } | Caller::Token(_) | Caller::Stranger, ..) => Some(caller.asker(owner, name)?),
    };
    let author = author.filter(|author| agent == Some(author.principal())).ok_or_else(|| {
        let message = "expected the agent that submitted the plan, found another caller";
        let cure =
            "use the agent's own token; at the command line --as NAME, with the name it submitted under";
        Refusal::new(Code::Forbidden, message).with_cure(cure)
    })?;
    if caller.is_local() {
        owner.bind(author.public().fingerprint(), &caller.made_for())?;
    }
    Ok((found, author))
}

fn unknown(session: Uuid) -> Refusal {
    let message = format!("expected a session of this data folder, found none called {session}");
    Refusal::new(Code::SessionUnknown, message).with_cure("a token sees the sessions that it opened")
}

fn read_plan(members: Map<String, Value>) -> Result<Plan, Refusal> {
    Plan::try_from(Value::Object(members)).map_err(|error| {
        Refusal::new(Code::PlanMalformed, error)
            .about("plan")
            .with_cure("a plan is one JSON object; nothing was recorded")
    })
}

/// The way on which questions of a plan reach somebody here.
const CHANNEL: &str = "http";
