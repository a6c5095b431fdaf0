//! The attack corpus (`conformance/ledger/attacks/`) through the real executable: verdict, code and exit code.

use std::{fmt::Write as _, fs, process::Command};

use serde::Deserialize;
use serde_json::Value;

use crate::sandbox::conformance;

/// One case of the corpus. Paths are relative to its folder.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) file: String,
    pub(crate) second: Option<String>,
    pub(crate) options: Vec<String>,
    pub(crate) verdict: String,
    pub(crate) code: Option<String>,
    /// Whether a verifier that replays no state machine comes to the same result.
    pub(crate) integrity: bool,
    /// What the rules in the file must be found to say, asked again; nothing at all where the list is empty.
    guesses: Option<Vec<String>>,
}

impl Case {
    /// Returns every case.
    pub(crate) fn all() -> Vec<Self> {
        let cases: Vec<Self> =
            serde_json::from_slice(&fs::read(conformance("attacks/cases.json")).unwrap()).unwrap();
        assert!(cases.len() >= 600, "the corpus lost cases: {} are left", cases.len());
        cases
    }

    /// Returns the first case with this code.
    pub(crate) fn with_code(code: &str) -> Self {
        Self::all().into_iter().find(|case| case.code.as_deref() == Some(code)).unwrap()
    }

    /// Returns how the command must end: files whose first line is no header are no exports at all.
    fn exit(&self) -> i32 {
        let bytes = fs::read(conformance("attacks").join(&self.file)).unwrap();
        match self.verdict.as_str() {
            _ if !begins_with_a_header(&bytes) => 2,
            "pass" | "pass_with_warnings" => 0,
            _ => 1,
        }
    }
}

/// Returns what the rules say as a case lists it: problems by their code, warnings and remarks with the word before it.
fn guesses(said: &Value) -> Vec<String> {
    let checked = &said["no_guess"]["checked"];
    if checked.is_null() {
        return vec!["not established".to_owned()];
    }
    let lists = [("problems", ""), ("warnings", "warning "), ("remarks", "remark ")];
    let mut found: Vec<String> = lists
        .iter()
        .flat_map(|(list, word)| checked[list].as_array().unwrap().iter().map(move |one| (word, one)))
        .map(|(word, one)| format!("{word}{}", one["code"].as_str().unwrap()))
        .collect();
    if checked["changed"] != serde_json::json!([]) {
        found.push("changed".to_owned());
    }
    found
}

fn begins_with_a_header(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return false };
    let Ok(Value::Object(line)) = serde_json::from_slice(&bytes[..end]) else { return false };
    let Some(Value::Object(header)) = line.get("header") else { return false };
    let fields: Vec<&str> = header.keys().map(String::as_str).collect();
    // Written again in order and without blanks it must be the same.
    let same = serde_json::to_vec(&line).is_ok_and(|written| written == bytes[..end]);
    let software = header.get("software").and_then(Value::as_str).map_or(0, |text| text.chars().count());
    let known = fields == ["format", "software", "store", "trace"];
    same && known && header["format"] == 1 && (1..=128).contains(&software)
}

/// ONE-04 ONE-07 ONE-08 CLR-33 CLR-52 CLR-54 LED-18 LED-24 LED-27 LED-28
#[test]
fn every_case_gets_its_verdict_code_and_exit_code() {
    let mut wrong = String::new();
    let cases = Case::all();
    for case in &cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demur"));
        command.current_dir(conformance("attacks")).env_clear();
        command.args(["verify", "--json", &case.file]).args(&case.second).args(&case.options);
        let output = command.output().unwrap();
        let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
        let said: Value = serde_json::from_slice(said).unwrap_or_default();
        // What cannot be read as an export has an error instead of a report.
        let (verdict, code) = match &said["error"] {
            Value::Null => (said["verdict"].as_str(), said["code"].as_str()),
            error => (Some("fail"), error["code"].as_str()),
        };
        let found = (verdict, code, output.status.code());
        let expected = (Some(case.verdict.as_str()), case.code.as_deref(), Some(case.exit()));
        if found != expected {
            writeln!(wrong, "{}: expected {expected:?}, found {found:?}", case.name).unwrap();
        }
        if let Some(expected) = &case.guesses {
            let found = guesses(&said);
            let named = expected.iter().all(|one| found.contains(one));
            if !named || expected.is_empty() && !found.is_empty() {
                writeln!(wrong, "{}: expected {expected:?}, found {found:?}", case.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "of {} cases:\n{wrong}", cases.len());
    let told: Vec<&String> = cases.iter().flat_map(|case| case.guesses.iter().flatten()).collect();
    for guess in GUESSES {
        assert!(told.iter().any(|one| *one == guess), "no case has {guess}");
    }
}

/// What `--no-guess` can say of a file that holds. An attestation that differs, and an answered field that was changed,
/// are refused before: such a file does not hold.
const GUESSES: [&str; 19] = [
    "ANSWERED_BELOW",
    "ASSURANCE_BELOW",
    "CONFIRMED_WITH_GAP",
    "CONSENT_MOVED",
    "DEFAULTED",
    "GAP_DIFFERS",
    "GAP_NOT_ASKED",
    "GAP_UNFOUNDED",
    "PAPER_DIFFERS",
    "PAPER_MISSING",
    "PLAN_DIFFERS",
    "PROVENANCE_DIFFERS",
    "SELF_SETTLED",
    "VALUE_DIFFERS",
    "changed",
    "not established",
    "remark SAME_USER",
    "remark SELF_RELAYED",
    "warning SELF_SETTLED",
];
