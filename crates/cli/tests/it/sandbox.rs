//! A folder with nothing around it, and the command run inside.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Write as _,
    os::unix::{
        fs::PermissionsExt as _,
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use demur_store::{contract::Store as _, sqlite::SqliteStore};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// A data folder, a home and a temporary directory that nothing else uses.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Returns a sandbox with the keys alice (planner) and bob (executor).
    pub(crate) fn with_keys() -> Self {
        let sandbox = Self::new();
        sandbox.run(&["keys", "new", "alice", "--role", "planner"]).expect_code(0);
        sandbox.run(&["keys", "new", "bob", "--role", "executor"]).expect_code(0);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path("data/ledger.db")
    }

    /// Returns the lines of an export of the registry.
    pub(crate) fn registry(&self) -> Vec<Value> {
        let ran = self.run(&["export", "registry"]);
        ran.expect_code(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns a sandbox whose data folder is the one of a demo.
    pub(crate) fn with_run() -> Self {
        let sandbox = Self::new();
        sandbox.run(&["demo", "--keep", "data"]).expect_code(0);
        sandbox
    }

    /// Returns the id of the newest trace.
    pub(crate) fn trace(&self) -> String {
        self.json(&["trace", "list"])["traces"][0]["trace"].as_str().unwrap().to_owned()
    }

    /// Ends the server that the commands before have started: whatever comes next finds the files as they are.
    pub(crate) fn rest(&self) {
        if self.data().join("socket").exists() {
            self.run(&["stop"]).expect_code(0);
        }
    }

    /// Changes the database behind everybody's back, past the rules that its tables have.
    pub(crate) fn tamper(&self, sql: &str) {
        self.rest();
        Self::tamper_with(&self.database(), sql);
    }

    /// Changes a database that no server has open, past the rules that its tables have.
    pub(crate) fn tamper_with(database: &Path, sql: &str) {
        let connection = Connection::open(database).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        let mut statement =
            connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let triggers: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        drop(statement);
        for (name, _) in &triggers {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        let before = connection.total_changes();
        connection.execute_batch(sql).unwrap();
        assert!(connection.total_changes() > before, "nothing was changed by {sql}");
        for (_, sql) in &triggers {
            connection.execute_batch(sql).unwrap();
        }
    }

    /// Returns a call of the command, ready to start.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demur"));
        command
            .arg0("demur")
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("DEMUR_DATA", self.data())
            .env("HOME", self.path("home"))
            .env("TZ", "UTC")
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts a server, as any command does that may make the data folder.
    pub(crate) fn start_server(&self) {
        self.run(&["open", "--print"]).expect_code(0);
    }

    /// Keeps rules under which whoever submits a plan may answer its gaps.
    pub(crate) fn let_agents_answer_their_own_gaps(&self) {
        let folder = self.path("own-answers");
        fs::create_dir_all(&folder).unwrap();
        let pack = "[pack]\nname = \"own-answers\"\nversion = \"1\"\n[settings]\nown_answers = \"all\"\n";
        fs::write(folder.join("pack.toml"), pack).unwrap();
        self.run(&["rules", "use", folder.to_str().unwrap()]).expect_code(0);
    }

    /// Returns what a call said and how it ended.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.ran(self.command(arguments).output().unwrap())
    }

    /// Returns what a call said that is fed these bytes, and how it ended.
    pub(crate) fn feed(&self, arguments: &[&str], bytes: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A reader that has seen enough may leave before the end.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        self.ran(child.wait_with_output().unwrap())
    }

    /// Copies the golden export here, changed by these words.
    pub(crate) fn golden_with(&self, name: &str, old: &str, new: &str) {
        let text = String::from_utf8(golden()).unwrap();
        assert!(text.contains(old), "the golden file does not hold {old}");
        fs::write(self.path(name), text.replacen(old, new, 1)).unwrap();
    }

    /// Returns the answer of a call with `--json` that ended well.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        ran.expect_code(0);
        assert_eq!(ran.stdout.matches('\n').count(), 1, "one object, one line: {ran}");
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Returns the error of a call with `--json` that ended with this code.
    pub(crate) fn json_error(&self, arguments: &[&str], code: i32) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        ran.expect_code(code);
        assert_eq!((ran.stdout.as_str(), ran.stderr.matches('\n').count()), ("", 1), "{ran}");
        let document: Value = serde_json::from_str(&ran.stderr).unwrap();
        document["error"].clone()
    }

    pub(crate) fn ran(&self, output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            folder: self.folder.path().to_string_lossy().into_owned(),
        }
    }

    /// Returns the fingerprint of the key that a name means now.
    pub(crate) fn fingerprint(&self, name: &str) -> String {
        self.json(&["keys", "show", name])["key"]["fingerprint"].as_str().unwrap().to_owned()
    }

    pub(crate) fn key_file(&self, name: &str) -> PathBuf {
        self.data().join(format!("keys/{}.key", self.fingerprint(name)))
    }

    /// Returns every file below the data folder with its mode and what it says, once no server that a command has started
    /// is there any more. Of a database that is what its traces hold: its bytes also change when somebody opens and
    /// closes it. Of the log of the servers it is nothing: each of them writes when it began and ended.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
        self.rest();
        let mut contents = self.files();
        let log = self.data().join("server.log");
        for (path, (_, bytes)) in &mut contents {
            if *path == log {
                *bytes = None;
            } else if path.file_name().is_some_and(|name| name == "ledger.db")
                && let Ok(store) = SqliteStore::open_read_only(path.parent().unwrap())
            {
                *bytes = Some(format!("{:?}", store.traces(None, 1000)).into_bytes());
            }
        }
        contents.retain(|path, _| !is_of_sqlite(path));
        contents
    }

    /// Returns the processes that work in this data folder, whoever started them.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let variable = format!("DEMUR_DATA={}", self.data().to_str().unwrap());
        let is_ours = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
        };
        let names = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
        names.filter_map(|name| name.to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Returns every file below the data folder with its mode and bytes.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
        let mut files = BTreeMap::new();
        collect(&self.data(), &mut files);
        files
    }
}

