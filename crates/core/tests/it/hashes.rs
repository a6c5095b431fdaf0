//! Digests, purposes and commitments.

use demur_core::commitment::{Commitment, Salt};
use demur_core::form::FormError;
use demur_core::hash::{Digest, FAMILY_PREFIX, Hasher, Purpose, digest, sha256};
use demur_core::random::Seeded;

#[test]
fn plain_digests_are_sha256() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"").to_string(), empty);
    assert_eq!(sha256(b"abc").to_string(), abc);
}

#[test]
fn every_purpose_has_its_prefix_and_no_prefix_begins_another() {
    for purpose in Purpose::ALL {
        let name = format!("demur/v1/{purpose:?}\0").to_lowercase();
        assert_eq!(purpose.prefix(), name.as_bytes());
        assert!(purpose.prefix().starts_with(FAMILY_PREFIX));
        for other in Purpose::ALL.iter().filter(|other| *other != purpose) {
            assert!(!other.prefix().starts_with(purpose.prefix()), "{purpose:?} begins {other:?}");
        }
    }
    assert_eq!(Purpose::ALL.len(), 17);
}

#[test]
fn a_digest_with_purpose_is_sha256_over_prefix_and_parts() {
    for purpose in Purpose::ALL {
        let whole = [purpose.prefix(), b"ab", b"c"].concat();
        assert_eq!(digest(*purpose, &[b"ab", b"c"]), sha256(&whole));
        let mut hasher = Hasher::new(*purpose);
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), sha256(&whole));
    }
}

#[test]
fn a_digest_has_one_spelling() {
    let text = "00ff".repeat(16);
    let found: Digest = text.parse().unwrap();
    assert_eq!(found.to_string(), text);
    assert_eq!(serde_json::to_string(&found).unwrap(), format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{text}\"")).unwrap(), found);
    for wrong in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), format!(" {}", &text[1..])] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        assert!(serde_json::from_str::<Digest>(&format!("\"{wrong}\"")).is_err(), "{wrong}");
    }
    let error = "0F".repeat(32).parse::<Digest>().unwrap_err();
    assert_eq!(error, FormError::Byte { expected: "64 lower-case hex digits", found: b'F', offset: 1 });
}

#[test]
fn a_commitment_is_sha256_over_prefix_salt_and_content() {
    let salt = Salt::from_bytes([7; 32]);
    let whole = [b"demur/v1/content\0".as_slice(), &[7; 32], b"words"].concat();
    assert_eq!(*Commitment::to_content(&salt, b"words").as_digest(), sha256(&whole));
    let whole = [b"demur/v1/artifact\0".as_slice(), &[7; 32], b"words"].concat();
    assert_eq!(*Commitment::to_artifact(&salt, b"words").as_digest(), sha256(&whole));
    let whole = [b"demur/v1/secret\0".as_slice(), &[7; 32], b"words"].concat();
    assert_eq!(*Commitment::to_secret(&salt, b"words").as_digest(), sha256(&whole));
}

#[test]
fn a_commitment_opens_only_with_its_salt_its_content_and_its_kind() {
    let mut random = Seeded::from_number(1);
    let (salt, other) = (Salt::draw(&mut random), Salt::draw(&mut random));
    assert_ne!(salt, other);
    let commitment = Commitment::to_content(&salt, b"words");
    assert!(commitment.opens_content(&salt, b"words"));
    assert!(!commitment.opens_content(&other, b"words"));
    assert!(!commitment.opens_content(&salt, b"word"));
    assert!(!commitment.opens_artifact(&salt, b"words"));
    assert!(!commitment.opens_secret(&salt, b"words"));
    assert!(Commitment::to_artifact(&salt, b"words").opens_artifact(&salt, b"words"));
    let secret = Commitment::to_secret(&salt, b"words");
    assert!(secret.opens_secret(&salt, b"words"));
    assert!(!secret.opens_secret(&other, b"words"));
    assert!(!secret.opens_secret(&salt, b"word"));
    assert!(!secret.opens_content(&salt, b"words"));
}

#[test]
fn a_salt_does_not_show_in_debug_output_or_errors() {
    let salt = Salt::from_bytes([0xab; 32]);
    assert_eq!(format!("{salt:?}"), "Salt(..)");
    assert_eq!(serde_json::to_string(&salt).unwrap(), format!("\"{}\"", "ab".repeat(32)));
    let error = format!("{}x", "ab".repeat(31)).parse::<Salt>().unwrap_err();
    assert_eq!(error.to_string(), "expected a salt of 64 lower-case hex digits, found 63 bytes");
}

#[test]
fn a_commitment_is_bare_on_the_wire() {
    let commitment = Commitment::from(sha256(b""));
    let text = serde_json::to_string(&commitment).unwrap();
    assert_eq!(text, format!("\"{}\"", sha256(b"")));
    assert_eq!(serde_json::from_str::<Commitment>(&text).unwrap(), commitment);
    assert_eq!(commitment.to_string().parse::<Commitment>().unwrap(), commitment);
}
