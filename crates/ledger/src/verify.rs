//! The verifier: takes one export and says what is proven, what is the desk's word and what is neither
//! (`docs/format.md`, `docs/checks.md`; LED-34). Pure and strictly read-only: it reads from a stream, starts
//! scoped threads to use all cores, and needs neither network nor configuration.
//!
//! 0. `stated`: a first look for the checks that the file states, by whoever can read it twice.
//! 1. `opening`: header and registry, line by line.
//! 2. `examine`: the lines of the trace, in chunks, on all cores: canonical form, schema, commitments,
//!    signatures, keys.
//! 3. `walk`: the lines again in order: chain, state machine, claims, heads, checkpoint.
//! 4. `anchor`: receipts, pins and known heads.

mod acts;
mod anchor;
mod claims;
mod code;
mod compare;
mod conditions;
mod erased;
mod examine;
mod excerpt;
mod finding;
mod input;
mod opening;
mod options;
mod papers;
mod pins;
mod pipeline;
mod report;
mod sandbox;
mod stated;
mod terms;
mod trail;
mod walk;

use std::io::{self, BufRead};

pub use acts::OperationReport;
pub use claims::{
    ChallengeReport, ChecksReport, ClaimReport, ClaimStanding, EvidenceReport, EvidenceStanding,
};
pub use code::{Check, Code, FindingSeverity};
pub use compare::{Abandonment, Compared, Parting, compare};
pub use conditions::{ConditionAnswer, ConditionReport};
pub use erased::ErasureReport;
pub use excerpt::{CheckedEvent, KeptEvent, check_excerpt};
pub use finding::{Finding, Section};
pub use options::{KnownHead, Options, Pin};
pub use pins::PinReport;
pub use report::{
    Anchors, CheckReport, ConfirmationReport, DeskWord, KeyReport, PasskeyReport, QuestionReport, Report,
    RoleReport, Scope, Verdict,
};
pub use stated::StatedChecks;

use self::{
    finding::{Findings, Found},
    input::{Chunk, Input},
    walk::Walk,
};
use crate::registry::Registry;

/// Verifies an export. `progress` is told how many bytes were read so far.
pub fn verify(
    reader: impl BufRead + Send,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, VerifyError> {
    let mut input = Input::new(reader, options.signatures);
    let mut findings = Findings::new(options.profile);
    let opening = opening::read(&mut input, options, &mut findings)?;
    let (names, erased) = (opening.names, opening.erasures);
    let Some(registry) = opening.registry.filter(|_| !findings.failed() && !opening.ended) else {
        erased.report_kept(Section::Registry, &mut findings);
        return Ok(Report::without_registry(&opening.header, findings, options));
    };
    let mut walk = Walk::new(&opening.header, &registry, opening.trail, options);
    if let Some(next) = opening.next {
        let mut items = Vec::new();
        examine::examine(&next, &registry, options, &mut items);
        pipeline::take(&mut walk, &next, &mut items, &mut findings);
    }
    pipeline::run(&mut input, &mut walk, options, &mut findings, progress)?;
    walk.finish(input.before_checkpoint(), &mut findings);
    let anchors = anchor::check(&walk, options, &mut findings);
    walk.check_names(&names, options, &mut findings);
    walk.check_root(options, &mut findings);
    erased.report_kept(Section::Registry, &mut findings);
    erased.report_unrecorded(Section::Registry, &mut findings);
    if !options.signatures {
        let found = Found::new(Code::SigUnchecked, "only hashes were checked");
        findings.add(Section::File, None, None, found);
    }
    let mut report = walk.into_report(&opening.header, findings, anchors, &names, options);
    report.erased.splice(..0, erased.into_reports());
    Ok(report)
}

/// Verifies an export that is at hand whole, with every check that it states.
pub fn verify_whole(file: &[u8], options: &Options) -> Result<Report, VerifyError> {
    let checks = StatedChecks::find(file)?;
    verify(file, &Options { checks, ..options.clone() }, &mut |_| ())
}

/// Returns the registry at the beginning of an export, if all of it holds: which keys spoke for whom. The trace after it is
/// not looked at.
pub fn read_registry(reader: impl BufRead + Send) -> Result<Registry, VerifyError> {
    let options = Options::default();
    let mut findings = Findings::new(options.profile);
    let opening = opening::read(&mut Input::new(reader, true), &options, &mut findings)?;
    let holds = !findings.failed() && !opening.ended;
    opening.registry.filter(|_| holds).ok_or_else(|| VerifyError::NotAnExport {
        message: "expected a registry that holds, found one that does not".to_owned(),
    })
}

/// A file that cannot be verified at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(#[source] io::Error),
    /// It is something else.
    #[error("this is not a demur export: {message}")]
    NotAnExport {
        /// What was expected and found.
        message: String,
    },
    /// It ends in its first line.
    #[error("this is not a demur export, or only the very beginning of one: it ends before its header does")]
    NoHeader,
    /// It is of another format.
    #[error("{message}")]
    FormatNewer {
        /// What was expected and found.
        message: String,
    },
}

impl VerifyError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Read(_) => "FILE_UNREADABLE",
            Self::NotAnExport { .. } => Code::FileMalformed.as_str(),
            Self::NoHeader => Code::FileTruncated.as_str(),
            Self::FormatNewer { .. } => Code::FormatNewer.as_str(),
        }
    }
}
