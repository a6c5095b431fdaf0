//! An inbox with very many questions: there at once, and small.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use demur_api::question::Ask;
use demur_desk::{data::DataFolder, owner::Owner, question};
use demur_ledger::role::Role;

use super::terminal::Terminal;
use crate::sandbox::{Sandbox, count};

/// Asks very many questions at once, without a server.
fn ask_many(sandbox: &Sandbox, number: usize) {
    let (owner, _) = Owner::open_or_create(&DataFolder::at(sandbox.data())).unwrap();
    let author = Arc::new(owner.enrol("ask", Role::Agent).unwrap());
    std::thread::scope(|scope| {
        for part in 0..THREADS {
            let (owner, author) = (&owner, &author);
            scope.spawn(move || {
                for at in (part..number).step_by(THREADS) {
                    let words = format!("Question {at}?").try_into().unwrap();
                    question::ask(owner, author, &Ask::new(words), None).unwrap();
                }
            });
        }
    });
}

#[test]
fn proof_inbox_with_very_many_questions_is_there_at_once() {
    let sandbox = Sandbox::new();
    let number = count(1000, 10_000);
    ask_many(&sandbox, number);
    sandbox.run(&["inbox", "--list", "--json"]).expect_code(0);
    let start = Instant::now();
    let terminal = Terminal::open(&sandbox, "inbox");
    let took = start.elapsed();
    assert!(took < LONGEST, "it took {took:?}");
    terminal.shows(&format!("{number} questions wait."));
    let screen = terminal.shows("`m` shows more.");
    assert!(screen.contains("\n20. Question") && !screen.contains("\n21. Question"), "{screen}");
    terminal.enter("m");
    terminal.shows("\n40. Question");
    terminal.enter("33 yes");
    terminal.shows("Done: 33 is answered");
    let memory = memory(&sandbox);
    assert!(memory < LARGEST, "it takes {memory} KiB");
    let listed = sandbox.json(&["inbox", "--list"]);
    assert_eq!(listed["questions"].as_array().unwrap().len(), number - 1);
}

/// Returns how much memory the inbox had at most, in KiB.
fn memory(sandbox: &Sandbox) -> u64 {
    let of_inbox = |process: &u32| {
        fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.ends_with(b"demur\0inbox\0"))
    };
    let process = sandbox.processes().into_iter().find(of_inbox).unwrap();
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.split_whitespace().next().unwrap().parse().unwrap()
}

const THREADS: usize = 16;
/// With the start of the terminal, on a machine that does other things, too.
const LONGEST: Duration = Duration::from_secs(3);
const LARGEST: u64 = 32 << 10;
