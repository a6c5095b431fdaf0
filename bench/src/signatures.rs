//! Ed25519 on one core: our batch beside the bare one of ed25519-zebra, single verification and signing.

use std::convert::Infallible;
use std::hint::black_box;

use anyhow::{Result, ensure};
use curve25519_dalek::rand_core::{TryCryptoRng, TryRng};
use demur_core::canonical;
use demur_core::hash::Purpose;
use demur_core::key::{Batch, PublicKey, SecretKey, Signature};
use demur_core::random::Seeded;
use ed25519_dalek::ed25519::signature::Signer as _;
use ed25519_zebra::{VerificationKey, VerificationKeyBytes, batch::Verifier};

use crate::event::Envelope;
use crate::report::{Bar, Report};
use demur_bench::measure::{Comparison, compare};

/// Measures batches of three sizes by one key and by four, then single operations.
pub(crate) fn run(report: &mut Report) -> Result<()> {
    for keys in [1, 4] {
        for size in [64, 1024, 8192] {
            let entries = entries(size, keys)?;
            let bar = (size == 1024).then_some(Bar::Ratio(0.9));
            let name = format!("verify, batch of {size}, keys: {keys} / bare zebra");
            report.add(&name, "/s", batches(&entries)?, bar);
        }
    }
    singles(report)
}

/// A signature with all that is needed to check it, for us and for the bare library.
struct Entry {
    key: PublicKey,
    message: Vec<u8>,
    signature: Signature,
    /// The message with its prefix, which the bare library gets ready made.
    whole: Vec<u8>,
}

fn entries(size: u64, keys: u64) -> Result<Vec<Entry>> {
    let keys: Vec<_> =
        (0..keys).map(|number| SecretKey::generate(&mut Seeded::from_number(number))).collect();
    let event = canonical::to_vec(&Envelope::sample())?;
    let entry = |(number, key): (u64, &SecretKey)| {
        let message = [event.as_slice(), &number.to_le_bytes()].concat();
        let whole = [Purpose::Statement.prefix(), &message].concat();
        let signature = key.sign(Purpose::Statement, &message);
        Entry { key: key.public(), message, signature, whole }
    };
    Ok((0..size).zip(keys.iter().cycle()).map(entry).collect())
}

fn batches(entries: &[Entry]) -> Result<Comparison> {
    let mut batch = Batch::with_capacity(entries.len());
    let mut ours = || {
        batch.clear();
        for entry in entries {
            batch.push(&entry.key, Purpose::Statement, &entry.message, &entry.signature);
        }
        batch.verify().is_ok()
    };
    let reference = || {
        let mut verifier = Verifier::new();
        for entry in entries {
            let key = VerificationKeyBytes::from(*entry.key.as_bytes());
            let signature = ed25519_zebra::Signature::from_bytes(entry.signature.as_bytes());
            verifier.queue((key, signature, &entry.whole));
        }
        verifier.verify(Coefficients(1)).is_ok()
    };
    ensure!(ours() && reference(), "both must accept the batch");
    #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
    let units = entries.len() as f64;
    compare(units, ours, reference)
}

fn singles(report: &mut Report) -> Result<()> {
    let secret = SecretKey::generate(&mut Seeded::from_number(0));
    let bare = ed25519_dalek::SigningKey::from_bytes(&secret.seed());
    let Entry { key, message, signature, whole } = &entries(1, 1)?[0];
    let zebra = VerificationKey::try_from(*key.as_bytes())?;
    let raw = ed25519_zebra::Signature::from_bytes(signature.as_bytes());
    let verify = || key.verify(Purpose::Statement, black_box(message), signature);
    let bare_verify = || zebra.verify(&raw, black_box(whole));
    let admit = || key.admit(Purpose::Statement, black_box(message), signature);
    let strict = || bare.verifying_key().verify_strict(black_box(whole), &raw);
    let sign = || secret.sign(Purpose::Statement, black_box(message));
    let bare_sign = || bare.sign(black_box(whole));
    let parse = || PublicKey::from_bytes(black_box(key.as_bytes()));
    report.add(
        "verify, single (files) / bare zebra, key ready",
        "/s",
        compare(1.0, verify, bare_verify)?,
        None,
    );
    report.add("admit, single (door) / bare strict, key ready", "/s", compare(1.0, admit, strict)?, None);
    report.add("sign / bare dalek", "/s", compare(1.0, sign, bare_sign)?, None);
    report.add("check a public key / verify, single", "/s", compare(1.0, parse, verify)?, None);
    Ok(())
}

/// The cheapest coefficients there can be, so that the reference loses no time over them. Not sound.
struct Coefficients(u64);

impl TryRng for Coefficients {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let number = self.try_next_u64()?;
        Ok(u32::try_from(number >> 32).unwrap_or_default())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        Ok(self.0 ^ self.0 >> 29)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Coefficients {}
