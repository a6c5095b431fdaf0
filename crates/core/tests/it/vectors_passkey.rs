//! Keys and signatures of passkeys: the vector of the format, and ES256 as another implementation makes it.

use demur_core::{
    hash::{Purpose, digest, sha256},
    key::{PasskeyKey, PublicKey, Signature},
    octets::Octets,
};
use serde::Deserialize;

use crate::keys::bytes;

#[derive(Deserialize)]
struct Vectors {
    signatures: Vec<Vector>,
    no_keys: Vec<NoKey>,
}

#[derive(Deserialize)]
struct Vector {
    key: PasskeyKey,
    fingerprint: String,
    spki: String,
    message: String,
    note: String,
    der: Option<String>,
    signature: Signature,
    holds: bool,
}

#[derive(Deserialize)]
struct NoKey {
    key: String,
    note: String,
}

fn vectors() -> Vectors {
    let text = include_str!("../../../../conformance/core/es256.json");
    serde_json::from_str(text).expect("the vectors are well formed")
}

/// ONE-10
#[test]
fn the_vector_of_the_format_holds() {
    let text = "ed25519:4e8ee133ee92873f1f550bfc8dae33a7bbc0ab365a56ec4e3be238d5ed377273";
    let key: PasskeyKey = text.parse().unwrap();
    assert_eq!(key.to_string(), text);
    let authenticator = bytes("49960de5880e8c687434170f6476605b8fe4aeb9a28632c7995cf3ba831d97631d00000003");
    let client = r#"{"type":"webauthn.get","challenge":"Zd_lQSOB8LT8aSVwEac-Unh0iEw7K0rZBLCMXjeYRBM","origin":"http://localhost:40181","crossOrigin":false}"#;
    let signature = "189976e76993ab1851e3b06bc23c81299bb048fafd68ac222a1ab66f112dc45f0c03b56cd290bad6fccb0bf8c3a8710672302c25f622f594b1fcfdf932b56902";
    let message = [&authenticator[..], sha256(client.as_bytes()).as_bytes()].concat();
    let signature = signature.parse().unwrap();
    assert_eq!(key.admit(&message, &signature), Ok(()));
    assert_eq!(key.verify(&message, &signature), Ok(()));
    assert!(key.verify(&message[1..], &signature).is_err());
    assert_eq!(authenticator[..32], *sha256(b"localhost").as_bytes());
    let leaf = "65dfe5412381f0b4fc69257011a73e527874884c3b2b4ad904b08c5e37984413";
    assert_eq!(digest(Purpose::Passkey, &[b"{}"]).to_string(), leaf);
}

/// ONE-10
#[test]
fn es256_agrees_with_another_implementation() {
    let vectors = vectors();
    assert_eq!(vectors.signatures.iter().filter(|vector| !vector.holds).count(), 21);
    for Vector { key, fingerprint, spki, message, note, der, signature, holds } in vectors.signatures {
        assert_eq!(key.fingerprint().to_string(), fingerprint);
        assert_eq!(PasskeyKey::of_browser(-7, &bytes(&spki)), Ok(key));
        let message = bytes(&message);
        assert_eq!(key.admit(&message, &signature).is_ok(), holds, "{key}: {note}");
        assert_eq!(key.verify(&message, &signature).is_ok(), holds, "{key}: {note}");
        if let Some(der) = der {
            let der = bytes(&der);
            assert_eq!(key.signature(&der), Ok(signature), "{key}: {note}");
            for end in 0..der.len() {
                assert!(key.signature(&der[..end]).is_err(), "{key}: {end} bytes of {note}");
            }
            assert!(key.signature(&[&der[..], &[0]].concat()).is_err());
        }
    }
}

/// ONE-10
#[test]
fn a_text_that_is_no_key_is_refused() {
    let vectors = vectors();
    assert_eq!(vectors.no_keys.len(), 15);
    for NoKey { key, note } in vectors.no_keys {
        assert!(key.parse::<PasskeyKey>().is_err(), "{note}: {key}");
    }
}

#[test]
fn only_the_shortest_der_is_read() {
    let key = vectors().signatures[0].key;
    let good = [0x30, 6, 2, 1, 5, 2, 1, 7];
    assert!(key.signature(&good).is_ok());
    let padded: [&[u8]; 7] = [
        &[0x30, 7, 2, 2, 0, 5, 2, 1, 7],
        &[0x30, 6, 2, 1, 0x85, 2, 1, 7],
        &[0x30, 6, 2, 1, 0, 2, 1, 7],
        &[0x30, 5, 2, 0, 2, 1, 7],
        &[0x30, 0x81, 6, 2, 1, 5, 2, 1, 7],
        &[0x31, 6, 2, 1, 5, 2, 1, 7],
        &[0x30, 6, 2, 1, 5, 3, 1, 7],
    ];
    for other in padded {
        assert!(key.signature(other).is_err(), "{other:?}");
    }
    let long = [&[0x30, 38, 2, 33][..], &[1; 33], &[2, 1, 7]].concat();
    assert!(key.signature(&long).is_err());
}

#[test]
fn a_browser_hands_out_points_and_nothing_else() {
    let vector = &vectors().signatures[0];
    let mut spki = bytes(&vector.spki);
    assert!(PasskeyKey::of_browser(-257, &spki).is_err(), "RSA");
    assert!(PasskeyKey::of_browser(-7, &spki[spki.len() - 63..]).is_err());
    *spki.last_mut().unwrap() ^= 1;
    assert!(PasskeyKey::of_browser(-7, &spki).is_err(), "another y");
    let own: PublicKey = "4e8ee133ee92873f1f550bfc8dae33a7bbc0ab365a56ec4e3be238d5ed377273".parse().unwrap();
    let spki = [&bytes("302a300506032b6570032100")[..], own.as_bytes()].concat();
    let key = PasskeyKey::of_browser(-8, &spki).unwrap();
    assert_eq!(key.to_string(), format!("ed25519:{own}"));
    assert_ne!(key.fingerprint(), own.fingerprint());
    assert!(key.is_also(&own) && !vector.key.is_also(&own));
    assert!(PasskeyKey::of_browser(-8, &own.as_bytes()[1..]).is_err());
}

#[test]
fn octets_are_bytes_in_lower_case_hex() {
    let octets: Octets<1, 3> = serde_json::from_str("\"00ff10\"").unwrap();
    assert_eq!(&octets[..], [0, 0xff, 0x10]);
    assert_eq!(serde_json::to_string(&octets).unwrap(), "\"00ff10\"");
    for wrong in ["", "0", "000", "FF", "0g", "00000000", " 00"] {
        assert!(Octets::<1, 3>::from_hex(wrong).is_err(), "{wrong}");
    }
    assert!(Octets::<1, 3>::try_from(vec![0; 4]).is_err());
    assert_eq!(Octets::<1, 3>::try_from(vec![10]).unwrap().to_string(), "0a");
}
