//! `demur trace show --graph`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    corpus::Case,
    sandbox::{Sandbox, conformance, golden_path},
};

#[test]
fn graph_goes_to_standard_output() {
    let ran = Sandbox::new().run(&["trace", "show", &golden_path(), "--graph"]);
    let picture = &ran.expect_code(0).stdout;
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"), "{ran}");
    assert!(picture.contains(">verification_run_completed 1\u{d7} #17</text>"), "{picture}");
    assert_eq!(ran.stderr, "");
}

#[test]
fn graph_goes_to_a_new_file_and_is_the_same_there() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["trace", "show", &golden_path(), "--graph", "--out", "run.svg"]), @r"
    exit 0
    --- stdout
    Drawn: the states of trace [ULID] to run.svg
    verdict  internally consistent; origin and completeness not established: through sequence 17; later events may exist
    ");
    let picture = fs::read_to_string(sandbox.path("run.svg")).unwrap();
    let printed = sandbox.run(&["trace", "show", &golden_path(), "--graph", "--out", "-"]);
    assert_eq!(printed.expect_code(0).stdout, picture);
}

#[test]
fn nothing_is_overwritten_unless_that_is_said() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("run.svg"), "mine").unwrap();
    let call = ["trace", "show", &golden_path(), "--graph", "--out", "run.svg"];
    assert_snapshot!(sandbox.run(&call), @r"
    exit 2
    --- stderr
    error: cannot write the graph run.svg: File exists (os error 17)
    hint: nothing is overwritten: name a new file, or say --force
    ");
    assert_eq!(fs::read_to_string(sandbox.path("run.svg")).unwrap(), "mine");
    sandbox.run(&[&call[..], &["--force"]].concat()).expect_code(0);
    assert!(fs::read_to_string(sandbox.path("run.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn no_file_is_left_where_nothing_could_be_drawn() {
    let sandbox = Sandbox::with_keys();
    for what in ["none", "registry", "last"] {
        sandbox.run(&["trace", "show", what, "--graph", "--out", "run.svg"]).expect_code(2);
        assert!(!sandbox.path("run.svg").exists(), "{what}");
    }
}

#[test]
fn registry_has_no_states_to_draw() {
    let ran = Sandbox::with_keys().run(&["trace", "show", "registry", "--graph"]);
    assert_snapshot!(ran, @r"
    exit 2
    --- stderr
    error: expected the trace of a run, found another kind of trace: [ULID]
    hint: only runs have states: `demur trace list` shows them
    ");
}

#[test]
fn programs_learn_where_the_graph_is_and_need_a_file_for_it() {
    let sandbox = Sandbox::new();
    let call = ["trace", "show", &golden_path(), "--graph"];
    let reply = sandbox.json(&[&call[..], &["--out", "run.svg"]].concat());
    assert_eq!((&reply["file"], &reply["verdict"]), (&"run.svg".into(), &"pass".into()));
    let picture = fs::read_to_string(sandbox.path("run.svg")).unwrap();
    assert!(picture.contains(reply["trace"].as_str().unwrap()), "{picture}");
    assert_eq!(sandbox.json_error(&call, 2)["code"], "USAGE");
}

#[test]
fn damaged_file_is_drawn_with_its_caution_and_fails() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "five words", "nine words");
    let ran = sandbox.run(&["trace", "show", "bad.jsonl", "--graph"]);
    let picture = &ran.expect_code(1).stdout;
    assert!(picture.contains("Do not rely on anything after event #9."), "{picture}");
    sandbox.golden_with("worse.jsonl", "\"sequence\":0,\"statement\"", "\"sequence\":1,\"statement\"");
    let ran = sandbox.run(&["trace", "show", "worse.jsonl", "--graph"]);
    assert!(ran.expect_code(1).stdout.contains("Do not rely on anything in this file"), "{ran}");
}

#[test]
fn out_and_force_are_for_graphs_only() {
    let sandbox = Sandbox::new();
    for options in [&["--out", "x"][..], &["--force"], &["--graph", "--force"]] {
        sandbox.run(&[&["trace", "show", &golden_path()], options].concat()).expect_code(2);
    }
    assert!(!sandbox.path("x").exists());
}

#[test]
fn valid_runs_of_the_corpus_are_drawn_and_other_traces_are_not() {
    let sandbox = Sandbox::new();
    let valid = Case::all().into_iter().filter(|case| case.family == "valid" && case.second.is_none());
    let mut drawn = 0;
    for case in valid {
        let path = conformance("attacks").join(&case.file);
        let path = path.to_str().unwrap();
        let told: Value =
            serde_json::from_str(&sandbox.run(&["trace", "show", path, "--json"]).stdout).unwrap();
        let ran = sandbox.run(&["trace", "show", path, "--graph"]);
        let opening = told["entries"][0]["kind"].as_str().unwrap();
        let others =
            ["store_created", "plan_submitted", "question_asked", "confirmation_asked", "journal_opened"];
        if others.contains(&opening) {
            assert!(ran.expect_code(2).stderr.contains("found another kind of trace"), "{}", case.name);
        } else {
            assert!(ran.stdout.ends_with("</svg>\n"), "{}: {ran}", case.name);
            drawn += 1;
        }
    }
    assert!(drawn >= 20, "only {drawn} were drawn");
}
