//! Files of a desk that let in what it must not: the verifier finds every demand that is broken, at its event, and goes
//! on to the end of the run.

use demur_core::hash::sha256;
use demur_ledger::{
    admission::Checked,
    author::{Artifact, Place},
    chain::Chain,
    content::{
        ArtifactContent, CheckContent, CheckPlace, CheckValue, ClaimContent, Comparison, FinalClaim,
        FinalStatementContent, IntentContent, PolicyContent, PolicyDocument, VerificationContent,
    },
    desk::Recorded,
    envelope::Stamp,
    event_type::{Content, Facts},
    export::Disclosure,
    facts::{
        CheckStated, ClaimIssued, ConditionJudged, FailureKind, FinalStatementSigned, IntentDecision, Policy,
        PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, Question, QuestionAsked,
        QuestionCancelled, Risk, ToolExecutionCompleted, ToolExecutionFailed, ToolExecutionStarted,
        ToolIntentReviewed, ToolIntentSigned, VerificationProfile, VerificationRunCompleted,
        VerificationRunStarted, VerificationStatus,
    },
    name::{Position, Sequence},
    role::Role,
    verify::{ClaimStanding, Code, Options, Verdict, verify},
};

use crate::{
    asking::{anyone, operation, question_for},
    export::export_as,
    state::{intent, meaning::naming},
    verify::{default, fails},
    world::{INPUT, World, fitting, list, reporting, text, usual_policy, whole},
};

/// A run whose desk looks at no guard.
struct Liar {
    world: World,
    chain: Chain,
    artifacts: Vec<(Sequence, Artifact)>,
}

impl Liar {
    /// Returns a run with a proposal that was approved on one condition.
    fn conditional() -> (Self, Sequence) {
        let numbers = usual_policy();
        let mut liar = Self::opened(numbers, PolicyDocument::of_numbers(numbers));
        let proposal = liar.say(Role::Planner, ProposalCreated { fallback_for: None, replaces: None });
        let decision = ProposalDecision::ConditionallyApproved;
        liar.say(Role::Critic, ProposalReviewed { conditions: whole(1), decision, proposal });
        (liar, proposal)
    }

    /// Returns a run that is open under this policy.
    fn opened(numbers: Policy, document: PolicyDocument) -> Self {
        let world = World::new();
        let chain = Chain::new(world.run.chain().trace());
        let mut liar = Self { world, chain, artifacts: Vec::new() };
        let opening = liar.world.opening(numbers);
        liar.say(Role::Planner, opening);
        let content = Content::PolicyRecorded(PolicyContent { document, hash: None });
        liar.say_with(Role::Operator, PolicyRecorded {}, Some(content));
        liar
    }

    /// Returns a run with an approved proposal that asks for `wc`.
    fn executing(document: PolicyDocument) -> (Self, Sequence) {
        let mut liar = Self::opened(document.numbers(), document);
        let proposal = liar.say(Role::Planner, ProposalCreated { fallback_for: None, replaces: None });
        let decision = ProposalDecision::Approved;
        liar.say(Role::Critic, ProposalReviewed { conditions: whole(0), decision, proposal });
        (liar, proposal)
    }

    fn usual() -> (Self, Sequence) {
        Self::executing(PolicyDocument::of_numbers(usual_policy()))
    }

    fn say(&mut self, role: Role, facts: impl Into<Facts>) -> Sequence {
        let facts = facts.into();
        let content = fitting(&facts);
        self.say_with(role, facts, content)
    }

    fn say_with(&mut self, role: Role, facts: impl Into<Facts>, content: Option<Content>) -> Sequence {
        let world = &mut self.world;
        world.now = world.now.plus_millis(10);
        let (store, now) = (world.desk.store(), world.now);
        let place = Place { store, trace: self.chain.trace(), seen: self.chain.head(), now };
        let agent = world.agents.iter().find(|agent| agent.role() == role).unwrap();
        let submission = agent.say(&place, facts, content, &mut world.random).unwrap();
        let registry = world.desk.registry();
        let checked = Checked::new(submission, Some(registry)).unwrap();
        let (body, opening, meaning) = checked.into_body();
        let stamp = Stamp { store: Some(store), epoch: 1, registry: Some(registry.head()), now };
        let event = self.chain.tip().envelop(&stamp, agent.principal(), body).unwrap();
        self.chain.push(&event);
        world.events.push(Recorded { event, opening, meaning });
        self.chain.head().unwrap().sequence
    }

