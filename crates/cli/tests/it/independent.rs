//! Without us: the second verifier, written from the documents alone, and a signature checked by a foreign
//! library over the documented bytes.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{
    corpus::Case,
    sandbox::{Sandbox, conformance},
};

/// Returns a Python with what `conformance/python/requirements.txt` lists.
fn python() -> Command {
    let interpreter = std::env::var_os("DEMUR_PYTHON");
    Command::new(interpreter.expect("DEMUR_PYTHON is not set: run `cargo xtask test`"))
}

pub(crate) fn verify_alone(file: &std::path::Path) -> (Option<i32>, Value) {
    let output = python().arg(conformance("verify.py")).arg("--json").arg(file).output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    (output.status.code(), said.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&output.stderr))))
}

/// ONE-04: one file, verified offline with our command and with a short independent script.
#[test]
fn golden_file_and_fresh_export_pass_both_verifiers() {
    let sandbox = Sandbox::new();
    sandbox.run(&["demo", "--keep", "kept"]).expect_code(0);
    let from_the_store = ["last", "registry"].map(|trace| {
        sandbox.run(&["export", trace, "--data", "kept", "--out", trace]).expect_code(0);
        sandbox.path(trace)
    });
    let files = [conformance("golden/run.jsonl"), sandbox.path("kept/demo.jsonl")];
    for file in files.into_iter().chain(from_the_store) {
        let (code, said) = verify_alone(&file);
        assert_eq!((code, &said["verdict"]), (Some(0), &"pass".into()), "{}: {said}", file.display());
        sandbox.run(&["verify", file.to_str().unwrap()]).expect_code(0);
    }
    let script = std::fs::read_to_string(conformance("verify.py")).unwrap();
    assert!(script.lines().count() <= 600, "short enough to read in one sitting");
}

