//! A critic in a process of its own: `critic KEYFILE`. It blocks tool calls that it holds for dangerous, whose risk is
//! understated or whose input is not the recorded one, and challenges claims that rest on too little.

mod desk;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    process::ExitCode,
};

use demur_core::hash::{Digest, sha256};
use demur_ledger::{
    content::{ProposalReviewContent, RationaleContent, ReasonContent},
    event_type::Content,
    facts::{
        ClaimChallenged, ClaimResolved, IntentDecision, ProposalDecision, ProposalReviewed, Risk,
        ToolIntentReviewed,
    },
    name::Sequence,
    state::Phase,
};
use demur_run::{
    agent::Heard,
    history::{History, Intended},
    role::Input,
};

use crate::desk::Connected;

fn main() -> ExitCode {
    desk::exit_code("critic", play())
}

fn play() -> Result<(), Box<dyn Error>> {
    let key_file = std::env::args().nth(1).ok_or("expected a key file as the one argument")?;
    let mut agent = desk::connect(&key_file)?;
    let (mut history, mut artifacts) = (History::new(), BTreeMap::new());
    loop {
        match agent.hear()? {
            Heard::Event(shown) => {
                history.take(&shown.event, shown.opening.as_ref().map(|opening| opening.bytes.as_slice()))?;
            }
            Heard::Artifact(shown) => {
                let bytes = shown.artifact.map(|artifact| artifact.bytes).unwrap_or_default();
                artifacts.insert(sha256(&bytes), bytes);
            }
            Heard::Turn(turn) => {
                match turn.phase {
                    Phase::Reviewing => review_proposals(&mut agent, &history)?,
                    Phase::Executing => review_intents(&mut agent, &history, &artifacts)?,
                    Phase::Claiming => review_claims(&mut agent, &history)?,
                    _ => {}
                }
                agent.done()?;
            }
            Heard::End(_) => return Ok(()),
        }
    }
}

fn review_proposals(agent: &mut Connected, history: &History) -> Result<(), Box<dyn Error>> {
    for (&proposal, proposed) in history.proposals.iter().filter(|(_, proposed)| proposed.review.is_none()) {
        let denied = proposed.tools.iter().find(|tool| DENIED.contains(&tool.as_str()));
        let (decision, rationale) = match denied {
            Some(tool) => (ProposalDecision::Blocked, format!("no call of {tool} will be let through")),
            None => (ProposalDecision::Approved, "every tool it needs may be used".to_owned()),
        };
        let content = ProposalReviewContent {
            conditions: Vec::new().try_into()?,
            rationale: rationale.as_str().try_into()?,
        };
        let facts = ProposalReviewed { conditions: 0.try_into()?, decision, proposal };
        agent.say(facts, Content::ProposalReviewed(content))?;
    }
    Ok(())
}

fn review_intents(
    agent: &mut Connected,
    history: &History,
    artifacts: &BTreeMap<Digest, Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let waits = |intent: &Intended| intent.review.is_none() && intent.started.is_none();
    for (&intent, intended) in history.intents.iter().filter(|(_, intended)| waits(intended)) {
        let (decision, rationale) = match objection(intended, artifacts) {
            Some(objection) => (IntentDecision::Blocked, objection),
            None => (IntentDecision::Approved, "its input is recorded and harmless".to_owned()),
        };
        let content = RationaleContent { rationale: rationale.as_str().try_into()? };
        agent.say(ToolIntentReviewed { decision, intent }, Content::ToolIntentReviewed(content))?;
    }
    Ok(())
}

/// Returns what speaks against a tool call.
fn objection(intended: &Intended, artifacts: &BTreeMap<Digest, Vec<u8>>) -> Option<String> {
    // What has the hash is what will be run: the executor cannot show one input and mean another.
    let Some(bytes) = intended.input_hash.and_then(|hash| artifacts.get(&hash)) else {
        return Some("no recorded artifact has the hash of its input".to_owned());
    };
    let Ok(Input { command, .. }) = serde_json::from_slice(bytes) else {
        return Some("its input is not a call, a command and a standard input".to_owned());
    };
    let Some(program) = command.first().and_then(|program| program.rsplit('/').next()) else {
        return Some("its command is empty".to_owned());
    };
    let least = if HARMLESS.contains(&program) { Risk::Low } else { Risk::Medium };
    if DENIED.contains(&program) {
        Some(format!("{program} is never let through"))
    } else if intended.risk < least {
        Some(format!("the risk of {program} is understated"))
    } else {
        None
    }
}

fn review_claims(agent: &mut Connected, history: &History) -> Result<(), Box<dyn Error>> {
    let enough = |claim: &Sequence| {
        history.claims.get(claim).is_some_and(|claimed| claimed.evidence.len() >= EVIDENCE)
    };
    for (&challenge, _) in history.challenges.iter().filter(|(_, claim)| enough(claim)) {
        let content = ReasonContent { reason: "it now cites enough".try_into()? };
        agent.say(ClaimResolved { challenge }, Content::ClaimResolved(content))?;
    }
    let challenged: BTreeSet<Sequence> = history.challenges.values().copied().collect();
    for &claim in history.claims.keys().filter(|claim| !enough(claim) && !challenged.contains(claim)) {
        let reason = format!("expected {EVIDENCE} artifacts as evidence, found fewer");
        let content = ReasonContent { reason: reason.as_str().try_into()? };
        agent.say(ClaimChallenged { claim }, Content::ClaimChallenged(content))?;
    }
    Ok(())
}

/// Programs that are never let through.
const DENIED: &[&str] = &["bash", "curl", "dd", "mkfs", "rm", "sh", "ssh", "sudo", "wget"];
/// Programs that only read; every other is at least of medium risk.
const HARMLESS: &[&str] =
    &["cat", "echo", "false", "grep", "head", "ls", "sort", "tail", "true", "uniq", "wc"];
/// How many artifacts a claim has to cite.
const EVIDENCE: usize = 2;
