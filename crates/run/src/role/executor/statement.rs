//! What can be claimed of a goal: the text of the task, filled from the bytes that the tools printed, with a check for each value.
//! A value that is not there is said not to be there; nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use demur_core::words::{beginning, clipped};
use demur_ledger::{
    check,
    content::{CheckContent, CheckPlace, CheckValue, Comparison},
    name::Sequence,
};

use super::call::{End, Standing, output_name, standing};
use crate::{
    history::Ended,
    role::{Brief, Look, RoleError, ascending},
    task::{Call, Claim, Goal},
};

/// A claim as it is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::role) struct Statement {
    pub(in crate::role) text: String,
    pub(in crate::role) evidence: Vec<Sequence>,
    pub(in crate::role) executions: Vec<Sequence>,
    /// What must be true of which artifact.
    pub(in crate::role) checks: Vec<(Sequence, CheckContent)>,
}

/// A call that completed, and the artifact with its standard output, if it has one.
struct Completed<'a> {
    call: &'a Call,
    ended: Ended,
    stdout: Option<Sequence>,
}

/// What a call shows of a value.
struct Reading<'a> {
    call: &'a Call,
    artifact: Sequence,
    at: &'a CheckPlace,
    value: CheckValue,
}

/// What several calls show of a value, and which of them do not show it.
struct Readings<'a> {
    found: Vec<Reading<'a>>,
    missing: Vec<(&'a str, Shown)>,
}

/// What a look at an output came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::role) enum Shown {
    /// This value stands there.
    Value(CheckValue),
    /// It is not there.
    Nothing,
    /// The output is recorded, and its bytes are gone.
    Lost,
}

/// Returns the claim once the calls it rests on have completed; with those in reserve if it was challenged.
pub(in crate::role) fn statement(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    (goal, claim): (&Goal, &Claim),
    challenged: bool,
) -> Result<Option<Statement>, RoleError> {
    let plain: Option<Vec<Completed<'_>>> =
        goal.basis(claim, false).map(|call| completed(brief, goal, call)).collect();
    let Some(mut basis) = plain else { return Ok(None) };
    if challenged {
        let before = basis.len();
        basis.extend(goal.basis(claim, true).filter_map(|call| completed(brief, goal, call)));
        if basis.len() == before {
            return Ok(None);
        }
    }
    let evidence = ascending(basis.iter().flat_map(|one| one.ended.outputs.iter().copied()).collect());
    let executions = ascending(basis.iter().map(|one| one.ended.at).collect());
    let (mut checks, mut words) = (Vec::new(), Words::default());
    for name in claim.text.names() {
        if words.values.contains_key(name) {
            continue;
        }
        let Readings { found: readings, missing } = read(brief, look, &basis, name)?;
        words.take(name, &readings, &missing);
        if let (Some(first), Some(expected)) = (readings.first(), claim.expect.get(name)) {
            let check = CheckContent { at: first.at.clone(), is: expected.is, value: expected.value.clone() };
            let bytes = look.artifact(first.artifact).map_err(RoleError::Look)?;
            words.lost |= bytes.is_none();
            if bytes.is_some_and(|bytes| !check::holds(&check, &bytes)) {
                let (is, value) = (expected.is.as_str(), &expected.value);
                words.doubts.push(format!("This is not as expected: {name} {is} {value}."));
            }
        }
        checks.extend(readings.into_iter().map(|Reading { artifact, at, value, .. }| {
            (artifact, CheckContent { at: at.clone(), is: Comparison::Eq, value })
        }));
    }
    if words.lost {
        checks.clear();
    }
    // What was claimed while the bytes were there stays as it was.
    let mut before = brief.history.said.iter().filter(|(_, about)| words.lost && *about == executions);
    let text = match before.find(|(text, _)| claim.text.fits(text)) {
        Some((text, _)) => text.clone(),
        None => beginning(&words.text(claim, &basis), MAX_TEXT).to_owned(),
    };
    Ok(Some(Statement { text, evidence, executions, checks }))
}

/// What the words of a claim are made of.
#[derive(Default)]
struct Words<'a> {
    /// The values in words; none where no call shows one.
    values: BTreeMap<&'a str, Option<String>>,
    /// Sentences about what is not as it should be.
    doubts: Vec<String>,
    /// Whether two calls show different values.
    differ: bool,
    /// The calls that do not show a value that they should.
    silent: BTreeSet<&'a str>,
    /// Whether the bytes of an output are gone.
    lost: bool,
}