    fn keep(&mut self, bytes: &[u8]) -> Sequence {
        let artifact = self.world.artifact(bytes);
        let content = ArtifactContent {
            media_type: text("text/plain"),
            name: text("words"),
            size: whole(bytes.len() as u64),
        };
        let content = Some(Content::ArtifactRecorded(content));
        let at = self.say_with(Role::Executor, artifact.facts(), content);
        self.artifacts.push((at, artifact));
        at
    }

    fn intend(&mut self, facts: ToolIntentSigned, tool: &str, input: &[u8]) -> Sequence {
        let content =
            IntentContent { input_hash: sha256(input), justification: text("to count"), tool: text(tool) };
        self.say_with(Role::Executor, facts, Some(Content::ToolIntentSigned(content)))
    }

    fn start(&mut self, intent: Sequence, input: &[u8]) -> Sequence {
        let input = Some(self.keep(input));
        self.say(Role::Executor, ToolExecutionStarted { input, intent })
    }

    /// Ends a tool well; returns its end and its output.
    fn complete(&mut self, started: Sequence) -> (Sequence, Sequence) {
        let output = self.keep(b"5");
        let facts = ToolExecutionCompleted { outputs: list([output]), started };
        (self.say(Role::Executor, facts), output)
    }

    fn fail(&mut self, started: Sequence) -> Sequence {
        let facts = ToolExecutionFailed { failure: FailureKind::Exit, outputs: list([]), started };
        self.say(Role::Executor, facts)
    }

    /// Carries out one call as everybody expects it; returns its end and its output.
    fn call(&mut self, proposal: Sequence) -> (Sequence, Sequence) {
        let signed = self.intend(intent(proposal, Risk::Low), "wc", INPUT);
        let started = self.start(signed, INPUT);
        self.complete(started)
    }

    fn claim(&mut self, evidence: &[Sequence], execution: Sequence) -> Sequence {
        let facts =
            ClaimIssued { about_failure: false, evidence: list(evidence), executions: list([execution]) };
        let content = ClaimContent { confidence: whole(90), text: text("five words") };
        self.say_with(Role::Executor, facts, Some(Content::ClaimIssued(content)))
    }

    /// Signs the final statement with the claim in these words.
    fn state_finally(&mut self, claim: Sequence, words: &str) {
        let content = FinalStatementContent {
            claims: list([FinalClaim { claim, text: text(words) }]),
            verdict: text("done"),
        };
        let facts = FinalStatementSigned { claims: list([claim]) };
        self.say_with(Role::Executor, facts, Some(Content::FinalStatementSigned(content)));
    }

    /// Signs the final statement with the claim in these words, and passes it.
    fn conclude(&mut self, claim: Sequence, words: &str) {
        self.state_finally(claim, words);
        self.say(Role::Auditor, VerificationRunStarted { profile: VerificationProfile::Default });
        let through = self.chain.head().unwrap();
        self.report(reporting(VerificationStatus::Pass).as_bytes());
        self.say(Role::Auditor, VerificationRunCompleted { status: VerificationStatus::Pass, through });
    }

    fn report(&mut self, bytes: &[u8]) -> Sequence {
        let report = self.world.artifact(bytes);
        let at = self.say_with(Role::Auditor, report.report_facts(), None);
        self.world.reports.push((at, report));
        at
    }

    /// Ends the run with a claim about this call.
    fn end(&mut self, (ended, output): (Sequence, Sequence)) {
        let claim = self.claim(&[output], ended);
        self.conclude(claim, "five words");
    }

    fn file(&self, kept_back: Option<Disclosure>) -> Vec<u8> {
        export_as(&self.world, &self.artifacts, kept_back)
    }

    /// Asserts that this is found at this event, that nothing else is, and that the run is followed to its end.
    #[track_caller]
    fn is_found(&self, code: Code, at: Sequence) {
        let report = fails(&self.file(None), &Options::default(), code);
        let found: Vec<_> = report.findings.iter().map(|finding| (finding.code, finding.sequence)).collect();
        assert_eq!(found, [(code, Some(at))], "{}", report.to_text());
        assert_eq!(report.scope.state, Some("completed"), "{}", report.to_text());
    }
}

