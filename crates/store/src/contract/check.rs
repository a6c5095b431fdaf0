//! What a check of a whole store finds, and how far it is.

use std::fmt;

use demur_ledger::{
    name::{Sequence, TraceId},
    newer::Newer,
};

/// Something wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreProblem {
    /// The structure of the database.
    Database {
        /// What the database says.
        message: String,
        /// Whether it is only about an index, which `rebuild` makes again.
        is_derived: bool,
    },
    /// An event or what is kept beside it.
    Event {
        /// Its trace.
        trace: TraceId,
        /// Its place.
        sequence: Sequence,
        /// What is wrong.
        what: String,
    },
    /// An event that a newer version of demur wrote: nothing is wrong with it, and this version cannot judge it.
    Newer {
        /// Its trace.
        trace: TraceId,
        /// Its place.
        sequence: Sequence,
        /// What is not known here.
        newer: Newer,
    },
    /// A table that does not follow from the events. `rebuild` mends it.
    Derived {
        /// The table.
        table: &'static str,
        /// Rows that should be there and are not.
        missing: u64,
        /// Rows that should not be there.
        extra: u64,
    },
}

impl StoreProblem {
    /// Returns whether `rebuild` mends it, provided that the events hold.
    pub const fn is_derived(&self) -> bool {
        match self {
            Self::Derived { .. } => true,
            Self::Database { is_derived, .. } => *is_derived,
            Self::Event { .. } | Self::Newer { .. } => false,
        }
    }
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database { message, .. } => write!(formatter, "the database is damaged: {message}"),
            Self::Event { trace, sequence, what } => {
                write!(formatter, "event {sequence} of trace {trace}: {what}")
            }
            Self::Newer { trace, sequence, newer } => write!(
                formatter,
                "event {sequence} of trace {trace} has {newer}, which this demur does not know"
            ),
            Self::Derived { table, missing, extra } => write!(
                formatter,
                "the table {table} lacks {missing} rows and has {extra} that do not follow from the events"
            ),
        }
    }
}

/// How far a long job over a whole store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreProgress {
    /// What is being done.
    pub step: StoreStep,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
}

/// A part of a long job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStep {
    /// The structure of the database; counts as one.
    Structure,
    /// Events, one by one.
    Events,
    /// Copying the database; counts as one.
    Copy,
    /// Artifacts, one by one.
    Artifacts,
}
