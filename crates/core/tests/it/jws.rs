//! JSON Web Signatures: the vectors of the RFCs, round trips, and every way in which a compact form can be wrong.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use demur_core::{
    jws::{
        self, HeaderText, JwsAlgorithm, JwsError, JwsKey, JwsSecretKey, MAX_COMPACT_BYTES, MAX_PAYLOAD_BYTES,
    },
    key::SecretKey,
};
use proptest::prelude::*;

fn octets(text: &str) -> [u8; 32] {
    URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok()).expect("32 bytes in base64url")
}

/// The key of RFC 8037, appendix A.1.
fn ed25519() -> JwsSecretKey {
    JwsSecretKey::EdDsa(SecretKey::from_seed(&octets("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")))
}

/// The key of RFC 7515, appendix A.3.
fn es256() -> JwsSecretKey {
    JwsSecretKey::es256(&octets("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
        .expect("a scalar of the curve")
}

fn text(text: &str) -> HeaderText {
    text.try_into().expect("1 to 256 characters")
}

/// Returns a compact form with this header over a payload, signed by the key whatever the header says.
fn with_header(header: &str, key: &JwsSecretKey) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode("{}"));
    let JwsSecretKey::EdDsa(secret) = key else { panic!("only for Ed25519") };
    let signature = secret.sign_foreign(signed.as_bytes()).expect("no message of ours");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_bytes()))
}

/// AEP-19
#[test]
fn the_example_of_rfc_8037_is_signed_and_verified() {
    let key = ed25519();
    assert_eq!(
        key.public(),
        JwsKey::ed25519(&octets("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")).unwrap()
    );
    assert_eq!(jws::sign(&key, None, None, b"Example of Ed25519 signing").unwrap(), RFC_8037);
    let verified = jws::verify(RFC_8037, &key.public()).unwrap();
    assert_eq!(verified.payload, b"Example of Ed25519 signing");
    assert_eq!((verified.header.key_id, verified.header.content), (None, None));
}

