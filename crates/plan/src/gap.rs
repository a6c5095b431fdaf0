//! A finding of the rules as a question of the ledger, and an answer to it.

use std::collections::BTreeSet;

use demur_clarify::{
    gap::{self as clarify, Severity as GapSeverity},
    name::{FieldPath, GapId},
};
use demur_core::limit::{List, Text, Whole};
use demur_engine::command::Saying;
use demur_ledger::{
    content::{AnswerValue, Choice, QuestionContent, RuleName, Wordings},
    event_type::{Content, Facts},
    facts::{AnswerKind, Answerers, Assurance, GapFound, Question, Severity},
    name::{Operation, Sequence},
    role::Role,
};
use demur_rules::{self as rules, Finding, Kind, Plan, Rules};
use serde_json::Value;

use crate::{Error, error::limit};

/// Returns what the desk says when the rules found this.
pub(crate) fn found(
    finding: &Finding,
    id: &GapId,
    repeats: Option<Sequence>,
    rules: &Rules,
    plan: &Plan,
) -> Result<Saying, Error> {
    let facts = question(finding, repeats)?;
    let content = words(finding, id, rules, plan)?;
    let facts = Facts::GapFound(Box::new(GapFound(facts)));
    Ok(Saying { role: Role::Desk, facts, content: Some(Content::GapFound(content)) })
}

fn question(finding: &Finding, repeats: Option<Sequence>) -> Result<Question, Error> {
    // Both crates let the same names through, and a pack names each once.
    let blocks = finding.blocked_operations.iter().map(|name| Operation::try_from(name.to_string()));
    let kinds: BTreeSet<AnswerKind> = finding.kinds.iter().map(|kind| answer_kind(*kind)).collect();
    let chooses = kinds.contains(&AnswerKind::MultipleChoice);
    let choices = if chooses { finding.choices.len() as u64 } else { 0 };
    Ok(Question {
        about: None,
        answerers: Answerers { people: true, principals: None },
        // The desk asks; whoever submitted the plan settles nothing unless the rules say so.
        asker_settles: finding.own_answers,
        assurance: assurance(finding.assurance),
        blocks: List::try_from(blocks.flatten().collect::<Vec<_>>()).map_err(limit("blocked_operations"))?,
        choices: Whole::try_from(choices).map_err(limit("choices"))?,
        deadline: None,
        default: false,
        kinds: List::try_from(Vec::from_iter(kinds)).map_err(limit("kinds"))?,
        repeats,
        severity: match finding.severity {
            GapSeverity::Block => Severity::Block,
            GapSeverity::Warn => Severity::Warn,
        },
    })
}

fn words(finding: &Finding, id: &GapId, rules: &Rules, plan: &Plan) -> Result<QuestionContent, Error> {
    let chooses = finding.kinds.contains(&Kind::Choice);
    let choices = finding.choices.iter().filter(|_| chooses).map(|value| {
        let label = Text::cut(value).map_err(limit("choices"))?;
        Ok(Choice { label, value: Text::try_from(value.as_str()).map_err(limit("choices"))? })
    });
    let suggestions =
        finding.suggestions.iter().take(32).map(|text| Text::cut(text).map_err(limit("suggestions")));
    let name = Text::cut(finding.rule.as_str()).map_err(limit("rule"))?;
    let name = RuleName { name, rules: rules.hash() };
    Ok(QuestionContent {
        ask: None,
        choices: List::try_from(choices.collect::<Result<Vec<_>, Error>>()?).map_err(limit("choices"))?,
        context: Text::cut(&finding.context).ok(),
        default: None,
        field: Some(Text::try_from(finding.field.as_str()).map_err(limit("field"))?),
        gap: Some(Text::try_from(id.as_str()).map_err(limit("gap"))?),
        language: Text::try_from("en").map_err(limit("language"))?,
        recommendation: None,
        request: Some(rules.request(finding.rule.as_str(), &finding.field, plan)?),
        rule: Some(name),
        suggestions: List::try_from(suggestions.collect::<Result<Vec<_>, Error>>()?)
            .map_err(limit("suggestions"))?,
        wording: wordings(finding)?,
    })
}

/// Three wordings: the field, the question, and the question with why and what waits for it.
fn wordings(finding: &Finding) -> Result<Wordings, Error> {
    let waits: Vec<_> = finding.blocked_operations.iter().map(ToString::to_string).collect();
    let waits = if waits.is_empty() {
        "Nothing is blocked, but the plan is not confirmed before it is answered or accepted.".to_owned()
    } else {
        format!("Until it is answered, this waits: {}.", waits.join(", "))
    };
    let context = if finding.context.is_empty() { String::new() } else { format!(" {}", finding.context) };
    let detailed = format!("{}{context} {waits}", finding.question);
    Ok(Wordings {
        detailed: Text::cut(&detailed).map_err(limit("question"))?,
        normal: Text::cut(&finding.question).map_err(limit("question"))?,
        terse: Text::cut(&format!("{}?", finding.field)).map_err(limit("field"))?,
    })
}

/// Returns whether an answer has to be one of those that are named.
pub(crate) fn is_closed(facts: &Question) -> bool {
    facts.kinds.iter().all(|kind| matches!(kind, AnswerKind::MultipleChoice | AnswerKind::YesNo))
}

