//! The server under a user of its own, as docs/two-users.md sets it up: followed command by command with two real users, and then
//! attacked by the second one. The users, the program and the state are made on a copy of this machine that goes with the test.

use std::{
    fmt::Write as _,
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixDatagram,
    },
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    not_run::not_run,
    sandbox::{Ran, Sandbox},
    walk::{
        MARK, expecting, fits,
        page::{Page, project},
    },
};

/// ONE-11, ONE-15: whoever is another user has what its token gives, and is nobody's word.
#[test]
fn guide_for_two_users_does_what_it_says_and_the_agent_cannot_do_more() {
    if !rustix::process::geteuid().is_root() {
        return not_run("two users of their own: needs root");
    }
    if let Err(why) = namespaces() {
        return not_run(&format!("two users on a copy of this machine: {why}"));
    }
    let sandbox = Sandbox::new();
    let page = Page::read("docs/two-users.md");
    let blocks: Vec<_> = page.commands().collect();
    let mut script = "set -euo pipefail\n".to_owned();
    for block in &blocks {
        writeln!(script, "echo '{MARK}'").unwrap();
        block.text.lines().for_each(|line| writeln!(script, "{}", expecting(line)).unwrap());
    }
    writeln!(script, "echo '{MARK}'").unwrap();
    script.push_str(AFTERWARDS);
    let ran = on_a_copy_of_this_machine(&sandbox, &script);
    ran.expect_code(0);
    let parts: Vec<&str> = ran.stdout.split(&format!("{MARK}\n")).skip(1).collect();
    assert_eq!(parts.len(), blocks.len() + 1, "{ran}");
    for (block, said) in blocks.iter().zip(&parts) {
        let Some(shown) = &block.shown else { continue };
        let fits = fits(&shown.lines().collect::<Vec<_>>(), &said.lines().collect::<Vec<_>>());
        assert!(fits, "{}:{} shows\n{shown}\nand there was\n{said}", page.name, block.line);
    }
    assert_eq!(parts.last(), Some(&"the code signs in: 303\nstill open\n"), "{ran}");
}

/// The server tells systemd when commands find it: one that came before would start another.
#[test]
fn server_tells_its_manager_when_it_is_ready() {
    let sandbox = Sandbox::new();
    let socket = sandbox.path("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut command = sandbox.command(&["serve", "--port", "0"]);
    command.env("NOTIFY_SOCKET", &socket).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let mut heard = [0; 64];
    let length = manager.recv(&mut heard).unwrap();
    assert_eq!(&heard[..length], b"READY=1\n");
    assert_eq!(sandbox.json(&["status"])["process"], server.id());
    sandbox.run(&["stop"]).expect_code(0);
    assert!(server.wait().unwrap().success());
}

/// The unit is one, and leaves little open.
#[test]
fn unit_holds_before_systemd() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return not_run("the unit of the server: needs systemd-analyze");
    }
    let sandbox = Sandbox::new();
    let unit = fs::read_to_string(project("packaging/demur.service")).unwrap();
    let program = env!("CARGO_BIN_EXE_demur");
    let file = sandbox.path("demur.service");
    fs::write(&file, unit.replace("/usr/local/bin/demur", program)).unwrap();
    let said = |arguments: &[&str]| -> Ran {
        let mut command = Command::new("systemd-analyze");
        command.args(arguments).arg(&file).env("SYSTEMD_LOG_LEVEL", "warning").env("SYSTEMD_COLORS", "0");
        sandbox.ran(command.output().unwrap())
    };
    let verified = said(&["verify", "--man=no"]);
    let about_it: Vec<&str> = verified.stderr.lines().filter(|line| line.contains("demur")).collect();
    assert_eq!((verified.code, about_it), (Some(0), Vec::new()), "{verified}");
    // In tenths: the page says how much.
    let exposed = said(&["security", "--offline=true", "--threshold=15", "--no-pager"]);
    let level = exposed.stdout.split("Overall exposure level for demur.service: ").nth(1).unwrap_or_default();
    let level = level.split(' ').next().unwrap_or_default();
    let page = fs::read_to_string(project("docs/two-users.md")).unwrap();
    assert!(exposed.code == Some(0) && page.contains(&format!("which says {level} of 10")), "{exposed}");
    // One that names what does not exist is told from it.
    fs::write(
        &file,
        unit.replace("User=demur", "User=demur\nNoSuchSetting=yes").replace("/usr/local/bin/demur", program),
    )
    .unwrap();
    assert!(said(&["verify", "--man=no"]).stderr.contains("NoSuchSetting"));
}

/// Runs a script as root where users can be made and nothing is left of it, with the tools of the page.
fn on_a_copy_of_this_machine(sandbox: &Sandbox, script: &str) -> Ran {
    for folder in ["tools", "checkout", "checkout/target", "checkout/target/release"] {
        fs::create_dir(sandbox.path(folder)).unwrap();
    }
    let program = |name: &str, text: &str| {
        let file = sandbox.path("tools").join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("sudo", include_str!("two_users/sudo.sh"));
    program("systemctl.py", include_str!("two_users/systemctl.py"));
    program("systemctl", "#!/bin/bash\nexec python3 \"$0.py\" \"$@\"\n");
    let link = |to: &Path, name: &str| symlink(to, sandbox.path("checkout").join(name)).unwrap();
    link(Path::new(env!("CARGO_BIN_EXE_demur")), "target/release/demur");
    link(&fs::canonicalize(project("packaging")).unwrap(), "packaging");
    fs::write(sandbox.path("machine.sh"), include_str!("two_users/machine.sh")).unwrap();
    fs::write(sandbox.path("attempts.sh"), include_str!("two_users/attempts.sh")).unwrap();
    fs::write(sandbox.path("walk.sh"), script).unwrap();
    let mut command = Command::new("timeout");
    command.args(["240", "unshare"]).args(NAMESPACES).arg("bash").arg(sandbox.path("machine.sh"));
    sandbox.ran(command.arg(sandbox.path("")).stdin(Stdio::null()).output().unwrap())
}

/// Returns why a copy of this machine cannot be had.
fn namespaces() -> Result<(), String> {
    let mut command = Command::new("unshare");
    let tried =
        command.args(NAMESPACES).args(["sh", "-c", "mount -t tmpfs none /run && ip link set lo up"]).output();
    let output = tried.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Everything in them ends with the first process.
const NAMESPACES: [&str; 6] = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// What comes after the page: the second user tries what it must not be able to do, and somebody signs in with the code.
const AFTERWARDS: &str = r#"
demur() { sudo -u demur demur --data /var/lib/demur "$@"; }
foreign=$(demur ask "Not the agent's?" --no-wait)
question=$(sudo -u builder curl -s -H @/home/builder/demur-header --json '{"question": "Which door?"}' \
  http://localhost:7373/v1/questions | jq -r .id)
server=$(demur status --json | jq .process)
install -m 644 ../attempts.sh /home/attempts.sh
sudo -u builder bash /home/attempts.sh "$server" "$question" "$foreign"
code=$(demur open --as ada --json | jq -r .code)
pages=http://demur.localhost:7373
echo "the code signs in: $(curl -s -o /dev/null -w '%{http_code}' -H 'Host: demur.localhost:7373' -H "Origin: $pages" \
  -d "code=$code" http://localhost:7373/sign-in)"
demur show "$question" --json | jq -r '"still " + .state'
"#;
