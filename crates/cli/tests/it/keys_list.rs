//! `demur keys list`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn empty_folder_says_what_to_do_next_and_stays_empty() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 0
    --- stdout
    No keys in [DIR]/data: there is no data folder there yet.
    Make the first one: demur keys new NAME --role planner
    ");
    assert!(!sandbox.data().exists());
    let reply = sandbox.json(&["keys", "list"]);
    assert_eq!((&reply["keys"], &reply["store"]), (&serde_json::json!([]), &serde_json::Value::Null));
}

#[test]
fn every_status_has_its_word() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
    sandbox.run(&["keys", "rotate", "bob", "--retire-now"]).expect_code(0);
    sandbox.run(&["keys", "revoke", "carol", "--reason", "lost"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 0
    --- stdout
    NAME   ROLE      KEY               STATUS                                           SINCE
    desk   desk      [KEY]  active                                           [TIME]
    alice  planner   [KEY]  rotated (retires after [TIME])  [TIME]
    bob    executor  [KEY]  retired                                          [TIME]
    carol  critic    [KEY]  revoked (lost)                                   [TIME]
    alice  planner   [KEY]  active                                           [TIME]
    bob    executor  [KEY]  active                                           [TIME]
    ");
    let reply = sandbox.json(&["keys", "list"]);
    let statuses: Vec<&str> =
        reply["keys"].as_array().unwrap().iter().map(|key| key["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["active", "rotated", "retired", "revoked", "active", "active"]);
}

#[test]
fn listing_changes_nothing() {
    let sandbox = Sandbox::with_keys();
    let before = sandbox.contents();
    sandbox.run(&["keys", "list"]).expect_code(0);
    sandbox.run(&["keys", "show", "alice"]).expect_code(0);
    assert_eq!(sandbox.contents(), before);
}
