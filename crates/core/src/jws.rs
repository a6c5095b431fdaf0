//! JSON Web Signatures in compact form (RFC 7515), with ES256 (RFC 7518) and Ed25519 (RFC 8037), and nothing else of them.
//!
//! The key says which algorithm holds; the header only repeats it. Of the header, `alg`, `kid` and `typ` are known. Any other
//! member is refused: keys that come along (`jwk`, `jku`, `x5c`) and changes to what is signed (`crit`, `b64`) have no place
//! here. The signature covers the exact bytes before it, and the payload is what those bytes spell.

mod key;

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use thiserror::Error;

use crate::{
    canonical::{self, Member, ReadError},
    key::KeyError,
    limit::{LimitError, Limits, Text},
};

pub use key::{JwsAlgorithm, JwsKey, JwsSecretKey};

/// A name in a header: of a key, or of what the payload is.
pub type HeaderText = Text<1, 256>;

/// The header of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwsHeader {
    /// With what the signature was made.
    pub algorithm: JwsAlgorithm,
    /// The name of the key.
    pub key_id: Option<HeaderText>,
    /// What the payload is.
    pub content: Option<HeaderText>,
}

/// A signature that holds, and what it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedJws {
    /// The header.
    pub header: JwsHeader,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Returns the compact form of a payload and its signature.
pub fn sign(
    key: &JwsSecretKey,
    key_id: Option<&HeaderText>,
    content: Option<&HeaderText>,
    payload: &[u8],
) -> Result<String, JwsError> {
    within(payload.len(), MAX_PAYLOAD_BYTES)?;
    let members = [("alg", Some(key.algorithm().name())), ("kid", named(key_id)), ("typ", named(content))];
    let members = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let header = members.collect::<std::collections::BTreeMap<_, _>>();
    let header = canonical::to_vec(&header).map_err(|error| JwsError::Header { found: error.to_string() })?;
    let mut text = URL_SAFE_NO_PAD.encode(header);
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut text);
    let signature = key.sign(text.as_bytes())?;
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature.as_bytes(), &mut text);
    Ok(text)
}

/// Returns the payload of a compact form, if its signature holds under this key and its algorithm.
pub fn verify(compact: &str, key: &JwsKey) -> Result<VerifiedJws, JwsError> {
    let parts = Parts::split(compact)?;
    let header = parts.header()?;
    if header.algorithm != key.algorithm() {
        return Err(JwsError::Algorithm { expected: key.algorithm(), found: header.algorithm });
    }
    let signature = decode("signature", parts.signature, SIGNATURE_BYTES)?;
    let found = signature.len();
    let signature = signature.try_into().map_err(|_| JwsError::Signature { found })?;
    if !key.holds(parts.signed.as_bytes(), signature) {
        return Err(JwsError::Unproven);
    }
    Ok(VerifiedJws { header, payload: decode("payload", parts.payload, MAX_PAYLOAD_BYTES)? })
}

/// Returns the header of a compact form. Nothing of it is proven: it says which key to look for.
pub fn header(compact: &str) -> Result<JwsHeader, JwsError> {
    Parts::split(compact)?.header()
}

/// The three parts, still encoded.
struct Parts<'a> {
    header: &'a str,
    payload: &'a str,
    signature: &'a str,
    /// What the signature covers.
    signed: &'a str,
}

impl<'a> Parts<'a> {
    fn split(compact: &'a str) -> Result<Self, JwsError> {
        within(compact.len(), MAX_COMPACT_BYTES)?;
        let found = compact.bytes().filter(|byte| *byte == b'.').count() + 1;
        let parts = compact.rsplit_once('.').filter(|_| found == 3);
        let (signed, signature) = parts.ok_or(JwsError::Parts { found })?;
        let (header, payload) = signed.split_once('.').ok_or(JwsError::Parts { found })?;
        Ok(Self { header, payload, signature, signed })
    }

