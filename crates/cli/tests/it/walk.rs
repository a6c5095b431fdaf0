//! A new user's walk: every command of the README and of `docs/`, run in order in an empty home folder while a person
//! answers, in a pipe and on terminals; what is said is held against what the page shows.

mod foreign;
mod home;
pub(crate) mod page;
mod person;
mod prose;
mod transcript;
mod width;

use std::{
    fmt::Write as _,
    fs,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use self::{
    home::Home,
    page::{Block, Page},
};
use crate::{asker::until, inbox::terminal::Terminal, sandbox::Sandbox};

/// Where a page is walked.
#[derive(Clone, Copy)]
enum Place {
    Pipe,
    /// A terminal with this many columns.
    Terminal(u16),
}

#[test]
fn every_block_is_run_or_listed_with_a_reason() {
    let pages = Page::all();
    for page in &pages {
        let mislabelled = page.blocks.iter().find(|block| !block.is_what_it_says());
        let place = mislabelled.map(|block| format!("{}:{}: {}", page.name, block.line, block.text));
        assert_eq!(place, None, "mark commands as `sh`, and name a new language in walk/page.rs");
    }
    assert_eq!(foreign::stale(&pages), Vec::<&str>::new(), "these rows of walk/foreign.rs hold no more");
}

#[test]
fn pages_do_in_a_pipe_what_they_show() {
    for page in Page::all() {
        walk(&page, Place::Pipe);
    }
}

#[test]
fn pages_do_on_a_terminal_of_80_columns_what_they_show() {
    for page in Page::all() {
        walk(&page, Place::Terminal(80));
    }
}

#[test]
fn pages_do_on_a_terminal_of_40_columns_what_they_show() {
    for page in Page::all() {
        walk(&page, Place::Terminal(40));
    }
}

/// Runs every command of a page, and holds what is said against the page.
fn walk(page: &Page, place: Place) {
    let blocks: Vec<&Block> =
        page.commands().filter(|block| foreign::reason(page, block).is_none()).collect();
    if blocks.is_empty() || WALKED_ELSEWHERE.contains(&page.name.as_str()) {
        return;
    }
    let home = Home::new();
    let file = home.path("walk.sh");
    fs::write(&file, script(&home, &blocks, place)).unwrap();
    let done = AtomicBool::new(false);
    let said = thread::scope(|scope| {
        scope.spawn(|| person::answer(&home, &blocks, &done));
        // It ends with the walk, however that ends.
        let _end = Done(&done);
        match place {
            Place::Pipe => piped(&home, page),
            Place::Terminal(columns) => on_terminal(&home, columns),
        }
    });
    let parts: Vec<&str> = said.split(MARK).skip(1).collect();
    let (end, parts) = parts.split_last().unwrap();
    assert!(end.starts_with(" ended with 0"), "{} ended early:\n{said}", page.name);
    for (block, part) in blocks.iter().zip(parts) {
        let Some(shown) = &block.shown else { continue };
        let (part, shown) = (home.mask(part.trim_start()), home.mask(shown));
        let fits = match place {
            Place::Pipe => fits(&shown.lines().collect::<Vec<_>>(), &part.lines().collect::<Vec<_>>()),
            Place::Terminal(_) => holds(&shown, &part),
        };
        assert!(fits, "{}:{} shows\n{shown}\nand there was\n{part}", page.name, block.line);
    }
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Returns one script of all that is run, with a mark before what each block says.
fn script(home: &Home, blocks: &[&Block], place: Place) -> String {
    let mut script = format!("set -euo pipefail\ntrap 'echo \"{MARK} ended with $?\"' EXIT\n");
    for (block, at) in blocks.iter().zip(1..) {
        writeln!(script, "echo '{MARK}'").unwrap();
        if block.language == "python" {
            let file = home.path(&format!("block-{at}.py"));
            fs::write(&file, &block.text).unwrap();
            writeln!(script, "python3 '{}'", file.display()).unwrap();
        } else {
            block.text.lines().for_each(|line| writeln!(script, "{}", expecting_at(line, place)).unwrap());
        }
    }
    script
}

/// Returns a line as it ends here: in a pipe nobody is there to be asked.
fn expecting_at(line: &str, place: Place) -> String {
    let asks = line.starts_with("demur setup ") && !line.contains("--yes") && !line.contains("exit code ");
    match place {
        Place::Pipe if asks => expecting(&format!("{line} # exit code 2")),
        Place::Pipe | Place::Terminal(_) => expecting(line),
    }
}

/// Returns a line that fails unless it ends as the page says: with the exit code that its comment names, or with 0.
pub(crate) fn expecting(line: &str) -> String {
    let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
    let named = comment.split_once("exit code ").map(|(_, code)| code.split(|c: char| !c.is_ascii_digit()));
    let Some(code) = named.and_then(|mut digits| digits.next()) else { return line.to_owned() };
    format!("if {command}; then echo 'expected exit code {code}' >&2; false; else test $? = {code}; fi")
}

/// Runs the script with its output in a pipe; returns what it said.
fn piped(home: &Home, page: &Page) -> String {
    let mut timeout = home.command("timeout");
    timeout.args(["300", "bash"]).arg(home.path("walk.sh")).stdin(Stdio::null());
    let ran = home.sandbox.ran(timeout.output().unwrap());
    ran.expect_code(0);
    for text in [&ran.stdout, &ran.stderr] {
        let is_plain = |character: char| character == '\n' || !character.is_control();
        assert!(text.chars().all(is_plain), "{}: control characters in a pipe: {text:?}", page.name);
    }
    ran.stdout
}

/// Runs the script on a terminal, with a person before it; returns what was to be seen.
fn on_terminal(home: &Home, columns: u16) -> String {
    let variables: Vec<String> = home.variables().iter().map(|variable| format!("'{variable}'")).collect();
    let (folder, file) = (home.checkout(), home.path("walk.sh"));
    let script = format!(
        "cd '{}'; env -i {} bash '{}'; exec cat",
        folder.display(),
        variables.join(" "),
        file.display()
    );
    let terminal = Terminal::running(&home.sandbox, "walk", columns, &script);
    person::sit(&terminal, &format!("{MARK} ended with"))
}

/// Returns whether what was said is what is shown; `...` stands for any lines.
pub(crate) fn fits(shown: &[&str], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((&"...", rest)) => (0..=said.len()).any(|at| fits(rest, &said[at..])),
        Some((line, rest)) => {
            said.split_first().is_some_and(|(first, said)| first == line && fits(rest, said))
        }
    }
}

/// Returns whether all that is shown was to be seen, in this order: wherever lines were broken, and whatever a command
/// says to the person besides.
fn holds(shown: &str, said: &str) -> bool {
    let said: Vec<&str> = said.split_whitespace().collect();
    let mut from = 0;
    shown.lines().filter(|line| *line != "...").all(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = (from..=said.len()).find(|at| said[*at..].starts_with(&words));
        from = found.map_or(from, |at| at + words.len());
        found.is_some()
    })
}

