//! A task with what is worked out once: the normalized input of each call, and how far the executor has come.

use std::{cell::Cell, collections::BTreeMap};

use demur_core::{canonical::WriteError, hash::Digest};

use crate::{
    role::Input,
    task::{Call, Task, Unit},
};

/// A task to be carried out.
#[derive(Debug)]
pub struct TaskPlan {
    task: Task,
    /// By call: what it is given, and the hash of that.
    inputs: BTreeMap<String, (Vec<u8>, Digest)>,
    /// All calls before this one, but those in reserve, have come to rest.
    open: Cell<usize>,
}

impl TaskPlan {
    /// Returns the plan of a task.
    pub fn new(task: Task) -> Result<Self, WriteError> {
        let input = |call: &Call| Ok((call.name.to_string(), Input::of(call).normalized()?));
        let inputs = task.calls().map(|(_, call)| input(call)).collect::<Result<_, WriteError>>()?;
        Ok(Self { task, inputs, open: Cell::new(0) })
    }

    /// Returns the task.
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the bytes of a call's input.
    pub(crate) fn input(&self, call: &str) -> &[u8] {
        self.inputs.get(call).map_or(&[], |(bytes, _)| bytes)
    }

    /// Returns the hash of a call's input.
    pub(crate) fn input_hash(&self, call: &str) -> Option<&Digest> {
        self.inputs.get(call).map(|(_, hash)| hash)
    }

    /// Returns the call whose input has this hash, and that input.
    pub(crate) fn input_with(&self, hash: &Digest) -> Option<(&str, &[u8])> {
        let (call, (bytes, _)) = self.inputs.iter().find(|(_, (_, known))| known == hash)?;
        Some((call, bytes))
    }

    /// Returns the name of the call whose input has this hash.
    pub fn call_with(&self, hash: &Digest) -> Option<&str> {
        self.input_with(hash).map(|(call, _)| call)
    }

    /// Returns the calls that may still be open, those in reserve last.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (usize, &Unit, &Call)> {
        let numbered = || (0..).zip(self.task.calls()).map(|(number, (unit, call))| (number, unit, call));
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
