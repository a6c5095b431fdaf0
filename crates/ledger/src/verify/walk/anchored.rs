//! How far a key, a root or a name stands behind the trace.

use std::collections::BTreeSet;

use demur_core::{
    key::Fingerprint,
    merkle::{self, Scheme},
};

use super::Walk;
use crate::{
    facts::VerificationProfile,
    name::{ClientId, Position, Sequence},
    signed::Inclusion,
    state::State,
    trace_state::TraceState,
    verify::{
        Code, Options,
        finding::{Findings, Found, Section},
        opening::Names,
    },
};

impl Walk<'_> {
    pub(in crate::verify) fn check_inclusion(&self, inclusion: &Inclusion) -> Result<(), Found> {
        let invalid = |message: &str| Err(Found::new(Code::InclusionInvalid, message));
        let Some((root, traces)) = self.registry.root(inclusion.registry) else {
            return invalid("the registry event records no root");
        };
        let leaf = &inclusion.leaf;
        let last = leaf.length.as_u64().checked_sub(1).and_then(|last| usize::try_from(last).ok());
        let head = last.and_then(|last| self.trail.hashes().get(last));
        if leaf.trace != self.trail.trace() || head != Some(&leaf.head) {
            return invalid("the leaf is not this trace as it is in the file");
        }
        let Ok(hash) = leaf.hash() else { return invalid("the leaf cannot be hashed") };
        let index = inclusion.index.as_u64();
        if merkle::verify_inclusion(Scheme::DEMUR, &hash, index, traces, &inclusion.path, &root) {
            Ok(())
        } else {
            invalid("the path does not lead to the recorded root")
        }
    }

    /// Returns the last event of the exported trace.
    pub(in crate::verify) fn last(&self) -> Option<Position> {
        if self.trail.trace() == self.registry.trace() {
            Some(self.registry.head())
        } else {
            self.trail.last()
        }
    }

    /// Returns the key that signed the checkpoint.
    pub(in crate::verify) fn signer(&self) -> Option<Fingerprint> {
        self.checkpoint.as_ref().map(|(_, checkpoint)| checkpoint.proof.key)
    }

    /// Returns the last event of the trace that a key stands behind: the desk's by signing the file, another's by what it
    /// said last. A key that was revoked stands behind what is proven to come before that.
    pub(in crate::verify) fn through(&self, key: &Fingerprint) -> Option<Sequence> {
        let said = self.speakers.get(key).map(|spoken| spoken.last);
        let signed = self.last().filter(|_| self.signer() == Some(*key)).map(|last| last.sequence);
        let last = said.max(signed)?;
        self.ended(key).is_none_or(|root| self.is_shown_before(root, last)).then_some(last)
    }

    /// Returns the registry event with the root under which stands what a key said before it was revoked: its revocation, or the
    /// checkpoint that follows the end of a passkey.
    fn ended(&self, key: &Fingerprint) -> Option<Sequence> {
        let revoked = self.registry.key(key).and_then(|record| record.revoked);
        let removed = self.registry.passkey(key).and_then(|record| record.ended);
        revoked.or(removed.map(Sequence::next))
    }

    /// A root that came after whatever an agent may hold is perhaps the agent's. Whoever pinned it knows better.
    pub(in crate::verify) fn check_root(&self, options: &Options, findings: &mut Findings) {
        let is_pinned = |key: &Fingerprint| options.pins.iter().any(|pin| pin.fingerprint == *key);
        if let Some((root, record)) = self.registry.late_root().filter(|(root, _)| !is_pinned(root)) {
            let message = format!(
                "the root {} came in after the first key or token: perhaps it is an agent's",
                root.short()
            );
            let found = Found::new(Code::RootLate, message);
            findings.add(Section::Registry, None, Some(record.since), found);
        }
    }

    /// Returns whether an event is proven to come before a revocation: it stands under its root.
    fn is_shown_before(&self, revoked: Sequence, event: Sequence) -> bool {
        self.inclusions.iter().any(|inclusion| {
            inclusion.registry == revoked
                && inclusion.leaf.length.as_u64() > event.number()
                && self.check_inclusion(inclusion).is_ok()
        })
    }

    /// What a key's holder or a client is called is said by nobody if the name is gone. Who asks for everything asks for that
    /// too, unless it has a name of its own for the key, or for one of the client's.
    pub(in crate::verify) fn check_names(&self, names: &Names, options: &Options, findings: &mut Findings) {
        if options.profile != VerificationProfile::Strict {
            return;
        }
        let is_pinned = |key: &Fingerprint| options.pins.iter().any(|pin| pin.fingerprint == *key);
        let mut missing = |message: String| {
            findings.add(Section::Registry, None, None, Found::new(Code::NameMissing, message));
        };
        for key in self.speakers.keys().filter(|key| names.hidden.contains(key) && !is_pinned(key)) {
            missing(format!("the name of who holds the key {} is not in the file", key.short()));
        }
        let pinned = options.pins.iter().filter_map(|pin| self.registry.key(&pin.fingerprint));
        let pinned: BTreeSet<_> = pinned.flat_map(|record| &record.clients).collect();
        let nameless = |client: &ClientId| names.clients.is_hidden(*client) && !pinned.contains(client);
        for client in self.named_clients().into_iter().filter(nameless) {
            missing(format!("the name of client {client} is not in the file"));
        }
    }

    /// Returns the clients that the report is about: those through which acts came, and those that held a role of a run. The
    /// desk is none.
    fn named_clients(&self) -> BTreeSet<ClientId> {
        let run = self.state.as_ref().and_then(TraceState::run);
        let participants = run.into_iter().flat_map(State::participants);
        let held = participants
            .flat_map(|(principal, _)| self.registry.speaking_clients(principal, self.trail.pin()));
        let clients = self.clients.iter().copied().chain(held);
        clients.filter(|client| !self.registry.is_desk(*client)).collect()
    }

    /// What a key said before it was revoked is proven to come before only under the revocation's root.
    pub(in crate::verify) fn check_revoked(&self, findings: &mut Findings) {
        for (fingerprint, spoken) in &self.speakers {
            let Some(root) = self.ended(fingerprint) else { continue };
            if !self.is_shown_before(root, spoken.last) {
                let message = match self.registry.passkey(fingerprint) {
                    Some(_) => format!("the passkey {} was removed later", fingerprint.short()),
                    None => format!("the key {} was revoked later", fingerprint.short()),
                };
                findings.add(Section::Trace, None, None, Found::new(Code::OrderRestsOnDesk, message));
            }
        }
    }
}
