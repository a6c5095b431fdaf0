//! What agents in processes of their own say in a run that is driven.

use demur_api::{
    code::Code,
    refusal::Refusal,
    run::{SubmitInRun, SubmittedInRun, UnprovenRun},
};
use demur_engine::refusal::RuleRefusal;
use demur_ledger::{event_type::Facts, facts::RefusalCode, name::TraceId, statement::Statement};
use demur_run::line::{FromAgent, FromDesk, Refused, Submit};

use super::{claim_unknown, held, lines::text, lock, recorder::Recorder};
use crate::{
    owner::Owner,
    run::{door, open::policy_follows},
};

/// Records what an agent in a process of its own said, if it may.
pub fn submit(owner: &Owner, trace: TraceId, said: &SubmitInRun) -> Result<SubmittedInRun, Refusal> {
    let place = owner.drivers().find(trace).ok_or_else(claim_unknown)?;
    let mut place = lock(&place);
    let driving = held(owner, trace, said.claim, &mut place)?;
    let Ok(FromAgent::Submit(submit)) = FromAgent::parse(said.line.as_bytes()) else {
        let message = "expected a line of an agent that submits a statement, found another";
        return Err(Refusal::new(Code::Malformed, message).about("line"));
    };
    let (ledger, participants) = (owner.sequencer(), driving.cast.participants());
    let hello = driving.orders.hello(said.role, &participants, ledger.registry().store(), trace)?;
    let hello = hello.ok_or_else(|| {
        let message = format!("expected a role of this run, found {}", said.role);
        Refusal::new(Code::RoleNotOfARun, message).about("role")
    })?;
    let mut recorder = Recorder::new(owner, (trace, said.claim), (&mut driving.history, driving.told))?;
    let Submit { submission, artifact } = *submit;
    let opens = Statement::parse(&submission.statement)
        .is_ok_and(|statement| matches!(statement.facts, Facts::SessionInitialized(_)));
    let policy = opens.then(|| driving.orders.recorded_policy.clone());
    let rest = policy.map(policy_follows).unwrap_or_default();
    let refused = match door::refuse(ledger, (trace, recorder.history), &hello, &submission) {
        Err(Refusal { code: Code::RecordUnproven, message, .. }) => {
            let (length, events) = recorder.into_lines();
            driving.told = length;
            let unproven = Some(UnprovenRun { message });
            return Ok(SubmittedInRun { events, length, answer: String::new(), unproven });
        }
        refused => refused?,
    };
    let answer = match refused {
        Some(refused) => FromDesk::Refused(refused),
        None => match recorder.submit(submission, artifact.as_ref(), rest)? {
            Ok(position) => FromDesk::Recorded(position),
            Err(refusal) => FromDesk::Refused(told(refusal)?),
        },
    };
    let answer = text(answer.to_line().map_err(|error| Refusal::bug(&error))?)?;
    let (length, events) = recorder.into_lines();
    driving.told = length;
    Ok(SubmittedInRun { events, length, answer, unproven: None })
}

fn told(refusal: RuleRefusal) -> Result<Refused, Refusal> {
    Ok(Refused {
        code: RefusalCode::try_from(refusal.code.to_owned()).map_err(|error| Refusal::bug(&error))?,
        cure: refusal.cure.to_owned(),
        field: refusal.field.map(ToOwned::to_owned),
        message: refusal.message,
    })
}
