//! The Inspector's command line lists and calls the tools.

use std::{path::PathBuf, process::Command};

use demur_mcp_fixture::variable;
use serde_json::{Value, json};

use super::client::{http, stdio};
use crate::{doors::wire::Wire, sandbox::Sandbox};

/// Returns what the Inspector says.
fn inspect(sandbox: &Sandbox, target: &[&str], words: &[&str]) -> Value {
    let launcher = PathBuf::from(variable("DEMUR_MCP_MODULES"))
        .join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let home = sandbox.path("home");
    std::fs::create_dir_all(&home).unwrap();
    let output = Command::new(variable("DEMUR_MCP_NODE"))
        .arg(launcher)
        .arg("--cli")
        .args(words)
        .args(["--format", "json"])
        .args(target)
        .env("HOME", home)
        .output()
        .unwrap();
    let (said, trouble) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{words:?}: {said}{trouble}");
    let mut document: Value =
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{words:?}: {said}{trouble}"));
    document["result"].take()
}

/// CLR-05
#[test]
fn inspector_lists_and_calls_the_tools() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    let (server, bridge) = (http(&sandbox, "inspector", ""), stdio(&sandbox, ""));
    let address =
        server["url"].as_str().unwrap().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let program = Wire::tcp(address, server["token"].as_str().unwrap().to_owned());
    let asked = program.post("/v1/questions", &json!({"question": "Asked before?"})).unwrap();
    let question = asked["id"].as_str().unwrap().to_owned();
    sandbox.run(&["answer", &question, "yes"]).expect_code(0);
    let token = format!("Authorization: Bearer {}", server["token"].as_str().unwrap());
    let url = server["url"].as_str().unwrap();
    // What it starts inherits next to nothing.
    let data = format!("DEMUR_DATA={}", sandbox.data().display());
    let mut command = vec!["-e", &data, "--"];
    command.extend(bridge["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    for target in [&[url, "--transport", "http", "--header", &token][..], &command] {
        let listed = inspect(&sandbox, target, &["--method", "tools/list"]);
        let names: Vec<&Value> =
            listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["ask_human", "check_question", "cancel_question", "list_questions"], "{listed}");
        let argument = format!("question_id={question}");
        let words = ["--method", "tools/call", "--tool-name", "check_question", "--tool-arg", &argument];
        let called = inspect(&sandbox, target, &words);
        assert_eq!(called["structuredContent"]["answer"], json!("yes"), "{called}");
    }
}
