//! Open questions in turns: one of each asker, then a second one of each, and so on, the oldest first in each round. Whoever
//! asks much does not bury what others ask, and a gap is of whoever submitted the plan (ONE-15).
//!
//! A round is a place in what an asker has open now. Where an earlier question of the same asker is answered while somebody reads
//! page by page, the later ones move up: they are met when the list is read from its beginning.

use demur_api::refusal::Refusal;
use demur_ledger::name::PrincipalId;
use demur_store::contract::{Cursor, QuestionFilter, QuestionSummary, Store};

/// A question with its place among those that take turns.
pub(super) type InTurn = (Cursor, QuestionSummary);

/// Returns the next questions that fit, after a place. Each asker is read up to a bounded depth; what lies deeper stands behind
/// everything else, the oldest first.
pub(super) fn turns(
    store: &dyn Store,
    filter: &QuestionFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<InTurn>, Refusal> {
    let askers = store.open_holders()?;
    let after = after.map(Turn::read).unwrap_or_default();
    let mut depth = (after.round + limit.div_ceil(askers.len().max(1)) + 1).min(MAX_ROUNDS);
    loop {
        let (mut found, is_whole) = shallow(store, filter, &askers, depth)?;
        found.retain(|(turn, _)| *turn > after);
        found.sort_unstable_by_key(|(turn, _)| *turn);
        // What was not read stands in later rounds than all of this.
        if found.len() < limit && !is_whole {
            if depth < MAX_ROUNDS {
                depth = (depth * 2).max(after.round + limit + 1).min(MAX_ROUNDS);
                continue;
            }
            let missing = limit - found.len();
            found.extend(deep(store, (filter, &askers), after, missing)?);
        }
        found.truncate(limit);
        return Ok(found.into_iter().map(|(turn, row)| (turn.written(), row)).collect());
    }
}

/// Returns the first questions of every asker, and whether these are all.
fn shallow(
    store: &dyn Store,
    filter: &QuestionFilter,
    askers: &[PrincipalId],
    depth: usize,
) -> Result<(Vec<(Turn, QuestionSummary)>, bool), Refusal> {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for asker in askers {
        let filter = QuestionFilter { asker: Some(*asker), with_gaps: true, ..filter.clone() };
        let rows = store.questions(&filter, None, depth)?;
        is_whole &= rows.len() < depth;
        found.extend(
            rows.into_iter().enumerate().map(|(round, row)| (Turn { round, cursor: row.cursor }, row)),
        );
    }
    Ok((found, is_whole))
}

/// Returns what lies deeper than any round that is read, the oldest first.
fn deep(
    store: &dyn Store,
    (filter, askers): (&QuestionFilter, &[PrincipalId]),
    after: Turn,
    limit: usize,
) -> Result<Vec<(Turn, QuestionSummary)>, Refusal> {
    let begun = Some(after.cursor).filter(|_| after.round >= MAX_ROUNDS);
    let mut found = Vec::new();
    for asker in askers {
        let filter = QuestionFilter { asker: Some(*asker), with_gaps: true, ..filter.clone() };
        let last = store.questions(&filter, None, MAX_ROUNDS)?;
        // Whoever has fewer was read whole.
        let Some(last) = last.get(MAX_ROUNDS - 1) else { continue };
        let from = begun.map_or(last.cursor, |begun| begun.max(last.cursor));
        let rows = store.questions(&filter, Some(from), limit)?;
        found.extend(rows.into_iter().map(|row| (Turn { round: MAX_ROUNDS, cursor: row.cursor }, row)));
    }
    found.sort_unstable_by_key(|(turn, _)| *turn);
    found.truncate(limit);
    Ok(found)
}

/// A place: the round, and in it the order of asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    round: usize,
    cursor: Cursor,
}

impl Turn {
    /// Returns the place that a cursor of this list names. No store counts so far that the first four bytes are needed.
    fn read(cursor: Cursor) -> Self {
        let mut bytes = *cursor.as_bytes();
        let round = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        bytes[..4].fill(0);
        Self { round: (round as usize).min(MAX_ROUNDS), cursor: Cursor::from_bytes(bytes) }
    }

    fn written(self) -> Cursor {
        let mut bytes = *self.cursor.as_bytes();
        bytes[..4].copy_from_slice(&u32::try_from(self.round).unwrap_or(u32::MAX).to_be_bytes());
        Cursor::from_bytes(bytes)
    }
}

/// How many questions of one asker take turns with those of others.
const MAX_ROUNDS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_cursor_and_goes_by_round_first() {
        let cursor = |number: u128| Cursor::from_bytes(number.to_be_bytes());
        for turn in
            [Turn { round: 0, cursor: cursor(7) }, Turn { round: MAX_ROUNDS, cursor: cursor(1 << 60) }]
        {
            assert_eq!(Turn::read(turn.written()), turn);
        }
        assert_eq!(Turn { round: 0, cursor: cursor(7) }.written(), cursor(7), "the first round is as ever");
        assert!(Turn { round: 0, cursor: cursor(9) } < Turn { round: 1, cursor: cursor(2) });
    }
}
