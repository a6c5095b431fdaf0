//! Keys, fingerprints, signatures with a purpose, and batches of them.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::scalar::Scalar;
use demur_core::hash::{Purpose, digest, sha256};
use demur_core::key::{Batch, Fingerprint, KeyError, PublicKey, SecretKey, Signature, SignatureError};
use demur_core::random::Seeded;

use crate::crafted::NON_CANONICAL;

/// Returns the bytes that these hex digits spell.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).expect("a hex digit")).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).expect("two digits")).collect()
}

fn key(number: u64) -> SecretKey {
    SecretKey::generate(&mut Seeded::from_number(number))
}

#[test]
fn a_signature_covers_prefix_and_message() {
    let key = key(1);
    for purpose in Purpose::ALL {
        let signature = key.sign(*purpose, b"words");
        let whole = [purpose.prefix(), b"words"].concat();
        assert_eq!(key.public().verify_foreign(&whole, &signature), Ok(()));
        assert_eq!(key.public().verify(*purpose, b"words", &signature), Ok(()));
        assert_eq!(key.public().admit(*purpose, b"words", &signature), Ok(()));
    }
}

#[test]
fn a_signature_for_one_purpose_holds_for_no_other() {
    let key = key(1);
    for purpose in Purpose::ALL {
        let signature = key.sign(*purpose, b"words");
        for other in Purpose::ALL.iter().filter(|other| *other != purpose) {
            let fingerprint = key.public().fingerprint();
            let verified = key.public().verify(*other, b"words", &signature);
            assert_eq!(verified, Err(SignatureError::File { key: fingerprint }));
            let admitted = key.public().admit(*other, b"words", &signature);
            assert_eq!(admitted, Err(SignatureError::Door { key: fingerprint }));
        }
    }
}

#[test]
fn foreign_messages_that_begin_like_ours_are_not_signed() {
    let key = key(1);
    for purpose in Purpose::ALL {
        let message = [purpose.prefix(), b"words"].concat();
        assert_eq!(key.sign_foreign(&message), Err(KeyError::OwnPrefix));
    }
    assert_eq!(key.sign_foreign(b"demur/v9/whatever"), Err(KeyError::OwnPrefix));
    assert_eq!(key.sign_foreign(b"demur/"), Err(KeyError::OwnPrefix));
    for message in [b"demur".as_slice(), b"", b"Demur/", b" demur/", b"{}"] {
        let signature = key.sign_foreign(message).unwrap();
        assert_eq!(key.public().verify_foreign(message, &signature), Ok(()));
    }
}

#[test]
fn a_fingerprint_is_a_digest_over_algorithm_and_key() {
    let public = key(1).public();
    let expected = digest(Purpose::Key, &[b"ed25519\0", public.as_bytes()]);
    assert_eq!(public.fingerprint(), Fingerprint::from(expected));
    assert_eq!(*public.fingerprint().as_digest(), expected);
    assert_eq!(public.fingerprint().to_string(), expected.to_string());
    assert_eq!(public.fingerprint().short(), expected.to_string()[..16]);
}

#[test]
fn a_key_survives_its_seed_and_its_text() {
    let secret = key(1);
    let public = secret.public();
    assert_eq!(SecretKey::from_seed(&secret.seed()).public(), public);
    assert_eq!(PublicKey::from_bytes(public.as_bytes()), Ok(public));
    assert_eq!(public.to_string().parse::<PublicKey>().unwrap(), public);
    let json = serde_json::to_string(&public).unwrap();
    assert_eq!(serde_json::from_str::<PublicKey>(&json).unwrap(), public);
    let signature = secret.sign(Purpose::Head, b"x");
    assert_eq!(signature.to_string().parse::<Signature>().unwrap(), signature);
    assert_eq!(signature.to_string().len(), 128);
    assert!(public.to_string().to_uppercase().parse::<PublicKey>().is_err());
    assert!(signature.to_string().to_uppercase().parse::<Signature>().is_err());
}

#[test]
fn a_secret_key_does_not_show_in_debug_output() {
    let secret = key(1);
    let shown = format!("{secret:?}");
    assert_eq!(shown, format!("SecretKey(of {})", secret.public().fingerprint().short()));
}

#[test]
fn refuses_keys_of_small_order() {
    for point in EIGHT_TORSION {
        assert_eq!(PublicKey::from_bytes(point.compress().as_bytes()), Err(KeyError::Order));
    }
}

