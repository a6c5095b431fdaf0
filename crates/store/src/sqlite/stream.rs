//! Streams: posted and acknowledged in the transaction of their write, read in pages.

use demur_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

use super::column::{self, number};
use crate::contract::{
    Acknowledgement, ConsumerName, KeptPost, MOST_SWEPT, PAGE_BYTES, Post, PostName, StreamName,
    StreamPosition,
};

/// Returns whether no stream has a post with the name of one of these.
pub(super) fn are_new(connection: &Connection, posts: &[Post]) -> Result<bool> {
    for Post { stream, name, .. } in posts {
        let Some(name) = name else { continue };
        if named(connection, stream, name)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Keeps posts.
pub(super) fn post(connection: &Connection, posts: &[Post]) -> Result<()> {
    for Post { stream, name, bytes, expires } in posts {
        let name = name.as_ref().map(PostName::as_str);
        let expires = expires.map(|expires| number(expires.as_millis()));
        connection.prepare_cached(POST)?.execute(params![stream.as_str(), name, bytes, expires])?;
    }
    Ok(())
}

/// Keeps what was acknowledged, and takes nothing back.
pub(super) fn acknowledge(connection: &Connection, acknowledged: &[Acknowledgement]) -> Result<()> {
    for Acknowledgement { stream, consumer, position, expires } in acknowledged {
        let expires = expires.map(|expires| number(expires.as_millis()));
        let values = params![stream.as_str(), consumer.as_str(), number(position.number()), expires];
        connection.prepare_cached(ACKNOWLEDGE)?.execute(values)?;
    }
    Ok(())
}

/// Returns posts after a position, in order.
pub(super) fn page(
    connection: &Connection,
    stream: &StreamName,
    after: StreamPosition,
    limit: usize,
) -> Result<Vec<KeptPost>> {
    let mut statement = connection.prepare_cached(PAGE)?;
    let mut rows = statement.query(params![stream.as_str(), number(after.number()), column::limit(limit)])?;
    let (mut posts, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let post = KeptPost { position: position(row, 0)?, bytes: row.get(1)? };
        bytes += post.bytes.len();
        if bytes > PAGE_BYTES && !posts.is_empty() {
            break;
        }
        posts.push(post);
    }
    Ok(posts)
}

/// Returns the position of the post with this name.
pub(super) fn named(
    connection: &Connection,
    stream: &StreamName,
    name: &PostName,
) -> Result<Option<StreamPosition>> {
    let mut statement = connection.prepare_cached(NAMED)?;
    statement.query_row([stream.as_str(), name.as_str()], |row| position(row, 0)).optional()
}

/// Returns the position of the newest post.
pub(super) fn newest(connection: &Connection, stream: &StreamName) -> Result<StreamPosition> {
    let mut statement = connection.prepare_cached(NEWEST)?;
    let newest = statement.query_row([stream.as_str()], |row| position(row, 0)).optional()?;
    Ok(newest.unwrap_or_default())
}

/// Returns up to where a consumer has acknowledged a stream.
pub(super) fn acknowledged(
    connection: &Connection,
    stream: &StreamName,
    consumer: &ConsumerName,
) -> Result<StreamPosition> {
    let mut statement = connection.prepare_cached(ACKNOWLEDGED)?;
    let found =
        statement.query_row([stream.as_str(), consumer.as_str()], |row| position(row, 0)).optional()?;
    Ok(found.unwrap_or_default())
}

/// Returns whether something can be swept.
pub(super) fn is_due(connection: &Connection, now: Timestamp) -> Result<bool> {
    connection.prepare_cached(IS_DUE)?.query_row([number(now.as_millis())], |row| row.get(0))
}

/// Removes what has expired, a bounded number of rows.
pub(super) fn sweep(connection: &Connection, now: Timestamp) -> Result<u64> {
    let mut swept = 0;
    for sql in [SWEEP_POSTS, SWEEP_ACKNOWLEDGEMENTS] {
        let values = params![number(now.as_millis()), column::limit(MOST_SWEPT)];
        swept += connection.prepare_cached(sql)?.execute(values)? as u64;
    }
    Ok(swept)
}

fn position(row: &Row<'_>, index: usize) -> Result<StreamPosition> {
    column::unsigned(row, index).map(StreamPosition::new)
}

const POST: &str = "INSERT INTO posts (stream, name, bytes, expires) VALUES (?1, ?2, ?3, ?4)";
const ACKNOWLEDGE: &str = "INSERT INTO acknowledgements (stream, consumer, position, expires)
    VALUES (?1, ?2, ?3, ?4) ON CONFLICT (stream, consumer) DO UPDATE
    SET position = max(position, excluded.position), expires = excluded.expires";
const PAGE: &str =
    "SELECT position, bytes FROM posts WHERE stream = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
const NAMED: &str = "SELECT position FROM posts WHERE stream = ?1 AND name = ?2";
const NEWEST: &str = "SELECT position FROM posts WHERE stream = ?1 ORDER BY position DESC LIMIT 1";
const ACKNOWLEDGED: &str = "SELECT position FROM acknowledgements WHERE stream = ?1 AND consumer = ?2";
const IS_DUE: &str = "SELECT EXISTS (SELECT 1 FROM posts WHERE expires <= ?1)
    OR EXISTS (SELECT 1 FROM acknowledgements WHERE expires <= ?1)";
const SWEEP_POSTS: &str = "DELETE FROM posts WHERE position IN
    (SELECT position FROM posts WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
const SWEEP_ACKNOWLEDGEMENTS: &str = "DELETE FROM acknowledgements WHERE (stream, consumer) IN
    (SELECT stream, consumer FROM acknowledgements WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn no_query_scans_or_sorts() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        for sql in [PAGE, NAMED, NEWEST, ACKNOWLEDGED] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps: Vec<String> =
                statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
            assert!(steps.len() == 1 && steps[0].starts_with("SEARCH "), "{sql}: {steps:?}");
        }
    }
}
