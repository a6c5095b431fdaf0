//! Why a registry event or a key does not hold.

use demur_core::canonical::WriteError;

use crate::{
    envelope::Disagreement, erasure::ErasureError, event_type::TypeName, name::Sequence,
    passkey::PasskeyError, role::Role,
};

/// What stands against a key at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Standing {
    /// The registry does not have it there.
    #[error("the key is not in the registry at this position")]
    Unknown,
    /// It was revoked.
    #[error("the key was revoked by registry event {since}")]
    Revoked {
        /// By which event.
        since: Sequence,
    },
    /// It was retired after a rotation.
    #[error("the key was retired by registry event {since}")]
    Retired {
        /// By which event.
        since: Sequence,
    },
    /// It is a key, but not the desk's.
    #[error("the key is not the desk's")]
    NotTheDesk,
}

/// A registry event that does not fit those before it.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Envelope and statement disagree.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// An event that does not belong into a registry.
    #[error("expected a registry event, found {kind}")]
    NotRegistry {
        /// Its type.
        kind: TypeName,
    },
    /// The chain is broken.
    #[error("expected registry event {expected} with the hash of the event before it, found {found}")]
    Chain {
        /// The place that comes next.
        expected: u64,
        /// The place found.
        found: Sequence,
    },
    /// A statement by nobody.
    #[error("expected a statement with a key proof, found none")]
    NoProof,
    /// A role that this event type does not admit.
    #[error("the role {role} may not emit {kind}")]
    Role {
        /// The role.
        role: Role,
        /// The type.
        kind: TypeName,
    },
    /// The signer may not sign this event.
    #[error("the signer of {kind} is not entitled to it: {standing}")]
    Signer {
        /// The type.
        kind: TypeName,
        /// Why not.
        standing: Standing,
    },
    /// The actor is not the principal behind the key.
    #[error("the actor is not the principal behind the key")]
    Actor,
    /// A key for the desk comes in only by rotation.
    #[error(
        "expected a principal of its own, found the desk's: the desk's keys follow each other by rotation"
    )]
    DeskPrincipal,
    /// A key comes in twice.
    #[error("the key is in the registry already")]
    KeyKnown,
    /// The key an event is about is not there or no longer active.
    #[error("the key the event is about does not allow it: {0}")]
    Subject(Standing),
    /// The new key's holder did not sign.
    #[error("the signature that shows possession of the new key does not hold")]
    Possession,
    /// A role that no key may hold, or roles out of order.
    #[error("expected roles planner, executor, critic, auditor or operator, ascending and each once")]
    Roles,
    /// A recovery key that is the key itself.
    #[error("expected a recovery key other than the key itself")]
    Recovery,
    /// A retirement without its rotation.
    #[error("expected the rotation of this key, found registry event {found}")]
    Rotation {
        /// The event cited.
        found: Sequence,
    },
    /// The last key of the desk is neither revoked nor retired: nobody could record anything after it.
    #[error("the desk's only active key cannot be revoked or retired: bring in another one first")]
    LastDeskKey,
    /// An epoch out of order.
    #[error("expected epoch {expected}, found {found}")]
    Epoch {
        /// The epoch that comes next.
        expected: u64,
        /// The epoch found.
        found: u64,
    },
    /// A key is bound to the same client twice.
    #[error("expected a key that is not this client's yet, found one that is")]
    KeyBound,
    /// A token is made twice.
    #[error("expected a new token, found one that was made before")]
    TokenKnown,
    /// A token that nobody made.
    #[error("expected a token that was made, found another")]
    TokenUnknown,
    /// A token is taken back twice.
    #[error("expected a token that is good, found one that was revoked")]
    TokenSpent,
    /// Scopes out of order.
    #[error("expected the scopes of a token ascending and each once")]
    TokenScopes,
    /// People out of order.
    #[error("expected the people of a token ascending and each once")]
    TokenPeople,
    /// A person comes in who was there before, or who is the principal of keys.
    #[error("expected a new person, and no principal of keys, found one that is known")]
    PersonKnown,
    /// Nobody takes part who is called so.
    #[error("expected a person who takes part, found another")]
    PersonUnknown,
    /// An act that only an operator's passkey does.
    #[error("expected the passkey of an operator, found another signature: there is a passkey in this store")]
    NeedsTouch,
    /// A second root.
    #[error("expected no passkey before the root, found one: an earlier passkey vouches for the next")]
    RootKnown,
    /// A root of somebody who is no operator.
    #[error("expected a passkey of an operator")]
    RootRole,
    /// A passkey that may not vouch here.
    #[error("expected the signature of a passkey of this person, or of an operator where that is enough")]
    Voucher,
    /// Nobody could vouch any more.
    #[error("expected the passkey of an operator to remain, found that this is the last one")]
    LastOperatorPasskey,
    /// A host name that is not that of the origin.
    #[error("expected the host name of the origin as rp")]
    RpId,
    /// What is said of a passkey is not what it says itself.
    #[error("expected eligible and synced as the passkey's own flags have them")]
    PasskeyFlags,
    /// Nobody has shown that they hold the new passkey.
    #[error("the new passkey's own assertion does not hold: {0}")]
    PasskeyPossession(#[source] PasskeyError),
    /// A reset without a recovery key.
    #[error("expected the recovery key of the newest desk key, which has none")]
    NoRecovery,
    /// What must follow where passkeys ended.
    #[error("expected checkpoint_recorded after passkeys ended")]
    CheckpointOwed,
    /// A rule of erasure.
    #[error(transparent)]
    Erasure(#[from] ErasureError),
    /// The event pins something other than the registry event before it.
    #[error("expected the event to pin the registry event before it")]
    Pin,
    /// Ours: something that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
