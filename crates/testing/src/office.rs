//! A sequencer in use by agents, with a clock and randomness of its own.

use std::{
    fs::File,
    io::Read as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use demur_core::{
    commitment::Salt,
    hash::sha256,
    key::SecretKey,
    random::{Random as _, Seeded},
    time::Timestamp,
};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    author::{Artifact, Author, Draft, Place},
    content::{
        ArtifactContent, ClaimContent, ExecutionContent, ExecutionResultContent, FinalClaim,
        FinalStatementContent, IntentContent, PolicyContent, PolicyDocument, ProposalContent,
        ProposalReviewContent, SessionContent, VerificationContent,
    },
    event_type::{Content, Facts},
    facts::{
        ClaimIssued, FinalStatementSigned, Participant, Policy, PolicyRecorded, ProposalCreated,
        ProposalDecision, ProposalReviewed, Risk, SessionInitialized, ToolExecutionCompleted,
        ToolExecutionStarted, ToolIntentSigned, VerificationProfile, VerificationRunCompleted,
        VerificationRunStarted, VerificationStatus,
    },
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    registry::Registry,
    role::Role,
    statement::Submission,
    verify::{Options, Report, verify},
};
use demur_sequencer::{Acknowledged, Sequencer, SequencerError, System};
use demur_store::contract::Store;

use crate::{
    hall::asks,
    sample::{list, text, whole},
};

/// A clock that moves by ten milliseconds each time somebody looks, and seeded randomness; or those of the machine.
#[derive(Clone)]
pub struct Clock(Option<Arc<AtomicU64>>, Arc<Mutex<Seeded>>);

impl Clock {
    pub fn new() -> Self {
        let now = AtomicU64::new(1_794_700_800_000);
        Self(Some(Arc::new(now)), Arc::new(Mutex::new(Seeded::from_number(3))))
    }

    /// Returns the clock and the randomness of the machine, for processes that follow each other.
    pub fn of_the_machine() -> Self {
        let mut seed = [0; 32];
        File::open("/dev/urandom").unwrap().read_exact(&mut seed).unwrap();
        Self(None, Arc::new(Mutex::new(Seeded::new(seed))))
    }

    pub fn pass(&self, millis: u64) {
        self.0.as_ref().unwrap().fetch_add(millis, Ordering::Relaxed);
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl System for Clock {
    fn now(&self) -> Timestamp {
        let millis = match &self.0 {
            Some(clock) => clock.fetch_add(10, Ordering::Relaxed),
            None => SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap(),
        };
        Timestamp::from_millis(millis).unwrap()
    }

    fn fill(&self, bytes: &mut [u8]) {
        self.1.lock().unwrap().fill(bytes);
    }
}

/// A sequencer with registered agents.
pub struct Office {
    pub sequencer: Sequencer,
    pub clock: Clock,
    pub desk: SecretKey,
    agents: Vec<(SecretKey, PrincipalId, Role)>,
}

/// The people of an office that is closed.
pub struct People {
    clock: Clock,
    desk: SecretKey,
    agents: Vec<(SecretKey, PrincipalId, Role)>,
}

impl People {
    pub fn enter(self, store: Arc<dyn Store>) -> Office {
        let Self { clock, desk, agents } = self;
        let key = desk.clone();
        let sequencer = Sequencer::open(store, move |_| Some(key.clone()), Box::new(clock.clone())).unwrap();
        Office { sequencer, clock, desk, agents }
    }
}

/// A run as its agents see it.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub trace: TraceId,
    pub seen: Option<Position>,
}

impl Office {
    pub fn create(store: Arc<dyn Store>) -> Self {
        Self::create_with(store, Clock::new())
    }

    pub fn create_with(store: Arc<dyn Store>, clock: Clock) -> Self {
        let desk = key(0);
        let sequencer = Sequencer::create(store, desk.clone(), "an office", Box::new(clock.clone())).unwrap();
        let mut office = Self { sequencer, clock, desk, agents: Vec::new() };
        for role in STAFF {
            office.register(role);
        }
        office
    }

