//! One call: from its input to its end, with as many attempts as the policy allows.

use demur_core::limit::{LimitError, Text};
use demur_ledger::{
    content::{ExecutionResultContent, FailureContent, IntentContent},
    event_type::Content,
    facts::{
        FailureKind, ToolExecutionCompleted, ToolExecutionFailed, ToolExecutionStarted, ToolIntentSigned,
    },
    name::Sequence,
};

use super::Hands;
use crate::{
    history::Ended,
    role::{Brief, Move, Report, RoleError, ascending, input::name, say},
    task::{Call, Goal},
};

/// Where a call stands.
pub(super) enum Standing {
    /// It needs an intent, the first or one that tries this one again.
    Fresh(Option<Sequence>),
    /// Its intent waits for the critic, or its conditions do.
    Waits,
    /// It may start.
    Ready(Sequence),
    /// It has started.
    Running(Sequence),
    /// Nothing more will happen to it.
    Settled(End),
}

/// How a call came to rest.
pub(super) enum End {
    Completed(Ended),
    Failed(Sequence, Ended),
    Blocked,
}

/// Why a call is run.
pub(super) struct Occasion<'a> {
    /// The goal it serves.
    pub(super) goal: &'a Goal,
    /// The challenge that it answers, if it is in reserve.
    pub(super) challenge: Option<Sequence>,
}

/// Returns the approved proposal with a call and how many conditions its intents must meet.
pub(super) fn approved(brief: &Brief<'_>, call: &Call) -> Option<(Sequence, u64)> {
    brief.plan.units_with(&call.name).find_map(|unit| {
        let (at, proposed) = brief.history.proposal(&unit.objective)?;
        proposed.review.filter(|(decision, _)| decision.approves()).map(|(_, conditions)| (at, conditions))
    })
}

/// Returns where a call stands.
pub(super) fn standing(brief: &Brief<'_>, call: &Call) -> Standing {
    let attempts = attempts(brief, call);
    let newest = attempts.last().and_then(|at| Some((at, brief.history.intents.get(at)?)));
    let Some((at, newest)) = newest else { return Standing::Fresh(None) };
    match (&newest.ended, newest.started) {
        (Some(ended), _) if ended.failure.is_none() => Standing::Settled(End::Completed(ended.clone())),
        (Some(_), _) if attempts.len() as u64 <= brief.policy.retry_limit.as_u64() => {
            Standing::Fresh(Some(*at))
        }
        (Some(ended), _) => Standing::Settled(End::Failed(*at, ended.clone())),
        (None, Some(started)) => Standing::Running(started),
        (None, None) if newest.is_blocked() => Standing::Settled(End::Blocked),
        (None, None) if newest.review.is_none() && newest.risk >= brief.demands.approval_from => {
            Standing::Waits
        }
        // A person says yes before it starts, whatever its risk.
        (None, None) if !confirmed(brief, *at, &newest.tool) => Standing::Waits,
        // Its conditions are for the critic to judge.
        (None, None) if brief.history.state().unshown(*at).is_some() => Standing::Waits,
        (None, None) => Standing::Ready(*at),
    }
}

/// Returns whether an intent has the yes of a person, where the policy wants one.
fn confirmed(brief: &Brief<'_>, intent: Sequence, tool: &str) -> bool {
    let given = || {
        let asked = brief.history.state().confirmations().about(intent);
        asked.is_some_and(|(_, asked)| asked.outcome().is_yes_of_a_person())
    };
    !brief.policy.wants_person(tool) || given()
}

/// Returns the last intent of a call that failed for good.
pub(in crate::role) fn failed_for_good(brief: &Brief<'_>, call: &str) -> Option<Sequence> {
    let (_, call) = brief.plan.task().call(call)?;
    match standing(brief, call) {
        Standing::Settled(End::Failed(intent, _)) => Some(intent),
        _ => None,
    }
}

