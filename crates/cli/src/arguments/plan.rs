//! What may be typed after `check`, `plan`, `audit` and `handoff`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand};
use demur_clarify::{audit::Known, name::AgentId, seal::AgentKey, uuid::Uuid};
use demur_core::limit::Text;
use demur_desk::rules::RulesSource;
use demur_ledger::name::Operation;

use super::help;
use crate::lookup::TypedId;

/// Which rules a plan is held against.
#[derive(Debug, Args)]
pub(crate) struct RulesChoice {
    /// A folder with a rule pack on top of the built-in one; may be given again, later ones win [default: what `demur rules use` keeps]
    #[arg(long, value_name = "DIR")]
    pub(crate) rules: Vec<PathBuf>,
    /// Use only the packs that --rules names
    #[arg(long, requires = "rules")]
    pub(crate) only: bool,
}

impl RulesChoice {
    /// Returns the rules that were named, or else those that the data folder keeps.
    pub(crate) fn source(&self) -> RulesSource {
        RulesSource::of(self.rules.clone(), self.only)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The plan: a file with one JSON object; `-` is standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Go on and say it again whenever the plan or a rule pack changes; Ctrl-C ends it
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) rules: RulesChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Submit a plan, and hear what must be answered first
    #[command(long_about = help::SUBMIT_ABOUT, after_long_help = help::SUBMIT_EXAMPLES)]
    Submit(SubmitPlan),
    /// List the plans, the newest first
    #[command(long_about = help::PLAN_LIST_ABOUT, after_long_help = help::PLAN_LIST_EXAMPLES)]
    List(ListPlans),
    /// Say where a session stands and what is still asked
    #[command(long_about = help::PLAN_SHOW_ABOUT, after_long_help = help::PLAN_SHOW_EXAMPLES)]
    Show(ShowPlan),
    /// Answer a question about a plan, or accept a warning
    #[command(long_about = help::RESOLVE_ABOUT, after_long_help = help::RESOLVE_EXAMPLES)]
    Resolve(ResolvePlan),
    /// Put another plan in the place of one that is not confirmed
    #[command(long_about = help::AMEND_ABOUT, after_long_help = help::AMEND_EXAMPLES)]
    Amend(AmendPlan),
    /// Withdraw a plan that is not confirmed, or one question about it
    #[command(long_about = help::WITHDRAW_ABOUT, after_long_help = help::WITHDRAW_EXAMPLES)]
    Withdraw(WithdrawPlan),
    /// Put a question again that was declined, withdrawn or not answered in time
    #[command(long_about = help::ASK_AGAIN_ABOUT, after_long_help = help::ASK_AGAIN_EXAMPLES)]
    AskAgain(AskGapAgain),
    /// Begin an operation; refused while a question blocks it
    #[command(long_about = help::BEGIN_ABOUT, after_long_help = help::BEGIN_EXAMPLES)]
    Begin(BeginOperation),
    /// Confirm a plan whose questions are all settled
    #[command(long_about = help::CONFIRM_ABOUT, after_long_help = help::CONFIRM_EXAMPLES)]
    Confirm(ConfirmPlan),
    /// Attest what was made of a confirmed plan
    #[command(long_about = help::ATTEST_ABOUT, after_long_help = help::ATTEST_EXAMPLES)]
    Attest(AttestPlan),
}

#[derive(Debug, Args)]
pub(crate) struct SubmitPlan {
    /// The plan: a file with one JSON object; `-` is standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Whose key signs it; a key with the role agent
    #[arg(long = "as", value_name = "NAME", default_value = "agent")]
    pub(crate) author: String,
    /// The session, if the caller has one: a UUID; the same session with the same plan gets the same reply
    #[arg(long, value_name = "UUID")]
    pub(crate) session: Option<Uuid>,
    /// Write demur's receipt for what was signed to this new file
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesChoice,
}

#[derive(Debug, Args)]
pub(crate) struct ListPlans {
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Only those older than this trace: the next page
    #[arg(long, value_name = "TRACE")]
    pub(crate) after: Option<TypedId>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowPlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
}