/// A server that a command started ends with the folder, and so does whoever waits for an answer there.
impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.data().join("socket").exists() {
            let _ = self.command(&["stop"]).output();
        }
        for process in self.processes() {
            let _ = Command::new("kill").args(["-KILL", &process.to_string()]).output();
        }
    }
}

/// The log and the shared memory that come and go with whoever reads.
fn is_of_sqlite(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "db-wal" || end == "db-shm")
}

fn collect(path: &Path, contents: &mut BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>) {
    let Ok(metadata) = path.symlink_metadata() else { return };
    let bytes = metadata.is_file().then(|| fs::read(path).unwrap());
    contents.insert(path.to_owned(), (metadata.permissions().mode() & 0o777, bytes));
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), contents);
        }
    }
}

/// What a call said and how it ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    folder: String,
}

impl Ran {
    pub(crate) fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

/// Shows a call as snapshots have it: nothing in it that differs from run to run.
impl fmt::Display for Ran {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => writeln!(formatter, "exit {code}")?,
            (None, signal) => writeln!(formatter, "signal {signal:?}")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(formatter, "--- {name}\n{}", redact(&text.replace(&self.folder, "[DIR]")))?;
            }
        }
        Ok(())
    }
}

/// Returns the name of the user who runs the tests, by the user database.
pub(crate) fn user_name() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let database = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = database.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = { fields }.find(|fields| fields.get(2).is_some_and(|found| *found == uid.to_string()));
    found.map_or_else(|| format!("uid {uid}"), |fields| fields[0].to_owned())
}

/// Returns the text with ids, keys and times replaced.
pub(crate) fn redact(text: &str) -> String {
    let patterns = [
        ("h".repeat(128), "[SIGNATURE]"),
        ("h".repeat(64), "[FINGERPRINT]"),
        ("h".repeat(16), "[KEY]"),
        (format!("01{}", "u".repeat(24)), "[ULID]"),
        ("dddd-dd-dd dd:dd:dd UTC".to_owned(), "[TIME]"),
        ("dddd-dd-ddTdd:dd:dd.dddZ".to_owned(), "[TIME]"),
    ];
    let by = format!(" by {}", user_name());
    let text = [" at ", " (", ". "].into_iter().fold(text.to_owned(), |text, after| {
        text.replace(&format!("{by}{after}"), &format!(" by [USER]{after}"))
    });
    let characters: Vec<char> = text.chars().collect();
    let mut redacted = String::new();
    let mut at = 0;
    while at < characters.len() {
        let starts_word = at == 0 || !characters[at - 1].is_ascii_alphanumeric();
        let found = patterns.iter().find(|(pattern, _)| starts_word && fits(&characters[at..], pattern));
        if let Some((pattern, replacement)) = found {
            redacted += replacement;
            at += pattern.chars().count();
        } else {
            redacted.push(characters[at]);
            at += 1;
        }
    }
    redacted
}

/// `h` stands for a hex digit, `d` for a digit, `u` for a digit or capital; the rest for itself.
fn fits(text: &[char], pattern: &str) -> bool {
    let length = pattern.chars().count();
    let ends_word = text.get(length).is_none_or(|next| !next.is_ascii_alphanumeric());
    text.len() >= length
        && ends_word
        && text.iter().zip(pattern.chars()).all(|(character, mark)| match mark {
            'h' => character.is_ascii_digit() || ('a'..='f').contains(character),
            'd' => character.is_ascii_digit(),
            'u' => character.is_ascii_digit() || character.is_ascii_uppercase(),
            _ => *character == mark,
        })
}

/// Returns a committed file of the ledger's conformance folder.
pub(crate) fn conformance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ledger").join(name)
}

/// Returns where the golden export is.
pub(crate) fn golden_path() -> String {
    conformance("golden/run.jsonl").to_str().unwrap().to_owned()
}

/// Returns the bytes of the golden export.
pub(crate) fn golden() -> Vec<u8> {
    fs::read(golden_path()).unwrap()
}

/// Returns how often a proof runs: reduced here, in full under `DEMUR_PROOF=full`.
pub(crate) fn count(reduced: usize, full: usize) -> usize {
    if std::env::var("DEMUR_PROOF").is_ok_and(|value| value == "full") { full } else { reduced }
}

#[test]
fn redaction_leaves_words_alone() {
    let fingerprint = "0123456789abcdef".repeat(4);
    let text = format!("key 0123456789abcdef of {fingerprint} at 2026-11-15 04:05:06 UTC, deadbeef, alice");
    assert_eq!(redact(&text), "key [KEY] of [FINGERPRINT] at [TIME], deadbeef, alice");
}

#[test]
fn new_file_is_seen_whatever_its_name() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.data().join("keys")).unwrap();
    for name in ["lock", "server.log", "keys/lock", "keys/socket", "keys/server.log"] {
        let before = sandbox.contents();
        fs::write(sandbox.data().join(name), "").unwrap();
        assert_ne!(sandbox.contents(), before, "{name}");
    }
}
