//! Questions over HTTP: asked, listed, waited for, answered, declined, passed on, extended, cancelled (ONE-01, ONE-02,
//! CLR-03, CLR-04).

use demur_api::operation as op;

use crate::api::Api;

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::Ask>()
        .mount::<op::ListQuestions>()
        .mount::<op::ShowQuestion>()
        .mount::<op::ShowQuestionHistory>()
        .mount::<op::WaitForQuestion>()
        .mount::<op::AnswerQuestion>()
        .mount::<op::ReplaceAnswer>()
        .mount::<op::RevokeAnswer>()
        .mount::<op::AcceptQuestion>()
        .mount::<op::DeclineQuestion>()
        .mount::<op::PassQuestion>()
        .mount::<op::ExtendQuestion>()
        .mount::<op::CancelQuestion>()
        .mount::<op::DeliverQuestions>()
        .mount::<op::ReadSecret>()
        .mount::<op::ForgetSecret>()
        .mount::<op::NoteHeard>()
        .mount::<op::AskConfirmation>()
        .mount::<op::ListConfirmations>()
        .mount::<op::ShowConfirmation>()
        .mount::<op::WaitForConfirmation>()
        .mount::<op::GiveConfirmation>()
        .mount::<op::RefuseConfirmation>()
        .mount::<op::StartOperation>()
        .mount::<op::EndOperation>()
}
