//! A random walk through a store: commands in any order from anybody, sensible ones and others.

mod distort;
mod guess;
mod keys;

use demur_core::{
    hash::sha256,
    random::{Random, Seeded},
};
use demur_engine::command::Command;
use demur_ledger::{
    author::{Artifact, Draft},
    event_type::{Content, EventType, Facts},
    facts::VerificationStatus,
    name::{CommandId, Sequence},
    role::Role,
    state::Phase,
};

use crate::{
    words::{SIZE, abort, note, reporting},
    world::{Sent, Speaker, To, World},
};

/// Somebody who tries everything.
pub(crate) struct Walk {
    pub(crate) world: World,
    /// Registered, but named by no run.
    outsider: Speaker,
    /// What was sent so far.
    sent: Vec<(To, Sent)>,
    /// The command id of the last statement.
    last_command: Option<CommandId>,
    /// Keys that have a successor, with the rotation.
    rotated: Vec<(Speaker, Sequence)>,
    random: Seeded,
}

impl Walk {
    /// Returns a walk through a copy of this world that this number determines.
    pub(crate) fn new(world: &World, seed: u64) -> Self {
        let mut world = world.clone();
        // Streams of their own: the world's first keys came from a small number.
        world.random = Seeded::from_number(seed | 1 << 63);
        let outsider = world.new_speaker(Role::Executor);
        world.register(&outsider);
        let random = Seeded::from_number(seed | 1 << 62);
        Self { world, outsider, sent: Vec::new(), last_command: None, rotated: Vec::new(), random }
    }

    /// Does one thing or another.
    pub(crate) fn step(&mut self) {
        self.pass_time();
        match self.number(100) {
            0 if self.number(3) == 0 => self.command(abort()),
            1..=2 => self.command(Command::Recover(note())),
            3..=10 => self.tend_keys(),
            11..=14 => self.send_again(),
            _ => self.speak(),
        }
    }

    /// The clock runs, and now and then it was wrong.
    fn pass_time(&mut self) {
        let now = self.world.now;
        self.world.now = match self.number(40) {
            0 => demur_core::time::Timestamp::from_millis(now.as_millis() - 400_000).unwrap(),
            1..=8 => now.plus_millis(70_000),
            _ => now.plus_millis(10),
        };
    }

    fn command(&mut self, command: Command) {
        let to = if self.number(10) == 0 { To::Registry } else { To::Run };
        self.world.command(to, command);
    }

    fn send_again(&mut self) {
        let index = self.random_index(self.sent.len());
        if let Some((to, sent)) = self.sent.get(index).cloned() {
            self.world.send(to, &sent);
        }
    }

    fn speak(&mut self) {
        let kind = self.next_kind();
        let artifact = if kind == EventType::ReportRecorded { self.report() } else { self.artifact() };
        let facts = match kind {
            EventType::ArtifactRecorded => artifact.facts().into(),
            EventType::ReportRecorded => artifact.report_facts().into(),
            kind => self.guess(kind),
        };
        let role = self.pick(kind.rule().roles);
        let speaker = self.who(role);
        let mut sent = if self.number(5) == 0 {
            self.distorted(facts, role, &speaker)
        } else {
            let mut draft = self.world.draft(To::Run, role, facts);
            self.choose_input(&mut draft);
            self.last_command = Some(draft.command);
            self.world.sign(draft, &speaker.key)
        };
        sent.artifact = self.beside(kind, artifact);
        self.send(To::Run, sent);
    }

    fn send(&mut self, to: To, sent: Sent) {
        self.world.send(to, &sent);
        self.sent.push((to, sent));
    }

    /// Returns whoever speaks in this role, mostly the right one.
    fn who(&mut self, role: Role) -> Speaker {
        match self.number(30) {
            0 => self.outsider.clone(),
            1 => self.pick_clone(|walk| walk.world.speakers.clone()),
            2 if !self.rotated.is_empty() => {
                self.pick_clone(|walk| walk.rotated.iter().map(|(speaker, _)| speaker.clone()).collect())
            }
            _ if role == Role::Desk => self.desk(),
            _ => self.world.speaker(role).clone(),
        }
    }

    fn desk(&self) -> Speaker {
        let principal = self.world.known_registry().desk();
        Speaker { key: self.world.desk.clone(), principal, role: Role::Desk }
    }

    /// Has an intent name one of a few inputs: what was blocked or failed too often is one call, and not every one.
    fn choose_input(&mut self, draft: &mut Draft) {
        if let Some(Content::ToolIntentSigned(content)) = &mut draft.content {
            content.input_hash = sha256(&[self.letter(); SIZE]);
        }
    }

    /// Returns one of a few artifacts, so that the same bytes come again, mostly of the size that is named.
    fn artifact(&mut self) -> Artifact {
        let size = if self.number(15) == 0 { SIZE + 1 } else { SIZE };
        Artifact::new(vec![self.letter(); size], &mut self.world.random)
    }

