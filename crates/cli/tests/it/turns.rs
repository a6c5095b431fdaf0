//! A folder has one owner at a time; readers need no turn.

use std::{process::Stdio, thread};

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, count};

#[test]
fn writer_is_refused_while_another_holds_the_folder() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let lock = std::fs::File::open(sandbox.data().join("lock")).unwrap();
    lock.lock().unwrap();
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "new", "carol", "--role", "critic"]), @r"
    exit 3
    --- stderr
    error: another command owns the data folder and does not let it go
    hint: wait until it is done, then try again
    ");
    assert_eq!(sandbox.contents(), before);
    // Readers need no turn.
    for call in ["keys list", "keys show alice", "trace list", "trace show registry", "export registry"] {
        sandbox.run(&call.split(' ').collect::<Vec<_>>()).expect_code(0);
    }
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    // All at once: they wait for it before they give up.
    thread::scope(|scope| {
        for call in
            ["checkpoint", "store check", "store rebuild", "store restore copy --replace", "keys rotate bob"]
        {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let error = sandbox.json_error(&call.split(' ').collect::<Vec<_>>(), 3);
                assert_eq!(error["code"], "FOLDER_IN_USE", "{call}");
            });
        }
    });
    assert_eq!(sandbox.contents(), before);
    drop(lock);
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

#[test]
fn proof_two_writers_both_land() {
    let sandbox = Sandbox::new();
    let mut landed = vec!["desk".to_owned()];
    for round in 0..count(15, 300) {
        let names = [format!("left {round}"), format!("right {round}")];
        let children = names.clone().map(|name| {
            let arguments = ["keys", "new", &name, "--role", "executor", "--json"];
            sandbox.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for (name, child) in names.into_iter().zip(children) {
            sandbox.ran(child.wait_with_output().unwrap()).expect_code(0);
            landed.push(name);
        }
    }
    let reply = sandbox.json(&["keys", "list"]);
    let mut listed: Vec<&str> =
        reply["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    listed.sort_unstable();
    landed.sort_unstable();
    assert_eq!(listed, landed);
}
