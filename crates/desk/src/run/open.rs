//! A run opens: who takes part as what, under which policy, for what. The same again is recorded once.

use std::{collections::BTreeMap, sync::Arc};

use demur_api::{code::Code, refusal::Refusal, run::Demands};
use demur_core::{
    limit::{List, Text},
    visible::visible,
};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    author::{Author, Place},
    content::{PolicyContent, PolicyDocument, SessionContent},
    event_type::{Content, Facts},
    facts::{Participant, PolicyRecorded, SessionInitialized},
    name::{CommandId, Sequence, TraceId},
    role::Role,
};

use super::seat::seat_name;
use crate::{client::MadeFor, name, owner::Owner, record};

/// A run that somebody opens.
#[derive(Debug)]
pub struct RunOpening<'a> {
    /// Who opens it, and plans.
    pub planner: &'a str,
    /// Who plays the other roles; nobody named means the one who opens it.
    pub agents: &'a BTreeMap<Role, Text<1, 64>>,
    /// Whether keys are made for names that nobody has used yet.
    pub anybody: bool,
    /// The trace, if somebody has chosen one.
    pub trace: Option<TraceId>,
    /// What it is for.
    pub content: SessionContent,
    /// What it demands.
    pub demands: Demands,
    /// Whom keys of the planner are made for.
    pub client: MadeFor,
}

/// A run that is on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its trace.
    pub trace: TraceId,
    /// Whether it was there before.
    pub repeated: bool,
}

impl RunOpening<'_> {
    /// Returns who plays a role.
    fn player(&self, role: Role) -> &str {
        self.agents.get(&role).map_or(self.planner, |name| name.as_str())
    }

    /// Checks who is named as what.
    fn check(&self, owner: &Owner) -> Result<(), Refusal> {
        name::check(self.planner).map_err(|refusal| refusal.about("agent"))?;
        for (role, name) in self.agents {
            name::check(name).map_err(|refusal| refusal.about("agents"))?;
            if !Role::OF_A_RUN.contains(role) {
                let message = format!("expected planner, executor, critic or auditor, found {role}");
                return Err(Refusal::new(Code::RoleNotOfARun, message).about("agents"));
            }
            if *role == Role::Planner && name.as_str() != self.planner {
                let message = format!(
                    "expected {} as the planner, who opens the run, found another",
                    visible(self.planner)
                );
                return Err(Refusal::new(Code::Forbidden, message)
                    .about("agents.planner")
                    .with_cure("leave the planner out, or let the planner open the run"));
            }
            let known = self.anybody
                || name.as_str() == self.planner
                || owner.find_author(name, Role::Agent)?.is_some()
                || owner.find_author(&seat_name(name, *role), *role)?.is_some();
            if !known {
                let message =
                    format!("expected the name of an agent that has a key here, found {:?}", visible(name));
                return Err(Refusal::new(Code::AgentUnknown, message)
                    .about("agents")
                    .with_cure("`demur token new NAME --scope ask` makes a key for one"));
            }
        }
        Ok(())
    }

    /// Returns those who take part, as far as they have keys.
    fn found(&self, owner: &Owner) -> Result<Option<Vec<Participant>>, Refusal> {
        let seat = |role| owner.find_author(&seat_name(self.player(role), role), role);
        let mut participants = Vec::new();
        for role in Role::OF_A_RUN {
            let Some(author) = seat(role)? else { return Ok(None) };
            participants.push(Participant { principal: author.principal(), role });
        }
        participants.sort_unstable();
        Ok(Some(participants))
    }

    /// Returns those who take part, and the planner; keys are made where there are none yet.
    fn enrolled(&self, owner: &Owner) -> Result<(Vec<Participant>, Arc<Author>), Refusal> {
        let mut participants = Vec::new();
        for role in Role::OF_A_RUN {
            let author = self.seat(owner, role)?;
            participants.push(Participant { principal: author.principal(), role });
        }
        participants.sort_unstable();
        Ok((participants, self.seat(owner, Role::Planner)?))
    }

    /// Returns whoever plays a role. A key that is made for it is its player's client's, as far as that is known: somebody else
    /// who has not spoken yet may be any client. Whoever speaks now is known best: its name may have been another's before.
    fn seat(&self, owner: &Owner, role: Role) -> Result<Arc<Author>, Refusal> {
        let player = self.player(role);
        let client = match &self.client {
            MadeFor::Client(client) if player == self.planner => MadeFor::Client(client.clone()),
            MadeFor::Client(_) | MadeFor::Desk | MadeFor::Nobody => {
                MadeFor::Nobody.or_of_name(owner, player)?
            }
        };
        owner.find_or_enrol_for(&seat_name(player, role), role, &client)
    }

    /// Returns whether a trace was opened with just this.
    fn is_opening_of(&self, owner: &Owner, trace: TraceId) -> Result<bool, Refusal> {
        let (event, content) = record::read(owner.sequencer().store(), trace, Sequence::FIRST)?;
        let Some(participants) = self.found(owner)? else { return Ok(false) };
        let same = match event.said().map(|said| said.facts) {
            Ok(Facts::SessionInitialized(facts)) => facts.participants.as_slice() == participants,
            _ => false,
        };
        if !same || content != Some(Content::SessionInitialized(self.content.clone())) {
            return Ok(false);
        }
        // The numbers of the opening are those of the policy, which was recorded in the same commit.
        let (_, policy) = record::read(owner.sequencer().store(), trace, Sequence::FIRST.next())?;
        Ok(policy == Some(Content::PolicyRecorded(self.policy())))
    }

    fn policy(&self) -> PolicyContent {
        PolicyContent { document: PolicyDocument::from(self.demands.clone()), hash: None }
    }
}

