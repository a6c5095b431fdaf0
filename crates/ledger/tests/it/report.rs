//! The report in words, as text and as a page: what was found stands in it, where it was found, and no more.

use demur_core::key::SecretKey;
use demur_ledger::{
    facts::{
        FinalStatementSigned, KeyRetired, KeyRevoked, RevocationReason, VerificationProfile,
        VerificationStatus,
    },
    name::Sequence,
    role::Role,
    verify::{Check, Code, FindingSeverity, KnownHead, Options, Pin, Report, Verdict},
};

use crate::{
    export::{eventful, export},
    verify::{check, claimed, disputed, fails, unsigned},
    world::{World, list, whole},
};

fn default(file: &[u8]) -> Report {
    check(file, &Options::default())
}

/// Returns the golden run with a tool call that nobody signed.
fn forged() -> Vec<u8> {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    file.replacen("\"risk\":\"low\"", "\"risk\":\"medium\"", 1).into_bytes()
}

/// Returns a file whose registry does not hold.
fn without_registry() -> Vec<u8> {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    file.replacen("\"roles\":[\"critic\"]", "\"roles\":[\"auditor\"]", 1).into_bytes()
}

#[track_caller]
fn holds_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let place = rest.find(part);
        rest = &rest[place.unwrap_or_else(|| panic!("{part:?} is not in its place in\n{text}"))..];
    }
}

/// LED-28 ONE-04
#[test]
fn a_sound_file_is_told_in_text() {
    let (world, artifacts) = eventful();
    let report = default(&export(&world, &artifacts));
    let head = world.run.chain().head().unwrap();
    let scope = [
        format!("trace    {}\n", world.run.chain().trace()),
        format!("store    {}\n", world.desk.store()),
        format!("scope    {} events, 6 registry events, profile default", world.events.len()),
        format!("head     {} {}\n", head.sequence, head.hash),
        format!("state    completed, exported {} by the desk's clock\n", world.now),
        "verdict  PASS\n         internally consistent; origin and completeness not established: ".into(),
    ];
    holds_in_order(&report.to_text(), &scope.each_ref().map(String::as_str));
    let key = world.agent(Role::Executor).public().fingerprint().short();
    let spoken = report.proven_by_key.iter().find(|one| one.roles == [Role::Executor]).unwrap();
    let parts = [
        "\nNot proven by this report\n  who made this file: ".to_owned(),
        "  that the trace ends at sequence".into(),
        "\nProven by a key\n".into(),
        format!(
            "  {key} executor, {} statements, active, first key of its principal; the desk calls it “somebody”\n",
            spoken.statements
        ),
        "\nThe desk's word\n  the order of events".into(),
        format!("\nClaims\n  #{} “five words”", report.claims[0].claim),
        "evidence is there as recorded".into(),
        "\nChecks (none: there was nothing to check, or it was not reached)\n".into(),
        format!("  ok    {}\n", Check::Signature.meaning()),
        format!("  none  {}\n", Check::Equivocation.meaning()),
    ];
    holds_in_order(&report.to_text(), &parts.each_ref().map(String::as_str));
    for absent in ["Failures", "Warnings", "Not established\n", "further findings", "first bad event"] {
        assert!(!report.to_text().contains(absent), "{absent} in {}", report.to_text());
    }
    assert!(!report.to_html().contains("further findings"));
}

/// LED-18
#[test]
fn a_finding_is_told_with_its_place_its_cause_and_its_cure() {
    let report = fails(&forged(), &Options::default(), Code::SigInvalid);
    let finding = &report.findings[0];
    let line = finding.line.unwrap();
    let told = format!(
        "\nFailures\n  {} trace event 4, line {line}: {}\n    why: {}\n    do:  {}\n",
        finding.code,
        finding.message,
        finding.code.meaning(),
        finding.code.cure()
    );
    let parts = [
        "verdict  FAIL\n         fail: something in this file does not hold (through sequence",
        "         first bad event: 4\n         last trusted event: 3\n",
        &told,
        "  anything after the first event that does not hold\n",
        &format!("  FAIL  {} (1)\n", Check::Signature.meaning()),
    ];
    holds_in_order(&report.to_text(), &parts);
    let parts =
        ["<h2>Findings</h2>", "<td>failure</td>", finding.code.as_str(), "trace event 4, line", "</table>"];
    holds_in_order(&report.to_html(), &parts);
}

#[test]
fn a_file_that_was_cut_is_told_from_one_that_was_torn() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let ends: Vec<usize> =
        file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    // Once in the registry, once in the trace.
    for line in [3, 12] {
        for (end, words) in [(1, "the file ends before its checkpoint"), (0, "the file ends inside a line")] {
            let report = fails(&file[..ends[line] + end], &Options::default(), Code::FileTruncated);
            assert_eq!(report.findings[0].message, words, "after line {line}");
        }
    }
}

