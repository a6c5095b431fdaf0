//! The report as text.

use std::fmt::Write as _;

use demur_core::{quote::quoted, visible::visible, words::counted};

use super::{
    Report, Verdict, claims, conditions, confirmations, key_name, operations, passkeys, questions, rested,
    roles,
};
use crate::verify::{ErasureReport, Finding, FindingSeverity, Section};

/// Returns the report as lines of text. Writing to a String cannot fail.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    scope(report, &mut out);
    findings(report, &mut out);
    list(&mut out, "Not proven by this report", report.not_proven.iter().cloned());
    list(&mut out, "Roles", report.roles.iter().map(|role| visible(&roles::row(role)).to_string()));
    pins(report, &mut out);
    keys(report, &mut out);
    list(&mut out, "Proven by a passkey", report.passkeys.iter().map(passkeys::row));
    desk_word(report, &mut out);
    claims(report, &mut out);
    conditions(report, &mut out);
    list(&mut out, "Questions", report.questions.iter().map(questions::row));
    operations(report, &mut out);
    list(&mut out, "Confirmations", report.confirmations.iter().map(confirmations::row));
    list(&mut out, rested::TITLE, report.rested.iter().map(rested::row));
    list(&mut out, "Erased", report.erased.iter().map(ErasureReport::row));
    checks(report, &mut out);
    out
}

fn scope(report: &Report, out: &mut String) {
    let scope = &report.scope;
    let _ = writeln!(out, "trace    {}", scope.trace);
    let _ = writeln!(out, "store    {}", scope.store);
    let _ = writeln!(
        out,
        "scope    {}, {}, profile {}, written by {}",
        counted(scope.events, "event"),
        counted(scope.registry_events, "registry event"),
        profile(report),
        quoted(&scope.software)
    );
    if let Some(through) = scope.through {
        let _ = writeln!(out, "head     {} {}", through.sequence, through.hash);
    }
    if let (Some(state), Some(exported)) = (scope.state, scope.exported) {
        let _ = writeln!(out, "state    {state}, exported {exported} by the desk's clock");
    }
    if let Some(policy) = &report.policy {
        let _ = writeln!(out, "policy   {policy}");
    }
    if let Some(sandbox) = &report.sandbox {
        let _ = writeln!(out, "sandbox  {sandbox}");
    }
    let _ = writeln!(out, "verdict  {}", verdict_word(report.verdict));
    let _ = writeln!(out, "         {}", report.words);
    if let Some(bad) = report.first_bad {
        let _ = writeln!(out, "         first bad event: {bad}");
        let trusted = report.last_trusted.map_or("none".to_owned(), |last| last.to_string());
        let _ = writeln!(out, "         last trusted event: {trusted}");
    }
}

/// Returns the verdict as people read it.
pub(super) const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::PassWithWarnings => "PASS WITH WARNINGS",
        Verdict::NotEstablished => "NOT ESTABLISHED",
        Verdict::Fail => "FAIL",
    }
}

/// Returns the profile's name.
pub(super) const fn profile(report: &Report) -> &'static str {
    match report.scope.profile {
        crate::facts::VerificationProfile::Strict => "strict",
        crate::facts::VerificationProfile::Default => "default",
        crate::facts::VerificationProfile::Lenient => "lenient",
    }
}

fn keys(report: &Report, out: &mut String) {
    let rows = report.proven_by_key.iter().map(|key| {
        let roles: Vec<_> = key.roles.iter().map(|role| role.as_str()).collect();
        format!(
            "{} {}, {}, {}, {}; {}",
            key.fingerprint.short(),
            roles.join("+"),
            counted(key.statements, "statement"),
            key.standing,
            key.origin,
            key_name(key)
        )
    });
    list(out, "Proven by a key", rows);
}

fn pins(report: &Report, out: &mut String) {
    let rows = report.anchors.pins.iter().map(|pin| format!("{}: {}", visible(&pin.name), pin.words()));
    list(out, "Keys you pinned", rows);
}

fn conditions(report: &Report, out: &mut String) {
    let left = report.conditions_total.saturating_sub(report.conditions.len() as u64);
    let rest = (left > 0).then(|| format!("{left} further conditions are not listed"));
    list(out, conditions::TITLE, report.conditions.iter().map(conditions::row).chain(rest));
}

fn operations(report: &Report, out: &mut String) {
    let left = report.operations_total.saturating_sub(report.operations.len() as u64);
    let rest = (left > 0).then(|| format!("{left} further operations are not listed"));
    list(out, "Operations", report.operations.iter().map(operations::row).chain(rest));
}

fn desk_word(report: &Report, out: &mut String) {
    let records = report
        .desk_word
        .records
        .iter()
        .map(|(kind, count)| format!("{count} x {} without a key", visible(kind)));
    let besides = report.desk_word.besides.iter().map(|line| (*line).to_owned());
    list(out, "The desk's word", records.chain(besides));
}

fn claims(report: &Report, out: &mut String) {
    let rows = report.claims.iter().map(|claim| {
        let mut row = format!("#{} {}", claim.claim, claims::text(claim));
        for (label, text) in claims::rows(claim) {
            let _ = write!(row, "\n    {label:<11}{text}");
        }
        row
    });
    list(out, "Claims", rows);
}

fn checks(report: &Report, out: &mut String) {
    let _ = writeln!(out, "\nChecks (none: there was nothing to check, or it was not reached)");
    for check in &report.checks {
        let word = match (check.worst, check.made) {
            (Some(FindingSeverity::Failure), _) => "FAIL",
            (Some(FindingSeverity::NotEstablished), _) => "open",
            (Some(FindingSeverity::Warning), _) => "warn",
            (None, true) => "ok",
            (None, false) => "none",
        };
        let count = if check.findings > 0 { format!(" ({})", check.findings) } else { String::new() };
        let _ = writeln!(out, "  {word:<4}  {}{count}", check.check.meaning());
    }
}

fn findings(report: &Report, out: &mut String) {
    for (severity, title) in [
        (FindingSeverity::Failure, "Failures"),
        (FindingSeverity::NotEstablished, "Not established"),
        (FindingSeverity::Warning, "Warnings"),
    ] {
        let rows = report.findings.iter().filter(|finding| finding.severity == severity);
        let rows = rows.map(|finding| {
            format!(
                "{} {}: {}\n    why: {}\n    do:  {}",
                finding.code,
                place(finding),
                visible(&finding.message),
                finding.code.meaning(),
                finding.code.cure()
            )
        });
        list(out, title, rows);
    }
    let left = report.findings_total.saturating_sub(report.findings.len() as u64);
    if left > 0 {
        let _ = writeln!(out, "\n{left} further findings are counted above and not listed.");
    }
}

/// Returns where a finding is.
pub(super) fn place(finding: &Finding) -> String {
    let part = match finding.section {
        Section::File => "file",
        Section::Registry => "registry",
        Section::Trace => "trace",
    };
    let event = finding.sequence.map_or(String::new(), |at| format!(" event {at}"));
    let line = finding.line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{part}{event}{line}")
}

fn list(out: &mut String, title: &str, rows: impl Iterator<Item = String>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for row in rows {
        let _ = writeln!(out, "  {row}");
    }
}
