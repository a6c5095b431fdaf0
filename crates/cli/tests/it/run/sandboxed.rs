//! How closely the tools of a run are held: what a policy opens, what is refused on kernels that lack something, what reports say,
//! and what a tool can learn of demur.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Output},
    thread,
};

use libc::{ENOSYS, SYS_landlock_create_ruleset, SYS_seccomp, c_long};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use serde_json::Value;

use super::{Draft, entries, verdict};
use crate::sandbox::Sandbox;

/// Returns what a command says on a kernel without this call: a thread gives it up, and with it what the thread starts.
fn without(call: c_long, mut command: Command) -> Output {
    let give_up_and_run = move || {
        let rules = BTreeMap::from([(call, Vec::new())]);
        let answer = SeccompAction::Errno(ENOSYS.unsigned_abs());
        let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        command.output().unwrap()
    };
    thread::spawn(give_up_and_run).join().unwrap()
}

fn counting() -> Draft {
    Draft::new().call("count", &["wc", "-c", "/etc/passwd"]).claim("It was counted.", &["count"])
}

/// Returns the sentence of each start about the sandbox.
fn said(sandbox: &Sandbox) -> Vec<String> {
    let entries = entries(sandbox);
    let limits = entries.iter().flat_map(|entry| entry["limits"].as_array().cloned().unwrap_or_default());
    let limits = limits.map(|limit| limit.as_str().unwrap().to_owned());
    limits.filter(|limit| limit.starts_with("sandbox: ")).collect()
}

/// Returns the newest trace verified, in the three forms of a report.
fn reports(sandbox: &Sandbox) -> [String; 3] {
    verdict(sandbox);
    let text = sandbox.run(&["verify", "last.jsonl"]).stdout;
    let json = sandbox.run(&["verify", "last.jsonl", "--json"]).stdout;
    sandbox.run(&["verify", "last.jsonl", "--html", "report.html"]);
    [text, json, fs::read_to_string(sandbox.path("report.html")).unwrap()]
}

/// ONE-14
#[test]
fn every_report_says_that_the_sandbox_was_enforced() {
    let sandbox = Sandbox::new();
    counting().run(&sandbox, 0);
    assert_eq!(said(&sandbox), ["sandbox: enforced"]);
    assert!(sandbox.run(&["trace", "show", "last"]).stdout.contains("sandbox: enforced"));
    let [text, json, html] = reports(&sandbox);
    assert!(text.contains("\nsandbox  "), "{text}");
    let report: Value = serde_json::from_str(&json).unwrap();
    for words in [text.as_str(), report["report"]["sandbox"].as_str().unwrap(), html.as_str()] {
        assert!(words.contains("enforced") && words.contains("(1 start); the word of whoever ran the tools"));
        assert!(!words.contains("best effort"), "{words}");
    }
}

/// ONE-14
#[test]
fn every_report_says_what_the_policy_opens() {
    let sandbox = Sandbox::new();
    let opened = "chmod = true\nudp = true\nsandbox = \"best-effort\"\n";
    counting().demand(opened).run(&sandbox, 0);
    assert_eq!(said(&sandbox), ["sandbox: best effort, and all of it is enforced"]);
    let shown = sandbox.run(&["trace", "show", "last"]).stdout;
    for words in reports(&sandbox).iter().chain([&shown]) {
        for open in [
            "tools run with as much of the sandbox as the system has",
            "tools may change modes, owners and times of files by their path",
            "tools may open sockets for UDP",
        ] {
            assert!(words.split_whitespace().collect::<Vec<_>>().join(" ").contains(open), "{open}: {words}");
        }
    }
    let entries = entries(&sandbox);
    let start = entries.iter().find(|entry| entry["kind"] == "tool_execution_started").unwrap();
    let limits = start["limits"].as_array().unwrap();
    let allowed = limits.iter().filter(|limit| limit.as_str().unwrap().contains("which the policy allows"));
    assert_eq!(allowed.count(), 2, "{limits:?}");
}

/// ONE-14: neither Landlock nor seccomp may be missing; nothing is recorded.
#[test]
fn nothing_runs_where_the_kernel_lacks_what_is_required() {
    for (call, missing) in
        [(SYS_landlock_create_ruleset, "files: "), (SYS_seccomp, "sockets and other calls of the kernel: ")]
    {
        let sandbox = Sandbox::new();
        counting().write(&sandbox);
        let ran = sandbox.ran(without(call, sandbox.command(&["run", "--task", "task.toml", "--json"])));
        let error: Value = serde_json::from_str(&ran.expect_code(5).stderr).unwrap();
        assert_eq!(error["error"]["code"], "SANDBOX_MISSING");
        assert!(error["error"]["message"].as_str().unwrap().contains(missing), "{error}");
        assert!(error["error"]["hint"].as_str().unwrap().contains("sandbox = \"best-effort\""), "{error}");
        assert!(!sandbox.data().join("runs").exists());
        assert_eq!(sandbox.json(&["trace", "list"])["traces"], serde_json::json!([]));
    }
}

/// ONE-14: a run that began elsewhere does not go on here either.
#[test]
fn run_does_not_go_on_where_the_kernel_lacks_what_is_required() {
    let sandbox = Sandbox::new();
    counting().write(&sandbox);
    sandbox.run(&["run", "--task", "task.toml", "--until", "reviewing"]).expect_code(0);
    let ran =
        sandbox.ran(without(SYS_landlock_create_ruleset, sandbox.command(&["run", "resume", "--json"])));
    let error: Value = serde_json::from_str(&ran.expect_code(5).stderr).unwrap();
    assert_eq!(error["error"]["code"], "SANDBOX_MISSING");
    sandbox.run(&["run", "resume"]).expect_code(0);
}

