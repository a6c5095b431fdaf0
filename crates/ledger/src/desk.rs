//! The desk in memory: admits submissions, orders them, signs heads. The store of a later crate does the same
//! durably with the same parts; this one serves the demo, the fixtures and the tests.

use demur_core::{
    canonical::{self, ReadError, WriteError},
    commitment::Salt,
    hash::sha256,
    key::SecretKey,
    random::Random,
    time::Timestamp,
};

use crate::{
    admission::{AdmissionError, Checked},
    author::{Artifact, Draft, DraftError},
    chain::Chain,
    check,
    client::check_distinct,
    content::Opening,
    envelope::{Body, Event, Record, SealError, Stamp},
    event_type::{Content, EventType, Facts, TypeName},
    meaning::{self, ArtifactDigests, Known, Meaning},
    name::{CommandId, PrincipalId, Sequence, StoreId, TraceId},
    registry::{Registry, RegistryError},
    role::Role,
    signed::{Head, Receipt, Signed},
    state::{GuardError, Step},
    statement::{Submission, statement_hash},
    trace_state::TraceState,
};

/// A desk with its key and its registry.
#[derive(Debug)]
pub struct Desk {
    key: SecretKey,
    registry: Registry,
    chain: Chain,
}

/// An event with what travels beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The event.
    pub event: Event,
    /// Its content, if it has any.
    pub opening: Option<Opening>,
    /// What the guards need of the content.
    pub meaning: Option<Meaning>,
}

/// A trace at the desk: a run or a piece of work.
#[derive(Clone, Debug)]
pub struct Run {
    chain: Chain,
    state: TraceState,
    artifacts: ArtifactDigests,
}

impl Run {
    /// Returns a trace that nothing has opened yet.
    pub const fn new(trace: TraceId) -> Self {
        Self { chain: Chain::new(trace), state: TraceState::New, artifacts: ArtifactDigests::new() }
    }

    /// Returns the trace.
    pub const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the state.
    pub const fn state(&self) -> &TraceState {
        &self.state
    }
}

impl Desk {
    /// Returns a new store's desk and the registry's first event.
    pub fn create(
        key: SecretKey,
        recovery: Option<demur_core::key::PublicKey>,
        name: &str,
        now: Timestamp,
        random: &mut dyn Random,
    ) -> Result<(Self, Recorded), DeskError> {
        let desk = PrincipalId::new(now, random);
        let facts = crate::facts::StoreCreated { desk, key: key.public(), recovery };
        let name = name.try_into().map_err(|_| DeskError::Name)?;
        let draft = Draft {
            command: CommandId::new(now, random),
            content: Some(Content::StoreCreated(crate::content::NameContent { name })),
            facts: facts.into(),
            not_after: now,
            role: Role::Desk,
            seen: None,
            store: None,
            trace: TraceId::new(now, random),
        };
        let mut chain = Chain::new(draft.trace);
        let checked = Checked::new(draft.sign(&key, Salt::draw(random))?, None)?;
        let actor = checked.stand_next(None, chain.tip(), None, now)?;
        let stamp = Stamp { store: None, epoch: 1, registry: None, now };
        let (body, opening, meaning) = checked.into_body();
        let event = chain.tip().envelop(&stamp, actor, body)?;
        let registry = Registry::open(&event)?;
        chain.push(&event);
        Ok((Self { key, registry, chain }, Recorded { event, opening, meaning }))
    }

    /// Returns the desk of a registry that is there already; the key must be one of the desk's.
    pub fn open(key: SecretKey, registry: Registry, chain: Chain) -> Result<Self, DeskError> {
        let at = registry.head().sequence;
        registry.desk_key(&key.public().fingerprint(), at).map_err(AdmissionError::Key)?;
        Ok(Self { key, registry, chain })
    }

    /// Returns the store's name.
    pub const fn store(&self) -> StoreId {
        self.registry.store()
    }

    /// Returns the registry.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the registry's trace.
    pub const fn registry_chain(&self) -> &Chain {
        &self.chain
    }

    /// Records a registry event that a key holder signed.
    pub fn admit_key(&mut self, submission: Submission, now: Timestamp) -> Result<Recorded, DeskError> {
        let (checked, actor) = self.check(submission, &self.chain, now)?;
        let mut stamp = self.stamp(now);
        if let Facts::StoreRestored(facts) = &checked.statement().facts {
            stamp.epoch = facts.epoch.as_u64();
        }
        let (body, opening, meaning) = checked.into_body();
        let event = self.chain.tip().envelop(&stamp, actor, body)?;
        self.registry.apply(&event)?;
        self.chain.push(&event);
        Ok(Recorded { event, opening, meaning })
    }

    /// Records a registry event of the desk's own, signed with its key.
    pub fn state_key(
        &mut self,
        facts: Facts,
        content: Option<Content>,
        now: Timestamp,
        random: &mut dyn Random,
    ) -> Result<Recorded, DeskError> {
        let draft = Draft {
            command: CommandId::new(now, random),
            content,
            facts,
            not_after: now,
            role: Role::Desk,
            seen: self.chain.head(),
            store: Some(self.store()),
            trace: self.chain.trace(),
        };
        let submission = draft.sign(&self.key, Salt::draw(random))?;
        self.admit_key(submission, now)
    }

    /// Goes on with another key, after a rotation made it the desk's.
    pub fn use_key(&mut self, key: SecretKey) -> Result<(), DeskError> {
        let at = self.registry.head().sequence;
        self.registry.desk_key(&key.public().fingerprint(), at).map_err(AdmissionError::Key)?;
        self.key = key;
        Ok(())
    }

