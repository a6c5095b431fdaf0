//! Who appends: a store with registered agents, and callers that make tool calls in a run as fast as they are let.
//! A call is three signed events (intent, start, end) and leaves nothing open, so it can go on for ever.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use demur_core::{
    hash::sha256,
    key::SecretKey,
    random::{Random as _, Seeded},
    time::Timestamp,
};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{
        ArtifactContent, ExecutionContent, ExecutionResultContent, IntentContent, PolicyContent,
        PolicyDocument, ProposalContent, ProposalReviewContent, SessionContent,
    },
    event_type::{Content, Facts},
    facts::{
        Participant, Policy, PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, Risk,
        SessionInitialized, ToolExecutionCompleted, ToolExecutionStarted, ToolIntentSigned,
    },
    name::{Position, PrincipalId, Sequence, TraceId},
    role::Role,
    statement::Submission,
};
use demur_sequencer::{Sequencer, System};
use demur_store::sqlite::SqliteStore;

/// The clock of the machine and randomness that costs little.
pub(crate) struct Machine(Mutex<Seeded>);

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Seeded::from_number(seed)))
    }
}

impl System for Machine {
    fn now(&self) -> Timestamp {
        now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        if let Ok(mut random) = self.0.lock() {
            random.fill(bytes);
        }
    }
}

/// Returns the time of the machine.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or_default();
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MIN)
}

/// The agents of all runs.
#[derive(Clone)]
pub(crate) struct Agents {
    keys: Vec<(SecretKey, PrincipalId, Role)>,
}

/// Creates a store in a folder, with its agents.
pub(crate) fn create(folder: &Path) -> Result<(Sequencer, Agents, SecretKey)> {
    let mut random = Seeded::from_number(1);
    let desk = SecretKey::generate(&mut random);
    let store = SqliteStore::create(folder)?;
    let ledger = Sequencer::create(Arc::new(store), desk.clone(), "bench", Box::new(Machine::new(2)))?;
    let mut keys = Vec::new();
    for role in [Role::Planner, Role::Executor, Role::Critic] {
        keys.push(register(&ledger, role, &mut random)?);
    }
    Ok((ledger, Agents { keys }, desk))
}

/// Registers a new key under a new principal in this role.
pub(crate) fn register(
    ledger: &Sequencer,
    role: Role,
    random: &mut Seeded,
) -> Result<(SecretKey, PrincipalId, Role)> {
    let (key, principal) = (SecretKey::generate(random), PrincipalId::new(now(), random));
    let registry = ledger.registry();
    let place =
        Place { store: registry.store(), trace: registry.trace(), seen: Some(registry.head()), now: now() };
    let author = Author::new(key.clone(), principal, role);
    ledger.submit(author.register(&place, None, role.as_str(), random)?, None)?;
    Ok((key, principal, role))
}

impl Agents {
    fn author(&self, role: Role) -> Result<Author> {
        let (key, principal, role) =
            self.keys.iter().find(|(_, _, found)| *found == role).context("no agent of this role")?;
        Ok(Author::new(key.clone(), *principal, *role))
    }

    fn participants(&self) -> Vec<Participant> {
        let mut participants: Vec<_> = self
            .keys
            .iter()
            .map(|(_, principal, role)| Participant { principal: *principal, role: *role })
            .collect();
        participants.sort_unstable();
        participants
    }
}

/// A run that is ready for tool calls.
#[derive(Clone, Copy)]
pub(crate) struct OpenRun {
    pub(crate) trace: TraceId,
    seen: Position,
    proposal: Sequence,
    artifact: Sequence,
}

/// Says something in a trace and waits for the acknowledgement.
struct Talk<'a> {
    ledger: &'a Sequencer,
    trace: TraceId,
    seen: Option<Position>,
    random: Seeded,
}

impl Talk<'_> {
    fn say(
        &mut self,
        author: &Author,
        facts: impl Into<Facts>,
        content: Content,
        artifact: Option<&Artifact>,
    ) -> Result<Sequence> {
        let store = self.ledger.registry().store();
        let place = Place { store, trace: self.trace, seen: self.seen, now: now() };
        let submission = author.say(&place, facts, Some(content), &mut self.random)?;
        let position = self.ledger.submit(submission, artifact)?.position;
        self.seen = Some(position);
        Ok(position.sequence)
    }
}

impl Talk<'_> {
    fn propose(&mut self, agents: &Agents) -> Result<Sequence> {
        let content = ProposalContent {
            assumptions: vec!["both months are closed".try_into()?].try_into()?,
            expected_evidence: vec!["the list of differences".try_into()?].try_into()?,
            objective: "read both ledgers and compare them".try_into()?,
            required_tools: vec!["read".try_into()?].try_into()?,
        };
        let facts = ProposalCreated { fallback_for: None, replaces: None };
        self.say(&agents.author(Role::Planner)?, facts, Content::ProposalCreated(content), None)
    }
}

/// Makes a proposal in a run whose newest event nobody remembers.
pub(crate) fn propose(ledger: &Sequencer, agents: &Agents, trace: TraceId, number: u64) -> Result<()> {
    let hash = ledger.store().hash(trace, Sequence::FIRST)?.context("an empty trace")?;
    let mut random = Seeded::from_number(number);
    let mut again = [0; 32];
    random.fill(&mut again);
    again[..16].copy_from_slice(&trace.as_ulid().as_u128().to_be_bytes());
    again[16..24].copy_from_slice(&now().as_millis().to_be_bytes());
    let seen = Some(Position::new(Sequence::FIRST, hash));
    Talk { ledger, trace, seen, random: Seeded::new(again) }.propose(agents).map(|_| ())
}

