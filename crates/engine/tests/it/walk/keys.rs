//! What happens to keys while a run goes on: mostly as it should.

use demur_core::{hash::sha256, key::SecretKey};
use demur_engine::Reply;
use demur_ledger::{
    author::{Author, Place},
    event_type::Facts,
    facts::{
        CheckpointRecorded, KeyRegistered, KeyRetired, KeyRevoked, ProposalCreated, RevocationReason,
        StoreRestored,
    },
    name::{PrincipalId, Sequence},
    role::Role,
};

use super::Walk;
use crate::{
    words::{list, whole},
    world::{Sent, Speaker, To},
};

impl Walk {
    pub(super) fn tend_keys(&mut self) {
        match self.number(12) {
            0..=1 => self.register_another(),
            2 => self.register_wrongly(),
            3..=4 => self.rotate(),
            5 => self.rotate_wrongly(),
            6..=7 => self.retire(),
            8 => self.revoke(),
            9 => self.revoke_wrongly(),
            10 => self.mark_store(),
            _ => self.mistake_the_trace(),
        }
        self.choose_desk_key();
    }

    /// A participant that has a key gets one more.
    fn register_another(&mut self) {
        let speaker = self.pick_clone(|walk| walk.world.speakers.clone());
        let key = SecretKey::generate(&mut self.world.random);
        let another = Speaker { key, ..speaker };
        let sent = self.world.registration(&another);
        // With a clock that went back it may be refused.
        if let Reply::Recorded(_) = self.world.send(To::Registry, &sent) {
            self.world.speakers.push(another);
        }
        self.sent.push((To::Registry, sent));
    }

    fn register_wrongly(&mut self) {
        let newcomer = self.world.new_speaker(Role::Critic);
        let recovery = Some(newcomer.key.public());
        let (key, principal) = (newcomer.key.public(), newcomer.principal);
        let good = KeyRegistered { key, principal, recovery: None, roles: list([newcomer.role]) };
        let known = self.world.speaker(Role::Planner).clone();
        let (facts, signer) = match self.number(4) {
            0 => (KeyRegistered { principal: self.world.known_registry().desk(), ..good }, newcomer.key),
            1 => (KeyRegistered { roles: list([Role::Critic, Role::Desk]), ..good }, newcomer.key),
            2 => (KeyRegistered { recovery, ..good }, newcomer.key),
            _ => (KeyRegistered { key: known.key.public(), ..good }, known.key),
        };
        let draft = self.world.draft(To::Registry, Role::Holder, facts);
        let sent = self.world.sign(draft, &signer);
        self.send(To::Registry, sent);
    }

    fn rotate(&mut self) {
        let old = if self.number(4) == 0 {
            self.desk()
        } else {
            self.pick_clone(|walk| walk.world.speakers.clone())
        };
        let key = SecretKey::generate(&mut self.world.random);
        let sent = self.rotation(&old, &old, &key);
        if let Reply::Recorded(position) = self.world.send(To::Registry, &sent) {
            let new = Speaker { key: key.clone(), ..old.clone() };
            if old.role == Role::Desk {
                self.world.desk = key;
            } else {
                self.world.speakers.push(new);
            }
            self.rotated.push((old, position.sequence));
        }
        self.sent.push((To::Registry, sent));
    }

    /// The wrong one signs, or nobody has shown to hold the new key.
    fn rotate_wrongly(&mut self) {
        let old = self.world.speaker(Role::Executor).clone();
        let key = SecretKey::generate(&mut self.world.random);
        let sent = if self.number(2) == 0 {
            let other = self.world.speaker(Role::Planner).clone();
            self.rotation(&other, &old, &key)
        } else {
            let Sent { submission, .. } = self.rotation(&old, &old, &key);
            let statement = demur_ledger::statement::Statement::parse(&submission.statement).unwrap();
            // The same possession under another command id shows nothing.
            let draft = self.world.draft(To::Registry, Role::Holder, statement.facts);
            self.world.sign(draft, &old.key)
        };
        self.send(To::Registry, sent);
    }

    fn rotation(&mut self, by: &Speaker, old: &Speaker, new: &SecretKey) -> Sent {
        let tip = *self.world.registry.state.tip();
        let place =
            Place { store: self.world.store(), trace: tip.trace(), seen: tip.head(), now: self.world.now };
        let author = Author::new(by.key.clone(), by.principal, by.role);
        let fingerprint = old.key.public().fingerprint();
        let submission = author.rotate(&place, fingerprint, new, None, &mut self.world.random).unwrap();
        Sent { submission, artifact: None }
    }

    fn retire(&mut self) {
        let index = self.random_index(self.rotated.len());
        let Some((old, rotation)) = self.rotated.get(index).cloned() else { return };
        let rotation = if self.number(4) == 0 { Sequence::FIRST } else { rotation };
        self.desk_says(KeyRetired { key: old.key.public().fingerprint(), rotation });
    }

    /// A participant loses its key; somebody gets another, now and then at once.
    fn revoke(&mut self) {
        let speaker = self.pick_clone(|walk| walk.world.speakers.clone());
        self.desk_says(revocation(&speaker));
        if self.number(3) > 0 {
            self.register_another();
        }
    }

    fn revoke_wrongly(&mut self) {
        let unknown = self.world.new_speaker(Role::Critic);
        self.desk_says(revocation(&unknown));
        let desk = self.desk();
        self.desk_says(revocation(&desk));
    }

    /// The desk goes on with a key that may still speak.
    fn choose_desk_key(&mut self) {
        let registry = self.world.known_registry();
        let at = registry.head().sequence;
        let speaks = |key: &SecretKey| registry.desk_key(&key.public().fingerprint(), at).is_ok();
        let former = self.rotated.iter().map(|(speaker, _)| &speaker.key);
        let key = [&self.world.desk].into_iter().chain(former).find(|key| speaks(key)).unwrap().clone();
        self.world.desk = key;
    }

    fn mark_store(&mut self) {
        let registry = self.world.known_registry();
        let epoch = registry.epoch_at(registry.head().sequence);
        match self.number(3) {
            0 => self.desk_says(CheckpointRecorded { root: sha256(b"root"), traces: whole(2) }),
            1 => self.desk_says(StoreRestored { epoch: whole(epoch + 1) }),
            _ => self.desk_says(StoreRestored { epoch: whole(epoch + 2) }),
        }
    }

    /// Events of a run for the registry, and those of the registry for a run.
    fn mistake_the_trace(&mut self) {
        let proposal = ProposalCreated { fallback_for: None, replaces: None };
        let planner = self.world.speaker(Role::Planner).key.clone();
        let draft = self.world.draft(To::Registry, Role::Planner, proposal);
        let sent = self.world.sign(draft, &planner);
        self.send(To::Registry, sent);
        let registered = KeyRegistered {
            key: planner.public(),
            principal: PrincipalId::new(self.world.now, &mut self.world.random),
            recovery: None,
            roles: list([Role::Planner]),
        };
        let draft = self.world.draft(To::Run, Role::Holder, registered);
        let sent = self.world.sign(draft, &planner);
        self.send(To::Run, sent);
    }

    fn desk_says(&mut self, facts: impl Into<Facts>) {
        self.world.desk_says(facts);
    }
}

fn revocation(speaker: &Speaker) -> KeyRevoked {
    KeyRevoked {
        key: speaker.key.public().fingerprint(),
        reason: RevocationReason::Lost,
        root: sha256(b"root"),
        traces: whole(2),
    }
}
