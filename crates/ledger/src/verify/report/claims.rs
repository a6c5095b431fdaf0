//! The claims of a report in labelled rows, for text and page alike.

use std::fmt::Write as _;

use demur_core::words::counted_as;

use crate::verify::claims::{
    ChallengeReport, ChecksReport, ClaimReport, ClaimStanding, EvidenceReport, EvidenceStanding,
};

/// Returns the claim itself.
pub(super) fn text(claim: &ClaimReport) -> &str {
    claim.text.as_deref().unwrap_or("(not disclosed)")
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
    let evidence: Vec<_> = claim.evidence.iter().map(evidence).collect();
    rows.extend((!evidence.is_empty()).then(|| ("evidence", evidence.join(", "))));
    rows.extend(claim.executions.iter().map(|execution| ("execution", execution.to_string())));
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
    let name = evidence.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
    let standing = match evidence.standing {
        EvidenceStanding::AsRecorded => "",
        EvidenceStanding::NotDisclosed => " (not disclosed)",
        EvidenceStanding::Spoilt => " (MISSING OR EXCHANGED)",
    };
    format!("#{}{name}{standing}", evidence.artifact)
}

fn challenge(challenge: &ChallengeReport) -> String {
    let words =
        |words: Option<&String>| words.map_or(String::new(), |words| format!(": \u{201c}{words}\u{201d}"));
    let reason = words(challenge.reason.as_ref());
    let answered = challenge.answered_by.map_or(String::new(), |at| format!("; answered by #{at}"));
    let closed = match challenge.closed_by {
        Some(at) => format!("; closed by #{at}{}", words(challenge.closing.as_ref())),
        None => "; OPEN".to_owned(),
    };
    format!("#{} against #{}{reason}{answered}{closed}", challenge.challenge, challenge.against)
}
