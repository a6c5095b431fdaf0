//! A person who may answer and was shown a question on a page is on record, once. Nobody waits for the record, and no page
//! fails for it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{
    question::{QuestionId, QuestionView},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;
use demur_ledger::content::Wording;

use super::deliver::deliver_shown;
use crate::{
    access::{self, Admitted, Caller},
    desk::Desk,
};

/// Who was shown what lately, so that a page that is loaded again costs nothing. Whether it is on record, the commit says.
#[derive(Default)]
pub(crate) struct Showings(Mutex<BTreeSet<(QuestionId, String)>>);

impl Showings {
    /// Returns whether this is the first that is heard of it. Claimed before it is recorded: two pages at once are one showing.
    fn claim(&self, id: QuestionId, name: &str) -> bool {
        let mut claimed = self.claimed();
        if claimed.len() >= MAX_CLAIMED {
            claimed.clear();
        }
        claimed.insert((id, name.to_owned()))
    }

    fn give_back(&self, id: QuestionId, name: &str) {
        self.claimed().remove(&(id, name.to_owned()));
    }

    fn claimed(&self) -> MutexGuard<'_, BTreeSet<(QuestionId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// Notes that a caller was shown these questions on a page, where that is somebody who signed in and may answer.
    pub fn note_shown(self: &Arc<Self>, caller: &Caller, questions: &[QuestionView], wording: Wording) {
        let Some((by, name, claimed)) = self.claim_shown(caller, questions) else { return };
        let desk = Arc::clone(self);
        tokio::spawn(async move {
            let noted = desk.on_worker(move |desk| desk.record_shown(&by, &name, &claimed, wording));
            if let Err(refusal) = noted.await {
                tracing::debug!(code = refusal.code.as_str(), "what was shown is not on record");
            }
        });
    }

    /// Records the same at once: whoever answers from a page has seen the question, and what is on record says so first. May block.
    /// Nobody's answer fails for it.
    pub fn record_shown_first(&self, caller: &Caller, question: &QuestionView, wording: Wording) {
        let Some((by, name, claimed)) = self.claim_shown(caller, std::slice::from_ref(question)) else {
            return;
        };
        if let Err(refusal) = self.record_shown(&by, &name, &claimed, wording) {
            tracing::debug!(code = refusal.code.as_str(), "what was shown is not on record");
        }
    }

    /// Returns those of the questions of which it was not heard before, with who was shown them.
    fn claim_shown(
        &self,
        caller: &Caller,
        questions: &[QuestionView],
    ) -> Option<(Admitted, String, Vec<QuestionId>)> {
        let token = caller.person().filter(|_| self.is_open())?;
        let by = access::admit(caller, &[Scope::Answer]).ok()?;
        let name = token.name.as_str().to_owned();
        let waiting = questions.iter().filter(|question| question.is_open() && question.people);
        let waiting = waiting.map(|shown| shown.id);
        let claimed: Vec<QuestionId> = waiting.filter(|id| self.showings().claim(*id, &name)).collect();
        (!claimed.is_empty()).then_some((by, name, claimed))
    }

    fn record_shown(
        &self,
        by: &Admitted,
        name: &str,
        claimed: &[QuestionId],
        wording: Wording,
    ) -> Result<(), Refusal> {
        let owner = &*self.owner()?;
        let (speaker, channel) = (by.caller().answerer(owner, None)?, Text::try_from(CHANNEL)?);
        for id in claimed {
            let recorded = deliver_shown(owner, *id, &speaker, (&channel, None), wording);
            recorded.inspect_err(|_| self.showings().give_back(*id, name))?;
        }
        Ok(())
    }
}

/// The way these questions went.
const CHANNEL: &str = "web";
/// How many showings are remembered.
const MAX_CLAIMED: usize = 16_384;
