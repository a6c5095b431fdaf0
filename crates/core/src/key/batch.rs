//! Many signatures at once, by ZIP 215: about three times as fast as one by one.
//!
//! A batch checks one random linear combination of all equations. The coefficients must be out of the
//! signer's reach, not secret: here they follow from a hash over every key, signature and message of the
//! batch (Fiat-Shamir), so they are fixed only after all of these are. A forger who wants a bad equation to
//! cancel must try about 2^128 batches. In return the crate needs no randomness, and the same file gets the
//! same verdict each time. (Which signature gets which coefficient is up to ed25519-zebra's own map; the
//! argument holds for every assignment.)

use std::convert::Infallible;
use std::ops::Range;

use curve25519_dalek::rand_core::{TryCryptoRng, TryRng};
use ed25519_zebra::batch::{Item, Verifier};
use ed25519_zebra::{Signature as ZebraSignature, VerificationKeyBytes};

use super::{PublicKey, Signature};
use crate::hash::{Digest, Hasher, Purpose};
use crate::random::{Random as _, Seeded};

/// Signatures to be checked together; they may be by one key or by many.
#[derive(Clone)]
pub struct Batch {
    items: Vec<Item>,
    /// Has taken every key, signature and message, or a digest of what holds the message; the seed of the coefficients.
    transcript: Hasher,
    /// Holds prefix and message side by side; kept so that a push allocates nothing.
    scratch: Vec<u8>,
}

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Returns an empty batch with room for this many signatures.
    pub fn with_capacity(capacity: usize) -> Self {
        let transcript = Hasher::with_prefix(PREFIX);
        Self { items: Vec::with_capacity(capacity), transcript, scratch: Vec::new() }
    }

    /// Adds a signature by `key` over the prefix of `purpose` and `message`.
    pub fn push(&mut self, key: &PublicKey, purpose: Purpose, message: &[u8], signature: &Signature) {
        self.push_bytes(key.as_bytes(), purpose.prefix(), message, signature.as_bytes());
    }

    /// Adds a signature as [`push`](Self::push) does, over a message that stands inside of what `digest` is the hash
    /// of: whoever changes the message changes the digest, so the coefficients can go by the digest and the message
    /// need not be hashed once more.
    pub fn push_within(
        &mut self,
        digest: &Digest,
        key: &PublicKey,
        purpose: Purpose,
        message: &[u8],
        signature: &Signature,
    ) {
        self.transcript.update(key.as_bytes());
        self.transcript.update(signature.as_bytes());
        // No message has this length, so neither kind of entry can be taken for the other.
        self.transcript.update(&u64::MAX.to_le_bytes());
        self.transcript.update(digest.as_bytes());
        self.transcript.update(purpose.prefix());
        self.queue(key.as_bytes(), purpose.prefix(), message, signature.as_bytes());
    }

    /// Returns how many signatures there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there is no signature.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes all signatures and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.transcript = Hasher::with_prefix(PREFIX);
    }

    /// Checks all signatures; on failure returns which ones are bad, by their place in the order of pushing.
    pub fn verify(&self) -> Result<(), Vec<usize>> {
        let mut search = Search { batch: self, bad: Vec::new(), budget: SEARCH_FACTOR * self.len() };
        search.visit(0..self.len(), false);
        if search.bad.is_empty() { Ok(()) } else { Err(search.bad) }
    }

    /// Adds a signature by whatever these key bytes are.
    pub(super) fn push_bytes(&mut self, key: &[u8; 32], prefix: &[u8], message: &[u8], signature: &[u8; 64]) {
        self.transcript.update(key);
        self.transcript.update(signature);
        // The length keeps two batches with differently cut messages apart.
        self.transcript.update(&((prefix.len() + message.len()) as u64).to_le_bytes());
        self.transcript.update(prefix);
        self.transcript.update(message);
        self.queue(key, prefix, message, signature);
    }

    fn queue(&mut self, key: &[u8; 32], prefix: &[u8], message: &[u8], signature: &[u8; 64]) {
        self.scratch.clear();
        self.scratch.extend_from_slice(prefix);
        self.scratch.extend_from_slice(message);
        let signature = ZebraSignature::from_bytes(signature);
        self.items.push(Item::from((VerificationKeyBytes::from(*key), signature, &self.scratch)));
    }

    /// Returns whether all signatures hold, without looking for the bad ones.
    pub(super) fn holds(&self) -> bool {
        self.part_holds(&(0..self.len()))
    }

    fn part_holds(&self, part: &Range<usize>) -> bool {
        let mut verifier = Verifier::new();
        for item in &self.items[part.clone()] {
            verifier.queue(item.clone());
        }
        verifier.verify(self.coefficients(part)).is_ok()
    }

    /// Returns the coefficients for a part: each part has its own, and all depend on the whole batch.
    fn coefficients(&self, part: &Range<usize>) -> Coefficients {
        let mut transcript = self.transcript.clone();
        transcript.update(&(part.start as u64).to_le_bytes());
        transcript.update(&(part.end as u64).to_le_bytes());
        Coefficients(Seeded::new(*transcript.finish().as_bytes()))
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Batch({} signatures)", self.len())
    }
}

/// The search for bad signatures: halves are checked as batches, small parts one by one.
struct Search<'a> {
    batch: &'a Batch,
    bad: Vec<usize>,
    /// How many more signatures may be checked in batches. Somebody who sends nothing but bad signatures
    /// gets them checked one by one soon, which bounds the work.
    budget: usize,
}

impl Search<'_> {
    /// Finds the bad ones of a part; `known_bad` says that there must be one.
    fn visit(&mut self, part: Range<usize>, known_bad: bool) {
        if part.is_empty() {
            return;
        }
        if part.len() <= SINGLY || self.budget < part.len() {
            return self.visit_singly(part);
        }
        if !known_bad {
            self.budget -= part.len();
            if self.batch.part_holds(&part) {
                return;
            }
        }
        let middle = part.start + part.len() / 2;
        let before = self.bad.len();
        self.visit(part.start..middle, false);
        let first_half_is_good = self.bad.len() == before;
        self.visit(middle..part.end, first_half_is_good);
    }

    fn visit_singly(&mut self, part: Range<usize>) {
        let items = &self.batch.items[part.clone()];
        self.bad.extend(
            part.zip(items)
                .filter(|(_, item)| (*item).clone().verify_single().is_err())
                .map(|(index, _)| index),
        );
    }
}

/// A [`Seeded`] stream in the shape that ed25519-zebra asks for.
struct Coefficients(Seeded);

impl TryRng for Coefficients {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Coefficients {}

/// Keeps the transcript apart from everything that has a purpose; it never leaves the process.
const PREFIX: &[u8] = b"demur/v1/batch\0";

/// Up to this many signatures are checked one by one.
const SINGLY: usize = 4;

/// The search may check this many times the whole batch; one by one costs about as much.
const SEARCH_FACTOR: usize = 3;
