//! What secrets are made for that are no keys of the registry. Each purpose has a label, and each label another secret.

use demur_core::{commitment::Commitment, hash::sha256};
use zeroize::Zeroizing;

/// What a derived secret is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPurpose<'a> {
    /// To seal what the clients of the desk carry from one round of a request to the next.
    RequestStates,
    /// The same, for a program that seals by itself: it must not have the desk's.
    RequestStatesOf {
        /// The user of this machine.
        user: &'a str,
        /// The client that the program speaks for, if it says so.
        client: Option<&'a str>,
    },
    /// To seal a secret answer that waits for its asker. Each has a commitment of its own, and so a secret of its own.
    SecretAnswer(&'a Commitment),
    /// To seal what waits for a passkey, by the name of the touch.
    Touch(&'a str),
    /// To seal what a stranger carries who signs in with a passkey, by a word that was drawn for it.
    SignIn(&'a str),
    /// The mark that it was sealed here, and not changed since.
    SignInMark(&'a str),
    /// The credentials that a stranger is told of besides those of somebody with this name.
    OtherCredentials(&'a str),
}

impl SecretPurpose<'_> {
    /// Returns the secret for this purpose from the one that all are made from. Hashed in a form of one length, so that nobody
    /// can go on from a secret that he has to one that he should not have.
    pub(super) fn secret(&self, root: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        let mut bytes = Zeroizing::new([0; PREFIX.len() + 64]);
        bytes[..PREFIX.len()].copy_from_slice(PREFIX);
        bytes[PREFIX.len()..][..32].copy_from_slice(root);
        bytes[PREFIX.len() + 32..].copy_from_slice(sha256(&self.label()).as_bytes());
        Zeroizing::new(*sha256(&*bytes).as_bytes())
    }

    /// Returns the bytes that name this purpose and no other.
    fn label(&self) -> Vec<u8> {
        let named;
        let parts = match *self {
            Self::RequestStates => ["request states", "", ""],
            Self::SecretAnswer(commitment) => {
                named = commitment.to_string();
                ["secret answer", &named, ""]
            }
            Self::Touch(name) => ["touch", name, ""],
            Self::SignIn(word) => ["sign-in", word, ""],
            Self::SignInMark(sealed) => ["sign-in mark", sealed, ""],
            Self::OtherCredentials(name) => ["other credentials", name, ""],
            // No client has an empty name.
            Self::RequestStatesOf { user, client } => ["request states of", user, client.unwrap_or_default()],
        };
        let mut label = Vec::new();
        for part in parts {
            label.extend_from_slice(&(part.len() as u64).to_be_bytes());
            label.extend_from_slice(part.as_bytes());
        }
        label
    }
}

/// What is hashed for this begins with it, and nothing else does.
const PREFIX: &[u8; 16] = b"demur/v1/derive\0";

#[cfg(test)]
mod tests {
    use demur_core::hash::Digest;

    use super::*;

    const fn of<'a>(user: &'a str, client: Option<&'a str>) -> SecretPurpose<'a> {
        SecretPurpose::RequestStatesOf { user, client }
    }

    #[test]
    fn each_purpose_has_a_secret_of_its_own() {
        let commitments = [1, 2].map(|byte| Commitment::from(Digest::from_bytes([byte; 32])));
        let purposes = [
            SecretPurpose::RequestStates,
            SecretPurpose::SecretAnswer(&commitments[0]),
            SecretPurpose::SecretAnswer(&commitments[1]),
            SecretPurpose::Touch("one"),
            SecretPurpose::Touch("other"),
            SecretPurpose::SignIn("one"),
            SecretPurpose::SignInMark("one"),
            SecretPurpose::OtherCredentials("one"),
            of("kim", None),
            of("kim", Some("claude")),
            of("kim", Some("cursor")),
            of("kimc", Some("laude")),
            of("kimclaude", None),
        ];
        let secrets = purposes.map(|purpose| purpose.secret(&[7; 32]));
        for (at, secret) in secrets.iter().enumerate() {
            assert!(!secrets[..at].contains(secret), "{:?}", purposes[at]);
            assert_ne!(*secret, purposes[at].secret(&[8; 32]), "of another keyring");
        }
    }
}
