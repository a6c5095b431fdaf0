//! The report as one self-contained page: no script, no outside assets, prints well, nothing by colour alone.

use std::fmt::Write as _;

use demur_core::{quote::quoted, visible::visible};

use super::{
    Report, Verdict, claims, conditions, confirmations, key_name, operations, questions, rested, roles,
    text::{place, profile, verdict_word},
};
use crate::{
    markup::escape,
    verify::{ErasureReport, FindingSeverity},
};

/// Returns the page, with what was looked at beside the file: titles, each with its rows.
pub(super) fn render(report: &Report, verdict: Verdict, beside: &[(&str, Vec<String>)]) -> String {
    format!("{HEAD}{}</main></body></html>\n", body(report, verdict, beside))
}

/// Returns what stands in the page. Everything from the file is escaped.
pub(super) fn body(report: &Report, verdict: Verdict, beside: &[(&str, Vec<String>)]) -> String {
    let mut out = String::new();
    summary(report, verdict, &mut out);
    findings(report, &mut out);
    for (title, rows) in beside {
        list(&mut out, title, rows.iter().cloned());
    }
    list(&mut out, "Not proven by this report", report.not_proven.iter().cloned());
    if !report.roles.is_empty() {
        list(&mut out, "Roles", report.roles.iter().map(roles::row));
    }
    if !report.anchors.pins.is_empty() {
        let pins = report.anchors.pins.iter().map(|pin| format!("{}: {}", visible(&pin.name), pin.words()));
        list(&mut out, "Keys you pinned", pins);
    }
    keys(report, &mut out);
    passkey_rows(report, &mut out);
    let records =
        report.desk_word.records.iter().map(|(kind, count)| format!("{count} × {kind} without a key"));
    let besides = report.desk_word.besides.iter().map(|line| (*line).to_owned());
    list(&mut out, "The desk's word", records.chain(besides));
    claims(report, &mut out);
    if !report.conditions.is_empty() {
        let left = report.conditions_total.saturating_sub(report.conditions.len() as u64);
        let rest = (left > 0).then(|| format!("{left} further conditions are not listed"));
        list(&mut out, conditions::TITLE, report.conditions.iter().map(conditions::row).chain(rest));
    }
    if !report.questions.is_empty() {
        list(&mut out, "Questions", report.questions.iter().map(questions::row));
    }
    if !report.operations.is_empty() {
        let left = report.operations_total.saturating_sub(report.operations.len() as u64);
        let rest = (left > 0).then(|| format!("{left} further operations are not listed"));
        let rows = report.operations.iter().map(operations::row);
        list(&mut out, "Operations", rows.chain(rest));
    }
    if !report.confirmations.is_empty() {
        list(&mut out, "Confirmations", report.confirmations.iter().map(confirmations::row));
    }
    if !report.erased.is_empty() {
        list(&mut out, "Erased", report.erased.iter().map(ErasureReport::row));
    }
    if !report.rested.is_empty() {
        list(&mut out, rested::TITLE, report.rested.iter().map(rested::row));
    }
    checks(report, &mut out);
    out
}

/// Writes the verdict, and what it is about.
fn summary(report: &Report, verdict: Verdict, out: &mut String) {
    let scope = &report.scope;
    let _ = write!(
        out,
        "<h1>Verification report</h1>\n<p class=\"verdict\"><strong>{}</strong></p>\n<p>{}</p>\n<dl>",
        verdict_word(verdict),
        escape(&report.words)
    );
    let of_the_file = (verdict != report.verdict).then(|| verdict_word(report.verdict).to_owned());
    let through = scope.through.map(|through| format!("{} {}", through.sequence, through.hash));
    for (name, value) in [
        ("Of the file alone", of_the_file),
        ("Trace", Some(scope.trace.to_string())),
        ("Store", Some(scope.store.to_string())),
        ("Events", Some(format!("{} and {} in the registry", scope.events, scope.registry_events))),
        ("Head", through),
        ("State", scope.state.map(str::to_owned)),
        ("Exported", scope.exported.map(|time| format!("{time} by the desk's clock"))),
        ("Policy", report.policy.clone()),
        ("Sandbox", report.sandbox.clone()),
        ("Profile", Some(profile(report).to_owned())),
        ("Written by", Some(quoted(&scope.software))),
        ("First bad event", report.first_bad.map(|bad| bad.to_string())),
        ("Last trusted event", report.last_trusted.map(|last| last.to_string())),
    ] {
        if let Some(value) = value {
            let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
        }
    }
    out.push_str("</dl>\n");
}

