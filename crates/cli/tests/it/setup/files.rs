//! Files of the user's: left as they were, not followed where they lead away, not broken.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
};

use super::{CLIENTS, parsed, sandbox};
use crate::sandbox::Sandbox;

/// Returns what a file of a client may say before.
fn others(client: &str) -> Vec<&'static str> {
    match client {
        "codex" => vec![
            "",
            "# mine\nmodel = \"gpt\"   # odd  spaces\n\n[mcp_servers.other]\ncommand = \"x\"\n",
            "[projects.\"/home/me\"]\ntrust_level = \"trusted\"",
        ],
        "hermes" => vec![
            "",
            "# mine\nmodel:\n  default: x   # odd\n\nmcp_servers:\n  # theirs\n  time:\n    command: \"uvx\"\n\nlast: 1\n",
            "model: x",
        ],
        "vscode" | "cursor" => vec![
            "",
            "{}",
            "{\n\t// mine\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"other\": { \"url\": \"x\" }, // last\n\t},\n}\n",
            "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
        ],
        _ => vec![
            "",
            "{}",
            "{\n  \"numStartups\": 3,\n  \"mcpServers\": {},\n  \"projects\": {\"/a\": {\"mcpServers\": {}}}\n}\n",
            "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    }\n}",
        ],
    }
}