#[test]
fn a_run_as_it_should_be_passes() {
    let (mut liar, proposal) = Liar::executing(naming([("wc", Risk::Low)]));
    let call = liar.call(proposal);
    liar.end(call);
    let report = default(&liar.file(None));
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    let policy = "policy   1 tool may run, at its least risk or above\n";
    assert!(report.to_text().contains(policy), "{}", report.to_text());
}

/// LED-23
#[test]
fn a_policy_without_tools_is_said_to_let_any_run() {
    let (mut liar, proposal) = Liar::usual();
    let call = liar.call(proposal);
    liar.end(call);
    let report = default(&liar.file(None));
    assert!(report.to_text().contains("policy   any tool may run, at any risk"), "{}", report.to_text());
}

/// LED-23
#[test]
fn another_policy_than_the_opening_has_is_found() {
    let numbers = usual_policy();
    let document = PolicyDocument { retry_limit: whole(16), ..PolicyDocument::of_numbers(numbers) };
    let mut liar = Liar::opened(numbers, document);
    let proposal = liar.say(Role::Planner, ProposalCreated { fallback_for: None, replaces: None });
    let decision = ProposalDecision::Approved;
    liar.say(Role::Critic, ProposalReviewed { conditions: whole(0), decision, proposal });
    let call = liar.call(proposal);
    liar.end(call);
    liar.is_found(Code::PolicyMismatch, Sequence::from(1));
}

/// LED-11
#[test]
fn another_input_than_the_approved_one_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, b"{\"delete\":true}");
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::InputMismatch, started);
}

/// LED-27: neither what it was given nor what it put out.
#[test]
fn an_execution_without_any_artifact_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.say(Role::Executor, ToolExecutionStarted { input: None, intent: signed });
    let ended = liar.say(Role::Executor, ToolExecutionCompleted { outputs: list([]), started });
    let report = default(&liar.file(None));
    let found = |code: Code, at: Sequence| {
        report.findings.iter().any(|finding| finding.code == code && finding.sequence == Some(at))
    };
    assert!(found(Code::InputMismatch, started), "{}", report.to_text());
    assert!(found(Code::OrderViolation, ended), "{}", report.to_text());
}

/// LED-11 LED-27
#[test]
fn a_start_without_input_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.say(Role::Executor, ToolExecutionStarted { input: None, intent: signed });
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::InputMismatch, started);
}

/// LED-10
#[test]
fn a_tool_that_nobody_proposed_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "rm", INPUT);
    let started = liar.start(signed, INPUT);
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::ToolNotProposed, signed);
}

/// LED-23
#[test]
fn a_tool_that_the_policy_does_not_name_is_found() {
    let (mut liar, proposal) = Liar::executing(naming([("cat", Risk::Low)]));
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::ToolNotAllowed, signed);
}

/// LED-23
#[test]
fn a_risk_below_the_policys_is_found() {
    let (mut liar, proposal) = Liar::executing(naming([("wc", Risk::High)]));
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::RiskUnderstated, signed);
}

/// LED-11
#[test]
fn a_blocked_call_that_ran_all_the_same_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let blocked = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let decision = IntentDecision::Blocked;
    liar.say(Role::Critic, ToolIntentReviewed { decision, intent: blocked });
    let again = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(again, INPUT);
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::BlockedAgain, started);
}

/// LED-32
#[test]
fn one_retry_too_many_is_found() {
    let (mut liar, proposal) = Liar::usual();
    for _ in 0..2 {
        let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
        let started = liar.start(signed, INPUT);
        liar.fail(started);
    }
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let call = liar.complete(started);
    liar.end(call);
    liar.is_found(Code::RetryLimit, started);
}

/// LED-31
#[test]
fn a_tool_that_did_not_wait_for_its_question_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let facts = Question { blocks: list([operation("WC")]), ..question_for(anyone()) };
    let question = liar.say(Role::Executor, QuestionAsked(facts));
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let call = liar.complete(started);
    liar.say(Role::Executor, QuestionCancelled { question });
    liar.end(call);
    liar.is_found(Code::ToolBlocked, started);
}

/// LED-24
#[test]
fn evidence_from_elsewhere_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let (ended, _) = liar.call(proposal);
    let stray = liar.keep(b"five thousand");
    let claim = liar.claim(&[stray], ended);
    liar.conclude(claim, "five words");
    liar.is_found(Code::EvidenceWeak, claim);
}

