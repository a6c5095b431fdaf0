//! What is said next: the facts and words of an author or a person, and what the desk adds to them in the same commit
//! because the rules were asked again (CLR-04, CLR-30, CLR-31, CLR-44).

use demur_clarify::name::{AgentId, GapId};
use demur_clarify::uuid::Uuid;
use demur_core::limit::{List, Text};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::{
        ActContent, AnswerContent, ConfirmationContent, DeliveryContent, PlanContent, Provenance,
        RulesContent, Shown,
    },
    event_type::{Content, Facts},
    facts::{
        Assurance, GapAccepted, PlanConfirmed, PlanSubmitted, QuestionAnswered, QuestionDelivered,
        RulesRecorded,
    },
    name::Sequence,
    role::Role,
};
use demur_rules::{Finding, Judgement, Plan, Rules, Settled, judge::Why};
use serde_json::{Map, Value};

use crate::{Error, Session, error::limit, gap, session::Gap};

/// Something to be said, and what the desk adds to it.
#[derive(Clone, Debug)]
pub struct Act {
    /// What decides.
    pub facts: Facts,
    /// The words.
    pub content: Content,
    /// What the desk adds.
    pub consequences: Consequences,
}

/// Who answers, as the record tells it.
#[derive(Clone, Debug, Default)]
pub struct Voice {
    /// The name of a person; none where a key speaks.
    pub by: Option<Text<1, 256>>,
    /// Why, in their words.
    pub note: Option<Text<1, 4096>>,
    /// What they were shown.
    pub shown: Option<Shown>,
}

/// What became of an answer, as far as the rules tell.
#[derive(Clone, Debug)]
pub enum Judged {
    /// It settles the gap.
    Resolved,
    /// It does not, and the gap is put again.
    Escalated(Why),
}

/// Returns the submission of a plan, with the rules and every gap they find.
pub fn submit(session: Uuid, agent: &AgentId, plan: &Plan, rules: &Rules) -> Result<Act, Error> {
    let mut sayings = vec![recorded(rules)?];
    sayings.extend(first_gaps(plan, rules)?);
    let content = PlanContent {
        agent: Text::try_from(agent.as_str()).map_err(limit("agent"))?,
        plan: members(plan),
        session: Text::try_from(session.to_string().as_str()).map_err(limit("session"))?,
    };
    Ok(Act {
        facts: PlanSubmitted {}.into(),
        content: Content::PlanSubmitted(content),
        consequences: Consequences { after: None, sayings },
    })
}

/// Returns every gap that the rules find in a plan as it was submitted.
pub(crate) fn first_gaps(plan: &Plan, rules: &Rules) -> Result<Vec<Saying>, Error> {
    let findings = rules.detect(plan, &Settled::default())?;
    let worded = findings
        .iter()
        .zip(1..)
        .map(|(finding, number)| gap::found(finding, &name(number)?, None, rules.hash(), plan));
    worded.collect()
}

impl Session {
    /// Returns the open gap of this name.
    pub fn gap(&self, id: &str) -> Result<&Gap, Error> {
        let found = || {
            let open: Vec<_> = self.open_gaps().map(|gap| gap.id.as_str()).collect();
            let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
            Error::NoGap { found: id.chars().take(64).collect(), open }
        };
        self.gaps.iter().find(|gap| gap.id.as_str() == id).ok_or_else(found)
    }

    /// Returns an answer to a gap and what the rules say about it. Whether it counts, the engine decides.
    pub fn answer(
        &self,
        gap: &Gap,
        answer: &str,
        assurance: Assurance,
        voice: Voice,
    ) -> Result<(Act, Judged), Error> {
        let finding = self.finding(gap)?;
        let (judged, sayings) = self.judge(gap, finding.as_ref(), answer)?;
        let worded = match &finding {
            Some(finding) => gap::worded(finding, answer)?,
            // Nothing is asked any more; the engine says what became of the question.
            None => gap::Worded {
                kind: demur_ledger::facts::AnswerKind::Freetext,
                choice: None,
                value: demur_ledger::content::AnswerValue::Text(
                    Text::try_from(answer).map_err(limit("answer"))?,
                ),
            },
        };
        let facts =
            QuestionAnswered { assurance, choice: worded.choice, kind: worded.kind, question: gap.question };
        let content = AnswerContent {
            answer: worded.value,
            by: voice.by,
            note: voice.note,
            request: gap.content.request,
            signed: None,
            shown: voice.shown,
        };
        let consequences = Consequences { after: self.head(), sayings };
        let content = Content::QuestionAnswered(content);
        Ok((Act { facts: facts.into(), content, consequences }, judged))
    }

    /// Returns the acceptance of a warning as it is.
    pub fn accept(
        &self,
        gap: &Gap,
        assurance: Assurance,
        by: Option<Text<1, 256>>,
        reason: Text<1, 4096>,
    ) -> Act {
        let facts = GapAccepted { assurance, question: gap.question };
        Act {
            facts: facts.into(),
            content: Content::GapAccepted(ActContent { by, reason }),
            consequences: Consequences { after: self.head(), sayings: Vec::new() },
        }
    }

    /// Returns the confirmation of the plan with every answer in it, and where each value came from.
    pub fn confirm(&self) -> Result<Act, Error> {
        let provenance = self.provenance()?;
        let content = ConfirmationContent {
            plan: members(&self.plan),
            provenance: List::try_from(provenance).map_err(limit("provenance"))?,
        };
        Ok(Act {
            facts: PlanConfirmed {}.into(),
            content: Content::PlanConfirmed(content),
            consequences: Consequences { after: self.head(), sayings: Vec::new() },
        })
    }

