//! Passkeys: how one comes in and who vouches for it, and the touch with which a person signs. What is signed is worked out twice:
//! first to be shown and signed, then to be recorded; it counts only if both are the same (ONE-10).
//!
//! | part | module |
//! |---|---|
//! | a person who signs with a passkey | `speaker` |
//! | a touch: prepared, kept for ten minutes, finished | `touch`, `kept` |
//! | what a touch can sign | `act`, `administer` |
//! | a passkey comes in: the first one, later ones, the code for the first | `enrol`, `waiting`, `setup_code` |
//! | all passkeys end but one | `reset` |
//! | signing in with a passkey, which tells strangers nothing | `sign_in`, `other_credentials` |
//! | what there is | `list` |

mod act;
mod administer;
mod enrol;
mod handle;
mod kept;
mod list;
mod other_credentials;
mod reset;
mod setup_code;
mod sign_in;
mod speaker;
mod touch;
mod waiting;

pub use self::handle::PASSKEYS_PATH;
pub(crate) use self::{
    administer::Administrator,
    speaker::{PasskeySpeaker, StatementPlace},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use demur_api::{code::Code, passkey::BrowserAssertion, refusal::Refusal};
use demur_core::limit::Text;
use demur_ledger::{passkey::Assertion, registry::PasskeyRecord};

use crate::owner::Owner;

/// Returns the bytes of a text in base64url.
fn bytes(field: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| {
        Refusal::malformed(format!("{field}: expected unpadded base64url, found other characters"))
    })
}

/// Returns a text in base64url.
fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the assertion in what a browser sends, by this passkey over these leaves. Whether it holds, the ledger says.
fn assertion(
    made: &BrowserAssertion,
    passkey: &demur_ledger::facts::Enrolment,
    leaves: Vec<demur_core::hash::Digest>,
) -> Result<Assertion, Refusal> {
    let client = String::from_utf8(bytes("client", &made.client)?)
        .map_err(|_| Refusal::malformed("client: expected UTF-8, found other bytes"))?;
    let signature = passkey.key.signature(&bytes("signature", &made.signature)?);
    Ok(Assertion {
        authenticator: bytes("authenticator", &made.authenticator)?
            .try_into()
            .map_err(|error| Refusal::malformed(format!("authenticator: {error}")))?,
        client: Text::try_from(client.as_str())
            .map_err(|error| Refusal::malformed(format!("client: {error}")))?,
        key: passkey.key.fingerprint(),
        leaves: leaves.try_into()?,
        signature: signature.map_err(|error| Refusal::malformed(format!("signature: {error}")))?,
    })
}

/// Records the checkpoint that must follow the end of a passkey: it fixes what the passkey said before.
fn record_owed_checkpoint(owner: &Owner) -> Result<(), Refusal> {
    if owner.sequencer().newest_registry()?.owes_checkpoint() {
        owner.sequencer().checkpoint()?;
    }
    Ok(())
}

/// Returns whether a passkey may speak.
fn is_active(record: &PasskeyRecord) -> bool {
    record.ended.is_none()
}

/// Returns the refusal of a person without a passkey.
fn no_passkey() -> Refusal {
    Refusal::new(Code::PasskeyMissing, "expected one of your passkeys for this address, found none")
        .with_cure("add one on the page /passkeys; a question can also be declined")
}
