//! What may be typed after `trace`, `export`, `erase` and `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use demur_core::limit::Text;

use super::help;
use crate::lookup::TypedId;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// List the traces of the store, the newest first
    #[command(long_about = help::TRACE_LIST_ABOUT, after_long_help = help::TRACE_LIST_EXAMPLES)]
    List(ListTraces),
    /// Show the events of a trace in words
    #[command(long_about = help::TRACE_SHOW_ABOUT, after_long_help = help::TRACE_SHOW_EXAMPLES)]
    Show(ShowTrace),
    /// Write a trace as one file that anybody can verify; the same as `demur export`
    #[command(long_about = help::EXPORT_ABOUT, after_long_help = help::EXPORT_EXAMPLES)]
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct ListTraces {
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
    /// Only those opened before this one: the next page
    #[arg(long, value_name = "TRACE")]
    pub(crate) after: Option<TypedId>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowTrace {
    /// An export; or a trace of the store: its id, the first 6 characters of it or more, `last` or `registry`
    #[arg(value_name = "FILE|TRACE|last")]
    pub(crate) what: PathBuf,
    /// Draw the states of the run as SVG, with what happened, instead of telling the events
    #[arg(long)]
    pub(crate) graph: bool,
    /// Write the graph to this new file instead of standard output
    #[arg(long, value_name = "FILE", requires = "graph")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The id of a trace or the first 6 characters of it or more; `last` is the one in which something happened last,
    /// `registry` that of the keys
    #[arg(value_name = "TRACE|last|registry")]
    pub(crate) trace: TypedId,
    /// Write to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Erase {
    /// The event: the trace as in `demur export`, a dot and the number of the event, such as last.4
    #[arg(value_name = "EVENT")]
    pub(crate) event: TypedId,
    /// Why, for the record, which keeps it: do not repeat what is erased
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Text<1, 3800>,
    /// Erase without asking first
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Look at everything in the store and say what is wrong
    #[command(long_about = help::STORE_CHECK_ABOUT, after_long_help = help::STORE_CHECK_EXAMPLES)]
    Check,
    /// Make again what follows from the events
    #[command(long_about = help::STORE_REBUILD_ABOUT, after_long_help = help::STORE_REBUILD_EXAMPLES)]
    Rebuild,
    /// Copy the store into a new folder
    #[command(long_about = help::STORE_BACKUP_ABOUT, after_long_help = help::STORE_BACKUP_EXAMPLES)]
    Backup(BackupStore),
    /// Make a backup the store of the data folder
    #[command(long_about = help::STORE_RESTORE_ABOUT, after_long_help = help::STORE_RESTORE_EXAMPLES)]
    Restore(RestoreStore),
}

#[derive(Debug, Args)]
pub(crate) struct BackupStore {
    /// The folder of the backup, new or empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreStore {
    /// The folder of the backup
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Move the store that is there aside; nothing is deleted
    #[arg(long)]
    pub(crate) replace: bool,
}
