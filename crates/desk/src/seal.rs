//! How the desk seals what waits outside the ledger: under a key that is made for it from the keyring, so that a copy of the store or
//! of its journal says nothing. That it was not changed, whoever opens it finds out in another way.

use chacha20::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use demur_api::refusal::Refusal;
use zeroize::Zeroizing;

use crate::{keyring::SecretPurpose, owner::Owner};

/// Seals bytes, or opens them again: the same, both ways. A purpose is for one value, so that no part of its keystream is ever used
/// twice.
pub(crate) fn apply_key(owner: &Owner, purpose: &SecretPurpose<'_>, bytes: &mut [u8]) -> Result<(), Refusal> {
    let mut stream = Zeroizing::new(vec![0; bytes.len()]);
    fill(owner, purpose, &mut stream)?;
    for (byte, part) in bytes.iter_mut().zip(&*stream) {
        *byte ^= part;
    }
    Ok(())
}

/// Fills bytes that look drawn, and are the same each time for this purpose.
pub(crate) fn fill(owner: &Owner, purpose: &SecretPurpose<'_>, bytes: &mut [u8]) -> Result<(), Refusal> {
    let key = owner.keyring().derive(purpose)?;
    ChaCha20Rng::from_seed(*key).fill_bytes(bytes);
    Ok(())
}
