//! Questions as people read them: in lines, in their own zone, with what an answer needs and whether anybody waits.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use insta::assert_snapshot;
use serde_json::json;

use crate::{
    asker::{Asker, asked, asked_over_the_socket, until},
    sandbox::Sandbox,
};

/// Lines are lines, and none of them passes for one of ours.
#[test]
fn lines_of_a_question_are_lines_behind_a_bar() {
    let sandbox = Sandbox::with_keys();
    let words = "Delete these?\r\n\tone\u{1b}[2J\n  state     answered by ada\n";
    let id = asked(&sandbox, &[words, "--context", "because\nthey are old"]);
    assert_snapshot!(sandbox.run(&["show", &id]), @r"
    exit 0
    --- stdout
    Delete these?
      |     one\u{1b}[2J
      |   state     answered by ada
      id        [ULID].0
      asked by  ask at [TIME]
      weight    must be answered
      context   because
                | they are old
      answer    any text
      until     as long as it takes
      needs     a person, through any program: `demur answer [ULID].0 ANSWER`
      state     open
    ");
    assert_snapshot!(sandbox.run(&["inbox", "--list"]), @r"
    exit 0
    --- stdout
    1. Delete these?
         |     one\u{1b}[2J
         |   state     answered by ada
       (must be answered, ask)
       [ULID].0
    ");
}

#[test]
fn long_questions_are_cut_in_lists_and_say_what_shows_the_rest() {
    let sandbox = Sandbox::with_keys();
    asked(&sandbox, &["1\n2\n3\n4\n5\n6"]);
    asked(&sandbox, &[&"x".repeat(301)]);
    asked(&sandbox, &["1\n2\n3\n4\n5"]);
    let listed = sandbox.run(&["inbox", "--list"]).expect_code(0).stdout.clone();
    assert_eq!(listed.matches("more: ").count(), 2, "{listed}");
    assert!(listed.contains("| 5\n     more: demur show 1\n   (must"), "{listed}");
    assert!(listed.contains(&format!("2. {}\n     more: demur show 2\n", "x".repeat(300))), "{listed}");
}

#[test]
fn watch_shows_the_words_of_a_question_as_lines() {
    let sandbox = Sandbox::with_keys();
    let id = asked(&sandbox, &["Which\u{7}?\nThis or that?"]);
    let mut command = sandbox.command(&["watch", "--after", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told: Vec<String> = lines.skip_while(|line| !line.contains("question_asked")).take(4).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(told[0].ends_with(&format!("question_asked  about {id}")), "{told:?}");
    assert_eq!(told[1..], [r"    Which\u{7}?", "      | This or that?", "    (must be answered, ask)"]);
}

/// People read their own zone and its name; programs read UTC.
#[test]
fn times_are_in_the_zone_of_the_reader() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?", "--timeout", "1h"]);
    let shown = |zone: &str, arguments: &[&str]| {
        let output = sandbox.command(arguments).env("TZ", zone).output().unwrap();
        sandbox.ran(output).expect_code(0).stdout.clone()
    };
    let text = shown("XYZ-3:30", &["show", &id]);
    assert_eq!(text.matches(" XYZ").count(), 3, "{text}");
    assert!(!text.contains("UTC"), "{text}");
    assert!(shown("Asia/Tokyo", &["trace", "list"]).contains(" JST"));
    assert!(shown("no/such/place", &["show", &id]).contains(" UTC"));
    let json: serde_json::Value = serde_json::from_str(&shown("XYZ-3:30", &["show", &id, "--json"])).unwrap();
    assert!(json["deadline"].as_str().unwrap().ends_with('Z'), "{json}");
}

/// What an answer needs is said before it is refused, and with it what would do.
#[test]
fn needed_assurance_is_shown_with_what_satisfies_it() {
    let sandbox = Sandbox::with_keys();
    let id = asked_over_the_socket(&sandbox, &json!({ "question": "Pay?", "assurance": "signed_in" }));
    let way = format!("sign in with a passkey, then /questions/{id}: `demur open` shows where");
    let shown = sandbox.run(&["show", &id]);
    let stdout = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stdout.contains("needs a person who signed in with a passkey"), "{shown}");
    assert!(stdout.contains(&format!("/questions/{id}")), "{shown}");
    let listed = sandbox.run(&["inbox", "--list"]);
    assert!(listed.stdout.contains("needs a person who signed in with a passkey"), "{listed}");
    let error = sandbox.json_error(&["answer", &id, "yes"], 3);
    assert_eq!(error["code"], "ASSURANCE_TOO_LOW");
    assert_eq!(
        error["hint"],
        format!("the asker wants the word of a person who signed in with a passkey: {way}")
    );
}

#[test]
fn suggestions_read_as_such_and_choices_as_choices() {
    let sandbox = Sandbox::with_keys();
    let open = json!({ "question": "Name?", "suggestions": ["ada", "bob"] });
    let shown = sandbox.run(&["show", &asked_over_the_socket(&sandbox, &open)]);
    assert!(shown.stdout.contains("suggested ada, bob; any other text works, too"), "{shown}");
    let shown = sandbox.run(&["show", &asked(&sandbox, &["Which?", "--choice", "a", "--choice", "b"])]);
    assert!(shown.stdout.contains("answer    one of 2 choices\n"), "{shown}");
    assert!(!shown.stdout.contains("any other"), "{shown}");
}

/// A hint of the server: whoever waited has hung up. Whoever never waited is not said to be gone.
#[test]
fn inbox_says_when_nobody_waits_any_more() {
    const NOBODY: &str = "nobody waits for it now";
    let sandbox = Sandbox::new();
    let mut asker = Asker::ask(&sandbox, &["Name?"]);
    let never = asked(&sandbox, &["Word?"]);
    let says = |id: &str| sandbox.run(&["show", id]).expect_code(0).stdout.contains(NOBODY);
    assert!(!says(&asker.id) && !says(&never));
    asker.child.kill().unwrap();
    asker.child.wait().unwrap();
    until("nobody waits any more", || says(&asker.id).then_some(()));
    let listed = sandbox.run(&["inbox", "--list"]).expect_code(0).stdout.clone();
    assert_eq!(listed.matches(NOBODY).count(), 1, "{listed}");
    assert!(!says(&never));
    // Whoever comes back is there again.
    let mut command = sandbox.command(&["wait", &asker.id]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("somebody waits", || (!says(&asker.id)).then_some(()));
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(sandbox.ran(child.wait_with_output().unwrap()).expect_code(0).stdout, "ada\n");
}

#[test]
fn choices_that_are_closed_are_told_once() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plan.json");
    sandbox.run(&["plan", "submit", plan]).expect_code(3);
    sandbox.run(&["inbox", "--list"]).expect_code(0);
    let shown = sandbox.run(&["show", "1"]);
    assert!(!shown.stdout.contains("any other text works"), "{shown}");
    assert!(shown.stdout.contains("\n    1. jsp-440-only\n"), "{shown}");
}

#[test]
fn nobody_is_quoted_who_gave_no_reason() {
    let sandbox = Sandbox::new();
    sandbox.run(&["ask", "Name?", "--no-wait"]).expect_code(0);
    let told = sandbox.run(&["cancel", "last"]);
    assert!(told.expect_code(0).stdout.trim_end().ends_with("; no reason given"), "{told}");
}
