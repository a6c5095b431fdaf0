//! `demur setup`: what each client is told, read by parsers that nobody here wrote, and files that are what they were once it is
//! taken out again.

mod files;
mod pages;
mod start;

use std::{fs, path::PathBuf, process::Command};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    asker::asked,
    sandbox::{Ran, Sandbox},
};

/// A client, the file of the user, the one of a project, and the names that lead to the entry.
pub(super) const CLIENTS: [(&str, &str, Option<&str>, &str); 6] = [
    ("claude-code", "home/.claude.json", Some(".mcp.json"), "mcpServers"),
    ("vscode", "home/.config/Code/User/mcp.json", Some(".vscode/mcp.json"), "servers"),
    ("codex", "home/.codex/config.toml", Some(".codex/config.toml"), "mcp_servers"),
    ("copilot", "home/.copilot/mcp-config.json", Some(".mcp.json"), "mcpServers"),
    ("cursor", "home/.cursor/mcp.json", Some(".cursor/mcp.json"), "mcpServers"),
    ("hermes", "home/.hermes/config.yaml", None, "mcp_servers"),
];

/// Returns what `demur mcp` is told for a client, before everything that is asked for.
pub(super) fn options(client: &str) -> &'static [&'static str] {
    match client {
        "claude-code" => &["--era", "2025", "--wait", "24h"],
        "codex" => &["--wait", "59m"],
        _ => &[],
    }
}

/// Returns the arguments of an entry.
fn words(client: &str, rest: &[&str]) -> Value {
    json!([&["mcp"], options(client), rest].concat())
}

/// Returns a sandbox with a home folder.
pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("home")).unwrap();
    sandbox
}

/// Returns what a file means, by the word of Python's parsers.
pub(super) fn parsed(path: &PathBuf) -> Value {
    let python = std::env::var("DEMUR_PYTHON").expect("DEMUR_PYTHON names a Python with `yaml`");
    let read = Command::new(python).args(["-c", PARSE]).arg(path).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).unwrap()
}

/// Returns the entry of demur.
pub(super) fn entry(sandbox: &Sandbox, file: &str, servers: &str) -> Value {
    parsed(&sandbox.path(file))[servers]["demur"].clone()
}

fn setup(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let ran = sandbox.run(&[&["setup"], arguments].concat());
    ran.expect_code(0);
    ran
}

/// CLR-06
#[test]
fn every_client_reads_how_to_start_the_server() {
    for (client, file, project, servers) in CLIENTS {
        let sandbox = sandbox();
        setup(&sandbox, &[client, "--yes"]);
        let entry = entry(&sandbox, file, servers);
        let command = entry["command"].as_str().unwrap();
        assert_eq!(command, env!("CARGO_BIN_EXE_demur"), "{client}");
        let data = sandbox.data();
        assert_eq!(entry["args"], words(client, &["--data", data.to_str().unwrap()]), "{client}");
        let patience = entry.get("tool_timeout_sec");
        assert_eq!(patience, (client == "codex").then_some(&json!(3600)), "{client}");
        let Some(project) = project else { continue };
        setup(&sandbox, &[client, "--yes", "--project", "--tools", "session,wwa"]);
        let entry = super::setup::entry(&sandbox, project, servers);
        assert_eq!(entry["command"], "demur", "{client}");
        let expected = words(client, &["--tools", "wwa,session", "--data", data.to_str().unwrap()]);
        assert_eq!(entry["args"], expected, "{client}");
    }
}

#[test]
fn usual_data_folder_is_not_named_unless_the_client_hides_the_home_folder() {
    for (client, file, _, servers) in CLIENTS {
        let sandbox = sandbox();
        let ran = sandbox.command(&["setup", client, "--yes"]).env_remove("DEMUR_DATA").output().unwrap();
        sandbox.ran(ran).expect_code(0);
        let found = entry(&sandbox, file, servers)["args"].clone();
        let usual = sandbox.path("home/.local/share/demur");
        let named = words(client, &["--data", usual.to_str().unwrap()]);
        assert_eq!(found, if client == "copilot" { named } else { words(client, &[]) }, "{client}");
    }
}

#[test]
fn log_level_is_handed_on() {
    for (client, file, _, servers) in CLIENTS {
        let sandbox = sandbox();
        let ran = sandbox.command(&["setup", client, "--yes"]).env("DEMUR_LOG", "debug").output().unwrap();
        sandbox.ran(ran).expect_code(0);
        assert_eq!(entry(&sandbox, file, servers)["env"], json!({ "DEMUR_LOG": "debug" }), "{client}");
    }
}

