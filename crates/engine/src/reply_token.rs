//! The token that a reply to a question carries (AEP-05). It follows from a secret of the desk and the question, so it is
//! kept nowhere: it is the same after a restart, and the ledger does not hold it. That it is used once, the question's
//! own state says: an answered question takes no second answer (AEP-06).

use std::fmt;

use demur_core::hash::{Purpose, digest};
use demur_ledger::name::{Position, TraceId};

/// A reply token: `rpl_` and 40 digits, 160 bits that nobody can guess without the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyToken(String);

impl ReplyToken {
    /// Returns the token of a question. The secret is 32 random bytes that never leave the desk.
    pub fn of(secret: &[u8; 32], trace: TraceId, question: &Position) -> Self {
        let trace = trace.as_ulid().as_u128().to_be_bytes();
        let sequence = question.sequence.number().to_be_bytes();
        // Every part has a fixed length: no two questions share an input.
        let hash = digest(Purpose::Reply, &[secret, &trace, &sequence, question.hash.as_bytes()]);
        Self(format!("rpl_{}", &hash.to_string()[..40]))
    }

    /// Returns the token as it goes out.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a reply carries this token, in a time that does not tell how much of it was right.
    pub fn is_echoed_by(&self, reply: &str) -> bool {
        let differences =
            self.0.bytes().zip(reply.bytes()).fold(0, |found, (one, other)| found | (one ^ other));
        self.0.len() == reply.len() && differences == 0
    }
}

/// A token is a secret of whoever was asked: it does not show in logs.
impl fmt::Debug for ReplyToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ReplyToken(..)")
    }
}
