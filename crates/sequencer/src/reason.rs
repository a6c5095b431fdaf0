//! The codes under which somebody is told what a sequencer cannot do. A rule that said no keeps its own.

use demur_core::reason::{BUG, Reason};

use crate::error::SequencerError;

impl Reason for SequencerError {
    fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::TraceUnknown { .. } => "TRACE_UNKNOWN",
            Self::NoDeskKey => "NO_DESK_KEY",
            Self::Damaged { .. } => "RECORD_DAMAGED",
            Self::Moved => "MOVED",
            Self::Contended => "CONTENDED",
            Self::RecordChanged => "RECORD_CHANGED",
            Self::LeaseLost => "LEASE_LOST",
            Self::Store(error) => error.code(),
            Self::Commit(error) => error.code(),
            Self::ErasureUnfinished(_) => "ERASURE_UNFINISHED",
            Self::Uncertain => "WRITE_UNCERTAIN",
            Self::Output(_) => "OUTPUT_TROUBLE",
            Self::NotCreated | Self::Created | Self::Draft(_) | Self::Desk(_) | Self::Write(_) => BUG,
        }
    }

    fn field(&self) -> Option<&'static str> {
        if let Self::Refused(refusal) = self { refusal.field() } else { None }
    }

    fn message(&self) -> String {
        if let Self::Refused(refusal) = self { refusal.message() } else { self.to_string() }
    }

    fn cure(&self) -> Option<&'static str> {
        if let Self::Refused(refusal) = self { refusal.cure() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use demur_store::contract::StoreError;

    use super::*;

    /// Whoever does not know whether a key was registered must not throw its secret away.
    #[test]
    fn unconfirmed_writes_are_told_apart_however_they_come() {
        let is_uncertain = |error: SequencerError| error.code() == "WRITE_UNCERTAIN";
        assert!(is_uncertain(SequencerError::Uncertain));
        assert!(is_uncertain(StoreError::Uncertain.into()));
        assert!(!is_uncertain(StoreError::Full.into()));
        assert!(!is_uncertain(SequencerError::Commit(StoreError::Full.into())));
    }
}
