//! To whom a question is handed, by name: to the holder of a key for answering, or to a person. The record names keys and
//! says whether people may answer; which person was meant stands in the reason.

use demur_api::{
    code::{Code, RuleCode},
    person::PersonRole,
    question::Passing,
    refusal::Refusal,
};
use demur_core::limit::{LimitError, Text};

use crate::{desk::Desk, name, owner::Owner, person, question};

/// Returns the same with the people apart from the keys. A name that is both is a key's: people cannot be added under it.
pub(in crate::question) fn people_apart(
    desk: &Desk,
    owner: &Owner,
    passing: Passing,
) -> Result<Passing, Refusal> {
    let (mut keys, mut persons) = (Vec::new(), Vec::new());
    for name in &*passing.to {
        if question::has_answering_key(owner, name)? {
            keys.push(name.clone());
        } else if is_person(desk, owner, name)? {
            persons.push(name.as_str());
        } else {
            return Err(nobody(name));
        }
    }
    if persons.is_empty() {
        return Ok(passing);
    }
    let meant = format!("for {}", persons.join(", "));
    let reason = match &passing.reason {
        // What somebody signs is not cut behind their back.
        Some(reason) => Text::try_from(format!("{meant}: {reason}")).map_err(|error| too_long(&error))?,
        None => Text::cut(&meant)?,
    };
    Ok(Passing { to: keys.try_into()?, people: true, reason: Some(reason), by: passing.by })
}

/// Returns whether a person of this name can answer; one who may only read is told as such.
fn is_person(desk: &Desk, owner: &Owner, wanted: &str) -> Result<bool, Refusal> {
    if name::same(desk.user(), wanted) {
        return Ok(true);
    }
    let found = person::list(owner)?.into_iter().find(|person| name::same(&person.name, wanted));
    match found {
        Some(person) if person.role == PersonRole::Auditor => {
            let message = format!("expected somebody who may answer, found the auditor {wanted:?}");
            Err(Refusal::new(Code::Rule(RuleCode::NOT_ENTITLED), message)
                .with_cure("`demur people list` shows the roles"))
        }
        found => Ok(found.is_some()),
    }
}

fn too_long(error: &LimitError) -> Refusal {
    Refusal::new(Code::Malformed, format!("the reason, with the names of the people before it: {error}"))
        .about("reason")
        .with_cure("say it in fewer words; the question was not passed on")
}

fn nobody(name: &str) -> Refusal {
    let message = format!("expected the name of a person or of a key for answering, found {name:?}");
    Refusal::new(Code::KeyUnknown, message).with_cure(
        "`demur people list` and `demur keys list` show the names; `--people` means everybody who signs in",
    )
}
