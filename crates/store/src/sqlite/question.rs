//! The list of questions: its rows and its queries. No query reads more of the table than it returns, except that a
//! filter by trace looks at the questions of that trace, and counting counts.

use demur_core::time::Timestamp;
use demur_ledger::{
    facts::Severity,
    name::{PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
    state::Phase,
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, Statement, params};

use super::column::{self, number, ulid};
use crate::contract::{Cursor, QuestionFilter, QuestionRow, QuestionSummary};

/// What [`summary`] reads. Whoever selects it knows which of the three tables comes first.
macro_rules! summary {
    ($tables:literal) => {
        concat!(
            "SELECT q.ordinal, t.trace, q.sequence, e.time,
                    q.outcome, q.severity, q.people, q.asker, q.deadline, q.changed, q.submitter ",
            $tables
        )
    };
}

/// Whose question it is, as the index has it.
macro_rules! holder {
    () => {
        "coalesce(q.submitter, q.asker)"
    };
}

/// A question and what stands beside it, found by the question.
macro_rules! found {
    () => {
        summary!("FROM questions q CROSS JOIN traces t ON t.id = q.trace CROSS JOIN events e USING (ordinal)")
    };
}

/// Writes how a question of a trace stands now, or that it is no longer there.
pub(super) fn put(
    connection: &Connection,
    trace: i64,
    sequence: Sequence,
    row: Option<&QuestionRow>,
) -> Result<()> {
    let Some(row) = row else {
        let sql = "DELETE FROM questions
                   WHERE ordinal = (SELECT ordinal FROM events WHERE trace = ?1 AND sequence = ?2)";
        return connection
            .prepare_cached(sql)?
            .execute(params![trace, number(sequence.number())])
            .map(|_| ());
    };
    let sql = "INSERT INTO questions
                   (ordinal, trace, sequence, outcome, severity, people, asker, submitter, deadline, changed)
               VALUES ((SELECT ordinal FROM events WHERE trace = ?1 AND sequence = ?2),
                       ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT (ordinal) DO UPDATE SET
                   outcome = ?3, severity = ?4, people = ?5, asker = ?6, submitter = ?7, deadline = ?8, changed = ?9";
    insert(&mut *connection.prepare_cached(sql)?, trace, sequence, row)
}

/// Writes a question into the temporary table.
pub(super) fn refill(
    connection: &Connection,
    trace: i64,
    sequence: Sequence,
    row: &QuestionRow,
) -> Result<()> {
    let sql = "INSERT INTO temp.questions
             (ordinal, trace, sequence, outcome, severity, people, asker, submitter, deadline, changed)
         VALUES ((SELECT ordinal FROM main.events WHERE trace = ?1 AND sequence = ?2),
                 ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    insert(&mut *connection.prepare_cached(sql)?, trace, sequence, row)
}

fn insert(statement: &mut Statement<'_>, trace: i64, sequence: Sequence, row: &QuestionRow) -> Result<()> {
    let parameters = params![
        trace,
        number(sequence.number()),
        row.outcome.as_str(),
        column::severity_word(row.severity),
        row.people,
        ulid(row.asker.as_ulid()),
        row.submitter.map(|submitter| ulid(submitter.as_ulid())),
        row.deadline.map(|deadline| number(deadline.as_millis())),
        number(row.changed.number()),
    ];
    statement.execute(parameters).map(|_| ())
}

/// Returns a page of the list.
pub(super) fn page(
    connection: &Connection,
    filter: &QuestionFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<QuestionSummary>> {
    let way = Way::new(filter.newest_first, after);
    if let Some(trace) = filter.trace {
        let mut statement = connection.prepare_cached(&way.of_a_trace())?;
        let questions = statement.query_map(params![way.from, ulid(trace.as_ulid())], summary)?;
        let admitted = |question: &Result<_>| question.as_ref().map_or(true, |found| filter.admits(found));
        return questions.filter(admitted).take(limit).collect();
    }
    let QuestionFilter { outcomes: None, asker: None, severity: None, people: None, .. } = filter else {
        return merged(connection, filter, &way, limit);
    };
    connection.prepare_cached(&way.of_all())?.query_map([way.from], summary)?.take(limit).collect()
}

/// Returns a page out of several lanes. Within a lane outcome, people and severity are the same, so that its questions
/// stand in order in an index, whatever else the list holds.
fn merged(
    connection: &Connection,
    filter: &QuestionFilter,
    way: &Way,
    limit: usize,
) -> Result<Vec<QuestionSummary>> {
    // Several statements, one moment.
    let transaction = connection.unchecked_transaction()?;
    let asker = filter.asker.map(|asker| ulid(asker.as_ulid()));
    let mut statement = transaction.prepare_cached(&way.of_a_lane(asker.is_some()))?;
    let mut ordinals: Vec<i64> = Vec::new();
    for Lane { outcome, people, severity, own } in lanes(filter) {
        let lane = params![way.from, outcome.as_str(), people, column::severity_word(severity), asker, own];
        for ordinal in statement.query_map(lane, |row| row.get(0))?.take(limit) {
            ordinals.push(ordinal?);
        }
    }
    ordinals.sort_unstable_by_key(|ordinal| if way.down { -ordinal } else { *ordinal });
    ordinals.truncate(limit);
    let mut statement = transaction.prepare_cached(concat!(found!(), " WHERE q.ordinal = ?1"))?;
    ordinals.into_iter().map(|ordinal| statement.query_row([ordinal], summary)).collect()
}

/// Questions that are alike.
struct Lane {
    outcome: OutcomeKind,
    people: bool,
    severity: Severity,
    /// Whether whose question it is asked by itself; matters where the filter names somebody.
    own: bool,
}

/// Returns every combination of what a filter admits.
fn lanes(filter: &QuestionFilter) -> impl Iterator<Item = Lane> {
    let with_gaps = filter.asker.is_some() && filter.with_gaps;
    let owned = [true, false].into_iter().filter(move |own| *own || with_gaps);
    let outcomes = OutcomeKind::ALL
        .into_iter()
        .filter(|outcome| filter.outcomes.as_ref().is_none_or(|wanted| wanted.contains(outcome)));
    let people = [false, true].into_iter().filter(|people| filter.people.is_none_or(|one| one == *people));
    let severities =
        column::SEVERITIES.into_iter().filter(|severity| filter.severity.is_none_or(|one| one == *severity));
    outcomes.flat_map(move |outcome| {
        let (severities, owned) = (severities.clone(), owned.clone());
        people.clone().flat_map(move |people| {
            let owned = owned.clone();
            severities.clone().flat_map(move |severity| {
                owned.clone().map(move |own| Lane { outcome, people, severity, own })
            })
        })
    })
}

/// From where a list is read, and to which end.
struct Way {
    down: bool,
    from: i64,
}

impl Way {
    fn new(down: bool, after: Option<Cursor>) -> Self {
        let start = if down { i64::MAX } else { 0 };
        Self { down, from: after.map_or(start, |after| number(after.number())) }
    }

    fn of_all(&self) -> String {
        self.sql(concat!(found!(), " WHERE true"))
    }

    fn of_a_trace(&self) -> String {
        self.sql(concat!(found!(), " WHERE q.trace = (SELECT id FROM traces WHERE trace = ?2)"))
    }

    fn of_a_lane(&self, asked_by_one: bool) -> String {
        let by = if asked_by_one {
            concat!("questions_holder WHERE ", holder!(), " = ?5 AND (q.submitter IS NULL) = ?6")
        } else {
            "questions_list WHERE ?5 IS NULL AND ?6"
        };
        self.sql(&format!(
            "SELECT q.ordinal FROM questions q INDEXED BY {by}
             AND q.outcome = ?2 AND q.people = ?3 AND q.severity = ?4"
        ))
    }

    /// Returns a query for what lies behind its first parameter, in order.
    fn sql(&self, query: &str) -> String {
        let (behind, order) = if self.down { ("<", "DESC") } else { (">", "ASC") };
        format!("{query} AND q.ordinal {behind} ?1 ORDER BY q.ordinal {order}")
    }
}

/// Returns everybody who has a question open, or a gap of their plan: from one in the index to the next.
pub(super) fn open_holders(connection: &Connection) -> Result<Vec<PrincipalId>> {
    let mut statement = connection.prepare_cached(NEXT_HOLDER)?;
    let mut open = connection.prepare_cached(HAS_OPEN)?;
    let (mut holders, mut last): (_, Vec<u8>) = (Vec::new(), Vec::new());
    while let Some(holder) = statement.query_row([&last], |row| row.get::<_, Vec<u8>>(0)).optional()? {
        if open.exists([&holder])? {
            holders.push(statement.query_row([&last], |row| column::principal(row, 0))?);
        }
        last = holder;
    }
    Ok(holders)
}

const NEXT_HOLDER: &str = concat!(
    "SELECT ",
    holder!(),
    " FROM questions q INDEXED BY questions_holder WHERE ",
    holder!(),
    " > ?1 ORDER BY ",
    holder!(),
    " LIMIT 1"
);
const HAS_OPEN: &str = concat!(
    "SELECT 1 FROM questions q INDEXED BY questions_holder WHERE ",
    holder!(),
    " = ?1 AND q.outcome = 'open' LIMIT 1"
);

/// Returns the question that an event asked.
pub(super) fn question(
    connection: &Connection,
    trace: TraceId,
    sequence: Sequence,
) -> Result<Option<QuestionSummary>> {
    let parameters = params![ulid(trace.as_ulid()), number(sequence.number())];
    connection.prepare_cached(ONE)?.query_row(parameters, summary).optional()
}

/// Returns how many questions have each outcome.
pub(super) fn counts(connection: &Connection) -> Result<Vec<(OutcomeKind, u64)>> {
    let mut statement =
        connection.prepare_cached("SELECT outcome, count(*) FROM questions GROUP BY outcome")?;
    let count = |row: &Row<'_>| Ok((column::outcome(row, 0)?, column::unsigned(row, 1)?));
    let mut counts: Vec<_> = statement.query_map([], count)?.collect::<Result<_>>()?;
    counts.sort_unstable();
    Ok(counts)
}

/// Returns the open questions that are due, by deadline.
pub(super) fn due(connection: &Connection, now: Timestamp, limit: usize) -> Result<Vec<QuestionSummary>> {
    let mut statement = connection.prepare_cached(&due_by_deadline())?;
    let parameters = params![number(now.as_millis()), column::limit(limit)];
    statement.query_map(parameters, summary)?.collect()
}

/// Returns when the next open question is due.
pub(super) fn next_deadline(connection: &Connection) -> Result<Option<Timestamp>> {
    let mut statement = connection.prepare_cached(&first_deadline())?;
    statement.query_row([], |row| column::time(row, 0)).optional()
}

fn due_by_deadline() -> String {
    let due = summary!(
        "FROM questions q INDEXED BY questions_due
         CROSS JOIN traces t ON t.id = q.trace CROSS JOIN events e USING (ordinal)"
    );
    format!("{due} WHERE {} AND q.deadline <= ?1 ORDER BY q.deadline, q.ordinal LIMIT ?2", can_end())
}

fn first_deadline() -> String {
    format!(
        "SELECT q.deadline FROM questions q INDEXED BY questions_due WHERE {} ORDER BY q.deadline LIMIT 1",
        can_end()
    )
}

/// Returns the condition that a question has a deadline whose passing can be recorded.
pub(super) fn can_end() -> String {
    let over: Vec<_> = Phase::ALL.into_iter().filter(|phase| phase.is_final()).map(Phase::as_str).collect();
    format!(
        "q.outcome = 'open' AND q.deadline IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.trace = q.trace AND r.phase IN ('{}'))
         AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.trace = q.trace)",
        over.join("', '")
    )
}

fn summary(row: &Row<'_>) -> Result<QuestionSummary> {
    Ok(QuestionSummary {
        cursor: Cursor::from_number(column::unsigned(row, 0)?),
        trace: column::trace(row, 1)?,
        sequence: column::sequence(row, 2)?,
        asked: column::time(row, 3)?,
        row: QuestionRow {
            outcome: column::outcome(row, 4)?,
            severity: column::severity(row, 5)?,
            people: row.get(6)?,
            asker: column::principal(row, 7)?,
            deadline: row.get::<_, Option<i64>>(8)?.map(|_| column::time(row, 8)).transpose()?,
            changed: column::sequence(row, 9)?,
            submitter: row.get::<_, Option<Vec<u8>>>(10)?.map(|_| column::principal(row, 10)).transpose()?,
        },
    })
}

const ONE: &str = summary!(
    "FROM traces t CROSS JOIN events e ON e.trace = t.id CROSS JOIN questions q USING (ordinal)
     WHERE t.trace = ?1 AND e.sequence = ?2"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    /// Returns how SQLite goes about a query.
    fn plan(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // What is not bound is null: a plan does not depend on values.
        statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap()
    }

    #[test]
    fn no_query_scans_or_sorts() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        let mut queries = vec![ONE.to_owned(), due_by_deadline(), first_deadline()];
        queries.extend([NEXT_HOLDER, HAS_OPEN].map(str::to_owned));
        for down in [false, true] {
            let way = Way::new(down, None);
            queries.extend([way.of_all(), way.of_a_trace(), way.of_a_lane(false), way.of_a_lane(true)]);
        }
        for sql in queries {
            let steps = plan(&connection, &sql);
            let harmless = |step: &String| step.starts_with("SEARCH") || step.contains("SUBQUERY");
            assert!(!steps.is_empty() && steps.iter().all(harmless), "{sql}: {steps:?}");
        }
    }
}
