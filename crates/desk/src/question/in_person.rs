//! What a person at the inbox does about a question. It is on record how the question was worded for them, and they may do in the
//! asker's name what nobody else may: give more time, call it off.

use demur_api::{
    person::PersonRole,
    question::{
        Act, Answer, Done, Extension, Passing, QuestionId, QuestionView, Replacement, RevokeParameters,
    },
    refusal::Refusal,
    scope::Scope,
};
use demur_clarify::uuid::Uuid;
use demur_ledger::content::Wording;

use super::{
    accept,
    act::answer_shown,
    cancel,
    change::{replace_shown, revoked},
    decline, extend,
    handle::{note_answer, people_apart},
    pass_on, revoke,
    view::view,
};
use crate::{
    access::{Caller, asker_for, seen_question},
    desk::Desk,
    owner::Owner,
    plan,
    session::Speaker,
};

/// What a person does.
#[derive(Clone, Debug)]
pub enum PersonalAct {
    /// Answers, having seen the question in this wording.
    Answer(Answer, Wording),
    /// Puts another answer in the place of an own one, having seen the question in this wording.
    Replace(Replacement, Wording),
    /// Takes an own answer back.
    Revoke(RevokeParameters),
    /// Accepts what it points at.
    Accept(Act),
    /// Declines.
    Decline(Act),
    /// Hands it to others.
    Pass(Passing),
    /// Gives more time, in the asker's name.
    Extend(Extension),
    /// Calls it off, in the asker's name.
    Cancel(Act),
    /// Puts a gap of a plan again that nobody is asked about.
    AskAgain(Act),
    /// Takes the plan back that a gap belongs to.
    WithdrawPlan(Act),
}

impl Desk {
    /// Does what a person wants done about a question. May block.
    pub fn act_in_person(&self, caller: &Caller, id: QuestionId, act: PersonalAct) -> Result<Done, Refusal> {
        let by = self.admit(caller, ANSWERING)?;
        let (owner, caller) = (&*self.owner()?, by.caller());
        let question = &seen_question(owner, caller, id)?;
        let speaker = caller.answerer(owner, None)?;
        do_in_person(self, owner, caller, (question, &speaker), act)
    }
}

/// Does what a person wants done about a question that they see, in their own words or in the asker's name.
pub(crate) fn do_in_person(
    desk: &Desk,
    owner: &Owner,
    caller: &Caller,
    (question, speaker): (&QuestionView, &Speaker),
    act: PersonalAct,
) -> Result<Done, Refusal> {
    match act {
        PersonalAct::Answer(given, wording) => {
            let done = answer_shown(owner, question, speaker, &given, wording)?;
            note_answer(desk.counts(), &done);
            Ok(done)
        }
        PersonalAct::Replace(given, wording) => replace_shown(owner, question, speaker, &given, wording),
        PersonalAct::Revoke(given) => revoke(owner, question, speaker, revoked(&given)?),
        PersonalAct::Accept(act) => accept(owner, question, speaker, &act),
        PersonalAct::Decline(act) => decline(owner, question, speaker, &act),
        PersonalAct::Pass(passing) => pass_on(owner, question, speaker, &people_apart(desk, owner, passing)?),
        PersonalAct::Extend(extension) => {
            let (asker, by) = asker_for(owner, caller, question, PersonRole::Answerer)?;
            extend(owner, question, asker, Some(by), &extension)
        }
        PersonalAct::Cancel(act) => {
            let (asker, by) = asker_for(owner, caller, question, PersonRole::Operator)?;
            cancel(owner, question, asker, Some(by), &act)
        }
        PersonalAct::AskAgain(act) => {
            let (session, gap) = plan_of(question)?;
            plan::ask_again(owner, speaker, (session, gap), act.reason.as_ref())?;
            done(owner, question.id)
        }
        PersonalAct::WithdrawPlan(act) => {
            let (session, _) = plan_of(question)?;
            plan::withdraw(owner, speaker, session, act.reason.as_ref())?;
            done(owner, question.id)
        }
    }
}

/// Returns the session and the name of a gap.
fn plan_of(question: &QuestionView) -> Result<(Uuid, &str), Refusal> {
    let of_plan = question.plan.as_ref().zip(question.gap.as_deref());
    of_plan.map(|(plan, gap)| (plan.session, gap)).ok_or_else(|| {
        Refusal::malformed("expected a question about a plan, found another")
            .with_cure("an agent asks its own questions again")
    })
}

fn done(owner: &Owner, id: QuestionId) -> Result<Done, Refusal> {
    Ok(Done { question: view(owner, id)?, repeated: false, unsettled: None })
}

/// Who does something about a question on a page.
const ANSWERING: &[Scope] = &[Scope::Answer];
