//! The same with a passkey: what a review showed becomes the acts that one touch signs.

use demur_api::{
    code::Code,
    passkey::TouchAct,
    question::{QuestionId, QuestionView},
};
use demur_ledger::{content::Wording, facts::Assurance};
use demur_web::{
    frame::{Level, Visitor},
    passkey::Sending,
    question::least,
    words::ENGLISH,
};

use super::{bulk::Wanted, intent::Intent};
use crate::{
    problem::Problem,
    routes::pages::{
        Form, Visiting,
        questions::{look_at, wording},
    },
    service::Shared,
};

/// Returns what the form of a review has signed.
pub(in crate::routes::pages) async fn signed(
    service: &Shared,
    visiting: &Visiting,
    form: &Form,
) -> Result<TouchAct, Problem> {
    let id = form.one("question").and_then(|text| text.parse::<QuestionId>().ok());
    let id = id.ok_or_else(|| Problem::malformed("expected the id of a question, found another word"))?;
    let question = look_at(service, &visiting.caller, id).await?;
    let act = form.one("act").unwrap_or_default();
    let intent = Intent::read(&act, form, &question).map_err(|wrong| plain(&wrong.message))?;
    let level = form.one("level").and_then(|word| Level::from_word(&word)).unwrap_or_default();
    let act = touch_act(&question, intent, wording(level));
    let act = act.ok_or_else(|| plain(ENGLISH.wrong_act))?;
    note_shown(service, visiting, vec![question], level).await?;
    Ok(act)
}

/// Returns what the form of a review of several questions has signed, in their order.
pub(in crate::routes::pages) async fn several_signed(
    service: &Shared,
    visiting: &Visiting,
    form: &Form,
) -> Result<Vec<TouchAct>, Problem> {
    let wanted = Wanted::read(form);
    let wrong = if wanted.ids.len() > MAX_SIGNED { Some(ENGLISH.touch_many) } else { wanted.wrong() };
    if let Some(wrong) = wrong {
        return Err(plain(wrong));
    }
    let (mut acts, mut questions) = (Vec::new(), Vec::new());
    for chosen in wanted.choose(service, &visiting.caller).await {
        let (Some(question), Ok(intent)) = (chosen.question, chosen.intent) else {
            return Err(plain(ENGLISH.bulk_moved));
        };
        acts.extend(touch_act(&question, intent, wording(wanted.level)));
        questions.push(question);
    }
    note_shown(service, visiting, questions, wanted.level).await?;
    Ok(acts)
}

/// Returns how something can be sent that is done about a question.
pub(super) fn sending(visitor: Option<&Visitor>, intent: &Intent, question: &QuestionView) -> Sending {
    let Some(visitor) = visitor.filter(|_| intent.is_signable()) else { return Sending::Plain };
    let needed = if intent.settles() { least(question) } else { Assurance::Agent };
    Sending::of(visitor, needed)
}

/// Whoever signs has seen the question, and what is on record says so first.
async fn note_shown(
    service: &Shared,
    visiting: &Visiting,
    questions: Vec<QuestionView>,
    level: Level,
) -> Result<(), Problem> {
    let caller = visiting.caller.clone();
    let noted = move |desk: &demur_desk::desk::Desk| {
        for question in &questions {
            desk.record_shown_first(&caller, question, wording(level));
        }
        Ok(())
    };
    service.work(noted).await
}

/// Returns the act that a passkey signs; none where it signs nothing of the kind.
fn touch_act(question: &QuestionView, intent: Intent, wording: Wording) -> Option<TouchAct> {
    let (request, question) = (question.request, question.id);
    Some(match intent {
        Intent::Answer { value: answer, note } => {
            TouchAct::Answer { question, answer, note, request, wording }
        }
        Intent::Replace { value: answer, note, answer: replaces } => {
            TouchAct::Replace { question, answer, replaces, note, request, wording }
        }
        Intent::Revoke { reason, answer } => TouchAct::Revoke { question, answer, reason },
        Intent::Accept { note: reason } => TouchAct::Accept { question, reason },
        Intent::Decline { reason } => TouchAct::Decline { question, reason },
        Intent::AskBack { words } => TouchAct::Decline { question, reason: Some(words) },
        Intent::Pass { .. }
        | Intent::Extend { .. }
        | Intent::Cancel { .. }
        | Intent::AskAgain { .. }
        | Intent::WithdrawPlan { .. } => return None,
    })
}

/// Returns a problem that the page says to a person as it stands.
fn plain(words: &str) -> Problem {
    Problem::new(Code::Malformed, words)
}

/// How many questions one touch signs.
const MAX_SIGNED: usize = 64;
