//! `demur ask`, and the commands that settle a question.

use insta::assert_snapshot;

use crate::{
    asker::{Asker, asked, asked_of_anybody, shown},
    sandbox::{Ran, Sandbox},
};

/// Returns how an ask ended that was settled by a command: its first word, the question, the rest.
fn settled(arguments: &[&str], by: &[&str]) -> Ran {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, arguments);
    let id = asker.id.clone();
    sandbox.run(&[&by[..1], &[id.as_str()], &by[1..]].concat()).expect_code(0);
    asker.ended(&sandbox)
}

/// ONE-01: the answer alone is printed, for each kind of answer.
#[test]
fn answer_stands_alone_on_standard_output() {
    for (arguments, answer, printed) in [
        (&["Name?"][..], "the blue one", "the blue one"),
        (&["Sure?", "--kind", "yes-no"], "Y", "yes"),
        (&["How many?", "--kind", "number"], "3.5", "3.5"),
        (&["Which?", "--choice", "pg=PostgreSQL", "--choice", "sqlite"], "postgresql", "pg"),
        (&["Which?", "--choice", "pg=PostgreSQL", "--choice", "sqlite"], "2", "sqlite"),
        (&["Which?", "--choice", "pg=PostgreSQL", "--choice", "sqlite"], "pg", "pg"),
    ] {
        let ran = settled(arguments, &["answer", answer]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), &*format!("{printed}\n")));
        assert!(ran.stderr.lines().last().unwrap().starts_with("Question "), "{ran}");
    }
}

#[test]
fn declined_and_cancelled_have_codes_of_their_own() {
    let ran = settled(&["Name?"], &["decline", "--reason", "no idea"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(10), ""));
    let ran = settled(&["Name?"], &["cancel"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(11), ""));
}

#[test]
fn expired_and_defaulted_have_codes_of_their_own() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["ask", "Name?", "--timeout", "1s"]), @r"
    exit 12
    --- stderr
    Made the data folder [DIR]/data.
    Question [ULID].0 waits. Answer it with: demur answer [ULID].0 ANSWER
    Nobody answered in time.
    ");
    let late = sandbox.run(&["answer", "last", "ada"]);
    assert!(late.expect_code(3).stderr.contains(".0 is over: nobody answered in time."), "{late}");
    let arguments = ["ask", "Deploy?", "--kind", "yes-no", "--timeout", "1s", "--default", "no"];
    assert_snapshot!(sandbox.run(&arguments), @r"
    exit 13
    --- stdout
    no
    --- stderr
    Question [ULID].0 waits. Answer it with: demur answer [ULID].0 ANSWER
    Nobody answered in time. The default holds.
    ");
}

#[test]
fn programs_get_the_whole_question() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?", "--json"]);
    sandbox.run(&["answer", &asker.id, "ada", "--note", "as agreed"]).expect_code(0);
    let id = asker.id.clone();
    let ran = asker.ended(&sandbox);
    let reply: serde_json::Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!(reply["question"]["id"], *id);
    assert_eq!(reply["question"]["outcome"]["value"], "ada");
    assert_eq!(reply["question"]["outcome"]["note"], "as agreed");
    assert!(reply.get("secret").is_none());
}

#[test]
fn question_outlives_whoever_does_not_wait() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?", "--context", "for the robot", "--as", "builder"]);
    assert_snapshot!(sandbox.run(&["show", &id]), @r"
    exit 0
    --- stdout
    Name?
      id        [ULID].0
      asked by  builder at [TIME]
      weight    must be answered
      context   for the robot
      answer    any text
      until     as long as it takes
      needs     a person, through any program: `demur answer [ULID].0 ANSWER`
      state     open
    ");
    sandbox.run(&["answer", &id, "ada"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["outcome"]["value"], "ada");
    assert_snapshot!(sandbox.run(&["inbox", "--list"]), @r"
    exit 0
    --- stdout
    Nothing waits. `demur inbox` shows a question as soon as somebody asks it.
    ");
}

#[test]
fn question_comes_over_standard_input() {
    let sandbox = Sandbox::new();
    let ran = sandbox.feed(&["ask", "-", "--no-wait"], b"Which colour?\n");
    assert_eq!(shown(&sandbox, ran.expect_code(0).stdout.trim())["question"], "Which colour?");
}

#[test]
fn passing_says_to_whom() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "robot", "--role", "answerer"]).expect_code(0);
    let passed = |to: &[&str]| {
        let id = asked_of_anybody(&sandbox, "Name?");
        sandbox.run(&[&["pass", id.as_str()], to].concat()).expect_code(0).stdout.clone()
    };
    assert_eq!(passed(&["--to", "robot"]), "Done: passed to robot\n");
    assert_eq!(
        passed(&["--to", "robot", "--people"]),
        "Done: passed to robot. All people can still answer.\n"
    );
    assert_eq!(passed(&["--people"]), "Done: passed to people\n");
}