fn keys(report: &Report, out: &mut String) {
    table(
        out,
        "Proven by a key",
        &["Key", "Roles", "Statements", "Standing", "Origin", "Name"],
        report.proven_by_key.iter().map(|key| {
            let roles: Vec<_> = key.roles.iter().map(|role| role.as_str()).collect();
            vec![
                key.fingerprint.to_string(),
                roles.join(", "),
                key.statements.to_string(),
                key.standing.to_owned(),
                key.origin.to_owned(),
                key_name(key),
            ]
        }),
    );
}

fn passkey_rows(report: &Report, out: &mut String) {
    if report.passkeys.is_empty() {
        return;
    }
    table(
        out,
        "Proven by a passkey",
        &["Passkey", "Person", "Kept, by its own flags", "Vouched for", "Standing", "Statements", "Touches"],
        report.passkeys.iter().map(|passkey| {
            vec![
                passkey.fingerprint.to_string(),
                passkey.called.clone(),
                passkey.kept.to_owned(),
                passkey.vouched.clone(),
                passkey.standing.to_owned(),
                passkey.statements.to_string(),
                format!("{}, at most {} with one", passkey.touches, passkey.most_at_once),
            ]
        }),
    );
}

fn claims(report: &Report, out: &mut String) {
    if report.claims.is_empty() {
        return;
    }
    out.push_str("<h2>Claims</h2>\n");
    for claim in &report.claims {
        let heading = format!("#{} {}", claim.claim, claims::text(claim));
        let _ = write!(out, "<section class=\"claim\"><h3>{}</h3><dl class=\"words\">", escape(&heading));
        for (label, text) in claims::rows(claim) {
            let _ = write!(out, "<dt>{label}</dt><dd>{}</dd>", escape(&text));
        }
        out.push_str("</dl></section>\n");
    }
}

fn checks(report: &Report, out: &mut String) {
    table(
        out,
        "Checks",
        &["Check", "Result", "Findings"],
        report.checks.iter().map(|check| {
            let word = match (check.worst, check.made) {
                (Some(FindingSeverity::Failure), _) => "fail",
                (Some(FindingSeverity::NotEstablished), _) => "not established",
                (Some(FindingSeverity::Warning), _) => "warning",
                (None, true) => "ok",
                (None, false) => "nothing to check, or not reached",
            };
            vec![check.check.meaning().to_owned(), word.to_owned(), check.findings.to_string()]
        }),
    );
}

fn findings(report: &Report, out: &mut String) {
    table(
        out,
        "Findings",
        &["Weight", "Code", "Where", "What", "Why", "What to do"],
        report.findings.iter().map(|finding| {
            let weight = match finding.severity {
                FindingSeverity::Failure => "failure",
                FindingSeverity::NotEstablished => "not established",
                FindingSeverity::Warning => "warning",
            };
            vec![
                weight.to_owned(),
                finding.code.to_string(),
                place(finding),
                finding.message.clone(),
                finding.code.meaning().to_owned(),
                finding.code.cure().to_owned(),
            ]
        }),
    );
    let left = report.findings_total.saturating_sub(report.findings.len() as u64);
    if left > 0 {
        let _ = writeln!(out, "<p>{left} further findings are counted above and not listed.</p>");
    }
}

/// Writes a list. The rows are escaped here, so that none can be forgotten.
fn list(out: &mut String, title: &str, rows: impl Iterator<Item = String>) {
    let _ = write!(out, "<h2>{title}</h2>\n<ul>");
    for row in rows {
        let _ = write!(out, "<li>{}</li>", escape(&row));
    }
    out.push_str("</ul>\n");
}

fn table(out: &mut String, title: &str, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = write!(out, "<h2>{title}</h2>\n<table><thead><tr>");
    for column in columns {
        let _ = write!(out, "<th scope=\"col\">{column}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}

/// Everything up to the first heading.
const HEAD: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>demur verification report</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
.verdict { font-size: 1.5rem; border: 3px solid currentColor; padding: .5rem 1rem; display: inline-block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
h3 { margin-bottom: .25rem; overflow-wrap: anywhere; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
.words dd { font-family: inherit; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; border: 1px solid currentColor; padding: .3rem .5rem; overflow-wrap: break-word; }
td:first-child { overflow-wrap: anywhere; }
@media print { main { padding: 0; } h2 { break-after: avoid; } tr, .claim { break-inside: avoid; } }
</style></head><body><main>
"#;
