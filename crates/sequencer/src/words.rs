//! The words of the newest questions: whoever answers one soon needs them. They never change; they can be erased.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Mutex,
};

use demur_engine::command;
use demur_ledger::{
    content::QuestionContent,
    entry::Entry,
    event_type::Facts,
    name::{Sequence, TraceId},
};

use super::commit::lock;

/// The words of the newest questions that were recorded here.
#[derive(Default)]
pub(super) struct Words(Mutex<NewestWords>);

#[derive(Default)]
struct NewestWords {
    words: BTreeMap<(TraceId, Sequence), Vec<u8>>,
    /// The oldest first.
    order: VecDeque<(TraceId, Sequence)>,
}

impl Words {
    /// Keeps the words of a recorded event, if it asks something and they are not many.
    pub(super) fn keep(&self, trace: TraceId, entry: &mut Entry) {
        let Ok(Facts::QuestionAsked(_) | Facts::GapFound(_)) = entry.event.said().map(|said| said.facts)
        else {
            return;
        };
        let Some(opening) = entry.opening.take().filter(|opening| opening.bytes.len() <= LARGEST_BYTES)
        else {
            return;
        };
        let place = (trace, entry.event.position().sequence);
        let mut kept = lock(&self.0);
        if kept.order.len() >= MAX_KEPT_QUESTIONS
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.words.remove(&oldest);
        }
        kept.order.push_back(place);
        kept.words.insert(place, opening.bytes);
    }

    /// Forgets the words of a trace: some of them were erased.
    pub(super) fn forget(&self, trace: TraceId) {
        lock(&self.0).words.retain(|(of, _), _| *of != trace);
    }

    /// Returns the words of a question, if they are here.
    pub(super) fn find(&self, trace: TraceId, at: Sequence) -> Option<Box<QuestionContent>> {
        command::question(lock(&self.0).words.get(&(trace, at))?)
    }
}

/// How many questions are remembered.
const MAX_KEPT_QUESTIONS: usize = 1024;

/// How large the words of one are at most.
const LARGEST_BYTES: usize = 4096;