#[test]
fn findings_that_are_not_listed_are_told_by_their_number() {
    let report = default(&unsigned(400));
    let left = report.findings_total - 256;
    assert!(left > 100, "{left}");
    let told = format!("{left} further findings are counted above and not listed.");
    assert!(report.to_text().contains(&format!("\n{told}\n")), "{told}");
    assert!(report.to_html().contains(&format!("<p>{told}</p>")), "{told}");
}

/// LED-18
#[test]
fn the_last_trusted_event_is_before_whatever_does_not_hold() {
    let (world, artifacts) = eventful();
    let number = |sequence: Option<Sequence>| sequence.map(Sequence::number);
    let ends = |file: &[u8]| {
        let report = default(file);
        (number(report.first_bad), number(report.last_trusted))
    };
    let sound = export(&world, &artifacts);
    assert_eq!(ends(&sound), (None, Some(world.events.len() as u64 - 1)));
    assert_eq!(ends(&forged()), (Some(4), Some(3)));
    assert_eq!(ends(&without_registry()), (None, None));
    // A link that is broken leaves open which side of it was changed.
    let text = String::from_utf8(sound).unwrap();
    let link = format!("\"previous\":\"{}\"", world.events[4].event.hash());
    let broken = format!("\"previous\":\"{}\"", world.events[3].event.hash());
    assert_eq!(ends(text.replacen(&link, &broken, 1).as_bytes()), (Some(5), Some(3)));
    // What is wrong with the whole speaks against every event.
    let whole = text.replacen("demur test", "other test", 1);
    assert_eq!(ends(whole.as_bytes()), (None, None));
}

#[test]
fn a_registry_that_does_not_hold_leaves_everything_else_unchecked() {
    let report = default(&without_registry());
    assert_eq!((report.verdict, report.scope.events, report.scope.through), (Verdict::Fail, 0, None));
    assert!(report.words.contains("no event could be checked"), "{}", report.words);
    assert!(report.findings.iter().all(|finding| finding.code.check() != Check::File));
    for check in &report.checks {
        let made = check.check == Check::File || check.findings > 0;
        assert_eq!(check.made, made, "{:?}", check.check);
    }
    assert!(report.to_text().contains("registry event"), "{}", report.to_text());
}

#[test]
fn nothing_is_read_after_a_store_that_does_not_begin() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    let file = file.replacen("\"epoch\":1,", "\"epoch\":2,", 1);
    let report = fails(file.as_bytes(), &Options::default(), Code::RegistryInvalid);
    assert!(report.findings.iter().all(|finding| finding.line == Some(2)), "{}", report.to_text());
}

#[test]
fn anchors_are_named_and_counted() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let known = |number: usize| KnownHead { sequence: None, hash: *world.events[number].event.hash() };
    let receipt = |number: usize| world.desk.receipt(&world.events[number].event).unwrap().unwrap();
    let pin = Pin { name: "desk".into(), fingerprint: world.desk.key().public().fingerprint() };
    for (pins, against, receipts, words) in [
        (
            vec![pin],
            vec![known(1)],
            vec![receipt(1), receipt(2)],
            "the pinned key of desk through sequence 17, a head you know, 2 receipts",
        ),
        (vec![], vec![known(1), known(2)], vec![], "2 heads you know"),
        (vec![], vec![], vec![receipt(1)], "a receipt"),
    ] {
        let report = check(&file, &Options { pins, against, receipts, ..Options::default() });
        assert!(
            report.words.starts_with(&format!("consistent, and anchored by {words}: ")),
            "{}",
            report.words
        );
        assert!(report.checks.iter().any(|made| made.check == Check::Anchor && made.made));
        assert!(!report.not_proven.iter().any(|line| line.starts_with("who made this file")));
    }
    let report = check(&file, &Options { require_anchor: true, ..Options::default() });
    assert!(report.checks.iter().any(|made| made.check == Check::Anchor && made.made));
}

#[test]
fn a_pinned_name_stands_with_its_own_key_only() {
    let (world, artifacts) = eventful();
    let fingerprint = world.agent(Role::Critic).public().fingerprint();
    let pins = vec![Pin { name: "alice".into(), fingerprint }];
    let report = check(&export(&world, &artifacts), &Options { pins, ..Options::default() });
    for key in &report.proven_by_key {
        let expected = (key.fingerprint == fingerprint).then_some("alice");
        assert_eq!(key.pinned_as.as_deref(), expected);
    }
    assert!(report.to_text().contains("; pinned as alice\n"), "{}", report.to_text());
}

