//! What the types of a task cannot say: names are unique, what is named is there, and every claim can be made.

use std::collections::BTreeSet;

use demur_ledger::{content::CheckPlace, role::Role};

use super::{Call, Claim, Goal, Task};
use crate::{
    file::{FileError, line_of, line_with},
    template::is_name,
};

/// Checks that the parts of a task fit together; `text` is its file.
pub(super) fn check(task: &Task, text: &str) -> Result<(), FileError> {
    if let Some(role) = task.agents.keys().find(|role| !Role::OF_A_RUN.contains(role)) {
        let message = format!("agents: expected planner, executor, critic or auditor, found {role}");
        return Err(wrong(line_with(text, &format!("[agents.{role}")), message));
    }
    let mut files = BTreeSet::new();
    if let Some(file) = task.files.iter().find(|file| !files.insert(file.as_str())) {
        let message = format!("files: expected each file once, found {:?} a second time", &**file);
        return Err(wrong(line_with(text, "files"), message));
    }
    let mut names = BTreeSet::new();
    for (number, (goal, call)) in task.calls().enumerate() {
        let at = |message| wrong(line_of(text, "goal.call", number), message);
        if !names.insert(call.name.as_str()) {
            return Err(at(format!("expected a name of its own, found {:?} a second time", &*call.name)));
        }
        check_call(goal, call).map_err(at)?;
    }
    check_goals(task, text)?;
    for (number, (goal, claim)) in task.claims().enumerate() {
        check_claim(goal, claim).map_err(|message| wrong(line_of(text, "goal.claim", number), message))?;
    }
    check_counts(task, text)
}

fn check_counts(task: &Task, text: &str) -> Result<(), FileError> {
    if task.goals.is_empty() && !task.is_separate(Role::Planner) {
        return Err(FileError::Sense("expected at least one [[goal]], found none".to_owned()));
    }
    let claims = task.claims().count();
    if claims == 0 && !task.is_separate(Role::Executor) {
        let message =
            "expected at least one [[goal.claim]], found none: a run ends with what it claims".to_owned();
        return Err(FileError::Sense(message));
    }
    if claims > MAX_CLAIMS {
        let message = format!("expected at most {MAX_CLAIMS} claims, found {claims}");
        return Err(wrong(line_of(text, "goal.claim", MAX_CLAIMS), message));
    }
    Ok(())
}

fn check_goals(task: &Task, text: &str) -> Result<(), FileError> {
    let mut objectives = BTreeSet::new();
    for (number, goal) in task.goals.iter().enumerate() {
        let at = |message| wrong(line_of(text, "goal", number), message);
        if !objectives.insert(goal.objective.as_str()) {
            let message =
                format!("expected an objective of its own, found {:?} a second time", &*goal.objective);
            return Err(at(message));
        }
        let of_calls = goal.calls.iter().map(|call| &call.tool);
        let tools: BTreeSet<_> = of_calls.chain(&goal.tools).collect();
        if tools.len() > MAX_TOOLS {
            return Err(at(format!(
                "expected at most {MAX_TOOLS} tools for one goal, found {}",
                tools.len()
            )));
        }
    }
    Ok(())
}

fn check_call(goal: &Goal, call: &Call) -> Result<(), String> {
    let name = call.name.as_str();
    // It becomes part of the names of artifacts.
    if !is_name(name) {
        return Err(format!("expected a name of letters, digits, - and _, found {name:?}"));
    }
    if call.command.iter().any(|word| word.contains('\0')) {
        return Err("command: expected words without the zero character".to_owned());
    }
    if call.command.is_empty() {
        return Err("expected a program in command, found an empty list".to_owned());
    }
    if let Some(value) = call.shows.keys().find(|value| !is_name(value)) {
        return Err(format!("shows: expected a name of letters, digits, - and _, found {value:?}"));
    }
    for (value, place) in &call.shows {
        check_place(place).map_err(|message| format!("shows.{value}: {message}"))?;
    }
    let Some(instead) = &call.fallback_for else { return Ok(()) };
    if call.reserve {
        return Err("expected fallback_for or reserve, found both".to_owned());
    }
    // One that stands further up: so no call takes the place of itself, however many there are between.
    let above = goal.calls.iter().take_while(|other| other.name != call.name);
    match above.filter(|other| *other.name == *instead.as_str()).find(|other| !other.reserve) {
        None => Err(format!(
            "fallback_for: expected an earlier call of this goal that is no reserve, found {instead:?}"
        )),
        // The record lets an intent be fallen back from once.
        Some(_) if goal.fallback(instead).is_some_and(|first| first.name != call.name) => {
            Err(format!("fallback_for: expected one fallback for {instead:?}, found two"))
        }
        Some(_) => Ok(()),
    }
}

/// The format takes any text for a pointer, and finds nothing with one that is none. In a file that is a slip.
fn check_place(place: &CheckPlace) -> Result<(), String> {
    match place {
        CheckPlace::Pointer(pointer) if !pointer.is_empty() && !pointer.starts_with('/') => Err(format!(
            "expected a pointer that is empty or begins with /, such as \"/total\", found {:?}",
            &**pointer
        )),
        _ => Ok(()),
    }
}

fn check_claim(goal: &Goal, claim: &Claim) -> Result<(), String> {
    let is_call = |name: &&String| goal.calls.iter().any(|call| *call.name == **name);
    if let Some(name) = claim.calls.iter().find(|name| !is_call(name)) {
        return Err(format!("calls: expected the name of a call of this goal, found {name:?}"));
    }
    let basis: Vec<&Call> = goal.basis(claim, false).collect();
    if basis.is_empty() && !claim.calls.is_empty() {
        return Err("calls: expected a call that is always run, found only calls in reserve".to_owned());
    }
    if let Some(name) =
        claim.text.names().find(|name| !basis.iter().any(|call| call.shows.contains_key(*name)))
    {
        return Err(format!(
            "text: expected a value that a call of the claim shows, found {{{name}}}: say where it stands with shows.{name} = ... at the call"
        ));
    }
    if basis.is_empty() {
        return Err("expected a call that the claim can rest on, found none in its goal".to_owned());
    }
    if basis.len() + goal.basis(claim, true).count() > MAX_CITED {
        return Err(format!(
            "calls: expected at most {MAX_CITED} calls for one claim, found {}",
            basis.len()
        ));
    }
    let unknown = claim.expect.keys().find(|name| !claim.text.names().any(|value| value == *name));
    match unknown {
        Some(name) => Err(format!("expect: expected a value that stands in the text, found {name:?}")),
        None => Ok(()),
    }
}

fn wrong(line: usize, message: String) -> FileError {
    FileError::Line { line, message }
}

/// How many tools a proposal can name.
const MAX_TOOLS: usize = 64;
/// How many claims a final statement can bundle, with room for failures.
const MAX_CLAIMS: usize = 200;
/// How many calls a claim may rest on: each leaves up to three artifacts, and a claim cites at most 256.
const MAX_CITED: usize = 64;
