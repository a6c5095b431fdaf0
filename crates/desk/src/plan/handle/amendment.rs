//! The operations that change a plan or end what is asked about it (CLR-34): by the agent that submitted it, or by a person.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    plan::PlanAct,
    question::QuestionId,
    refusal::Refusal,
    scope::Scope,
};
use demur_clarify::uuid::Uuid;
use demur_plan::Session;

use super::{own, read_plan, seen, seen_gap, told, unknown};
use crate::{
    access::{Admitted, Caller, seen_question},
    desk::Desk,
    entry::{Handle, Handled},
    owner::Owner,
    plan,
    session::{self, Speaker},
};

impl Handle<op::AmendPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AmendPlan>) -> Handled<op::AmendPlan> {
        let (owner, session, given) = (&*self.owner()?, request.path.session, request.body);
        let (_, author) = own(owner, by.caller(), session, given.agent.as_deref())?;
        let name = owner.key_directory()?.name(author.principal()).to_owned();
        let amended = plan::amend(owner, author, session, &read_plan(given.plan)?)?;
        told(owner, &amended, &name).map(ApiReply::new)
    }
}

impl Handle<op::WithdrawPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::WithdrawPlan>) -> Handled<op::WithdrawPlan> {
        let (owner, session, given) = (&*self.owner()?, request.path.session, request.body);
        let speaker = speaker(owner, by.caller(), session, &given)?;
        if speaker.by().is_some() {
            seen_anything(owner, by.caller(), session)?;
        }
        let withdrawn = plan::withdraw(owner, &speaker, session, given.reason.as_ref())?;
        super::standing(&withdrawn).map(ApiReply::new)
    }
}

impl Handle<op::WithdrawGap> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::WithdrawGap>) -> Handled<op::WithdrawGap> {
        let (owner, path, given) = (&*self.owner()?, request.path, request.body);
        seen_gap(owner, by.caller(), &path)?;
        let speaker = speaker(owner, by.caller(), path.session, &given)?;
        let place = (path.session, path.gap.as_str());
        let now = plan::withdraw_gap(owner, &speaker, place, given.reason.as_ref())?;
        super::standing(&now).map(ApiReply::new)
    }
}

impl Handle<op::AskGapAgain> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AskGapAgain>) -> Handled<op::AskGapAgain> {
        let (owner, path, given) = (&*self.owner()?, request.path, request.body);
        seen_gap(owner, by.caller(), &path)?;
        let speaker = speaker(owner, by.caller(), path.session, &given)?;
        let place = (path.session, path.gap.as_str());
        let now = plan::ask_again(owner, &speaker, place, given.reason.as_ref())?;
        super::standing(&now).map(ApiReply::new)
    }
}

/// Returns who speaks about a plan: its agent, or a person.
fn speaker(owner: &Owner, caller: &Caller, session: Uuid, given: &PlanAct) -> Result<Speaker, Refusal> {
    let is_agent = match caller {
        // Whoever is at the terminal is a person, unless an agent is named or the call comes through a program.
        Caller::Local { .. } => given.agent.is_some() || (caller.client().is_some() && given.by.is_none()),
        // Whoever cannot answer can only be the agent.
        Caller::Token(_) | Caller::Stranger if !caller.may(&[Scope::Answer, Scope::Relay]) => true,
        Caller::Token(_) | Caller::Stranger => {
            given.by.is_none() && own(owner, caller, session, given.agent.as_deref()).is_ok()
        }
    };
    if is_agent {
        return Ok(Speaker::Key(own(owner, caller, session, given.agent.as_deref())?.1));
    }
    let speaker = caller.answerer(owner, given.by.clone())?;
    if speaker.by().is_none() {
        let message = "expected the agent that submitted the plan or a person, found another key";
        return Err(Refusal::new(Code::PersonNeeded, message)
            .with_cure("decline the question with this key, or let a person withdraw it"));
    }
    Ok(speaker)
}

/// Checks that a caller may see the plan or a question about it; otherwise it is as unknown as one that is not there.
fn seen_anything(owner: &Owner, caller: &Caller, session: Uuid) -> Result<(), Refusal> {
    if seen(owner, caller, session).is_ok() {
        return Ok(());
    }
    let found: Session = session::read(owner.sequencer(), session)
        .map_err(|refusal| if caller.is_local() { refusal } else { unknown(session) })?;
    let mut questions =
        found.gaps().map(|(gap, _)| QuestionId { trace: found.trace(), sequence: gap.question.sequence });
    let sees_one = questions.any(|id| seen_question(owner, caller, id).is_ok());
    if sees_one { Ok(()) } else { Err(unknown(session)) }
}
