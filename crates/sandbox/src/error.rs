//! What can go wrong around a tool. How the tool itself fails is a [`ToolOutcome`](crate::ToolOutcome).

use std::{io, path::PathBuf};

/// A tool that could not be asked for, or whose end nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The caller asks for something that cannot be run.
    #[error("{what}: expected {expected}, found {found}")]
    Request {
        /// The part of the request.
        what: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The supervisor did not start.
    #[error("cannot start the supervisor {}: {source}", program.display())]
    Start {
        /// The executable.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The supervisor ended without an answer: nobody knows how far the tool came.
    #[error("expected an outcome from the supervisor, found that it ended ({status})")]
    Lost {
        /// How it ended.
        status: String,
    },
    /// A [`Stopper`](crate::Stopper) ended the tool.
    #[error("the tool was stopped")]
    Stopped,
    /// One stage does not understand the other: both must be the same executable.
    #[error("expected {expected} from the other stage: {source}")]
    Stage {
        /// What should have come.
        expected: &'static str,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The system refused something a stage needs.
    #[error("cannot {action}: {source}")]
    System {
        /// Completes "cannot ...".
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl SandboxError {
    /// Returns what turns an error of the system into ours. `action` completes "cannot ...".
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }
}