/// Returns the next step of a call that has not come to rest.
pub(super) fn advance(
    brief: &Brief<'_>,
    hands: &Hands<'_>,
    (call, why): (&Call, &Occasion<'_>),
    (proposal, conditions): (Sequence, u64),
    standing: &Standing,
) -> Result<Move, RoleError> {
    let recorded = brief.history.artifacts.get(&name(&call.name)).copied();
    let prepared = hands.ready == Some(call.name.as_str());
    match standing {
        // It takes a while, and there is something to record meanwhile.
        Standing::Fresh(_) | Standing::Ready(_) if !prepared => {
            Ok(Move::Prepare { call: call.name.to_string(), ahead: false })
        }
        // The critic looks at the input before it lets the intent through.
        Standing::Fresh(_) if recorded.is_none() => {
            let bytes = brief.plan.input(&call.name).to_vec();
            Ok(Move::Store { name: name(&call.name), media_type: "application/json", bytes })
        }
        Standing::Fresh(retries) => intend(brief, (call, why), (proposal, conditions), *retries),
        Standing::Ready(intent) => Ok(Move::Start {
            call: call.name.to_string(),
            facts: ToolExecutionStarted { input: recorded, intent: *intent },
        }),
        Standing::Running(started) if hands.lost.contains(started) => lost(brief, call, *started),
        Standing::Running(started) => match hands.report.filter(|report| report.call == call.name.as_str()) {
            Some(report) => end(brief, call, *started, report),
            None => Ok(Move::Run { call: call.name.to_string() }),
        },
        Standing::Waits | Standing::Settled(_) => Err(RoleError::Unplanned),
    }
}

fn intend(
    brief: &Brief<'_>,
    (call, why): (&Call, &Occasion<'_>),
    (proposal, conditions): (Sequence, u64),
    retries: Option<Sequence>,
) -> Result<Move, RoleError> {
    let meets: Result<Vec<_>, LimitError> = (0..conditions).map(TryInto::try_into).collect();
    // Whatever the task says, the policy puts a tool at this risk at least.
    let risk = call.risk.max(brief.policy.floor(&call.tool));
    let facts = ToolIntentSigned { meets: meets?.try_into()?, proposal, retries, risk };
    let input_hash = brief.plan.input_hash(&call.name).copied().ok_or(RoleError::Unplanned)?;
    let (justification, tool) = (Text::cut(&justification(call, why, retries))?, call.tool.clone());
    Ok(say(facts, Content::ToolIntentSigned(IntentContent { input_hash, justification, tool })))
}

/// Returns why a call is run, in words.
fn justification(
    call: &Call,
    Occasion { goal, challenge }: &Occasion<'_>,
    retries: Option<Sequence>,
) -> String {
    let words = match (challenge, &call.fallback_for) {
        (Some(challenge), _) => format!("answers challenge #{challenge} with further evidence"),
        (None, Some(other)) => format!("takes the place of {other}"),
        (None, None) => format!("serves the goal \u{201c}{}\u{201d}", goal.objective),
    };
    let names: Vec<&str> = call.shows.keys().map(String::as_str).collect();
    let words = match &names[..] {
        [] => words,
        names => format!("{words}, and its output is to show {}", names.join(", ")),
    };
    match retries {
        Some(failed) => format!("tries again what intent #{failed} did not bring about: it {words}"),
        None => words,
    }
}

/// Records what a tool wrote, then how it ended.
fn end(brief: &Brief<'_>, call: &Call, started: Sequence, report: &Report) -> Result<Move, RoleError> {
    let mut outputs = Vec::new();
    // That a tool wrote nothing and succeeded is evidence too.
    let silent = report.failure.is_none() && report.stdout.is_empty() && report.stderr.is_empty();
    for (stream, bytes) in [("stdout", &report.stdout), ("stderr", &report.stderr)] {
        let name = output_name(brief, call, stream);
        match brief.history.artifacts.get(&name) {
            _ if bytes.is_empty() && !(silent && stream == "stdout") => {}
            Some(at) => outputs.push(*at),
            None => {
                return Ok(Move::Store {
                    name,
                    media_type: "application/octet-stream",
                    bytes: bytes.clone(),
                });
            }
        }
    }
    let outputs = ascending(outputs).try_into()?;
    let (duration_ms, exit_status) = (report.duration.try_into()?, report.exit_status.map(u64::from));
    let exit_status = exit_status.map(TryInto::try_into).transpose()?;
    let note = report.note.as_deref();
    Ok(match report.failure {
        None => {
            let note = note.map(Text::cut).transpose()?;
            let content = ExecutionResultContent { duration_ms, exit_status, note };
            say(ToolExecutionCompleted { outputs, started }, Content::ToolExecutionCompleted(content))
        }
        Some(failure) => {
            let message = Text::cut(note.unwrap_or("it failed"))?;
            let content = FailureContent { duration_ms, exit_status, message };
            say(ToolExecutionFailed { failure, outputs, started }, Content::ToolExecutionFailed(content))
        }
    })
}

/// Nobody knows how it ended: what it wrote before is cited, and a new attempt needs a new intent.
fn lost(brief: &Brief<'_>, call: &Call, started: Sequence) -> Result<Move, RoleError> {
    let names = ["stdout", "stderr"].map(|stream| output_name(brief, call, stream));
    let outputs = names.iter().filter_map(|name| brief.history.artifacts.get(name).copied()).collect();
    let message = "nobody reported the end of the tool: what it did last is not known".try_into()?;
    let content = FailureContent { duration_ms: 0.try_into()?, exit_status: None, message };
    let outputs = ascending(outputs).try_into()?;
    let facts = ToolExecutionFailed { failure: FailureKind::Lost, outputs, started };
    Ok(say(facts, Content::ToolExecutionFailed(content)))
}

/// Returns the intents of a call, oldest first.
fn attempts<'a>(brief: &Brief<'a>, call: &Call) -> &'a [Sequence] {
    brief.plan.input_hash(&call.name).map_or(&[], |hash| brief.history.attempts(hash))
}

/// Returns the name of what the newest attempt wrote.
pub(super) fn output_name(brief: &Brief<'_>, call: &Call, stream: &str) -> String {
    match attempts(brief, call).len() {
        0 | 1 => format!("{}.{stream}", call.name),
        attempt => format!("{}.{attempt}.{stream}", call.name),
    }
}
