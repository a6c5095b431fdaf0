//! The vectors of RFC 8032 and the edge cases of ed25519-speccheck.

use demur_core::key::{PublicKey, SecretKey, Signature, zip215};
use serde::Deserialize;

use crate::keys::bytes;

#[derive(Deserialize)]
struct Vector {
    name: String,
    seed: String,
    key: PublicKey,
    message: String,
    signature: Signature,
}

#[derive(Deserialize)]
struct EdgeCase {
    case: usize,
    about: String,
    message: String,
    key: String,
    signature: Signature,
    zip215: bool,
}

fn edge_cases() -> Vec<EdgeCase> {
    let text = include_str!("../../../../conformance/core/ed25519-speccheck.json");
    serde_json::from_str(text).expect("the vectors are well formed")
}

/// CLR-23
#[test]
fn signatures_are_those_of_rfc_8032() {
    let text = include_str!("../../../../conformance/core/ed25519-rfc8032.json");
    let vectors: Vec<Vector> = serde_json::from_str(text).unwrap();
    assert_eq!(vectors.len(), 5);
    for vector in vectors {
        let secret = SecretKey::from_seed(&bytes(&vector.seed).try_into().unwrap());
        let message = bytes(&vector.message);
        assert_eq!(secret.public(), vector.key, "{}", vector.name);
        assert_eq!(secret.sign_foreign(&message), Ok(vector.signature), "{}", vector.name);
        assert_eq!(vector.key.verify_foreign(&message, &vector.signature), Ok(()), "{}", vector.name);
    }
}

#[test]
fn edge_cases_have_the_verdict_of_zip_215_singly_and_in_batches() {
    let cases = edge_cases();
    assert_eq!(cases.len(), 12);
    for EdgeCase { case, about, message, key, signature, zip215 } in cases {
        let (key, message) = (bytes(&key).try_into().unwrap(), bytes(&message));
        assert_eq!(zip215::verify(&key, &message, signature.as_bytes()), zip215, "{case}: {about}");
        let twice = [(&key, message.as_slice(), signature.as_bytes()); 2];
        assert_eq!(zip215::verify_batch(&twice), zip215, "{case}: {about}");
        assert_eq!(zip215::failures(&twice), if zip215 { vec![] } else { vec![0, 1] }, "{case}: {about}");
    }
}

/// All but cases 6 and 7, which fail by their s, are signed by keys that must not be registered.
#[test]
fn keys_of_the_edge_cases_are_refused() {
    for EdgeCase { case, about, key, .. } in edge_cases() {
        let refused = PublicKey::from_bytes(&bytes(&key).try_into().unwrap()).is_err();
        assert_eq!(refused, !matches!(case, 6 | 7), "{case}: {about}");
    }
}
