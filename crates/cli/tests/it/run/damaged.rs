//! A record that was damaged while its run went on: nothing is concluded over it, whatever is damaged, and in whatever state the
//! run was it has failed.

use rusqlite::Connection;
use serde_json::Value;

use super::Draft;
use crate::sandbox::Sandbox;

/// Returns a sandbox with a run that stopped when it reached this state.
fn stopped(until: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    Draft::new().call("echo", &["echo", "hello"]).claim("It says hello.", &["echo"]).write(&sandbox);
    sandbox.run(&["run", "--task", "task.toml", "--until", until]).expect_code(0);
    sandbox
}

/// What takes every part of a record away that the guard of the final statement looks at, in the database.
const DAMAGES: [(&str, &str); 6] = [
    (
        "schema",
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"evidence\"', '\"evidences\"') AS BLOB) WHERE trace = 2",
    ),
    (
        "hash",
        "UPDATE events SET content = CAST(replace(CAST(content AS TEXT), 'something', 'anything') AS BLOB) WHERE trace = 2 AND sequence = 0",
    ),
    ("chain", "UPDATE events SET hash = zeroblob(32) WHERE trace = 2 AND sequence = 3"),
    (
        "signature",
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"signature\":\"', '\"signature\":\"00') AS BLOB) WHERE trace = 2 AND sequence = 2",
    ),
    (
        "artifact",
        "UPDATE events SET artifact_salt = zeroblob(32) WHERE trace = 2 AND artifact_salt IS NOT NULL",
    ),
    (
        "claim",
        "UPDATE events SET content = CAST(replace(CAST(content AS TEXT), 'It says hello.', 'It says nothing.') AS BLOB) WHERE trace = 2 AND CAST(content AS TEXT) LIKE '%It says hello.%'",
    ),
];

/// LED-25: schema, hash, chain, signature, artifact and claim.
#[test]
fn nothing_is_concluded_over_damage_of_any_kind() {
    for (what, sql) in DAMAGES {
        let sandbox = stopped("claiming");
        sandbox.tamper(sql);
        let ran = sandbox.run(&["run", "resume", "--json"]);
        assert_ne!(ran.code, Some(0), "{what}: {ran}");
        let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{what}: {ran}"));
        let code = error["error"]["code"].as_str().unwrap();
        assert!(["RECORD_UNPROVEN", "RECORD_DAMAGED", "TRACE_FAILED"].contains(&code), "{what}: {ran}");
        sandbox.rest();
        let concluded =
            "SELECT count(*) FROM events WHERE CAST(bytes AS TEXT) LIKE '%final_statement_signed%'";
        let found: i64 =
            Connection::open(sandbox.database()).unwrap().query_row(concluded, [], |row| row.get(0)).unwrap();
        assert_eq!(found, 0, "{what}");
    }
}

/// LED-18, LED-30: whatever the run was about to do, it has failed, and nothing is added to it any more.
#[test]
fn damage_fails_a_run_in_every_state() {
    for phase in ["reviewing", "executing", "claiming", "auditing"] {
        let sandbox = stopped(phase);
        assert_eq!(sandbox.json(&["run", "status"])["phase"], phase);
        let trace = sandbox.trace();
        sandbox.tamper("UPDATE events SET content = CAST('{}' AS BLOB) WHERE sequence = 0 AND trace = 2");
        let events = || -> i64 {
            sandbox.rest();
            let count = "SELECT count(*) FROM events WHERE trace = 2";
            Connection::open(sandbox.database()).unwrap().query_row(count, [], |row| row.get(0)).unwrap()
        };
        let before = events();
        sandbox.run(&["store", "check"]).expect_code(1);
        for words in [&["run", "resume", &trace][..], &["run", "abort", &trace, "--reason", "enough"]] {
            let ran = sandbox.run(&[words, &["--json"]].concat());
            assert_ne!(ran.code, Some(0), "{phase}: {ran}");
        }
        assert_eq!(events(), before, "{phase}");
        let listed: Value = sandbox.json(&["trace", "list"]);
        let run = listed["traces"].as_array().unwrap().iter().find(|one| one["trace"] == *trace).unwrap();
        assert_eq!(run["phase"], "failed", "{phase}: {run}");
    }
}