#[test]
fn corpus_is_what_its_source_makes() {
    let made = python().arg(conformance("attacks/make.py")).arg("--check").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// ONE-04
#[test]
fn both_verifiers_agree_on_the_corpus() {
    let cases: Vec<Case> = Case::all().into_iter().filter(is_in_scope).collect();
    assert!(cases.len() >= 500, "only {} cases are in scope", cases.len());
    let mut wrong = String::new();
    for (case, said) in cases.iter().zip(verify_all(&cases)) {
        let found = (said["verdict"].as_str().unwrap_or("crashed"), said["code"].as_str());
        let expected = expected(case);
        // A case has a code where it fails; what keeps a verdict open has one here too.
        let agrees = found.0 == expected.0 && (found.1 == expected.1 || found.0 == "not_established");
        if !agrees {
            writeln!(wrong, "{}: expected {expected:?}, found {said}", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{wrong}", wrong.lines().count(), cases.len());
}

/// ONE-04: whatever a file says, the script comes to a verdict: also where it leaves the check to the command, and where
/// somebody with every key says nonsense in order.
#[test]
fn second_verifier_survives_every_file_and_damaged_copies() {
    let output = python().arg(conformance("attacks/damage.py")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(" 400 damaged copies, 0 crashes"), "{said}");
}

/// ONE-04: a receipt that cannot be read is a mistake of the caller to the command, and no receipt to the script.
#[test]
fn both_verifiers_refuse_a_receipt_that_is_a_list() {
    let sandbox = Sandbox::new();
    let [export, receipt] = ["valid-receipt.jsonl", "valid-receipt.receipt.json"]
        .map(|name| conformance("attacks/files").join(name));
    let mut receipt: Value = serde_json::from_slice(&std::fs::read(receipt).unwrap()).unwrap();
    let event = receipt.pointer_mut("/document/event").unwrap();
    *event = event.as_object().unwrap().values().cloned().collect();
    std::fs::write(sandbox.path("list.json"), serde_json::to_vec(&receipt).unwrap()).unwrap();
    let error = sandbox.json_error(&["verify", export.to_str().unwrap(), "--receipt", "list.json"], 2);
    assert_eq!(error["code"], "RECEIPT_MALFORMED");
    let mut script = python();
    script
        .arg(conformance("verify.py"))
        .arg("--json")
        .arg(&export)
        .arg("--receipt")
        .arg(sandbox.path("list.json"));
    let said: Value = serde_json::from_slice(&script.output().unwrap().stdout).unwrap();
    assert_eq!((&said["verdict"], &said["code"]), (&"fail".into(), &"RECEIPT_MISMATCH".into()));
}

/// The script takes one file, and has no option for profiles, guesses, hashes alone, or that there be an anchor.
fn is_in_scope(case: &Case) -> bool {
    let foreign = ["--strict", "--lenient", "--require-anchor", "--no-guess", "--hash-only"];
    let unknown = |option: &String| foreign.contains(&option.as_str());
    (case.integrity || case.family == "valid") && case.second.is_none() && !case.options.iter().any(unknown)
}

/// The script gives no warnings.
fn expected(case: &Case) -> (&str, Option<&str>) {
    match case.verdict.as_str() {
        "pass_with_warnings" => ("pass", None),
        verdict => (verdict, case.code.as_deref()),
    }
}

/// Runs the script once for each case, all in a few processes: to load the interpreter takes longer than a case.
fn verify_all(cases: &[Case]) -> Vec<Value> {
    let processes = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<_> = cases.chunks(cases.len().div_ceil(processes)).map(start).collect();
    let said: Vec<String> = parts
        .into_iter()
        .map(|part| String::from_utf8(part.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    let said: Vec<Value> =
        said.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), cases.len(), "the script did not come to its end");
    said
}

fn start(cases: &[Case]) -> Child {
    let call = |case: &Case| [std::slice::from_ref(&case.file), &case.options].concat();
    let calls: Vec<Vec<String>> = cases.iter().map(call).collect();
    let mut command = python();
    command.args(["-c", EVERY_CASE]).arg(conformance("verify.py")).current_dir(conformance("attacks"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&calls).unwrap()).unwrap();
    child
}

const EVERY_CASE: &str = r#"
import contextlib, io, json, runpy, sys, traceback
script = sys.argv[1]
for arguments in json.load(sys.stdin):
    sys.argv, said = [script, "--json", *arguments], io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    except BaseException:
        said = io.StringIO(json.dumps({"crash": traceback.format_exc(limit=-2)}))
    print(said.getvalue().strip() or "{}")
"#;

/// Without its one foreign library each script says in a sentence what to install.
#[test]
fn scripts_without_their_library_say_what_to_install() {
    let examples = conformance("../../examples/agents/python");
    for (script, code) in [(conformance("verify.py"), 2), (examples.join("critic.py"), 1)] {
        // `-S`: what is installed beside the interpreter is not found.
        let output = python().arg("-S").arg(&script).arg("file").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(code), 1), "{said}");
        assert!(said.contains("`cryptography` 38 or newer: apt install python3-cryptography"), "{said}");
    }
}

/// CLR-23: prefix, canonical JSON, Ed25519; the bytes are rebuilt from the documents, the library is foreign.
#[test]
fn signatures_verify_with_a_foreign_library_over_the_documented_bytes() {
    let output =
        python().args(["-c", EVERY_SIGNATURE]).arg(conformance("golden/run.jsonl")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // All 6 statements of the registry and 18 of the run.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "24 hold, 24 forged\n");
}

const EVERY_SIGNATURE: &str = r#"
import json, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
events = [line["event"]["event"] for line in map(json.loads, open(sys.argv[1])) if "event" in line]
keys, hold, forged = {}, 0, 0
for event in events:
    facts, proof = event["statement"]["facts"], event["proof"]["ed25519"]
    if event["statement"]["type"] in ("store_created", "key_registered"):
        keys[proof["key"]] = Ed25519PublicKey.from_public_bytes(bytes.fromhex(facts["key"]))
    written = json.dumps(event["statement"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    signature = bytes.fromhex(proof["signature"])
    keys[proof["key"]].verify(signature, b"demur/v1/statement\0" + written.encode())
    hold += 1
    try:
        keys[proof["key"]].verify(signature, b"demur/v1/envelope\0" + written.encode())
    except InvalidSignature:
        forged += 1
print(f"{hold} hold, {forged} forged")
"#;
