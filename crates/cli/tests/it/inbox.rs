//! `demur inbox` in a real terminal.

mod many;
pub(crate) mod terminal;

use std::process::Command;

use insta::assert_snapshot;
use terminal::Terminal;

use crate::{
    asker::{Asker, asked, asked_of_anybody, shown, until},
    sandbox::{Sandbox, count},
};

/// ONE-01: a question asked in a shell is answered at the inbox.
#[test]
fn answer_at_the_prompt_reaches_the_asker() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Which colour?"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.shows("1 question waits. Type its number to read it, or its number and your answer.");
    terminal.shows("1. Which colour? (from ask; must be answered; any text)");
    terminal.enter("1 deep blue");
    terminal.shows("Done: 1 is answered");
    terminal.line_is("");
    let trace = sandbox.run(&["trace", "show", &asker.id[..26]]);
    assert!(trace.expect_code(0).stdout.contains("delivered"), "it was put before somebody: {trace}");
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "deep blue\n");
}

#[test]
fn numbers_at_the_prompt_are_those_of_every_list() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["First?"]);
    asked(&sandbox, &["Second?"]);
    sandbox.run(&["inbox", "--list"]).expect_code(0);
    sandbox.run(&["answer", "1", "before"]).expect_code(0);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.shows("2. Second? (from ask; must be answered; any text)");
    terminal.enter("1 after");
    terminal.shows(": before. Nothing was recorded now. This one waits: 2.");
    // What only an earlier list showed is known by its number, too.
    terminal.enter("1");
    terminal.shows("answered by");
    let third = asked(&sandbox, &["Third?"]);
    terminal.shows("New: 3. Third? (from ask");
    sandbox.run(&["answer", "3", "blue"]).expect_code(0);
    terminal.shows("3 was answered");
    assert_eq!(shown(&sandbox, &third)["outcome"]["value"], "blue");
}

/// Words that the terminal breaks must not begin a line that looks like another question.
#[test]
fn words_cannot_pass_for_another_entry_of_a_list() {
    let sandbox = Sandbox::new();
    let words = format!("Deploy?{}2. Say hello? (must be answered, alice)", " ".repeat(70));
    asked(&sandbox, &[&words]);
    for command in ["inbox", "inbox --list"] {
        let script = format!(
            "DEMUR_DATA='{}' '{}' {command}; exec cat",
            sandbox.data().display(),
            env!("CARGO_BIN_EXE_demur")
        );
        let terminal = Terminal::running(&sandbox, &command.replace(' ', ""), 80, &script);
        let screen = terminal.shows("2. Say hello?");
        assert!(!screen.lines().any(|line| line.trim_start().starts_with("2.")), "{screen}");
    }
}

#[test]
fn list_does_not_wait_for_a_lock_that_somebody_holds() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Blue?"]);
    sandbox.run(&["inbox", "--list"]).expect_code(0);
    let held = std::fs::File::open(sandbox.data().join("numbers")).unwrap();
    held.lock().unwrap();
    let listed = sandbox.run(&["inbox", "--list"]);
    assert!(listed.expect_code(0).stdout.starts_with("- Blue?"), "{listed}");
    assert!(listed.stderr.contains("Ids stand in place of numbers"), "{listed}");
    assert_eq!(sandbox.json_error(&["show", "1"], 2)["code"], "NUMBERS_HELD");
}

#[test]
fn everything_can_be_done_at_the_prompt() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "robot", "--role", "answerer"]).expect_code(0);
    let ids = ["One?", "Two?", "Three?", "Four?", "Five?"].map(|words| asked_of_anybody(&sandbox, words));
    let before = shown(&sandbox, &ids[1])["deadline"].as_str().unwrap().to_owned();
    let terminal = Terminal::open(&sandbox, "inbox");
    for (line, said) in [
        ("1", "asked by  ask at"),
        ("d 1 no time", "Done: 1 is declined"),
        ("extend 2 10m", "Done: 2 is open until"),
        ("p 3 robot", "Done: 3 is open"),
        ("cancel 4", "Done: 4 is cancelled"),
        ("9 what", "No question here has the number 9."),
        ("paint it", "expected a number or one of the words that `?` shows, found \"paint\""),
        ("p 5 nobody", "error: "),
        ("?", "decline: nobody here will answer"),
    ] {
        terminal.enter(line);
        terminal.shows(said);
    }
    let state = |at: usize| shown(&sandbox, &ids[at]);
    assert_eq!((&state(0)["state"], &state(0)["outcome"]["note"]), (&"declined".into(), &"no time".into()));
    assert!(state(1)["deadline"].as_str().unwrap() > before.as_str());
    assert_eq!(state(2)["people"], false);
    assert_eq!(state(3)["state"], "cancelled");
    assert_eq!(state(4)["state"], "open");
    terminal.enter("q");
    let screen = terminal.shows("left with 0");
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
}

