//! Requests that a generator makes from the API document: whatever it sends, the server answers as the document says.

use std::{env, path::Path, process::Command};

use serde_json::json;

use crate::server::Server;

/// Lets schemathesis loose on a server under this token.
fn schemathesis(server: &Server, token: &str, more: &[&str]) {
    let full = env::var("DEMUR_PROOF").is_ok_and(|word| word == "full");
    let interpreter = env::var_os("DEMUR_PYTHON").expect("DEMUR_PYTHON is not set: run `cargo xtask test`");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(interpreter)
        .args(["-m", "schemathesis.cli", "--config-file"])
        .arg(tests.join("schemathesis.toml"))
        .arg("run")
        .arg(format!("http://localhost:{}/v1/openapi.json", server.port()))
        .args(["--header", &format!("Authorization: Bearer {token}"), "--request-timeout", "20"])
        // What is valid on its own may still be refused: a trace that is not there, an answer of another kind.
        // Which of two requests made which thing is a guess of the generator's.
        .args([
            "--checks",
            "all",
            "--exclude-checks",
            "positive_data_acceptance,ensure_resource_availability",
        ])
        // The feed has no end.
        .args(["--exclude-path", "/v1/feed", "--continue-on-failure", "--no-color", "--warnings", "off"])
        .args(["--max-examples", if full { "400" } else { "10" }, "--workers", "1"])
        .args(["--generation-database", "none", "--suppress-health-check", "all"])
        .args(more)
        .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
        .env("PYTHONPATH", tests)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn fuzz_whatever_is_sent_is_answered_as_the_document_says() {
    let server = Server::start();
    let token = server.token("all", &["ask", "relay", "read", "metrics"]);
    for number in 0..3 {
        server.ask(&token, &json!({"question": format!("{number}?"), "answering": "anybody"}));
    }
    schemathesis(&server, &token, &[]);
    let metrics = server.call("GET", "/metrics").token(&token).send().text();
    assert!(!metrics.contains("status=\"500\""), "{metrics}");
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
}

#[test]
fn fuzz_an_answerer_meets_what_the_document_says() {
    let server = Server::start();
    let (asker, token) = (server.token("asker", &["ask"]), server.token("helper", &["answer"]));
    for number in 0..3 {
        server.ask(&asker, &json!({"question": format!("{number}?"), "answering": "anybody"}));
    }
    schemathesis(&server, &token, &["--include-tag", "questions"]);
}