#[test]
fn the_profile_and_the_missing_signatures_are_named() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    for (profile, word) in [
        (VerificationProfile::Strict, "profile strict,"),
        (VerificationProfile::Default, "profile default,"),
        (VerificationProfile::Lenient, "profile lenient,"),
    ] {
        let report = check(&file, &Options { profile, ..Options::default() });
        assert!(report.to_text().contains(word), "{}", report.to_text());
    }
    let unchecked = "any signature: only hashes were checked";
    for signatures in [true, false] {
        let report = check(&file, &Options { signatures, ..Options::default() });
        assert_eq!(report.not_proven.iter().any(|line| line == unchecked), !signatures);
        let failed = "anything after the first event that does not hold";
        assert!(!report.not_proven.iter().any(|line| line == failed));
    }
}

#[test]
fn warnings_and_disputes_are_told() {
    let (mut world, artifacts) = disputed();
    world.verify(VerificationStatus::PassWithWarnings).unwrap();
    let report = default(&export(&world, &artifacts));
    let parts = [
        "verdict  PASS WITH WARNINGS\n         internally consistent; origin and completeness not established, with warnings: ",
        "\nWarnings\n  CLAIM_DISPUTED trace event",
        "\nClaims\n",
        "evidence is there as recorded",
        "DISPUTED",
    ];
    holds_in_order(&report.to_text(), &parts);
    assert_eq!(report.findings[0].severity, FindingSeverity::Warning);
}

#[test]
fn what_became_of_a_key_stands_beside_it() {
    let (mut world, artifacts, claim) = claimed();
    world.say(FinalStatementSigned { claims: list([claim]) }).unwrap();
    world.verify(VerificationStatus::Pass).unwrap();
    let fingerprint = |world: &World, role| world.agent(role).public().fingerprint();
    for role in [Role::Executor, Role::Critic] {
        let place = world.registry_place();
        let (new, agent) =
            (SecretKey::generate(&mut world.random), world.agents.iter().find(|agent| agent.role() == role));
        let agent = agent.unwrap();
        let submission =
            agent.rotate(&place, agent.public().fingerprint(), &new, None, &mut world.random).unwrap();
        world.registry.push(world.desk.admit_key(submission, world.now).unwrap());
    }
    let rotation = world.desk.registry().head().sequence;
    world.state(KeyRetired { key: fingerprint(&world, Role::Critic), rotation }).unwrap();
    let revocation = KeyRevoked {
        key: fingerprint(&world, Role::Auditor),
        reason: RevocationReason::Compromised,
        root: *world.registry[0].event.hash(),
        traces: whole(1),
    };
    world.state(revocation).unwrap();
    let report = default(&export(&world, &artifacts));
    for (role, standing) in [
        (Role::Planner, "active"),
        (Role::Executor, "rotated"),
        (Role::Critic, "retired"),
        (Role::Auditor, "revoked"),
    ] {
        let key = report.proven_by_key.iter().find(|key| key.fingerprint == fingerprint(&world, role));
        assert_eq!(key.unwrap().standing, standing, "{role}");
    }
}

/// ONE-04
#[test]
fn the_page_holds_what_the_text_holds() {
    let (world, artifacts) = eventful();
    let page = default(&export(&world, &artifacts)).to_html();
    let key = world.agent(Role::Executor).public().fingerprint();
    let parts = [
        "<!doctype html>",
        "<h1>Verification report</h1>\n<p class=\"verdict\"><strong>PASS</strong></p>\n<p>internally consistent;",
        "<dt>Profile</dt><dd>default</dd><dt>Written by</dt><dd>“demur test”</dd>",
        "<h2>Not proven by this report</h2>\n<ul><li>who made this file",
        "<h2>Proven by a key</h2>\n<table><thead><tr><th scope=\"col\">Key</th>",
        "<h2>The desk's word</h2>\n<ul><li>",
        "<h2>Claims</h2>",
        "five words",
        "evidence is there as recorded",
        "<h2>Checks</h2>",
        "<td>ok</td><td>0</td></tr>",
        "<td>nothing to check, or not reached</td><td>0</td></tr>",
        "</main></body></html>\n",
    ];
    holds_in_order(&page, &parts);
    assert!(page.contains(&format!("<td>{key}</td><td>executor</td>")), "{page}");
    assert!(!page.contains("<h2>Findings</h2>"), "{page}");
}

#[test]
fn nothing_a_file_says_is_markup() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    let page = default(file.replacen("demur test", "<b>'test'</b> & co", 1).as_bytes()).to_html();
    assert!(page.contains("<dd>“&lt;b&gt;&#39;test&#39;&lt;/b&gt; &amp; co”</dd>"), "{page}");
}
