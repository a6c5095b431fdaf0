//! A desk, its agents and their runs, with a clock and randomness of their own: real signed events for the
//! store to keep.

use demur_core::{
    commitment::Salt,
    hash::sha256,
    key::{Fingerprint, SecretKey},
    limit::{List, Text, Whole},
    random::Seeded,
    time::Timestamp,
};
use demur_ledger::{
    author::{Artifact, Draft},
    content::{
        ArtifactContent, ErasureContent, NameContent, NoteContent, PolicyContent, PolicyDocument,
        ProposalContent, ProposalReviewContent, SessionContent,
    },
    desk::{Desk, Recorded, Run},
    entry::{Address, ArtifactPlace, Entry},
    event_type::{Content, EventType, Facts, TraceKind},
    facts::{
        ContentErased, KeyRegistered, KeyRevoked, Participant, Policy, PolicyRecorded, ProposalCreated,
        ProposalDecision, ProposalReviewed, RevocationReason, Risk, SessionInitialized,
    },
    name::{CommandId, Position, PrincipalId, TraceId},
    role::Role,
    statement::Submission,
};
use demur_store::contract::{
    Append, Conflict, LeaseId, RecordKey, RecordValue, Store, StoreError, Swap, Version, Write, WriteOutcome,
    touched_confirmations, touched_questions,
};

use crate::hall::asks;

/// A desk with agents.
pub struct Sample {
    pub desk: Desk,
    agents: Vec<Agent>,
    now: Timestamp,
    random: Seeded,
    /// Registry events that no append has taken yet, and the registry's head before them.
    registry: Vec<Entry>,
    registry_head: Option<Position>,
}

/// Whoever speaks in one role.
#[derive(Clone)]
pub struct Agent {
    pub key: SecretKey,
    principal: PrincipalId,
    role: Role,
}

/// A run at the desk, with the events that no append has taken yet.
#[derive(Clone)]
pub struct Work {
    pub run: Run,
    expected: Option<Position>,
    entries: Vec<Entry>,
}

impl Work {
    pub fn trace(&self) -> TraceId {
        self.run.chain().trace()
    }

    pub fn head(&self) -> Position {
        self.run.chain().head().unwrap()
    }

    /// Returns the newest event, which no append has taken yet.
    pub fn newest(&self) -> &Entry {
        self.entries.last().unwrap()
    }
}

impl Sample {
    /// Returns a desk with four agents and an operator, whose registry no store has yet.
    pub fn new() -> Self {
        Self::seeded(11)
    }

    /// Returns such a desk with random numbers of its own.
    pub fn seeded(seed: u64) -> Self {
        let mut random = Seeded::from_number(seed);
        let now = Timestamp::from_millis(1_794_700_800_000).unwrap();
        let key = SecretKey::generate(&mut random);
        let (desk, first) = Desk::create(key, None, "a test store", now, &mut random).unwrap();
        let registry = vec![entry(first)];
        let mut sample = Self { desk, agents: Vec::new(), now, random, registry, registry_head: None };
        for role in [Role::Planner, Role::Executor, Role::Critic, Role::Auditor] {
            sample.register(role);
        }
        sample
    }

    /// Returns a desk whose registry is in this store.
    pub fn in_store(store: &dyn Store) -> Self {
        let mut sample = Self::new();
        let append = sample.registry_append();
        done(store, &[append]);
        sample
    }

    /// Registers another agent; the newest of a role speaks.
    pub fn register(&mut self, role: Role) {
        let key = SecretKey::generate(&mut self.random);
        let principal = PrincipalId::new(self.now, &mut self.random);
        let facts = KeyRegistered { key: key.public(), principal, recovery: None, roles: list([role]) };
        let content = Content::KeyRegistered(NameContent { name: text("somebody") });
        let chain = self.desk.registry_chain();
        let draft = Draft {
            command: CommandId::new(self.now, &mut self.random),
            content: Some(content),
            facts: facts.into(),
            not_after: self.now,
            role: Role::Holder,
            seen: chain.head(),
            store: Some(self.desk.store()),
            trace: chain.trace(),
        };
        let submission = draft.sign(&key, Salt::draw(&mut self.random)).unwrap();
        let recorded = self.desk.admit_key(submission, self.now).unwrap();
        self.registry.push(entry(recorded));
        self.agents.insert(0, Agent { key, principal, role });
    }

    /// Revokes the key of a role.
    pub fn revoke(&mut self, role: Role) {
        let facts = KeyRevoked {
            key: self.fingerprint(role),
            reason: RevocationReason::Lost,
            root: sha256(b"root"),
            traces: whole(1),
        };
        let content = Content::KeyRevoked(NoteContent { note: text("lost") });
        let recorded = self.desk.state_key(facts.into(), Some(content), self.now, &mut self.random).unwrap();
        self.registry.push(entry(recorded));
    }

