//! The identity of an agent: a name bound to keys that are registered, rotated and revoked by signed messages
//! (identity protocol 1.0.0, 2 to 4; seed 000, 9).
//!
//! Every `signature` covers its `message` object. No private key is ever sent; the protocol's text asks for one and
//! its examples do not. A revocation carries the message that was signed, so that it can be verified.

mod found;
mod history;
mod message;
mod state;
mod verification;

pub use found::{Found, IdentityMessage, MessageKind};
pub use history::{Flaw, IdentityStanding};
pub use message::{
    Check, CheckReply, FreePayload, Message, Possession, Reason, Register, RevocationReason, Revoke, Rotate,
    RotateReply, SignedMessage,
};
pub use state::{Identity, IdentityError, Status};
pub use verification::{Anchor, IdentityVerification, MessageLine, MessageProblem, VerificationError};
