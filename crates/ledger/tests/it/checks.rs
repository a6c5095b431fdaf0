//! Checks on bytes: the second verifier and this one evaluate alike (`conformance/ledger/checks.json`).
#![expect(clippy::disallowed_methods, reason = "tests read the committed vectors")]

use std::{fs, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_ledger::{check, content::CheckContent};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vector {
    bytes: String,
    check: CheckContent,
    holds: bool,
}

/// LED-24
#[test]
fn both_verifiers_evaluate_alike() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ledger/checks.json");
    let vectors: Vec<Vector> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(vectors.len() > 500 && vectors.iter().filter(|vector| vector.holds).count() > 100);
    for Vector { bytes, check, holds } in vectors {
        let bytes = STANDARD.decode(bytes).unwrap();
        assert_eq!(check::holds(&check, &bytes), holds, "{check} of {}", String::from_utf8_lossy(&bytes));
    }
}
