//! The claims of a report: what each rests on, who doubted it, what answered that.

use demur_ledger::{
    author::Artifact,
    event_type::Content,
    export::Disclosure,
    facts::{ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted, ClaimRevised, FailureKind},
    name::Sequence,
    role::Role,
    verify::{ClaimReport, ClaimStanding, EvidenceStanding, Options, Report, verify},
};

use crate::{
    export::{eventful, export, export_as},
    timeline::say_with,
    world::{INPUT, World, list, text},
};

fn report(file: &[u8]) -> Report {
    verify(file, &Options::default(), &mut |_| ()).unwrap()
}

#[track_caller]
fn only(report: &Report) -> &ClaimReport {
    let [claim] = report.claims.as_slice() else {
        panic!("expected one claim in play: {}", report.to_text())
    };
    claim
}

/// A run with one claim about one call, whose output is kept.
struct Claimed {
    world: World,
    artifacts: Vec<(Sequence, Artifact)>,
    claim: Sequence,
    facts: ClaimIssued,
}

impl Claimed {
    fn new() -> Self {
        let (mut world, proposal) = World::executing();
        let intent = world.intend(proposal, demur_ledger::facts::Risk::Low);
        let given = world.artifact(INPUT);
        let input = world.keep(&given);
        let facts = demur_ledger::facts::ToolExecutionStarted { input: Some(input), intent };
        let started = world.say(facts).unwrap();
        let artifact = world.artifact(b"5\n");
        let output = world.keep(&artifact);
        let facts = demur_ledger::facts::ToolExecutionCompleted { outputs: list([output]), started };
        let ended = world.say(facts).unwrap();
        let facts = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
        let claim = world.say(facts.clone()).unwrap();
        Self { world, artifacts: vec![(output, artifact), (input, given)], claim, facts }
    }

    fn challenge(&mut self, claim: Sequence, words: &str) -> Sequence {
        say_with(&mut self.world, Role::Critic, ClaimChallenged { claim }, |content| {
            let Content::ClaimChallenged(content) = content else { panic!("expected a challenge") };
            content.reason = text(words);
        })
    }

    fn revise(&mut self, replaces: Sequence) -> Sequence {
        let ClaimIssued { about_failure, evidence, executions } = self.facts.clone();
        self.world
            .say_as(Role::Executor, ClaimRevised { about_failure, evidence, executions, replaces })
            .unwrap()
    }

    fn resolve(&mut self, challenge: Sequence) -> Sequence {
        self.world.say(ClaimResolved { challenge }).unwrap()
    }

    fn report(&self) -> Report {
        report(&export(&self.world, &self.artifacts))
    }
}

/// LED-13 LED-24
#[test]
fn evidence_and_executions_are_listed_by_number_and_name() {
    let claimed = Claimed::new();
    let report = claimed.report();
    let claim = only(&report);
    let (artifact, _) = claimed.artifacts[0];
    assert_eq!((claim.evidence[0].artifact, claim.evidence[0].name.as_deref()), (artifact, Some("words")));
    assert_eq!(claim.executions[0].tool.as_deref(), Some("wc"));
    let ending = claim.executions[0].ending.unwrap();
    assert_eq!((ending.failure, ending.exit_status, ending.duration_ms), (None, Some(0), Some(3)));
    assert_eq!((claim.replaces, claim.revisions, claim.challenges.len()), (None, 0, 0));
}

/// LED-07
#[test]
fn closed_challenge_shows_the_doubt_the_answer_and_the_end() {
    let mut claimed = Claimed::new();
    let challenge = claimed.challenge(claimed.claim, "who counted?");
    let revised = claimed.revise(claimed.claim);
    let closed = claimed.resolve(challenge);
    let report = claimed.report();
    let claim = only(&report);
    assert_eq!((claim.claim, claim.replaces, claim.revisions), (revised, Some(claimed.claim), 1));
    assert!(!claim.disputed);
    let [found] = claim.challenges.as_slice() else { panic!("expected one challenge") };
    assert_eq!((found.challenge, found.against), (challenge, claimed.claim));
    assert_eq!(found.key, claimed.world.agent(Role::Critic).public().fingerprint());
    assert_eq!((found.reason.as_deref(), found.closing.as_deref()), (Some("who counted?"), Some("because")));
    assert_eq!((found.answered_by, found.closed_by), (Some(revised), Some(closed)));
    let told = format!(
        "\n    challenge  #{challenge} against #{}: “who counted?”; answered by #{revised}; closed by #{closed}: \
         “because”\n",
        claimed.claim
    );
    assert!(report.to_text().contains(&told), "{}", report.to_text());
    assert!(!report.to_text().contains("older ones"), "{}", report.to_text());
}

/// LED-07
#[test]
fn open_challenge_follows_the_claim_and_stays_open() {
    let mut claimed = Claimed::new();
    let first = claimed.challenge(claimed.claim, "who counted?");
    let revised = claimed.revise(claimed.claim);
    let again = claimed.revise(revised);
    let second = claimed.challenge(again, "and who checked?");
    claimed.resolve(second);
    let report = claimed.report();
    let claim = only(&report);
    assert!(claim.disputed);
    assert_eq!((claim.replaces, claim.revisions, claim.challenges_total), (Some(revised), 2, 2));
    let came: Vec<_> = claim
        .challenges
        .iter()
        .map(|one| (one.challenge, one.answered_by, one.closed_by.is_some()))
        .collect();
    assert_eq!(came, [(first, Some(again), false), (second, None, true)]);
    let text = report.to_text();
    assert!(
        text.contains("; DISPUTED\n") && text.contains(&format!("answered by #{again}; OPEN\n")),
        "{text}"
    );
    assert!(text.contains(&format!("replaces   #{revised}, the last of 2 before it\n")), "{text}");
}