/// Opens a run with its first event only.
pub(crate) fn begin(ledger: &Sequencer, agents: &Agents, seed: u64) -> Result<TraceId> {
    let mut random = Seeded::from_number(seed);
    let trace = TraceId::new(now(), &mut random);
    let mut talk = Talk { ledger, trace, seen: None, random };
    initialize(&mut talk, agents)?;
    Ok(trace)
}

fn initialize(talk: &mut Talk<'_>, agents: &Agents) -> Result<()> {
    let policy = Policy {
        approval_from: Risk::High,
        evidence_minimum: 1.try_into()?,
        fallback: false,
        retry_limit: 0.try_into()?,
    };
    let facts = SessionInitialized { participants: agents.participants().try_into()?, policy };
    let content = SessionContent {
        constraints: vec!["read only".try_into()?].try_into()?,
        objective: "compare the ledgers of two months and list what does not match".try_into()?,
        task: "reconcile".try_into()?,
    };
    let store = talk.ledger.registry().store();
    let place = Place { store, trace: talk.trace, seen: None, now: now() };
    let content = Some(Content::SessionInitialized(content));
    let opening = agents.author(Role::Planner)?.say(&place, facts, content, &mut talk.random)?;
    let document = PolicyDocument::of_numbers(policy);
    let content = Some(Content::PolicyRecorded(PolicyContent { document, hash: None }));
    let saying = Saying { role: Role::Desk, facts: PolicyRecorded {}.into(), content };
    let rest = Consequences { after: None, signing: None, sayings: vec![saying] };
    talk.seen = Some(talk.ledger.submit_followed(opening, None, rest, &[])?.position);
    Ok(())
}

/// Opens a run up to its first tool call.
pub(crate) fn open(ledger: &Sequencer, agents: &Agents, number: u64) -> Result<OpenRun> {
    let mut random = Seeded::from_number(number);
    let trace = TraceId::new(now(), &mut random);
    let mut talk = Talk { ledger, trace, seen: None, random };
    initialize(&mut talk, agents)?;
    let proposal = talk.propose(agents)?;
    let facts =
        ProposalReviewed { conditions: 0.try_into()?, decision: ProposalDecision::Approved, proposal };
    let content =
        ProposalReviewContent { conditions: Vec::new().try_into()?, rationale: "it only reads".try_into()? };
    talk.say(&agents.author(Role::Critic)?, facts, Content::ProposalReviewed(content), None)?;
    let bytes = b"the ledger of October".to_vec();
    let content = ArtifactContent {
        media_type: "text/plain".try_into()?,
        name: "input".try_into()?,
        size: (bytes.len() as u64).try_into()?,
    };
    let artifact = Artifact::new(bytes, &mut talk.random);
    let executor = agents.author(Role::Executor)?;
    let place = talk.say(&executor, artifact.facts(), Content::ArtifactRecorded(content), Some(&artifact))?;
    let seen = talk.seen.context("a run with events has a newest one")?;
    Ok(OpenRun { trace, seen, proposal, artifact: place })
}

/// An executor that makes one tool call after the other.
pub(crate) struct Caller {
    author: Author,
    run: OpenRun,
    random: Seeded,
    stage: Stage,
    store: demur_ledger::name::StoreId,
}

#[derive(Clone, Copy)]
enum Stage {
    Intend,
    Start { intent: Sequence },
    End { started: Sequence },
}

impl Caller {
    pub(crate) fn new(ledger: &Sequencer, agents: &Agents, run: OpenRun, seed: u64) -> Result<Self> {
        Ok(Self {
            author: agents.author(Role::Executor)?,
            run,
            random: Seeded::from_number(seed),
            stage: Stage::Intend,
            store: ledger.registry().store(),
        })
    }

    /// Returns the next statement, signed.
    pub(crate) fn next(&mut self) -> Result<Submission> {
        let (facts, content): (Facts, Content) = match self.stage {
            Stage::Intend => {
                let meets = Vec::new().try_into()?;
                let content = IntentContent {
                    input_hash: sha256(b"the ledger of October"),
                    justification: "the totals of both months are needed".try_into()?,
                    tool: "read".try_into()?,
                };
                let proposal = self.run.proposal;
                let facts = ToolIntentSigned { meets, proposal, retries: None, risk: Risk::Low };
                (facts.into(), Content::ToolIntentSigned(content))
            }
            Stage::Start { intent } => {
                let facts = ToolExecutionStarted { input: Some(self.run.artifact), intent };
                let content = ExecutionContent { limits: vec!["no network".try_into()?].try_into()? };
                (facts.into(), Content::ToolExecutionStarted(content))
            }
            Stage::End { started } => {
                let outputs = vec![self.run.artifact].try_into()?;
                let content = ExecutionResultContent {
                    duration_ms: 12.try_into()?,
                    exit_status: Some(0.try_into()?),
                    note: None,
                };
                let facts = ToolExecutionCompleted { outputs, started };
                (facts.into(), Content::ToolExecutionCompleted(content))
            }
        };
        let place = Place { store: self.store, trace: self.run.trace, seen: Some(self.run.seen), now: now() };
        Ok(self.author.say(&place, facts, Some(content), &mut self.random)?)
    }

    /// Goes on after the acknowledgement.
    pub(crate) fn acknowledged(&mut self, position: Position) {
        self.run.seen = position;
        self.stage = match self.stage {
            Stage::Intend => Stage::Start { intent: position.sequence },
            Stage::Start { .. } => Stage::End { started: position.sequence },
            Stage::End { .. } => Stage::Intend,
        };
    }
}