    fn letter(&mut self) -> u8 {
        b'a' + u8::try_from(self.number(3)).unwrap()
    }

    /// Returns a report, mostly one that bears a status.
    fn report(&mut self) -> Artifact {
        let bytes = match self.number(10) {
            0 => b"all is well".to_vec(),
            1..=5 => reporting(VerificationStatus::Pass),
            _ => reporting(VerificationStatus::Fail),
        };
        Artifact::new(bytes, &mut self.world.random)
    }

    /// Returns the bytes that travel with an event, mostly the right ones.
    fn beside(&mut self, kind: EventType, artifact: Artifact) -> Option<Artifact> {
        let records = kind.records_bytes();
        match self.number(20) {
            0 => (!records).then_some(artifact),
            1 => Some(self.artifact()),
            _ => records.then_some(artifact),
        }
    }

    /// Returns a type to try next, mostly one that fits where the run stands.
    fn next_kind(&mut self) -> EventType {
        use EventType as E;
        let phase = self.world.run.state.phase().unwrap_or(Phase::Initialized);
        let fitting: &[E] = match phase {
            _ if self.number(8) == 0 => OF_AUTHORS,
            Phase::Initialized => &[E::SessionInitialized],
            Phase::Planning if self.places(&[E::PolicyRecorded]).is_empty() => {
                &[E::PolicyRecorded, E::PolicyRecorded, E::ProposalCreated]
            }
            Phase::Planning => &[E::ProposalCreated],
            Phase::Reviewing => &[E::ProposalReviewed, E::ProposalReviewed, E::ProposalCreated],
            Phase::Executing => IN_EXECUTING,
            Phase::Claiming => IN_CLAIMING,
            Phase::Auditing => &[
                E::VerificationRunStarted,
                E::ReportRecorded,
                E::ReportRecorded,
                E::VerificationRunCompleted,
            ],
            _ => OF_AUTHORS,
        };
        self.pick(fitting)
    }

    fn number(&mut self, below: usize) -> usize {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        usize::try_from(u64::from_le_bytes(bytes) % below as u64).unwrap()
    }

    /// Returns an index into a list of this length; 0 into an empty one.
    fn random_index(&mut self, length: usize) -> usize {
        if length == 0 { 0 } else { self.number(length) }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.number(from.len())]
    }

    fn pick_clone(&mut self, from: impl Fn(&Self) -> Vec<Speaker>) -> Speaker {
        let mut from = from(self);
        let index = self.number(from.len());
        from.swap_remove(index)
    }

    /// Returns the places of all recorded events of these types.
    fn places(&self, kinds: &[EventType]) -> Vec<Sequence> {
        let fits = |facts: &Facts| facts.event_type().is_some_and(|kind| kinds.contains(&kind));
        let entries = self.world.run.entries.iter();
        entries
            .filter(|entry| fits(entry.event.said().unwrap().facts))
            .map(|entry| entry.event.position().sequence)
            .collect()
    }
}

const OF_AUTHORS: &[EventType] = &[
    EventType::SessionInitialized,
    EventType::PolicyRecorded,
    EventType::ProposalCreated,
    EventType::ProposalReviewed,
    EventType::ToolIntentSigned,
    EventType::ToolIntentReviewed,
    EventType::ConditionJudged,
    EventType::CheckStated,
    EventType::ToolExecutionStarted,
    EventType::ToolExecutionCompleted,
    EventType::ToolExecutionFailed,
    EventType::ArtifactRecorded,
    EventType::ClaimIssued,
    EventType::ClaimChallenged,
    EventType::ClaimRevised,
    EventType::ClaimResolved,
    EventType::ClaimRetracted,
    EventType::FinalStatementSigned,
    EventType::VerificationRunStarted,
    EventType::ReportRecorded,
    EventType::VerificationRunCompleted,
    EventType::RecoveryRecorded,
    EventType::CheckpointRecorded,
];

const IN_EXECUTING: &[EventType] = &[
    EventType::ConditionJudged,
    EventType::CheckStated,
    EventType::ToolIntentSigned,
    EventType::ToolIntentSigned,
    EventType::ToolIntentReviewed,
    EventType::ToolExecutionStarted,
    EventType::ToolExecutionStarted,
    EventType::ArtifactRecorded,
    EventType::ArtifactRecorded,
    EventType::ToolExecutionCompleted,
    EventType::ToolExecutionCompleted,
    EventType::ToolExecutionFailed,
    EventType::ToolExecutionFailed,
    EventType::ClaimIssued,
    EventType::ClaimIssued,
    EventType::ProposalCreated,
    EventType::ProposalReviewed,
];

const IN_CLAIMING: &[EventType] = &[
    EventType::ClaimIssued,
    EventType::ClaimChallenged,
    EventType::ClaimRevised,
    EventType::ClaimResolved,
    EventType::ClaimRetracted,
    EventType::CheckStated,
    EventType::ArtifactRecorded,
    EventType::ToolIntentSigned,
    EventType::FinalStatementSigned,
    EventType::FinalStatementSigned,
];
