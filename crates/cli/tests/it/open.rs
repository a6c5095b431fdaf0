//! `demur open`: what a program sees that looks at every command line of this machine, and the browsers that are signed in.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use insta::assert_snapshot;

use crate::{asker::until, inbox::terminal::Terminal, sandbox::Sandbox};

/// Returns every command line of this machine that can be read now.
fn command_lines() -> impl Iterator<Item = String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| !line.is_empty()).map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
}

/// Puts a browser in the path that keeps what it is given, and stays for a moment.
fn fake_browser(sandbox: &Sandbox) {
    let bin = sandbox.path("bin");
    fs::create_dir(&bin).unwrap();
    let given = sandbox.path("given");
    let script = format!(
        "#!/bin/sh\ncp \"$1\" '{0}.html'\necho \"$1\" > '{0}'\nread wait < '{0}.fifo'\n",
        given.display()
    );
    fs::write(bin.join("xdg-open"), script).unwrap();
    fs::set_permissions(bin.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("given.fifo")).status().unwrap();
    assert!(made.success());
}

/// Says that something is over once it goes away, in a panic too: whoever watches would go on for ever.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// ONE-11: a browser's command line can be read by every process, and its history by whoever comes later.
#[test]
fn code_is_on_no_command_line_and_in_no_address() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    fake_browser(&sandbox);
    let (over, lines) = (AtomicBool::new(false), std::sync::Mutex::new(BTreeSet::new()));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                lines.lock().unwrap().extend(
                    command_lines().filter(|line| line.contains("demur") || line.contains("sign-in")),
                );
            }
        });
        let ending = Ending(&over);
        let script = format!(
            "PATH='{}':\"$PATH\" DEMUR_DATA='{}' HOME='{}' '{}' open; echo left with $?; exec cat",
            sandbox.path("bin").display(),
            sandbox.data().display(),
            sandbox.path("home").display(),
            env!("CARGO_BIN_EXE_demur"),
        );
        let terminal = Terminal::running(&sandbox, "open", 120, &script);
        terminal.shows("left with 0");
        until("the browser has it", || sandbox.path("given").exists().then_some(()));
        let seen = terminal.everything();
        assert!(seen.contains("A browser opens") && seen.contains("/sign-in\n"), "{seen}");
        // The watcher has seen the browser itself.
        until("the browser was seen", || {
            let lines = lines.lock().unwrap();
            lines.iter().any(|line| line.contains("xdg-open") && line.contains("/sign-in/")).then_some(())
        });
        drop(ending);
    });
    let path = fs::read_to_string(sandbox.path("given")).unwrap();
    let path = std::path::Path::new(path.trim());
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let page = fs::read_to_string(sandbox.path("given.html")).unwrap();
    let code = page.split("name=\"code\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(code.len(), 29, "{page}");
    let letters: String = code.split('-').collect();
    for line in lines.lock().unwrap().iter() {
        assert!(!line.contains(code) && !line.contains(&letters), "{line}");
        assert!(!line.contains("http://") || !line.contains("xdg-open"), "{line}");
    }
    sandbox.run(&["stop"]).expect_code(0);
    assert!(!path.exists(), "a server that ends leaves none behind");
}

#[test]
fn browsers_are_listed_and_signed_out() {
    let sandbox = Sandbox::new();
    sandbox.run(&["people", "add", "zoe", "--role", "answerer"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["people", "sessions"]), @r"
    exit 0
    --- stdout
    No browser is signed in. `demur open` signs one in.
    ");
    for words in [&["open", "--json"][..], &["open", "--as", "zoe", "--json"]] {
        let link = sandbox.json(&words[..words.len() - 1]);
        let (url, code) = (link["url"].as_str().unwrap(), link["code"].as_str().unwrap());
        let origin = url.trim_end_matches("/sign-in");
        let port = origin.rsplit(':').next().unwrap();
        let mut curl = std::process::Command::new("curl");
        curl.args([
            "-s",
            "-A",
            "Browser \u{202e}x",
            "-H",
            &format!("Origin: {origin}"),
            "-d",
            &format!("code={code}"),
        ]);
        curl.args(["--resolve", &format!("demur.localhost:{port}:127.0.0.1"), url]);
        assert!(curl.status().unwrap().success());
    }
    let listed = sandbox.json(&["people", "sessions"]);
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "{listed:?}");
    let shown = sandbox.run(&["people", "sessions", "--of", "zoe"]);
    let shown = &shown.expect_code(0).stdout;
    assert!(shown.contains("zoe") && shown.contains("127.0.0.1") && shown.contains("Browser"), "{shown}");
    assert!(!shown.contains('\u{202e}') && shown.lines().count() == 2, "{shown}");
    let id = listed[0]["id"].as_str().unwrap();
    let ended = sandbox.run(&["people", "sessions", "--end", id]);
    assert_eq!(ended.expect_code(0).stdout, "Signed out: one browser\n");
    assert_eq!(sandbox.json_error(&["people", "sessions", "--end", id], 2)["code"], "SIGN_IN_UNKNOWN");
    assert_eq!(sandbox.json(&["people", "sessions", "--end-all", "--of", "nobody"])["ended"], 0);
    assert_eq!(sandbox.json(&["people", "sessions", "--end-all"])["ended"], 1);
    assert_eq!(sandbox.json(&["people", "sessions"])["sessions"].as_array().unwrap().len(), 0);
    sandbox.run(&["stop"]).expect_code(0);
}