impl<'a> Words<'a> {
    /// Takes in what the calls show of a value, and which of them do not show it.
    fn take(&mut self, name: &'a str, readings: &[Reading<'_>], missing: &[(&'a str, Shown)]) {
        let first = readings.first();
        for (call, shown) in missing {
            self.silent.insert(call);
            self.doubts.push(if *shown == Shown::Lost {
                format!("What {call} printed is gone, and {name} with it.")
            } else {
                format!("What {call} printed does not show {name}.")
            });
            self.lost |= *shown == Shown::Lost;
        }
        if missing.is_empty() && readings.is_empty() {
            self.doubts.push(format!("No call that was run shows {name}."));
        }
        if readings.iter().any(|reading| first.is_some_and(|first| !same(&reading.value, &first.value))) {
            let shown = readings.iter().map(|one| format!("{} shows {}", one.call.name, words(&one.value)));
            let shown = shown.collect::<Vec<_>>().join(", ");
            self.doubts.push(format!("The calls differ about {name}: {shown}."));
            self.differ = true;
        }
        self.values.insert(name, first.map(|first| words(&first.value)));
    }

    /// Returns the words. Where a value was not found, or calls differ about one, they say that and no more.
    fn text(self, claim: &Claim, basis: &[Completed<'_>]) -> String {
        let mut sentences = Vec::new();
        if !self.differ && self.values.values().all(Option::is_some) {
            let value = |name: &str| self.values.get(name).cloned().flatten().unwrap_or_default();
            sentences.push(claim.text.fill(value));
        }
        sentences.extend(self.doubts);
        let names = basis.iter().map(|one| one.call.name.as_str());
        let names: Vec<&str> = names.filter(|name| !self.silent.contains(name)).collect();
        if names.len() > 1 && !self.differ && !self.values.is_empty() {
            sentences.push(format!("{} agree.", names.join(" and ")));
        }
        sentences.join(" ")
    }
}

/// Returns what the calls show of a value, and the names of those that should and do not.
fn read<'a>(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    basis: &[Completed<'a>],
    name: &str,
) -> Result<Readings<'a>, RoleError> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for Completed { call, stdout, .. } in basis {
        let Some(at) = call.shows.get(name) else { continue };
        let Some(artifact) = *stdout else {
            missing.push((call.name.as_str(), Shown::Nothing));
            continue;
        };
        match value(brief, look, (artifact, name), at)? {
            Shown::Value(value) => found.push(Reading { call, artifact, at, value }),
            other => missing.push((call.name.as_str(), other)),
        }
    }
    Ok(Readings { found, missing })
}

/// Returns what stands at a place of an output. It is looked up once.
pub(in crate::role) fn value(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    (artifact, name): (Sequence, &str),
    at: &CheckPlace,
) -> Result<Shown, RoleError> {
    let key = (artifact, name.to_owned());
    if let Some(known) = brief.plan.values.borrow().get(&key) {
        return Ok(known.clone().map_or(Shown::Nothing, Shown::Value));
    }
    let Some(bytes) = look.artifact(artifact).map_err(RoleError::Look)? else { return Ok(Shown::Lost) };
    let found = check::value_at(at, &bytes);
    brief.plan.values.borrow_mut().insert(key, found.clone());
    Ok(found.map_or(Shown::Nothing, Shown::Value))
}

/// Returns how a call ended if it completed, or what took its place.
fn completed<'a>(brief: &Brief<'_>, goal: &'a Goal, call: &'a Call) -> Option<Completed<'a>> {
    match standing(brief, call) {
        Standing::Settled(End::Completed(ended)) => {
            let stdout = stdout(brief, call).filter(|at| ended.outputs.contains(at));
            Some(Completed { call, ended, stdout })
        }
        _ => completed(brief, goal, goal.fallback(&call.name)?),
    }
}

/// Returns the artifact with what the newest attempt of a call printed.
pub(in crate::role) fn stdout(brief: &Brief<'_>, call: &Call) -> Option<Sequence> {
    brief.history.artifacts.get(&output_name(brief, call, "stdout")).copied()
}

/// Returns whether two values are one: a number may stand in a text.
pub(in crate::role) fn same(one: &CheckValue, other: &CheckValue) -> bool {
    let number = |value: &CheckValue| match value {
        CheckValue::Number(number) => number.as_f64(),
        CheckValue::Text(text) => text.parse().ok(),
        CheckValue::Nothing | CheckValue::Flag(_) => None,
    };
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}

/// Returns a value as it stands in a sentence. The check has all of it.
pub(in crate::role) fn words(value: &CheckValue) -> String {
    match value {
        CheckValue::Text(text) if text.is_empty() => value.to_string(),
        CheckValue::Text(text) => clipped(text, MAX_SHOWN, "…").into_owned(),
        CheckValue::Nothing | CheckValue::Flag(_) | CheckValue::Number(_) => value.to_string(),
    }
}

/// How many code points a claim has at most.
const MAX_TEXT: usize = 16384;
/// How many code points of a value stand in a claim.
const MAX_SHOWN: usize = 256;
