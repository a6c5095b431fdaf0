//! What may be typed after `run`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use demur_core::limit::Text;

use super::help;
use crate::lookup::TypedId;

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task file
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// The policy file, in place of the one that the task names
    #[arg(long, value_name = "FILE", requires = "task")]
    pub(crate) policy: Option<PathBuf>,
    /// Stop as soon as the run has come so far; `demur run resume` goes on
    #[arg(long, value_name = "STATE", value_enum, requires = "task")]
    pub(crate) until: Option<Until>,
    #[command(subcommand)]
    pub(crate) command: Option<RunCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Go on with a run that was interrupted or stopped
    #[command(long_about = help::RESUME_ABOUT, after_long_help = help::RESUME_EXAMPLES)]
    Resume(ResumeRun),
    /// Say where a run stands and what it waits for
    #[command(long_about = help::STATUS_ABOUT, after_long_help = help::STATUS_EXAMPLES)]
    Status(StatusRun),
    /// End a run for good, with a reason in the record
    #[command(long_about = help::ABORT_ABOUT, after_long_help = help::ABORT_EXAMPLES)]
    Abort(AbortRun),
}

#[derive(Debug, Args)]
pub(crate) struct ResumeRun {
    /// The trace of the run: its id, the first 6 characters of it or more, or `last`; the newest that has not ended if
    /// none is given
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Option<TypedId>,
    /// Stop as soon as the run has come so far
    #[arg(long, value_name = "STATE", value_enum)]
    pub(crate) until: Option<Until>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusRun {
    /// The trace of the run: its id, the first 6 characters of it or more, or `last`; the newest if none is given
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Option<TypedId>,
}

#[derive(Debug, Args)]
pub(crate) struct AbortRun {
    /// The trace of the run: its id, the first 6 characters of it or more, or `last`; the newest that has not ended if
    /// none is given
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Option<TypedId>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Text<1, 16000>,
}

/// How far a run is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// A plan is there
    Reviewing,
    /// The plan is approved
    Executing,
    /// The work is done
    Claiming,
    /// The final statement is signed
    Auditing,
}