/// LED-24
#[test]
fn the_same_bytes_cited_twice_are_found() {
    let numbers = Policy { evidence_minimum: whole(2), ..usual_policy() };
    let (mut liar, proposal) = Liar::executing(PolicyDocument::of_numbers(numbers));
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let outputs = [liar.keep(b"5"), liar.keep(b"5")];
    let facts = ToolExecutionCompleted { outputs: list(outputs), started };
    let ended = liar.say(Role::Executor, facts);
    let claim = liar.claim(&outputs, ended);
    liar.conclude(claim, "five words");
    liar.is_found(Code::EvidenceWeak, claim);
}

/// LED-14
#[test]
fn a_final_statement_in_other_words_is_found() {
    let (mut liar, proposal) = Liar::usual();
    let (ended, output) = liar.call(proposal);
    let claim = liar.claim(&[output], ended);
    liar.conclude(claim, "five thousand words");
    liar.is_found(Code::BundleDiffers, claim.next());
}

/// What is kept back is not judged, and nobody says that it holds.
#[test]
fn an_input_that_is_withheld_is_not_established() {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, b"{\"delete\":true}");
    let call = liar.complete(started);
    liar.end(call);
    let report = default(&liar.file(Some(Disclosure::Withheld)));
    assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
    assert!(report.findings.iter().all(|finding| finding.code == Code::NotDisclosed));
}

/// Returns a run up to its final statement, the claim, and where a verification of it has begun.
fn verifying() -> (Liar, Position) {
    let (mut liar, proposal) = Liar::usual();
    let (ended, output) = liar.call(proposal);
    let claim = liar.claim(&[output], ended);
    liar.state_finally(claim, "five words");
    liar.say(Role::Auditor, VerificationRunStarted { profile: VerificationProfile::Default });
    let through = liar.chain.head().unwrap();
    (liar, through)
}

/// LED-15
#[test]
fn a_verdict_that_is_not_that_of_a_recorded_report_is_found() {
    let pass = reporting(VerificationStatus::Pass);
    for recorded in [None, Some("{}"), Some("{\"status\":\"fail\"}"), Some("{\"status\":\"pass\"}\n")] {
        let (mut liar, through) = verifying();
        recorded.map(|report| liar.report(report.as_bytes()));
        let at =
            liar.say(Role::Auditor, VerificationRunCompleted { status: VerificationStatus::Pass, through });
        liar.is_found(Code::ReportMismatch, at);
    }
    let (mut liar, through) = verifying();
    liar.report(pass.as_bytes());
    let content = VerificationContent { report: sha256(pass.as_bytes()), summary: text("failed") };
    let facts = VerificationRunCompleted { status: VerificationStatus::PassWithWarnings, through };
    let at = liar.say_with(Role::Auditor, facts, Some(Content::VerificationRunCompleted(content)));
    liar.is_found(Code::ReportMismatch, at);
}

/// LED-31
#[test]
fn a_question_of_another_than_the_auditor_after_the_final_statement_is_found() {
    let (mut liar, through) = verifying();
    let asked = liar.say(Role::Critic, QuestionAsked(question_for(anyone())));
    liar.say(Role::Critic, QuestionCancelled { question: asked });
    liar.report(reporting(VerificationStatus::Pass).as_bytes());
    liar.say(Role::Auditor, VerificationRunCompleted { status: VerificationStatus::Pass, through });
    liar.is_found(Code::SpokeAfterFinal, asked);
}

/// Returns a run with a claim on bytes of an execution, the claim, and the artifact.
fn claimed(output: &[u8]) -> (Liar, Sequence, Sequence) {
    let (mut liar, proposal) = Liar::usual();
    let signed = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let started = liar.start(signed, INPUT);
    let artifact = liar.keep(output);
    let facts = ToolExecutionCompleted { outputs: list([artifact]), started };
    let ended = liar.say(Role::Executor, facts);
    let claim = liar.claim(&[artifact], ended);
    (liar, claim, artifact)
}

impl Liar {
    /// States the check that an artifact has so many bytes.
    fn state_size(&mut self, role: Role, (claim, artifact): (Sequence, Sequence), size: u64) -> Sequence {
        let value = CheckValue::Number(size.into());
        let content = CheckContent { at: CheckPlace::Size, is: Comparison::Eq, value };
        let facts = CheckStated { about: claim, artifact, condition: None };
        self.say_with(role, facts, Some(Content::CheckStated(content)))
    }
}