    /// Returns the office of a store that any process created.
    pub fn at(store: Arc<dyn Store>) -> Result<Self, SequencerError> {
        let (clock, desk) = (Clock::of_the_machine(), key(0));
        let key = desk.clone();
        let sequencer = Sequencer::open(store, move |_| Some(key.clone()), Box::new(clock.clone()))?;
        Ok(Self { agents: staff(&sequencer.registry()), sequencer, clock, desk })
    }

    /// Returns such an office for reading only.
    pub fn beside(store: Arc<dyn Store>) -> Result<Self, SequencerError> {
        let (clock, desk) = (Clock::of_the_machine(), key(0));
        let key = desk.clone();
        let sequencer = Sequencer::read(store, move |_| Some(key.clone()), Box::new(clock.clone()))?;
        Ok(Self { agents: staff(&sequencer.registry()), sequencer, clock, desk })
    }

    /// Returns the people after the process ended without closing.
    pub fn leave(self) -> People {
        let Self { sequencer, clock, desk, agents } = self;
        drop(sequencer);
        People { clock, desk, agents }
    }

    /// Returns the same office after its process ended without closing.
    #[must_use]
    pub fn reopen(self, store: Arc<dyn Store>) -> Self {
        self.leave().enter(store)
    }

    /// Returns the same office after its process ended in good order.
    #[must_use]
    pub fn close_and_reopen(self, store: Arc<dyn Store>) -> Self {
        let Self { sequencer, clock, desk, agents } = self;
        drop(sequencer.close().unwrap());
        People { clock, desk, agents }.enter(store)
    }

    /// Returns a second process on the same store.
    #[must_use]
    pub fn twin(&self, store: Arc<dyn Store>) -> Self {
        let Self { clock, desk, agents, .. } = self;
        People { clock: clock.clone(), desk: desk.clone(), agents: agents.clone() }.enter(store)
    }

    pub fn register(&mut self, role: Role) {
        let mut random = self.random();
        let key = key(1 + self.agents.len() as u64);
        let principal = PrincipalId::new(self.clock.now(), &mut random);
        let registry = self.sequencer.registry();
        let (store, trace, seen) = (registry.store(), registry.trace(), Some(registry.head()));
        let place = Place { store, trace, seen, now: self.clock.now() };
        let author = Author::new(key.clone(), principal, role);
        let submission = author.register(&place, None, role.as_str(), &mut random).unwrap();
        self.sequencer.submit(submission, None).unwrap();
        self.agents.insert(0, (key, principal, role));
    }

    pub fn agent(&self, role: Role) -> &(SecretKey, PrincipalId, Role) {
        self.agents.iter().find(|agent| agent.2 == role).unwrap()
    }

    fn random(&self) -> Seeded {
        let mut seed = [0; 32];
        self.clock.fill(&mut seed);
        Seeded::new(seed)
    }

    pub fn new_run(&self) -> Run {
        Run { trace: TraceId::new(self.clock.now(), &mut self.random()), seen: None }
    }

    /// Returns what the agent whose role fits says, signed.
    pub fn submission(&self, run: &Run, facts: impl Into<Facts>) -> Submission {
        self.submission_with(CommandId::new(self.clock.now(), &mut self.random()), run, facts.into())
    }

    pub fn submission_with(&self, command: CommandId, run: &Run, facts: Facts) -> Submission {
        let role = facts.event_type().unwrap().rule().roles[0];
        let content = content(&facts);
        self.submission_as(role, command, run, (facts, content))
    }

    /// Returns what the agent of a role says in these words, signed.
    pub fn submission_as(
        &self,
        role: Role,
        command: CommandId,
        run: &Run,
        (facts, content): (Facts, Option<Content>),
    ) -> Submission {
        let draft = Draft {
            command,
            content,
            facts,
            not_after: self.clock.now().plus_millis(60_000),
            role,
            seen: run.seen,
            store: Some(self.sequencer.registry().store()),
            trace: run.trace,
        };
        draft.sign(&self.agent(role).0, Salt::draw(&mut self.random())).unwrap()
    }

    /// Has the agent whose role fits say something.
    pub fn say(&self, run: &mut Run, facts: impl Into<Facts>) -> Result<Sequence, SequencerError> {
        let acknowledged = self.sequencer.submit(self.submission(run, facts), None)?;
        run.seen = Some(acknowledged.position);
        Ok(acknowledged.position.sequence)
    }