/// Never into what is being typed: the new question is above, the typed text intact, and Enter sends all of it.
#[test]
fn new_question_leaves_the_typed_line_alone() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["First?"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.types("1 half of an ans");
    terminal.line_is("1 half of an ans");
    asked(&sandbox, &["Second?"]);
    terminal.shows("New: 2. Second? (from ask");
    terminal.line_is("1 half of an ans");
    terminal.enter("wer");
    terminal.shows("Done: 1 is answered");
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "half of an answer\n");
}

#[test]
fn resize_leaves_the_typed_line_alone() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["First?"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    let words = "1 a long answer of many words that does not fit into forty columns";
    terminal.types(words);
    terminal.line_is(words);
    for columns in [40, 20, 100, 60, 80] {
        terminal.resize(columns);
        terminal.types("!");
        asked(&sandbox, &[&format!("At {columns}?")]);
        terminal.shows(&format!("At {columns}?"));
    }
    terminal.resize(120);
    terminal.line_is(&format!("{words}!!!!!"));
    terminal.enter("");
    terminal.shows("Done: 1 is answered");
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, format!("{}!!!!!\n", &words[2..]));
    // Whatever was said stands there whole.
    // tmux tells the program of a new width a moment later, so that lines may be broken for an earlier one.
    let said = terminal.screen().replace("\n  | ", " ").replace('\n', " ");
    assert!(said.contains("New: 6. At 80? (from ask; must be answered; any text)"), "{said}");
}

#[test]
fn keys_edit_the_line() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["First?"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.types("1 王小明 grün");
    terminal.press("BSpace");
    for key in ["Left", "Left", "Left", "Left", "Left", "Left"] {
        terminal.press(key);
    }
    terminal.types("大");
    terminal.press("C-e");
    terminal.types("n!");
    terminal.line_is("1 王大小明 grün!");
    terminal.press("C-c");
    terminal.line_is("");
    terminal.enter("? ");
    terminal.shows("decline: nobody here");
    terminal.press("Up");
    terminal.press("C-u");
    terminal.enter("1 yes");
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "yes\n");
    terminal.press("C-d");
    terminal.shows("left with 0");
}

#[test]
fn numbers_never_shift() {
    let sandbox = Sandbox::new();
    let ids = ["One?", "Two?", "Three?"].map(|words| asked(&sandbox, &[words]));
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.types("2 ");
    sandbox.run(&["answer", &ids[0], "by another door"]).expect_code(0);
    terminal.shows("1 was answered by");
    assert!(terminal.screen().contains(": by another door"));
    asked(&sandbox, &["Four?"]);
    terminal.shows("New: 4. Four?");
    terminal.enter("mine");
    terminal.shows("Done: 2 is answered");
    assert_eq!(shown(&sandbox, &ids[1])["outcome"]["value"], "mine");
    terminal.enter("l");
    let screen = terminal.shows("2 questions wait.");
    let listed = screen.split("2 questions wait.").nth(1).unwrap();
    assert!(listed.contains("\n3. Three?") && listed.contains("\n4. Four?"), "{screen}");
}

#[test]
fn answer_that_does_not_fit_says_what_fits() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which?", "--choice", "pg=PostgreSQL", "--choice", "sqlite"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.enter("1 oracle");
    terminal.shows("expected 1 (PostgreSQL) or 2 (sqlite), found \"oracle\"");
    assert_eq!(shown(&sandbox, &id)["state"], "open");
    terminal.enter("1 2");
    terminal.shows("Done: 1 is answered");
    assert_eq!(shown(&sandbox, &id)["outcome"]["value"], "sqlite");
}

#[test]
fn secret_is_typed_unseen() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Password?", "--secret"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.enter("1 hunter2");
    terminal.shows("Nothing was sent: type 1 alone");
    terminal.enter("1");
    terminal.shows("secret>");
    terminal.enter("correct horse");
    terminal.shows("Done: 1 is answered");
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "correct horse\n");
    assert!(!String::from_utf8_lossy(&terminal.written()).contains("horse"));
}

