//! The claims of a report in labelled rows, for text and page alike.

use std::fmt::Write as _;

use demur_core::{quote::quoted, words::counted_as};

use crate::{
    timeline::Execution,
    verify::claims::{
        ChallengeReport, ChecksReport, ClaimReport, ClaimStanding, EvidenceReport, EvidenceStanding,
    },
};

/// Returns the claim itself.
pub(super) fn text(claim: &ClaimReport) -> String {
    claim.text.as_deref().map_or_else(|| "(not disclosed)".to_owned(), quoted)
}

/// Returns everything else about a claim, each row with its label.
pub(super) fn rows(claim: &ClaimReport) -> Vec<(&'static str, String)> {
    let disputed = if claim.disputed { "DISPUTED" } else { "no challenge is open" };
    let mut rows = vec![("standing", format!("{}; {disputed}", standing_words(claim)))];
    rows.push(("checks", checks(&claim.checks)));
    rows.extend(claim.confidence.map(|sure| ("sure", format!("{sure} %"))));
    rows.extend(claim.about_failure.then(|| ("about", "a failure".to_owned())));
    rows.push(("key", claim.key.short()));
    rows.extend(claim.replaces.map(|replaced| ("replaces", replaces(claim, replaced))));
    rows.extend(claim.evidence.iter().map(|one| ("evidence", evidence(one))));
    rows.extend(claim.executions.iter().map(|one| ("execution", execution(one))));
    let failed = claim.failed_later.map(|at| format!("#{at}, of the same call, which it does not cite"));
    rows.extend(failed.map(|failed| ("FAILED", failed)));
    rows.extend(claim.challenges.iter().map(|one| ("challenge", challenge(one))));
    let left = claim.challenges_total.saturating_sub(claim.challenges.len() as u64);
    rows.extend(
        (left > 0).then(|| ("challenges", format!("{left} older ones were closed and are not listed"))),
    );
    rows
}

/// Returns what came of the checks of a claim; without any it is words.
fn checks(checks: &ChecksReport) -> String {
    let ChecksReport { hold, fail, disputed, not_established } = *checks;
    let all = hold + fail + disputed + not_established;
    match all {
        0 => "words only".to_owned(),
        _ if all == hold => counted_as(all, "check holds", "checks hold"),
        _ => {
            let mut words = format!("{hold} of {} hold", counted_as(all, "check", "checks"));
            for (count, what) in [
                (fail, "of its own FALSE"),
                (disputed, "of the critic FALSE"),
                (not_established, "not established"),
            ] {
                if count > 0 {
                    let _ = write!(words, "; {count} {what}");
                }
            }
            words
        }
    }
}

const fn standing_words(claim: &ClaimReport) -> &'static str {
    match claim.standing {
        ClaimStanding::Unproven if claim.checks.fail > 0 => "UNPROVEN: a check of its own side is false",
        ClaimStanding::Evidenced => "evidence is there as recorded",
        ClaimStanding::NotEstablished => "not established: not everything it rests on could be looked at",
        ClaimStanding::Unproven => "UNPROVEN: something it rests on is missing or was exchanged",
    }
}

fn replaces(claim: &ClaimReport, replaced: crate::name::Sequence) -> String {
    match claim.revisions {
        1 => format!("#{replaced}"),
        revisions => format!("#{replaced}, the last of {revisions} before it"),
    }
}

fn evidence(evidence: &EvidenceReport) -> String {
    let name = evidence.name.as_ref().map_or(String::new(), |name| format!(" {}", quoted(name)));
    let standing = match evidence.standing {
        EvidenceStanding::AsRecorded => "",
        EvidenceStanding::NotDisclosed => " (not disclosed)",
        EvidenceStanding::Spoilt => " (MISSING OR EXCHANGED)",
    };
    format!("#{}{name}{standing}", evidence.artifact)
}

/// As in the timeline, but with the tool quoted.
fn execution(execution: &Execution) -> String {
    let tool = execution.tool.as_deref().map_or_else(String::new, |tool| format!(" {}", quoted(tool)));
    let ending = execution.ending.as_ref().map_or_else(String::new, |ending| format!(": {ending}"));
    format!("#{}{tool}{ending}", execution.sequence)
}

fn challenge(challenge: &ChallengeReport) -> String {
    let words = |words: Option<&String>| words.map_or(String::new(), |words| format!(": {}", quoted(words)));
    let reason = words(challenge.reason.as_ref());
    let answered = challenge.answered_by.map_or(String::new(), |at| format!("; answered by #{at}"));
    let closed = match challenge.closed_by {
        Some(at) => format!("; closed by #{at}{}", words(challenge.closing.as_ref())),
        None => "; OPEN".to_owned(),
    };
    format!("#{} against #{}{reason}{answered}{closed}", challenge.challenge, challenge.against)
}
