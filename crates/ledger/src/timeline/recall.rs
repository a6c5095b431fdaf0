//! What events refer to by number, remembered by name: artifacts, tools, how executions ended. Only the newest of
//! each, so that a long trace takes no more memory than a short one; what is older keeps its number.

use std::collections::VecDeque;

use super::{Execution, ExecutionEnding, label::Label, words::Words};
use crate::{event_type::Facts, name::Sequence};

/// The names of what came before.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    artifacts: Newest<Label>,
    /// Tools by intent.
    tools: Newest<Label>,
    /// Intents by the start of their execution.
    starts: Newest<Sequence>,
    /// Endings by completed or failed event, with the start.
    endings: Newest<(Sequence, ExecutionEnding)>,
}

impl Recall {
    /// Remembers what later events may refer to. Words of other events are dropped.
    pub(crate) fn take(&mut self, at: Sequence, facts: &Facts, words: Option<Words>) {
        match (facts, words) {
            (Facts::ArtifactRecorded(_), Some(Words::Artifact(name))) => {
                self.artifacts.push(at, name);
            }
            (Facts::ToolIntentSigned(_), Some(Words::Tool(tool))) => self.tools.push(at, tool),
            (Facts::ToolExecutionStarted(facts), _) => self.starts.push(at, facts.intent),
            (Facts::ToolExecutionCompleted(facts), words) => {
                self.endings.push(at, (facts.started, ExecutionEnding::new(None, words.as_ref())));
            }
            (Facts::ToolExecutionFailed(facts), words) => {
                self.endings
                    .push(at, (facts.started, ExecutionEnding::new(Some(facts.failure), words.as_ref())));
            }
            _ => {}
        }
    }

    /// Returns the name of an artifact.
    pub(crate) fn artifact(&self, at: Sequence) -> Option<&str> {
        self.artifacts.find(at).map(Label::as_str)
    }

    /// Returns the tool of an intent.
    pub(crate) fn tool(&self, intent: Sequence) -> Option<&str> {
        self.tools.find(intent).map(Label::as_str)
    }

    /// Returns the tool of an execution, by its start.
    pub(crate) fn tool_started(&self, started: Sequence) -> Option<&str> {
        self.tool(*self.starts.find(started)?)
    }

    /// Returns an execution by its end.
    pub(crate) fn execution(&self, ended: Sequence) -> Execution {
        let found = self.endings.find(ended);
        Execution {
            sequence: ended,
            tool: found.and_then(|(started, _)| self.tool_started(*started)).map(str::to_owned),
            ending: found.map(|(_, ending)| *ending),
        }
    }
}

/// The newest of a kind, by the event that brought each.
#[derive(Debug)]
struct Newest<T>(VecDeque<(Sequence, T)>);

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Newest<T> {
    /// Adds one; the oldest makes room. Events come in order, so the list is sorted.
    fn push(&mut self, at: Sequence, item: T) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((at, item));
    }

    fn find(&self, at: Sequence) -> Option<&T> {
        let index = self.0.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.0.get(index).map(|(_, item)| item)
    }
}

/// How many of each kind are remembered.
const REMEMBERED: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_are_found_and_the_oldest_make_room() {
        let mut newest = Newest::default();
        for number in 0..u32::try_from(REMEMBERED).unwrap() + 10 {
            newest.push(Sequence::from(number * 3), number);
        }
        assert_eq!((newest.find(27.into()), newest.find(30.into())), (None, Some(&10)));
        assert_eq!((newest.find(31.into()), newest.0.len()), (None, REMEMBERED));
    }
}
