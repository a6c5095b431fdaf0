//! The golden matrix: every operation of the API, every page and every tool, called by every kind of caller on a copy of the
//! same store. What each gets (status, code, field and document, not the words) stands in `tests/golden/matrix`. Run the test
//! with `DEMUR_BLESS=1` to write the files anew, and read the difference before committing it.

mod callers;
mod cell;
mod golden;
mod names;
mod rows;
mod seed;
mod tools;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use demur_mcp::tools::Sets;
use demur_server::routes;
use serde_json::Value;

use self::{
    callers::{KINDS, most_per_server},
    cell::Caller,
    rows::{FILES, Row},
    seed::Seed,
};
use crate::server::Server;

/// A kind of caller, the store, and a folder for a copy of it.
type Place<'a> = (&'a Seed, &'a Path, &'static str);

/// Calls so many things on servers of a caller's own, in order; returns what came of each.
fn called(
    (seed, folder, kind): Place<'_>,
    count: usize,
    outcome: impl Fn(&Caller<'_>, usize) -> Value,
) -> Vec<Value> {
    let mut outcomes = Vec::new();
    while outcomes.len() < count {
        seed.copy_to(folder);
        let server = Server::start_elsewhere(folder);
        let caller = Caller { seed, server: &server, kind, ended_it: Cell::new(false) };
        let until = outcomes.len().saturating_add(most_per_server(kind)).min(count);
        for at in outcomes.len()..until {
            outcomes.push(outcome(&caller, at));
        }
        if caller.ended_it.get() {
            server.abandon();
        }
    }
    outcomes
}

fn rows_by(place: Place<'_>, rows: &[Row]) -> Vec<Value> {
    let operations: BTreeMap<_, _> =
        routes::operations().into_iter().map(|operation| (rows::name(&operation), operation)).collect();
    called(place, rows.len(), |caller, at| {
        let row = &rows[at];
        let operation = operations.get(row.operation);
        let operation = operation.unwrap_or_else(|| panic!("there is no operation {}", row.operation));
        caller.outcome(row, operation)
    })
}

/// Returns the lines of every file.
fn lines(seed: &Seed) -> Vec<(&'static str, Vec<String>)> {
    let files: Vec<_> = FILES.iter().map(|(name, rows)| (*name, rows())).collect();
    let tools = rows::tools::rows();
    let jobs: Vec<_> =
        (0..=files.len()).flat_map(|file| (0..KINDS.len()).map(move |kind| (file, kind))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                while let Some((file, kind)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                    let place = (seed, folder.path(), KINDS[kind]);
                    let outcomes = match files.get(file) {
                        Some((_, rows)) => rows_by(place, rows),
                        None => called(place, tools.len(), |caller, at| caller.told(&tools[at])),
                    };
                    done.lock().unwrap().insert((file, kind), outcomes);
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    let by_all = |file: usize, at: usize| -> Vec<Value> {
        (0..KINDS.len()).map(|kind| done[&(file, kind)][at].clone()).collect()
    };
    let mut lines: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(file, (name, rows))| {
            let line = |(at, row): (usize, &Row)| {
                golden::lines(&[("operation", row.operation), ("case", row.case)], &by_all(file, at))
            };
            (*name, rows.iter().enumerate().flat_map(line).collect())
        })
        .collect();
    let tool_lines = tools.iter().enumerate().flat_map(|(at, tool)| {
        golden::lines(&[("tool", tool.name), ("case", tool.case)], &by_all(files.len(), at))
    });
    lines.push(("tools", tool_lines.collect()));
    lines
}

#[test]
fn every_operation_says_the_same_as_ever_to_every_kind_of_caller() {
    let seed = Seed::plant();
    let differences: Vec<_> =
        lines(&seed).iter().flat_map(|(file, lines)| golden::differences(file, lines)).collect();
    assert!(
        differences.is_empty(),
        "{} lines of tests/golden/matrix are not what the server says; look at each, then run the test with \
         DEMUR_BLESS=1\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn every_operation_and_every_tool_has_a_row() {
    let rows: BTreeSet<String> =
        FILES.iter().flat_map(|(_, rows)| rows()).map(|row| row.operation.to_owned()).collect();
    let operations: BTreeSet<_> = routes::operations().iter().map(rows::name).collect();
    assert_eq!(rows, operations);
    let rows: BTreeSet<String> = rows::tools::rows().iter().map(|tool| tool.name.to_owned()).collect();
    let tools: BTreeSet<_> =
        demur_mcp::tools::list(Sets::all()).iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(rows, tools);
}
