//! Help, version and mistakes on the command line.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use insta::assert_snapshot;

use crate::sandbox::{Ran, Sandbox};

fn help(command: &[&str]) -> Ran {
    Sandbox::new().run(&[command, &["--help"]].concat())
}

#[test]
fn short_help_of_the_command() {
    assert_snapshot!(Sandbox::new().run(&["-h"]), @r"
    exit 0
    --- stdout
    Agents ask instead of guessing, and can prove later that they did

    Usage: demur [OPTIONS] <COMMAND>

    Commands:
      ask          Ask a question, wait, and print the answer
      wait         Wait for questions that were asked before, and print the answer
      inbox        See what waits for an answer, and answer it
      show         Show a question and what became of it
      answer       Answer a question
      decline      Say that you will not answer
      extend       Give a question more time
      pass         Hand a question to others
      cancel       Say that no answer is needed any more
      confirm      Have one operation confirmed by a person before it starts
      watch        Print every event as it is recorded
      mcp          Let an agent ask through MCP, on standard input and output
      setup        Make demur known to Claude Code, VS Code, Codex, Copilot, Cursor or Hermes
      hook         Answer the hooks of a program that an agent runs in
      serve        Serve the data folder
      status       Say which server runs
      open         Make a link that signs a browser in, and open it
      stop         End the server
      doctor       Check that everything is in order
      token        Make, list and take back tokens for what is not on this machine
      people       Say who may sign in with a browser, and as what
      passkey      Say who can prove an answer
      keys         Make, list, rotate and revoke the keys that may speak
      run          Do a task with four accountable roles: plan, review, execute, audit
      check        Say what a plan lacks, field by field
      plan         Take a plan from submission to attestation
      audit        Print every question and answer of a session, signed
      handoff      Print the package with which somebody else goes on
      verify       Say what an export proves, what is the desk's word and what is neither
      trace        List traces, and read what happened in one
      export       Write a trace as one file that anybody can verify
      erase        Erase what one event says, for good; everything else still holds
      checkpoint   Record a hash over all traces as they are now
      store        Check, rebuild, back up and restore the store
      rules        Look at rule packs: what they say, and why a plan has the gaps it has
      identity     Sign and check the messages that tell others which key is an agent's
      demo         Watch four agents do a small task accountably, then check the file they leave
      completions  Print the completion script of a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Global options:
          --data <DIR>  Data folder [env: DEMUR_DATA] [default: $XDG_DATA_HOME/demur, else
                        ~/.local/share/demur]
          --json        Answer with one JSON object; errors are one JSON line on standard error

    `demur --help` has examples and the exit codes.
    ");
}

#[test]
fn version_names_the_program() {
    assert_snapshot!(Sandbox::new().run(&["--version"]), @r"
    exit 0
    --- stdout
    demur 0.1.0
    ");
}

#[test]
fn no_command_is_a_mistake_that_shows_the_way() {
    assert_snapshot!(Sandbox::new().run(&[]), @r"
    exit 2
    --- stderr
    Agents ask instead of guessing, and can prove later that they did

    Usage: demur [OPTIONS] <COMMAND>

    Commands:
      ask          Ask a question, wait, and print the answer
      wait         Wait for questions that were asked before, and print the answer
      inbox        See what waits for an answer, and answer it
      show         Show a question and what became of it
      answer       Answer a question
      decline      Say that you will not answer
      extend       Give a question more time
      pass         Hand a question to others
      cancel       Say that no answer is needed any more
      confirm      Have one operation confirmed by a person before it starts
      watch        Print every event as it is recorded
      mcp          Let an agent ask through MCP, on standard input and output
      setup        Make demur known to Claude Code, VS Code, Codex, Copilot, Cursor or Hermes
      hook         Answer the hooks of a program that an agent runs in
      serve        Serve the data folder
      status       Say which server runs
      open         Make a link that signs a browser in, and open it
      stop         End the server
      doctor       Check that everything is in order
      token        Make, list and take back tokens for what is not on this machine
      people       Say who may sign in with a browser, and as what
      passkey      Say who can prove an answer
      keys         Make, list, rotate and revoke the keys that may speak
      run          Do a task with four accountable roles: plan, review, execute, audit
      check        Say what a plan lacks, field by field
      plan         Take a plan from submission to attestation
      audit        Print every question and answer of a session, signed
      handoff      Print the package with which somebody else goes on
      verify       Say what an export proves, what is the desk's word and what is neither
      trace        List traces, and read what happened in one
      export       Write a trace as one file that anybody can verify
      erase        Erase what one event says, for good; everything else still holds
      checkpoint   Record a hash over all traces as they are now
      store        Check, rebuild, back up and restore the store
      rules        Look at rule packs: what they say, and why a plan has the gaps it has
      identity     Sign and check the messages that tell others which key is an agent's
      demo         Watch four agents do a small task accountably, then check the file they leave
      completions  Print the completion script of a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Global options:
          --data <DIR>  Data folder [env: DEMUR_DATA] [default: $XDG_DATA_HOME/demur, else
                        ~/.local/share/demur]
          --json        Answer with one JSON object; errors are one JSON line on standard error

    `demur --help` has examples and the exit codes.
    ");
}

#[test]
fn unknown_command_is_a_mistake() {
    assert_snapshot!(Sandbox::new().run(&["key"]), @r#"
    exit 2
    --- stderr
    error: expected a command, found "key"
    hint: did you mean `demur keys`? `demur --help` shows what can be typed
    "#);
}

#[test]
fn letters_that_were_swapped_are_recognized() {
    let sandbox = Sandbox::new();
    for (typed, meant) in [
        (&["aks", "Name?"][..], "ask"),
        (&["plan", "sbumit"], "plan submit"),
        (&["--json", "anwser"], "answer"),
    ] {
        let ran = sandbox.run(typed);
        assert!(ran.expect_code(2).stderr.contains(&format!("did you mean `demur {meant}`?")), "{ran}");
    }
    let ran = sandbox.run(&["frobnicate"]);
    assert!(!ran.expect_code(2).stderr.contains("did you mean"), "{ran}");
}

#[test]
fn help_before_a_command_is_the_help_of_the_command() {
    let sandbox = Sandbox::new();
    for command in [&["ask"][..], &["plan", "submit"], &["plan"]] {
        let ran = sandbox.run(&[&["help"], command].concat());
        assert_eq!(ran.expect_code(0).stdout, help(command).stdout, "{command:?}");
    }
}

#[test]
fn unknown_role_lists_the_roles() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["keys", "new", "alice", "--role", "king"]), @r#"
    exit 2
    --- stderr
    error: --role: expected one of planner, executor, critic, auditor, operator, agent, answerer, found "king"
    hint: `demur keys new --help` shows what can be typed
    "#);
    assert!(!sandbox.data().exists());
}

#[test]
fn mistakes_are_one_line_for_programs() {
    let sandbox = Sandbox::new();
    let calls: [&[&str]; 5] = [
        &["--json"],
        &["--json", "keys"],
        &["--json", "key"],
        &["--json", "keys", "new", "alice"],
        &["keys", "new", "alice", "--role", "king", "--json"],
    ];
    let errors: Vec<String> = calls.iter().map(|call| sandbox.run(call).to_string()).collect();
    assert_snapshot!(errors.join(""), @r#"
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"`demur --help` shows what can be typed","message":"expected a command after `demur`, found none"}}
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"`demur keys --help` shows what can be typed","message":"expected a command after `demur keys`, found none"}}
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"did you mean `demur keys`? `demur --help` shows what can be typed","message":"expected a command, found \"key\""}}
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"`demur keys new --help` shows what can be typed","message":"expected --role ROLE after `demur keys new`, found nothing"}}
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"`demur keys new --help` shows what can be typed","message":"--role: expected one of planner, executor, critic, auditor, operator, agent, answerer, found \"king\""}}
    "#);
}