/// Returns what the desk adds to the opening of a run: its policy in full.
pub(super) fn policy_follows(policy: PolicyContent) -> Consequences {
    let content = Some(Content::PolicyRecorded(policy));
    let saying = Saying { role: Role::Desk, facts: PolicyRecorded {}.into(), content };
    Consequences { after: None, signing: None, sayings: vec![saying] }
}

/// Records a run. The same under the same trace is recorded once; something else under it is refused (CLR-04).
pub fn open(owner: &Owner, opening: &RunOpening<'_>) -> Result<Opened, Refusal> {
    opening.check(owner)?;
    let (system, ledger) = (owner.system(), owner.sequencer());
    let now = system.now()?;
    let trace = opening.trace.unwrap_or_else(|| TraceId::new(now, &mut { system }));
    let known = |trace| ledger.store().trace(trace).map(|found| found.is_some());
    if known(trace)? {
        return again(owner, opening, trace);
    }
    let (participants, planner) = opening.enrolled(owner)?;
    let policy = opening.policy();
    let facts =
        SessionInitialized { participants: List::try_from(participants)?, policy: policy.document.numbers() };
    let place = Place { store: ledger.registry().store(), trace, seen: None, now };
    let content = Some(Content::SessionInitialized(opening.content.clone()));
    let said =
        planner.speak(CommandId::new(now, &mut { system }), &place, facts, content, &mut { system })?;
    match ledger.submit_followed(said.into_submission(), None, policy_follows(policy), &[]) {
        Ok(_) => Ok(Opened { trace, repeated: false }),
        // Somebody else with the same trace was faster.
        Err(_) if known(trace)? => again(owner, opening, trace),
        Err(error) => Err(error.into()),
    }
}

fn again(owner: &Owner, opening: &RunOpening<'_>, trace: TraceId) -> Result<Opened, Refusal> {
    if opening.is_opening_of(owner, trace)? {
        return Ok(Opened { trace, repeated: true });
    }
    let message = format!("trace {trace} was opened with something else, or by another agent");
    Err(Refusal::new(Code::TraceConflict, message)
        .about("trace")
        .with_cure("open the run under a trace of its own; nothing was recorded"))
}
