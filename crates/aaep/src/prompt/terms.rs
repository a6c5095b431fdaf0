//! What a prompt takes for a reply, and what holds without one.

use std::collections::BTreeSet;

use demur_core::limit::Text;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::ReplyRefusal;
use crate::{
    payload::{AwaitingClarification, AwaitingConfirmation},
    reply::{ConfirmationReply, Response},
    word::{ReplyDecision, ResponseKind, Reversibility, RiskLevel},
};

/// Which responses to a question are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClarificationTerms {
    /// The kinds of response.
    pub kinds: BTreeSet<ResponseKind>,
    /// The values of the choices, in their order.
    pub choices: Vec<Text<1, 256>>,
    /// What the agent goes on with when the time is up.
    pub default: Option<Text<0, 4096>>,
}

impl ClarificationTerms {
    /// Returns what this question takes. Where it names no kinds, it takes one of its choices, or any text if it has none.
    pub fn of(payload: &AwaitingClarification) -> Self {
        let choices = payload.choices.iter().flatten().map(|choice| choice.value.clone()).collect();
        let kinds = match (&payload.accepted_response_kinds, &payload.choices) {
            (Some(kinds), _) => kinds.iter().copied().collect(),
            (None, Some(_)) => BTreeSet::from([ResponseKind::MultipleChoice]),
            (None, None) => BTreeSet::from([ResponseKind::Freetext]),
        };
        Self { kinds, choices, default: payload.default_response.clone() }
    }

    /// Returns the kind by which a response is taken. A text that is no choice is free text, where that is taken too.
    pub fn kind_of(&self, response: &Response) -> Result<ResponseKind, ReplyRefusal> {
        let is_taken = |kind| self.kinds.contains(&kind);
        let kind = match response {
            Response::YesNo(_) => ResponseKind::YesNo,
            Response::Number(_) => ResponseKind::Numeric,
            Response::Text(text) if is_taken(ResponseKind::MultipleChoice) => {
                if self.choices.iter().any(|choice| **choice == **text) {
                    ResponseKind::MultipleChoice
                } else if is_taken(ResponseKind::Freetext) {
                    ResponseKind::Freetext
                } else {
                    return Err(ReplyRefusal::Choice);
                }
            }
            Response::Text(_) => ResponseKind::Freetext,
        };
        if is_taken(kind) { Ok(kind) } else { Err(ReplyRefusal::Kind) }
    }

    /// Returns the default as the response it stands for; none where there is none, or where it is no response that is taken.
    ///
    /// It is written as text whatever the kind. The narrowest kind that it spells is meant: a choice, `true` or `false`, a
    /// number, any text.
    pub fn default_answer(&self) -> Option<DefaultAnswer> {
        let text = Text::try_from(self.default.as_deref()?).ok()?;
        let spelled = match text.as_str() {
            "true" => Some(Response::YesNo(true)),
            "false" => Some(Response::YesNo(false)),
            other => number(other).map(Response::Number),
        };
        let is_choice = self.choices.iter().any(|choice| **choice == *text);
        let text = Response::Text(text);
        let meant = if is_choice { [Some(text), spelled] } else { [spelled, Some(text)] };
        let answer = |response| self.kind_of(&response).ok().map(|kind| DefaultAnswer { response, kind });
        meant.into_iter().flatten().find_map(answer)
    }
}

/// What an agent goes on with when the time is up. It is nobody's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultAnswer {
    /// What the default says.
    pub response: Response,
    /// Which kind of response that is.
    pub kind: ResponseKind,
}

/// Which decisions about an action are taken, and what holds without one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationTerms {
    /// What is taken.
    pub allowed: BTreeSet<ReplyDecision>,
    /// What the producer wants to hold without a reply.
    pub default: ReplyDecision,
    /// How much can go wrong; high where nothing is said.
    pub risk: RiskLevel,
    /// Whether the action can be undone; by either of the two fields that can say so.
    pub irreversible: bool,
}

impl ConfirmationTerms {
    /// Returns what this confirmation takes.
    pub fn of(payload: &AwaitingConfirmation) -> Self {
        let both = || BTreeSet::from([ReplyDecision::Accept, ReplyDecision::Reject]);
        let named = |name: &Text<0, 64>| match name.as_str() {
            "accept" => Some(ReplyDecision::Accept),
            "reject" => Some(ReplyDecision::Reject),
            _ => None,
        };
        let allowed = payload.allowed_replies.as_ref();
        Self {
            allowed: allowed.map_or_else(both, |allowed| allowed.iter().filter_map(named).collect()),
            default: payload.default_decision,
            risk: payload.risk_level.unwrap_or(RiskLevel::High),
            irreversible: payload.irreversible == Some(true)
                || payload.reversibility == Some(Reversibility::Irreversible),
        }
    }

    /// Returns whether the default must be to reject (6.4.1).
    pub fn must_default_to_reject(&self) -> bool {
        self.irreversible && self.risk > RiskLevel::Low
    }

    /// Returns whether the default should be to reject: a producer may decide otherwise, we do not.
    pub fn should_default_to_reject(&self) -> bool {
        self.irreversible || self.risk == RiskLevel::High
    }

    /// Returns what holds when the time is up: the producer's default, unless it must be to reject.
    pub fn default_decision(&self) -> ReplyDecision {
        if self.must_default_to_reject() { ReplyDecision::Reject } else { self.default }
    }

    /// Returns what a reply decides. One that would allow another action rejects this one.
    pub fn decision_of(&self, reply: &ConfirmationReply) -> Result<ReplyDecision, ReplyRefusal> {
        if !self.allowed.contains(&reply.decision) {
            return Err(ReplyRefusal::Decision);
        }
        Ok(if reply.modified_action.is_some() { ReplyDecision::Reject } else { reply.decision })
    }
}

/// Returns the number that a text spells as JSON does.
fn number(text: &str) -> Option<Number> {
    let begins_like_one = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let response =
        begins_like_one.then(|| demur_core::canonical::from_json(text.as_bytes(), &NUMBER_LIMITS).ok());
    match response.flatten()? {
        Response::Number(number) => Some(number),
        Response::Text(_) | Response::YesNo(_) => None,
    }
}

/// Limits of a number in a text.
const NUMBER_LIMITS: demur_core::limit::Limits =
    demur_core::limit::Limits { bytes: 64, depth: 1, members: 1, text: 1 };
