//! `demur plan amend`, `demur plan withdraw` and `demur plan ask-again` (CLR-34).

use demur_api::{
    call::ApiRequest,
    operation::{AmendPlan, AskGapAgain, Nothing, OfGap, OfPlan, ShowPlanHere, WithdrawGap, WithdrawPlan},
    plan::{self as api, PlanAct},
};
use demur_clarify::uuid::Uuid;

use super::{members, of_session, reply::exit};
use crate::{
    arguments,
    client::{Client, SocketRequest},
    context::Context,
    exit::Exit,
    failure::Failure,
    rules,
    user::user_name,
};

/// Puts another plan in the place of the one there is.
pub(super) fn amend(context: &mut Context<'_>, arguments: &arguments::AmendPlan) -> Result<Exit, Failure> {
    let plan = rules::read_plan(&arguments.plan)?;
    let (client, session) = of_session(context, &arguments.session)?;
    let given = api::AmendPlan { plan: members(&plan)?, agent: Some(arguments.author.clone()) };
    client.call_with(&ApiRequest::<AmendPlan>::send(OfPlan { session }, given), SocketRequest::once)?;
    tell(context, &client, session)
}

/// Takes a plan back, or one question about it.
pub(super) fn withdraw(
    context: &mut Context<'_>,
    arguments: &arguments::WithdrawPlan,
) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let act = said(&arguments.act)?;
    if let Some(gap) = arguments.gap.clone() {
        let request = ApiRequest::<WithdrawGap>::send(OfGap { session, gap }, act);
        client.call_with(&request, SocketRequest::once)?;
    } else {
        let request = ApiRequest::<WithdrawPlan>::send(OfPlan { session }, act);
        client.call_with(&request, SocketRequest::once)?;
    }
    tell(context, &client, session).map(|_| Exit::Success)
}

/// Puts a question again.
pub(super) fn ask_again(
    context: &mut Context<'_>,
    arguments: &arguments::AskGapAgain,
) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let path = OfGap { session, gap: arguments.gap.clone() };
    let request = ApiRequest::<AskGapAgain>::send(path, said(&arguments.act)?);
    client.call_with(&request, SocketRequest::once)?;
    tell(context, &client, session).map(|_| Exit::Success)
}

fn said(act: &arguments::PlanSpeaker) -> Result<PlanAct, Failure> {
    let by = if act.author.is_none() { Some(user_name()?) } else { None };
    Ok(PlanAct { agent: act.author.clone(), by, reason: act.reason.clone() })
}

/// Says where the session stands now.
fn tell(context: &mut Context<'_>, client: &Client, session: Uuid) -> Result<Exit, Failure> {
    let told = client.call(ApiRequest::<ShowPlanHere>::get(OfPlan { session }, Nothing {}))?;
    let standing = told.into_standing();
    context.output.reply(&standing)?;
    Ok(exit(&standing))
}
