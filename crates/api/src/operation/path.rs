//! What stands in the path of an operation, by the names that it has there.

use demur_clarify::uuid::Uuid;
use demur_core::key::Fingerprint;
use demur_ledger::name::{Sequence, TraceId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{confirmation::ConfirmationId, question::QuestionId};

/// What stands in a path.
pub trait PathArguments: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The names, in the order of the path.
    const NAMES: &'static [&'static str];

    /// Returns the values, in the same order.
    fn values(&self) -> Vec<String>;
}

/// Makes a type for what stands in a path: its members are the names.
macro_rules! path_arguments {
    ($($(#[$about:meta])* $type:ident { $($(#[$meaning:meta])* $name:ident: $value:ty),* })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $type {
            $($(#[$meaning])* pub $name: $value,)*
        }

        impl PathArguments for $type {
            const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            fn values(&self) -> Vec<String> {
                vec![$(self.$name.to_string()),*]
            }
        }
    )+};
}

path_arguments! {
    /// Nothing stands in the path.
    NoArguments {}
    /// A question.
    OfQuestion {
        /// Which.
        question: QuestionId
    }
    /// A confirmation.
    OfConfirmation {
        /// Which.
        confirmation: ConfirmationId
    }
    /// A plan.
    OfPlan {
        /// Its session.
        session: Uuid
    }
    /// A gap of a plan.
    OfGap {
        /// The session of the plan.
        session: Uuid,
        /// The gap's name in it.
        gap: String
    }
    /// A trace.
    OfTrace {
        /// Which.
        trace: TraceId
    }
    /// An event.
    OfEvent {
        /// Its trace.
        trace: TraceId,
        /// Its number there.
        sequence: Sequence
    }
    /// A key.
    OfIdentity {
        /// Which.
        fingerprint: Fingerprint
    }
    /// A token.
    OfToken {
        /// Its public name.
        token: String
    }
    /// A browser that is signed in.
    OfSignIn {
        /// The name of its session.
        sign_in: String
    }
    /// A passkey.
    OfPasskey {
        /// Which.
        key: Fingerprint
    }
    /// A touch that waits.
    OfTouch {
        /// Its name.
        touch: String
    }
    /// Somebody who may sign in.
    OfPerson {
        /// The name.
        person: String
    }
}

/// Returns a text as it stands in a path: whatever could end a part of it or mean something else is written by its number.
pub fn in_path(text: &str) -> String {
    // Dots alone would lead elsewhere.
    let dots = text.bytes().all(|byte| byte == b'.');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) || (byte == b'.' && !dots);
    let part = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(part).collect()
}
