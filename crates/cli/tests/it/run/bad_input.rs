//! Task and policy files with errors: the line is named, and nothing has happened.

use std::{fmt::Write as _, fs};

use insta::assert_snapshot;

use super::Draft;
use crate::sandbox::{Sandbox, redact};

/// Returns what is said about a change to a task that works.
fn told(sandbox: &Sandbox, name: &str, change: &str) -> String {
    let (old, new) = change.split_once(" => ").unwrap();
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    for (file, text) in [("task.toml", &draft.task), ("policy.toml", &draft.policy)] {
        let is_meant = file.starts_with(name);
        assert!(!is_meant || text.contains(old), "{old}");
        let text = if is_meant { text.replacen(old, new, 1) } else { text.clone() };
        fs::write(sandbox.path(file), text).unwrap();
    }
    let error = sandbox.json_error(&["run", "--task", "task.toml"], 2);
    assert!(!sandbox.data().exists(), "{change}: something was done");
    let folder = sandbox.path("");
    let message = error["message"].as_str().unwrap().replace(folder.to_str().unwrap(), "[DIR]/");
    redact(&message)
}

#[test]
fn mistakes_in_the_task_are_told_by_line() {
    let sandbox = Sandbox::new();
    let mut task_lines = String::new();
    for change in [
        "objective = \"something\" => objective = 7",
        "name = \"a task\" => ",
        "name = \"a task\" => name = \"a task\"\nnmae = \"typo\"",
        "name = \"a task\" => name = \"a task",
        "name = \"a task\" => name = \"\"",
        "command = [\"echo\"] => command = [\"echo\"]\nrisk = \"tiny\"",
        "command = [\"echo\"] => command = []",
        "command = [\"echo\"] => command = \"echo\"",
        "name = \"echo\" => name = \"../echo\"",
        "calls = [\"echo\"] => calls = [\"ehco\"]",
        "confidence = 90 => confidence = 101",
        "[[goal]] => [agents.desk]\nname = \"me\"\n[[goal]]",
        "[[goal]] => [agents.critic]\nname = \"me\"\ntimeout = \"soon\"\n[[goal]]",
        "[[goal.claim]] => [goal.ignored]",
        "command = [\"echo\"] => command = [\"echo\"]\nreserve = true",
        "command = [\"echo\"] => command = [\"echo\"]\nfallback_for = \"nothing\"",
        "command = [\"echo\"] => command = [\"echo\"]\nfallback_for = \"echo\"",
        "command = [\"echo\"] => command = [\"echo\", \"\\u0000\"]",
        "[[goal.claim]] => [[goal.call]]\nname = \"a\"\ntool = \"a\"\ncommand = [\"a\"]\nfallback_for = \"echo\"\nreserve = true\n[[goal.claim]]",
        "[[goal.claim]] => [[goal.call]]\nname = \"a\"\ntool = \"a\"\ncommand = [\"a\"]\nfallback_for = \"echo\"\n[[goal.call]]\nname = \"b\"\ntool = \"b\"\ncommand = [\"b\"]\nfallback_for = \"echo\"\n[[goal.claim]]",
        "[[goal.claim]] => [[goal.call]]\nname = \"echo\"\ntool = \"echo\"\ncommand = [\"echo\"]\n[[goal.claim]]",
        "command = [\"echo\"] => command = [\"echo\"]\nshows.lines = \"everywhere\"",
        "command = [\"echo\"] => command = [\"echo\"]\nshows.lines = { after = \"\", before = \".\" }",
        "command = [\"echo\"] => command = [\"echo\"]\nshows.\"the lines\" = \"size\"",
        "text = \"Done.\" => text = \"It has {lines} lines.\"",
        "text = \"Done.\" => text = \"It has {lines lines.\"",
        "text = \"Done.\" => text = \"Done.\"\nexpect.lines = { is = \"gt\", value = 3 }",
        "text = \"Done.\" => text = \"Done.\"\nexpect.lines = { is = \"about\", value = 3 }",
        "[[goal.claim]] => [[goal]]\nobjective = \"the work\"\n[[goal.claim]]",
        "[[goal.claim]] => [[goal]]\nobjective = \"more\"\n[[goal.claim]]",
        "command = [\"echo\" => shows.lines = { pointer = \"total\" }\ncommand = [\"echo\"",
        "policy = \"policy.toml\" => files = [\"a\", \"a\"]\npolicy = \"policy.toml\"",
        "policy = \"policy.toml\" => policy = \"../policy.toml\"",
        "policy = \"policy.toml\" => ",
        "policy = \"policy.toml\" => policy = \"elsewhere.toml\"",
    ] {
        writeln!(task_lines, "{}", told(&sandbox, "task", change)).unwrap();
    }
    assert_snapshot!(task_lines, @r#"
    task.toml: line 2: invalid type: integer `7`, expected a text of 1 to 16384 code points
    task.toml: line 1: missing field `name`
    task.toml: line 2: unknown field `nmae`, expected one of `name`, `objective`, `constraints`, `policy`, `profile`, `files`, `agents`, `goal`
    task.toml: line 1: invalid basic string, expected `"`
    task.toml: line 1: expected 1 to 256 code points, found 0
    task.toml: line 12: unknown variant `tiny`, expected one of `low`, `medium`, `high`, `critical`
    task.toml: line 8: expected a program in command, found an empty list
    task.toml: line 11: invalid type: string "echo", expected a sequence
    task.toml: line 8: expected a name of letters, digits, - and _, found "../echo"
    task.toml: line 13: calls: expected the name of a call of this goal, found "ehco"
    task.toml: line 15: expected a whole number from 0 to 100, found 101
    task.toml: line 5: agents: expected planner, executor, critic or auditor, found desk
    task.toml: line 7: expected a duration such as "30s", from 1ms to 24h, found "soon"
    task.toml: line 13: unknown field `ignored`, expected one of `objective`, `assumptions`, `tools`, `call`, `claim`
    task.toml: line 14: calls: expected a call that is always run, found only calls in reserve
    task.toml: line 8: fallback_for: expected an earlier call of this goal that is no reserve, found "nothing"
    task.toml: line 8: fallback_for: expected an earlier call of this goal that is no reserve, found "echo"
    task.toml: line 8: command: expected words without the zero character
    task.toml: line 13: expected fallback_for or reserve, found both
    task.toml: line 18: fallback_for: expected one fallback for "echo", found two
    task.toml: line 13: expected a name of its own, found "echo" a second time
    task.toml: line 12: expected size, sha256, a pointer, or after and before
    task.toml: line 12: expected 1 to 1024 code points, found 0
    task.toml: line 8: shows: expected a name of letters, digits, - and _, found "the lines"
    task.toml: line 13: text: expected a value that a call of the claim shows, found {lines}: say where it stands with shows.lines = ... at the call
    task.toml: line 14: expected the name of a value in braces, or a doubled brace, found "{lines lines."
    task.toml: line 13: expect: expected a value that stands in the text, found "lines"
    task.toml: line 15: unknown variant `about`, expected one of `eq`, `ne`, `lt`, `le`, `gt`, `ge`
    task.toml: line 13: expected an objective of its own, found "the work" a second time
    task.toml: line 15: calls: expected the name of a call of this goal, found "echo"
    task.toml: line 8: shows.lines: expected a pointer that is empty or begins with /, such as "/total", found "total"
    task.toml: line 3: files: expected each file once, found "a" a second time
    task.toml: policy: expected a file beside the task
    expected a policy, found none named in task.toml
    cannot read [DIR]/elsewhere.toml: No such file or directory (os error 2)
    "#);
}

#[test]
fn mistakes_in_the_policy_are_told_by_line() {
    let sandbox = Sandbox::new();
    let mut policy_lines = String::new();
    for change in [
        "[tools.echo] => approval_from = \"never\"\n[tools.echo]",
        "[tools.echo] => evidence_minimum = 0\n[tools.echo]",
        "[tools.echo] => retry_limit = 17\n[tools.echo]",
        "[tools.echo] => conditions = [\"be careful\"]\n[tools.echo]",
        "[tools.echo] => conditions = [7]\n[tools.echo]",
        "[tools.echo] => [[conditions]]\ntext = \"be careful\"\nat = \"size\"\n[tools.echo]",
        "[tools.echo] => [[conditions]]\ntext = \"be careful\"\nof = \"ehco\"\nat = \"size\"\nis = \"lt\"\nvalue = 9\n[tools.echo]",
        "[tools.echo] => [[conditions]]\ntext = \"be careful\"\ntools = [\"ehco\"]\nat = \"size\"\nis = \"lt\"\nvalue = 9\n[tools.echo]",
        "[tools.echo] => [[conditions]]\ntext = \"be careful\"\nat = \"size\"\nis = \"lt\"\nvalue = [9]\n[tools.echo]",
        "[tools.echo] => [limits]\ntime = \"0s\"\n[tools.echo]",
        "[tools.echo] => [limits]\nmemory = \"much\"\n[tools.echo]",
        "[tools.echo] => [limits]\nmemory = \"1 MiB\"\n[tools.echo]",
        "[tools.echo] => [tools.echo]\nprogram = \"echo\"",
        "[tools.echo] => [tools.echo",
    ] {
        writeln!(policy_lines, "{}", told(&sandbox, "policy", change)).unwrap();
    }
    assert_snapshot!(policy_lines, @r#"
    [DIR]/policy.toml: line 2: unknown variant `never`, expected one of `low`, `medium`, `high`, `critical`
    [DIR]/policy.toml: line 2: expected a whole number from 1 to 64, found 0
    [DIR]/policy.toml: line 2: expected a whole number from 0 to 16, found 17
    policy.toml: conditions: expected a check (at, is, value) of “be careful”, found words alone: no program can tell whether they hold. Give it a check, or name a critic that can read in the task file: [agents.critic]
    [DIR]/policy.toml: line 2: invalid type: integer `7`, expected a condition: a text, or a table with text, at, is and value
    [DIR]/policy.toml: line 2: conditions: expected at, is and value together
    policy.toml: conditions: expected the name of a call of the task in of, found "ehco"
    policy.toml: conditions: expected the name of a tool of this policy in tools, found "ehco"
    [DIR]/policy.toml: line 6: expected a text, a number, true, false or null
    [DIR]/policy.toml: line 3: expected a duration such as "30s", from 1ms to 24h, found "0s"
    [DIR]/policy.toml: line 3: expected a size such as "64 MiB", from 16 MiB to 1024 GiB, found "much"
    [DIR]/policy.toml: line 3: expected a size such as "64 MiB", from 16 MiB to 1024 GiB, found "1 MiB"
    [DIR]/policy.toml: line 3: unknown field `program`, expected one of `risk`, `confirm`, `programs`
    [DIR]/policy.toml: line 2: unclosed table, expected `]`
    "#);
}

#[test]
fn files_that_are_not_beside_the_task_are_refused() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("secret"), "x").unwrap();
    fs::create_dir(sandbox.path("task")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("secret"), sandbox.path("task/link")).unwrap();
    for name in ["../secret", "/etc/passwd", "", "missing.txt", ".", "link"] {
        let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
        let task = format!("files = [{name:?}]\n{}", draft.task);
        fs::write(sandbox.path("task/task.toml"), task).unwrap();
        fs::write(sandbox.path("task/policy.toml"), &draft.policy).unwrap();
        sandbox.json_error(&["run", "--task", "task/task.toml"], 2);
        assert!(!sandbox.data().exists(), "{name}: something was done");
    }
}