    /// Has the agent of a role say something in these words.
    pub fn say_as(
        &self,
        role: Role,
        run: &mut Run,
        facts: impl Into<Facts>,
        content: Option<Content>,
    ) -> Result<Sequence, SequencerError> {
        let command = CommandId::new(self.clock.now(), &mut self.random());
        let submission = self.submission_as(role, command, run, (facts.into(), content));
        let Acknowledged { position, .. } = self.sequencer.submit(submission, None)?;
        run.seen = Some(position);
        Ok(position.sequence)
    }

    /// Records bytes.
    pub fn record(&self, run: &mut Run, bytes: &[u8]) -> Result<Sequence, SequencerError> {
        let artifact = Artifact::new(bytes.to_vec(), &mut self.random());
        let submission = self.submission(run, artifact.facts());
        let Acknowledged { position, .. } = self.sequencer.submit(submission, Some(&artifact))?;
        run.seen = Some(position);
        Ok(position.sequence)
    }

    /// Returns a run that is open, and whose agents have seen its policy.
    pub fn open(&self) -> Run {
        let mut run = self.new_run();
        let mut participants: Vec<_> =
            Role::OF_A_RUN.map(|role| Participant { principal: self.agent(role).1, role }).into();
        participants.sort();
        let policy = Policy {
            approval_from: Risk::High,
            evidence_minimum: whole(1),
            fallback: true,
            retry_limit: whole(1),
        };
        let opening = SessionInitialized { participants: list(participants), policy };
        let submission = self.submission(&run, opening);
        let document = PolicyDocument::of_numbers(policy);
        let content = Some(Content::PolicyRecorded(PolicyContent { document, hash: None }));
        let saying = Saying { role: Role::Desk, facts: PolicyRecorded {}.into(), content };
        let rest = Consequences { after: None, signing: None, sayings: vec![saying] };
        self.sequencer.submit_followed(submission, None, rest, &[]).unwrap();
        run.seen = self.sequencer.store().trace(run.trace).unwrap().map(|summary| summary.head);
        run
    }

    /// Returns a run with an approved proposal, and the proposal.
    pub fn executing(&self) -> (Run, Sequence) {
        let mut run = self.open();
        let proposal = self.say(&mut run, ProposalCreated { fallback_for: None, replaces: None }).unwrap();
        let decision = ProposalDecision::Approved;
        self.say(&mut run, ProposalReviewed { conditions: whole(0), decision, proposal }).unwrap();
        (run, proposal)
    }

    /// Makes one tool call, which puts out nothing, with an artifact that is recorded already.
    pub fn call(
        &self,
        run: &mut Run,
        proposal: Sequence,
        artifact: Sequence,
    ) -> Result<Sequence, SequencerError> {
        let (meets, retries) = (list([]), None);
        let intent = self.say(run, ToolIntentSigned { meets, proposal, retries, risk: Risk::Low })?;
        let started = self.say(run, ToolExecutionStarted { input: Some(artifact), intent })?;
        self.say(run, ToolExecutionCompleted { outputs: list([]), started })
    }

    /// Returns a run whose verification has begun, and where.
    pub fn auditing(&self) -> (Run, Position) {
        let (mut run, proposal) = self.executing();
        let artifact = self.record(&mut run, b"words").unwrap();
        let completed = self.call(&mut run, proposal, artifact).unwrap();
        // Only a claim that something failed may rest on what a tool was given.
        let claim =
            ClaimIssued { about_failure: true, evidence: list([artifact]), executions: list([completed]) };
        let claim = self.say(&mut run, claim).unwrap();
        self.say(&mut run, FinalStatementSigned { claims: list([claim]) }).unwrap();
        let profile = VerificationProfile::Default;
        self.say(&mut run, VerificationRunStarted { profile }).unwrap();
        let through = run.seen.unwrap();
        (run, through)
    }

    /// Returns a run from its beginning to its verdict.
    pub fn whole_run(&self) -> Run {
        let (mut run, through) = self.auditing();
        self.report(&mut run, REPORT).unwrap();
        let status = VerificationStatus::Pass;
        self.say(&mut run, VerificationRunCompleted { status, through }).unwrap();
        run
    }