    /// Returns the append of all registry events that none has taken yet.
    pub fn registry_append(&mut self) -> Append {
        let chain = self.desk.registry_chain();
        let (trace, head) = (chain.trace(), self.desk.head(chain).unwrap().unwrap());
        let expected = self.registry_head.replace(head.document.head);
        let entries = std::mem::take(&mut self.registry);
        Append {
            trace,
            expected,
            entries,
            head,
            phase: None,
            questions: Vec::new(),
            confirmations: Vec::new(),
            snapshot: None,
        }
    }

    pub fn agent(&self, role: Role) -> &Agent {
        self.agents.iter().find(|agent| agent.role == role).unwrap()
    }

    pub fn principal(&self, role: Role) -> PrincipalId {
        self.agent(role).principal
    }

    pub fn fingerprint(&self, role: Role) -> Fingerprint {
        self.agent(role).key.public().fingerprint()
    }

    /// Returns a run that is open and has two events.
    pub fn open(&mut self) -> Work {
        let trace = TraceId::new(self.now, &mut self.random);
        let mut work = Work { run: Run::new(trace), expected: None, entries: Vec::new() };
        let mut participants: Vec<_> =
            Role::OF_A_RUN.map(|role| Participant { principal: self.agent(role).principal, role }).into();
        participants.sort();
        let policy = Policy {
            approval_from: Risk::High,
            evidence_minimum: whole(1),
            fallback: true,
            retry_limit: whole(1),
        };
        self.say(&mut work, SessionInitialized { participants: list(participants), policy });
        self.now = self.now.plus_millis(10);
        let document = PolicyDocument::of_numbers(policy);
        let content = Content::PolicyRecorded(PolicyContent { document, hash: None });
        let said = (EventType::PolicyRecorded, Role::Desk, PolicyRecorded {}.into());
        let recorded = self.desk.record(&mut work.run, said, &content, None, self.now, &mut self.random);
        work.entries.push(entry(recorded.unwrap()));
        work
    }

    /// Returns a run that takes any number of artifacts: four events.
    pub fn executing(&mut self) -> Work {
        let mut work = self.open();
        self.say(&mut work, ProposalCreated { fallback_for: None, replaces: None });
        let proposal = work.head().sequence;
        let decision = ProposalDecision::Approved;
        self.say(&mut work, ProposalReviewed { conditions: whole(0), decision, proposal });
        work
    }

    /// Has the agent whose role fits say this in the run.
    pub fn say(&mut self, work: &mut Work, facts: impl Into<Facts>) {
        let command = CommandId::new(self.now, &mut self.random);
        self.say_with(command, work, facts);
    }

    /// Has the agent whose role fits say this under a command id of the test's choosing.
    pub fn say_with(&mut self, command: CommandId, work: &mut Work, facts: impl Into<Facts>) {
        let submission = self.submission(command, work, facts.into());
        self.now = self.now.plus_millis(10);
        let recorded = self.desk.admit(&mut work.run, submission, self.now).unwrap();
        work.entries.push(entry(recorded));
    }

    /// Records the artifact of these bytes in a run that is executing.
    pub fn record(&mut self, work: &mut Work, bytes: &[u8]) -> ArtifactPlace {
        let artifact = Artifact::new(bytes.to_vec(), &mut self.random);
        self.say(work, artifact.facts());
        let place = ArtifactPlace { address: Address::of(bytes), salt: artifact.salt };
        work.entries.last_mut().unwrap().artifact = Some(place);
        place
    }

    /// Has the desk record that the words of an event are erased.
    pub fn erase(&mut self, work: &mut Work, event: u32) {
        self.now = self.now.plus_millis(10);
        let content = Content::ContentErased(ErasureContent { why: text("asked to") });
        let said = (EventType::ContentErased, Role::Desk, ContentErased { event: event.into() }.into());
        let recorded = self.desk.record(&mut work.run, said, &content, None, self.now, &mut self.random);
        work.entries.push(entry(recorded.unwrap()));
    }

    /// Returns the append of all events of a run that none has taken yet.
    pub fn append(&self, work: &mut Work) -> Append {
        let chain = work.run.chain();
        let head = self.desk.head(chain).unwrap().unwrap();
        let expected = work.expected.replace(head.document.head);
        let entries = std::mem::take(&mut work.entries);
        let phase = work.run.state().phase();
        let questions = work.run.state().questions().map(|questions| touched_questions(&entries, questions));
        let questions = questions.unwrap_or_default();
        let confirmations = work.run.state().confirmations();
        let confirmations =
            confirmations.map(|asked| touched_confirmations(&entries, asked)).unwrap_or_default();
        Append {
            trace: chain.trace(),
            expected,
            entries,
            head,
            phase,
            questions,
            confirmations,
            snapshot: None,
        }
    }

