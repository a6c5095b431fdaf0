//! The desk's key in use. Another process may rotate and retire it, so it goes with the registry: what is signed names a
//! registry event, and only a key that spoke for the desk there signs it.

use std::sync::{Arc, PoisonError, RwLockReadGuard};

use demur_core::key::SecretKey;
use demur_ledger::{
    name::Sequence,
    registry::Registry,
    signed::{Document, Head, Signed},
};

use super::{Sequencer, SequencerError, at_hand::AtHand, commit::lock, load};

impl Sequencer {
    /// Looks for the desk's keys there from now on.
    pub fn find_key_with(
        &mut self,
        find_key: impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static,
    ) {
        self.find_key = Box::new(find_key);
    }

    /// Goes on with another key of the desk, after a rotation brought it in.
    pub fn use_desk_key(&self, key: SecretKey) -> Result<(), SequencerError> {
        self.at_hand.use_desk_key(key)
    }

    /// Reads the registry again, after another process changed it, and goes on with the desk's key of today. Where that
    /// is not at hand, reading goes on and signing is refused.
    pub(super) fn refresh(&self) -> Result<Arc<Registry>, SequencerError> {
        let known = self.registry();
        let mut kept = lock(&self.registry_state);
        let state = load::load_registry(&*self.store, kept.take())?.state;
        if let Some(registry) = state.registry().filter(|registry| registry.head() != known.head()) {
            self.at_hand.adopt(Arc::new(registry.clone()));
            // What is decided next in the registry follows what was read.
            self.at_hand.queues.of(known.trace()).void();
        }
        *kept = Some(state);
        drop(kept);
        let registry = self.registry();
        if let Some(key) = (self.find_key)(&registry) {
            let _ = self.use_desk_key(key);
        }
        Ok(registry)
    }

    /// Returns the registry as the store has it: where another process owns the store, it may have grown.
    pub fn newest_registry(&self) -> Result<Arc<Registry>, SequencerError> {
        let known = self.registry();
        let head = self.store.trace(known.trace())?.map(|summary| summary.head);
        if head == Some(known.head()) { Ok(known) } else { self.refresh() }
    }
}

impl AtHand {
    /// Goes on with another key of the desk.
    pub(super) fn use_desk_key(&self, key: SecretKey) -> Result<(), SequencerError> {
        let registry = self.registry();
        let at = registry.head().sequence;
        registry.desk_key(&key.public().fingerprint(), at).map_err(|_| SequencerError::NoDeskKey)?;
        *self.desk.write().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }

    /// Returns whether the key in use speaks for the desk now.
    pub(super) fn has_key(&self) -> bool {
        let registry = self.registry();
        self.desk_at(&registry, registry.head().sequence).is_ok()
    }

    /// Returns the key in use, if it spoke for the desk as of this event of a registry.
    pub(super) fn desk_at(
        &self,
        registry: &Registry,
        at: Sequence,
    ) -> Result<RwLockReadGuard<'_, SecretKey>, SequencerError> {
        let desk = self.desk.read().unwrap_or_else(PoisonError::into_inner);
        registry.desk_key(&desk.public().fingerprint(), at).map_err(|_| SequencerError::NoDeskKey)?;
        Ok(desk)
    }

    /// Signs a document that goes by a registry as of one of its events.
    pub(super) fn sign<T: Document>(
        &self,
        document: T,
        registry: &Registry,
        at: Sequence,
    ) -> Result<Signed<T>, SequencerError> {
        let desk = self.desk_at(registry, at)?;
        Ok(Signed::new(document, &desk)?)
    }

    /// Signs the head of a trace; `after` is the registry after it, where it is the registry's own.
    pub(super) fn sign_head(
        &self,
        head: Head,
        after: Option<&Registry>,
    ) -> Result<Signed<Head>, SequencerError> {
        let (registry, at) = (self.registry(), head.registry.sequence);
        self.sign(head, after.unwrap_or(&registry), at)
    }
}
