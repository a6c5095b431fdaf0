//! `demur store backup` and `demur store restore`.

use std::{fs, path::Path, process::Command};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn with_backup() -> Sandbox {
    let sandbox = Sandbox::with_run();
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    sandbox
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn backup_holds_everything_but_the_secrets() {
    let sandbox = Sandbox::with_run();
    assert_snapshot!(sandbox.run(&["store", "backup", "copy"]), @r"
    exit 0
    --- stdout
    Backed up: 2 traces with 35 events to copy
    The secret keys in [DIR]/data/keys are not part of it: whoever has them speaks as their holders,
    and a backup is read by more people. Keep the desk's key in another safe place: a store that comes
    back without it can record nothing.
    ");
    let names = |folder: &str| {
        let mut names: Vec<_> =
            fs::read_dir(sandbox.path(folder)).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("copy"), ["artifacts", "ledger.db", "lock", "registry-head.json", "store-root.json"]);
    assert_eq!(
        sandbox.json(&["trace", "list", "--data", "copy"])["traces"],
        sandbox.json(&["trace", "list"])["traces"]
    );
    assert_eq!(sandbox.json(&["keys", "list", "--data", "copy"])["keys"].as_array().unwrap().len(), 5);
}

#[test]
fn backup_goes_into_a_new_or_empty_folder_only() {
    let sandbox = Sandbox::with_run();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run(&["store", "backup", "empty"]).expect_code(0);
    fs::write(sandbox.path("file"), "").unwrap();
    let told: String = ["empty", "data", "file"]
        .iter()
        .map(|to| sandbox.run(&["store", "backup", to]).to_string())
        .collect();
    assert_snapshot!(told, @r"
    exit 2
    --- stderr
    error: expected an empty folder, found files in empty: name another
    exit 2
    --- stderr
    error: expected an empty folder, found files in data: name another
    exit 2
    --- stderr
    error: cannot create the folder file: not a directory
    hint: `ls .` shows what is there
    ");
    assert_eq!(Sandbox::new().json_error(&["store", "backup", "copy"], 2)["code"], "NO_KEYS");
}

#[test]
fn restored_store_begins_a_new_epoch_before_anything_else() {
    let sandbox = with_backup();
    sandbox.run(&["keys", "new", "later", "--role", "critic"]).expect_code(0);
    fs::create_dir(sandbox.path("other")).unwrap();
    copy(&sandbox.path("data/keys"), &sandbox.path("other/keys"));
    assert_snapshot!(sandbox.run(&["store", "restore", "copy", "--data", "other"]), @r"
    exit 0
    --- stdout
    Restored: 2 traces with 36 events.
      recorded     store_restored, registry event 10; epoch 2 begins
      ended        0 tokens, sessions and links
    What was recorded after the backup is not in it. Whoever holds a receipt of it can show that.
    Every token, session and link of the backup is ended: some may have been taken back since.
    Keys that were revoked and people who were removed since are back: see `demur keys list` and
    `demur people list`.
    ");
    let reply = sandbox.json(&["keys", "list", "--data", "other"]);
    assert!(!reply.to_string().contains("later"));
    sandbox.run(&["keys", "new", "carol", "--role", "critic", "--data", "other"]).expect_code(0);
    let export = sandbox.run(&["export", "registry", "--data", "other"]).stdout;
    let lines: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&Value> =
        lines.iter().map(|line| &line["event"]["event"]).filter(|event| event.is_object()).collect();
    let newest: Vec<_> =
        events[10..].iter().map(|event| (&event["statement"]["type"], &event["epoch"])).collect();
    assert_eq!(newest, [(&"store_restored".into(), &2.into()), (&"key_registered".into(), &2.into())]);
    sandbox.feed(&["verify", "-"], export.as_bytes()).expect_code(0);
    assert_eq!(sandbox.json(&["store", "check", "--data", "other"])["problems"], serde_json::json!([]));
}

/// Whoever comes first after a restoration that was interrupted records it.
#[test]
fn interrupted_restoration_is_recorded_by_the_next_change() {
    let sandbox = with_backup();
    fs::create_dir(sandbox.path("other")).unwrap();
    copy(&sandbox.path("data/keys"), &sandbox.path("other/keys"));
    let (from, to) = (sandbox.path("copy"), sandbox.path("other"));
    demur_store::sqlite::SqliteStore::restore(&from, &to, &[], &mut |_| ()).unwrap();
    sandbox.run(&["keys", "new", "carol", "--role", "critic", "--data", "other"]).expect_code(0);
    let export = sandbox.run(&["export", "registry", "--data", "other"]).stdout;
    let restored = export.find("\"store_restored\"").unwrap();
    assert!(restored < export.find("\"carol\"").unwrap());
    assert_eq!(export.matches("\"type\":\"store_restored\"").count(), 1);
    sandbox.run(&["checkpoint", "--data", "other"]).expect_code(0);
    let export = sandbox.run(&["export", "registry", "--data", "other"]).stdout;
    assert_eq!(export.matches("\"type\":\"store_restored\"").count(), 1);
}

#[test]
fn store_that_is_there_is_moved_aside_only_when_asked() {
    let sandbox = with_backup();
    sandbox.run(&["keys", "new", "later", "--role", "critic"]).expect_code(0);
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["store", "restore", "copy"]), @r"
    exit 2
    --- stderr
    error: expected a data folder without a store, found one in [DIR]/data
    hint: name another folder with --data, or move the old store aside with --replace
    ");
    assert_eq!(sandbox.contents(), before);
    let reply = sandbox.json(&["store", "restore", "copy", "--replace"]);
    assert_eq!(reply["epoch"], 2);
    assert!(!sandbox.json(&["keys", "list"]).to_string().contains("later"));
    // The old store is whole where it is now.
    let aside = reply["aside"].as_str().unwrap();
    assert!(sandbox.json(&["keys", "list", "--data", aside]).to_string().contains("later"));
    let left = fs::read_dir(sandbox.data()).unwrap();
    let left =
        left.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().starts_with("restoring"));
    assert_eq!(left.count(), 0);
    assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
}

#[test]
fn restoration_needs_the_key_of_the_desk_and_a_backup() {
    let sandbox = with_backup();
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["store", "restore", "copy", "--data", "other"]), @r"
    exit 2
    --- stderr
    error: cannot read other/keys: No such file or directory (os error 2)
    hint: the desk signs every change: restore its key from a backup of other/keys
    ");
    assert!(!sandbox.path("other").exists());
    sandbox.json_error(&["store", "restore", "nowhere", "--replace"], 2);
    fs::write(sandbox.path("copy/ledger.db"), "no database").unwrap();
    assert_eq!(sandbox.json_error(&["store", "restore", "copy", "--replace"], 2)["code"], "STORE_FOREIGN");
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn backup_with_a_missing_artifact_replaces_nothing() {
    let sandbox = with_backup();
    fs::remove_dir_all(sandbox.path("copy/artifacts")).unwrap();
    let before = sandbox.contents();
    assert_eq!(sandbox.json_error(&["store", "restore", "copy", "--replace"], 2)["code"], "STORE_DAMAGED");
    assert_eq!(sandbox.contents(), before);
}

/// A token that was taken back after the backup must not come back with it.
#[test]
fn restoration_ends_every_token_session_and_link() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["token", "new", "builder", "--scope", "ask"]).expect_code(0);
    sandbox.run(&["token", "new", "reader", "--scope", "read"]).expect_code(0);
    sandbox.run(&["open", "--print"]).expect_code(0);
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    sandbox.run(&["store", "restore", "copy", "--replace"]).expect_code(0);
    assert_eq!(sandbox.json(&["token", "list"])["tokens"], serde_json::json!([]));
    fs::create_dir(sandbox.path("other")).unwrap();
    copy(&sandbox.path("data/keys"), &sandbox.path("other/keys"));
    let reply = sandbox.json(&["store", "restore", "copy", "--data", "other"]);
    assert_eq!(reply["ended"], 3);
    assert_eq!(sandbox.json(&["token", "list", "--data", "other"])["tokens"], serde_json::json!([]));
    sandbox.run(&["stop", "--data", "other"]).expect_code(0);
}

