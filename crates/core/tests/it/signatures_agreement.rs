//! Single and batch verification agree on everything, and so do the door and the files.

use curve25519_dalek::edwards::CompressedEdwardsY;
use demur_core::hash::Purpose;
use demur_core::key::{PublicKey, SecretKey, Signature, zip215};
use demur_core::random::Seeded;

use crate::crafted::{Crafted, NON_CANONICAL, NON_CANONICAL_SMALL};
use crate::generator::Generator;
use crate::proof;

fn holds(crafted: &Crafted) -> bool {
    zip215::verify(&crafted.key, &crafted.message, &crafted.signature)
}

#[test]
fn proof_batch_equals_single() {
    let mut generator = Generator::new(215);
    let total = proof::count(100_000, 600);
    let (mut checked, mut good_batches, mut bad_batches) = (0, 0, 0);
    while checked < total {
        let batch = crafted_batch(&mut generator);
        checked += batch.len();
        let bad: Vec<usize> = (0..batch.len()).filter(|place| !holds(&batch[*place])).collect();
        for (place, crafted) in batch.iter().enumerate() {
            assert_eq!(crafted.good, !bad.contains(&place), "{crafted:?}");
        }
        let entries: Vec<_> = batch
            .iter()
            .map(|crafted| (&crafted.key, crafted.message.as_slice(), &crafted.signature))
            .collect();
        assert_eq!(zip215::verify_batch(&entries), bad.is_empty());
        assert_eq!(zip215::failures(&entries), bad);
        good_batches += usize::from(bad.is_empty());
        bad_batches += usize::from(!bad.is_empty());
    }
    assert!(good_batches > 0 && bad_batches > 0, "{good_batches} good and {bad_batches} bad batches");
}

/// Returns a batch of any size in which none, few, some or all are bad.
fn crafted_batch(generator: &mut Generator) -> Vec<Crafted> {
    let size = 1 + generator.below(100);
    let share = [0, 1, 16, 64][generator.below(4)];
    let mut batch: Vec<Crafted> = Vec::with_capacity(size);
    for _ in 0..size {
        let crafted = match generator.below(64) {
            draw if draw < share => Crafted::bad(generator),
            // The same signature may come twice.
            63 if !batch.is_empty() => batch[generator.below(batch.len())].clone(),
            _ => Crafted::good(generator),
        };
        batch.push(crafted);
    }
    batch
}

#[test]
fn the_crafted_encodings_are_what_they_claim() {
    for encoding in NON_CANONICAL {
        let point = CompressedEdwardsY(encoding).decompress().expect("the encoding is one of a point");
        assert_ne!(point.compress().to_bytes(), encoding);
    }
    for encoding in NON_CANONICAL_SMALL {
        assert!(CompressedEdwardsY(encoding).decompress().unwrap().is_small_order());
    }
}

#[test]
fn what_the_door_admits_the_files_accept() {
    let mut generator = Generator::new(8032);
    let key = SecretKey::generate(&mut Seeded::from_number(8032));
    let (mut admitted, mut refused) = (0, 0);
    for round in 0..proof::count(20_000, 400) {
        let message = generator.bytes::<16>();
        let mut signature = *key.sign(Purpose::Statement, &message).as_bytes();
        if round % 2 == 1 {
            signature[generator.below(64)] ^= 1 << generator.below(8);
        }
        let signature = Signature::from_bytes(signature);
        let door = key.public().admit(Purpose::Statement, &message, &signature);
        let file = key.public().verify(Purpose::Statement, &message, &signature);
        assert!(door.is_err() || file.is_ok());
        admitted += usize::from(door.is_ok());
        refused += usize::from(door.is_err());
    }
    assert!(admitted > 0 && refused > 0);
}

/// A signer who knows the key can still make R of mixed order. The files take it, the door does not.
#[test]
fn the_door_refuses_crafted_signatures_that_the_files_accept() {
    let mut generator = Generator::new(1);
    let message = [Purpose::Statement.prefix(), b"words"].concat();
    let (mut both, mut files_only) = (0, 0);
    for _ in 0..2_000 {
        let crafted = Crafted::good_over(message.clone(), &mut generator);
        let Ok(key) = PublicKey::from_bytes(&crafted.key) else { continue };
        let signature = Signature::from_bytes(crafted.signature);
        assert_eq!(key.verify(Purpose::Statement, b"words", &signature), Ok(()));
        let admitted = key.admit(Purpose::Statement, b"words", &signature).is_ok();
        both += usize::from(admitted);
        files_only += usize::from(!admitted);
    }
    assert!(both > 0 && files_only > 0, "{both} both, {files_only} files only");
}
