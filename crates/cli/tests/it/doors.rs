//! The door harness: every way to ask against every way to answer, with real processes and real connections, and every two
//! ways to answer against each other (ONE-01, ONE-02). A new door adds its row to one of the two tables below; the page
//! `docs/doors.md` is made from what was seen here (`DEMUR_BLESS=1` writes it anew).

mod answering;
mod asking;
mod browser;
mod hall;
pub(crate) mod wire;

use std::{fmt::Write as _, fs, path::Path, sync::Barrier, thread};

use demur_ledger::attribution::assurance_of;
use serde_json::Value;

use self::{
    answering::{ANSWERING, AnsweringDoor, Said},
    asking::{ASKING, Words},
    hall::Hall,
};

/// ONE-01, ONE-02, ONE-07
#[test]
fn every_way_to_ask_meets_every_way_to_answer() {
    let hall = Hall::open();
    let mut page = String::from(BEGIN);
    for asking in &ASKING {
        write!(page, "| {} |", asking.name).unwrap();
        for answering in &ANSWERING {
            write!(page, " {} |", meet(&hall, asking.ask, answering, asking.allows)).unwrap();
        }
        page.push('\n');
    }
    page.push_str(END);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doors.md");
    if std::env::var_os("DEMUR_BLESS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == page,
        "docs/doors.md is not what the doors do: run the tests with DEMUR_BLESS=1 and look\n{page}"
    );
}

/// Asks through one door and answers through another; returns what the table says.
fn meet(hall: &Hall, ask: asking::AskFn, answering: &AnsweringDoor, allows: asking::Allows) -> String {
    let words = Words::new(answering.name);
    let waiting = ask(hall, &words);
    let id = hall.find(&words);
    let fits = allows(answering);
    match (answering.answer)(hall, &id, &words.answer) {
        Said::Answered => {
            assert!(fits, "{} must not answer {id}", answering.name);
            let shown = hall.show(&id);
            assert_eq!(shown["state"], "answered", "{shown}");
            assert_eq!(shown["outcome"]["assurance"], answering.assurance, "{shown}");
            assert_eq!(waiting.answer(), words.answer, "asked and answered through {}", answering.name);
            assurance_of(answering.assurance).to_owned()
        }
        Said::Refused { code, .. } => {
            assert!(!fits, "{} was refused with {code}", answering.name);
            assert_eq!(hall.show(&id)["state"], "open", "a refused answer changes nothing");
            hall.settle(&id, &words.answer);
            assert_eq!(waiting.answer(), words.answer);
            format!("refused: `{code}`")
        }
    }
}

/// ONE-02
#[test]
fn proof_every_two_ways_to_answer_race_and_one_wins() {
    let people: Vec<&AnsweringDoor> = ANSWERING.iter().filter(|door| door.races).collect();
    for round in 0..crate::sandbox::count(1, 20) {
        // One person may not act as often in a browser as this does.
        let hall = Hall::open();
        for one in &people {
            for other in &people {
                race(&hall, one, other, round);
            }
        }
    }
}

fn race(hall: &Hall, one: &AnsweringDoor, other: &AnsweringDoor, round: usize) {
    let words = Words::new(&format!("{} against {} {round}", one.name, other.name));
    let waiting = (ASKING[1].ask)(hall, &words);
    let (id, start) = (hall.find(&words), Barrier::new(2));
    let said = thread::scope(|scope| {
        let answers = [(one, "left"), (other, "right")];
        let runs = answers.map(|(door, answer)| {
            let (start, id) = (&start, &id);
            scope.spawn(move || {
                start.wait();
                (answer, (door.answer)(hall, id, answer))
            })
        });
        runs.map(|run| run.join().unwrap())
    });
    let won: Vec<_> = said.iter().filter(|(_, said)| matches!(said, Said::Answered)).collect();
    let shown: Value = hall.show(&id);
    assert_eq!(won.len(), 1, "{} against {}: {said:?} {shown}", one.name, other.name);
    assert_eq!(shown["outcome"]["value"], won[0].0, "{shown}");
    assert_eq!(waiting.answer(), won[0].0);
    let lost = said.iter().find_map(|(_, said)| match said {
        Said::Refused { code, told } => Some((code.as_str(), told)),
        Said::Answered => None,
    });
    let (code, told) = lost.unwrap();
    assert_eq!(code, "ALREADY_ANSWERED", "whoever comes second is told");
    // Who was first, and with which words, through every one of them.
    let by = shown["outcome"]["by"].as_str().unwrap_or_default();
    assert!(told.contains(won[0].0) && told.contains(by), "{}, {}: {told}", one.name, other.name);
}

const BEGIN: &str = "\
# Doors

A question asked through any door can be answered through any other, by anybody who may answer it. The table is made by a test
that does exactly that, with the command itself, in a terminal, with the forms of the web inbox, as an MCP client, over TCP and over
the Unix socket. A cell says with which assurance the answer is recorded (*same user* is `terminal` in files), or why it is refused;
what is refused changes nothing.

| asked through | `demur answer` | `demur inbox` | web inbox | HTTP, Unix socket | HTTP, `relay` token | MCP, client's user | HTTP, `answer` token |
|---|---|---|---|---|---|---|---|
";

const END: &str = "
The `relay` token of the table names the person whose words it passes on (`--for`); of what it was not made for it hears
`QUESTION_UNKNOWN` ([tokens](asking.md#running-it-for-others)).

Every two ways to answer that people have also race for one question, both ways round: one wins, and the other is told who
was first, when and how (`ALREADY_ANSWERED`).

A key is no person: a question that was put to people is not settled by an agent's key. A question that was put to anybody
is, and the record keeps the two apart.
";