    /// Returns a fresh command id.
    pub fn command(&mut self) -> CommandId {
        CommandId::new(self.now, &mut self.random)
    }

    fn submission(&mut self, command: CommandId, work: &Work, facts: Facts) -> Submission {
        let kind = facts.event_type().unwrap();
        assert!(kind.stands_in(TraceKind::Run));
        let agent = self.agent(kind.rule().roles[0]).clone();
        let chain = work.run.chain();
        let draft = Draft {
            command,
            content: content(kind),
            facts,
            not_after: self.now.plus_millis(60_000),
            role: agent.role,
            seen: chain.head(),
            store: Some(self.desk.store()),
            trace: chain.trace(),
        };
        draft.sign(&agent.key, Salt::draw(&mut self.random)).unwrap()
    }
}

impl Default for Sample {
    fn default() -> Self {
        Self::new()
    }
}

/// Appends what nobody refuses.
pub fn done(store: &dyn Store, appends: &[Append]) {
    let outcomes = commit(store, appends).unwrap();
    assert_eq!(outcomes, vec![WriteOutcome::Done; appends.len()]);
}

/// Commits appends under a lease that lives.
pub fn commit(store: &dyn Store, appends: &[Append]) -> Result<Vec<WriteOutcome>, StoreError> {
    let writer = writer(store)?;
    let write = |append: &Append| Write::of_events(writer, append.clone());
    store.commit(&appends.iter().map(write).collect::<Vec<_>>())
}

/// Returns a lease that lives.
pub fn writer(store: &dyn Store) -> Result<LeaseId, StoreError> {
    let living = store.leases()?.into_iter().rfind(|lease| lease.lives);
    living.map_or_else(|| store.begin_lease(sha256(b"rules")), Ok).map(|lease| lease.id)
}

/// Keeps bytes as a record, whatever it was.
pub fn keep_record(store: &dyn Store, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let (key, writer) = (RecordKey::new(key)?, writer(store)?);
    loop {
        let was = store.record(&key)?.map_or(Version::ABSENT, |kept| kept.version);
        let next = Some(RecordValue { bytes: bytes.to_vec(), expires: None });
        let write = Write::of_records(writer, vec![Swap { key: key.clone(), was, next }]);
        match store.commit(&[write])?[..] {
            // Others keep it at the same time.
            [WriteOutcome::Refused(Conflict::Record)] => {}
            [WriteOutcome::Done] => return Ok(()),
            ref other => panic!("{other:?}"),
        }
    }
}

/// Returns the bytes of a record.
pub fn record(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
    store.record(&RecordKey::new(key).unwrap()).unwrap().map(|kept| kept.value.bytes)
}

/// Returns how often a proof is to be repeated: fully under `cargo xtask prove`, else a reduced number.
pub fn rounds(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}

fn entry(recorded: Recorded) -> Entry {
    let Recorded { event, opening, meaning } = recorded;
    Entry { event, opening, artifact: None, meaning }
}

fn content(kind: EventType) -> Option<Content> {
    Some(match kind {
        EventType::SessionInitialized => Content::SessionInitialized(SessionContent {
            constraints: list([]),
            objective: text("count the words"),
            task: text("count"),
        }),
        EventType::ProposalCreated => Content::ProposalCreated(ProposalContent {
            assumptions: list([]),
            expected_evidence: list([text("the count")]),
            objective: text("count the words"),
            required_tools: list([text("wc")]),
        }),
        EventType::ProposalReviewed => {
            Content::ProposalReviewed(ProposalReviewContent { conditions: list([]), rationale: text("fine") })
        }
        EventType::ArtifactRecorded => Content::ArtifactRecorded(ArtifactContent {
            media_type: text("text/plain"),
            name: text("words"),
            size: whole(5),
        }),
        EventType::QuestionAsked => Content::QuestionAsked(asks()),
        _ => return None,
    })
}

pub fn whole<const MIN: u64, const MAX: u64>(number: u64) -> Whole<MIN, MAX> {
    Whole::try_from(number).unwrap()
}

pub fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::try_from(text).unwrap()
}

pub fn list<T, const MIN: usize, const MAX: usize>(items: impl Into<Vec<T>>) -> List<T, MIN, MAX> {
    List::try_from(items.into()).unwrap()
}