/// ONE-02: whoever comes second hears who was first.
#[test]
fn second_answer_is_told_who_was_first() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?"]);
    assert_snapshot!(sandbox.run(&["answer", &id, "ada"]), @r#"
    exit 0
    --- stdout
    Done: "Name?" is answered by [USER] at [TIME] (same user): ada
    "#);
    assert_snapshot!(sandbox.run(&["answer", &id, "ada"]), @r#"
    exit 0
    --- stdout
    Done: "Name?" is answered by [USER] at [TIME] (same user): ada. It was so before; nothing was recorded now.
    "#);
    assert_snapshot!(sandbox.run(&["answer", &id, "bob"]), @r"
    exit 3
    --- stderr
    error: Too late for [ULID].0: it was answered by [USER] at [TIME] (same user): ada. Nothing was recorded now.
    hint: `demur show [ULID].0` shows the question
    ");
    let error = sandbox.json_error(&["decline", &id], 3);
    assert_eq!(error["code"], "ALREADY_ANSWERED");
}

#[test]
fn answer_that_does_not_fit_leaves_the_question_open() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Sure?", "--kind", "yes-no"]);
    assert_snapshot!(sandbox.run(&["answer", &id, "perhaps"]), @r#"
    exit 2
    --- stderr
    error: expected yes or no, found "perhaps"
    hint: the question is still open; `demur show [ULID].0` shows what fits
    "#);
    assert_eq!(shown(&sandbox, &id)["state"], "open");
}

#[test]
fn time_can_be_added() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?", "--timeout", "1h"]);
    let before = shown(&sandbox, &id)["deadline"].as_str().unwrap().to_owned();
    sandbox.run(&["extend", &id, "10m", "--reason", "lunch"]).expect_code(0);
    assert!(shown(&sandbox, &id)["deadline"].as_str().unwrap() > before.as_str());
}

#[test]
fn question_can_be_left_to_holders_of_keys() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "robot", "--role", "answerer"]).expect_code(0);
    let id = asked_of_anybody(&sandbox, "Name?");
    sandbox.run(&["pass", &id, "--to", "robot"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["people"], false);
    let error = sandbox.json_error(&["answer", &id, "ada"], 3);
    assert_eq!(error["code"], "NOT_ENTITLED");
    sandbox.json_error(&["pass", &id, "--to", "nobody"], 2);
    // A question that wants a person's word cannot be left to keys alone.
    let id = asked(&sandbox, &["Sure?"]);
    let error = sandbox.json_error(&["pass", &id, "--to", "robot"], 3);
    assert_eq!(error["code"], "PERSON_NEEDED");
    assert!(error["hint"].as_str().unwrap().contains(&format!("demur pass {id} --people")), "{error}");
    sandbox.run(&["pass", &id, "--to", "robot", "--people"]).expect_code(0);
}

/// What an asker writes moves no cursor and reorders nothing.
#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let sandbox = Sandbox::new();
    let words = ["Delete\u{1b}[2J it\u{202e}?", "--context", "a\rb"];
    // Nobody is recorded under a name that hides something; what was typed is not repeated either.
    let refused = sandbox.run(&[&["ask"], &words[..], &["--as", "me\u{7}"]].concat());
    assert!(refused.expect_code(2).stderr.contains("found U+0007"), "{refused}");
    assert!(!refused.stderr.contains('\u{7}'), "{refused}");
    let id = asked(&sandbox, &words);
    for ran in [sandbox.run(&["show", &id]), sandbox.run(&["inbox", "--list"])] {
        assert!(ran.expect_code(0).stdout.contains(r"Delete\u{1b}[2J it\u{202e}?"), "{ran}");
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}', '\r']), "{ran}");
    }
}

#[test]
fn a_question_is_passed_to_a_key_or_a_person_by_name() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "robot", "--role", "answerer"]).expect_code(0);
    sandbox.run(&["people", "add", "Finn", "--role", "answerer"]).expect_code(0);
    sandbox.run(&["people", "add", "Rita", "--role", "auditor"]).expect_code(0);
    let id = asked_of_anybody(&sandbox, "Who knows?");
    // A key alone: people cannot answer any more.
    sandbox.run(&["pass", &id, "--to", "robot"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["people"], false);
    let id = asked_of_anybody(&sandbox, "Who else?");
    sandbox.run(&["pass", &id, "--to", "finn"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["people"], true);
    let told = sandbox.run(&["trace", "show", &id[..26]]).expect_code(0).stdout.clone();
    assert!(told.contains("for finn"), "{told}");
    sandbox.run(&["pass", &id, "--to", "robot", "--to", "Finn", "--reason", "either"]).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["people"], true);
    let told = sandbox.run(&["trace", "show", &id[..26]]).expect_code(0).stdout.clone();
    assert!(told.contains("for Finn: either"), "{told}");
    let long = "x".repeat(4096);
    let error = sandbox.json_error(&["pass", &id, "--to", "Finn", "--reason", &long], 2);
    assert_eq!((&error["code"], &error["field"]), (&"MALFORMED".into(), &"reason".into()), "{error}");
    for (name, exit, code) in [("nobody", 2, "KEY_UNKNOWN"), ("Rita", 3, "NOT_ENTITLED")] {
        let error = sandbox.json_error(&["pass", &id, "--to", name], exit);
        assert_eq!(error["code"], code);
        assert!(error["hint"].as_str().unwrap().contains("demur people list"), "{error}");
    }
    sandbox.run(&["answer", &id, "I do"]).expect_code(0);
}

