//! The quick reader of lines beside the one that has the word: where a line can be cut, both say the same, and
//! every good line of a known type can be cut. Lines of our own exports, of the golden file, of the attack corpus,
//! and all of these damaged.
#![expect(clippy::disallowed_methods, reason = "tests read the committed files")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use demur_core::{canonical, limit::Limits, random::Seeded};
use demur_ledger::{
    event_type::TypeName,
    export::{
        EventLine, Line,
        cut::{self, CutEvent},
    },
    proof::Proof,
};

use crate::{
    export::{eventful, export},
    fuzz::{below, damaged},
    world::rounds,
};

/// Returns every line of the committed exports and of one made here, each once.
fn lines() -> BTreeSet<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ledger");
    let attacks = fs::read_dir(folder.join("attacks/files")).unwrap().map(|entry| entry.unwrap().path());
    let files = attacks.chain([folder.join("golden/run.jsonl")]).map(|path| fs::read(path).unwrap());
    let (world, artifacts) = eventful();
    let split = |file: Vec<u8>| file.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    files.chain([export(&world, &artifacts)]).flat_map(split).collect()
}

/// Compares both ways to read a line; returns whether it was cut.
fn compare(line: &[u8]) -> bool {
    let words = || String::from_utf8_lossy(line);
    match (cut::event_line(line), cut::artifact_line(line), Line::parse(line)) {
        (Some(cut), None, Ok(Line::Event(read))) => assert!(same(&cut, &read), "{}", words()),
        (None, Some(cut), Ok(Line::Artifact(read))) => {
            let parts = (cut.bytes, cut.disclosure, cut.event, cut.salt);
            assert_eq!(parts, (read.bytes, read.disclosure, read.event, read.salt), "{}", words());
        }
        (None, None, Ok(Line::Event(read))) => {
            assert!(!is_usual(&read), "a good event line was not cut: {}", words());
            return false;
        }
        (None, None, Ok(Line::Artifact(read))) => {
            panic!("a good artifact line was not cut: {read:?}");
        }
        (None, None, _) => return false,
        (event, artifact, read) => panic!("cut as {event:?} {artifact:?}, read as {read:?}: {}", words()),
    }
    true
}

fn same(cut: &CutEvent<'_>, read: &EventLine<'_>) -> bool {
    let event = read.event().unwrap();
    let bounded =
        cut.content.is_none_or(|content| canonical::check(content.as_bytes(), &Limits::CONTENT).is_ok());
    bounded
        && cut.envelope == *event.envelope()
        && cut.bytes == event.bytes()
        && cut.statement == event.statement_bytes()
        && cut.hash() == *event.hash()
        && cut.content.map(str::as_bytes) == read.content().unwrap()
        && (cut.disclosure, cut.salt) == (read.disclosure, read.salt)
}

/// Returns whether the event can be read, is of a type of this version, and its content is within the limits.
fn is_usual(line: &EventLine<'_>) -> bool {
    let Ok(event) = line.event() else { return false };
    let kinds = [
        event.envelope().statement.as_ref().map(|statement| &statement.kind),
        event.envelope().record.as_ref().map(|record| &record.kind),
    ];
    let known = kinds.into_iter().flatten().all(|kind| matches!(kind, TypeName::Known(_)));
    let content = line.content.map(|content| content.get().as_bytes());
    // Proofs that are rare, or of later versions, are read the other way.
    let usual = matches!(event.envelope().proof, Proof::Ed25519(_) | Proof::None);
    known && usual && content.is_none_or(|content| canonical::check(content, &Limits::CONTENT).is_ok())
}

#[test]
fn good_lines_are_cut_and_cut_lines_are_good() {
    let lines = lines();
    let cut = lines.iter().filter(|line| compare(line)).count();
    assert!(cut > 1000, "only {cut} of {} lines were cut", lines.len());
}

#[test]
fn every_line_of_a_sound_export_is_cut_but_those_that_stand_once() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let uncut = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !compare(line));
    for line in uncut {
        let name = Line::parse(line).unwrap();
        assert!(!matches!(name, Line::Event(_) | Line::Artifact(_)), "{name:?} was not cut");
    }
}

/// Returns a line of a sound export that begins like this.
fn line_of(start: &str) -> String {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    file.lines().find(|line| line.starts_with(start)).unwrap().to_owned()
}

#[test]
fn a_number_is_cut_exactly_where_it_is_read() {
    let (artifact, event) = (line_of("{\"artifact\":"), line_of("{\"event\":"));
    let place = artifact.find("\"event\":").unwrap() + 8;
    let end = place + artifact[place..].find(',').unwrap();
    // There is no epoch before the first, and no event after the last number.
    let (first, last) = ("0", "9007199254740991");
    let good = [first, "1", "10", "9007199254740990", last];
    let bad = ["", "00", "01", "09007199254740991", "-1", "1.0", "1e3", "9007199254740992"];
    let long = ["9999999999999999", "10000000000000000", "18446744073709551616"];
    for number in good.iter().chain(&bad).chain(&long) {
        let read = good.contains(number);
        let line = format!("{}{number}{}", &artifact[..place], &artifact[end..]);
        assert_eq!(compare(line.as_bytes()), read && *number != last, "artifact of event {number:?}");
        let line = event.replacen("\"epoch\":1,", &format!("\"epoch\":{number},"), 1);
        assert_eq!(compare(line.as_bytes()), read && *number != first, "epoch {number:?}");
    }
}

#[test]
fn nothing_may_follow_a_line() {
    for start in ["{\"event\":", "{\"artifact\":"] {
        let line = line_of(start);
        assert!(compare(line.as_bytes()));
        for more in [" ", "}", "0", "\0", ",{}"] {
            assert!(!compare(format!("{line}{more}").as_bytes()), "{more:?} after {line}");
        }
    }
}

#[test]
fn fuzz_damaged_lines_are_cut_only_where_they_are_read() {
    let lines: Vec<Vec<u8>> = lines().into_iter().collect();
    let mut random = Seeded::from_number(12);
    let mut cut = 0;
    for round in 0..rounds(5_000_000, 30_000) {
        let line = &lines[below(&mut random, lines.len())];
        let mut line = damaged(line, &mut random);
        if round % 2 == 0 && !line.is_empty() {
            // A digit for whatever stands there: often the line stays good, and sometimes only nearly.
            let place = below(&mut random, line.len());
            line[place] = b"0123456789abcdefABGXYZ\"\\n."[below(&mut random, 26)];
        }
        cut += usize::from(compare(&line));
    }
    assert!(cut > 100, "{cut} damaged lines were cut: too few to test anything");
}
