//! The list of confirmations: its rows and its queries. Each query reads in the order of an index.

use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::ConfirmationStanding,
    name::{Sequence, TraceId},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, Statement, params};

use super::{
    column::{self, number, ulid},
    question::can_end,
};
use crate::contract::{ConfirmationFilter, ConfirmationRow, ConfirmationSummary, Cursor};

/// What [`summary`] reads. Whoever selects it knows which of the three tables comes first.
macro_rules! summary {
    ($tables:literal) => {
        concat!(
            "SELECT q.ordinal, t.trace, q.sequence, e.time,
                    q.outcome, q.spent, q.people, q.asker, q.deadline, q.changed ",
            $tables
        )
    };
}

/// Writes how a confirmation of a trace stands now.
pub(super) fn put(
    connection: &Connection,
    trace: i64,
    sequence: Sequence,
    row: &ConfirmationRow,
) -> Result<()> {
    let sql = "INSERT INTO confirmations
                   (ordinal, trace, sequence, outcome, spent, people, asker, deadline, changed)
               VALUES ((SELECT ordinal FROM events WHERE trace = ?1 AND sequence = ?2),
                       ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (ordinal) DO UPDATE SET outcome = ?3, spent = ?4, changed = ?8";
    insert(&mut *connection.prepare_cached(sql)?, trace, sequence, row)
}

/// Writes a confirmation into the temporary table.
pub(super) fn refill(
    connection: &Connection,
    trace: i64,
    sequence: Sequence,
    row: &ConfirmationRow,
) -> Result<()> {
    let sql = "INSERT INTO temp.confirmations
             (ordinal, trace, sequence, outcome, spent, people, asker, deadline, changed)
         VALUES ((SELECT ordinal FROM main.events WHERE trace = ?1 AND sequence = ?2),
                 ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    insert(&mut *connection.prepare_cached(sql)?, trace, sequence, row)
}

fn insert(
    statement: &mut Statement<'_>,
    trace: i64,
    sequence: Sequence,
    row: &ConfirmationRow,
) -> Result<()> {
    let parameters = params![
        trace,
        number(sequence.number()),
        row.outcome.as_str(),
        row.spent,
        row.people,
        ulid(row.asker.as_ulid()),
        row.deadline.map(|deadline| number(deadline.as_millis())),
        number(row.changed.number()),
    ];
    statement.execute(parameters).map(|_| ())
}

/// Returns a page of the list: the first of each outcome that the filter admits, put in order.
pub(super) fn page(
    connection: &Connection,
    filter: &ConfirmationFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<ConfirmationSummary>> {
    // Several statements, one moment.
    let transaction = connection.unchecked_transaction()?;
    let start = if filter.newest_first { i64::MAX } else { 0 };
    let from = after.map_or(start, |after| number(after.number()));
    let mut statement = transaction.prepare_cached(&of_an_outcome(filter.newest_first))?;
    let mut found: Vec<ConfirmationSummary> = Vec::new();
    let wanted = |outcome: &ConfirmationStanding| {
        filter.outcomes.as_ref().is_none_or(|wanted| wanted.contains(outcome))
    };
    for outcome in ConfirmationStanding::ALL.into_iter().filter(wanted) {
        let rows = statement.query_map(params![from, outcome.as_str()], summary)?;
        let admitted = |row: &Result<_>| row.as_ref().map_or(true, |found| filter.admits(found));
        for row in rows.filter(admitted).take(limit) {
            found.push(row?);
        }
    }
    found.sort_unstable_by_key(|found| found.cursor);
    if filter.newest_first {
        found.reverse();
    }
    found.truncate(limit);
    Ok(found)
}

fn of_an_outcome(down: bool) -> String {
    let (behind, order) = if down { ("<", "DESC") } else { (">", "ASC") };
    let found = summary!(
        "FROM confirmations q INDEXED BY confirmations_list
         CROSS JOIN traces t ON t.id = q.trace CROSS JOIN events e USING (ordinal)"
    );
    format!("{found} WHERE q.outcome = ?2 AND q.ordinal {behind} ?1 ORDER BY q.ordinal {order}")
}

/// Returns the confirmation that an event asked for.
pub(super) fn confirmation(
    connection: &Connection,
    trace: TraceId,
    sequence: Sequence,
) -> Result<Option<ConfirmationSummary>> {
    let parameters = params![ulid(trace.as_ulid()), number(sequence.number())];
    connection.prepare_cached(ONE)?.query_row(parameters, summary).optional()
}

/// Returns the open confirmations that are due, by deadline.
pub(super) fn due(connection: &Connection, now: Timestamp, limit: usize) -> Result<Vec<ConfirmationSummary>> {
    let mut statement = connection.prepare_cached(&due_by_deadline())?;
    let parameters = params![number(now.as_millis()), column::limit(limit)];
    statement.query_map(parameters, summary)?.collect()
}

/// Returns when the next open confirmation is due.
pub(super) fn next_deadline(connection: &Connection) -> Result<Option<Timestamp>> {
    let mut statement = connection.prepare_cached(&first_deadline())?;
    statement.query_row([], |row| column::time(row, 0)).optional()
}

fn due_by_deadline() -> String {
    let due = summary!(
        "FROM confirmations q INDEXED BY confirmations_due
         CROSS JOIN traces t ON t.id = q.trace CROSS JOIN events e USING (ordinal)"
    );
    format!("{due} WHERE {} AND q.deadline <= ?1 ORDER BY q.deadline, q.ordinal LIMIT ?2", can_end())
}

fn first_deadline() -> String {
    format!(
        "SELECT q.deadline FROM confirmations q INDEXED BY confirmations_due
         WHERE {} ORDER BY q.deadline LIMIT 1",
        can_end()
    )
}

fn summary(row: &Row<'_>) -> Result<ConfirmationSummary> {
    Ok(ConfirmationSummary {
        cursor: Cursor::from_number(column::unsigned(row, 0)?),
        trace: column::trace(row, 1)?,
        sequence: column::sequence(row, 2)?,
        asked: column::time(row, 3)?,
        row: ConfirmationRow {
            outcome: column::standing(row, 4)?,
            spent: row.get(5)?,
            people: row.get(6)?,
            asker: column::principal(row, 7)?,
            deadline: row.get::<_, Option<i64>>(8)?.map(|_| column::time(row, 8)).transpose()?,
            changed: column::sequence(row, 9)?,
        },
    })
}

const ONE: &str = summary!(
    "FROM traces t CROSS JOIN events e ON e.trace = t.id CROSS JOIN confirmations q USING (ordinal)
     WHERE t.trace = ?1 AND e.sequence = ?2"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn no_query_scans_or_sorts() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        let queries =
            [ONE.to_owned(), due_by_deadline(), first_deadline(), of_an_outcome(false), of_an_outcome(true)];
        for sql in queries {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps: Vec<String> =
                statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
            let harmless = |step: &String| step.starts_with("SEARCH") || step.contains("SUBQUERY");
            assert!(!steps.is_empty() && steps.iter().all(harmless), "{sql}: {steps:?}");
        }
    }
}
