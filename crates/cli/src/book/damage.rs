//! What is wrong with a registry file, as one sentence with its line.

use std::{fmt::Display, path::Path};

use demur_ledger::verify::{Code, Report, Severity, Verdict, VerifyError};

use crate::{error::CommandError, visible::visible_path};

/// The first thing in a registry file that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
pub(crate) struct Damage {
    line: Option<u64>,
    message: String,
    /// Whether a newer version of demur may read the file.
    newer: bool,
}

impl Damage {
    /// Returns the damage of a line.
    pub(super) fn at(line: u64, message: impl Display) -> Self {
        Self { line: Some(line), message: message.to_string(), newer: false }
    }

    /// Returns what a report has against a file, if anything: for keys only a pass will do.
    pub(super) fn found_by(report: &Report) -> Option<Self> {
        let worst = match report.verdict {
            Verdict::Pass | Verdict::PassWithWarnings => return None,
            Verdict::NotEstablished => Severity::NotEstablished,
            Verdict::Fail => Severity::Failure,
        };
        let first = report.findings.iter().find(|finding| finding.severity == worst);
        Some(Self {
            line: first.and_then(|finding| finding.line),
            message: first.map_or_else(|| report.words.clone(), |finding| finding.message.clone()),
            newer: first.is_some_and(|finding| matches!(finding.code, Code::TypeUnknown | Code::FormatNewer)),
        })
    }

    /// Returns the error of the file at this path.
    pub(super) fn of(&self, path: &Path) -> CommandError {
        let message = format!("{}, {self}", visible_path(path));
        if self.newer {
            CommandError::input("FORMAT_NEWER", message)
                .with_hint("nothing was changed; install the version of demur that wrote this file")
        } else {
            Self::of_the_file(message)
        }
    }

    /// Returns the error of a file that cannot be a registry.
    pub(super) fn of_the_file(message: String) -> CommandError {
        CommandError::input("REGISTRY_DAMAGED", message).with_hint(CURE)
    }
}

/// A file that is no export at all shows it in its first line.
impl From<VerifyError> for Damage {
    fn from(error: VerifyError) -> Self {
        let newer = matches!(error, VerifyError::FormatNewer { .. });
        Self { newer, ..Self::at(1, error) }
    }
}

const CURE: &str = "nothing was changed; restore the file from a backup, or use another data folder";