    /// Returns what the desk says after it has put every open question before somebody: to whom, and what was shown.
    pub fn deliveries(&self, to: &str, channel: &str) -> Result<Vec<Saying>, Error> {
        let new = |gap: &&Gap| !self.delivered.contains(&(gap.question.sequence, to.to_owned()));
        let delivery = |gap: &Gap| {
            let facts = QuestionDelivered { question: gap.question.sequence, to: None };
            let content = DeliveryContent {
                channel: Text::cut(channel).map_err(limit("channel"))?,
                shown: gap.shown()?,
                to: Text::cut(to).map_err(limit("to"))?,
            };
            let content = Some(Content::QuestionDelivered(content));
            Ok(Saying { role: Role::Desk, facts: facts.into(), content })
        };
        self.open_gaps().filter(new).map(delivery).collect()
    }

    /// Returns the gaps that the rules find now and that nobody has asked yet; none are expected, because the rules
    /// are asked again after every answer.
    pub fn unasked(&self) -> Result<Vec<Saying>, Error> {
        let findings = self.detect()?;
        self.sayings(findings.iter().filter(|finding| !self.is_asked(finding)), None)
    }

    pub(crate) fn judge(
        &self,
        gap: &Gap,
        finding: Option<&Finding>,
        answer: &str,
    ) -> Result<(Judged, Vec<Saying>), Error> {
        let Some(finding) = finding else { return Ok((Judged::Resolved, Vec::new())) };
        match self.rules()?.judge(&self.plan, &self.settled, finding, answer)? {
            Judgement::Settles { new, .. } => {
                Ok((Judged::Resolved, self.sayings(new.iter().filter(|new| !self.is_asked(new)), None)?))
            }
            Judgement::Escalates { why, .. } => {
                Ok((Judged::Escalated(why), self.sayings([finding], Some(gap))?))
            }
            _ => Ok((Judged::Resolved, Vec::new())),
        }
    }

    fn is_asked(&self, finding: &Finding) -> bool {
        self.open_gaps().any(|gap| gap.is_of(finding))
    }

    fn sayings<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Finding>,
        repeated: Option<&Gap>,
    ) -> Result<Vec<Saying>, Error> {
        let rules = self.rules()?.hash();
        let next = u32::try_from(self.gaps.len()).unwrap_or(u32::MAX).saturating_add(1);
        let worded = findings.into_iter().zip(next..).map(|(finding, number)| {
            let id = match repeated {
                Some(gap) => gap.id.clone(),
                None => name(number)?,
            };
            let repeats = repeated.map(|gap| gap.question.sequence);
            gap::found(finding, &id, repeats, rules, &self.plan)
        });
        worded.collect()
    }

    /// Returns the source of every value in the plan: the answer that gave it, else the plan as it was submitted.
    fn provenance(&self) -> Result<Vec<Provenance>, Error> {
        let mut sources = Vec::new();
        leaves(self.plan.as_value(), &mut String::new(), &mut |field, _| {
            let answered = self.answers.iter().rev().find(|given| {
                let at = self.gaps[given.gap].field.as_str();
                field == at || field.strip_prefix(at).is_some_and(|rest| rest.starts_with('.'))
            });
            sources.push((field.to_owned(), answered.map(|given| given.event)));
        });
        let source = |(field, answered): (String, Option<Sequence>)| {
            let pointer = match answered {
                Some(_) => "/answer".to_owned(),
                None => format!("/plan/{}", field.replace('.', "/")),
            };
            Ok(Provenance {
                field: Text::try_from(field.as_str()).map_err(limit("provenance"))?,
                pointer: Text::try_from(pointer.as_str()).map_err(limit("provenance"))?,
                source: answered.unwrap_or(Sequence::FIRST),
            })
        };
        sources.into_iter().map(source).collect()
    }
}

/// Calls `visit` with every value that is no record, by its dotted path. A list is one value.
pub(crate) fn leaves(value: &Value, path: &mut String, visit: &mut dyn FnMut(&str, &Value)) {
    let Value::Object(members) = value else {
        visit(path, value);
        return;
    };
    for (name, value) in members {
        let length = path.len();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        leaves(value, path, visit);
        path.truncate(length);
    }
}

pub(crate) fn members(plan: &Plan) -> Map<String, Value> {
    plan.as_value().as_object().cloned().unwrap_or_default()
}

fn recorded(rules: &Rules) -> Result<Saying, Error> {
    let expected = "rules in JSON";
    let document = serde_json::from_slice(rules.document())
        .map_err(|_| Error::Trace { at: Sequence::FIRST, expected })?;
    let packs = rules
        .packs()
        .iter()
        .map(|pack| Text::cut(&format!("{} {}", pack.name, pack.version)).map_err(limit("packs")));
    let content = RulesContent {
        document,
        hash: rules.hash(),
        packs: List::try_from(packs.collect::<Result<Vec<_>, Error>>()?).map_err(limit("packs"))?,
    };
    let content = Some(Content::RulesRecorded(content));
    Ok(Saying { role: Role::Desk, facts: RulesRecorded {}.into(), content })
}

fn name(number: u32) -> Result<GapId, Error> {
    let found = || Error::NoGap { found: number.to_string(), open: "fewer".to_owned() };
    GapId::number(number).ok_or_else(found)
}
