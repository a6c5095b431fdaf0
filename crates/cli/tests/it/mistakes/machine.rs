//! Mistakes about the machine: ports, folders, disks, servers.

use std::{
    fs::{self, Permissions},
    io::Read as _,
    net::{TcpListener, TcpStream},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    process::{Command, Stdio},
};

use super::told;
use crate::{
    asker::{asked, until},
    sandbox::{Ran, Sandbox, user_name},
    server_life::serve,
};

#[test]
fn a_port_that_is_taken_is_told_and_no_other_is_used() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.data()).unwrap();
    for taken_at in ["127.0.0.1:0", "[::1]:0"] {
        let other = TcpListener::bind(taken_at).unwrap();
        let port = other.local_addr().unwrap().port().to_string();
        let ran = sandbox.run(&["serve", "--port", &port]);
        told(&sandbox, ("a port that is taken", &["serve"]), &ran, 3, &format!("found {port} in use"));
        let examined = sandbox.run(&["doctor", "--port", &port]);
        assert!(examined.stdout.contains(&format!("{port} is taken by another program")), "{examined}");
    }
}

#[test]
fn a_port_that_is_taken_is_told_however_it_was_named_and_the_folder_stays_free() {
    let sandbox = Sandbox::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let address = format!("127.0.0.1:{port}");
    let url = ["--public-url", "https://demur.example"];
    for named in [
        &["--port", port.as_str(), "--detached"][..],
        &["--port", &port, url[0], url[1]],
        &["--listen", &address, url[0], url[1]],
    ] {
        let error = sandbox.json_error(&[&["serve", "--idle", "1s"], named].concat(), 3);
        assert_eq!(error["code"], "PORT_TAKEN", "{named:?}");
        assert!(!sandbox.data().join("socket").exists(), "{named:?}");
    }
    let id = asked(&sandbox, &["Name?"]);
    sandbox.run(&["answer", &id, "ada"]).expect_code(0);
}

/// ONE-11: whoever can write into the folder can put keys, a socket and a record of their own there.
#[test]
fn a_folder_that_others_write_into_or_own_is_refused_with_the_command_that_mends_it() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    sandbox.run(&["stop"]).expect_code(0);
    let commands: [&[&str]; 9] = [
        &["serve", "--idle", "1s"],
        &["ask", "And?", "--no-wait"],
        &["inbox", "--list"],
        &["trace", "list"],
        &["keys", "list"],
        &["keys", "new", "eve", "--role", "agent"],
        &["token", "new", "eve", "--scope", "ask"],
        &["open", "--print"],
        &["store", "check"],
    ];
    let refused = |found: &str| {
        for command in commands {
            let error = sandbox.json_error(command, 2);
            assert_eq!(error["code"], "FOLDER_OPEN", "{command:?}: {error}");
            assert!(error["message"].as_str().unwrap().contains(found), "{command:?}: {error}");
        }
        let examined = sandbox.run(&["doctor"]);
        assert!(examined.code == Some(3) && examined.stdout.contains("problem  folder"), "{examined}");
        let error = sandbox.json_error(&["trace", "list"], 2);
        let hint = error["hint"].as_str().unwrap().rsplit(": ").next().unwrap().trim_matches('`').to_owned();
        assert!(Command::new("sh").args(["-c", &hint]).status().unwrap().success(), "{hint}");
        sandbox.run(&["trace", "list"]).expect_code(0);
    };
    for mode in [0o770, 0o702, 0o777] {
        fs::set_permissions(sandbox.data(), Permissions::from_mode(mode)).unwrap();
        refused(&format!("with mode {mode:04o}"));
    }
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(sandbox.data(), Some(65_534), None).unwrap();
        refused("belongs to user 65534");
    }
    sandbox.run(&["inbox", "--list"]).expect_code(0);
}

/// ONE-11: the name of who runs demur is that of the user database; the environment is that of whoever started it.
#[test]
fn the_name_of_the_user_is_not_taken_from_the_environment() {
    let sandbox = Sandbox::new();
    let name = user_name();
    let command = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env("USER", "Chief Risk Officer").env("LOGNAME", "Chief Risk Officer");
        sandbox.ran(command.output().unwrap())
    };
    let asked = command(&["ask", "Which?", "--no-wait", "--json"]);
    asked.expect_code(0);
    command(&["answer", "last", "this"]).expect_code(0);
    let shown = sandbox.json(&["show", "last"]);
    assert_eq!(shown["outcome"]["by"], name, "{shown}");
    assert_eq!(shown["outcome"]["assurance"], "terminal", "{shown}");
    assert_eq!(sandbox.json_error(&["token", "new", &name, "--scope", "ask"], 3)["code"], "NAME_TAKEN");
    sandbox.run(&["stop"]).expect_code(0);
}

/// Returns the port at which the server of a sandbox listens.
fn port_of(sandbox: &Sandbox) -> String {
    let address = sandbox.json(&["status"])["address"].as_str().unwrap().to_owned();
    address.rsplit(':').next().unwrap().to_owned()
}

