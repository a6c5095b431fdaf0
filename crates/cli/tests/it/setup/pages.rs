//! The pages about MCP say what setup writes and what the server offers. Run the tests with `DEMUR_BLESS=1` to write the table of
//! tools anew.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::Value;

use super::{CLIENTS, sandbox, start::listed};

fn page(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// CLR-06
#[test]
fn page_of_every_client_shows_what_setup_writes() {
    for (client, file, ..) in CLIENTS {
        let sandbox = sandbox();
        let mut command = sandbox.command(&["setup", client, "--print"]);
        let ran = sandbox.ran(command.env_remove("DEMUR_DATA").output().unwrap());
        let home = sandbox.path("home");
        let printed = ran
            .expect_code(0)
            .stdout
            .replace(env!("CARGO_BIN_EXE_demur"), "/usr/local/bin/demur")
            .replace(home.to_str().unwrap(), "/home/you");
        let text = fs::read_to_string(page(&format!("clients/{client}.md"))).unwrap();
        let language = file.rsplit_once('.').unwrap().1;
        let block = format!("```{language}\n{printed}```\n");
        assert!(text.contains(&block), "docs/clients/{client}.md does not show\n{block}");
        let file = file.strip_prefix("home/").unwrap();
        assert!(text.contains(&format!("~/{file}")), "docs/clients/{client}.md does not name ~/{file}");
        assert!(text.contains("Read on 20"), "docs/clients/{client}.md does not say what was read");
    }
}

#[test]
fn page_lists_every_tool() {
    let sandbox = sandbox();
    let mut sets: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    sets.insert("always", listed(&sandbox, &[]));
    for set in ["wwa", "confirm", "session"] {
        sets.insert(set, listed(&sandbox, &["--tools", set]));
    }
    let usual = sets["always"].clone();
    let mut table = String::from("| tool | set | what models read |\n|---|---|---|\n");
    for set in ["always", "wwa", "confirm", "session"] {
        let tools = &sets[set];
        for tool in tools.iter().filter(|tool| set == "always" || !usual.contains(tool)) {
            let (name, words) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
            let set = if set == "always" { set.to_owned() } else { format!("`{set}`") };
            writeln!(table, "| `{name}` | {set} | {words} |").unwrap();
        }
    }
    let file = page("mcp.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{BEGIN}\n{table}{END}{after}");
    if std::env::var_os("DEMUR_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap();
    assert!(found == made, "docs/mcp.md does not list the tools: run the tests with DEMUR_BLESS=1 and look");
}

const BEGIN: &str = "<!-- tools: begin -->";
const END: &str = "<!-- tools: end -->";