/// ONE-02: of two who answer at once, one is told who was faster.
#[test]
fn proof_two_inboxes_race_for_one_answer() {
    for _ in 0..count(2, 30) {
        let sandbox = Sandbox::new();
        let asker = Asker::ask(&sandbox, &["Name?"]);
        let terminals = ["left", "right"].map(|name| (name, Terminal::open(&sandbox, name)));
        for (name, terminal) in &terminals {
            terminal.types(&format!("1 {name}"));
            terminal.line_is(&format!("1 {name}"));
        }
        for (_, terminal) in &terminals {
            terminal.press("Enter");
        }
        let answer = asker.ended(&sandbox).expect_code(0).stdout.trim_end().to_owned();
        for (name, terminal) in &terminals {
            let said =
                if *name == answer { "Done: 1 is answered" } else { "Too late for 1: it was answered" };
            let screen = terminal.shows(said);
            assert!(screen.contains(&format!(": {answer}")), "{screen}");
        }
    }
}

#[test]
fn plain_terminal_gets_no_escapes_and_nothing_by_itself() {
    for variables in ["DEMUR_PLAIN=1", "TERM=dumb"] {
        let sandbox = Sandbox::new();
        let asker = Asker::ask(&sandbox, &["First?"]);
        let terminal = Terminal::with(&sandbox, "inbox", variables);
        terminal.types("1 y");
        asked(&sandbox, &["Second?", "--secret"]);
        terminal.enter("es");
        let screen = terminal.shows("Done: 1 is answered");
        // Nothing came in between.
        assert!(screen.contains("inbox> 1 yes\n"), "{screen}");
        assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "yes\n");
        until("Enter tells of it", || {
            terminal.enter("");
            terminal.screen().contains("New: 2. Second?").then_some(())
        });
        terminal.enter("2");
        terminal.shows("secret>");
        terminal.enter("hunter2");
        terminal.shows("Done: 2 is answered");
        terminal.enter("q");
        terminal.shows("left with 0");
        let written = terminal.written();
        assert!(!written.contains(&0x1b), "{}", String::from_utf8_lossy(&written));
        assert!(!String::from_utf8_lossy(&written).contains("hunter2"));
    }
}

#[test]
fn empty_inbox_says_what_happens_next() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.shows("Nothing waits. A question that somebody asks shows here at once.");
    asked(&sandbox, &["Name?"]);
    terminal.shows("New: 1. Name?");
}

#[test]
fn inbox_outlives_the_server() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["First?"]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.types("1 st");
    for words in ["Second?", "Third?"] {
        let process = sandbox.json(&["status"])["process"].to_string();
        assert!(Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
        asked(&sandbox, &[words]);
        terminal.shows(words);
    }
    terminal.line_is("1 st");
    terminal.enter("ill here");
    terminal.shows(": still here");
}

#[test]
fn words_of_the_asker_are_shown_and_not_obeyed() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.types("half");
    asked(&sandbox, &["Clear\u{1b}[2J\u{1b}[H all\r\n\u{202e}?", "--as", "]0;title"]);
    terminal.shows(r"New: 1. Clear\u{1b}[2J\u{1b}[H all");
    terminal.shows(r"  | \u{202e}?");
    terminal.shows("(from ]0;title;");
    terminal.line_is("half");
}

#[test]
fn list_prints_and_exits() {
    let sandbox = Sandbox::with_keys();
    assert_snapshot!(sandbox.run(&["inbox", "--list"]), @r"
    exit 0
    --- stdout
    Nothing waits. `demur inbox` shows a question as soon as somebody asks it.
    ");
    assert_eq!(sandbox.json(&["inbox", "--list"])["questions"], serde_json::json!([]));
    let id = asked(&sandbox, &["One?"]);
    asked(&sandbox, &["Two?"]);
    sandbox.run(&["answer", &id, "yes"]).expect_code(0);
    // Without a terminal it is the same.
    for arguments in [&["inbox", "--list"][..], &["inbox"]] {
        assert!(sandbox.run(arguments).expect_code(0).stdout.starts_with("1. Two?"));
    }
    let all = sandbox.json(&["inbox", "--list", "--all"]);
    let states: Vec<_> = all["questions"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["answered", "open"]);
}

#[test]
fn answers_in_a_pipe_are_not_dropped_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.run(&["ask", "Name?", "--no-wait"]).expect_code(0);
    let told = sandbox.feed(&["inbox"], b"1 blue\n");
    assert!(told.expect_code(0).stdout.starts_with("1. Name?"), "{told}");
    assert!(told.stderr.starts_with("Standard input was not read: "), "{told}");
    assert_eq!(sandbox.feed(&["inbox", "--list"], b"1 blue\n").stderr, "");
    assert_eq!(sandbox.run(&["inbox"]).stderr, "");
}