#[test]
fn the_port_of_another_folder_s_server_is_not_taken_from_it() {
    let [first, second] = [Sandbox::new(), Sandbox::new()];
    let mut serving = serve(&first, &["--port", "0"]);
    let port = port_of(&first);
    let error = second.json_error(&["serve", "--idle", "1s", "--port", &port], 3);
    assert_eq!(error["code"], "PORT_TAKEN");
    assert_eq!(port_of(&first), port);
    first.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
    let mut serving = serve(&second, &["--port", &port]);
    assert_eq!(port_of(&second), port);
    second.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

#[test]
fn a_port_whose_last_connections_the_kernel_still_remembers_is_free() {
    let sandbox = Sandbox::new();
    let mut serving = serve(&sandbox, &["--port", "0"]);
    let port = port_of(&sandbox);
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    // The server hangs up first, and so its end is the one that is remembered.
    sandbox.run(&["stop"]).expect_code(0);
    stream.read_to_end(&mut Vec::new()).unwrap();
    drop(stream);
    serving.wait().unwrap();
    let end = format!(":{:04X}", port.parse::<u16>().unwrap());
    until("the kernel remembers", || {
        let known = fs::read_to_string("/proc/net/tcp").unwrap();
        let mut lines = known.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.any(|words| words[1].ends_with(&end) && words[3] == TIME_WAIT).then_some(())
    });
    let mut serving = serve(&sandbox, &["--port", &port]);
    assert_eq!(port_of(&sandbox), port);
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

#[test]
fn a_second_server_is_refused_and_the_first_goes_on() {
    let sandbox = Sandbox::new();
    let mut first = sandbox.command(&["serve"]);
    let mut first = first.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    until("the first server runs", || sandbox.run(&["status"]).code.filter(|code| *code == 0));
    told(&sandbox, ("two servers", &["serve"]), &sandbox.run(&["serve"]), 3, "another demur");
    asked(&sandbox, &["Still there?"]);
    sandbox.run(&["stop"]).expect_code(0);
    first.wait().unwrap();
}

#[test]
fn nothing_to_stop_and_nothing_to_look_at_are_told() {
    let sandbox = Sandbox::new();
    told(&sandbox, ("stop without a server", &["stop"]), &sandbox.run(&["stop"]), 3, "no server runs");
    told(&sandbox, ("status without a server", &["status"]), &sandbox.run(&["status"]), 3, "no server runs");
    told(
        &sandbox,
        ("an export of nothing", &["export"]),
        &sandbox.run(&["export", "last"]),
        2,
        "expected a key registry",
    );
}

#[test]
fn no_home_is_told() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["inbox", "--list"]);
    command.env_remove("HOME").env_remove("DEMUR_DATA");
    told(
        &sandbox,
        ("no HOME", &["inbox"]),
        &sandbox.ran(command.output().unwrap()),
        2,
        "expected a data folder",
    );
}

/// Returns a call by somebody whom permissions concern.
fn as_somebody(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let program = sandbox.path("program");
    if !program.exists() {
        // By another process: a file that this one has open for writing cannot be run by a child that is forked meanwhile.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_demur")).arg(&program).status().unwrap();
        assert!(copied.success());
    }
    for path in [&sandbox.path(""), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&program);
    command.args(arguments).env_clear().env("DEMUR_DATA", sandbox.data()).current_dir(sandbox.path(""));
    if fs::metadata(&program).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    sandbox.ran(command.output().unwrap())
}

#[test]
fn a_folder_without_permission_is_told() {
    let sandbox = Sandbox::with_keys();
    fs::set_permissions(sandbox.data(), Permissions::from_mode(0o000)).unwrap();
    for line in [&["keys", "list"][..], &["ask", "Name?", "--no-wait"], &["inbox", "--list"], &["serve"]] {
        let (what, ran) = (format!("no permission: {line:?}"), as_somebody(&sandbox, line));
        if rustix::process::geteuid().is_root() {
            // Somebody else runs it: the folder is not theirs, and the command that mends it is for root.
            assert!(ran.expect_code(2).stderr.contains("as root: `chown -R "), "{what}: {ran}");
        } else {
            told(&sandbox, (&what, line), &ran, 2, "ermission");
        }
    }
    fs::set_permissions(sandbox.data(), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_place_where_no_folder_can_be_made_is_told() {
    let sandbox = Sandbox::new();
    for line in [&["keys", "new", "x", "--role", "agent"][..], &["ask", "Name?", "--no-wait"]] {
        let ran = as_somebody(&sandbox, line);
        told(
            &sandbox,
            (&format!("a folder that is read-only: {line:?}"), line),
            &ran,
            2,
            "Permission denied",
        );
    }
}

/// Returns a call in a name space of its own, after this script.
pub(crate) fn after(sandbox: &Sandbox, script: &str, arguments: &[&str]) -> Ran {
    let demur = sandbox.command(arguments);
    let mut command = Command::new("unshare");
    command.args([
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        &format!("{script} || exit 99; exec \"$0\" \"$@\""),
    ]);
    command.arg(demur.get_program()).args(demur.get_args()).current_dir(sandbox.path("")).env_clear();
    command.envs(demur.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    sandbox.ran(command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_disk_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let script = "mount --bind data data && mount -o remount,ro,bind data";
    for line in [&["keys", "new", "x", "--role", "agent"][..], &["ask", "Name?", "--no-wait"], &["serve"]] {
        let ran = after(&sandbox, script, line);
        told(&sandbox, (&format!("a read-only disk: {line:?}"), line), &ran, 2, "ead-only");
    }
}

#[test]
fn a_full_disk_is_told() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let script = "mkdir -p disk && mount -t tmpfs -o size=700k none disk && cp -a data/. disk/ \
                  && { head -c 1000000 /dev/zero > disk/ballast; true; } 2>/dev/null && export DEMUR_DATA=$PWD/disk";
    for line in [&["keys", "new", "x", "--role", "agent"][..], &["ask", "Name?", "--no-wait"]] {
        let ran = after(&sandbox, script, line);
        told(&sandbox, (&format!("a full disk: {line:?}"), line), &ran, 4, "room");
    }
}

const NOBODY: u32 = 65534;
/// How `/proc/net/tcp` writes the state of an end that is only remembered.
const TIME_WAIT: &str = "06";
