//! What a stranger is told of credentials: for every name as many, some of them nobody's. They are made from the name and a secret of
//! this server, and so are the same each time. Who has a passkey, and how many, nobody sees by that.

use demur_api::refusal::Refusal;
use demur_ledger::facts::Enrolment;

use super::text;
use crate::{keyring::SecretPurpose, name, owner::Owner, seal};

/// Returns the credentials of these passkeys of somebody with this name, with others beside them, in an order that tells nothing.
pub(super) fn beside<'a>(
    owner: &Owner,
    typed: &str,
    own: impl Iterator<Item = &'a Enrolment>,
) -> Result<Vec<String>, Refusal> {
    let mut credentials: Vec<_> = own.map(|passkey| text(&passkey.credential)).collect();
    // All of them are made for every name: the time it takes is the same.
    let others = others(owner, &name::folded(typed))?;
    let room = credentials.len().next_multiple_of(SHOWN).max(SHOWN) - credentials.len();
    credentials.extend(others.into_iter().take(room));
    credentials.sort_unstable();
    Ok(credentials)
}

fn others(owner: &Owner, name: &str) -> Result<Vec<String>, Refusal> {
    let mut drawn = [0; SHOWN * (1 + LONGEST)];
    seal::fill(owner, &SecretPurpose::OtherCredentials(name), &mut drawn)?;
    let other = |drawn: &[u8]| {
        let (choice, bytes) = drawn.split_first()?;
        let length = LENGTHS[usize::from(*choice) % LENGTHS.len()];
        bytes.get(..length).map(text)
    };
    Ok(drawn.chunks_exact(1 + LONGEST).filter_map(other).collect())
}

/// How many a stranger is told of; more where somebody has more.
const SHOWN: usize = 8;
/// How many bytes the credentials of widespread authenticators have.
const LENGTHS: [usize; 8] = [16, 20, 32, 32, 32, 48, 64, LONGEST];
const LONGEST: usize = 96;
