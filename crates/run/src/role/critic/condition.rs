//! Conditions of an approval, judged by the checks that the policy has for them, on recorded bytes (LED-10, LED-38). Of words
//! alone demur's critic says nothing: it cannot tell whether they hold.

use demur_ledger::{
    check,
    content::CheckValue,
    event_type::Content,
    facts::{CheckStated, ConditionJudged},
    name::Sequence,
    state::MOST_CHECKS,
};

use super::intent::recorded_input;
use crate::{
    history::Intended,
    policy::{Condition, ConditionCheck},
    role::{Brief, Look, Move, RoleError, executor, say},
};

/// What comes of looking at the conditions of an intent.
pub(super) enum Judgement {
    /// The next thing to say about one of them.
    Say(Box<Move>),
    /// One does not hold, for this reason.
    Fails(String),
    /// Nothing speaks against the intent.
    Fine,
}

/// Judges the next condition of an intent.
pub(super) fn judge(
    brief: &Brief<'_>,
    (at, intent): (Sequence, &Intended),
    look: &mut dyn Look,
) -> Result<Judgement, RoleError> {
    let Some(number) = brief.history.state().unshown(at) else { return Ok(Judgement::Fine) };
    let Some((condition, shown_by)) =
        named(brief, intent, number).and_then(|one| Some((one, one.check.as_ref()?)))
    else {
        return Ok(Judgement::Fine);
    };
    let Some((input, _)) = recorded_input(brief, intent, look)? else { return Ok(Judgement::Fine) };
    let artifact = match &shown_by.of {
        None => Some(input),
        Some(call) => output(brief, call),
    };
    let bytes = match artifact {
        Some(artifact) => look.artifact(artifact).map_err(RoleError::Look)?,
        None => None,
    };
    let holds = bytes.as_ref().is_some_and(|bytes| check::holds(&shown_by.check, bytes));
    if !holds && brief.history.judged.get(&(at, number)) == Some(&false) {
        return Ok(Judgement::Fails(reason(condition, shown_by, bytes.as_deref())));
    }
    let condition = number.try_into()?;
    let stated = brief.history.checks.values().map(Vec::len).sum::<usize>();
    // There is room for so many checks in a run; the rest is for those of the claims.
    let checked = artifact.filter(|_| holds && stated < MOST_CHECKS / 2);
    let said = if let Some(artifact) = checked {
        let facts = CheckStated { about: at, artifact, condition: Some(condition) };
        say(facts, Content::CheckStated(shown_by.check.clone()))
    } else {
        let evidence = vec![artifact.unwrap_or(input)].try_into()?;
        say(ConditionJudged { condition, evidence, holds, intent: at }, None)
    };
    Ok(Judgement::Say(Box::new(said)))
}

/// Returns the condition of an intent that the approval names by this number.
fn named<'a>(brief: &Brief<'a>, intent: &Intended, number: u64) -> Option<&'a Condition> {
    let proposed = brief.history.proposals.get(&intent.proposal)?;
    brief.policy.conditions_of(&proposed.tools).zip(0..).find(|(_, at)| *at == number).map(|(one, _)| one)
}

/// Returns the artifact with what a call of the task printed, once it has completed.
fn output(brief: &Brief<'_>, call: &str) -> Option<Sequence> {
    let (_, call) = brief.plan.task().call(call)?;
    let at = executor::stdout(brief, call)?;
    let ended = brief.history.intents.values().filter_map(|intent| intent.ended.as_ref());
    ended.filter(|ended| ended.failure.is_none()).any(|ended| ended.outputs.contains(&at)).then_some(at)
}

fn reason(condition: &Condition, shown_by: &ConditionCheck, bytes: Option<&[u8]>) -> String {
    let place = shown_by.of.as_deref().map_or("the input".to_owned(), |call| format!("the output of {call}"));
    let found = match bytes {
        None => "nothing that could be looked at".to_owned(),
        Some(bytes) => check::value_at(&shown_by.check.at, bytes)
            .map_or("no such value".to_owned(), |value: CheckValue| executor::words(&value)),
    };
    let text = &condition.text;
    format!(
        "the condition \u{201c}{text}\u{201d} does not hold: expected of {place} that {}, found {found}",
        shown_by.check
    )
}
