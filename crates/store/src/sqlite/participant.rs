//! Who takes part in runs: rows that follow from the event that opens one.

use demur_ledger::{facts::Participant, name::TraceId};
use rusqlite::{Connection, Result, Row, params};

use super::column::{self, ulid};

/// Writes a participant into the table of a schema.
pub(super) fn put(connection: &Connection, schema: &str, trace: i64, participant: Participant) -> Result<()> {
    let Participant { principal, role } = participant;
    let sql = format!("INSERT INTO {schema}.participants (trace, principal, role) VALUES (?1, ?2, ?3)");
    let parameters = params![trace, ulid(principal.as_ulid()), role.as_str()];
    connection.prepare_cached(&sql)?.execute(parameters).map(|_| ())
}

/// Returns who takes part in a run, by principal and role.
pub(super) fn all(connection: &Connection, trace: TraceId) -> Result<Vec<Participant>> {
    let mut statement = connection.prepare_cached(
        "SELECT p.principal, p.role FROM traces t CROSS JOIN participants p ON p.trace = t.id
         WHERE t.trace = ?1",
    )?;
    let participant = |row: &Row<'_>| {
        Ok(Participant { principal: column::principal(row, 0)?, role: column::role(row, 1)? })
    };
    let mut all = statement.query_map([ulid(trace.as_ulid())], participant)?.collect::<Result<Vec<_>>>()?;
    all.sort_unstable();
    Ok(all)
}
