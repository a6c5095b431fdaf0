//! Deadlines (AEP-07, AEP-08): a timer only makes visible what follows from the clock. Without a declared default a
//! question expires and goes on blocking; with one, the default holds and is recorded as such.

use demur_api::refusal::Refusal;
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::DefaultContent,
    event_type::Content,
    facts::{QuestionDefaulted, QuestionExpired},
    role::Role,
};
use demur_store::contract::QuestionSummary;

use crate::{owner::Owner, record};

/// Records what follows from a deadline that has passed.
pub(crate) fn expire(owner: &Owner, question: &QuestionSummary) -> Result<(), Refusal> {
    match end(owner, question) {
        // Answered or ended meanwhile, here or by another process: there is nothing left to record.
        Err(error) if !error.code.is_late() => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn end(owner: &Owner, question: &QuestionSummary) -> Result<(), Refusal> {
    let sequence = question.sequence;
    let state = owner.sequencer().look(question.trace)?;
    // As it stands, not as it was asked: an escalation takes the default away.
    let asked = state.questions().and_then(|questions| questions.find(sequence));
    let content = if asked.is_some_and(|asked| asked.facts().default) {
        record::read(owner.sequencer().store(), question.trace, sequence)?.1
    } else {
        None
    };
    let default = match content {
        Some(Content::QuestionAsked(words) | Content::GapFound(words)) => words.default,
        _ => None,
    };
    let (facts, content) = match default {
        Some(default) => (
            QuestionDefaulted { question: sequence }.into(),
            Some(Content::QuestionDefaulted(DefaultContent { default })),
        ),
        None => (QuestionExpired { question: sequence }.into(), None),
    };
    let first = Saying { role: Role::Desk, facts, content };
    owner.sequencer().record(question.trace, first, Consequences::default())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use demur_api::question::{Act, Ask};
    use demur_ledger::facts::{Attribution, Door, Root};

    use super::*;
    use crate::{
        data::DataFolder,
        question::{ask, decline, view},
        session::Speaker,
    };

    #[test]
    fn deadline_of_a_question_that_ended_meanwhile_is_no_trouble() {
        let folder = tempfile::tempdir().unwrap();
        let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
        let asker = owner.find_or_enrol("asker", Role::Agent).unwrap();
        let words: Ask = serde_json::from_str(r#"{"question": "Which?", "timeout_seconds": 60}"#).unwrap();
        let id = ask(&owner, &asker, &words, None).unwrap().id;
        let due = owner.sequencer().store().question(id.trace, id.sequence).unwrap().unwrap();
        let way = Attribution::new(Door::Socket, Root::SameUser);
        let person = Speaker::person("somebody".try_into().unwrap(), way);
        decline(&owner, &view(&owner, id).unwrap(), &person, &Act::default()).unwrap();
        let before = owner.sequencer().store().end().unwrap();
        expire(&owner, &due).unwrap();
        assert_eq!(owner.sequencer().store().end().unwrap(), before, "nothing is recorded");
    }
}