    fn header(&self) -> Result<JwsHeader, JwsError> {
        let bytes = decode("header", self.header, HEADER_LIMITS.bytes)?;
        let members = canonical::members(&bytes, &HEADER_LIMITS).map_err(JwsError::Json)?;
        let members =
            members.ok_or_else(|| JwsError::Header { found: "JSON that is no object".to_owned() })?;
        let [mut algorithm, mut key_id, mut content] = [None, None, None];
        for Member { name, value } in members {
            let place = match name.as_ref() {
                "alg" => &mut algorithm,
                "kid" => &mut key_id,
                "typ" => &mut content,
                other => return Err(JwsError::Header { found: format!("a member {other:?}") }),
            };
            *place =
                Some(canonical::from_checked::<Cow<'_, str>>(value).map_err(JwsError::Json)?.into_owned());
        }
        let algorithm = algorithm.ok_or_else(|| JwsError::Header { found: "no alg".to_owned() })?;
        let found = || JwsError::Header { found: format!("the algorithm {algorithm:?}") };
        Ok(JwsHeader {
            algorithm: JwsAlgorithm::named(&algorithm).ok_or_else(found)?,
            key_id: key_id.map(HeaderText::try_from).transpose()?,
            content: content.map(HeaderText::try_from).transpose()?,
        })
    }
}

/// A compact form that is refused, or a payload that cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JwsError {
    /// The text or the payload is too long.
    #[error("expected at most {limit} bytes, found {found}")]
    TooLong {
        /// The most allowed.
        limit: usize,
        /// How many there were.
        found: usize,
    },
    /// The text does not consist of three parts.
    #[error("expected header, payload and signature with a dot between, found {found} parts")]
    Parts {
        /// How many parts there were.
        found: usize,
    },
    /// A part is not base64url, or has padding, or ends in bits that mean nothing.
    #[error("expected the {part} in base64url without padding, found another text")]
    Base64 {
        /// Which part.
        part: &'static str,
    },
    /// The header is not strict JSON of the right shape.
    #[error("expected a header in strict JSON: {0}")]
    Json(#[source] ReadError),
    /// The header says something that it must not, or lacks something.
    #[error("expected a header with alg EdDSA or ES256, and kid and typ at most, found {found}")]
    Header {
        /// What was found.
        found: String,
    },
    /// A text of the header is too long or empty.
    #[error("header: {0}")]
    Limit(#[from] LimitError),
    /// The algorithm is not that of the key.
    #[error("expected the algorithm {expected} of the key, found {found}")]
    Algorithm {
        /// That of the key.
        expected: JwsAlgorithm,
        /// That of the header.
        found: JwsAlgorithm,
    },
    /// The signature has another length.
    #[error("expected a signature of 64 bytes, found {found}")]
    Signature {
        /// How many bytes there were.
        found: usize,
    },
    /// The signature does not hold.
    #[error("expected a signature by the key, found one that does not verify")]
    Unproven,
    /// The key refuses to sign, or is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

fn named(text: Option<&HeaderText>) -> Option<&str> {
    text.map(HeaderText::as_str)
}

fn within(found: usize, limit: usize) -> Result<(), JwsError> {
    if found > limit { Err(JwsError::TooLong { limit, found }) } else { Ok(()) }
}

/// Returns the bytes that a part spells. There is one spelling for each.
fn decode(part: &'static str, text: &str, limit: usize) -> Result<Vec<u8>, JwsError> {
    within(text.len(), limit.div_ceil(3) * 4)?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| JwsError::Base64 { part })
}

/// How long a payload may be.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 10;

/// How long a compact form may be: a payload of the greatest length, a header and a signature, in base64url.
pub const MAX_COMPACT_BYTES: usize =
    (MAX_PAYLOAD_BYTES + HEADER_LIMITS.bytes + SIGNATURE_BYTES).div_ceil(3) * 4 + 8;

/// Limits of the header.
const HEADER_LIMITS: Limits = Limits { bytes: 2048, depth: 2, members: 8, text: 1024 };

/// The length of a signature, by either algorithm.
const SIGNATURE_BYTES: usize = 64;
