//! What a person can sign: the same acts as without a passkey, by the same functions.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    confirmation::{GiveConfirmation, RefuseConfirmation},
    passkey::{ActResult, ActStatus, TouchAct},
    person::PersonRole,
    question::{Act, Answer, Done, QuestionId, Replacement, RevokeParameters},
    refusal::Refusal,
    scope::Scope,
};

use demur_core::limit::Text;
use demur_ledger::facts::{self, Enrolment, Root};

use super::{
    Administrator, PasskeySpeaker, administer,
    touch::{Signer, speaking_at},
    waiting,
};
use crate::{
    access::{Token, seen_question},
    confirmation,
    desk::Desk,
    owner::Owner,
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
    ) -> Result<ActResult, Refusal> {
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
                self.expect_operator_here(owner, |passkey| passkey.key.fingerprint() == key)?;
                let holder = administer::remove_passkey(owner, passkey, key)?;
                // One of them may be of whoever found the lost passkey. The one here goes on while there is another passkey.
                let has_another = owner.sequencer().newest_registry()?.has_passkey(holder);
                let stays = |token: &Token| has_another && token.id == signer.token.id;
                self.end_sessions_by_passkey(owner, |token| token.person == Some(holder) && !stays(token))?;
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
                if role != PersonRole::Operator {
                    self.expect_operator_besides(owner, &name)?;
                }
                self.change_person(owner, &name, role, &Administrator::Passkey(passkey))?;
            }
            TouchAct::RemovePerson { name } => {
                self.expect_operator_besides(owner, &name)?;
                self.remove_person(owner, caller, &name, &Administrator::Passkey(passkey))?;
            }
            // Done above; nothing counts as signed that was not.
            TouchAct::Answer { .. }
            | TouchAct::Replace { .. }
            | TouchAct::Revoke { .. }
            | TouchAct::Accept { .. }
            | TouchAct::Decline { .. } => return Err(Refusal::bug(&"an act about a question was not done")),
        }
        Ok(ActResult::of(ActStatus::Signed))
    }

    /// Checks that an operator's passkey for this address is left when those of this person count no more.
    fn expect_operator_besides(&self, owner: &Owner, name: &Text<1, 64>) -> Result<(), Refusal> {
        let Some((person, _)) = person::called(owner, name)? else { return Ok(()) };
        self.expect_operator_here(owner, |passkey| passkey.person == person)
    }

    /// Checks that an operator's passkey for this address is left when those are gone that `goes` says of: those of other addresses
    /// sign nothing here.
    fn expect_operator_here(&self, owner: &Owner, goes: impl Fn(&Enrolment) -> bool) -> Result<(), Refusal> {
        let registry = owner.sequencer().newest_registry()?;
        let (origin, at) = (self.origin()?, registry.head().sequence);
        let mut of_operators = speaking_at(&registry, &origin)
            .filter(|passkey| registry.role_of(passkey.person, at) == Some(facts::PersonRole::Operator))
            .peekable();
        if of_operators.peek().is_none() || of_operators.any(|passkey| !goes(passkey)) {
            return Ok(());
        }
        let message =
            format!("expected an operator's passkey for {origin} to be left, found that this is the last");
        Err(Refusal::new(Code::Rule(RuleCode::LAST_OPERATOR_PASSKEY), message)
            .with_cure("add another one first; or remove it at the other address, with a passkey for that"))
    }

    /// Ends those of the sessions that passkeys opened.
    pub(super) fn end_sessions_by_passkey(
        &self,
        owner: &Owner,
        ends: impl Fn(&Token) -> bool,
    ) -> Result<(), Refusal> {
        for found in self.tokens().sessions(owner, self.now()?)? {
            let token = &found.token;
            let is_by_passkey = token.rests_on.is_some_and(|rests_on| rests_on.root == Root::Passkey);
            if is_by_passkey && ends(token) {
                self.tokens().revoke(owner, &token.id)?;
            }
        }
        Ok(())
    }

    fn about_question(
        &self,
        signer: &Signer<'_>,
        passkey: &Arc<PasskeySpeaker>,
        (question, act): (QuestionId, PersonalAct),
    ) -> Result<ActResult, Refusal> {
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
fn touched(done: &Done) -> ActResult {
    let status = if done.repeated || done.unsettled.is_some() { ActStatus::Done } else { ActStatus::Signed };
    ActResult { detail: done.unsettled.clone(), ..ActResult::of(status) }
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