    /// Records the auditor's report.
    pub fn report(&self, run: &mut Run, bytes: &[u8]) -> Result<Sequence, SequencerError> {
        let report = Artifact::new(bytes.to_vec(), &mut self.random());
        let submission = self.submission(run, report.report_facts());
        let Acknowledged { position, .. } = self.sequencer.submit(submission, Some(&report))?;
        run.seen = Some(position);
        Ok(position.sequence)
    }

    /// Returns the export of a trace.
    pub fn export(&self, trace: TraceId) -> Vec<u8> {
        let mut file = Vec::new();
        self.sequencer.export(trace, text("demur test"), &mut file, &mut |_| ()).unwrap();
        file
    }

    /// Returns what the verifier says about a trace.
    pub fn verdict(&self, trace: TraceId) -> Report {
        verify(&self.export(trace)[..], &Options::default(), &mut |_| ()).unwrap()
    }
}

/// Returns the key of a person by number: every process knows it.
fn key(person: u64) -> SecretKey {
    SecretKey::generate(&mut Seeded::from_number(500 + person))
}

/// Returns who of the staff is registered.
fn staff(registry: &Registry) -> Vec<(SecretKey, PrincipalId, Role)> {
    let person = |(number, role)| {
        let key = key(number);
        let principal = registry.key(&key.public().fingerprint())?.principal;
        Some((key, principal, role))
    };
    (1..).zip(STAFF).filter_map(person).collect()
}

/// The newest event of a run that was just opened: the opening and the policy are one commit.
pub const POLICY: Sequence = Sequence::FIRST.next();

/// The report that every verdict names: it passes.
pub const REPORT: &[u8] = br#"{"status":"pass"}"#;

/// Who is registered in every office, in this order.
const STAFF: [Role; 4] = [Role::Planner, Role::Executor, Role::Critic, Role::Auditor];

fn content(facts: &Facts) -> Option<Content> {
    Some(match facts {
        Facts::SessionInitialized(_) => Content::SessionInitialized(SessionContent {
            constraints: list([]),
            objective: text("count the words"),
            task: text("count"),
        }),
        Facts::ProposalCreated(_) => Content::ProposalCreated(ProposalContent {
            assumptions: list([]),
            expected_evidence: list([text("the count")]),
            objective: text("count the words"),
            required_tools: list([text("wc")]),
        }),
        Facts::ProposalReviewed(facts) => {
            let count = usize::try_from(facts.conditions.as_u64()).unwrap();
            let conditions = list(vec![text("read only"); count]);
            Content::ProposalReviewed(ProposalReviewContent { conditions, rationale: text("fine") })
        }
        Facts::ToolIntentSigned(_) => Content::ToolIntentSigned(IntentContent {
            input_hash: sha256(b"words"),
            justification: text("to count"),
            tool: text("wc"),
        }),
        Facts::ToolExecutionStarted(_) => {
            Content::ToolExecutionStarted(ExecutionContent { limits: list([]) })
        }
        Facts::ToolExecutionCompleted(_) => Content::ToolExecutionCompleted(ExecutionResultContent {
            duration_ms: whole(3),
            exit_status: Some(whole(0)),
            note: None,
        }),
        Facts::ArtifactRecorded(_) => Content::ArtifactRecorded(ArtifactContent {
            media_type: text("text/plain"),
            name: text("words"),
            size: whole(5),
        }),
        Facts::ClaimIssued(_) => {
            Content::ClaimIssued(ClaimContent { confidence: whole(90), text: text("one word") })
        }
        Facts::FinalStatementSigned(facts) => Content::FinalStatementSigned(FinalStatementContent {
            claims: list(
                facts
                    .claims
                    .iter()
                    .map(|claim| FinalClaim { claim: *claim, text: text("one word") })
                    .collect::<Vec<_>>(),
            ),
            verdict: text("done"),
        }),
        Facts::VerificationRunCompleted(_) => Content::VerificationRunCompleted(VerificationContent {
            report: sha256(REPORT),
            summary: text("passed"),
        }),
        Facts::QuestionAsked(_) => Content::QuestionAsked(asks()),
        _ => return None,
    })
}
