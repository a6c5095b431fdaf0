//! The configured command, started as each client starts it: with its arguments and the few variables that it hands on.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{CLIENTS, entry, options, sandbox};
use crate::sandbox::Sandbox;

/// Returns the tools that `demur mcp` offers with these options.
pub(super) fn listed(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    talk(sandbox.command(&[&["mcp"], options].concat()), "tests")
}

/// Starts the entry, and returns the names of the tools that it offers.
fn tools(sandbox: &Sandbox, client: &str, entry: &Value) -> Vec<String> {
    let help = sandbox.run(&["mcp", "--help"]).stdout;
    let mut words: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    // Options that `demur mcp` of this version does not have are for a later one.
    for pair in options(client).chunks(2).filter(|pair| !help.contains(pair[0])) {
        words.retain(|word| !pair.contains(word));
    }
    let mut command = Command::new(entry["command"].as_str().unwrap());
    let program = Path::new(env!("CARGO_BIN_EXE_demur")).parent().unwrap();
    command.args(words).env_clear().env("PATH", program).current_dir(sandbox.path("home"));
    if client != "copilot" {
        command.env("HOME", sandbox.path("home"));
    }
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    let tools = talk(command, client);
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Introduces itself and asks for the tools, as every client does.
fn talk(mut command: Command, client: &str) -> Vec<Value> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let mut hear = |id: u32| {
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    };
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": client, "version": "1" },
    });
    say(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
    assert_eq!(hear(1)["protocolVersion"], "2025-11-25", "{client}");
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    say(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let listed = hear(2);
    drop(input);
    assert!(child.wait().unwrap().success(), "{client}");
    listed["tools"].as_array().unwrap().clone()
}

/// CLR-06
#[test]
fn configured_command_lists_its_tools() {
    for (client, file, project, servers) in CLIENTS {
        let sandbox = sandbox();
        sandbox.run(&["setup", client, "--yes"]).expect_code(0);
        // One that carries the sandbox's variable, so that it ends with the sandbox.
        sandbox.start_server();
        let mut offered = tools(&sandbox, client, &entry(&sandbox, file, servers));
        offered.sort_unstable();
        assert_eq!(offered, ["ask_human", "cancel_question", "check_question", "list_questions"], "{client}");
        let Some(project) = project else { continue };
        sandbox.run(&["setup", client, "--yes", "--project", "--tools", "all"]).expect_code(0);
        let offered = tools(&sandbox, client, &entry(&sandbox, project, servers));
        for name in ["ask_human", "wwa_clarify_check", "session_list"] {
            assert!(offered.iter().any(|one| one == name), "{client}: {offered:?}");
        }
        fs::remove_file(sandbox.path(project)).unwrap();
    }
}

/// The hook as it stands in the settings, started by a shell as Claude Code does it.
#[test]
fn configured_hook_refuses_a_tool_call() {
    let sandbox = sandbox();
    sandbox.run(&["setup", "claude-code", "--hook", "--yes"]).expect_code(0);
    let settings = super::parsed(&sandbox.path("home/.claude/settings.json"));
    let line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    sandbox.run(&["ask", "Which?", "--as", "claude-code", "--no-wait"]).expect_code(0);
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env_clear().env("HOME", sandbox.path("home"));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} });
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let decision: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(decision["hookSpecificOutput"]["permissionDecision"], "deny");
}
