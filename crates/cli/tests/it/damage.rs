//! Registry files that were damaged: each is told by line, with exit code 2, and nothing is changed.

use std::{fmt::Write as _, fs, os::unix::fs::symlink};

use demur_core::random::{Random as _, Seeded};
use insta::assert_snapshot;

use crate::sandbox::{Sandbox, count, redact};

/// A way to damage a file.
type Damage = fn(&str) -> String;

const DAMAGES: &[(&str, Damage)] = &[
    ("empty", |_| String::new()),
    ("one line feed", |_| "\n".to_owned()),
    ("garbage", |_| "\u{1}\u{2}garbage\n".to_owned()),
    ("another JSON file", |_| "{\"name\":\"demur\"}\n".to_owned()),
    ("cut in the last line", |text| text[..text.len() - 10].to_owned()),
    ("without its last line feed", |text| text.trim_end().to_owned()),
    ("without its checkpoint", |text| without(text, 5)),
    ("without its head", |text| without(text, 4)),
    ("without an event", |text| without(text, 2)),
    ("without its header", |text| without(text, 0)),
    ("two events exchanged", |text| {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.swap(2, 3);
        lines.concat()
    }),
    ("an event twice", |text| {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.insert(3, lines[2]);
        lines.concat()
    }),
    ("a line more", |text| format!("{text}{}", text.lines().next().unwrap())),
    ("another name", |text| text.replace("{\"name\":\"alice\"}", "{\"name\":\"mallory\"}")),
    ("another role", |text| text.replace("[\"planner\"]", "[\"auditor\"]")),
    ("another time", |text| text.replacen("time\":\"20", "time\":\"21", 1)),
    ("another program's name", |text| text.replacen("\"demur ", "\"Demur ", 1)),
    ("a digit of the checkpoint's signature", |text| {
        let (rest, signature) = text.rsplit_once("\"signature\":\"").unwrap();
        let digit = if signature.starts_with('0') { '1' } else { '0' };
        format!("{rest}\"signature\":\"{digit}{}", &signature[1..])
    }),
    ("a blank after a colon", |text| text.replacen("\":", "\": ", 1)),
    ("line ends of another system", |text| text.replace('\n', "\r\n")),
    ("an unknown member", |text| text.replacen("\"format\":1,", "\"format\":1,\"mood\":1,", 1)),
    ("a newer format", |text| text.replacen("\"format\":1,", "\"format\":2,", 1)),
    ("a newer format of another shape", |text| {
        text.replacen("{\"header\":{\"format\":1,", "{\"header\":{\"all\":1,\"format\":3,", 1)
    }),
];

fn without(text: &str, line: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate().filter(|(number, _)| *number != line);
    lines.map(|(_, line)| line).collect()
}