/// Returns the gap as the clarification protocol writes it.
pub(crate) fn to_clarify(
    id: &GapId,
    field: &FieldPath,
    facts: &Question,
    asked: &QuestionContent,
) -> Result<clarify::Gap, Error> {
    let severity = match facts.severity {
        Severity::Block => GapSeverity::Block,
        Severity::Warn => GapSeverity::Warn,
    };
    let question = clarify::Question::cut(&asked.wording.normal).map_err(limit("question"))?;
    let context = match &asked.context {
        Some(found) => Text::cut(found).map_err(limit("context"))?,
        None => Text::try_from("").map_err(limit("context"))?,
    };
    let suggestions = asked.suggestions.iter().map(|text| clarify::AnswerText::cut(text));
    let suggestions = suggestions.collect::<Result<Vec<_>, _>>().map_err(limit("suggestions"))?;
    let blocked = facts.blocks.iter().map(|operation| operation.as_str().parse());
    let blocked = blocked.collect::<Result<Vec<_>, _>>()?;
    Ok(clarify::Gap::new(id.clone(), field.clone(), severity, question)?
        .with_context(context)
        .with_suggestions(List::try_from(suggestions).map_err(limit("suggestions"))?)?
        .with_blocked_operations(List::try_from(blocked).map_err(limit("blocked_operations"))?)?)
}

/// Returns a gap that is about to be put, as the clarification protocol writes it.
pub(crate) fn of_saying(facts: &Question, content: &QuestionContent) -> Result<clarify::Gap, Error> {
    let id = content.gap.as_ref().ok_or(Error::NothingOpen)?.as_str().parse()?;
    to_clarify(&id, &field(content).ok_or(Error::NothingOpen)?, facts, content)
}

/// An answer as the ledger holds it.
pub(crate) struct Worded {
    pub(crate) kind: AnswerKind,
    pub(crate) choice: Option<Whole<0, 31>>,
    pub(crate) value: AnswerValue,
}

/// Returns an answer in the first kind that it is of; what is of no kind stays a text, and the engine says so.
pub(crate) fn worded(finding: &Finding, answer: &str) -> Result<Worded, Error> {
    let of_kind = |kind, value| Worded { kind, choice: None, value };
    Ok(match finding.read_answer(answer) {
        Ok(Value::Bool(flag)) => of_kind(AnswerKind::YesNo, AnswerValue::Flag(flag)),
        Ok(Value::Number(number)) => of_kind(AnswerKind::Numeric, AnswerValue::Number(number)),
        _ => {
            let chosen = finding.choices.iter().position(|choice| choice == answer.trim());
            let choice = chosen.filter(|_| finding.kinds.contains(&Kind::Choice));
            match choice.and_then(|at| Whole::try_from(at as u64).ok()) {
                Some(at) => {
                    let value = AnswerValue::Text(Text::try_from(answer.trim()).map_err(limit("answer"))?);
                    Worded { kind: AnswerKind::MultipleChoice, choice: Some(at), value }
                }
                None => plain(answer)?,
            }
        }
    })
}

/// Returns an answer in words.
pub(crate) fn plain(answer: &str) -> Result<Worded, Error> {
    let value = AnswerValue::Text(Text::try_from(answer).map_err(limit("answer"))?);
    Ok(Worded { kind: AnswerKind::Freetext, choice: None, value })
}

/// Returns a recorded answer as somebody would type it; none for a secret, which nobody could write into a plan.
pub(crate) fn typed(answer: &AnswerValue) -> Option<String> {
    (!answer.is_sealed()).then(|| answer.to_string())
}

/// Returns the name of the gap with this number.
pub(crate) fn name(number: usize) -> Result<GapId, Error> {
    let named = u32::try_from(number).ok().and_then(GapId::number);
    named.ok_or_else(|| Error::NoGap { found: number.to_string(), open: "fewer".to_owned() })
}

/// Returns the question's field as a path into the plan.
pub(crate) fn field(content: &QuestionContent) -> Option<FieldPath> {
    content.field.as_ref()?.as_str().parse().ok()
}

/// Returns the rules' word for how sure one can be who answered.
pub(crate) const fn surety(assurance: Assurance) -> rules::Assurance {
    match assurance {
        Assurance::Agent => rules::Assurance::Agent,
        Assurance::Relayed => rules::Assurance::Relayed,
        Assurance::Terminal => rules::Assurance::Terminal,
        Assurance::SignedIn => rules::Assurance::SignedIn,
        Assurance::Passkey => rules::Assurance::Passkey,
    }
}

const fn answer_kind(kind: Kind) -> AnswerKind {
    match kind {
        Kind::Choice => AnswerKind::MultipleChoice,
        Kind::YesNo => AnswerKind::YesNo,
        Kind::Number => AnswerKind::Numeric,
        _ => AnswerKind::Freetext,
    }
}

/// Returns the ledger's word for what a rule demands.
pub(crate) const fn assurance(assurance: rules::Assurance) -> Assurance {
    match assurance {
        rules::Assurance::Agent => Assurance::Agent,
        rules::Assurance::Relayed => Assurance::Relayed,
        rules::Assurance::Terminal => Assurance::Terminal,
        rules::Assurance::SignedIn => Assurance::SignedIn,
        rules::Assurance::Passkey => Assurance::Passkey,
    }
}
