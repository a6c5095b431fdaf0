//! What may be typed after `rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Say whether rule packs can be used, and what is in them
    #[command(long_about = help::RULES_CHECK_ABOUT, after_long_help = help::RULES_CHECK_EXAMPLES)]
    Check(CheckRules),
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
pub(crate) struct ExplainRules {
    /// The plan, one JSON object; `-` is standard input
    pub(crate) plan: PathBuf,
    /// The folder of a pack to lay over the built-in one; may be given again, the lowest first
    #[arg(long, value_name = "FOLDER")]
    pub(crate) rules: Vec<PathBuf>,
    /// Leave the built-in pack out
    #[arg(long, requires = "rules")]
    pub(crate) only: bool,
}