/// ONE-14
#[test]
fn every_report_says_what_best_effort_did_not_enforce() {
    for (call, missing) in
        [(SYS_landlock_create_ruleset, "files: "), (SYS_seccomp, "sockets and other calls")]
    {
        let sandbox = Sandbox::new();
        counting().demand("sandbox = \"best-effort\"").write(&sandbox);
        let ran = sandbox.ran(without(call, sandbox.command(&["run", "--task", "task.toml", "--json"])));
        ran.expect_code(0);
        let said = said(&sandbox);
        let expected = format!("sandbox: best effort; not enforced: {missing}");
        assert!(said.len() == 1 && said[0].starts_with(&expected), "{said:?}");
        let shown = sandbox.run(&["trace", "show", "last"]).stdout;
        for words in reports(&sandbox).iter().chain([&shown]) {
            assert!(words.contains("best effort; not enforced: "), "{words}");
        }
    }
}

/// ONE-14
#[test]
fn doctor_says_what_is_missing() {
    let sandbox = Sandbox::new();
    let check = |output| {
        let reply: Value = serde_json::from_str(&sandbox.ran(output).expect_code(0).stdout).unwrap();
        let checks = reply["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "sandbox").unwrap()
    };
    let doctor = || {
        let mut command = sandbox.command(&["doctor", "--json"]);
        command.env_remove("DEMUR_DATA");
        command
    };
    assert_eq!(check(doctor().output().unwrap())["state"], "ok");
    let found = check(without(SYS_landlock_create_ruleset, doctor()));
    assert_eq!(found["state"], "warning");
    assert!(found["found"].as_str().unwrap().starts_with("not enforced here: files: "), "{found}");
}

/// ONE-14: environment, arguments, folders, other processes and the list of sockets do not name the data folder.
#[test]
fn tool_is_not_told_where_the_data_folder_is() {
    let look = "import glob, os, sys\n\
                seen = [repr(os.environ), repr(sys.argv), os.getcwd(), os.path.realpath('.')]\n\
                for path in glob.glob('/proc/[0-9]*/*') + glob.glob('/proc/[0-9]*/net/unix') + ['/proc/net/unix']:\n\
                \x20   for look in [lambda: open(path, 'rb').read(1 << 20).decode(errors='replace'), lambda: os.readlink(path)]:\n\
                \x20       if path.endswith(('kmsg', 'clear_refs', 'pagemap')): continue\n\
                \x20       try: seen.append(look())\n\
                \x20       except OSError: pass\n\
                open('seen', 'w').write('\\n'.join(seen))";
    let sandbox = Sandbox::new();
    Draft::new().call("look", &["python3", "-c", look]).claim("It looked.", &["look"]).run(&sandbox, 0);
    let work = sandbox.data().join("runs").join(sandbox.trace()).join("work");
    let seen = fs::read_to_string(work.join("seen")).unwrap();
    assert!(seen.contains(work.canonicalize().unwrap().to_str().unwrap()));
    assert!(seen.contains("sandbox-supervise") && seen.contains("serve"), "the processes of demur are seen");
    let data = sandbox.data();
    let named: Vec<&str> =
        seen.split(['\n', '\0']).filter(|line| line.contains(data.to_str().unwrap())).collect();
    assert!(named.is_empty(), "{named:?}");
}

/// ONE-14: a command that descends from the supervisor of a tool is no word of the user, whatever it asks for.
#[test]
fn command_that_a_tool_starts_is_refused_at_the_socket() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    // Like the supervisor of a tool in its arguments: a tool of the real one gets no socket to call with.
    fs::write(sandbox.path("sandbox-supervise"), "\"$DEMUR\" \"$@\" $WORDS <&-").unwrap();
    let below = |words: &str| {
        let usual = sandbox.command(&[]);
        let mut command = Command::new("sh");
        command.arg("sandbox-supervise").current_dir(sandbox.path("")).env_clear();
        command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("DEMUR", env!("CARGO_BIN_EXE_demur")).env("WORDS", words).env("PATH", "/usr/bin:/bin");
        sandbox.ran(command.output().unwrap())
    };
    for words in ["ask Now? --json --timeout 1s", "inbox --list --json", "stop --json", "trace list --json"] {
        let ran = below(words);
        let error: Value = serde_json::from_str(&ran.expect_code(2).stderr).unwrap();
        assert_eq!(error["error"]["code"], "CALLER_SUPERVISED", "{words}");
        assert!(error["error"]["hint"].as_str().unwrap().contains("demur ask"), "{error}");
    }
    assert_eq!(sandbox.json(&["trace", "list"])["traces"], serde_json::json!([]));
}

/// ONE-14: closed by default, and nothing is taken for less than it says.
#[test]
fn policy_that_says_something_else_of_the_sandbox_is_refused() {
    let sandbox = Sandbox::new();
    for line in ["sandbox = \"none\"", "sandbox = false", "udp = \"yes\"", "chmod = 1", "tcp = true"] {
        counting().demand(line).write(&sandbox);
        let error = sandbox.json_error(&["run", "--task", "task.toml"], 2);
        assert_eq!(error["code"], "TASK_INVALID", "{line}: {error}");
    }
}
