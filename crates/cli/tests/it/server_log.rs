//! A log that cannot be written costs the lines that it loses, and nothing else.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
};

use crate::{
    asker::{asked, until},
    sandbox::Sandbox,
};

/// Starts a server that says much in a log that goes there; returns it once it answers.
fn serve(sandbox: &Sandbox, log: impl Into<Stdio>) -> Child {
    let mut command = sandbox.command(&["serve", "--no-tcp"]);
    let child = command.env("DEMUR_LOG", "debug").stdout(Stdio::null()).stderr(log).spawn().unwrap();
    until("the server answers", || sandbox.run(&["status"]).code.filter(|code| *code == 0));
    child
}

/// The server goes on as a whole: also the part of it that says something when it puts its socket file back.
fn works(sandbox: &Sandbox, mut serving: Child) {
    asked(sandbox, &["Name?"]);
    let socket = sandbox.data().join("socket");
    fs::remove_file(&socket).unwrap();
    until("the socket file is back", || socket.exists().then_some(()));
    asked(sandbox, &["And now?"]);
    sandbox.run(&["stop"]).expect_code(0);
    assert!(serving.wait().unwrap().success());
}

#[test]
fn server_whose_log_is_on_a_full_disk_goes_on() {
    let sandbox = Sandbox::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let serving = serve(&sandbox, full);
    works(&sandbox, serving);
}

#[test]
fn server_whose_log_has_lost_its_reader_goes_on() {
    let sandbox = Sandbox::new();
    let mut serving = serve(&sandbox, Stdio::piped());
    drop(serving.stderr.take());
    works(&sandbox, serving);
}

#[test]
fn server_whose_log_nobody_reads_goes_on() {
    let sandbox = Sandbox::new();
    let mut serving = serve(&sandbox, Stdio::piped());
    let unread = serving.stderr.take().unwrap();
    // More lines than a pipe and the queue before it hold.
    for _ in 0..40 {
        let status = "http://localhost/healthz?[1-50]";
        let socket = sandbox.data().join("socket");
        let mut curl = Command::new("curl");
        let sent = curl.args(["-s", "-o", "/dev/null", "--unix-socket"]).arg(socket).arg(status).status();
        assert!(sent.unwrap().success());
    }
    works(&sandbox, serving);
    drop(unread);
}

#[test]
fn full_disk_under_a_running_server_is_told_by_the_command() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    // The disk is there for these commands only, and the log of the server is on it.
    let script = r#"
        mkdir disk && mount -t tmpfs -o size=700k,mode=700 none disk && cp -a data/. disk/ || exit 99
        export DEMUR_DATA=disk DEMUR_LOG=debug
        "$0" status >/dev/null 2>&1; "$0" ask --no-wait "Before?" >/dev/null || exit 98
        head -c 100000000 /dev/zero > disk/filler 2>/dev/null
        for number in 1 2 3 4 5 6 7 8 9; do "$0" inbox --list >/dev/null; done
        "$0" ask --json --no-wait "$(head -c 16000 /dev/zero | tr '\0' x)?"; echo "exit $?"
        rm disk/filler; "$0" ask --no-wait "After?" >/dev/null; echo "exit $?"
        "$0" stop >/dev/null"#;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(sandbox.command(&[]).get_program()).env("LC_ALL", "C").current_dir(sandbox.path(""));
    let ran = sandbox.ran(command.output().unwrap());
    assert!(ran.stderr.contains(r#""code":"DISK_FULL""#), "{ran}");
    assert_eq!(ran.stdout, "exit 4\nexit 0\n", "{ran}");
}