/// The command of the unit starts a server, at another place.
#[test]
fn command_of_the_unit_starts_a_server() {
    let sandbox = Sandbox::new();
    let page = Page::read("docs/asking.md");
    let unit = page.blocks.iter().find(|block| block.language == "ini").unwrap();
    let line =
        unit.text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/demur ")).unwrap();
    let data = sandbox.data();
    let line = line.replace("/var/lib/demur", data.to_str().unwrap());
    // Its own port may be taken here.
    let arguments: Vec<&str> = line.split(' ').chain(["--port", "0"]).collect();
    let mut command = sandbox.command(&arguments);
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it answers", || sandbox.run(&["status"]).code.filter(|code| *code == 0));
    sandbox.run(&["stop"]).expect_code(0);
    assert!(server.wait().unwrap().success());
}

#[test]
fn what_is_shown_may_leave_lines_out_but_not_change_them() {
    assert!(fits(&["a", "...", "d"], &["a", "b", "c", "d"]) && fits(&["..."], &[]));
    assert!(!fits(&["a", "...", "d"], &["a", "b"]) && !fits(&["a"], &["a", "b"]));
    assert!(holds("one two\nfour", "one\ntwo three four") && !holds("four\none", "one two three four"));
}

pub(crate) const MARK: &str = "=== next block ===";
/// One needs root, and is followed in `two_users.rs`; the other follows a stream until somebody stops it, as the server's own tests do.
const WALKED_ELSEWHERE: [&str; 2] = ["docs/two-users.md", "docs/aaep.md"];