#[test]
fn mistakes_on_the_command_line_ask_nothing() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["ask"][..],
        &["ask", ""],
        &["ask", " \t\n"],
        &["ask", "\u{200b}\u{feff}\u{2800}"],
        &["ask", "Which?", "--choice", "one"],
        &["ask", "Which?", "--kind", "choice"],
        &["ask", "Which?", "--kind", "number", "--choice", "a", "--choice", "b"],
        &["ask", "Which?", "--default", "a"],
        &["ask", "Sure?", "--kind", "yes-no", "--timeout", "1m", "--default", "perhaps"],
        &["ask", "Which?", "--choice", "a", "--choice", "b", "--timeout", "1m", "--default", "c"],
        &["ask", "Name?", "--timeout", "soon"],
        &["ask", "Name?", "--timeout", "0s"],
        &["ask", "Name?", "--secret", "--default", "x", "--timeout", "1m"],
        &["extend", "01ARZ3NDEKTSV4RRFFQ69G5FAV.0", "soon"],
    ] {
        let error = sandbox.json_error(arguments, 2);
        assert_eq!(error["code"], "USAGE", "{arguments:?}");
    }
    assert_eq!(sandbox.json_error(&["show", "nothing"], 2)["code"], "NO_DATA");
    assert!(!sandbox.data().exists(), "a mistake started a server");
}

/// Somebody who names a question by `last` sees which one it was.
#[test]
fn what_was_done_names_the_question() {
    let sandbox = Sandbox::new();
    let long = format!("Deploy\n   {}?", "now ".repeat(40));
    for (words, act, said) in [
        ("Blue?", &["answer", "last", "yes"][..], "Done: \"Blue?\" is answered by "),
        ("Red?", &["decline", "last"], "Done: \"Red?\" is declined by "),
        ("Green?", &["cancel", "last"], "Done: \"Green?\" is cancelled by "),
        (
            &long,
            &["answer", "last", "no"],
            "Done: \"Deploy now now now now now now now now now now now now now n...\" is ",
        ),
    ] {
        asked(&sandbox, &[words]);
        let done = sandbox.run(act);
        assert!(done.expect_code(0).stdout.starts_with(said), "{done}");
    }
}

#[test]
fn choices_that_look_alike_are_refused() {
    let sandbox = Sandbox::new();
    let error = sandbox.json_error(&["ask", "Sure?", "--choice", "yes", "--choice", "yes ", "--no-wait"], 2);
    assert_eq!(error["code"], "CHOICES_ALIKE", "{error}");
    assert_eq!(error["message"], "expected choices that differ, found \"yes\" twice");
}

#[test]
fn blank_question_is_refused_with_one_sentence() {
    let sandbox = Sandbox::new();
    for words in ["", " \t", "\u{200b}\u{2060}"] {
        let error = sandbox.json_error(&["ask", words], 2);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.ends_with(
                "expected a question with a letter or a number, found none: say what you want to know"
            ),
            "{error}"
        );
    }
    assert!(!sandbox.data().exists());
}

#[test]
fn kinds_are_read_in_every_spelling_and_shown_in_one() {
    let sandbox = Sandbox::new();
    for (typed, shows) in [
        ("freetext", "text"),
        ("free_text", "text"),
        ("yes_no", "yes-no"),
        ("yesno", "yes-no"),
        ("YesNo", "yes-no"),
        ("numeric", "number"),
    ] {
        let id = asked(&sandbox, &["What?", "--kind", typed]);
        assert_eq!(shown(&sandbox, &id)["kinds"], serde_json::json!([shows]));
    }
    let id = asked(&sandbox, &["What?", "--kind", "multiple_choice", "--choice", "a", "--choice", "b"]);
    assert_eq!(shown(&sandbox, &id)["kinds"], serde_json::json!(["choice"]));
}

#[test]
fn unknown_question_is_told() {
    let sandbox = Sandbox::with_keys();
    assert_snapshot!(sandbox.run(&["show", "01ARZ3NDEKTSV4RRFFQ69G5FAV.0"]), @r"
    exit 2
    --- stderr
    error: expected a question of this data folder, found none called [ULID].0
    hint: `demur inbox --list` shows what waits
    ");
}
