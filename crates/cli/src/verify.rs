//! `demur verify`: takes one file home and says what it proves. No network, no configuration, no data folder.

mod anchor;
pub(crate) mod no_guess;
mod page;
mod reply;
mod source;

use std::{path::Path, time::Instant};

use demur_api::code::Code;
use demur_desk::{
    audit::threads,
    verification::{Guesses, Verification},
    visible::visible_path,
};
use demur_ledger::{
    registry::Registry,
    verify::{Options, Report, Verdict, VerifyError},
};

pub(crate) use anchor::{parse_head, parse_pin};

use self::{page::Page, source::Source};
use crate::{
    arguments::Verify,
    context::Context,
    exit::Exit,
    failure::Failure,
    trace::{in_store, verifying},
};

/// Verifies one file, or two side by side.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Verify) -> Result<Exit, Failure> {
    let (options, second) = given(arguments)?;
    // A page that cannot be written is said before a long file is read, not after.
    let page = arguments.html.as_deref().map(Page::reserve).transpose()?;
    let begun = Instant::now();
    let watched = context.output.is_watched();
    let mut source =
        Source::open(&arguments.file).map_err(|error| meant_trace(context, &arguments.file, error))?;
    let first = source.verify(&options, watched)?;
    let second = second.map(|path| beside(path, &options, watched)).transpose()?;
    let mut guesses = || no_guess::guesses(&mut source, &first, arguments.rules_hash);
    let guesses = arguments.no_guess.then(&mut guesses).transpose()?;
    let verification = Verification::new(first, second, guesses, begun.elapsed());
    if let Some(page) = page {
        page.write(&reply::page(&verification))?;
        let path = arguments.html.as_deref().map(visible_path).unwrap_or_default();
        context.output.notice(&format!("The report was written to {path}."));
    }
    context.output.reply(&verification)?;
    let fails = match verification.verdict {
        Verdict::Pass => false,
        Verdict::PassWithWarnings => arguments.warnings_as_errors,
        Verdict::NotEstablished | Verdict::Fail => true,
    };
    Ok(if fails { Exit::VerificationFailed } else { Exit::Success })
}

/// Verifies the file at this path with default options, in silence, and says what it shows about guesses.
pub(crate) fn quiet_guesses(path: &Path) -> Result<Guesses, Failure> {
    let mut source = Source::open(path)?;
    let report = source.verify(&Options { threads: threads(), ..Options::default() }, false)?;
    no_guess::guesses(&mut source, &report, None)
}

/// Verifies the file at this path with default options, in silence.
pub(crate) fn quietly(path: &Path) -> Result<Report, Failure> {
    report(path, &Options { threads: threads(), ..Options::default() }, false)
}

/// Returns the error of a file that cannot be verified at all.
pub(crate) fn unreadable(shown: &str, error: &VerifyError) -> Failure {
    let hint = match error {
        VerifyError::FormatNewer { .. } => "the file may be sound: this version of demur cannot tell",
        VerifyError::Read(_) => "check that the path is a file you may read",
        _ => "expected is a file that demur exported; a receipt is given after it, or with --receipt",
    };
    Failure::of(Code::of(error.code()), format!("{shown}: {error}")).with_hint(hint)
}

/// Returns the error of a file that is not there; somebody who named a trace hears what verifies it.
fn meant_trace(context: &Context<'_>, path: &Path, error: Failure) -> Failure {
    match in_store(path).filter(|_| !path.exists()) {
        Some(typed) => {
            let verifying = verifying(context, typed.as_str());
            error.with_hint(format!("a file is expected: `{verifying}` verifies a trace of the data folder"))
        }
        None => error,
    }
}

/// Returns the options, and the second file if it is an export: a receipt is an option.
fn given(arguments: &Verify) -> Result<(Options, Option<&Path>), Failure> {
    let mut second = arguments.second.as_deref();
    let receipts = arguments.receipt.iter().map(|path| anchor::receipt(path));
    let mut receipts = receipts.collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = second.filter(|path| anchor::is_receipt(path)) {
        receipts.push(anchor::receipt(path)?);
        second = None;
    }
    if second == Some(Path::new("-")) && arguments.file == Path::new("-") {
        let message = "expected two files to compare, found standard input twice";
        return Err(Failure::input("USAGE", message).with_hint("save one of them to a file first"));
    }
    let options = Options {
        profile: arguments.profile(),
        pins: arguments.pin.clone(),
        against: arguments.against.clone(),
        registry: arguments.registry.as_deref().map(|path| newest(path, !arguments.hash_only)).transpose()?,
        receipts,
        require_anchor: arguments.require_anchor,
        signatures: !arguments.hash_only,
        threads: threads(),
        ..Options::default()
    };
    Ok((options, second))
}

fn beside(path: &Path, options: &Options, watched: bool) -> Result<Report, Failure> {
    // A receipt or a known event may lie beyond the end of a shorter file, which is no point against it.
    let options =
        Options { receipts: Vec::new(), against: Vec::new(), require_anchor: false, ..options.clone() };
    report(path, &options, watched)
}

fn report(path: &Path, options: &Options, watched: bool) -> Result<Report, Failure> {
    Source::open(path)?.verify(options, watched)
}

/// Reads a registry that the reader has from elsewhere. One that does not hold says nothing about another file.
fn newest(path: &Path, signatures: bool) -> Result<Registry, Failure> {
    let report = report(path, &Options { threads: threads(), signatures, ..Options::default() }, false)?;
    let registry = report.registry().filter(|_| report.verdict != Verdict::Fail).cloned();
    registry.ok_or_else(|| {
        let message = format!("{}: expected an export whose registry holds", visible_path(path));
        Failure::input("REGISTRY_UNUSABLE", message)
            .with_hint("`demur verify FILE` says what is wrong with it; `demur export registry` makes one")
    })
}
