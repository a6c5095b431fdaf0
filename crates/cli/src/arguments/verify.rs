//! What may be typed after `verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use demur_core::hash::Digest;
use demur_ledger::{
    facts::VerificationProfile,
    verify::{KnownHead, Pin},
};

use crate::verify::{parse_head, parse_pin};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Verify {
    /// The export; `-` is standard input
    pub(crate) file: PathBuf,
    /// Another export of the same store to compare it with, or a receipt
    pub(crate) second: Option<PathBuf>,
    /// A receipt that demur gave you; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Vec<PathBuf>,
    /// A key you know, under your name for it; the name `desk` is for the desk's; may be given again
    #[arg(long, value_name = "NAME=FINGERPRINT", value_parser = parse_pin)]
    pub(crate) pin: Vec<Pin>,
    /// An event of the trace or the registry you know, by its hash; may be given again
    #[arg(long, value_name = "HASH|SEQUENCE:HASH", value_parser = parse_head)]
    pub(crate) against: Vec<KnownHead>,
    /// An export of the store, perhaps newer: its registry shows which keys were revoked since
    #[arg(long, value_name = "FILE")]
    pub(crate) registry: Option<PathBuf>,
    /// How strictly to judge disputes, evidence and roles; integrity is the same in all three
    #[arg(long, value_enum, default_value_t = ProfileName::Default)]
    profile: ProfileName,
    /// The same as --profile strict
    #[arg(long, conflicts_with_all = ["profile", "lenient"])]
    strict: bool,
    /// The same as --profile lenient
    #[arg(long, conflicts_with = "profile")]
    lenient: bool,
    /// Fail unless a receipt, a pinned key or a known event ties the file to what you know
    #[arg(long)]
    pub(crate) require_anchor: bool,
    /// Check hashes only, which is faster and never a pass
    #[arg(long)]
    pub(crate) hash_only: bool,
    /// End with 1 on warnings too
    #[arg(long)]
    pub(crate) warnings_as_errors: bool,
    /// Also show that nothing in the plan was guessed: the rules in the file are asked again
    #[arg(long, conflicts_with = "second")]
    pub(crate) no_guess: bool,
    /// The rules you expect, by the SHA-256 that `demur rules check` shows
    #[arg(long, value_name = "HASH", requires = "no_guess")]
    pub(crate) rules_hash: Option<Digest>,
    /// Also write the report of the first file as a page to this new file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

impl Verify {
    /// Returns how strictly to judge.
    pub(crate) fn profile(&self) -> VerificationProfile {
        match self.profile {
            _ if self.strict => VerificationProfile::Strict,
            _ if self.lenient => VerificationProfile::Lenient,
            ProfileName::Strict => VerificationProfile::Strict,
            ProfileName::Default => VerificationProfile::Default,
            ProfileName::Lenient => VerificationProfile::Lenient,
        }
    }
}

/// The ways to judge.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileName {
    /// Warnings that somebody should look into fail: disputes, unfinished runs and plans, clients that judge their own work
    Strict,
    /// They are warnings
    Default,
    /// So are missing evidence and overstepped roles
    Lenient,
}
