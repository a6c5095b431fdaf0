//! `demur completions`.

use crate::sandbox::Sandbox;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = sandbox.run(&["completions", shell]);
        ran.expect_code(0);
        for word in [
            "keys",
            "rotate",
            "with-recovery",
            "demo",
            "require-anchor",
            "trace",
            "checkpoint",
            "rebuild",
            "replace",
            "explain",
            "agent-id",
            "inbox",
            "doctor",
            "no-wait",
            "wait",
        ] {
            assert!(ran.stdout.contains(word), "{shell} does not know {word}");
        }
        let reply = sandbox.json(&["completions", shell]);
        assert_eq!(reply["script"].as_str().unwrap().trim_end(), ran.stdout.trim_end());
    }
}

#[test]
fn unknown_shell_is_a_mistake() {
    Sandbox::new().json_error(&["completions", "tcsh"], 2);
}

#[test]
fn bash_takes_the_script() {
    let sandbox = Sandbox::new();
    let script = sandbox.path("demur.bash");
    std::fs::write(&script, sandbox.run(&["completions", "bash"]).stdout).unwrap();
    let status = std::process::Command::new("bash").arg("-n").arg(&script).status().unwrap();
    assert!(status.success());
}