/// An id may mean another question after a restoration.
#[test]
fn numbers_of_questions_mean_nothing_after_a_restoration() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["ask", "Name?", "--no-wait"]).expect_code(0);
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    assert!(sandbox.run(&["inbox", "--list"]).stdout.starts_with("1. Name?"));
    sandbox.run(&["store", "restore", "copy", "--replace"]).expect_code(0);
    assert_eq!(sandbox.run(&["show", "1"]).code, Some(2));
    assert!(sandbox.run(&["inbox", "--list"]).stdout.starts_with("2. Name?"));
}

/// Returns the file of some artifact of the data folder.
fn artifact(sandbox: &Sandbox) -> std::path::PathBuf {
    let shards = fs::read_dir(sandbox.data().join("artifacts")).unwrap().map(|shard| shard.unwrap().path());
    let mut files = shards.flat_map(|shard| fs::read_dir(shard).unwrap()).map(|file| file.unwrap().path());
    files.next().unwrap()
}

#[test]
fn lost_artifact_is_named_and_ends_no_backup() {
    let sandbox = Sandbox::with_run();
    fs::remove_file(artifact(&sandbox)).unwrap();
    let ran = sandbox.run(&["store", "backup", "copy"]);
    let told: Vec<_> = ran.expect_code(1).stdout.lines().skip(1).take(3).map(str::to_owned).collect();
    assert_eq!(told[0], "Not whole: the store has lost 1 artifact:");
    assert!(told[1].starts_with("  event ") && told[1].ends_with(": its file is missing"), "{ran}");
    assert_eq!(told[2], "An older backup may have them. Everything else is in this one.");
    let reply = sandbox.json(&["store", "restore", "copy", "--replace"]);
    assert_eq!(reply["lost"].as_array().unwrap().len(), 1);
    assert_eq!(reply["lost"][0]["damaged"], false);
    assert_eq!(sandbox.run(&["store", "check"]).code, Some(1));
}

