//! Facts of people and their passkeys (`docs/format.md` 7; ONE-10). What a person and a passkey are called is content.

use demur_core::{
    form::FormError,
    key::{Fingerprint, PasskeyKey},
    octets::Octets,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Deref};

use super::EventFacts;
use crate::{name::PersonId, passkey::Assertion};

/// What a person may do at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    /// Answers, and administers.
    Operator,
    /// Answers.
    Answerer,
    /// Reads only.
    Auditor,
}

impl PersonRole {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Answerer => "answerer",
            Self::Auditor => "auditor",
        }
    }
}

/// A person comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonAdded {
    /// Who; the principal of no key.
    pub person: PersonId,
    /// What they may do.
    pub role: PersonRole,
}

/// A person has another name or another role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonChanged {
    /// Who.
    pub person: PersonId,
    /// What they may do from now on.
    pub role: PersonRole,
}

/// A person takes no part any more; their passkeys end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonRemoved {
    /// Who.
    pub person: PersonId,
}

/// A passkey as it came in: what each of its assertions is held against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enrolment {
    /// The kind of authenticator, by the browser's word.
    pub aaguid: Octets<16, 16>,
    /// What a browser asks the authenticator for it by.
    pub credential: Octets<1, 1023>,
    /// Whether it may be kept in several places, by its own word (BE).
    pub eligible: bool,
    /// The public key.
    pub key: PasskeyKey,
    /// The page it speaks on, with its port.
    pub origin: WebOrigin,
    /// Whose it is.
    pub person: PersonId,
    /// The host name it speaks for: that of the origin.
    pub rp: RpId,
    /// Whether it was kept in several places when it came in, by its own word (BS).
    pub synced: bool,
}

/// The first passkey of the store: nobody vouches for it but itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PasskeyRooted(pub Enrolment);

/// Another passkey; an earlier one vouches for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasskeyAdded {
    /// See [`Enrolment::aaguid`].
    pub aaguid: Octets<16, 16>,
    /// See [`Enrolment::credential`].
    pub credential: Octets<1, 1023>,
    /// See [`Enrolment::eligible`].
    pub eligible: bool,
    /// See [`Enrolment::key`].
    pub key: PasskeyKey,
    /// See [`Enrolment::origin`].
    pub origin: WebOrigin,
    /// See [`Enrolment::person`].
    pub person: PersonId,
    /// Its own assertion: that somebody holds it.
    pub possession: Assertion,
    /// See [`Enrolment::rp`].
    pub rp: RpId,
    /// See [`Enrolment::synced`].
    pub synced: bool,
}

/// A passkey speaks no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasskeyRemoved {
    /// Which.
    pub key: Fingerprint,
}

/// All passkeys end but this new one of an operator; signed with the recovery key of the desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PasskeyReset(pub PasskeyAdded);

impl PasskeyAdded {
    /// Returns the facts that bring a passkey in.
    pub fn new(enrolment: Enrolment, possession: Assertion) -> Self {
        let Enrolment { aaguid, credential, eligible, key, origin, person, rp, synced } = enrolment;
        Self { aaguid, credential, eligible, key, origin, person, possession, rp, synced }
    }

    /// Returns the passkey as it comes in.
    pub fn enrolment(&self) -> Enrolment {
        Enrolment {
            aaguid: self.aaguid.clone(),
            credential: self.credential.clone(),
            eligible: self.eligible,
            key: self.key,
            origin: self.origin.clone(),
            person: self.person,
            rp: self.rp.clone(),
            synced: self.synced,
        }
    }
}

/// The origin of a page as a browser writes it: scheme, host name, and the port unless it is the usual one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebOrigin(String);

/// The host name that a passkey speaks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RpId(String);

impl WebOrigin {
    /// Returns the host name in it.
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split_once(':').map_or(rest, |(host, _)| host)
    }
}

impl TryFrom<String> for WebOrigin {
    type Error = FormError;

    fn try_from(text: String) -> Result<Self, FormError> {
        let rest = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let fits = rest.is_some_and(|rest| {
            let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
            is_host(host) && port.is_none_or(is_port)
        });
        if fits { Ok(Self(text)) } else { Err(unfit("an origin such as http://demur.localhost:4100", &text)) }
    }
}

impl TryFrom<String> for RpId {
    type Error = FormError;

    fn try_from(text: String) -> Result<Self, FormError> {
        if is_host(&text) { Ok(Self(text)) } else { Err(unfit("a host name in lower case", &text)) }
    }
}

fn is_host(text: &str) -> bool {
    let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    (1..=253).contains(&text.len()) && text.bytes().all(fits)
}

fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn unfit(expected: &'static str, text: &str) -> FormError {
    FormError::Value { expected, found: format!("{} other bytes", text.len()) }
}

/// Gives a text with a form its ways to be read.
macro_rules! text_of_a_form {
    ($($type:ident $name:literal $pattern:literal;)+) => {
        $(impl From<$type> for String {
            fn from(text: $type) -> Self {
                text.0
            }
        }

        impl Deref for $type {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": $pattern})
            }
        })+
    };
}

text_of_a_form! {
    WebOrigin "WebOrigin" "^https?://[a-z0-9.-]{1,253}(:[1-9][0-9]{0,4})?$";
    RpId "RpId" "^[a-z0-9.-]{1,253}$";
}

impl EventFacts for PersonAdded {}
impl EventFacts for PersonChanged {}
impl EventFacts for PersonRemoved {}
impl EventFacts for PasskeyRooted {}
impl EventFacts for PasskeyAdded {}
impl EventFacts for PasskeyRemoved {}
impl EventFacts for PasskeyReset {}
