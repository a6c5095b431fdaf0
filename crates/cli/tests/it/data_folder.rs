//! A data folder that is not there: made by commands that write, which say so; never by those that look.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn looking_makes_no_folder_and_says_that_there_is_none() {
    let sandbox = Sandbox::new();
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV.0";
    for arguments in [
        &["show", id][..],
        &["answer", id, "yes"],
        &["decline", id],
        &["extend", id, "5m"],
        &["cancel", id],
        &["pass", id, "--people"],
        &["wait", id],
        &["watch"],
        &["token", "revoke", "last"],
        &["people", "remove", "zoe"],
        &["confirm", "show", "last"],
    ] {
        let error = sandbox.json_error(arguments, 2);
        assert_eq!(error["code"], "NO_DATA", "{arguments:?}: {error}");
    }
    for arguments in [&["trace", "list"][..], &["keys", "list"], &["doctor"], &["status"], &["stop"]] {
        sandbox.run(arguments);
    }
    assert!(!sandbox.data().exists());
    assert_snapshot!(sandbox.run(&["--data", "typo", "show", id]), @r#"
    exit 2
    --- stderr
    error: expected a data folder at typo, found none
    hint: `demur --data typo ask "Which colour?"` makes it with the first question; --data names another
    "#);
    // A list of nothing is a list.
    for (list, things) in LISTS {
        let ran = sandbox.run(&["--data", "typo", list, "list"]);
        let told = format!("No {things} in typo: there is no data folder there yet.");
        assert!(ran.expect_code(0).stdout.starts_with(&told), "{ran}");
        assert_eq!(sandbox.json(&["--data", "typo", list, "list"])[things], serde_json::json!([]), "{list}");
    }
    // What does not run is not started by a hint.
    assert_snapshot!(sandbox.run(&["--data", "typo", "stop"]), @r"
    exit 3
    --- stderr
    error: no server runs for typo
    hint: --data names another data folder
    ");
    assert_snapshot!(sandbox.run(&["--data", "typo", "status"]), @r"
    exit 3
    --- stderr
    error: no server runs for typo
    hint: `demur --data typo serve` starts one; `demur --data typo ask` and `inbox` do so themselves
    ");
    assert_snapshot!(sandbox.run(&["--data", "typo", "inbox", "--list"]), @r#"
    exit 0
    --- stdout
    Nothing waits: expected a data folder at typo, found none.
    `demur --data typo ask "Which colour?"` makes it with the first question; --data names another
    "#);
    assert_eq!(sandbox.json(&["inbox", "--list"])["questions"], serde_json::json!([]));
    assert!(!sandbox.data().exists() && !sandbox.path("typo").exists());
}

/// A folder may be mistyped that is there.
#[test]
fn looking_makes_nothing_in_a_folder_without_a_store() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.data()).unwrap();
    for arguments in [
        &["watch"][..],
        &["token", "revoke", "last"],
        &["people", "remove", "zoe"],
        &["confirm", "show", "last"],
        &["show", "01ARZ3"],
        &["wait", "1"],
    ] {
        let error = sandbox.json_error(arguments, 2);
        assert_eq!(error["code"], "NO_DATA", "{arguments:?}: {error}");
    }
    for (list, things) in LISTS {
        assert_eq!(sandbox.json(&[list, "list"])[things], serde_json::json!([]), "{list}");
    }
    let [tokens, people, waiting, asked] =
        [&["token", "list"][..], &["people", "list"], &["confirm", "list"], &["confirm", "list", "--all"]]
            .map(|arguments| sandbox.run(arguments).expect_code(0).stdout.clone());
    assert_eq!(tokens, "No tokens. `demur token new NAME --scope ask` makes one.\n");
    assert_eq!(people, "Nobody but you. `demur people add NAME --role answerer` adds somebody.\n");
    assert_eq!(waiting, "Nothing waits for a yes or a no.\n");
    assert_eq!(asked, "No confirmations here.\n");
    assert_snapshot!(sandbox.run(&["inbox", "--list"]), @r#"
    exit 0
    --- stdout
    Nothing waits: expected a data folder at [DIR]/data, found a folder in which nothing is recorded.
    `demur ask "Which colour?"` makes it with the first question; --data names another
    "#);
    assert_eq!(std::fs::read_dir(sandbox.data()).unwrap().count(), 0);
}

#[test]
fn writing_makes_the_folder_and_says_so_once() {
    const MADE: &str = "Made the data folder ";
    for arguments in [
        &["ask", "Name?", "--no-wait"][..],
        &["keys", "new", "alice", "--role", "planner"],
        &["token", "new", "builder", "--scope", "ask"],
        &["people", "add", "zoe", "--role", "answerer"],
        &["open", "--print"],
    ] {
        let sandbox = Sandbox::new();
        let first = sandbox.run(arguments);
        let told = format!("{MADE}{}.\n", sandbox.data().display());
        assert!(first.expect_code(0).stderr.starts_with(&told), "{arguments:?}: {first}");
        let code = first.stdout.contains("Type the code on that page; it works once, for 5 minutes.\n");
        assert_eq!(code, arguments[0] == "open", "{first}");
        let again = sandbox.run(&["ask", "Word?", "--no-wait"]);
        assert!(!again.expect_code(0).stderr.contains(MADE), "{again}");
    }
}

#[test]
fn mistake_makes_no_folder() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--out", "missing/key"]).expect_code(2);
    assert!(!sandbox.data().exists());
}

#[test]
fn hint_names_the_folder_that_was_named() {
    let sandbox = Sandbox::with_keys();
    let error = sandbox.json_error(&["--data", "data", "open", "--as", "nobody", "--print"], 2);
    assert_eq!(error["hint"], "`demur --data data people list` shows them");
    let error = sandbox.json_error(&["open", "--as", "nobody", "--print"], 2);
    assert_eq!(error["hint"], "`demur people list` shows them");
}

/// Every list, and what it lists.
const LISTS: [(&str, &str); 6] = [
    ("trace", "traces"),
    ("keys", "keys"),
    ("plan", "plans"),
    ("confirm", "confirmations"),
    ("token", "tokens"),
    ("people", "people"),
];