#[test]
fn retracted_claims_take_their_challenges_with_them() {
    let mut claimed = Claimed::new();
    claimed.challenge(claimed.claim, "who counted?");
    claimed.world.say_as(Role::Executor, ClaimRetracted { claim: claimed.claim }).unwrap();
    assert_eq!(claimed.report().claims, []);
}

#[test]
fn many_closed_challenges_are_counted_and_only_the_newest_listed() {
    let mut claimed = Claimed::new();
    let open = claimed.challenge(claimed.claim, "stays");
    let closed: Vec<_> = (0..260)
        .map(|_| {
            let challenge = claimed.challenge(claimed.claim, "passes");
            claimed.resolve(challenge);
            challenge
        })
        .collect();
    let report = claimed.report();
    let claim = only(&report);
    assert_eq!((claim.challenges.len(), claim.challenges_total), (257, 261));
    let listed: Vec<_> = claim.challenges.iter().map(|one| one.challenge).collect();
    assert_eq!((listed[0], &listed[1..]), (open, &closed[4..]));
    let told = "challenges 4 older ones were closed and are not listed\n";
    assert!(report.to_text().contains(told), "{}", report.to_text());
}

/// LED-24
#[test]
fn evidence_that_is_not_there_is_said_to_be_so() {
    let (world, artifacts) = eventful();
    for (kept_back, evidence, standing, words) in [
        (None, EvidenceStanding::AsRecorded, ClaimStanding::Evidenced, "#7 \u{201c}words\u{201d}\n"),
        (
            Some(Disclosure::Withheld),
            EvidenceStanding::NotDisclosed,
            ClaimStanding::NotEstablished,
            "#8 \u{201c}words\u{201d} (not disclosed)\n",
        ),
        (
            Some(Disclosure::Missing),
            EvidenceStanding::Spoilt,
            ClaimStanding::Unproven,
            "#7 \u{201c}words\u{201d} (MISSING OR EXCHANGED)\n",
        ),
    ] {
        let report = report(&export_as(&world, &artifacts, kept_back));
        let claim = only(&report);
        assert!(claim.evidence.iter().all(|one| one.standing == evidence), "{claim:?}");
        assert_eq!(claim.standing, standing);
        assert!(report.to_text().contains(words), "{}", report.to_text());
    }
}

/// A dispute is no finding of a file that broke off, and still must not be hidden.
#[test]
fn file_that_breaks_off_still_shows_the_dispute() {
    let mut claimed = Claimed::new();
    claimed.challenge(claimed.claim, "who counted?");
    let file = export(&claimed.world, &claimed.artifacts);
    let report = report(&file[..file.len() - 20]);
    assert!(only(&report).disputed, "{}", report.to_text());
}

/// LED-33
#[test]
fn claims_about_failures_show_how_the_tool_failed() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, demur_ledger::facts::Risk::Low);
    let given = world.artifact(INPUT);
    let input = world.keep(&given);
    let facts = demur_ledger::facts::ToolExecutionStarted { input: Some(input), intent };
    let started = world.say(facts).unwrap();
    let artifact = world.artifact(b"error");
    let output = world.keep(&artifact);
    let failure = FailureKind::Signal;
    let facts = demur_ledger::facts::ToolExecutionFailed { failure, outputs: list([output]), started };
    let failed = world.say(facts).unwrap();
    let facts = ClaimIssued { about_failure: true, evidence: list([output]), executions: list([failed]) };
    world.say(facts).unwrap();
    let report = report(&export(&world, &[(output, artifact), (input, given)]));
    assert_eq!(only(&report).executions[0].ending.unwrap().failure, Some(failure));
    let told = format!("execution  #{failed} “wc”: failed: a signal ended it, 3 ms\n");
    assert!(report.to_text().contains(&told), "{}", report.to_text());
    assert!(report.to_text().contains("about      a failure\n"), "{}", report.to_text());
}

#[test]
fn page_tells_the_same_rows_as_text_and_words_are_not_markup() {
    let mut claimed = Claimed::new();
    claimed.challenge(claimed.claim, "<script>alert(1)</script>");
    let report = claimed.report();
    let page = report.to_html();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"), "{page}");
    let text = report.to_text();
    let claims = text.split_once("\nClaims\n").unwrap().1.split_once("\n\n").unwrap().0;
    let rows: Vec<_> = claims.lines().skip(1).map(|row| row.trim_start().split_once(' ').unwrap()).collect();
    assert!(rows.len() >= 6, "{claims}");
    for (label, words) in rows {
        let words = words.trim_start().replace('<', "&lt;").replace('>', "&gt;");
        assert!(
            page.contains(&format!("<dt>{label}</dt><dd>{words}</dd>")),
            "{label} {words} is not in {page}"
        );
    }
}
