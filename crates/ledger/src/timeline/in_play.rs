//! The claims in play and the challenges against them, as the state has them, with the beginning of each text.

use std::collections::BTreeMap;

use demur_core::words::{ELLIPSIS, clipped};

use super::entry::{Dispute, Named};
use crate::{event_type::Facts, name::Sequence};

/// What is in play. The guards of the state bound it: only events they let through are taken.
#[derive(Debug, Default)]
pub(super) struct InPlay {
    claims: BTreeMap<Sequence, Option<String>>,
    /// Open challenges and the claim each is about now.
    challenges: BTreeMap<Sequence, Sequence>,
}

impl InPlay {
    /// Notes what an event does to the claims.
    pub(super) fn take(&mut self, at: Sequence, facts: &Facts, text: Option<&str>) {
        match facts {
            Facts::ClaimIssued(_) => self.add(at, text),
            Facts::ClaimRevised(facts) => {
                self.claims.remove(&facts.replaces);
                self.add(at, text);
                self.challenges.values_mut().filter(|claim| **claim == facts.replaces).for_each(|claim| {
                    *claim = at;
                });
            }
            Facts::ClaimRetracted(facts) => {
                self.claims.remove(&facts.claim);
                self.challenges.retain(|_, claim| *claim != facts.claim);
            }
            Facts::ClaimChallenged(facts) => {
                self.challenges.insert(at, facts.claim);
            }
            Facts::ClaimResolved(facts) => {
                self.challenges.remove(&facts.challenge);
            }
            _ => {}
        }
    }

    fn add(&mut self, at: Sequence, text: Option<&str>) {
        self.claims.insert(at, text.map(|text| clipped(text, BEGINNING, ELLIPSIS).into_owned()));
    }

    /// Returns the claims that an event refers to. Asked before the event is taken.
    pub(super) fn cited(&self, facts: &Facts) -> Vec<Named> {
        let cited = match facts {
            Facts::ClaimRevised(facts) => vec![facts.replaces],
            Facts::ClaimRetracted(facts) => vec![facts.claim],
            Facts::ClaimChallenged(facts) => vec![facts.claim],
            Facts::ClaimResolved(facts) => {
                self.challenges.get(&facts.challenge).copied().into_iter().collect()
            }
            Facts::FinalStatementSigned(facts) => facts.claims.to_vec(),
            _ => Vec::new(),
        };
        let name = |claim: &Sequence| self.claims.get(claim).cloned().flatten();
        cited.into_iter().map(|claim| Named { sequence: claim, name: name(&claim) }).collect()
    }

    /// Returns which of the claims that an event is about are disputed now. Asked after the event was taken.
    pub(super) fn disputed(&self, at: Sequence, facts: &Facts, cited: &[Named]) -> Vec<Dispute> {
        let revised = matches!(facts, Facts::ClaimRevised(_)).then_some(at);
        let about = revised.into_iter().chain(cited.iter().map(|claim| claim.sequence));
        let dispute = |claim: Sequence| {
            let against = self.challenges.iter().filter(|(_, challenged)| **challenged == claim);
            Dispute { claim, challenges: against.map(|(challenge, _)| *challenge).collect() }
        };
        about.map(dispute).filter(|dispute| !dispute.challenges.is_empty()).collect()
    }
}

/// How many characters of a claim stand for it.
const BEGINNING: usize = 120;
