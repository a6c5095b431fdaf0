//! Keys of passkeys: ES256 and Ed25519, as texts that name their algorithm (`docs/format.md` 4). An authenticator signs its own
//! bytes and never a message with a purpose; what ties the signature to a statement is the challenge in those bytes.

use std::fmt;

use p256::ecdsa::{Signature as Es256Signature, VerifyingKey, signature::Verifier as _};

use super::{Fingerprint, PublicKey, Signature, SignatureError};
use crate::{
    form::{FormError, text_form},
    hash::{Purpose, digest},
    hex,
};

/// The public key of a passkey; on the wire `es256:` and the 66 hex digits of a compressed point, or `ed25519:` and 64.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PasskeyKey {
    /// ECDSA over P-256 with SHA-256.
    Es256(VerifyingKey),
    /// Ed25519, of prime order.
    Ed25519(PublicKey),
}

impl PasskeyKey {
    /// Returns the key that a browser hands out for a new passkey: its COSE algorithm, and what `getPublicKey()` returns, which
    /// ends with the coordinates of the point or with the 32 bytes.
    pub fn of_browser(algorithm: i64, public_key: &[u8]) -> Result<Self, FormError> {
        let unfit = |found: String| FormError::Value { expected: BROWSER, found };
        match algorithm {
            COSE_ES256 => {
                let (_, point) = public_key
                    .split_last_chunk::<64>()
                    .ok_or_else(|| unfit(format!("{} bytes", public_key.len())))?;
                let (x, y) = point.split_at(32);
                // An even y has the mark 2, an odd one 3.
                let mark = 2 + (y[31] & 1);
                let uncompressed = [&[4][..], point].concat();
                // Both coordinates have to be those of one point: x alone would name another, if y is wrong.
                VerifyingKey::from_sec1_bytes(&uncompressed)
                    .map_err(|_| unfit("bytes that are no point of the curve".to_owned()))?;
                Self::es256(&[&[mark][..], x].concat()).map_err(unfit)
            }
            COSE_EDDSA => {
                let (_, key) = public_key
                    .split_last_chunk::<32>()
                    .ok_or_else(|| unfit(format!("{} bytes", public_key.len())))?;
                Self::ed25519(key).map_err(unfit)
            }
            other => Err(unfit(format!("algorithm {other}"))),
        }
    }

    /// Returns the fingerprint. It differs from that of an author's key even where the bytes are the same.
    pub fn fingerprint(&self) -> Fingerprint {
        digest(Purpose::Key, &[b"passkey\0", &self.encode()]).into()
    }

    /// Returns whether an author's key has the same bytes.
    pub fn is_also(&self, key: &PublicKey) -> bool {
        matches!(self, Self::Ed25519(own) if own == key)
    }

    /// Checks a signature at the door: Ed25519 without the cofactor.
    pub fn admit(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        match self {
            Self::Ed25519(key) if key.admit_foreign(message, signature).is_ok() => Ok(()),
            Self::Es256(key) if es256_holds(key, message, signature) => Ok(()),
            _ => Err(SignatureError::Door { key: self.fingerprint() }),
        }
    }

