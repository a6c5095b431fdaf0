//! What a person can sign: the same acts as without a passkey, by the same functions.

use std::sync::Arc;

use demur_api::{
    code::Code,
    confirmation::{GiveConfirmation, RefuseConfirmation},
    passkey::{TouchAct, TouchStanding, TouchedAct},
    person::PersonRole,
    question::{Act, Answer, Done, QuestionId, Replacement, RevokeParameters},
    refusal::Refusal,
    scope::Scope,
};

use demur_ledger::{facts::Root, name::PersonId};

use super::{Administrator, PasskeySpeaker, administer, touch::Signer, waiting};
use crate::{
    access::seen_question,
    confirmation,
    desk::Desk,
    person,
    question::{PersonalAct, do_in_person},
    run,
    session::Speaker,
};

impl Desk {
    /// Does one thing that a passkey signs; while a touch is prepared, up to the statement that is to be signed.
    pub(super) fn do_touched(
        &self,
        signer: &Signer<'_>,
        passkey: &Arc<PasskeySpeaker>,
        act: &TouchAct,
    ) -> Result<TouchedAct, Refusal> {
        let (owner, caller) = (signer.owner, signer.caller);
        if needs_operator(act) && caller.role() != Some(PersonRole::Operator) {
            let message = "expected an operator, found somebody in another role";
            return Err(Refusal::new(Code::Forbidden, message).with_cure("ask an operator of this server"));
        }
        if let Some((question, act)) = about_question(act) {
            return self.about_question(signer, passkey, (question, act));
        }
        match act.clone() {
            TouchAct::Give { confirmation, digest, note } => {
                let asked = confirmation::seen(owner, caller, confirmation)?;
                let given = GiveConfirmation { by: None, digest, note };
                confirmation::give(owner, &asked, &Speaker::Passkey(Arc::clone(passkey)), &given)?;
            }
            TouchAct::Refuse { confirmation, digest, note } => {
                let asked = confirmation::seen(owner, caller, confirmation)?;
                let refused = RefuseConfirmation { by: None, digest, instead: None, note };
                confirmation::refuse(owner, &asked, &Speaker::Passkey(Arc::clone(passkey)), &refused)?;
            }
            TouchAct::AbortRun { trace, reason } => run::abort_signed(owner, trace, passkey, &reason)?,
            TouchAct::AddPasskey { key } => waiting::vouch(owner, passkey, key)?,
            TouchAct::RemovePasskey { key } => {
                let holder = administer::remove_passkey(owner, passkey, key)?;
                self.end_sessions_by_passkey(signer, holder)?;
            }
            TouchAct::AddPerson { name, role } => {
                person::add(
                    owner,
                    (&name, role),
                    self.limits().people as usize,
                    &Administrator::Passkey(passkey),
                )?;
            }
            TouchAct::ChangePerson { name, role } => {
                self.change_person(owner, &name, role, &Administrator::Passkey(passkey))?;
            }
            TouchAct::RemovePerson { name } => {
                self.remove_person(owner, caller, &name, &Administrator::Passkey(passkey))?;
            }
            // Done above; nothing counts as signed that was not.
            TouchAct::Answer { .. }
            | TouchAct::Replace { .. }
            | TouchAct::Revoke { .. }
            | TouchAct::Accept { .. }
            | TouchAct::Decline { .. } => return Err(Refusal::bug(&"an act about a question was not done")),
        }
        Ok(TouchedAct::standing(TouchStanding::Signed))
    }

    /// Ends the sessions of a person that a passkey opened, all but this one: one of them may be of whoever found the lost passkey.
    fn end_sessions_by_passkey(&self, signer: &Signer<'_>, person: PersonId) -> Result<(), Refusal> {
        for found in self.tokens().sessions(signer.owner, self.now()?)? {
            let token = &found.token;
            let is_by_passkey = token.rests_on.is_some_and(|rests_on| rests_on.root == Root::Passkey);
            if token.person == Some(person) && is_by_passkey && token.id != signer.token.id {
                self.tokens().revoke(signer.owner, &token.id)?;
            }
        }
        Ok(())
    }

    fn about_question(
        &self,
        signer: &Signer<'_>,
        passkey: &Arc<PasskeySpeaker>,
        (question, act): (QuestionId, PersonalAct),
    ) -> Result<TouchedAct, Refusal> {
        let (owner, caller) = (signer.owner, signer.caller);
        if !caller.may(&[Scope::Answer]) {
            let message = "expected a role that answers, found one that reads";
            return Err(Refusal::new(Code::Forbidden, message));
        }
        let shown = seen_question(owner, caller, question)?;
        let done = do_in_person(self, owner, caller, (&shown, &Speaker::Passkey(Arc::clone(passkey))), act)?;
        Ok(touched(&done))
    }
}

/// Returns how an act stands that was done.
fn touched(done: &Done) -> TouchedAct {
    let standing =
        if done.repeated || done.unsettled.is_some() { TouchStanding::Done } else { TouchStanding::Signed };
    TouchedAct { detail: done.unsettled.clone(), ..TouchedAct::standing(standing) }
}

/// Returns whether an act is signed with a touch of its own: everything but what is done about questions.
pub(super) fn stands_alone(act: &TouchAct) -> bool {
    about_question(act).is_none()
}

const fn needs_operator(act: &TouchAct) -> bool {
    matches!(
        act,
        TouchAct::AbortRun { .. }
            | TouchAct::AddPerson { .. }
            | TouchAct::ChangePerson { .. }
            | TouchAct::RemovePerson { .. }
    )
}

/// Returns the question that an act is about, and what is done about it.
fn about_question(act: &TouchAct) -> Option<(QuestionId, PersonalAct)> {
    let act = match act.clone() {
        TouchAct::Answer { question, answer, note, request, wording } => {
            let given = Answer { answer, note, by: None, request };
            (question, PersonalAct::Answer(given, wording))
        }
        TouchAct::Replace { question, answer, replaces, note, request, wording } => {
            let given = Replacement { answer, note, request, by: None, replaces };
            (question, PersonalAct::Replace(given, wording))
        }
        TouchAct::Revoke { question, answer, reason } => {
            (question, PersonalAct::Revoke(RevokeParameters { answer, reason, by: None }))
        }
        TouchAct::Accept { question, reason } => (question, PersonalAct::Accept(Act { reason, by: None })),
        TouchAct::Decline { question, reason } => (question, PersonalAct::Decline(Act { reason, by: None })),
        TouchAct::Give { .. }
        | TouchAct::Refuse { .. }
        | TouchAct::AbortRun { .. }
        | TouchAct::AddPasskey { .. }
        | TouchAct::RemovePasskey { .. }
        | TouchAct::AddPerson { .. }
        | TouchAct::ChangePerson { .. }
        | TouchAct::RemovePerson { .. } => return None,
    };
    Some(act)
}
