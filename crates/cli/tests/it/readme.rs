//! What the README promises besides its commands, which the walk runs: a first screen that gets somebody going, every exit
//! code, tables that say what is built.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{asker::asked, sandbox::Sandbox};

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

#[test]
fn first_screen_installs_asks_and_answers() {
    let readme = page("README.md");
    let screen: Vec<&str> = readme.lines().take(50).collect();
    let line = |start: &str| {
        let found = screen.iter().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("the first {} lines do not say {start}", screen.len()))
    };
    assert!(line("cargo install --locked --path crates/cli") < line("demur ask "));
    assert!(line("demur ask ") < line("demur inbox "));
}

#[test]
fn pages_name_the_rust_that_is_needed() {
    let manifest = page("Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    let words =
        format!("[Rust](https://www.rust-lang.org/tools/install) {} or newer", version.trim_matches('"'));
    for name in ["README.md", "docs/install.md"] {
        assert!(page(name).contains(&words), "{name} does not say {words}");
    }
}

#[test]
fn every_exit_code_of_the_help_is_in_the_readme() {
    let readme = page("README.md");
    let (_, section) = readme.split_once("## Exit codes\n").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let listed: BTreeSet<&str> = rows.flat_map(|(codes, _)| codes.split(", ")).collect();
    let help = Sandbox::new().run(&["--help"]).stdout;
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let codes = codes.lines().take_while(|line| !line.is_empty());
    let codes = codes.filter_map(|line| line.split_whitespace().next());
    let codes: Vec<&str> = codes.filter(|code| code.parse::<u8>().is_ok()).collect();
    assert!(codes.len() >= 12, "{help}");
    for code in codes {
        assert!(listed.contains(code), "{code} is not among {listed:?}");
    }
}

/// `docs/mcp.md` is held against the program by a test of its own.
#[test]
fn tables_do_not_put_off_what_is_built() {
    let tools = |name: &str| -> BTreeSet<String> {
        let page = page(name);
        let words = page.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        let tools = words.filter(|word| word.starts_with("wwa_") && !word.ends_with('_'));
        tools.map(str::to_owned).collect()
    };
    assert!(tools("docs/mcp.md").len() >= 6);
    assert_eq!(tools("docs/clarify.md"), tools("docs/mcp.md"));
    for name in ["README.md", "docs/clarify.md"] {
        let page = page(name);
        let late: Vec<&str> = page.lines().filter(|line| line.ends_with("to come |")).collect();
        let built = late.iter().filter(|line| line.contains("MCP") || line.contains("CLR-"));
        assert_eq!(built.count(), 0, "{name}: {late:?}");
    }
}

#[test]
fn every_file_of_a_data_folder_is_on_the_page() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Password?", "--secret"]);
    sandbox.feed(&["answer", &id, "-"], b"correct horse").expect_code(0);
    sandbox.run(&["inbox", "--list", "--all"]).expect_code(0);
    let event = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    sandbox.feed(&["hook", "claude-code"], event.as_bytes()).expect_code(0);
    let names = fs::read_dir(sandbox.data()).unwrap().map(|entry| entry.unwrap().file_name());
    // SQLite keeps files of its own beside a database.
    let names = names.map(|name| name.into_string().unwrap());
    let names: Vec<String> =
        names.filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm")).collect();
    assert!(names.contains(&"numbers".to_owned()) && names.contains(&"secrets.db".to_owned()), "{names:?}");
    let install = page("docs/install.md");
    for name in names {
        let shown = install.contains(&format!("`{name}`")) || install.contains(&format!("`{name}/`"));
        assert!(shown, "docs/install.md does not name {name}");
    }
}
