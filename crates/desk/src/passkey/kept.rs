//! A touch that waits for its passkey: a record of ten minutes, so that any process finishes what another one prepared. It is
//! sealed, because an answer in it may be a secret, and it is good for one session.

use demur_api::{
    code::Code,
    passkey::{ActResult, TouchAct},
    refusal::Refusal,
};
use demur_core::{
    commitment::Salt,
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
};
use demur_ledger::{
    author::Prepared, content::Opening, facts::Enrolment, name::PersonId, passkey::Assertion,
};
use demur_store::contract::{RecordKey, Swap};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{speaker::TOUCH_LIFETIME_MILLIS, text};
use crate::{keyring::SecretPurpose, owner::Owner, records, seal::apply_key};

/// What waits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptTouch {
    /// The session that it is for.
    pub(super) session: String,
    /// Who signs.
    pub(super) person: PersonId,
    /// What is signed.
    pub(super) what: TouchPurpose,
}

/// What a touch is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TouchPurpose {
    /// Acts of a person, those that need no touch among them.
    Acts(Vec<KeptAct>),
    /// The first passkey of the store, which signs for itself.
    Root {
        /// The passkey.
        enrolment: Enrolment,
        /// The digest of the setup code that was typed.
        setup_code: Digest,
        /// The statement.
        statement: KeptStatement,
    },
    /// Another passkey, which shows that somebody holds it.
    Possession {
        /// The passkey.
        enrolment: Enrolment,
        /// What its person calls it.
        label: Text<1, 256>,
        /// What it signs.
        leaf: Digest,
    },
}

/// An act with what is signed of it; without a statement it needs no touch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptAct {
    pub(super) act: TouchAct,
    /// How it stood when the touch was prepared.
    pub(super) result: ActResult,
    pub(super) statement: Option<KeptStatement>,
    /// The salt of the secret that it answers with.
    pub(super) secret_salt: Option<Salt>,
}

/// A statement that waits to be signed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptStatement {
    statement: String,
    content: Option<String>,
    salt: Option<Salt>,
}

impl KeptStatement {
    pub(super) fn of(prepared: Prepared) -> Result<Self, Refusal> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|error| Refusal::bug(&error));
        let (content, salt) = match prepared.opening {
            Some(opening) => (Some(text(opening.bytes)?), Some(opening.salt)),
            None => (None, None),
        };
        Ok(Self { statement: text(prepared.statement)?, content, salt })
    }

    /// Returns what stands for the statement in a challenge.
    pub(super) fn leaf(&self) -> Digest {
        Assertion::leaf(self.statement.as_bytes())
    }

    /// Returns the statement.
    pub(super) fn prepared(self) -> Prepared {
        let opening = self.content.zip(self.salt);
        let opening = opening.map(|(content, salt)| Opening { bytes: content.into_bytes(), salt });
        Prepared { statement: self.statement.into_bytes(), opening }
    }
}

/// Keeps a touch; returns its name, which nobody guesses.
pub(super) fn keep(owner: &Owner, touch: &KeptTouch) -> Result<String, Refusal> {
    let mut system = owner.system();
    let now = system.now()?;
    let prefix = prefix(touch.person);
    records::make_room(owner, &prefix, MAX_TOUCHES, now)?;
    let mut name = [0; 32];
    system.fill(&mut name);
    let name = text(&name);
    let mut bytes = Zeroizing::new(serde_json::to_vec(touch).map_err(|error| Refusal::bug(&error))?);
    apply_key(owner, &SecretPurpose::Touch(&name), &mut bytes)?;
    let value = records::value(&text(&bytes), Some(now.plus_millis(TOUCH_LIFETIME_MILLIS)))?;
    records::swap(owner, vec![records::creation(key(&prefix, &name)?, value)])?;
    Ok(name)
}

/// Returns a touch of this person that still waits, and the swap that takes it away.
pub(super) fn find(owner: &Owner, name: &str, person: PersonId) -> Result<(KeptTouch, Swap), Refusal> {
    let key = key(&prefix(person), name)?;
    let kept = owner.sequencer().store().record(&key)?.ok_or_else(gone)?;
    let now = owner.system().now()?;
    if kept.value.expires.is_none_or(|expires| expires <= now) {
        return Err(gone());
    }
    let sealed: String = records::read(&kept)?;
    let mut bytes = Zeroizing::new(super::bytes("touch", &sealed).map_err(|_| gone())?);
    apply_key(owner, &SecretPurpose::Touch(name), &mut bytes)?;
    // Sealed with another secret: the keyring was replaced meanwhile.
    let touch: KeptTouch = serde_json::from_slice(&bytes).map_err(|_| gone())?;
    Ok((touch, records::removal(kept.key, kept.version)))
}

/// Only the digest of a name is kept: a copy of the database alone opens nothing.
fn key(prefix: &str, name: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{prefix}{}", sha256(name.as_bytes())))?)
}

/// Each person has room of their own: nobody pushes out what others have waiting.
fn prefix(person: PersonId) -> String {
    format!("{PREFIX}{person}/")
}

/// Returns the refusal of a touch that does not wait any more.
pub(super) fn gone() -> Refusal {
    let message =
        "expected a touch that waits, found one that is older than ten minutes, was finished, or is none";
    Refusal::new(Code::TouchUnknown, message).with_cure("load the page again and sign once more")
}

/// What the keys of their records begin with.
const PREFIX: &str = "touch/";
/// How many of one person wait at once.
const MAX_TOUCHES: usize = 256;