/// AEP-19
#[test]
fn the_example_of_rfc_7515_with_es256_is_verified() {
    let public = JwsKey::es256(
        &octets("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
        &octets("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
    )
    .unwrap();
    assert_eq!(es256().public(), public);
    let verified = jws::verify(RFC_7515, &public).unwrap();
    assert!(verified.payload.starts_with(b"{\"iss\":\"joe\",\r\n"), "{:?}", verified.payload);
    assert_eq!(verified.header.algorithm, JwsAlgorithm::Es256);
}

#[test]
fn only_the_algorithm_of_the_key_holds() {
    let found = jws::verify(RFC_8037, &es256().public());
    assert_eq!(found, Err(JwsError::Algorithm { expected: JwsAlgorithm::Es256, found: JwsAlgorithm::EdDsa }));
    for header in [r#"{"alg":"none"}"#, r#"{"alg":"HS256"}"#, r#"{"alg":"eddsa"}"#, r#"{"alg":"Ed25519"}"#] {
        let compact = with_header(header, &ed25519());
        assert!(
            matches!(jws::verify(&compact, &ed25519().public()), Err(JwsError::Header { .. })),
            "{header}"
        );
    }
}

#[test]
fn a_header_says_algorithm_key_and_content_and_nothing_else() {
    let compact = with_header(r#"{ "typ": "JWT", "kid": "a", "alg": "EdDSA" }"#, &ed25519());
    let header = jws::verify(&compact, &ed25519().public()).unwrap().header;
    assert_eq!((header.key_id.as_deref(), header.content.as_deref()), (Some("a"), Some("JWT")));
    assert_eq!(jws::header(&compact), Ok(header));
    for header in [
        r#"{"alg":"EdDSA","crit":["b64"],"b64":false}"#,
        r#"{"alg":"EdDSA","jwk":{}}"#,
        r#"{"alg":"EdDSA","jku":"https://example.com"}"#,
        r#"{"alg":"EdDSA","x5c":[]}"#,
        r#"{"alg":"EdDSA","cty":"a"}"#,
        r#"{"alg":"EdDSA","alg":"EdDSA"}"#,
        r#"{"alg":"EdDSA","kid":7}"#,
        r#"{"alg":"EdDSA","kid":null}"#,
        r#"{"alg":"EdDSA","kid":""}"#,
        r#"{"kid":"a"}"#,
        r#"["EdDSA"]"#,
        "{}",
        "",
        "{",
    ] {
        let compact = with_header(header, &ed25519());
        assert!(jws::verify(&compact, &ed25519().public()).is_err(), "{header}");
    }
}

#[test]
fn there_is_one_spelling() {
    let key = ed25519().public();
    let parts: Vec<&str> = RFC_8037.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!() };
    let other_bits = |part: &str, last: char| format!("{}{last}", &part[..part.len() - 1]);
    for compact in [
        String::new(),
        "..".to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}.{signature}."),
        format!("{header}.{payload}.{signature}=="),
        format!("{header}=.{payload}.{signature}"),
        format!(" {RFC_8037}"),
        format!("{RFC_8037}\n"),
        format!("{header}.{payload}.{}", &signature[..signature.len() - 2]),
        format!("{header}.{payload}.{signature}AAAA"),
        format!("{header}.{payload}.{}", other_bits(signature, 'h')),
        format!("{header}.{}.{signature}", payload.replace('Z', "+")),
        format!("{}.{payload}.{signature}", other_bits(header, 'R')),
    ] {
        assert!(jws::verify(&compact, &key).is_err(), "{compact}");
    }
}

#[test]
fn what_is_too_long_is_refused_before_it_is_decoded() {
    let key = ed25519();
    assert!(jws::sign(&key, None, None, &vec![7; MAX_PAYLOAD_BYTES]).is_ok_and(|compact| {
        compact.len() <= MAX_COMPACT_BYTES && jws::verify(&compact, &key.public()).is_ok()
    }));
    let found = MAX_PAYLOAD_BYTES + 1;
    let too_long = JwsError::TooLong { limit: MAX_PAYLOAD_BYTES, found };
    assert_eq!(jws::sign(&key, None, None, &vec![7; found]), Err(too_long));
    let compact = "a".repeat(MAX_COMPACT_BYTES + 1);
    assert!(matches!(jws::header(&compact), Err(JwsError::TooLong { .. })));
}

#[test]
fn a_scalar_or_point_that_is_none_is_refused() {
    assert!(JwsSecretKey::es256(&[0; 32]).is_err());
    assert!(JwsSecretKey::es256(&[255; 32]).is_err());
    assert!(JwsKey::es256(&[1; 32], &[1; 32]).is_err());
    assert!(JwsKey::ed25519(&[0; 32]).is_err());
    assert_eq!(format!("{:?}", es256()), "JwsSecretKey(ES256)");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// AEP-19: what is signed verifies, and no changed byte does.
    #[test]
    fn what_is_signed_verifies_and_nothing_else_does(
        payload in prop::collection::vec(any::<u8>(), 0..200), ed in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0_u8..7,
    ) {
        let key = if ed { ed25519() } else { es256() };
        let compact = jws::sign(&key, Some(&text("key-1")), Some(&text("aaep-manifest")), &payload).unwrap();
        let verified = jws::verify(&compact, &key.public()).unwrap();
        prop_assert_eq!(&verified.payload, &payload);
        prop_assert_eq!(verified.header.key_id, Some(text("key-1")));
        let mut damaged = compact.clone().into_bytes();
        let at = at.index(damaged.len());
        damaged[at] ^= 1 << bit;
        if let Ok(damaged) = String::from_utf8(damaged) {
            prop_assert!(jws::verify(&damaged, &key.public()).is_err());
        }
    }
}

const RFC_8037: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
    hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

const RFC_7515: &str = "eyJhbGciOiJFUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
