//! An event as large as a usual one: the statement of a tool intent inside its envelope.

use demur_core::commitment::{Commitment, Salt};
use demur_core::hash::{Digest, Purpose, digest};
use demur_core::id::Ulid;
use demur_core::key::{SecretKey, Signature};
use demur_core::limit::Text;
use demur_core::random::Seeded;
use demur_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What the desk records. Fields stand in canonical order, so that writing needs no sorting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Envelope {
    epoch: u64,
    format: u64,
    previous: Digest,
    proof: Proof,
    registry: Position,
    sequence: u64,
    statement: Statement,
    time: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Proof {
    kind: String,
    signature: Signature,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Position {
    hash: Digest,
    sequence: u64,
}

/// What the author says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Statement {
    command: Ulid,
    content: Commitment,
    facts: Facts,
    not_after: Timestamp,
    role: Role,
    seen: Option<Position>,
    store: Digest,
    trace: Ulid,
    #[serde(rename = "type")]
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Facts {
    call: Ulid,
    proposal: u64,
    risk: String,
    tool: Text<1, 128>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Executor,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    ToolIntentSigned,
}

impl Envelope {
    /// Returns the same event each time.
    pub(crate) fn sample() -> Self {
        let mut random = Seeded::from_number(1);
        let key = SecretKey::generate(&mut random);
        let now = Timestamp::MIN.plus_millis(1_794_700_800_123);
        let hash = |name: &[u8]| digest(Purpose::Envelope, &[name]);
        let facts = Facts {
            call: Ulid::new(now, &mut random),
            proposal: 3,
            risk: "high".to_owned(),
            tool: Text::try_from("payments.transfer").expect("the name is short"),
        };
        let statement = Statement {
            command: Ulid::new(now, &mut random),
            content: Commitment::to_content(&Salt::draw(&mut random), b"{}"),
            facts,
            not_after: now.plus_millis(60_000),
            role: Role::Executor,
            seen: None,
            store: hash(b"store"),
            trace: Ulid::new(now, &mut random),
            kind: Kind::ToolIntentSigned,
        };
        Self {
            epoch: 1,
            format: 1,
            previous: hash(b"previous"),
            proof: Proof { kind: "ed25519".to_owned(), signature: key.sign(Purpose::Statement, b"{}") },
            registry: Position { hash: hash(b"registry"), sequence: 12 },
            sequence: 18,
            statement,
            time: now,
        }
    }
}
