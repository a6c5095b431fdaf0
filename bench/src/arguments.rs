//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use demur_bench::fixture::{Artifacts, Plan};

/// The benchmarks of demur, and the fixtures they run on.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run benchmarks and print their tables
    Run {
        /// Which ones; all when none is named
        names: Vec<Benchmark>,
        /// Go up to a million events and a hundred thousand traces, which takes some minutes and gigabytes
        #[arg(long)]
        full: bool,
    },
    /// Write a signed export of a whole run
    Fixture(FixtureOrder),
    /// Measure one piece of work in a process of its own
    #[command(hide = true)]
    Measure(Job),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benchmark {
    /// Canonical JSON, written and read
    Canonical,
    /// Ed25519, in batches and one by one
    Signatures,
    /// Whole exports beside the raw limit of the machine
    Verify,
    /// Durable appends beside the raw limit of the machine
    Append,
    /// A run of a thousand tool calls beside the cost of a commit
    Run,
    /// From a question to its answer over HTTP, beside its limits and LangGraph
    Ask,
    /// A call of MCP in two rounds over HTTP, beside the SDK for Python
    Mcp,
    /// Two answers to one question at the same moment, beside LangGraph
    Race,
    /// How an answer reaches two thousand open pages, and what each costs
    Viewers,
    /// What others notice of a token that attacks
    Tenancy,
    /// Answers that a passkey signed: at the door, and ten thousand of them in a file
    Passkey,
    /// Plans held against rule packs, beside canonical JSON of the same plans
    Rules,
}

#[derive(Debug, Args)]
pub(crate) struct FixtureOrder {
    /// How many events the run has
    #[arg(long)]
    pub(crate) events: u64,
    /// Where to write it; an existing file is replaced
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// What is stored beside the events; with `none` all calls share one artifact
    #[arg(long, value_enum, default_value_t = Artifacts::Small)]
    pub(crate) artifacts: Artifacts,
    /// Determines every key, salt, time and word
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl FixtureOrder {
    /// Returns what the fixture is to hold.
    pub(crate) const fn plan(&self) -> Plan {
        Plan { events: self.events, artifacts: self.artifacts, seed: self.seed }
    }
}

/// One piece of work for a child process.
#[derive(Debug, Clone, Args)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) file: PathBuf,
    #[arg(long)]
    pub(crate) threads: usize,
    /// Leave signatures out
    #[arg(long)]
    pub(crate) hash_only: bool,
    /// Repeat until this much time has passed
    #[arg(long)]
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// The verifier, reading the file
    Verify,
    /// The same checks without what lies around them, on lines in memory
    Raw,
}

impl Work {
    /// Returns the word on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Raw => "raw",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn fixture_takes_its_plan_from_the_options() {
        let line =
            ["demur-bench", "fixture", "--events", "200", "--out", "x", "--artifacts", "none", "--seed", "9"];
        let Command::Fixture(order) = Arguments::parse_from(line).command else {
            unreachable!("the line says fixture")
        };
        assert_eq!(order.plan(), Plan { events: 200, artifacts: Artifacts::Shared, seed: 9 });
    }
}