    /// Checks a signature of a file: Ed25519 by ZIP 215.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        match self {
            Self::Ed25519(key) if key.verify_foreign(message, signature).is_ok() => Ok(()),
            Self::Es256(key) if es256_holds(key, message, signature) => Ok(()),
            _ => Err(SignatureError::File { key: self.fingerprint() }),
        }
    }

    /// Returns a signature by this kind of key from the bytes that an authenticator made: for ES256 the DER form, from which r and
    /// s are taken.
    pub fn signature(&self, made: &[u8]) -> Result<Signature, FormError> {
        let expected = "a signature as an authenticator makes it";
        let unfit = || FormError::Value { expected, found: format!("{} other bytes", made.len()) };
        match self {
            Self::Es256(_) => from_der(made).map(Signature::from_bytes).ok_or_else(unfit),
            Self::Ed25519(_) => made.try_into().map(Signature::from_bytes).map_err(|_| unfit()),
        }
    }

    fn es256(point: &[u8]) -> Result<Self, String> {
        // The decoder knows further marks, with which one point would have several texts.
        let compressed = Some(point).filter(|point| matches!(point, [2 | 3, ..]));
        let key = compressed.and_then(|point| VerifyingKey::from_sec1_bytes(point).ok());
        key.map(Self::Es256).ok_or_else(|| "bytes that are no compressed point of the curve".to_owned())
    }

    fn ed25519(bytes: &[u8; 32]) -> Result<Self, String> {
        PublicKey::from_bytes(bytes).map(Self::Ed25519).map_err(|error| format!("a bad key ({error})"))
    }

    fn encode(&self) -> [u8; 72] {
        let mut text = [0; 72];
        match self {
            Self::Es256(key) => {
                let (prefix, digits) = text.split_at_mut(ES256.len());
                prefix.copy_from_slice(ES256);
                hex::encode(key.to_sec1_point(true).as_bytes(), digits);
            }
            Self::Ed25519(key) => {
                let (prefix, digits) = text.split_at_mut(ED25519.len());
                prefix.copy_from_slice(ED25519);
                hex::encode(key.as_bytes(), digits);
            }
        }
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        let unfit = |found| FormError::Value { expected: EXPECTED, found };
        if let Some(digits) = text.strip_prefix(ES256) {
            return Self::es256(&hex::decode::<33>(digits, EXPECTED)?).map_err(unfit);
        }
        match text.strip_prefix(ED25519) {
            Some(digits) => Self::ed25519(&hex::decode(digits, EXPECTED)?).map_err(unfit),
            None => Err(unfit("another algorithm".to_owned())),
        }
    }
}

text_form!(PasskeyKey, 72, "^(es256:0[23][0-9a-f]{64}|ed25519:[0-9a-f]{64})$", EXPECTED);

impl fmt::Debug for PasskeyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PasskeyKey({self})")
    }
}

/// Both numbers of the signature are from 1 to n-1; a high s holds, since authenticators make them.
fn es256_holds(key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool {
    Es256Signature::from_slice(signature.as_bytes())
        .is_ok_and(|signature| key.verify(message, &signature).is_ok())
}

/// Returns r and s, each of 32 bytes, from `SEQUENCE { INTEGER r, INTEGER s }` in DER.
fn from_der(bytes: &[u8]) -> Option<[u8; 64]> {
    let (tag, body) = bytes.split_first_chunk::<2>()?;
    // Two numbers of at most 33 bytes each: the length takes one byte.
    if *tag != [0x30, u8::try_from(body.len()).ok()?] || body.len() > 0x7f {
        return None;
    }
    let (r, rest) = der_number(body)?;
    let (s, rest) = der_number(rest)?;
    let mut both = [0; 64];
    both[..32].copy_from_slice(&r);
    both[32..].copy_from_slice(&s);
    rest.is_empty().then_some(both)
}

/// Takes one positive whole number below 2^256, in its shortest form.
fn der_number(bytes: &[u8]) -> Option<([u8; 32], &[u8])> {
    let ([tag, length], rest) = bytes.split_first_chunk::<2>()?;
    let (digits, rest) = rest.split_at_checked(usize::from(*length))?;
    let digits = match digits {
        // A zero stands before a digit that would make the number negative, and before no other.
        [0, first, ..] if *first >= 0x80 => digits.get(1..)?,
        [first, ..] if (1..0x80).contains(first) => digits,
        _ => return None,
    };
    let mut number = [0; 32];
    let start = number.len().checked_sub(digits.len())?;
    number[start..].copy_from_slice(digits);
    (*tag == 2).then_some((number, rest))
}

const ES256: &[u8] = b"es256:";
const ED25519: &[u8] = b"ed25519:";

/// ES256 in the registry of COSE.
const COSE_ES256: i64 = -7;
/// EdDSA in the registry of COSE; with passkeys always Ed25519.
const COSE_EDDSA: i64 = -8;

const EXPECTED: &str = "\"es256:\" and 66 lower-case hex digits of a point, or \"ed25519:\" and 64";
const BROWSER: &str = "the public key of a passkey with the algorithm -7 (ES256) or -8 (Ed25519)";
