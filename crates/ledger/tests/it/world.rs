//! A desk, four agents and a run, with a clock and randomness of their own: what every test starts from.

use demur_core::{
    hash::sha256,
    key::SecretKey,
    limit::{List, Text, Whole},
    random::Seeded,
    time::Timestamp,
};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{
        ActContent, AnswerContent, AnswerValue, ArtifactContent, CheckContent, CheckPlace, CheckValue,
        ClaimContent, Comparison, ErasureContent, ExecutionContent, ExecutionResultContent, FailureContent,
        FinalClaim, FinalStatementContent, IntentContent, PolicyContent, PolicyDocument, ProposalContent,
        ProposalReviewContent, QuestionContent, RationaleContent, ReasonContent, SessionContent,
        VerificationContent, Wordings,
    },
    desk::{Desk, DeskError, Recorded, Run},
    event_type::{Content, Facts},
    facts::{CheckStated, Participant, Policy, PolicyRecorded, Risk, SessionInitialized, VerificationStatus},
    name::{PrincipalId, Sequence, TraceId},
    role::Role,
    state::State,
    statement::Submission,
};

/// Everything a test needs.
pub(crate) struct World {
    pub(crate) desk: Desk,
    pub(crate) registry: Vec<Recorded>,
    pub(crate) run: Run,
    pub(crate) events: Vec<Recorded>,
    /// The auditor's reports, which every export discloses.
    pub(crate) reports: Vec<(Sequence, Artifact)>,
    pub(crate) agents: Vec<Author>,
    pub(crate) now: Timestamp,
    pub(crate) random: Seeded,
}

impl World {
    /// Returns a store with four registered agents and a run that nobody has opened.
    pub(crate) fn new() -> Self {
        Self::seeded(7)
    }

    /// Returns such a world with random numbers of its own.
    pub(crate) fn seeded(seed: u64) -> Self {
        let mut random = Seeded::from_number(seed);
        let now = Timestamp::from_millis(1_794_700_800_000).unwrap();
        let key = SecretKey::generate(&mut random);
        let (desk, first) = Desk::create(key, None, "a test store", now, &mut random).unwrap();
        let run = Run::new(TraceId::new(now, &mut random));
        let (registry, events, reports, agents) = (vec![first], Vec::new(), Vec::new(), Vec::new());
        let mut world = Self { desk, registry, run, events, reports, agents, now, random };
        for role in [Role::Planner, Role::Executor, Role::Critic, Role::Auditor, Role::Operator] {
            let author = world.new_author(role);
            world.register(&author).unwrap();
            world.agents.push(author);
        }
        world
    }

    /// Returns a world whose run is open under the usual policy.
    pub(crate) fn opened() -> Self {
        Self::opened_with(usual_policy())
    }

    /// Returns a world whose run is open under this policy.
    pub(crate) fn opened_with(policy: Policy) -> Self {
        Self::opened_under(PolicyDocument::of_numbers(policy))
    }

    /// Returns a world whose run is open under this policy, which may name tools.
    pub(crate) fn opened_under(document: PolicyDocument) -> Self {
        let mut world = Self::new();
        let facts = world.opening(document.numbers());
        world.say(facts).unwrap();
        world.record_policy(document).unwrap();
        world
    }

    /// Has the operator record the policy of the run.
    pub(crate) fn record_policy(&mut self, document: PolicyDocument) -> Result<Sequence, DeskError> {
        let content = Content::PolicyRecorded(PolicyContent { document, hash: None });
        let place = self.place();
        let operator = self.agents.iter().find(|agent| agent.role() == Role::Operator).unwrap();
        let said = operator.say(&place, PolicyRecorded {}, Some(content), &mut self.random).unwrap();
        self.submit(said)
    }

    /// Returns an author that nobody knows yet.
    pub(crate) fn new_author(&mut self, role: Role) -> Author {
        let principal = PrincipalId::new(self.now, &mut self.random);
        Author::new(SecretKey::generate(&mut self.random), principal, role)
    }

    /// Registers an author's key.
    pub(crate) fn register(&mut self, author: &Author) -> Result<(), DeskError> {
        let place = self.registry_place();
        let submission = author.register(&place, None, "somebody", &mut self.random).unwrap();
        let recorded = self.desk.admit_key(submission, self.now)?;
        self.registry.push(recorded);
        Ok(())
    }

    /// Returns the place of the next registry event.
    pub(crate) fn registry_place(&self) -> Place {
        let chain = self.desk.registry_chain();
        Place { store: self.desk.store(), trace: chain.trace(), seen: chain.head(), now: self.now }
    }

    /// Returns the place of the next event of the run.
    pub(crate) fn place(&self) -> Place {
        let chain = self.run.chain();
        Place { store: self.desk.store(), trace: chain.trace(), seen: chain.head(), now: self.now }
    }

    /// Returns the state of the run, whether it is open or not yet.
    pub(crate) fn open_run(&self) -> State {
        self.run.state().run().cloned().unwrap_or_default()
    }

