//! The socket, the lock and the folder of a server that runs, deleted behind its back: it is found again, and nobody else
//! writes in its folder.

use std::fs;

use crate::{
    asker::{Asker, asked, shown},
    sandbox::Sandbox,
    server_life::{kill, serve, server},
};

fn delete(sandbox: &Sandbox, name: &str) {
    fs::remove_file(sandbox.data().join(name)).unwrap();
}

#[test]
fn asker_whose_server_lost_its_socket_is_answered_by_the_same_server() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    delete(&sandbox, "socket");
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
    assert_eq!(server(&sandbox), process);
}

/// ONE-05: whatever is deleted in the folder, and whether or not it was made anew.
#[test]
fn no_second_server_gets_a_folder_that_lost_its_files() {
    for (names, anew) in [(&["lock"][..], false), (&["lock"], true), (&["lock", "socket"], true)] {
        let sandbox = Sandbox::new();
        sandbox.start_server();
        let process = server(&sandbox);
        for name in names {
            delete(&sandbox, name);
        }
        if anew {
            fs::write(sandbox.data().join("lock"), "").unwrap();
        }
        // One that does begin ends by itself, so that this fails and does not hang.
        let error = sandbox.json_error(&["serve", "--no-tcp", "--idle", "1s"], 3);
        assert_eq!(error["code"], "FOLDER_IN_USE", "{names:?}");
        let id = asked(&sandbox, &["Name?"]);
        assert_eq!(server(&sandbox), process, "{names:?}");
        kill(process);
        sandbox.run(&["answer", &id, "ada"]).expect_code(0);
        sandbox.run(&["stop"]).expect_code(0);
        assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
    }
}

#[test]
fn server_whose_folder_was_moved_ends_and_the_folder_works_where_it_is() {
    let sandbox = Sandbox::new();
    let mut foreground = serve(&sandbox, &["--no-tcp"]);
    let id = asked(&sandbox, &["Name?"]);
    fs::rename(sandbox.data(), sandbox.path("moved")).unwrap();
    assert!(foreground.wait().unwrap().success());
    sandbox.run(&["--data", "moved", "answer", &id, "ada"]).expect_code(0);
    sandbox.run(&["--data", "moved", "stop"]).expect_code(0);
}

#[test]
fn server_whose_folder_was_replaced_ends_and_leaves_the_new_one_alone() {
    let sandbox = Sandbox::new();
    let mut foreground = serve(&sandbox, &["--no-tcp"]);
    fs::rename(sandbox.data(), sandbox.path("moved")).unwrap();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    assert!(foreground.wait().unwrap().success());
    assert_eq!(shown(&sandbox, &asker.id)["state"], "open");
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
}
