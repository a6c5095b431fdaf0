//! A store in memory that goes by the engine alone: it looks up what a decision needs, decides, applies, and keeps
//! what comes of it. Every decision made here is held to what holds for all of them.

mod check;
mod export;
mod speech;

use std::collections::{BTreeMap, BTreeSet};

use demur_core::{
    hash::Digest,
    key::{Fingerprint, SecretKey},
    random::Seeded,
    time::Timestamp,
};
use demur_engine::{
    Decision, Reply,
    command::{self, Command, Consequences},
    context::{Context, Earlier},
    decide,
    refusal::RuleRefusal,
    state::State,
};
use demur_ledger::{
    admission::Checked,
    author::Artifact,
    content::{Opening, QuestionContent},
    desk::Desk,
    entry::{Address, Entry},
    envelope::Event,
    facts::{Policy, PolicyRecorded, Risk},
    meaning::{ArtifactDigests, Known},
    name::{CommandId, Position, PrincipalId, Sequence, StoreId, TraceId},
    registry::Registry,
    role::Role,
    statement::Submission,
};

use crate::words::whole;

/// The store, its keys and its clock.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) desk: SecretKey,
    pub(crate) registry: Log,
    pub(crate) run: Log,
    pub(crate) speakers: Vec<Speaker>,
    pub(crate) artifacts: BTreeMap<Address, Vec<u8>>,
    /// The codes of all refusals so far.
    pub(crate) refused: BTreeSet<&'static str>,
    performed: BTreeMap<(Fingerprint, CommandId), (Vec<u8>, TraceId, Position)>,
    pub(crate) now: Timestamp,
    pub(crate) random: Seeded,
}

/// One trace.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) state: State,
    pub(crate) entries: Vec<Entry>,
}

/// Which trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Registry,
    Run,
}

/// Somebody with a key.
#[derive(Clone)]
pub(crate) struct Speaker {
    pub(crate) key: SecretKey,
    pub(crate) principal: PrincipalId,
    pub(crate) role: Role,
}

/// What somebody sends.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) submission: Submission,
    pub(crate) artifact: Option<Artifact>,
}

impl World {
    /// Returns a store with five registered speakers and a run that nobody has opened.
    pub(crate) fn new() -> Self {
        let mut random = Seeded::from_number(7);
        let now = Timestamp::from_millis(1_794_700_800_000).unwrap();
        let desk = SecretKey::generate(&mut random);
        let (_, first) = Desk::create(desk.clone(), None, "a test store", now, &mut random).unwrap();
        let mut registry = Log::new(first.event.envelope().trace);
        registry.push(Entry { event: first.event, opening: first.opening, artifact: None, meaning: None });
        let run = Log::new(TraceId::new(now, &mut random));
        let mut world = Self {
            desk,
            registry,
            run,
            speakers: Vec::new(),
            artifacts: BTreeMap::new(),
            refused: BTreeSet::new(),
            performed: BTreeMap::new(),
            now,
            random,
        };
        for role in [Role::Planner, Role::Executor, Role::Critic, Role::Auditor, Role::Operator] {
            let speaker = world.new_speaker(role);
            world.register(&speaker);
            world.speakers.push(speaker);
        }
        world
    }

    /// Returns such a store whose run is open under the usual policy.
    pub(crate) fn opened() -> Self {
        let mut world = Self::new();
        let opening = world.opening(usual_policy());
        world.say(opening);
        world.say(PolicyRecorded {});
        world
    }

    /// Returns somebody whom nobody knows yet.
    pub(crate) fn new_speaker(&mut self, role: Role) -> Speaker {
        let key = SecretKey::generate(&mut self.random);
        Speaker { key, principal: PrincipalId::new(self.now, &mut self.random), role }
    }

    /// Sends a statement to a trace and records what follows.
    pub(crate) fn send(&mut self, to: To, sent: &Sent) -> Reply {
        match submitted(sent.submission.clone(), sent.artifact.as_ref(), self.known_registry()) {
            Ok(command) => {
                if let Some(artifact) = &sent.artifact {
                    self.artifacts.insert(Address::of(&artifact.bytes), artifact.bytes.clone());
                }
                self.command(to, command)
            }
            Err(refusal) => {
                self.check_refusal(&refusal);
                Reply::Refused(refusal)
            }
        }
    }

    /// Decides a command and records what follows.
    pub(crate) fn command(&mut self, to: To, command: Command) -> Reply {
        let before = self.log(to).state.clone();
        let decision = self.decided(to, command);
        for entry in &decision.events {
            self.perform(entry);
            self.log_mut(to).push(entry.clone());
        }
        self.check(&before, to, &decision);
        decision.reply
    }

    /// Decides a command, twice, and records nothing.
    pub(crate) fn decided(&mut self, to: To, command: Command) -> Decision {
        let mut again = self.random.clone();
        let mut random = self.random.clone();
        let log = self.log(to);
        let context = self.context(log, &command);
        let decision = decide(&log.state, &context, command.clone(), self.now, &mut random);
        assert_eq!(decision, decide(&log.state, &context, command, self.now, &mut again));
        self.random = random;
        decision
    }