    /// Returns the agent of a role.
    pub(crate) fn agent(&self, role: Role) -> &Author {
        self.agents.iter().find(|agent| agent.role() == role).unwrap()
    }

    /// Returns the facts that open the run with the four agents.
    pub(crate) fn opening(&self, policy: Policy) -> SessionInitialized {
        let mut participants: Vec<_> =
            Role::OF_A_RUN.map(|role| Participant { principal: self.agent(role).principal(), role }).into();
        participants.sort();
        SessionInitialized { participants: List::try_from(participants).unwrap(), policy }
    }

    /// Has the agent whose role fits say this with fitting content, and records it.
    pub(crate) fn say(&mut self, facts: impl Into<Facts>) -> Result<Sequence, DeskError> {
        let facts = facts.into();
        let role = facts.event_type().unwrap().rule().roles[0];
        self.say_as(role, facts)
    }

    /// Has the agent of this role say this, and records it.
    pub(crate) fn say_as(&mut self, role: Role, facts: impl Into<Facts>) -> Result<Sequence, DeskError> {
        let submission = self.submission(role, facts);
        self.submit(submission)
    }

    /// Has the agent of this role say this with content that was changed, and records it.
    pub(crate) fn say_with(
        &mut self,
        role: Role,
        facts: impl Into<Facts>,
        change: impl FnOnce(&mut Content),
    ) -> Result<Sequence, DeskError> {
        let facts = facts.into();
        let mut content = fitting(&facts).unwrap();
        change(&mut content);
        let place = self.place();
        let agent = self.agents.iter().find(|agent| agent.role() == role).unwrap();
        let submission = agent.say(&place, facts, Some(content), &mut self.random).unwrap();
        self.submit(submission)
    }

    /// Returns what the agent of this role would send.
    pub(crate) fn submission(&mut self, role: Role, facts: impl Into<Facts>) -> Submission {
        let facts = facts.into();
        let content = fitting(&facts);
        let place = self.place();
        let agent = self.agents.iter().find(|agent| agent.role() == role).unwrap();
        agent.say(&place, facts, content, &mut self.random).unwrap()
    }

    /// Records a submission.
    pub(crate) fn submit(&mut self, submission: Submission) -> Result<Sequence, DeskError> {
        self.now = self.now.plus_millis(10);
        let recorded = self.desk.admit(&mut self.run, submission, self.now)?;
        let at = recorded.event.position().sequence;
        self.events.push(recorded);
        Ok(at)
    }

    /// Has the executor record an artifact.
    pub(crate) fn keep(&mut self, artifact: &Artifact) -> Sequence {
        let submission = self.submission(Role::Executor, artifact.facts());
        self.now = self.now.plus_millis(10);
        let recorded = self.desk.admit_artifact(&mut self.run, submission, artifact, self.now).unwrap();
        let at = recorded.event.position().sequence;
        self.events.push(recorded);
        at
    }

    /// Has somebody state a check of these bytes, and records it.
    pub(crate) fn check(
        &mut self,
        role: Role,
        facts: CheckStated,
        check: CheckContent,
        bytes: &[u8],
    ) -> Result<Sequence, DeskError> {
        let place = self.place();
        let agent = self.agents.iter().find(|agent| agent.role() == role).unwrap();
        let said = agent.say(&place, facts, Some(Content::CheckStated(check)), &mut self.random).unwrap();
        self.now = self.now.plus_millis(10);
        let recorded = self.desk.admit_check(&mut self.run, said, bytes, self.now)?;
        let at = recorded.event.position().sequence;
        self.events.push(recorded);
        Ok(at)
    }

    /// Has the auditor record a report.
    pub(crate) fn report(&mut self, bytes: &[u8]) -> Sequence {
        let report = self.artifact(bytes);
        let submission = self.submission(Role::Auditor, report.report_facts());
        self.now = self.now.plus_millis(10);
        let recorded = self.desk.admit_artifact(&mut self.run, submission, &report, self.now).unwrap();
        let at = recorded.event.position().sequence;
        self.events.push(recorded);
        self.reports.push((at, report));
        at
    }

    /// Returns an artifact of these bytes.
    pub(crate) fn artifact(&mut self, bytes: &[u8]) -> Artifact {
        Artifact::new(bytes.to_vec(), &mut self.random)
    }
}

/// Returns how often a proof is to be repeated: fully under `cargo xtask prove`, else a reduced number.
#[expect(clippy::disallowed_methods, reason = "the one place where the tests read the environment")]
pub(crate) fn rounds(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}

/// Low risk goes through, one artifact is enough, one retry, fallback allowed.
pub(crate) fn usual_policy() -> Policy {
    Policy { approval_from: Risk::High, evidence_minimum: whole(1), fallback: true, retry_limit: whole(1) }
}

/// Returns a number in range.
pub(crate) fn whole<const MIN: u64, const MAX: u64>(number: u64) -> Whole<MIN, MAX> {
    Whole::try_from(number).unwrap()
}

/// Returns a text in range.
pub(crate) fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::try_from(text).unwrap()
}

