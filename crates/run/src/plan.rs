//! A task with what follows from it: the units that the planner proposes, the normalized input of each call, and what was
//! read from outputs so far.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use demur_core::{canonical::WriteError, hash::Digest, limit::Text};
use demur_ledger::{content::CheckValue, name::Sequence};

use crate::{
    role::Input,
    task::{Call, Goal, Task},
};

/// A task to be carried out.
#[derive(Debug)]
pub struct TaskPlan {
    task: Task,
    units: Vec<Unit>,
    calls: BTreeMap<String, PlannedCall>,
    /// All calls before this one, but those in reserve, have come to rest.
    open: Cell<usize>,
    /// What stands in recorded outputs, by artifact and value. Their bytes never change.
    pub(crate) values: RefCell<BTreeMap<(Sequence, String), Option<CheckValue>>>,
}

/// A unit of work, which becomes a proposal when its time has come (LED-35).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What it is to reach. No two units have the same.
    pub objective: Text<1, 16384>,
    /// The goal, by its number.
    pub goal: usize,
    /// Its calls, by their names.
    pub calls: Vec<String>,
    /// When it is proposed.
    pub occasion: Occasion,
}

/// When a unit is proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Before anything runs.
    First,
    /// Once the first unit of its goal was refused.
    Refused,
    /// Once this call failed for good.
    Failed(String),
}

#[derive(Debug)]
struct PlannedCall {
    input: Vec<u8>,
    hash: Digest,
    /// The units that it is part of, by their numbers.
    units: Vec<usize>,
}

impl TaskPlan {
    /// Returns the plan of a task.
    pub fn new(task: Task) -> Result<Self, WriteError> {
        let units: Vec<Unit> =
            (0..).zip(&task.goals).flat_map(|(number, goal)| units(number, goal)).collect();
        let mut calls = BTreeMap::new();
        for (_, call) in task.calls() {
            let (input, hash) = Input::of(call).normalized()?;
            calls.insert(call.name.to_string(), PlannedCall { input, hash, units: Vec::new() });
        }
        for (number, unit) in units.iter().enumerate() {
            for name in &unit.calls {
                if let Some(call) = calls.get_mut(name) {
                    call.units.push(number);
                }
            }
        }
        let (open, values) = (Cell::new(0), RefCell::default());
        Ok(Self { task, units, calls, open, values })
    }

    /// Returns the task.
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the units, goal by goal.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns the units that a call is part of.
    pub(crate) fn units_with(&self, call: &str) -> impl Iterator<Item = &Unit> {
        let numbers = self.calls.get(call).map_or(&[][..], |call| &call.units);
        numbers.iter().filter_map(|number| self.units.get(*number))
    }

    /// Returns the goal of a unit.
    pub(crate) fn goal(&self, unit: &Unit) -> Option<&Goal> {
        self.task.goals.get(unit.goal)
    }

    /// Returns the bytes of a call's input.
    pub(crate) fn input(&self, call: &str) -> &[u8] {
        self.calls.get(call).map_or(&[], |call| &call.input)
    }

    /// Returns the hash of a call's input.
    pub(crate) fn input_hash(&self, call: &str) -> Option<&Digest> {
        self.calls.get(call).map(|call| &call.hash)
    }

    /// Returns the call whose input has this hash, and that input.
    pub(crate) fn input_with(&self, hash: &Digest) -> Option<(&str, &[u8])> {
        let (name, call) = self.calls.iter().find(|(_, call)| call.hash == *hash)?;
        Some((name, &call.input))
    }

    /// Returns the name of the call whose input has this hash.
    pub fn call_with(&self, hash: &Digest) -> Option<&str> {
        self.input_with(hash).map(|(call, _)| call)
    }

    /// Returns the calls that may still be open, those in reserve last.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (usize, &Goal, &Call)> {
        let numbered = || (0..).zip(self.task.calls()).map(|(number, (goal, call))| (number, goal, call));
        let plain = numbered().skip(self.open.get()).filter(|(_, _, call)| !call.reserve);
        plain.chain(numbered().filter(|(_, _, call)| call.reserve))
    }

    /// Notes that a call has come to rest; what rests once never moves again.
    pub(crate) fn rest(&self, number: usize) {
        let skipped = self.task.calls().skip(self.open.get()).take_while(|(_, call)| call.reserve).count();
        if self.open.get() + skipped == number {
            self.open.set(number + 1);
        }
    }
}

/// Returns the units of a goal: all its calls at once, the same with what can take the place of some of them, and each call that
/// takes the place of another.
fn units(number: usize, goal: &Goal) -> Vec<Unit> {
    let name = |call: &Call| call.name.to_string();
    let unit = |objective: String, calls, occasion| {
        // Cutting keeps the beginning, which differs from unit to unit.
        let objective = Text::cut(&objective).unwrap_or_else(|_| goal.objective.clone());
        Unit { objective, goal: number, calls, occasion }
    };
    let plain: Vec<&Call> = goal.calls.iter().filter(|call| call.fallback_for.is_none()).collect();
    let instead = |call: &&Call| goal.fallback(&call.name).unwrap_or(call).name.to_string();
    let objective = &goal.objective;
    let calls = plain.iter().map(|call| name(call)).collect();
    let mut units = vec![unit(objective.to_string(), calls, Occasion::First)];
    if plain.iter().any(|call| goal.fallback(&call.name).is_some()) {
        let calls = plain.iter().map(instead).collect();
        units.push(unit(format!("another way: {objective}"), calls, Occasion::Refused));
    }
    let fallbacks = goal.calls.iter().filter_map(|call| Some((call, call.fallback_for.clone()?)));
    units.extend(fallbacks.map(|(call, failed)| {
        let objective = format!("{} in place of {failed}: {objective}", call.name);
        unit(objective, vec![name(call)], Occasion::Failed(failed))
    }));
    units
}