#[test]
fn help_writes_no_escapes_into_a_pipe() {
    assert!(!help(&[]).stdout.contains('\u{1b}'));
}

/// The best of many runs, so that a busy machine does not matter.
#[test]
fn help_is_there_within_twenty_milliseconds() {
    let sandbox = Sandbox::new();
    let time = || {
        let start = Instant::now();
        sandbox.run(&["--help"]).expect_code(0);
        start.elapsed()
    };
    let best = (0..20).map(|_| time()).min().unwrap();
    assert!(best < Duration::from_millis(20), "{best:?}");
}

/// Returns the examples of a command that need nothing but demur.
fn examples(command: &str) -> Vec<String> {
    let text = help(&[command]).stdout;
    let after = text.split("Examples:\n").nth(1).unwrap().to_owned();
    let lines =
        after.lines().take_while(|line| line.starts_with("  demur ")).map(|line| line.trim().to_owned());
    // An id out of a book, and a program that may not be here.
    lines.filter(|line| !line.contains("01ARZ3") && !line.contains('|')).collect()
}

#[test]
fn examples_about_questions_work_as_written() {
    for command in ["inbox", "show", "answer", "decline", "extend", "pass", "cancel"] {
        let lines = examples(command);
        assert!(!lines.is_empty(), "{command} has no example to try");
        for line in lines {
            let sandbox = Sandbox::new();
            sandbox.run(&["people", "add", "finn", "--role", "answerer"]).expect_code(0);
            for words in ["First?", "Second?"] {
                let ask = ["ask", words, "--timeout", "1h", "--no-wait"];
                sandbox.run(&ask).expect_code(0);
            }
            sandbox.run(&["inbox", "--list"]).expect_code(0);
            if line.contains("--replace") || line.contains("--revoke") {
                sandbox.run(&["answer", "1", "the blue one"]).expect_code(0);
            }
            let demur = sandbox.command(&[]);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("demur() {{ \"$0\" \"$@\"; }}; {line}")]).arg(demur.get_program());
            shell.env_clear().envs(demur.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let ran = sandbox.ran(shell.stdin(Stdio::null()).output().unwrap());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}: {ran}");
        }
    }
}