    /// Returns what a store would look up for a command.
    pub(crate) fn context(&self, log: &Log, command: &Command) -> Context<'_> {
        let (mut seen, mut earlier) = (None, None);
        if let Some(said) = command.said() {
            let (key, statement) = (said.key(), said.statement());
            seen = statement.seen.and_then(|seen| log.hash(seen.sequence));
            earlier = self.performed.get(&(key, statement.command)).map(|(statement, trace, position)| {
                Earlier { statement, trace: *trace, position: *position }
            });
        }
        let question = command.answered().and_then(|at| log.question(at));
        let found = command.artifacts(&log.state).into_iter();
        let found: Vec<_> = found.filter_map(|at| Some((at, log.artifact(at)?))).collect();
        let mut artifacts: ArtifactDigests = found.iter().copied().collect();
        for (at, digest) in found.iter().filter(|(_, digest)| Some(digest) == command.report()) {
            artifacts.read_report(*at, &self.artifacts[&Address::from_digest(*digest)]);
        }
        for (at, digest) in found.iter().filter(|(at, _)| Some(*at) == command.input(&log.state)) {
            let program = demur_ledger::meaning::program(&self.artifacts[&Address::from_digest(*digest)]);
            if let Some(program) = program {
                artifacts.learn_program(*at, program);
            }
        }
        let check = command.check().and_then(|(at, check)| {
            let bytes = self.artifacts.get(&Address::from_digest(log.artifact(at)?))?;
            Some(demur_ledger::check::holds(check, bytes))
        });
        Context { registry: self.known_registry(), seen, question, artifacts, check, earlier }
    }

    /// Remembers which command became which event.
    fn perform(&mut self, entry: &Entry) {
        let envelope = entry.event.envelope();
        let (Some(statement), Some(key)) = (&envelope.statement, envelope.proof.key()) else { return };
        let bytes = entry.event.statement_bytes().unwrap().to_vec();
        let performed = (bytes, envelope.trace, entry.event.position());
        let before = self.performed.insert((key, statement.command), performed);
        assert!(before.is_none(), "a command became two events");
    }

    /// Returns the keys.
    pub(crate) fn known_registry(&self) -> &Registry {
        self.registry.state.registry().unwrap()
    }

    /// Returns the store's name.
    pub(crate) fn store(&self) -> StoreId {
        self.known_registry().store()
    }

    /// Returns a trace.
    pub(crate) fn log(&self, to: To) -> &Log {
        match to {
            To::Registry => &self.registry,
            To::Run => &self.run,
        }
    }

    /// Keeps an event that nobody decided.
    pub(crate) fn keep(&mut self, to: To, event: Event, opening: Option<Opening>) {
        self.log_mut(to).push(Entry { event, opening, artifact: None, meaning: None });
    }

    fn log_mut(&mut self, to: To) -> &mut Log {
        match to {
            To::Registry => &mut self.registry,
            To::Run => &mut self.run,
        }
    }
}

impl Log {
    fn new(trace: TraceId) -> Self {
        Self { state: State::new(trace), entries: Vec::new() }
    }

    fn push(&mut self, entry: Entry) {
        self.state.apply(&entry.event, meaning(&entry)).unwrap();
        self.entries.push(entry);
    }

    /// Returns what the bytes of an artifact are, by digest.
    pub(crate) fn artifact(&self, at: Sequence) -> Option<Digest> {
        let entry = self.entries.get(usize::try_from(at.number()).unwrap())?;
        entry.artifact.map(|place| *place.address.as_digest())
    }

    /// Returns the hash of an event.
    pub(crate) fn hash(&self, sequence: Sequence) -> Option<Digest> {
        let index = usize::try_from(sequence.number()).unwrap();
        self.entries.get(index).map(|entry| *entry.event.hash())
    }

    /// Returns the words of a question.
    pub(crate) fn question(&self, at: Sequence) -> Option<Box<QuestionContent>> {
        let entry = self.entries.get(usize::try_from(at.number()).unwrap())?;
        command::question(&entry.opening.as_ref()?.bytes)
    }

    /// Returns the state that these events lead to.
    pub(crate) fn replayed(&self) -> State {
        let mut state = State::new(self.state.tip().trace());
        for entry in &self.entries {
            state.apply(&entry.event, meaning(entry)).unwrap();
        }
        state
    }
}

/// Returns what is known of an event that was decided before.
pub(crate) fn meaning(entry: &Entry) -> Known<'_> {
    Known { meaning: entry.meaning.as_ref(), ..Known::NOTHING }
}

/// Returns the command that records a submission, once its signature holds.
pub(crate) fn submitted(
    submission: Submission,
    artifact: Option<&Artifact>,
    registry: &Registry,
) -> Result<Command, RuleRefusal> {
    let said = Checked::new(submission, Some(registry))?;
    Ok(Command::submit(said, artifact, Consequences::default()))
}

/// Returns where a command was recorded.
#[track_caller]
pub(crate) fn position(reply: &Reply) -> Position {
    match reply {
        Reply::Recorded(position) => *position,
        other => panic!("expected it to be recorded, found {other:?}"),
    }
}

/// Returns why a command was refused.
#[track_caller]
pub(crate) fn refusal(reply: &Reply) -> RuleRefusal {
    match reply {
        Reply::Refused(refusal) => refusal.clone(),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

/// Low risk goes through, one artifact is enough, one retry, fallback allowed.
pub(crate) fn usual_policy() -> Policy {
    Policy { approval_from: Risk::High, evidence_minimum: whole(1), fallback: true, retry_limit: whole(1) }
}

/// How long a statement is good for, in milliseconds.
pub(crate) const GOOD_FOR: u64 = 5 * 60 * 1000;
