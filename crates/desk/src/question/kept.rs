//! What the program that asked says in answer to its own question, without the form that it would put before its user: nobody
//! knows that a person said it, so it is kept as what the asker thinks. A person sees it as a suggestion and settles it with
//! one press.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_ledger::{
    author::Author,
    content::{AnswerClaimContent, AnswerValue},
    event_type::Content,
    facts::{AnswerClaimed, AnswerKind},
    name::PrincipalId,
    registry::Registry,
};

use super::{
    Answer, Done, QuestionView,
    act::{done, kind_of, lost, say, saying},
};
use crate::{owner::Owner, session::Speaker};

/// An answer that is kept and settles nothing.
pub(crate) struct Kept {
    /// Whose word it is.
    pub(crate) asker: Arc<Author>,
    /// The person who is said to have given it.
    by: Text<1, 256>,
}

impl Kept {
    /// Returns how an answer is kept that this one gives to a question of this asker; none where it is no such answer, or where
    /// the desk cannot speak for the asker and the engine refuses it.
    pub(crate) fn of(owner: &Owner, asker: PrincipalId, speaker: &Speaker) -> Option<Self> {
        if !is_kept(&owner.sequencer().registry(), asker, speaker) {
            return None;
        }
        Some(Self { asker: owner.author_of(asker).ok()?, by: speaker.by()? })
    }

    /// Returns what is noted beside it: whose answer the program says it is, and what it said of it.
    pub(crate) fn note(&self, given: Option<&Text<1, 4096>>) -> Result<Text<1, 4096>, Refusal> {
        let said = given.map_or_else(String::new, |note| format!(": {note}"));
        let note = format!("the program that asked says that this is the answer of {}{said}", self.by);
        Ok(Text::cut(&note)?)
    }
}

/// Returns whether an answer comes from the program that asked, and not through its form.
pub(super) fn is_kept(registry: &Registry, asker: PrincipalId, speaker: &Speaker) -> bool {
    let Speaker::Person { way, .. } = speaker else { return false };
    let is_own = way.client.is_some_and(|client| registry.clients_of(asker).any(|own| own == client));
    is_own && !way.is_form()
}

/// Keeps an answer to a question that is no gap of a plan. The same again is kept once.
pub(super) fn keep(
    owner: &Owner,
    question: &QuestionView,
    kept: &Kept,
    given: &Answer,
) -> Result<Done, Refusal> {
    if kind_of(question, &given.answer)?.0 == AnswerKind::Secret {
        let message = "expected a secret of a person, found one of the program that asked for it";
        return Err(Refusal::new(Code::Rule(RuleCode::OWN_CLIENT), message)
            .with_cure("a person types it: `demur answer`, or `demur open`"));
    }
    if !(question.is_open() && question.recommendation.as_ref() == Some(&given.answer)) {
        let claim = claim(question, kept, given.answer.clone(), given.note.as_ref())?;
        let speaker = Speaker::Key(Arc::clone(&kept.asker));
        say(owner, question.id, &speaker, claim).map_err(|error| lost(error, owner, question.id))?;
    }
    Ok(Done { unsettled: Some(KEPT.to_owned()), ..done(owner, question.id)? })
}

fn claim(
    question: &QuestionView,
    kept: &Kept,
    answer: AnswerValue,
    note: Option<&Text<1, 4096>>,
) -> Result<demur_plan::act::Act, Refusal> {
    let content = AnswerClaimContent { answer, note: Some(kept.note(note)?) };
    Ok(saying(AnswerClaimed { question: question.id.sequence }, Content::AnswerClaimed(content)))
}

/// What becomes of it.
const KEPT: &str = "the program that asked does not settle its own question: the answer is kept as a suggestion, and a person decides";