#[test]
fn refuses_keys_of_mixed_order() {
    for (number, torsion) in EIGHT_TORSION.iter().enumerate().skip(1) {
        let point = ED25519_BASEPOINT_POINT * Scalar::from(number as u64 + 7);
        assert!(PublicKey::from_bytes(point.compress().as_bytes()).is_ok());
        let mixed = point + torsion;
        assert_eq!(PublicKey::from_bytes(mixed.compress().as_bytes()), Err(KeyError::Order));
    }
}

#[test]
fn refuses_keys_that_are_not_encoded_canonically() {
    for encoding in NON_CANONICAL {
        assert_eq!(PublicKey::from_bytes(&encoding), Err(KeyError::Encoding), "{encoding:02x?}");
    }
}

#[test]
fn refuses_bytes_that_are_no_point() {
    let mut encoding = [0; 32];
    encoding[0] = 2;
    assert_eq!(PublicKey::from_bytes(&encoding), Err(KeyError::Encoding));
    let error = "02".parse::<PublicKey>().unwrap_err();
    assert_eq!(error.to_string(), "expected a public key of 64 lower-case hex digits, found 2 bytes");
    let text = format!("02{}", "0".repeat(62));
    let error = text.parse::<PublicKey>().unwrap_err().to_string();
    assert!(error.contains("canonical encoding"), "{error}");
}

#[test]
fn a_good_batch_holds_for_one_key_and_for_many() {
    for keys in [1, 4, 50] {
        let mut batch = Batch::with_capacity(50);
        fill(&mut batch, keys, 50, &[]);
        assert_eq!(batch.verify(), Ok(()));
        assert_eq!(batch.len(), 50);
    }
}

#[test]
fn a_batch_names_its_bad_signatures_in_order() {
    for bad in [&[0][..], &[49], &[25], &[0, 1, 2], &[7, 8, 31, 48], &[24, 25]] {
        let mut batch = Batch::new();
        fill(&mut batch, 3, 50, bad);
        assert_eq!(batch.verify(), Err(bad.to_vec()));
    }
    let all: Vec<usize> = (0..50).collect();
    let mut batch = Batch::new();
    fill(&mut batch, 3, 50, &all);
    assert_eq!(batch.verify(), Err(all));
}

#[test]
fn a_batch_by_digests_names_its_bad_signatures_too() {
    for bad in [&[][..], &[0], &[7, 8, 31]] {
        let mut batch = Batch::new();
        for place in 0..40_usize {
            let (key, message) = (key(place as u64 % 3), place.to_string());
            let signed = if bad.contains(&place) { "other" } else { &message };
            let signature = key.sign(Purpose::Statement, signed.as_bytes());
            let digest = sha256(message.as_bytes());
            batch.push_within(&digest, &key.public(), Purpose::Statement, message.as_bytes(), &signature);
        }
        assert_eq!(batch.verify().err().unwrap_or_default(), bad);
    }
}

#[test]
fn an_empty_batch_holds_and_a_cleared_one_is_empty() {
    let mut batch = Batch::default();
    assert!(batch.is_empty());
    assert_eq!(batch.verify(), Ok(()));
    fill(&mut batch, 1, 9, &[4]);
    assert_eq!(batch.verify(), Err(vec![4]));
    batch.clear();
    assert!(batch.is_empty());
    fill(&mut batch, 1, 9, &[]);
    assert_eq!(batch.verify(), Ok(()));
}

#[test]
fn two_bad_signatures_do_not_make_up_for_each_other() {
    // The second s is too large by what the first is too small by: with equal coefficients the sum would hold.
    let key = key(1);
    let mut batch = Batch::new();
    for change in [Scalar::ONE, -Scalar::ONE] {
        let mut signature = *key.sign(Purpose::Head, b"x").as_bytes();
        let scalar = Scalar::from_bytes_mod_order(signature[32..].try_into().unwrap()) + change;
        signature[32..].copy_from_slice(scalar.as_bytes());
        batch.push(&key.public(), Purpose::Head, b"x", &Signature::from_bytes(signature));
    }
    assert_eq!(batch.verify(), Err(vec![0, 1]));
}

/// Adds `count` signatures by `keys` keys in turn; those at the places `bad` are over another message.
fn fill(batch: &mut Batch, keys: usize, count: usize, bad: &[usize]) {
    let keys: Vec<_> = (0..keys).map(|number| key(number as u64)).collect();
    for place in 0..count {
        let key = &keys[place % keys.len()];
        let message = place.to_string();
        let signed = if bad.contains(&place) { "other" } else { &message };
        let signature = key.sign(Purpose::Statement, signed.as_bytes());
        batch.push(&key.public(), Purpose::Statement, message.as_bytes(), &signature);
    }
}
