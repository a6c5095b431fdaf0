//! What is done about a question: by those who may answer it, and by whoever asked. Whoever comes too late is told who was
//! first, when and how (ONE-02).

use std::{sync::Arc, time::Duration};

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation::{self as op, OfQuestion, Operation},
    question::{Done, QuestionView, Said},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_ledger::{author::Author, question::OutcomeKind};

use super::people_apart;
use crate::{
    access::{Admitted, asker_of, seen_question},
    desk::{Count, Desk},
    entry::{Begun, Handle, Handled, ReplyNotes},
    lookup::Lookup,
    owner::Owner,
    question::{
        accept, answer, answering, cancel, change::revoked, decline, deliver, extend, pass_on, replace,
        revoke,
    },
    session::Speaker,
};

impl Handle<op::AnswerQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AnswerQuestion>) -> Handled<op::AnswerQuestion> {
        by_answerer(self, by, &request, answer)
    }

    /// A question that was just asked is answered without a thread that waits.
    fn begin(
        at: &Lookup,
        by: &Admitted,
        request: &ApiRequest<op::AnswerQuestion>,
    ) -> Result<Begun<Done>, Refusal> {
        let Some(shown) = at.seen_question(by.caller(), request.path.question) else {
            return Ok(Begun::NotHere);
        };
        let speaker = by.caller().known_answerer(at, request.body.by.clone())?;
        let Some(speaker) = speaker else { return Ok(Begun::NotHere) };
        let recording = answering(at, &shown, &speaker, &request.body)?;
        Ok(recording.map_or(Begun::NotHere, |recording| {
            Begun::recording(
                recording
                    .then(|_, done| Some(ApiReply::new(done.clone())), |_, done| Ok(ApiReply::new(done))),
            )
        }))
    }

    fn settled(notes: &ReplyNotes<'_>, reply: &ApiReply<Done>) {
        note_answer(notes.counts(), &reply.document);
    }
}

impl Handle<op::ReplaceAnswer> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ReplaceAnswer>) -> Handled<op::ReplaceAnswer> {
        by_answerer(self, by, &request, replace)
    }
}

impl Handle<op::RevokeAnswer> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::RevokeAnswer>) -> Handled<op::RevokeAnswer> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let shown = seen_question(owner, caller, request.path.question)?;
        let speaker = caller.answerer(owner, request.query.by.clone())?;
        revoke(owner, &shown, &speaker, revoked(&request.query)?).map(ApiReply::new)
    }
}

impl Handle<op::AcceptQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AcceptQuestion>) -> Handled<op::AcceptQuestion> {
        by_answerer(self, by, &request, accept)
    }
}

impl Handle<op::DeclineQuestion> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::DeclineQuestion>,
    ) -> Handled<op::DeclineQuestion> {
        by_answerer(self, by, &request, decline)
    }
}

impl Handle<op::PassQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::PassQuestion>) -> Handled<op::PassQuestion> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let shown = seen_question(owner, caller, request.path.question)?;
        let speaker = caller.answerer(owner, request.body.by().cloned())?;
        let passing = people_apart(self, owner, request.body)?;
        pass_on(owner, &shown, &speaker, &passing).map(ApiReply::new)
    }
}

impl Handle<op::ExtendQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ExtendQuestion>) -> Handled<op::ExtendQuestion> {
        by_asker(self, by, &request, extend)
    }
}

impl Handle<op::CancelQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::CancelQuestion>) -> Handled<op::CancelQuestion> {
        by_asker(self, by, &request, cancel)
    }
}

/// Says something about a question as somebody who may answer it.
fn by_answerer<O>(
    desk: &Desk,
    by: &Admitted,
    request: &ApiRequest<O>,
    say: impl FnOnce(&Owner, &QuestionView, &Speaker, &O::Body) -> Result<Done, Refusal>,
) -> Result<ApiReply<Done>, Refusal>
where
    O: Operation<Path = OfQuestion, Output = Done>,
    O::Body: Said,
{
    let (owner, caller) = (&*desk.owner()?, by.caller());
    let shown = seen_question(owner, caller, request.path.question)?;
    let speaker = caller.answerer(owner, request.body.by().cloned())?;
    say(owner, &shown, &speaker, &request.body).map(ApiReply::new)
}

/// Says something about a question as whoever asked it.
fn by_asker<O>(
    desk: &Desk,
    by: &Admitted,
    request: &ApiRequest<O>,
    say: impl FnOnce(&Owner, &QuestionView, Arc<Author>, Option<Text<1, 256>>, &O::Body) -> Result<Done, Refusal>,
) -> Result<ApiReply<Done>, Refusal>
where
    O: Operation<Path = OfQuestion, Output = Done>,
    O::Body: Said,
{
    let owner = &*desk.owner()?;
    let said_by = request.body.by().cloned();
    let (shown, asker, wanted_by) = asker_of(owner, by.caller(), request.path.question, said_by)?;
    say(owner, &shown, asker, wanted_by, &request.body).map(ApiReply::new)
}

/// Notes how long a question waited for an answer that was given now.
pub(in crate::question) fn note_answer(counts: &dyn Count, done: &Done) {
    let ending = done.question.outcome.as_ref();
    let given_now = ending.filter(|ending| ending.state == OutcomeKind::Answered && !done.repeated);
    if let Some(ending) = given_now {
        let millis = ending.time.as_millis().saturating_sub(done.question.asked.as_millis());
        counts.answered_after(Duration::from_millis(millis).as_secs_f64());
    }
}

impl Handle<op::DeliverQuestions> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::DeliverQuestions>,
    ) -> Handled<op::DeliverQuestions> {
        let (owner, caller, given) = (&*self.owner()?, by.caller(), request.body);
        let speaker = caller.answerer(owner, given.to.clone())?;
        for id in &*given.questions {
            seen_question(owner, caller, *id)?;
            deliver(owner, *id, &speaker, (&given.channel, caller.program()))?;
        }
        Ok(ApiReply::new(op::Nothing {}))
    }
}