fn write(sandbox: &Sandbox, file: &str, text: &str) -> PathBuf {
    let path = sandbox.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn file_is_the_same_after_setup_and_undo() {
    for (client, file, ..) in CLIENTS {
        for text in others(client) {
            let sandbox = sandbox();
            let path = write(&sandbox, file, text);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            sandbox.run(&["setup", client, "--yes"]).expect_code(0);
            let with = fs::read_to_string(&path).unwrap();
            assert_ne!(with, text, "{client}");
            let again = sandbox.run(&["setup", client, "--yes"]);
            assert!(again.expect_code(0).stdout.starts_with("Nothing to do:"), "{again}");
            assert_eq!(fs::read_to_string(&path).unwrap(), with, "{client}");
            // Other options are other words at the same place.
            sandbox.run(&["setup", client, "--yes", "--tools", "all"]).expect_code(0);
            sandbox.run(&["setup", client, "--undo", "--yes"]).expect_code(0);
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{client}: {with}");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
            let again = sandbox.run(&["setup", client, "--undo", "--yes"]);
            assert!(again.expect_code(0).stdout.starts_with("Nothing to do:"), "{again}");
        }
    }
}

#[test]
fn settings_are_the_same_after_hooks_and_undo() {
    for text in [
        "",
        "{}",
        "{\n  \"hooks\": {}\n}\n",
        "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}, \"model\": \"x\"}",
        "{\n\t\"permissions\": {\n\t\t\"allow\": []\n\t}\n}\n",
    ] {
        for wake in [None, Some("--wake")] {
            let sandbox = sandbox();
            let path = write(&sandbox, "home/.claude/settings.json", text);
            let arguments: Vec<&str> =
                ["setup", "claude-code", "--yes", "--hook"].into_iter().chain(wake).collect();
            sandbox.run(&arguments).expect_code(0);
            parsed(&path);
            sandbox.run(&["setup", "claude-code", "--undo", "--yes"]).expect_code(0);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn remark_in_one_file_keeps_nothing_in_another() {
    let remark = "{\n  // mine\n  \"model\": \"x\"\n}\n";
    let sandbox = sandbox();
    sandbox.run(&["setup", "claude-code", "--yes"]).expect_code(0);
    let settings = write(&sandbox, "home/.claude/settings.json", remark);
    sandbox.run(&["setup", "claude-code", "--undo", "--yes"]).expect_code(0);
    assert!(!sandbox.path("home/.claude.json").exists());
    assert_eq!(fs::read_to_string(&settings).unwrap(), remark);
    // A remark beside our hook stays, and the hook goes.
    fs::remove_file(&settings).unwrap();
    sandbox.run(&["setup", "claude-code", "--hook", "--yes"]).expect_code(0);
    let with = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, with.replacen("{\n", "{\n  // mine\n", 1)).unwrap();
    sandbox.run(&["setup", "claude-code", "--undo", "--yes"]).expect_code(0);
    let left = fs::read_to_string(&settings).unwrap();
    assert!(left.contains("// mine") && !left.contains("demur"), "{left}");
    // What cannot be read at all and may hold something of ours is told, after the rest is done.
    sandbox.run(&["setup", "claude-code", "--yes"]).expect_code(0);
    fs::write(&settings, "{ \"demur").unwrap();
    let error = sandbox.run(&["setup", "claude-code", "--undo", "--yes"]);
    assert!(error.expect_code(3).stderr.contains("settings.json"), "{error}");
    assert!(error.stdout.contains("Taken out:") && !sandbox.path("home/.claude.json").exists(), "{error}");
}

#[test]
fn other_entries_mean_what_they_meant() {
    for (client, file, _, servers) in CLIENTS {
        // What has remarks in it is for the clients alone.
        let Some(text) =
            others(client).into_iter().find(|text| text.contains("ther") && !text.contains("//"))
        else {
            continue;
        };
        let sandbox = sandbox();
        let path = write(&sandbox, file, text);
        let before = parsed(&path);
        sandbox.run(&["setup", client, "--yes"]).expect_code(0);
        let mut after = parsed(&path);
        assert!(after[servers].as_object_mut().unwrap().remove("demur").is_some(), "{client}");
        if before.get(servers).is_none() {
            after.as_object_mut().unwrap().remove(servers);
        }
        assert_eq!(after, before, "{client}");
    }
}

#[test]
fn file_that_was_not_there_is_gone_again() {
    for (client, file, ..) in CLIENTS {
        let sandbox = sandbox();
        sandbox.run(&["setup", client, "--yes"]).expect_code(0);
        let path = sandbox.path(file);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{client}");
        sandbox.run(&["setup", client, "--undo", "--yes"]).expect_code(0);
        assert!(!path.exists(), "{client}");
    }
}

#[test]
fn malformed_files_are_refused_with_line_and_column() {
    for (client, file, text, place) in [
        ("claude-code", "home/.claude.json", "{\n  \"a\": 1,\n}\n", "line 3, column 1"),
        ("vscode", "home/.config/Code/User/mcp.json", "{\n  // no end\n", "line 3, column 1"),
        ("copilot", "home/.copilot/mcp-config.json", "{\"mcpServers\": []}", "line 1, column 16"),
        ("cursor", "home/.cursor/mcp.json", "{\"a\" 1}", "line 1, column 6"),
        ("codex", "home/.codex/config.toml", "a = 1\n[b\n", "line 2, column 3"),
        ("hermes", "home/.hermes/config.yaml", "a: 1\n{b\n", "line 2, column 1"),
    ] {
        let sandbox = sandbox();
        let path = write(&sandbox, file, text);
        for undo in [None, Some("--undo")] {
            let arguments: Vec<&str> = ["setup", client, "--yes"].into_iter().chain(undo).collect();
            let error = sandbox.json_error(&arguments, 3);
            assert_eq!(error["code"], "CONFIG_MALFORMED", "{client}");
            assert!(error["message"].as_str().unwrap().contains(place), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let sandbox = sandbox();
    fs::write(sandbox.path("home/.claude.json"), b"{\n \"a\": \"\xff\"}").unwrap();
    let error = sandbox.json_error(&["setup", "claude-code", "--yes"], 3);
    assert!(error["message"].as_str().unwrap().contains("line 2, column 8: expected UTF-8"), "{error}");
}

#[test]
fn entry_of_somebody_else_is_left_alone() {
    for (client, file, text) in [
        ("claude-code", "home/.claude.json", "{\"mcpServers\": {\"demur\": {\"url\": \"http://x/mcp\"}}}"),
        ("codex", "home/.codex/config.toml", "[mcp_servers.demur]\nurl = \"http://x/mcp\"\n"),
        ("hermes", "home/.hermes/config.yaml", "mcp_servers:\n  demur:\n    url: http://x/mcp\n"),
    ] {
        let sandbox = sandbox();
        let path = write(&sandbox, file, text);
        for undo in [None, Some("--undo")] {
            let arguments: Vec<&str> = ["setup", client, "--yes"].into_iter().chain(undo).collect();
            assert_eq!(sandbox.json_error(&arguments, 3)["code"], "NAME_TAKEN", "{client}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn links_inside_of_the_home_folder_stay_links() {
    let sandbox = sandbox();
    let real = write(&sandbox, "home/dotfiles/codex.toml", "model = \"x\"\n");
    fs::create_dir_all(sandbox.path("home/.codex")).unwrap();
    let link = sandbox.path("home/.codex/config.toml");
    symlink("../dotfiles/codex.toml", &link).unwrap();
    sandbox.run(&["setup", "codex", "--yes"]).expect_code(0);
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("mcp_servers.demur"));
    sandbox.run(&["setup", "codex", "--undo", "--yes"]).expect_code(0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "model = \"x\"\n");
}

#[test]
fn links_that_lead_away_are_followed_only_if_asked() {
    let sandbox = sandbox();
    let outside = write(&sandbox, "outside/mcp.json", "{}");
    fs::create_dir_all(sandbox.path("home/.cursor")).unwrap();
    symlink(&outside, sandbox.path("home/.cursor/mcp.json")).unwrap();
    symlink(sandbox.path("outside"), sandbox.path("home/.copilot")).unwrap();
    for client in ["cursor", "copilot"] {
        assert_eq!(sandbox.json_error(&["setup", client, "--yes"], 3)["code"], "LINK_LEADS_AWAY", "{client}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
    assert!(!sandbox.path("outside/mcp-config.json").exists());
    sandbox.run(&["setup", "cursor", "--yes", "--follow-links"]).expect_code(0);
    assert!(fs::read_to_string(&outside).unwrap().contains("demur"));
    // Also where it leads to a folder around the home folder.
    symlink(sandbox.path(""), sandbox.path("home/.codex")).unwrap();
    assert_eq!(sandbox.json_error(&["setup", "codex", "--yes"], 3)["code"], "LINK_LEADS_AWAY");
    assert!(!sandbox.path("config.toml").exists());
    // A project is a folder of its own.
    fs::create_dir_all(sandbox.path("home/project")).unwrap();
    symlink("../.claude.json", sandbox.path("home/project/.mcp.json")).unwrap();
    fs::write(sandbox.path("home/.claude.json"), "{}").unwrap();
    let mut command = sandbox.command(&["setup", "claude-code", "--project", "--yes"]);
    let ran = sandbox.ran(command.current_dir(sandbox.path("home/project")).output().unwrap());
    assert!(ran.expect_code(3).stderr.contains("out of"), "{ran}");
}

#[test]
fn link_that_leads_nowhere_is_refused() {
    let sandbox = sandbox();
    symlink(sandbox.path("home/nothing"), sandbox.path("home/.claude.json")).unwrap();
    let ran = sandbox.run(&["setup", "claude-code", "--yes"]);
    assert!(ran.expect_code(2).stderr.contains("leads nowhere"), "{ran}");
    assert!(!sandbox.path("home/nothing").exists());
}

#[test]
fn read_only_files_and_what_is_no_file_are_refused() {
    let sandbox = sandbox();
    let path = write(&sandbox, "home/.claude.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(sandbox.json_error(&["setup", "claude-code", "--yes"], 3)["code"], "FILE_READ_ONLY");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    fs::create_dir_all(sandbox.path("home/.cursor/mcp.json")).unwrap();
    assert_eq!(sandbox.json_error(&["setup", "cursor", "--yes"], 3)["code"], "NOT_A_FILE");
    // A folder in whose place there is a file.
    fs::write(sandbox.path("home/.codex"), "").unwrap();
    let ran = sandbox.run(&["setup", "codex", "--yes"]);
    assert!(ran.code == Some(2) && ran.stderr.contains(".codex"), "{ran}");
}

#[test]
fn nothing_is_left_beside_the_file() {
    let sandbox = sandbox();
    sandbox.run(&["setup", "cursor", "--yes"]).expect_code(0);
    let names: Vec<_> =
        fs::read_dir(sandbox.path("home/.cursor")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(names, ["mcp.json"]);
}
