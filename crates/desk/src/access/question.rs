//! Who may see a question, and who speaks for the one who asked it.

use std::sync::Arc;

use demur_api::{
    code::Code,
    person::PersonRole,
    question::{QuestionId, QuestionView},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;
use demur_ledger::{author::Author, name::PrincipalId};

use super::{Caller, Sight, may_read};
use crate::{owner::Owner, question};

/// Returns the question, if this caller may see it.
pub(crate) fn seen_question(owner: &Owner, caller: &Caller, id: QuestionId) -> Result<QuestionView, Refusal> {
    match question::view(owner, id) {
        Ok(shown) if sees(owner, caller, &shown)? => return Ok(shown),
        // What is not there and what this caller may not see is the same to it.
        Ok(_) => {}
        Err(refusal) if refusal.code == Code::QuestionUnknown && !caller.may(&[Scope::Read]) => {}
        Err(refusal) => return Err(refusal),
    }
    let message = format!("expected a question of this data folder, found none called {id}");
    Err(Refusal::new(Code::QuestionUnknown, message).with_cure(
        "a token sees what its program asked, what is asked in its runs, and what it may answer or relay",
    ))
}

fn sees(owner: &Owner, caller: &Caller, shown: &QuestionView) -> Result<bool, Refusal> {
    let sight = Sight::of(caller, owner.sequencer().registry());
    let keys = || question::answering_keys(owner, shown.id);
    Ok(sight.sees(shown.asker.principal, shown.people, keys)? || may_read(owner, caller, shown.trace)?)
}

/// Returns a question and whoever asked it, if this caller speaks for that one, and who the caller says wanted it.
pub(crate) fn asker_of(
    owner: &Owner,
    caller: &Caller,
    id: QuestionId,
    by: Option<Text<1, 256>>,
) -> Result<(QuestionView, Arc<Author>, Option<Text<1, 256>>), Refusal> {
    let shown = seen_question(owner, caller, id)?;
    let asker = shown.asker.principal;
    let by = match caller {
        // A client speaks for whoever asks under its name, and for nobody else.
        Caller::Local { client: Some(_), .. } if !is_client(owner, caller, &shown)? => {
            return Err(other());
        }
        // What a client does is its own act, signed with its key: its user has not said anything.
        Caller::Local { client: Some(_), .. } => None,
        Caller::Local { name, .. } => by.or_else(|| Some(name.clone())),
        caller if caller.is(asker) || plays_as(owner, caller, asker)? => None,
        Caller::Token(_) | Caller::Stranger => return Err(other()),
    };
    Ok((shown, owner.author_of(asker)?, by))
}

fn is_client(owner: &Owner, caller: &Caller, shown: &QuestionView) -> Result<bool, Refusal> {
    Ok(caller.client() == Some(&shown.asker.name) || plays_as(owner, caller, shown.asker.principal)?)
}

/// Returns whether the caller is this one in some run.
fn plays_as(owner: &Owner, caller: &Caller, asker: PrincipalId) -> Result<bool, Refusal> {
    Ok(caller.seats(owner)?.iter().any(|(_, principal)| *principal == asker))
}

/// Returns whoever asked, for a person at the inbox who speaks in that one's name: more time may have whoever may answer,
/// calling off is for operators. The record names the person.
pub(crate) fn asker_for(
    owner: &Owner,
    caller: &Caller,
    question: &QuestionView,
    needed: PersonRole,
) -> Result<(Arc<Author>, Text<1, 256>), Refusal> {
    let Caller::Token(token) = caller else {
        return Err(Refusal::new(
            Code::Forbidden,
            "expected a person who is signed in, found another caller",
        ));
    };
    let may = token.role == Some(PersonRole::Operator) || token.role == Some(needed);
    if !may || !token.scopes.contains(&Scope::Person) || !question.people {
        let message = "expected a person whose role may do this in the asker's name, found another caller";
        return Err(Refusal::new(Code::Forbidden, message));
    }
    Ok((owner.author_of(question.asker.principal)?, Text::try_from(token.name.as_str())?))
}

fn other() -> Refusal {
    Refusal::new(Code::Forbidden, "expected the asker of the question, found another caller")
}
