//! Secrets: closed to others, refused when open, never printed.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn seed(path: &Path) -> String {
    let key: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    key["seed"].as_str().unwrap().to_owned()
}

#[test]
fn folders_and_files_are_closed_to_others() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    sandbox.run(&["keys", "list"]).expect_code(0);
    for (path, (mode, bytes)) in sandbox.files() {
        let expected = if bytes.is_some() || path.ends_with("socket") { 0o600 } else { 0o700 };
        assert_eq!(mode, expected, "{}", path.display());
    }
    let recovery = fs::metadata(sandbox.path("r")).unwrap().permissions().mode() & 0o777;
    assert_eq!(recovery, 0o600);
}

#[test]
fn key_file_that_others_can_read_is_not_used() {
    let sandbox = Sandbox::with_keys();
    set_mode(&sandbox.key_file("alice"), 0o640);
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice"]), @r"
    exit 2
    --- stderr
    error: expected only you to have access to [DIR]/data/keys/[FINGERPRINT].key, found mode 640
    hint: run: chmod 600 [DIR]/data/keys/[FINGERPRINT].key
    ");
    set_mode(&sandbox.key_file("desk"), 0o604);
    sandbox.rest();
    let before = sandbox.contents();
    sandbox.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn key_folder_that_others_can_enter_is_not_used() {
    let sandbox = Sandbox::with_keys();
    set_mode(&sandbox.data().join("keys"), 0o755);
    assert_snapshot!(sandbox.run(&["keys", "new", "carol", "--role", "critic"]), @r"
    exit 2
    --- stderr
    error: expected only you to have access to [DIR]/data/keys, found mode 755
    hint: run: chmod 700 [DIR]/data/keys
    ");
}

#[test]
fn recovery_file_that_others_can_read_is_not_used() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    set_mode(&sandbox.path("r"), 0o644);
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice", "--with-recovery", "r"]), @r"
    exit 2
    --- stderr
    error: expected only you to have access to r, found mode 644
    hint: run: chmod 600 r
    ");
}

#[test]
fn key_file_has_one_canonical_form() {
    let sandbox = Sandbox::with_keys();
    let file = sandbox.key_file("alice");
    let key = &sandbox.json(&["keys", "show", "alice"])["key"];
    let (principal, seed) = (key["principal"].as_str().unwrap(), seed(&file));
    let expected = format!(
        "{{\"algorithm\":\"ed25519\",\"name\":\"alice\",\"principal\":\"{principal}\",\
         \"role\":\"planner\",\"seed\":\"{seed}\"}}\n"
    );
    assert_eq!(fs::read_to_string(file).unwrap(), expected);
}

#[test]
fn damaged_key_files_are_told_apart() {
    let sandbox = Sandbox::with_keys();
    let (alice, bob) = (sandbox.key_file("alice"), sandbox.key_file("bob"));
    let good = fs::read(&alice).unwrap();
    let rotate = || sandbox.run(&["keys", "rotate", "alice"]).to_string();
    fs::write(&alice, &good[..good.len() - 9]).unwrap();
    let malformed = rotate();
    fs::write(&alice, fs::read(bob).unwrap()).unwrap();
    let exchanged = rotate();
    fs::remove_file(&alice).unwrap();
    let missing = rotate();
    fs::create_dir(&alice).unwrap();
    let folder = rotate();
    assert_snapshot!([malformed, exchanged, missing, folder].concat(), @r"
    exit 2
    --- stderr
    error: expected [DIR]/data/keys/[FINGERPRINT].key to hold one key: algorithm, name, principal, role and seed in canonical JSON and a line feed
    hint: name another file, or restore this one from a backup
    exit 2
    --- stderr
    error: expected [DIR]/data/keys/[FINGERPRINT].key to hold the key it is named after, found another
    hint: restore it from a backup
    exit 2
    --- stderr
    error: cannot read [DIR]/data/keys/[FINGERPRINT].key: No such file or directory (os error 2)
    hint: if the secret is lost, its recovery key can help: use --with-recovery FILE
    exit 2
    --- stderr
    error: expected [DIR]/data/keys/[FINGERPRINT].key to hold one key: algorithm, name, principal, role and seed in canonical JSON and a line feed
    hint: name another file, or restore this one from a backup
    ");
    fs::remove_dir(&alice).unwrap();
    fs::write(&alice, good).unwrap();
    set_mode(&alice, 0o600);
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
}

#[test]
fn missing_desk_key_stops_every_change() {
    let sandbox = Sandbox::with_keys();
    fs::remove_file(sandbox.key_file("desk")).unwrap();
    sandbox.rest();
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "new", "carol", "--role", "critic"]), @r"
    exit 2
    --- stderr
    error: cannot read [DIR]/data/keys/[FINGERPRINT].key: No such file or directory (os error 2)
    hint: the desk signs every change: restore its key from a backup of [DIR]/data/keys
    ");
    assert_eq!(sandbox.contents(), before);
    sandbox.run(&["keys", "list"]).expect_code(0);
}

#[test]
fn no_secret_is_ever_printed() {
    let sandbox = Sandbox::new();
    let mut seeds = Vec::new();
    let mut said: Vec<Ran> = Vec::new();
    let calls = [
        "keys new alice --role planner --recovery r",
        "keys new bob --role executor",
        "keys list",
        "keys show alice",
        "keys show desk",
        "keys rotate alice",
        "keys rotate alice --with-recovery r --retire-now",
        "keys rotate desk",
        "keys rotate desk --with-recovery r",
        "keys revoke bob --reason lost",
        "keys revoke bob --reason lost",
        "keys new alice --role planner --recovery r",
        "keys show nobody",
    ];
    for call in calls {
        for format in [&[][..], &["--json"]] {
            let words: Vec<&str> = call.split(' ').chain(format.iter().copied()).collect();
            said.push(sandbox.run(&words));
            let files = fs::read_dir(sandbox.data().join("keys")).unwrap();
            seeds.extend(files.map(|file| seed(&file.unwrap().path())));
        }
    }
    let demo = sandbox.json(&["demo"]);
    let folder = Path::new(demo["folder"].as_str().unwrap());
    seeds.extend(fs::read_dir(folder.join("keys")).unwrap().map(|file| seed(&file.unwrap().path())));
    seeds.push(seed(&sandbox.path("r")));
    seeds.sort_unstable();
    seeds.dedup();
    assert!(seeds.len() > 10);

    let mut texts: Vec<String> = said.into_iter().flat_map(|ran| [ran.stdout, ran.stderr]).collect();
    texts.push(demo.to_string());
    for file in [sandbox.database(), folder.join("ledger.db"), folder.join("demo.jsonl")] {
        texts.push(String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned());
    }
    for text in texts {
        let found = seeds.iter().find(|seed| text.contains(&seed[..16]));
        assert!(found.is_none(), "a secret stands in: {text}");
    }
}
