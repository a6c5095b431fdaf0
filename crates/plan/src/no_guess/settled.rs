//! Who settled each gap, as seen from the agent that submitted the plan (CLR-33, ONE-07): the asker itself, its client, or
//! somebody else, and how that is known. Two keys of one client are one asker.

use demur_ledger::{
    attribution::{ClientNames, came},
    facts::{Assurance, Root, Severity},
    name::PrincipalId,
    question::{Given, Outcome},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Check, Problem, ValueOrigin};

/// Who settled a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// The key that submitted the plan.
    Asker,
    /// Another key of the same client.
    AskersClient,
    /// A key of another client.
    OtherKey,
    /// Another key, and the registry does not say whose program has it: perhaps the asker's.
    UnboundKey,
    /// A person, says the asker's client.
    RelayedByAsker,
    /// A person, says another client.
    Relayed,
    /// A process of the user who runs demur, as the asker's may be.
    SameUser,
    /// A person who signed in.
    SignedIn,
    /// A person with a passkey.
    Passkey,
}

impl SettledBy {
    /// Returns who gave a value that was settled so.
    pub(super) const fn origin(self) -> ValueOrigin {
        match self {
            Self::Asker | Self::AskersClient => ValueOrigin::OwnWord,
            Self::OtherKey => ValueOrigin::OtherAgent,
            Self::UnboundKey => ValueOrigin::UnboundKey,
            Self::RelayedByAsker | Self::Relayed | Self::SameUser | Self::SignedIn | Self::Passkey => {
                ValueOrigin::Person
            }
        }
    }
}

impl Check<'_> {
    /// Returns who gave an answer or acceptance.
    pub(super) fn settled_by(&self, given: &Given) -> SettledBy {
        let agent = self.session.work().agent();
        if let Some(key) = given.by {
            return match agent {
                Some(agent) if key == agent => SettledBy::Asker,
                Some(agent) if self.share_a_client(key, agent) => SettledBy::AskersClient,
                _ if self.is_recorded(given) => SettledBy::OtherKey,
                _ => SettledBy::UnboundKey,
            };
        }
        let way = self.ways.get(&given.at);
        match (given.assurance, way.map(|way| way.root)) {
            (Assurance::Passkey, _) => SettledBy::Passkey,
            (_, Some(Root::SameUser)) | (Assurance::Terminal, None) => SettledBy::SameUser,
            (_, Some(Root::Passkey | Root::Link)) | (Assurance::SignedIn, None) => SettledBy::SignedIn,
            (_, Some(Root::Client | Root::Mail)) | (Assurance::Agent | Assurance::Relayed, None) => {
                if way.is_some_and(|way| way.own) { SettledBy::RelayedByAsker } else { SettledBy::Relayed }
            }
        }
    }

    /// Returns it in words.
    pub(super) fn words(&self, by: SettledBy, given: &Given) -> String {
        let came = || came(given.assurance, self.ways.get(&given.at), &ClientNames::default());
        match by {
            SettledBy::Asker => "the asker itself".to_owned(),
            SettledBy::AskersClient => "a key of the asker's client".to_owned(),
            SettledBy::OtherKey => "another agent's key".to_owned(),
            SettledBy::UnboundKey => {
                "another key, whose client is not recorded: perhaps the asker's".to_owned()
            }
            SettledBy::Passkey => match self.passkeys.get(&given.at) {
                Some((key, person)) => format!("passkey {} of {person}", key.short()),
                None => "a person with a passkey".to_owned(),
            },
            SettledBy::SameUser => format!("a person: {}, recorded by demur; perhaps the asker", came()),
            SettledBy::RelayedByAsker | SettledBy::Relayed | SettledBy::SignedIn => {
                format!("a person: {}, recorded by demur", came())
            }
        }
    }

    /// An asker that settles what it was asked has asked nobody. Where the rules allow it, that is still worth reading.
    pub(super) fn check_settled(&mut self) {
        let (mut failed, mut warned, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for (gap, outcome) in self.session.gaps() {
            let Some(given) = outcome.and_then(Outcome::given) else { continue };
            let by = self.settled_by(&given);
            let (list, code) = match by {
                SettledBy::Asker | SettledBy::AskersClient if gap.facts.severity != Severity::Block => {
                    continue;
                }
                SettledBy::Asker | SettledBy::AskersClient if gap.facts.asker_settles => {
                    (&mut warned, "SELF_SETTLED")
                }
                SettledBy::Asker | SettledBy::AskersClient => (&mut failed, "SELF_SETTLED"),
                SettledBy::RelayedByAsker => (&mut said, "SELF_RELAYED"),
                SettledBy::SameUser => (&mut said, "SAME_USER"),
                SettledBy::OtherKey
                | SettledBy::UnboundKey
                | SettledBy::Relayed
                | SettledBy::SignedIn
                | SettledBy::Passkey => continue,
            };
            let message =
                format!("{}: expected another than the asker, settled by {}", gap.id, self.words(by, &given));
            list.push(Problem { event: given.at, code, message });
        }
        self.problems.append(&mut failed);
        self.warnings.append(&mut warned);
        self.remarks.append(&mut said);
    }

    /// Returns whether the registry says which clients the key behind an answer and the agent's have, so that they are told apart.
    fn is_recorded(&self, given: &Given) -> bool {
        let is_bound =
            |principal| self.registry.is_some_and(|registry| registry.clients_of(principal).next().is_some());
        given.by.is_some_and(is_bound) && self.session.work().agent().is_some_and(is_bound)
    }

    fn share_a_client(&self, key: PrincipalId, agent: PrincipalId) -> bool {
        let Some(registry) = self.registry else { return false };
        registry.clients_of(key).any(|client| registry.clients_of(agent).any(|own| own == client))
    }
}