#[test]
fn printed_snippets_are_files_of_their_own() {
    for (client, file, _, servers) in CLIENTS {
        let sandbox = sandbox();
        let printed = setup(&sandbox, &[client, "--print"]).stdout;
        assert!(!sandbox.path(file).exists(), "{client}");
        let end = file.rsplit_once('.').unwrap().1;
        let copy = sandbox.path(&format!("snippet.{end}"));
        fs::write(&copy, printed).unwrap();
        setup(&sandbox, &[client, "--yes"]);
        assert_eq!(parsed(&copy)[servers]["demur"], entry(&sandbox, file, servers), "{client}");
    }
}

#[test]
fn folders_that_the_variables_of_a_client_name_are_used() {
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("hermes", "HERMES_HOME", "config.yaml"),
    ] {
        let sandbox = sandbox();
        let folder = sandbox.path("elsewhere");
        let ran = sandbox.command(&["setup", client, "--yes"]).env(variable, &folder).output().unwrap();
        sandbox.ran(ran).expect_code(0);
        assert!(folder.join(file).is_file(), "{client}");
    }
}

#[test]
fn hooks_are_put_into_the_settings_and_taken_out_with_the_server() {
    let sandbox = sandbox();
    let settings = sandbox.path("home/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let before = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": []}\n    ]\n  }\n}\n";
    fs::write(&settings, before).unwrap();
    setup(&sandbox, &["claude-code", "--hook", "--yes"]);
    let hooks = parsed(&settings)["hooks"].clone();
    assert_eq!(hooks["PreToolUse"][0], json!({ "matcher": "Bash", "hooks": [] }));
    let line =
        format!("{} hook claude-code --data {}", env!("CARGO_BIN_EXE_demur"), sandbox.data().display());
    let quiet = json!({ "type": "command", "command": line, "timeout": 10 });
    let mut blocking = quiet.clone();
    blocking["onFailure"] = json!("block");
    assert_eq!(hooks["PreToolUse"][1], json!({ "matcher": "*", "hooks": [blocking] }));
    for moment in ["SessionStart", "UserPromptSubmit", "Stop"] {
        assert_eq!(hooks[moment], json!([{ "hooks": [quiet] }]), "{moment}");
    }
    assert!(setup(&sandbox, &["claude-code", "--hook", "--yes"]).stdout.starts_with("Nothing to do:"));
    setup(&sandbox, &["claude-code", "--undo", "--hook", "--yes"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    assert!(sandbox.path("home/.claude.json").exists());
    setup(&sandbox, &["claude-code", "--hook", "--wake", "--yes"]);
    let waking = parsed(&settings)["hooks"]["Stop"][1]["hooks"][0].clone();
    assert_eq!((&waking["asyncRewake"], &waking["timeout"]), (&json!(true), &json!(86_400)));
    assert!(waking["command"].as_str().unwrap().contains(" hook claude-code --wake"), "{waking}");
    // What a call does not name stays.
    assert!(setup(&sandbox, &["claude-code", "--hook", "--yes"]).stdout.starts_with("Nothing to do:"));
    setup(&sandbox, &["claude-code", "--undo", "--yes"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    assert!(!sandbox.path("home/.claude.json").exists());
    assert_eq!(sandbox.json_error(&["setup", "claude-code", "--hook", "--strict"], 2)["code"], "USAGE");
}

#[test]
fn tools_and_folder_that_a_call_does_not_name_stay() {
    for (client, file, _, servers) in CLIENTS {
        let sandbox = sandbox();
        setup(&sandbox, &[client, "--yes", "--tools", "wwa"]);
        let before = entry(&sandbox, file, servers);
        let more: &[&str] = if client == "claude-code" { &["--hook"] } else { &[] };
        let mut command = sandbox.command(&[&["setup", client, "--yes"], more].concat());
        sandbox.ran(command.env_remove("DEMUR_DATA").output().unwrap()).expect_code(0);
        assert_eq!(entry(&sandbox, file, servers), before, "{client}");
        setup(&sandbox, &[client, "--yes", "--tools", "session"]);
        assert!(
            entry(&sandbox, file, servers)["args"].as_array().unwrap().contains(&json!("session")),
            "{client}"
        );
    }
}

#[test]
fn hook_is_in_force_once_it_is_set_up_and_no_longer_once_it_is_out() {
    let sandbox = sandbox();
    let id = asked(&sandbox, &["Which?", "--as", "claude-code"]);
    let marks = || fs::read_dir(sandbox.data().join("open")).unwrap().count();
    setup(&sandbox, &["claude-code", "--hook", "--yes"]);
    assert!(sandbox.data().join("open").join(&id).exists());
    setup(&sandbox, &["claude-code", "--undo", "--hook", "--yes"]);
    assert_eq!(marks(), 0);
    asked(&sandbox, &["And now?", "--as", "claude-code"]);
    assert_eq!(marks(), 0);
}

#[test]
fn change_is_shown_and_nothing_is_written_unasked() {
    let sandbox = sandbox();
    fs::write(sandbox.path("home/.claude.json"), "{\n  \"numStartups\": 3\n}\n").unwrap();
    let ran = sandbox.run(&["--data", "/d", "setup", "claude-code"]);
    let program = env!("CARGO_BIN_EXE_demur");
    assert_snapshot!(ran.to_string().replace(program, "[DEMUR]"), @r#"
    exit 2
    --- stdout
    [DIR]/home/.claude.json
      {
    -   "numStartups": 3
    +   "numStartups": 3,
    +   "mcpServers": {
    +     "demur": {
    +       "type": "stdio",
    +       "command": "[DEMUR]",
    +       "args": ["mcp", "--era", "2025", "--wait", "24h", "--data", "/d"]
    +     }
    +   }
      }
    --- stderr
    error: nothing was written: nobody is here to be asked
    hint: --yes writes without asking
    "#);
    assert_eq!(
        fs::read_to_string(sandbox.path("home/.claude.json")).unwrap(),
        "{\n  \"numStartups\": 3\n}\n"
    );
    let error = sandbox.json_error(&["setup", "codex"], 2);
    assert_eq!(error["code"], "CONFIRMATION_NEEDED");
    assert!(!sandbox.path("home/.codex").exists());
}

#[test]
fn person_at_a_terminal_is_asked() {
    let sandbox = sandbox();
    let python = std::env::var("DEMUR_PYTHON").expect("DEMUR_PYTHON names a Python");
    let file = sandbox.path("home/.cursor/mcp.json");
    for (typed, code, written) in [("n", 3, false), ("", 3, false), ("Yes", 0, true)] {
        let mut command = Command::new(&python);
        command.args(["-c", TERMINAL, typed, env!("CARGO_BIN_EXE_demur"), "setup", "cursor"]);
        command.env("DEMUR_DATA", sandbox.data()).env("HOME", sandbox.path("home")).env("NO_COLOR", "1");
        let ran = sandbox.ran(command.output().unwrap());
        assert!(ran.expect_code(code).stdout.contains("Write this? [y/N]"), "{ran}");
        assert!(ran.stdout.contains("+     \"demur\": {"), "{ran}");
        assert_eq!(file.exists(), written, "{typed:?}");
    }
}

#[test]
fn setup_says_what_it_did() {
    let sandbox = sandbox();
    let said = [
        setup(&sandbox, &["cursor", "--yes"]),
        setup(&sandbox, &["cursor", "--yes"]),
        setup(&sandbox, &["cursor", "--undo", "--yes"]),
        setup(&sandbox, &["cursor", "--undo", "--yes"]),
        setup(&sandbox, &["codex", "--project", "--yes"]),
    ];
    let said: Vec<_> = said.iter().map(ToString::to_string).collect();
    assert_snapshot!(said.join(""), @r"
    exit 0
    --- stdout
    Written: [DIR]/home/.cursor/mcp.json
    First: `demur open` lets you add a passkey, so that no program can answer for you. Later nobody could tell whose it is.
    Next: start Cursor anew, and switch demur on under MCP.
    exit 0
    --- stdout
    Nothing to do: [DIR]/home/.cursor/mcp.json is as it should be
    exit 0
    --- stdout
    Taken out: [DIR]/home/.cursor/mcp.json
    exit 0
    --- stdout
    Nothing to do: [DIR]/home/.cursor/mcp.json is as it should be
    exit 0
    --- stdout
    Written: [DIR]/.codex/config.toml
    First: `demur open` lets you add a passkey, so that no program can answer for you. Later nobody could tell whose it is.
    Next: start Codex anew; `/mcp` lists demur.
    `demur` is not in your PATH: put it there, or others will not find it either.
    The file names a folder of this machine, [DIR]/data: it is not for others.
    ");
    let done = sandbox.json(&["setup", "cursor", "--yes"]);
    assert_eq!((&done["action"], &done["files"][0]["changed"]), (&json!("added"), &json!(true)));
    assert_eq!(done["files"][0]["diff"][0], "+ {");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sandbox = sandbox();
    for arguments in [
        ["setup", "hermes", "--project"].as_slice(),
        &["setup", "codex", "--hook", "--yes"],
        &["setup", "emacs"],
        &["setup", "codex", "--tools", "hammer"],
        &["setup", "codex", "--print", "--undo"],
    ] {
        assert_eq!(sandbox.json_error(arguments, 2)["code"], "USAGE", "{arguments:?}");
    }
}

/// Runs a command in a terminal, types a line, and passes on what is to be seen and how it ends.
const TERMINAL: &str = "
import os, pty, sys
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode() + b'\\n')
while True:
    try:
        seen = os.read(terminal, 65536)
    except OSError:
        break
    if not seen:
        break
    sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
";

const PARSE: &str = "
import json, sys, tomllib
path = sys.argv[1]
with open(path, 'rb') as file:
    if path.endswith('.toml'):
        read = tomllib.load(file)
    elif path.endswith('.yaml'):
        import yaml
        read = yaml.safe_load(file)
    else:
        read = json.load(file)
json.dump(read, sys.stdout)
";
