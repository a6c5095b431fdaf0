//! Operations that wait for a yes or a no, at the inbox: each has a number of its own, such as `o1`. A yes is for what was shown
//! here in full, and for nothing else.

use std::collections::BTreeSet;

use demur_api::confirmation::{ConfirmationId, ConfirmationView};
use demur_core::visible::visible;

use super::line::{Number, Verdict};
use crate::{client::Client, confirm, failure::Failure, keys::clock, output::Paint};

/// The operations that have a number.
#[derive(Default)]
pub(super) struct Operations {
    /// In the order in which they were seen: the first is `o1`.
    known: Vec<ConfirmationId>,
    /// Those that were open when they were seen last.
    open: BTreeSet<ConfirmationId>,
    /// Those that were shown whole.
    shown: BTreeSet<ConfirmationId>,
}

impl Operations {
    /// Returns the lines of every operation that waits.
    pub(super) fn list(&mut self, client: &Client) -> Result<Vec<String>, Failure> {
        let mut waiting = confirm::open(client)?;
        // The oldest first, as questions are.
        waiting.reverse();
        Ok(waiting.iter().flat_map(|one| self.lines(one)).collect())
    }

    /// Returns what is told of an operation to which something happened; nothing where nobody here knew of it and it is over, or
    /// nothing changed.
    pub(super) fn news(&mut self, one: &ConfirmationView) -> Vec<String> {
        let (was_known, was_open) = (self.known.contains(&one.id), self.open.contains(&one.id));
        match (one.is_open(), was_known) {
            (true, false) => {
                let mut lines = self.lines(one);
                if let Some(first) = lines.first_mut() {
                    *first = format!("New: {first}");
                }
                lines
            }
            (false, true) if was_open => {
                self.open.remove(&one.id);
                vec![format!("o{}: {}", self.number(one.id), confirm::ended(one))]
            }
            _ => Vec::new(),
        }
    }

    /// Shows an operation, or decides it; returns what to say.
    pub(super) fn decide(
        &mut self,
        client: &Client,
        (number, verdict, note): (Number, Verdict, &str),
        paint: Paint,
    ) -> Result<Vec<String>, Failure> {
        let id = number.checked_sub(1).and_then(|place| self.known.get(place)).copied();
        let Some(id) = id else {
            return Ok(vec![format!("No operation here has the number o{number}. `l` lists what is open.")]);
        };
        let one = confirm::fetch(client, id)?;
        if !one.is_open() {
            self.open.remove(&id);
            return Ok(vec![format!("o{number}: {}", confirm::ended(&one))]);
        }
        let decided = match verdict {
            Verdict::Yes if self.shown.contains(&id) => confirm::give(client, &one, note)?,
            Verdict::No => confirm::refuse(client, &one, note)?,
            Verdict::Show | Verdict::Yes => {
                self.shown.insert(id);
                let mut lines = confirm::describe(&one, paint);
                lines.push(format!(
                    "`o{number} yes` confirms exactly this, `o{number} no REASON` refuses it."
                ));
                return Ok(lines);
            }
        };
        self.open.remove(&id);
        Ok(vec![format!("{} o{number}: {}", paint.good("Done:"), confirm::ended(&decided))])
    }

    fn lines(&mut self, one: &ConfirmationView) -> Vec<String> {
        let number = self.number(one.id);
        self.open.insert(one.id);
        let until = one.deadline.map_or_else(String::new, |time| format!("; refused at {}", clock(time)));
        vec![
            format!("o{number}. {}", confirm::action(one)),
            format!("   from {}; waits for a yes or a no{until}; type o{number}", visible(&one.asker.name)),
        ]
    }

    fn number(&mut self, id: ConfirmationId) -> Number {
        let place = self.known.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.known.push(id);
            self.known.len() - 1
        });
        place + 1
    }
}
