//! Some events of a trace as people look at them: in words, each with what could be checked of it without reading the
//! rest. What the store lacks is told apart from what does not hold.

use demur_ledger::{envelope::Event, name::Sequence, timeline::Entry, verify::Finding};

/// One event with what was found.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its place.
    pub sequence: Sequence,
    /// In words; none if it cannot be read.
    pub entry: Option<Entry>,
    /// The event; none if it cannot be read.
    pub event: Option<Event>,
    /// Its content as recorded, if it is there.
    pub content: Option<Vec<u8>>,
    /// Whether its author's signature holds, and the author's key could speak.
    pub signature: Standing,
    /// Whether it follows the event before it, and is the one that was recorded.
    pub chain: Standing,
    /// Whether its content is there and is what the event commits to.
    pub words: Standing,
    /// Whether the artifact that it records is there and is what the event commits to.
    pub artifact: Standing,
    /// What does not hold, in words.
    pub findings: Vec<Finding>,
}

/// What a look at one part of an event gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Good,
    /// It does not hold.
    Bad,
    /// It was recorded, and the store no longer finds it.
    Missing,
    /// It was erased on purpose.
    Erased,
    /// There is nothing that could hold.
    None,
    /// It was not looked at here.
    Unchecked,
}
