//! Where a session stands, in the words of the protocol.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Gaps are open: nothing is planned, generated or built.
    NeedsClarification,
    /// Every gap is settled; the plan can be confirmed.
    ReadyToProceed,
    /// The plan is confirmed.
    #[serde(rename = "plan_accepted")]
    Confirmed,
    /// What was made of it is attested.
    Attested,
    /// It was taken back: nothing is asked about it any more.
    Withdrawn,
}

impl PlanStatus {
    /// Returns the word of the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsClarification => "needs_clarification",
            Self::ReadyToProceed => "ready_to_proceed",
            Self::Confirmed => "plan_accepted",
            Self::Attested => "attested",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl fmt::Display for PlanStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_written_in_the_word_of_the_protocol() {
        for status in [
            PlanStatus::NeedsClarification,
            PlanStatus::ReadyToProceed,
            PlanStatus::Confirmed,
            PlanStatus::Attested,
            PlanStatus::Withdrawn,
        ] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
