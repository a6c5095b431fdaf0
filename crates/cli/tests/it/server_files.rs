//! The socket, the lock and the folder of a server that runs, deleted behind its back: it is found again, and nobody else
//! writes in its folder.

use std::{fs, process::Command, thread};

use crate::{
    asker::{Asker, asked, shown, until},
    sandbox::Sandbox,
    server_life::{is_alive, kill, serve, server},
};

/// Holds a process where it is: it hears nothing until it is killed.
pub(crate) fn freeze(process: u32) {
    let frozen = Command::new("kill").args(["-STOP", &process.to_string()]).status().unwrap();
    assert!(frozen.success());
}

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

#[test]
fn commands_that_start_no_server_find_one_that_lost_its_socket() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    delete(&sandbox, "socket");
    assert_eq!(server(&sandbox), process);
    delete(&sandbox, "socket");
    sandbox.run(&["stop"]).expect_code(0);
    until("it has ended", || (!is_alive(process)).then_some(()));
}

#[test]
fn commands_that_need_the_folder_get_it_from_a_server_that_lost_its_socket() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    delete(&sandbox, "socket");
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
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

#[test]
fn server_that_hears_nothing_is_named_and_killed_only_by_force() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    freeze(process);
    let error = sandbox.json_error(&["stop", "--timeout", "1s"], 3);
    assert_eq!(error["code"], "STILL_RUNNING");
    let message =
        format!("expected the server to end within 1 second, found process {process} still running");
    assert_eq!(error["message"], message);
    assert!(error["hint"].as_str().unwrap().contains("`demur stop --force`"), "{error}");
    assert!(is_alive(process), "it is left alone");
    let stopped = sandbox.json(&["stop", "--timeout", "1s", "--force"]);
    assert_eq!(stopped, serde_json::json!({ "stopped": true, "killed": true }));
    until("it is dead", || (!is_alive(process)).then_some(()));
    assert_eq!(shown(&sandbox, &id)["state"], "open");
}

/// ONE-05: what the server says is recorded is on the disk under its name.
#[test]
fn server_whose_database_is_deleted_records_nothing_more_and_loses_nothing_that_is_copied_back() {
    for names in [&["ledger.db"][..], &["ledger.db", "ledger.db-wal"]] {
        let sandbox = Sandbox::new();
        let id = asked(&sandbox, &["Name?"]);
        let process = server(&sandbox);
        for name in names {
            delete(&sandbox, name);
        }
        let error = sandbox.json_error(&["ask", "Recorded?", "--no-wait"], 4);
        assert_eq!(error["code"], "STORE_GONE", "{error}");
        let examined = sandbox.run(&["doctor"]);
        assert!(
            examined.expect_code(3).stdout.contains("ledger.db was deleted, moved or replaced"),
            "{examined}"
        );
        assert!(sandbox.run(&["status"]).expect_code(0).stdout.contains("trouble"));
        let log = || fs::read_to_string(sandbox.data().join("server.log")).unwrap();
        until("the log says it", || log().contains("nothing more is recorded").then_some(()));
        copy_back(&sandbox, process);
        sandbox.run(&["stop"]).expect_code(0);
        assert_eq!(shown(&sandbox, &id)["state"], "open");
        sandbox.run(&["store", "check"]).expect_code(0);
    }
}

/// Does what the doctor says: every file of the database that the server has open gets its name back.
fn copy_back(sandbox: &Sandbox, process: u32) {
    for open in fs::read_dir(format!("/proc/{process}/fd")).unwrap() {
        let open = open.unwrap().path();
        let Ok(target) = fs::read_link(&open) else { continue };
        let name = target.file_name().unwrap_or_default().to_string_lossy().replace(" (deleted)", "");
        let path = sandbox.data().join(&name);
        if ["ledger.db", "ledger.db-wal"].contains(&name.as_str()) && !path.exists() {
            fs::copy(open, path).unwrap();
        }
    }
}

#[test]
fn server_that_ends_in_good_order_is_not_killed_by_force() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let stopped = sandbox.json(&["stop", "--force"]);
    assert_eq!(stopped, serde_json::json!({ "stopped": true, "killed": false }));
}

#[test]
fn status_names_a_server_that_does_not_answer() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    freeze(process);
    let error = sandbox.json_error(&["status"], 3);
    assert_eq!(error["code"], "SERVER_SILENT");
    assert!(error["message"].as_str().unwrap().contains(&format!("process {process}")), "{error}");
    sandbox.run(&["stop", "--timeout", "1s", "--force"]).expect_code(0);
}

#[test]
fn commands_that_do_not_wait_name_a_server_that_does_not_answer() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    freeze(process);
    let calls =
        [&["ask", "And?", "--no-wait"][..], &["inbox", "--list"], &["keys", "list"], &["store", "check"]];
    thread::scope(|scope| {
        let tried = calls.map(|call| scope.spawn(|| sandbox.json_error(call, 3)));
        for (call, tried) in calls.iter().zip(tried) {
            let error = tried.join().unwrap();
            assert_eq!(error["code"], "SERVER_SILENT", "{call:?}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(&format!("process {process}")), "{error}");
            let is_uncertain = message.ends_with("whether this was recorded is not known");
            assert_eq!(is_uncertain, ["ask", "store"].contains(&call[0]), "{error}");
            assert!(error["hint"].as_str().unwrap().starts_with("`demur stop --force`"), "{error}");
        }
    });
    sandbox.run(&["stop", "--timeout", "1s", "--force"]).expect_code(0);
}

#[test]
fn server_that_hears_nothing_and_lost_its_socket_is_named_to_everybody() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    freeze(process);
    delete(&sandbox, "socket");
    for call in [&["status"][..], &["inbox", "--list"]] {
        let error = sandbox.json_error(call, 3);
        assert_eq!(error["code"], "SERVER_SILENT", "{call:?}");
        assert!(error["message"].as_str().unwrap().contains(&format!("process {process}")), "{error}");
        assert!(error["hint"].as_str().unwrap().starts_with("`demur stop --force`"), "{error}");
    }
    sandbox.run(&["stop", "--timeout", "1s", "--force"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["state"], "open");
}

/// Of those that start a server at once one does; the others have nothing to say.
#[test]
fn starters_that_come_second_leave_no_line_in_the_log() {
    let sandbox = Sandbox::new();
    let ask = || sandbox.command(&["ask", "Name?", "--no-wait"]).output();
    let asked: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        started.into_iter().map(|one| sandbox.ran(one.join().unwrap().unwrap())).collect()
    });
    for one in asked {
        one.expect_code(0);
    }
    let log = fs::read_to_string(sandbox.data().join("server.log")).unwrap();
    assert!(!log.contains("FOLDER_IN_USE"), "{log}");
}
