//! Commands that follow from an idempotency key and a request, so that the ledger itself remembers which request came under
//! which key, for good (CLR-04).

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    canonical,
    hash::{Digest, Purpose, digest},
    id::Ulid,
};
use demur_ledger::{
    author::Author,
    name::{CommandId, Position, PrincipalId},
};
use demur_sequencer::read_performed;
use demur_store::contract::{Performed, RecordKey, RecordValue, Swap};
use serde::Serialize;

use crate::{owner::Owner, records};

/// A command: 64 bits from the key and its author, 64 from the request.
pub(crate) struct Keyed {
    principal: PrincipalId,
    command: CommandId,
}

impl Keyed {
    /// Returns the command of a request that an author sends under a key.
    pub(crate) fn new(author: &Author, key: &str, request: &impl Serialize) -> Result<Self, Refusal> {
        let principal = author.principal().as_ulid().as_u128().to_be_bytes();
        let beginning = first_bits(&digest(Purpose::Effect, &[b"idempotency\0", &principal, key.as_bytes()]));
        let request = canonical::to_vec(request)?;
        let end = first_bits(&digest(Purpose::Effect, &[b"request\0", &request]));
        let number = u128::from(beginning) << 64 | u128::from(end);
        Ok(Self { principal: author.principal(), command: CommandId::from(Ulid::from_u128(number)) })
    }

    /// Returns the command.
    pub(crate) const fn command(&self) -> CommandId {
        self.command
    }

    /// Returns the record that is made with the event of the command. It is made once, so that of two requests under one key one
    /// is recorded, also with several processes.
    pub(crate) fn swap(&self) -> Result<Swap, Refusal> {
        let key = RecordKey::new(format!("{PREFIX}{}/{:016x}", self.principal, self.beginning()))?;
        let bytes = self.command.to_string().into_bytes();
        Ok(records::creation(key, RecordValue { bytes, expires: None }))
    }

    fn beginning(&self) -> u64 {
        (self.command.as_ulid().as_u128() >> 64) as u64
    }

    /// Returns the event of an earlier request under the same key; another request under it is refused.
    pub(crate) fn earlier(&self, owner: &Owner, author: &Author) -> Result<Option<Performed>, Refusal> {
        let registry = owner.sequencer().registry();
        let store = owner.sequencer().store();
        // A key that was rotated is the same author.
        let own = registry.keys().filter(|(_, record)| record.principal == author.principal());
        let mut found = None;
        for (key, _) in own {
            found = found.or(store.command_beginning(key, self.beginning())?);
        }
        match found {
            None => Ok(None),
            Some((command, performed)) if command == self.command => Ok(Some(performed)),
            Some(_) => {
                let message =
                    "expected the request that came first under this Idempotency-Key, found another";
                Err(Refusal::new(Code::IdempotencyConflict, message)
                    .with_cure("send a new key with a new request; nothing was recorded"))
            }
        }
    }
}

/// Returns the place of the event that a command became.
pub(crate) fn position(performed: &Performed) -> Result<Position, Refusal> {
    Ok(read_performed(performed)?.position())
}

/// Returns the first 64 bits of a digest.
fn first_bits(digest: &Digest) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_be_bytes(bytes)
}

/// What the keys of their records begin with.
const PREFIX: &str = "idempotency/";
