//! Proofs of later versions: a name and whatever stands beside it, kept to the byte so that everything around them can be
//! checked (`docs/format.md` 12).

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

use super::{ED25519, NONE, WEBAUTHN};
use crate::event_type::TypeName;

/// A proof that this version does not know.
#[derive(Clone, Debug)]
pub struct UnknownProof {
    name: String,
    /// What stands beside the name; none where the name stands alone.
    value: Option<Box<RawValue>>,
}

impl UnknownProof {
    /// Returns the proof of this name, if a later version may call one so.
    pub(super) fn of(name: String, value: Option<Box<RawValue>>) -> Option<Self> {
        // The names of proofs are made like those of event types.
        let is_new = ![ED25519, NONE, WEBAUTHN].contains(&name.as_str());
        (is_new && TypeName::try_from(name.as_str()).is_ok()).then_some(Self { name, value })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for UnknownProof {
    fn eq(&self, other: &Self) -> bool {
        let text = |proof: &Self| proof.value.as_ref().map(|value| value.get().to_owned());
        self.name == other.name && text(self) == text(other)
    }
}

impl Eq for UnknownProof {}

impl Serialize for UnknownProof {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            None => serializer.serialize_str(&self.name),
            Some(value) => {
                let mut members = serializer.serialize_map(Some(1))?;
                members.serialize_entry(&self.name, value)?;
                members.end()
            }
        }
    }
}