#[test]
fn every_damage_is_told_by_line_and_changes_nothing() {
    let sandbox = Sandbox::with_keys();
    let whole = fs::read_to_string(sandbox.registry()).unwrap();
    let mut told = String::new();
    for (name, damage) in DAMAGES {
        let damaged = damage(&whole);
        assert_ne!(damaged, whole, "{name}");
        fs::write(sandbox.registry(), &damaged).unwrap();
        let before = sandbox.contents();
        let error = sandbox.json_error(&["keys", "list"], 2);
        let writing = sandbox.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
        assert_eq!(error, writing, "{name}");
        assert_eq!(sandbox.contents(), before, "{name}");
        let message = error["message"].as_str().unwrap();
        let message = message.split_once("registry.jsonl, ").unwrap().1;
        writeln!(told, "{name}: {}: {}", error["code"].as_str().unwrap(), redact(message)).unwrap();
    }
    assert_snapshot!(told, @r"
    empty: REGISTRY_DAMAGED: line 1: this is not a demur export, or only the very beginning of one: it ends before its header does
    one line feed: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected a value, found the end at byte 0
    garbage: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected a value, found byte 0x01 at byte 0
    another JSON file: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected another shape (unknown variant `name`, expected one of `header`, `event`, `artifact`, `head`, `inclusion`, `checkpoint` at line 1 column 7) at byte 7
    cut in the last line: REGISTRY_DAMAGED: line 6: the file ends inside a line
    without its last line feed: REGISTRY_DAMAGED: line 6: the file ends inside a line
    without its checkpoint: REGISTRY_DAMAGED: line 6: the file ends before its checkpoint
    without its head: REGISTRY_DAMAGED: line 5: expected an event of the registry or its head
    without an event: REGISTRY_DAMAGED: line 3: the author had seen another event 1 than the one in the file
    without its header: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a header in the first line
    two events exchanged: REGISTRY_DAMAGED: line 3: the author had seen another event 1 than the one in the file
    an event twice: REGISTRY_DAMAGED: line 4: expected event 2, found event 1
    a line more: REGISTRY_DAMAGED: line 7: expected nothing after the checkpoint
    another name: REGISTRY_DAMAGED: line 3: content and salt do not open the commitment
    another role: REGISTRY_DAMAGED: line 3: the signature over the statement does not hold
    another time: REGISTRY_DAMAGED: line 1: the header names another store than the registry
    another program's name: REGISTRY_DAMAGED: line 6: the bytes before the checkpoint are not those the desk signed
    a digit of the checkpoint's signature: REGISTRY_DAMAGED: line 6: the checkpoint has a signature that does not hold
    a blank after a colon: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected canonical JSON without whitespace, found byte 0x20 at byte 10
    line ends of another system: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected canonical JSON without whitespace, found byte 0x0d at byte 160
    an unknown member: REGISTRY_DAMAGED: line 1: this is not a demur export: expected a line of a demur export in canonical JSON: expected another shape (unknown field `mood`, expected one of `format`, `software`, `store`, `trace` at line 1 column 28) at byte 28
    a newer format: FORMAT_NEWER: line 1: expected format 1, found format 2
    a newer format of another shape: FORMAT_NEWER: line 1: expected format 1, found format 3: use a newer version of demur
    ");
    fs::write(sandbox.registry(), whole).unwrap();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

#[test]
fn damage_reads_as_one_sentence_and_a_cure() {
    let sandbox = Sandbox::with_keys();
    let whole = fs::read_to_string(sandbox.registry()).unwrap();
    fs::write(sandbox.registry(), whole.replace("alice", "malice")).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: [DIR]/data/registry.jsonl, line 3: content and salt do not open the commitment
    hint: nothing was changed; restore the file from a backup, or use another data folder
    ");
    fs::write(sandbox.registry(), whole.replacen("\"format\":1", "\"format\":2", 1)).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: [DIR]/data/registry.jsonl, line 1: expected format 1, found format 2
    hint: nothing was changed; install the version of demur that wrote this file
    ");
}

#[test]
fn folder_or_loop_in_its_place_is_told() {
    let sandbox = Sandbox::with_keys();
    fs::remove_file(sandbox.registry()).unwrap();
    fs::create_dir(sandbox.registry()).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: expected [DIR]/data/registry.jsonl to be a file, found something else
    hint: nothing was changed; restore the file from a backup, or use another data folder
    ");
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(2);
    fs::remove_dir(sandbox.registry()).unwrap();
    symlink("registry.jsonl", sandbox.registry()).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: cannot read [DIR]/data/registry.jsonl: Too many levels of symbolic links (os error 40)
    ");
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(2);
    assert!(sandbox.registry().is_symlink());
}

#[test]
fn head_and_checkpoint_of_an_earlier_day_do_not_fit() {
    let sandbox = Sandbox::with_keys();
    let earlier = fs::read_to_string(sandbox.registry()).unwrap();
    sandbox.run(&["keys", "revoke", "bob", "--reason", "compromised"]).expect_code(0);
    let now = fs::read_to_string(sandbox.registry()).unwrap();
    for back in [1, 2] {
        let line = |text: &str| text.lines().nth_back(back - 1).unwrap().to_owned();
        fs::write(sandbox.registry(), now.replace(&line(&now), &line(&earlier))).unwrap();
        let error = sandbox.json_error(&["keys", "list"], 2);
        assert_eq!(error["code"], "REGISTRY_DAMAGED", "{error}");
    }
}

#[test]
fn events_of_another_store_do_not_fit() {
    let (one, other) = (Sandbox::with_keys(), Sandbox::with_keys());
    let text = fs::read_to_string(one.registry()).unwrap();
    let foreign = fs::read_to_string(other.registry()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = foreign.lines().nth(2).unwrap();
    fs::write(one.registry(), lines.join("\n") + "\n").unwrap();
    let error = one.json_error(&["keys", "list"], 2);
    assert!(error["message"].as_str().unwrap().contains("registry.jsonl, line 3: "), "{error}");
}

#[test]
fn export_of_a_run_is_no_registry() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["demo", "--keep", "kept"]).expect_code(0);
    fs::copy(sandbox.path("kept/demo.jsonl"), sandbox.registry()).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: [DIR]/data/registry.jsonl, line 2: expected the export of a registry, found that of a run
    hint: nothing was changed; restore the file from a backup, or use another data folder
    ");
}

#[test]
fn registry_file_is_an_export_that_anybody_can_verify() {
    let sandbox = Sandbox::with_keys();
    let reply = sandbox.json(&["verify", "data/registry.jsonl"]);
    assert_eq!((&reply["verdict"], &reply["report"]["scope"]["events"]), (&"pass".into(), &3.into()));
}

#[test]
fn fuzz_no_flipped_bit_goes_unnoticed() {
    let sandbox = Sandbox::with_keys();
    let mut bytes = fs::read(sandbox.registry()).unwrap();
    let mut random = Seeded::from_number(11);
    for _ in 0..count(150, 5000) {
        let mut draw = [0; 9];
        random.fill(&mut draw);
        let at = usize::from_le_bytes(draw[..8].try_into().unwrap()) % bytes.len();
        let bit = 1 << (draw[8] % 8);
        bytes[at] ^= bit;
        fs::write(sandbox.registry(), &bytes).unwrap();
        let ran = sandbox.run(&["keys", "list"]);
        assert_eq!(ran.code, Some(2), "bit {bit} of byte {at}: {ran}");
        bytes[at] ^= bit;
    }
}