#[derive(Debug, Args)]
pub(crate) struct ResolvePlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// The gap, such as gap-001
    #[arg(value_name = "GAP")]
    pub(crate) gap: String,
    /// The answer
    #[arg(value_name = "ANSWER", required_unless_present = "accept")]
    pub(crate) answer: Option<String>,
    /// Accept a warning as it is instead of answering it
    #[arg(long, conflicts_with = "answer")]
    pub(crate) accept: bool,
    /// Answer with the key of this name (role answerer) instead of as yourself
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<Text<1, 4096>>,
    /// Write demur's receipt for what was signed to this new file
    #[arg(long, value_name = "FILE", requires = "author")]
    pub(crate) receipt: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AmendPlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// The whole plan as it is from now on: a file with one JSON object; `-` is standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Whose key signs it
    #[arg(long = "as", value_name = "NAME", default_value = "agent")]
    pub(crate) author: Text<1, 64>,
}

#[derive(Debug, Args)]
pub(crate) struct WithdrawPlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// Only this gap, such as gap-001, instead of the whole plan
    #[arg(value_name = "GAP")]
    pub(crate) gap: Option<String>,
    #[command(flatten)]
    pub(crate) act: PlanSpeaker,
}

#[derive(Debug, Args)]
pub(crate) struct AskGapAgain {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// The gap, such as gap-001
    #[arg(value_name = "GAP")]
    pub(crate) gap: String,
    #[command(flatten)]
    pub(crate) act: PlanSpeaker,
}

/// Who says it, and why.
#[derive(Debug, Args)]
pub(crate) struct PlanSpeaker {
    /// With the key of the agent that submitted the plan, instead of as yourself
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) author: Option<Text<1, 64>>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<Text<1, 4096>>,
}

#[derive(Debug, Args)]
pub(crate) struct BeginOperation {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// The operation, such as build
    #[arg(value_name = "OPERATION", value_parser = |name: &str| Operation::try_from(name.to_owned()))]
    pub(crate) operation: Operation,
    /// Exactly what begins, as a JSON object; needed once a confirmation was asked for in this plan. `-` reads standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) exact: Option<String>,
    /// Whose key signs it
    #[arg(long = "as", value_name = "NAME", default_value = "agent")]
    pub(crate) author: String,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmPlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// Whose key signs it
    #[arg(long = "as", value_name = "NAME", default_value = "agent")]
    pub(crate) author: String,
    /// Write demur's receipt for what was signed to this new file
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AttestPlan {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION")]
    pub(crate) session: TypedId,
    /// The folder with the files that were made
    #[arg(long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// The version of the program that made them
    #[arg(long, value_name = "TEXT", default_value = "unknown")]
    pub(crate) program_version: Text<1, 64>,
    /// Whose key signs it
    #[arg(long = "as", value_name = "NAME", default_value = "agent")]
    pub(crate) author: String,
    /// Write demur's receipt for what was signed to this new file
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) session: Option<TypedId>,
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check a record offline
    #[command(long_about = help::AUDIT_VERIFY_ABOUT, after_long_help = help::AUDIT_VERIFY_EXAMPLES)]
    Verify(VerifyPaper),
}

#[derive(Debug, Args)]
pub(crate) struct HandOff {
    /// The session: its id, the first 6 characters of it or more, or `last`
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) session: Option<TypedId>,
    /// What the receiver is to do
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) task: Option<Text<1, 16000>>,
    #[command(subcommand)]
    pub(crate) command: Option<HandOffCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HandOffCommand {
    /// Check a package offline
    #[command(long_about = help::HANDOFF_VERIFY_ABOUT, after_long_help = help::HANDOFF_VERIFY_EXAMPLES)]
    Verify(VerifyPaper),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyPaper {
    /// The document; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A key that you know to be the signer's; may be given again
    #[arg(long, value_name = "ed25519:HEX", required_unless_present = "registry")]
    pub(crate) key: Vec<AgentKey>,
    /// An export of the store that made the document: its registry says which keys are demur's
    #[arg(long, value_name = "EXPORT")]
    pub(crate) registry: Option<PathBuf>,
    /// The name under which demur has to have signed [default: the one in the package or export, else demur-desk]
    #[arg(long, value_name = "ID")]
    pub(crate) agent_id: Option<AgentId>,
    /// A round that you know, by its number and hash; may be given again
    #[arg(long, value_name = "N:sha256:HEX")]
    pub(crate) round: Vec<KnownRound>,
}

/// A round that the reader knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownRound(pub(crate) Known);

impl FromStr for KnownRound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once(':').and_then(|(round, hash)| Some((round.parse().ok()?, hash.parse().ok()?)));
        let (round, hash) =
            parts.ok_or("expected the number of a round and its hash, such as 3:sha256:HEX")?;
        Ok(Self(Known { round, hash }))
    }
}
