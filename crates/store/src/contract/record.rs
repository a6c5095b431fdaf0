//! Records: operational data under a name, changed only by compare and swap. What several processes must agree on without
//! an event (a token, a name that is taken, a claim, a link that works once) is a record.

use std::fmt;

use demur_core::time::Timestamp;

use super::StoreError;

/// Reads records. They are written by [`Store::commit`](super::Store::commit) alone.
///
/// **One at a time**: of several swaps from the same version one happens, in whatever process and thread. **With its
/// event**: a swap beside an append happens with it or not at all. **Kept until taken**: a store removes no record by
/// itself; one that has reached its time is found by [`Records::due`], and whoever takes it is the only one.
pub trait Records {
    /// Returns the record with this key, due or not.
    fn record(&self, key: &RecordKey) -> Result<Option<KeptRecord>, StoreError>;

    /// Returns the records whose keys begin so, by ascending key, after a key.
    fn records(
        &self,
        prefix: &str,
        after: Option<&RecordKey>,
        limit: usize,
    ) -> Result<Vec<KeptRecord>, StoreError>;

    /// Returns the records whose keys begin so and whose time is at or before `now`, the earliest first.
    fn due(&self, prefix: &str, now: Timestamp, limit: usize) -> Result<Vec<KeptRecord>, StoreError>;
}

/// The name of a record: 1 to 256 bytes. What stands before a `/` says what kind of record it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordKey(String);

impl RecordKey {
    /// How many bytes a key has at most.
    pub const LONGEST: usize = 256;

    /// Returns the key with this text.
    pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
        let text = text.into();
        if (1..=Self::LONGEST).contains(&text.len()) {
            Ok(Self(text))
        } else {
            Err(StoreError::Misuse { what: "the key of a record has 1 to 256 bytes" })
        }
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Which state of a record is meant. Each change makes a new one, which no record ever has again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u64);

impl Version {
    /// There is no such record.
    pub const ABSENT: Self = Self(0);

    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }
}

/// What a record says.
#[derive(Clone, PartialEq, Eq)]
pub struct RecordValue {
    /// In a form that its kind knows. At most [`RecordValue::LARGEST`].
    pub bytes: Vec<u8>,
    /// When it is due.
    pub expires: Option<Timestamp>,
}

impl RecordValue {
    /// How many bytes a record has at most.
    pub const LARGEST: usize = 1 << 20;
}

/// A value may be a secret: it does not show in logs.
impl fmt::Debug for RecordValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, expires } = self;
        write!(formatter, "RecordValue({} bytes, {expires:?})", bytes.len())
    }
}

/// A record as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// Its key.
    pub key: RecordKey,
    /// What it says.
    pub value: RecordValue,
    /// Which state of it that is.
    pub version: Version,
}

/// A change of one record, which happens if the record still is what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The record.
    pub key: RecordKey,
    /// What it was: [`Version::ABSENT`] where there was none.
    pub was: Version,
    /// What it becomes; none takes it away, for one caller alone.
    pub next: Option<RecordValue>,
}

impl Swap {
    /// Returns the swap that changes nothing and asks that there is no record with this key. Any number of writes may ask
    /// so: whoever makes the record ends them all.
    pub const fn absence(key: RecordKey) -> Self {
        Self { key, was: Version::ABSENT, next: None }
    }

    /// Returns whether it changes nothing.
    pub fn is_absence(&self) -> bool {
        self.was == Version::ABSENT && self.next.is_none()
    }
}
