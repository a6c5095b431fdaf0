//! How somebody says something: a draft for the end of a trace, signed and sent.

use demur_core::{commitment::Salt, key::SecretKey};
use demur_engine::{Reply, refusal::RuleRefusal};
use demur_ledger::{
    author::{Artifact, Draft},
    content::{PolicyContent, PolicyDocument},
    event_type::{Content, Facts},
    facts::{KeyRegistered, Participant, Policy, SessionInitialized},
    name::{CommandId, Sequence},
    role::Role,
};

use super::{GOOD_FOR, Sent, Speaker, To, World, position, refusal};
use crate::words::{INPUT, SIZE, fitting, list};

impl World {
    /// Registers a speaker's key.
    #[track_caller]
    pub(crate) fn register(&mut self, speaker: &Speaker) {
        let sent = self.registration(speaker);
        position(&self.send(To::Registry, &sent));
    }

    /// Returns the statement that registers a speaker's key.
    pub(crate) fn registration(&mut self, speaker: &Speaker) -> Sent {
        let Speaker { key, principal, role } = speaker;
        let roles = list([*role]);
        let facts = KeyRegistered { key: key.public(), principal: *principal, recovery: None, roles };
        let draft = self.draft(To::Registry, Role::Holder, facts);
        self.sign(draft, key)
    }

    /// Returns the facts that open the run with the four agents.
    pub(crate) fn opening(&self, policy: Policy) -> SessionInitialized {
        let mut participants: Vec<_> =
            Role::OF_A_RUN.map(|role| Participant { principal: self.speaker(role).principal, role }).into();
        participants.sort();
        SessionInitialized { participants: list(participants), policy }
    }

    /// Returns whoever speaks in this role.
    pub(crate) fn speaker(&self, role: Role) -> &Speaker {
        self.speakers.iter().rev().find(|speaker| speaker.role == role).unwrap()
    }

    /// Has the one whose role fits say this in the run; it must be recorded.
    #[track_caller]
    pub(crate) fn say(&mut self, facts: impl Into<Facts>) -> Sequence {
        let sent = self.saying(facts);
        position(&self.send(To::Run, &sent)).sequence
    }

    /// Has the one whose role fits say this in the run; it must be refused.
    #[track_caller]
    pub(crate) fn refuses(&mut self, facts: impl Into<Facts>) -> RuleRefusal {
        let sent = self.saying(facts);
        refusal(&self.send(To::Run, &sent))
    }

    /// Returns what the one whose role fits would send to the run.
    pub(crate) fn saying(&mut self, facts: impl Into<Facts>) -> Sent {
        let facts = facts.into();
        let role = facts.event_type().unwrap().rule().roles[0];
        let draft = self.draft(To::Run, role, facts);
        let key = self.speaker(role).key.clone();
        self.sign(draft, &key)
    }

    /// Has the desk say this in the registry.
    pub(crate) fn desk_says(&mut self, facts: impl Into<Facts>) -> Reply {
        let draft = self.draft(To::Registry, Role::Desk, facts);
        let key = self.desk.clone();
        let sent = self.sign(draft, &key);
        self.send(To::Registry, &sent)
    }

    /// Records the input that every intent names.
    pub(crate) fn record_input(&mut self) -> Sequence {
        self.record(*INPUT)
    }

    /// Has the executor record these bytes.
    pub(crate) fn record(&mut self, bytes: [u8; SIZE]) -> Sequence {
        let artifact = Artifact::new(bytes.to_vec(), &mut self.random);
        let mut sent = self.saying(artifact.facts());
        sent.artifact = Some(artifact);
        position(&self.send(To::Run, &sent)).sequence
    }

    /// Has the auditor record a report.
    pub(crate) fn report(&mut self, bytes: &[u8]) -> Sequence {
        let report = Artifact::new(bytes.to_vec(), &mut self.random);
        let mut sent = self.saying(report.report_facts());
        sent.artifact = Some(report);
        position(&self.send(To::Run, &sent)).sequence
    }

    /// Has somebody say this in this role; it must be recorded.
    #[track_caller]
    pub(crate) fn say_as(&mut self, role: Role, facts: impl Into<Facts>) -> Sequence {
        let draft = self.draft(To::Run, role, facts);
        let key = self.speaker(role).key.clone();
        let sent = self.sign(draft, &key);
        position(&self.send(To::Run, &sent)).sequence
    }

    /// Has somebody say this in this role with content that was changed.
    pub(crate) fn say_as_with(
        &mut self,
        role: Role,
        facts: impl Into<Facts>,
        change: impl FnOnce(&mut Content),
    ) -> Reply {
        let mut draft = self.draft(To::Run, role, facts);
        change(draft.content.as_mut().unwrap());
        let key = self.speaker(role).key.clone();
        let sent = self.sign(draft, &key);
        self.send(To::Run, &sent)
    }

    /// Has the one whose role fits say this with content that was changed.
    pub(crate) fn say_with(&mut self, facts: impl Into<Facts>, change: impl FnOnce(&mut Content)) -> Reply {
        let facts = facts.into();
        let role = facts.event_type().unwrap().rule().roles[0];
        let mut draft = self.draft(To::Run, role, facts);
        change(draft.content.as_mut().unwrap());
        let key = self.speaker(role).key.clone();
        let sent = self.sign(draft, &key);
        self.send(To::Run, &sent)
    }

    /// Returns an unsigned statement for the end of a trace.
    pub(crate) fn draft(&mut self, to: To, role: Role, facts: impl Into<Facts>) -> Draft {
        let facts = facts.into();
        let tip = *self.log(to).state.tip();
        Draft {
            command: CommandId::new(self.now, &mut self.random),
            content: fitting(&facts).or_else(|| self.policy(&facts)),
            facts,
            not_after: self.now.plus_millis(GOOD_FOR),
            role,
            seen: tip.head(),
            store: Some(self.store()),
            trace: tip.trace(),
        }
    }

    /// Returns the content of a policy as the opening of the run has it.
    fn policy(&self, facts: &Facts) -> Option<Content> {
        let Facts::PolicyRecorded(_) = facts else { return None };
        let opening = self.run.entries.first()?.event.said().ok()?;
        let Facts::SessionInitialized(opening) = opening.facts else { return None };
        let document = PolicyDocument::of_numbers(opening.policy);
        Some(Content::PolicyRecorded(PolicyContent { document, hash: None }))
    }

    /// Returns a signed statement.
    pub(crate) fn sign(&mut self, draft: Draft, key: &SecretKey) -> Sent {
        Sent { submission: draft.sign(key, Salt::draw(&mut self.random)).unwrap(), artifact: None }
    }
}
