//! Where a run stands: what is in play, in whose words, and who can do what next. Drawn from its record each time.

use std::collections::{BTreeMap, BTreeSet};

use demur_api::{
    question::QuestionId,
    refusal::Refusal,
    run::{ClaimView, ExecutionView, IntentView, Next, Player, ProposalView, RunStanding},
};
use demur_core::words::{ELLIPSIS, clipped};
use demur_ledger::{
    attribution::ClientNames,
    client::words,
    content::Opening,
    envelope::Event,
    event_type::{Content, Facts},
    facts::Policy,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_run::history::{History, Intended};

use super::{check_run, next, read_on};
use crate::{key_directory::KeyDirectory, owner::Owner};

/// Returns where a run stands.
pub fn standing(owner: &Owner, trace: TraceId) -> Result<RunStanding, Refusal> {
    let store = owner.sequencer().store();
    let failed = check_run(store, trace)?.failed.is_some();
    let (mut history, mut words) = (History::new(), Words::default());
    read_on(store, trace, &mut history, |event, opening| {
        words.take(event, opening);
        Ok::<_, Refusal>(())
    })?;
    let key_directory = owner.key_directory()?;
    let phase = if failed { Phase::Failed } else { history.state().phase() };
    let acts = if failed { Vec::new() } else { next::next(&history, words.policy.as_ref(), &words.gone) };
    let players = players(&history, &key_directory);
    let name = |role| {
        let playing = players.iter().filter(|player| player.role == role);
        playing.map(|player| player.agent.as_str()).collect::<Vec<_>>().join(", ")
    };
    let next = acts.into_iter().map(|(role, act, events)| Next { role, agent: name(role), act, events });
    Ok(RunStanding {
        trace,
        phase,
        events: history.state().length(),
        next: next.collect(),
        proposals: words.proposals(&history),
        intents: intents(&history),
        executions: executions(&history),
        claims: claims(&history),
        questions: questions(trace, &history),
        verdict: history.verdict,
        participants: players,
        policy: words.policy,
        task: words.task,
        objective: words.objective,
        constraints: history.constraints,
    })
}

/// What the history does not keep.
#[derive(Default)]
struct Words {
    task: Option<String>,
    objective: Option<String>,
    policy: Option<Policy>,
    /// The words of the conditions, by proposal.
    conditions: BTreeMap<Sequence, Vec<String>>,
    /// Proposals and intents that something else has taken the place of.
    gone: BTreeSet<Sequence>,
}

impl Words {
    fn take(&mut self, event: &Event, opening: Option<&Opening>) {
        let Ok(said) = event.said() else { return };
        let kind = said.facts.event_type();
        let content = kind.zip(opening).and_then(|(kind, opening)| Content::parse(kind, &opening.bytes).ok());
        match (said.facts, content) {
            (Facts::SessionInitialized(facts), content) => {
                self.policy = Some(facts.policy);
                if let Some(Content::SessionInitialized(content)) = content {
                    self.task = Some(content.task.to_string());
                    self.objective = Some(content.objective.to_string());
                }
            }
            (Facts::ProposalCreated(facts), _) => {
                self.gone.extend(facts.replaces.into_iter().chain(facts.fallback_for));
            }
            (Facts::ToolIntentSigned(facts), _) => self.gone.extend(facts.retries),
            (Facts::ProposalReviewed(facts), Some(Content::ProposalReviewed(content))) => {
                let conditions = content.conditions.iter().map(ToString::to_string).collect();
                self.conditions.insert(facts.proposal, conditions);
            }
            _ => {}
        }
    }

    fn proposals(&mut self, history: &History) -> Vec<ProposalView> {
        let there = history.proposals.iter().filter(|(at, _)| !self.gone.contains(at));
        let there: Vec<_> = there.collect();
        let mut views = Vec::new();
        for (at, proposed) in there {
            views.push(ProposalView {
                event: *at,
                objective: proposed.objective.as_deref().map(beginning),
                tools: proposed.tools.clone(),
                decision: proposed.review.map(|(decision, _)| decision),
                conditions: self.conditions.remove(at).unwrap_or_default(),
            });
        }
        views
    }
}

fn players(history: &History, key_directory: &KeyDirectory) -> Vec<Player> {
    let mut players: Vec<_> = history
        .participants
        .iter()
        .map(|one| {
            let name = key_directory.name(one.principal);
            let suffix = format!(".{}", one.role);
            let agent = name.strip_suffix(&suffix).unwrap_or(name).to_owned();
            let registry = key_directory.registry();
            let clients: Vec<_> = registry.clients_of(one.principal).collect();
            let client = words(&clients, registry.desk(), &ClientNames::default());
            Player { role: one.role, agent, principal: one.principal, client }
        })
        .collect();
    players.sort_by_key(|player| (player.role, player.principal));
    players
}

fn intents(history: &History) -> Vec<IntentView> {
    let open = history.intents.iter().filter(|(_, intent)| intent.ended.is_none());
    let view = |(at, intent): (&Sequence, &Intended)| IntentView {
        event: *at,
        proposal: intent.proposal,
        tool: intent.tool.clone(),
        risk: intent.risk,
        input: history.artifacts.get(&input_name(*at)).copied(),
        decision: intent.review,
        started: intent.started,
    };
    open.map(view).collect()
}

fn executions(history: &History) -> Vec<ExecutionView> {
    let view = |(at, intent): (&Sequence, &Intended)| {
        let ended = intent.ended.as_ref()?;
        Some(ExecutionView {
            event: ended.at,
            intent: *at,
            tool: intent.tool.clone(),
            failure: ended.failure,
            outputs: ended.outputs.clone(),
        })
    };
    let mut ended: Vec<_> = history.intents.iter().filter_map(view).collect();
    ended.sort_by_key(|execution| execution.event);
    let old = ended.len().saturating_sub(MAX_ENDED_EXECUTIONS);
    ended.split_off(old)
}

fn claims(history: &History) -> Vec<ClaimView> {
    let challenges = |claim: Sequence| {
        let open = history.challenges.iter().filter(move |(_, about)| **about == claim);
        open.map(|(at, _)| *at).collect()
    };
    let claims = history.claims.iter().map(|(at, claim)| ClaimView {
        event: *at,
        text: claim.text.clone(),
        confidence: claim.confidence.as_u64(),
        about_failure: claim.about_failure,
        evidence: claim.evidence.clone(),
        executions: claim.executions.clone(),
        challenges: challenges(*at),
    });
    claims.collect()
}

fn questions(trace: TraceId, history: &History) -> Vec<QuestionId> {
    let open = history.state().questions().unsettled();
    open.map(|(sequence, _)| QuestionId { trace, sequence }).collect()
}

/// Returns the name of the artifact that holds the input of an intent.
fn input_name(intent: Sequence) -> String {
    format!("input-{intent}.json")
}

fn beginning(words: &str) -> String {
    clipped(words, MAX_PROPOSAL_CHARACTERS, ELLIPSIS).into_owned()
}

/// How much of a proposal is shown.
const MAX_PROPOSAL_CHARACTERS: usize = 280;
/// How many ended executions are shown.
const MAX_ENDED_EXECUTIONS: usize = 64;