    /// Records an author's statement in a run.
    pub fn admit(
        &self,
        run: &mut Run,
        submission: Submission,
        now: Timestamp,
    ) -> Result<Recorded, DeskError> {
        let (checked, actor) = self.check(submission, &run.chain, now)?;
        let (body, opening, meaning) = checked.into_body();
        let event = self.append(run, (actor, body), meaning.as_ref(), now)?;
        Ok(Recorded { event, opening, meaning })
    }

    /// Records an author's statement about these bytes in a run.
    pub fn admit_artifact(
        &self,
        run: &mut Run,
        submission: Submission,
        artifact: &Artifact,
        now: Timestamp,
    ) -> Result<Recorded, DeskError> {
        let recorded = self.admit(run, submission, now)?;
        let at = recorded.event.position().sequence;
        run.artifacts.push(at, sha256(&artifact.bytes));
        if let Some(program) = meaning::program(&artifact.bytes) {
            run.artifacts.learn_program(at, program);
        }
        if recorded.event.said().is_ok_and(|said| matches!(said.facts, Facts::ReportRecorded(_))) {
            run.artifacts.read_report(at, &artifact.bytes);
        }
        Ok(recorded)
    }

    /// Records an author's check of these bytes in a run.
    pub fn admit_check(
        &self,
        run: &mut Run,
        submission: Submission,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<Recorded, DeskError> {
        let (mut checked, actor) = self.check(submission, &run.chain, now)?;
        let check = checked.meaning().and_then(Meaning::check);
        let holds = check.map(|stated| check::holds(&stated.check, bytes));
        checked.settle_check(holds);
        let (body, opening, meaning) = checked.into_body();
        let event = self.append(run, (actor, body), meaning.as_ref(), now)?;
        Ok(Recorded { event, opening, meaning })
    }

    /// Passes a submission through the door of a trace.
    fn check(
        &self,
        submission: Submission,
        chain: &Chain,
        now: Timestamp,
    ) -> Result<(Checked, PrincipalId), AdmissionError> {
        let checked = Checked::new(submission, Some(&self.registry))?;
        let statement = checked.statement();
        let seen = statement.seen.and_then(|seen| chain.hash(seen.sequence));
        let tip = chain.tip();
        let actor = checked.stand_next(Some(&self.registry), tip, seen, tip.time_at(now))?;
        if chain.knows_command(checked.key(), statement.command) {
            return Err(AdmissionError::CommandUsed);
        }
        Ok((checked, actor))
    }

    /// Records what the desk itself says in a run.
    pub fn record(
        &self,
        run: &mut Run,
        said: (EventType, Role, Facts),
        content: &Content,
        cause: Option<Sequence>,
        now: Timestamp,
        random: &mut dyn Random,
    ) -> Result<Recorded, DeskError> {
        let (kind, role, facts) = said;
        let opening = Opening::new(canonical::to_vec(content)?, Salt::draw(random))?;
        let record = Record { cause, facts, role, kind: TypeName::from(kind) };
        let body = Body::Record(record.into(), Some(opening.commitment()));
        let meaning = Meaning::of(content);
        let event = self.append(run, (self.registry.desk(), body), meaning.as_ref(), now)?;
        Ok(Recorded { event, opening: Some(opening), meaning })
    }

    fn append(
        &self,
        run: &mut Run,
        (actor, body): (PrincipalId, Body),
        meaning: Option<&Meaning>,
        now: Timestamp,
    ) -> Result<Event, DeskError> {
        let event = run.chain.tip().envelop(&self.stamp(now), actor, body)?;
        let known = Known { meaning, artifacts: &run.artifacts };
        if let Some(state) = run.state.run() {
            let step = Step::of(&event, known)?;
            check_distinct(state, &self.registry, self.registry.head().sequence, &step)
                .map_err(GuardError::Meaning)?;
        }
        run.state.check_way(&self.registry, &event).map_err(GuardError::Meaning)?;
        run.state.apply(&event, known)?;
        run.chain.push(&event);
        Ok(event)
    }

    /// Returns the signed head of a trace that has events.
    pub fn head(&self, chain: &Chain) -> Result<Option<Signed<Head>>, WriteError> {
        let Some(head) = chain.head() else { return Ok(None) };
        let registry = self.registry.head();
        let document = Head {
            epoch: self.registry.epoch_at(registry.sequence),
            head,
            registry,
            store: self.store(),
            trace: chain.trace(),
        };
        Signed::new(document, &self.key).map(Some)
    }

    /// Returns the receipt for an event that carries a statement.
    pub fn receipt(&self, event: &Event) -> Result<Option<Signed<Receipt>>, WriteError> {
        let Some(statement) = event.statement_bytes() else { return Ok(None) };
        let registry = self.registry.head();
        let document = Receipt {
            epoch: event.envelope().epoch,
            event: event.position(),
            registry,
            statement: statement_hash(statement),
            store: self.store(),
            time: event.envelope().time,
            trace: event.envelope().trace,
        };
        Signed::new(document, &self.key).map(Some)
    }

    /// Returns the desk's signing key, for what else it signs.
    pub const fn key(&self) -> &SecretKey {
        &self.key
    }

    fn stamp(&self, now: Timestamp) -> Stamp {
        let registry = self.registry.head();
        let epoch = self.registry.epoch_at(registry.sequence);
        Stamp { store: Some(self.store()), epoch, registry: Some(registry), now }
    }
}

/// The desk said no, or could not. Nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The door said no.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A guard said no.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The registry said no.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Caller misuse: a name too long or empty.
    #[error("expected a name of 1 to 256 characters")]
    Name,
    /// Caller misuse: a draft that cannot be signed.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// Ours: an envelope that cannot be made.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Ours: something that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Ours: content that is not canonical.
    #[error(transparent)]
    Read(#[from] ReadError),
}
