//! Intents: held against the policy, against the input that they name, and against the conditions of their approval.

use demur_core::{
    canonical,
    hash::sha256,
    limit::{Limits, Text},
};
use demur_ledger::{
    content::RationaleContent,
    event_type::Content,
    facts::{IntentDecision, ToolIntentReviewed},
    name::Sequence,
};

use super::{
    condition::{self, Judgement},
    confirmation::{self, Confirming},
};
use crate::{
    history::Intended,
    role::{Brief, Input, Look, Move, RoleError, input, say},
};

/// Returns the review of the next intent that needs one.
pub(super) fn review(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    let waiting = |(_, intent): &(&Sequence, &Intended)| intent.review.is_none() && intent.started.is_none();
    for (at, intent) in brief.history.intents.iter().filter(waiting) {
        let objection = match objection(brief, intent, look)? {
            None => match condition::judge(brief, (*at, intent), look)? {
                Judgement::Say(judgement) => return Ok(Some(*judgement)),
                Judgement::Fails(reason) => Some(reason),
                Judgement::Fine => match confirmation::next(brief, (*at, intent), look)? {
                    Confirming::Ask(asks) => return Ok(Some(*asks)),
                    Confirming::Waits => continue,
                    Confirming::Refused(reason) => Some(reason),
                    Confirming::Fine => None,
                },
            },
            found => found,
        };
        let (decision, rationale) = match objection {
            Some(objection) => (IntentDecision::Blocked, objection),
            None if intent.risk >= brief.demands.approval_from => {
                let words = "the input is recorded, and the policy allows this tool, program and risk";
                (IntentDecision::Approved, words.to_owned())
            }
            None => continue,
        };
        let facts = ToolIntentReviewed { decision, intent: *at };
        let rationale = Text::cut(&rationale)?;
        return Ok(Some(say(facts, Content::ToolIntentReviewed(RationaleContent { rationale }))));
    }
    Ok(None)
}

/// Returns what speaks against an intent.
fn objection(brief: &Brief<'_>, intent: &Intended, look: &mut dyn Look) -> Result<Option<String>, RoleError> {
    let policy = brief.policy;
    if let Some(from) = policy.block_from.filter(|from| intent.risk >= *from) {
        return Ok(Some(format!("the policy blocks calls from {} risk on", from.as_str())));
    }
    let Some(tool) = policy.tools.get(&intent.tool) else {
        return Ok(Some(format!("the policy does not name the tool {}", intent.tool)));
    };
    if intent.risk < tool.risk {
        let (least, said) = (tool.risk.as_str(), intent.risk.as_str());
        let message =
            format!("the policy puts {} at {least} risk at least, the intent says {said}", intent.tool);
        return Ok(Some(message));
    }
    let Some((_, Some(found))) = recorded_input(brief, intent, look)? else {
        return Ok(Some("no recorded input has the hash that the intent names".to_owned()));
    };
    let program = found.command.first().map_or("", String::as_str);
    let allowed = match &tool.programs[..] {
        [] => program == intent.tool,
        programs => programs.iter().any(|one| one.as_str() == program),
    };
    Ok((!allowed).then(|| format!("the policy does not let {} start the program {program:?}", intent.tool)))
}

/// Returns the recorded input that an intent names by its hash: where it is, and what it says if it can be read.
pub(super) fn recorded_input(
    brief: &Brief<'_>,
    intent: &Intended,
    look: &mut dyn Look,
) -> Result<Option<(Sequence, Option<Input>)>, RoleError> {
    let Some(hash) = intent.input_hash else { return Ok(None) };
    // What the task says need not be looked at again once it is recorded.
    if let Some((call, bytes)) = brief.plan.input_with(&hash)
        && let Some(at) = brief.history.artifacts.get(&input::name(call))
    {
        return Ok(Some((*at, canonical::from_canonical(bytes, &Limits::LINE).ok())));
    }
    // An executor records the input just before it says what it intends.
    for at in brief.history.recorded.iter().rev().take(64) {
        if let Some(bytes) =
            look.artifact(*at).map_err(RoleError::Look)?.filter(|bytes| sha256(bytes) == hash)
        {
            return Ok(Some((*at, canonical::from_canonical(&bytes, &Limits::LINE).ok())));
        }
    }
    Ok(None)
}