#[test]
fn backup_that_fails_leaves_nothing_behind() {
    let sandbox = Sandbox::with_run();
    let lost = artifact(&sandbox);
    fs::remove_file(&lost).unwrap();
    fs::create_dir(&lost).unwrap();
    sandbox.run(&["store", "backup", "copy"]).expect_code(4);
    assert!(!sandbox.path("copy").exists());
    fs::remove_dir(&lost).unwrap();
    sandbox.run(&["store", "backup", "copy"]).expect_code(1);
    let error = sandbox.json_error(&["store", "restore", "nowhere", "--data", "other"], 2);
    assert!(error["message"].as_str().unwrap().ends_with("ledger.db: name a folder that has one"), "{error}");
}

/// ONE-13
#[test]
fn altered_backup_takes_nothing_over() {
    let sandbox = with_backup();
    sandbox.rest();
    let sql = "UPDATE events SET content_salt = randomblob(32) WHERE trace = 2 AND sequence = 10";
    Sandbox::tamper_with(&sandbox.path("copy/ledger.db"), sql);
    let before = fs::read(sandbox.path("data/ledger.db")).unwrap();
    let ran = sandbox.run(&["store", "restore", "copy", "--replace"]);
    assert!(ran.stderr.contains("does not hold") && ran.stdout.is_empty(), "{ran}");
    assert_eq!(fs::read(sandbox.path("data/ledger.db")).unwrap(), before, "nothing was touched");
}