/// LED-10
#[test]
fn a_tool_that_starts_under_conditions_nobody_showed_is_found() {
    for (shown, found) in [(false, true), (true, false)] {
        let (mut liar, proposal) = Liar::conditional();
        let facts = ToolIntentSigned { meets: list([whole(0)]), ..intent(proposal, Risk::Low) };
        let signed = liar.intend(facts, "wc", INPUT);
        let input = liar.keep(INPUT);
        if shown {
            let (condition, evidence) = (whole(0), list([input]));
            liar.say(Role::Critic, ConditionJudged { condition, evidence, holds: true, intent: signed });
        }
        let started = liar.say(Role::Executor, ToolExecutionStarted { input: Some(input), intent: signed });
        let call = liar.complete(started);
        liar.end(call);
        if found {
            liar.is_found(Code::ConditionUnshown, started);
        } else {
            let report = default(&liar.file(None));
            assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
        }
    }
}

/// LED-24
#[test]
fn a_check_of_the_author_that_is_false_is_found_and_its_claim_unproven() {
    let (mut liar, claim, artifact) = claimed(b"12345");
    liar.state_size(Role::Executor, (claim, artifact), 5);
    let at = liar.state_size(Role::Executor, (claim, artifact), 6);
    liar.conclude(claim, "five words");
    liar.is_found(Code::CheckFailed, at);
    let report = default(&liar.file(None));
    assert_eq!(report.claims[0].standing, ClaimStanding::Unproven);
    assert!(report.to_text().contains("1 of 2 checks hold; 1 of its own FALSE"), "{}", report.to_text());
}

/// LED-13
#[test]
fn a_claim_is_disputed_by_a_check_of_the_critic_and_by_a_later_failure() {
    let (mut liar, claim, artifact) = claimed(b"12345");
    liar.state_size(Role::Critic, (claim, artifact), 6);
    liar.conclude(claim, "five words");
    let report = default(&liar.file(None));
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    assert!(report.claims[0].disputed && report.code().is_none());

    let (mut liar, proposal) = Liar::usual();
    let again = liar.intend(intent(proposal, Risk::Low), "wc", INPUT);
    let (ended, output) = liar.call(proposal);
    let started = liar.start(again, INPUT);
    let failed = liar.fail(started);
    let claim = liar.claim(&[output], ended);
    liar.conclude(claim, "five words");
    let report = default(&liar.file(None));
    assert_eq!(report.claims[0].failed_later, Some(failed), "{}", report.to_text());
    fails(
        &liar.file(None),
        &Options { profile: VerificationProfile::Strict, ..Options::default() },
        Code::ClaimDisputed,
    );
}

/// LED-24
#[test]
fn checks_are_counted_and_a_claim_without_any_is_words_only() {
    let (mut liar, claim, artifact) = claimed(b"12345");
    let words = default(&liar.file(None));
    assert!(words.to_text().contains("checks     words only"), "{}", words.to_text());
    for role in [Role::Executor, Role::Critic, Role::Planner] {
        liar.state_size(role, (claim, artifact), 5);
    }
    liar.conclude(claim, "five words");
    let report = default(&liar.file(None));
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    assert!(report.to_text().contains("checks     3 checks hold"), "{}", report.to_text());
    assert!(report.to_html().contains("<dt>checks</dt><dd>3 checks hold</dd>"));
    assert_eq!(serde_json::to_value(&report).unwrap()["claims"][0]["checks"]["hold"], 3);
}

/// LED-24: whoever reads a stream once has no bytes left when a check comes, and says so.
#[test]
fn checks_are_not_established_where_nobody_looked_for_them() {
    let (mut liar, claim, artifact) = claimed(b"12345");
    liar.state_size(Role::Executor, (claim, artifact), 6);
    liar.conclude(claim, "five words");
    let report = verify(&liar.file(None)[..], &Options::default(), &mut |_| ()).unwrap();
    assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
    assert_eq!(report.findings[0].code, Code::CheckNotMade);
    let hidden = default(&liar.file(Some(Disclosure::Withheld)));
    assert_eq!(hidden.verdict, Verdict::NotEstablished, "{}", hidden.to_text());
}
