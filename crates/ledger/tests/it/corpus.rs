//! The attack corpus (`conformance/ledger/attacks/`): every forgery gets the code it must get. The files are
//! made by another implementation of the format.
#![expect(clippy::disallowed_methods, reason = "tests read the committed corpus")]

use std::{fmt::Write as _, fs, path::PathBuf};

use demur_ledger::{
    facts::VerificationProfile,
    name::Sequence,
    signed::Signed,
    verify::{Code, Compared, KnownHead, Options, Pin, Report, Verdict, VerifyError, compare, verify_whole},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    about: String,
    file: String,
    second: Option<String>,
    options: Vec<String>,
    verdict: String,
    code: Option<String>,
    event: Option<u64>,
    /// Codes of what is found beside the first failure: warnings, and what keeps a verdict open.
    #[serde(default)]
    finds: Vec<String>,
}

impl Case {
    /// Returns whether the rules in the file are asked again, which stands above this crate.
    fn asks_rules(&self) -> bool {
        self.options.iter().any(|option| option == "--no-guess")
    }

    fn all() -> Vec<Self> {
        serde_json::from_slice(&fs::read(folder().join("cases.json")).unwrap()).unwrap()
    }
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ledger/attacks")
}

fn options(case: &Case) -> Options {
    let mut options = Options::default();
    let mut words = case.options.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap().as_str();
        match word.as_str() {
            "--strict" => options.profile = VerificationProfile::Strict,
            "--lenient" => options.profile = VerificationProfile::Lenient,
            "--require-anchor" => options.require_anchor = true,
            "--hash-only" => options.signatures = false,
            "--receipt" => {
                let bytes = fs::read(folder().join(value())).unwrap();
                options.receipts.push(Signed::parse(bytes.trim_ascii_end()).unwrap());
            }
            "--pin" => {
                let (name, fingerprint) = value().split_once('=').unwrap();
                options.pins.push(Pin { name: name.into(), fingerprint: fingerprint.parse().unwrap() });
            }
            "--against" => {
                let value = value();
                let (sequence, hash) =
                    value.split_once(':').map_or((None, value), |(at, hash)| (Some(at), hash));
                let sequence = sequence.map(|at| Sequence::try_from(at.parse::<u64>().unwrap()).unwrap());
                options.against.push(KnownHead { sequence, hash: hash.parse().unwrap() });
            }
            "--registry" => {
                let bytes = fs::read(folder().join(value())).unwrap();
                options.registry = verify_whole(&bytes, &Options::default()).unwrap().registry().cloned();
                assert!(options.registry.is_some(), "{}: the registry given does not hold", case.name);
            }
            other => panic!("{}: unknown option {other}", case.name),
        }
    }
    options
}

/// Returns verdict, code and first bad event, as the case gives them, then everything that was found, and the report.
fn outcome(case: &Case) -> (String, Option<String>, Option<u64>, Vec<Code>, String) {
    let run = |file: &str| -> Result<Report, VerifyError> {
        let bytes = fs::read(folder().join(file)).unwrap();
        verify_whole(&bytes, &options(case))
    };
    let report = match run(&case.file) {
        Ok(report) => report,
        Err(error) => {
            return ("fail".into(), Some(error.code().into()), None, Vec::new(), error.to_string());
        }
    };
    let finds: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
    let verdict = serde_json::to_value(report.verdict).unwrap().as_str().unwrap().to_owned();
    if let Some(second) = &case.second {
        match compare(&report, &run(second).unwrap()) {
            Compared::Part(found) => {
                let event = Some(found.sequence.number());
                return ("fail".into(), Some("EQUIVOCATION".into()), event, finds, String::new());
            }
            Compared::Abandoned(_) if report.scope.profile == VerificationProfile::Strict => {
                return ("fail".into(), Some("HISTORY_ABANDONED".into()), None, finds, String::new());
            }
            Compared::Abandoned(_) => {
                return ("pass_with_warnings".into(), None, None, finds, String::new());
            }
            Compared::Incomparable(_) => {
                return ("not_established".into(), None, None, finds, report.to_text());
            }
            Compared::Agree => {}
        }
    }
    let first = report.findings.iter().find(|finding| Some(finding.code) == report.code());
    let event = first.and_then(|finding| finding.sequence).map(Sequence::number);
    (verdict, report.code().map(|code| code.to_string()), event, finds, report.to_text())
}

/// LED-05 LED-06 LED-07 LED-08 LED-09 LED-13 LED-14 LED-18 LED-24 LED-25 LED-27 LED-28
#[test]
fn every_case_of_the_corpus_gets_its_code() {
    let cases = Case::all();
    let mut wrong = String::new();
    for case in cases.iter().filter(|case| !case.asks_rules()) {
        let (verdict, code, event, finds, report) = outcome(case);
        let expected = (case.verdict.as_str(), case.code.as_deref());
        let places = case.event.is_none() || case.event == event;
        let named = case.finds.iter().all(|code| finds.iter().any(|found| found.as_str() == code));
        if (verdict.as_str(), code.as_deref()) != expected || !places || !named {
            let _ = writeln!(
                wrong,
                "{}: {}\n  expected {expected:?} at {:?} with {:?}, found {verdict} {code:?} at {event:?} with {finds:?}",
                case.name, case.about, case.event, case.finds
            );
            if std::env::var_os("DEMUR_EXPLAIN").is_some() {
                wrong.push_str(&report);
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases in all\n{wrong}", cases.len());
    assert!(cases.len() >= 120, "the corpus lost cases: {} are left", cases.len());
}

/// No code without a file that gets it. `CHECK_NOT_MADE` is none of a file: it says that a stream had gone by.
#[test]
fn every_code_has_a_case() {
    let cases = Case::all();
    let has_case = |code: &str| {
        cases
            .iter()
            .any(|case| case.code.as_deref() == Some(code) || case.finds.iter().any(|one| one == code))
    };
    let without: Vec<&str> =
        Code::ALL.iter().map(|code| code.as_str()).filter(|code| !has_case(code)).collect();
    assert_eq!(without, ["CHECK_NOT_MADE"]);
}

/// Guesses are looked for in files that hold, so what the rules say decides these cases and nothing else.
#[test]
fn files_whose_rules_are_asked_again_hold_by_themselves() {
    for case in Case::all().iter().filter(|case| case.asks_rules() && case.code.is_some()) {
        let bytes = fs::read(folder().join(&case.file)).unwrap();
        let report = verify_whole(&bytes, &Options::default()).unwrap();
        assert!(report.verdict < Verdict::NotEstablished, "{}: {}", case.name, report.to_text());
    }
}
