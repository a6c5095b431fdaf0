//! Whose answer it is that somebody changes, where no key tells: the same person by passkey or attribution, or the same way in
//! (CLR-04).

use serde::{Deserialize, Serialize};

use crate::{
    facts::{Attribution, Root},
    name::{ClientId, PersonId, TokenId},
    proof::ProofKind,
    state::Step,
};

/// The way an answer came, as far as its changes go by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnswerWay {
    client: Option<ClientId>,
    person: Option<PersonId>,
    root: Root,
    token: Option<TokenId>,
}

impl AnswerWay {
    /// Returns the way of an act of a person: their passkey, or what the desk says.
    pub(super) fn of(step: &Step<'_>, attribution: Option<&Attribution>) -> Option<Self> {
        if step.proof == ProofKind::Webauthn {
            let person = Some(step.actor.into());
            return Some(Self { client: None, person, root: Root::Passkey, token: None });
        }
        let Attribution { client, person, root, token, .. } = attribution?;
        Some(Self { client: *client, person: *person, root: *root, token: *token })
    }

    /// Returns whether whoever comes this way may change an answer that came that way. What one program relayed, another one
    /// does not change; somebody who is surer known may, unless both are known to be different people.
    pub(super) fn may_change(&self, answer: &Self, is_surer: bool) -> bool {
        if let (Some(one), Some(other)) = (self.person, answer.person) {
            // Who it is, a program that relays says: another one of the same person is another one.
            return one == other && (is_surer || self.root != Root::Client || self.is_through(answer));
        }
        is_surer || (self.root == answer.root && self.person == answer.person && self.is_through(answer))
    }

    fn is_through(&self, answer: &Self) -> bool {
        // Whoever sits at the terminal needs no program.
        let is_bare = self.client.is_none() && self.root == Root::SameUser;
        let same_token = self.client.is_some() || self.token == answer.token;
        is_bare || (self.client == answer.client && same_token)
    }
}
