//! How closely the tools of a run were held, in the words of whoever ran them.

use demur_core::{quote::quoted, words::counted_as};

use super::examine::Examined;
use crate::{event_type::Facts, timeline::Words};

/// What the starts of tools say so far.
#[derive(Debug, Default)]
pub(super) struct SandboxBook {
    /// Each sentence with the number of starts that say it, in order of the first.
    said: Vec<(String, u64)>,
    /// Starts that say nothing of it, or something new after too many others.
    unsaid: u64,
}

impl SandboxBook {
    /// Takes an event that the state let through.
    pub(super) fn take(&mut self, examined: &Examined) {
        if !examined.event.said().is_ok_and(|said| matches!(said.facts, Facts::ToolExecutionStarted(_))) {
            return;
        }
        let Some(Words::Sandbox(words)) = &examined.words else {
            self.unsaid += 1;
            return;
        };
        let known = self.said.iter().position(|(known, _)| known == words);
        match known {
            Some(place) => self.said[place].1 += 1,
            None if self.said.len() < MAX_SENTENCES => self.said.push((words.clone(), 1)),
            None => self.unsaid += 1,
        }
    }

    /// Returns all of it; none where no start says anything, as where the tools were run elsewhere.
    pub(super) fn into_words(self) -> Option<String> {
        if self.said.is_empty() {
            return None;
        }
        let starts = |count| counted_as(count, "start", "starts");
        let said = self.said.iter().map(|(words, count)| format!("{} ({})", quoted(words), starts(*count)));
        let unsaid = (self.unsaid > 0).then(|| format!("nothing is said ({})", starts(self.unsaid)));
        let all: Vec<String> = said.chain(unsaid).collect();
        Some(format!("{}; the word of whoever ran the tools", all.join(", ")))
    }
}

/// More different sentences than tools on one machine have.
const MAX_SENTENCES: usize = 16;
