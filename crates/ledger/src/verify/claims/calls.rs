//! Which calls the executions were of, so that a claim does not rest on the one that went well while the same call failed
//! afterwards.

use std::collections::BTreeMap;

use demur_core::hash::Digest;

use crate::{event_type::Facts, meaning::Meaning, name::Sequence};

/// The calls of a trace: some 40 bytes for each execution.
#[derive(Debug, Default)]
pub(super) struct CallBook {
    /// Calls by the intent, until that was carried out.
    intents: BTreeMap<Sequence, Digest>,
    /// Intents by the start of their execution, until that has ended.
    starts: BTreeMap<Sequence, Sequence>,
    /// Calls by the end of the execution, in order.
    ends: Vec<(Sequence, Digest)>,
    /// The newest failure of each call.
    failures: BTreeMap<Digest, Sequence>,
}

impl CallBook {
    /// Notes what an allowed event does to calls.
    pub(super) fn take(&mut self, at: Sequence, facts: &Facts, meaning: Option<&Meaning>) {
        match (facts, meaning) {
            (Facts::ToolIntentSigned(_), Some(Meaning::Intent(call))) => {
                self.intents.insert(at, call.id);
            }
            (Facts::ToolExecutionStarted(facts), _) => {
                self.starts.insert(at, facts.intent);
            }
            (Facts::ToolExecutionCompleted(facts), _) => self.end(at, facts.started, false),
            (Facts::ToolExecutionFailed(facts), _) => self.end(at, facts.started, true),
            _ => {}
        }
    }

    fn end(&mut self, at: Sequence, started: Sequence, failed: bool) {
        let call = self.starts.remove(&started).and_then(|intent| self.intents.remove(&intent));
        let Some(call) = call else { return };
        self.ends.push((at, call));
        if failed {
            self.failures.insert(call, at);
        }
    }

    /// Returns the failure of a call that came after all of its executions which are cited, if there is one.
    pub(super) fn failed_since(&self, cited: &[Sequence]) -> Option<Sequence> {
        let mut newest = BTreeMap::new();
        for end in cited {
            let found = self.ends.binary_search_by_key(end, |(at, _)| *at).ok();
            if let Some((at, call)) = found.and_then(|index| self.ends.get(index)) {
                newest.insert(*call, *at);
            }
        }
        let later = |(call, cited): (Digest, Sequence)| {
            self.failures.get(&call).copied().filter(|failed| *failed > cited)
        };
        newest.into_iter().filter_map(later).max()
    }
}