#[test]
fn task_that_is_no_text_or_far_too_long_is_refused() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("binary.toml"), [0xff, 0xfe, 0]).unwrap();
    fs::write(sandbox.path("long.toml"), "# far too long\n".repeat(400_000)).unwrap();
    for (file, code) in
        [("binary.toml", "TASK_INVALID"), ("long.toml", "TASK_INVALID"), ("none.toml", "FILE_UNREADABLE")]
    {
        assert_eq!(sandbox.json_error(&["run", "--task", file], 2)["code"], code);
    }
    assert_eq!(sandbox.json_error(&["run", "resume"], 2)["code"], "NO_KEYS");
    assert_eq!(sandbox.json_error(&["run", "status"], 2)["code"], "NO_RUN");
    assert_eq!(sandbox.json_error(&["run", "--until", "claiming"], 2)["code"], "USAGE");
}

#[test]
fn run_whose_files_were_exchanged_does_not_go_on() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("echo", &["echo", "1"]).claim("Done.", &["echo"]);
    draft.write(&sandbox);
    sandbox.run(&["run", "--task", "task.toml", "--until", "reviewing"]).expect_code(0);
    let copy = sandbox.data().join("runs").join(sandbox.trace()).join("policy.toml");
    fs::write(&copy, format!("{}\n# changed", draft.policy)).unwrap();
    assert_eq!(sandbox.json_error(&["run", "resume"], 3)["code"], "TASK_CHANGED");
    fs::write(&copy, &draft.policy).unwrap();
    sandbox.run(&["run", "resume"]).expect_code(0);
}