/// Returns a list in range.
pub(crate) fn list<T, const MIN: usize, const MAX: usize>(items: impl Into<Vec<T>>) -> List<T, MIN, MAX> {
    List::try_from(items.into()).unwrap()
}

/// Returns the shortest report that bears this status.
pub(crate) fn reporting(status: VerificationStatus) -> String {
    format!(r#"{{"status":"{}"}}"#, status.as_str())
}

/// Returns content that fits these facts.
pub(crate) fn fitting(facts: &Facts) -> Option<Content> {
    let reason = || ReasonContent { reason: text("because") };
    Some(match facts {
        Facts::SessionInitialized(_) => Content::SessionInitialized(SessionContent {
            constraints: list([]),
            objective: text("count the words"),
            task: text("count"),
        }),
        Facts::ProposalCreated(_) => Content::ProposalCreated(ProposalContent {
            assumptions: list([text("the text is there")]),
            expected_evidence: list([text("the count")]),
            objective: text("count the words"),
            required_tools: list([text("wc")]),
        }),
        Facts::ProposalReviewed(facts) => Content::ProposalReviewed(ProposalReviewContent {
            conditions: list(vec![text("read only"); usize::try_from(facts.conditions.as_u64()).unwrap()]),
            rationale: text("fine"),
        }),
        Facts::ToolIntentSigned(_) => Content::ToolIntentSigned(IntentContent {
            input_hash: sha256(INPUT),
            justification: text("to count"),
            tool: text("wc"),
        }),
        Facts::ToolIntentReviewed(_) => {
            Content::ToolIntentReviewed(RationaleContent { rationale: text("harmless") })
        }
        Facts::CheckStated(_) => Content::CheckStated(CheckContent {
            at: CheckPlace::Size,
            is: Comparison::Ge,
            value: CheckValue::Number(0.into()),
        }),
        Facts::ToolExecutionStarted(_) => {
            Content::ToolExecutionStarted(ExecutionContent { limits: list([text("one second")]) })
        }
        Facts::ToolExecutionCompleted(_) => Content::ToolExecutionCompleted(ExecutionResultContent {
            duration_ms: whole(3),
            exit_status: Some(whole(0)),
            note: None,
        }),
        Facts::ToolExecutionFailed(_) => Content::ToolExecutionFailed(FailureContent {
            duration_ms: whole(3),
            exit_status: None,
            message: text("no such file"),
        }),
        Facts::ArtifactRecorded(_) => Content::ArtifactRecorded(ArtifactContent {
            media_type: text("text/plain"),
            name: text("words"),
            size: whole(5),
        }),
        Facts::ClaimIssued(_) => Content::ClaimIssued(claim()),
        Facts::ClaimRevised(_) => Content::ClaimRevised(claim()),
        Facts::ClaimChallenged(_) => Content::ClaimChallenged(reason()),
        Facts::ClaimResolved(_) => Content::ClaimResolved(reason()),
        Facts::ClaimRetracted(_) => Content::ClaimRetracted(reason()),
        Facts::FinalStatementSigned(facts) => Content::FinalStatementSigned(FinalStatementContent {
            claims: list(
                facts
                    .claims
                    .iter()
                    .map(|claim| FinalClaim { claim: *claim, text: text("five words") })
                    .collect::<Vec<_>>(),
            ),
            verdict: text("done"),
        }),
        Facts::VerificationRunCompleted(facts) => Content::VerificationRunCompleted(VerificationContent {
            report: sha256(reporting(facts.status).as_bytes()),
            summary: text("passed"),
        }),
        Facts::SessionAborted(_) => Content::SessionAborted(reason()),
        Facts::ContentErased(_) => Content::ContentErased(ErasureContent { why: text("asked to") }),
        Facts::QuestionAsked(_) => Content::QuestionAsked(question()),
        Facts::QuestionAnswered(_) => Content::QuestionAnswered(answer()),
        Facts::AnswerSuperseded(_) => Content::AnswerSuperseded(answer()),
        Facts::AnswerRevoked(_) => Content::AnswerRevoked(act()),
        Facts::QuestionCancelled(_) => Content::QuestionCancelled(act()),
        _ => return None,
    })
}

fn question() -> QuestionContent {
    QuestionContent {
        ask: None,
        choices: list([]),
        context: None,
        default: None,
        field: None,
        gap: None,
        language: text("en"),
        recommendation: None,
        request: None,
        rule: None,
        suggestions: list([]),
        wording: Wordings {
            detailed: text("May it count?"),
            normal: text("May it count?"),
            terse: text("Count?"),
        },
    }
}

fn answer() -> AnswerContent {
    let answer = AnswerValue::Text(text("yes"));
    AnswerContent { answer, by: None, note: None, request: None, signed: None, shown: None }
}

fn act() -> ActContent {
    ActContent { by: None, reason: text("not needed any more") }
}

fn claim() -> ClaimContent {
    ClaimContent { confidence: whole(90), text: text("five words") }
}

/// The input that every intent names unless a test says otherwise.
pub(crate) const INPUT: &[u8] = b"{}";
