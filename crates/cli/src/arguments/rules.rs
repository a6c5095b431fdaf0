//! What may be typed after `rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{help, plan::RulesChoice};

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Say whether rule packs can be used, and what is in them
    #[command(long_about = help::RULES_CHECK_ABOUT, after_long_help = help::RULES_CHECK_EXAMPLES)]
    Check(CheckRules),
    /// Keep rule packs for every server and plan of the data folder
    #[command(long_about = help::RULES_USE_ABOUT, after_long_help = help::RULES_USE_EXAMPLES)]
    Use(UseRules),
    /// Say which rule made each gap of a plan, and why
    #[command(long_about = help::RULES_EXPLAIN_ABOUT, after_long_help = help::RULES_EXPLAIN_EXAMPLES)]
    Explain(ExplainRules),
}

#[derive(Debug, Args)]
pub(crate) struct CheckRules {
    /// The folders of packs, the lowest first; none is the built-in pack alone
    #[arg(value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// Leave the built-in pack out
    #[arg(long, requires = "folders")]
    pub(crate) only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UseRules {
    /// The folders of packs, the lowest first
    #[arg(value_name = "FOLDER", required_unless_present = "built_in")]
    pub(crate) folders: Vec<PathBuf>,
    /// Leave the built-in pack out
    #[arg(long, requires = "folders")]
    pub(crate) only: bool,
    /// Use the pack that comes with demur, and no other, again
    #[arg(long, conflicts_with_all = ["folders", "only"])]
    pub(crate) built_in: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainRules {
    /// The plan, one JSON object; `-` is standard input
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesChoice,
}
