//! What is said next: the facts and words of an author or a person, and what the desk adds to them in the same commit
//! because the rules were asked again (CLR-04, CLR-30, CLR-31, CLR-44).

use std::collections::BTreeMap;

use demur_clarify::{
    gap::{self as clarify, AnswerText},
    name::AgentId,
    uuid::Uuid,
};
use demur_core::{
    canonical::WriteError,
    limit::{List, Text},
};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    attribution::assurance_word,
    confirmation::Confirmations,
    content::{
        ActContent, AnswerClaimContent, AnswerContent, AnswerValue, ConfirmationContent, DeliveryContent,
        OperationContent, OperationObject, PlanContent, Provenance, RejectedContent, RulesContent, Shown,
        operation_digest,
    },
    event_type::{Content, Facts},
    facts::{
        AnswerClaimed, AnswerRejected, Assurance, GapAccepted, OperationStarted, PlanConfirmed,
        PlanSubmitted, QuestionAnswered, QuestionDelivered, RefusalCode, RulesRecorded,
    },
    name::{Operation, PrincipalId, Sequence},
    question::Outcome,
    role::Role,
};
use demur_rules::{Plan, Rules, judge::touches};
use serde_json::{Map, Value};

pub use crate::view::Judged;
use crate::{
    Error, Session,
    error::limit,
    gap,
    paper::UnsignedPapers,
    session::{ACCEPTED, Gap, Given},
    view::View,
};

/// Something to be said, and what the desk adds to it.
#[derive(Clone, Debug)]
pub struct Act {
    /// What decides.
    pub facts: Facts,
    /// The words.
    pub content: Content,
    /// What the desk adds.
    pub consequences: Consequences,
    /// What it signs about that once time and key are known; none where nothing is.
    pub papers: Option<Box<UnsignedPapers>>,
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

/// Returns the submission of a plan, with the rules and every gap they find.
pub fn submit(session: Uuid, agent: &AgentId, plan: &Plan, rules: &Rules) -> Result<Act, Error> {
    check_room(plan)?;
    let view = View::new(plan, rules);
    let due = view.due()?;
    let papers = UnsignedPapers::opening(session, view.open_after(&due)?);
    let mut sayings = vec![recorded(rules)?];
    sayings.extend(due);
    let content = PlanContent {
        agent: Text::try_from(agent.as_str()).map_err(limit("agent"))?,
        plan: members(plan),
        session: Text::try_from(session.to_string().as_str()).map_err(limit("session"))?,
    };
    Ok(Act {
        facts: PlanSubmitted {}.into(),
        content: Content::PlanSubmitted(content),
        consequences: Consequences { after: None, signing: None, sayings },
        papers: Some(Box::new(papers)),
    })
}

/// Returns the gaps of a plan that nobody has submitted, as the clarification protocol writes them, each with whether it
/// takes one of its suggestions and nothing else.
pub fn gaps(plan: &Plan, rules: &Rules) -> Result<Vec<(clarify::Gap, bool)>, Error> {
    let found = View::new(plan, rules).due()?.into_iter().zip(1..).map(|(saying, number)| {
        let (Facts::GapFound(facts), Some(Content::GapFound(content))) = (&saying.facts, &saying.content)
        else {
            return Err(Error::NoGap { found: number.to_string(), open: "none".to_owned() });
        };
        let field = gap::field(content).ok_or(Error::NothingOpen)?;
        let gap = gap::to_clarify(&gap::name(number)?, &field, &facts.0, content)?;
        Ok((gap, gap::is_closed(&facts.0)))
    });
    found.collect()
}

/// Returns the beginning of an operation, told whole or by its name alone; told whole it starts on the yes to it, if there is
/// one. Whether a question blocks it, or a confirmation that was not given, the engine decides.
pub fn begin(
    operation: Operation,
    exact: Option<OperationObject>,
    confirmations: Option<&Confirmations>,
) -> Result<Act, WriteError> {
    let digest = exact.as_ref().map(operation_digest).transpose()?;
    let confirmation = confirmations.zip(digest.as_ref()).and_then(|(all, digest)| all.unspent(digest));
    Ok(Act {
        facts: OperationStarted { confirmation, operation }.into(),
        content: Content::OperationStarted(OperationContent { digest, note: None, operation: exact }),
        consequences: Consequences::default(),
        papers: None,
    })
}

/// A plan that could not be confirmed or attested later is refused before anybody works on it.
pub(crate) fn check_room(plan: &Plan) -> Result<(), Error> {
    if let Some(name) = RESERVED.into_iter().find(|name| plan.as_value().get(name).is_some()) {
        return Err(Error::Reserved { name });
    }
    let mut found = 0;
    leaves(plan.as_value(), &mut String::new(), &mut |_, _| found += 1);
    if found > MOST_VALUES { Err(Error::TooManyValues { found, most: MOST_VALUES }) } else { Ok(()) }
}

impl Session {
    /// Returns the gap of this name, whether it is open or not.
    pub fn gap(&self, id: &str) -> Result<&Gap, Error> {
        let found = || {
            let open: Vec<_> = self.open_gaps().map(|gap| gap.id.as_str()).collect();
            let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
            Error::NoGap { found: id.chars().take(64).collect(), open }
        };
        self.gaps.iter().find(|gap| gap.id.as_str() == id).ok_or_else(found)
    }

    /// Returns whether this one gave this very answer before, and it counts: then nothing is left to say (CLR-04).
    pub fn repeats_answer(
        &self,
        gap: &str,
        answer: Option<&str>,
        by: Option<PrincipalId>,
    ) -> Result<bool, Error> {
        let place = self.place(self.gap(gap)?)?;
        let given = match self.outcome(&self.gaps[place]) {
            Some(Outcome::Answered(given)) if given.by == by => *given,
            _ => return Ok(false),
        };
        let same = |one: &Given| one.event == given.at && Some(one.text.as_str()) == answer;
        Ok(self.answers.iter().any(same))
    }

    /// Returns an answer to a gap and what the rules say about it. Whether it counts, the engine decides. An answer that the
    /// gap cannot take is rejected, in the desk's words: the gap stays open, and the answer is on record (CLR-45).
    pub fn answer(
        &self,
        gap: &Gap,
        answer: &str,
        assurance: Assurance,
        voice: Voice,
    ) -> Result<(Act, Judged), Error> {
        // What the protocol's record cannot hold must not be taken for an answer.
        AnswerText::try_from(answer).map_err(limit("answer"))?;
        let (judged, worded, sayings, papers) = match (self.finding(gap)?, self.is_open(gap)) {
            (Some(finding), true) => {
                self.check_stricter(gap, assurance)?;
                let mut view = self.view()?;
                let worded = gap::worded(&finding, answer)?;
                let judged = view.answer(self.place(gap)?, &finding, answer, (worded.kind, assurance))?;
                if let Judged::Escalated(_) = &judged
                    && !gap.facts.kinds.contains(&worded.kind)
                    && assurance >= gap.facts.assurance
                {
                    return Ok((self.rejecting(gap, worded.value, assurance)?, judged));
                }
                let due = view.due()?;
                let resolved = matches!(judged, Judged::Resolved);
                let round = gap.round_of(&worded.value.to_string(), (resolved, assurance))?;
                let papers = self.papers(view.open_after(&due)?)?.with_round(round);
                (judged, worded, due, Some(Box::new(papers)))
            }
            (None, true) => return Err(Error::OutOfDate { gap: gap.id.to_string() }),
            // The engine says what became of the question, and who was first.
            (_, false) => (Judged::Resolved, gap::plain(answer)?, Vec::new(), None),
        };
        let (facts, content) = answering(gap, worded, assurance, voice);
        let consequences = Consequences { after: self.head(), signing: None, sayings };
        let content = Content::QuestionAnswered(content);
        Ok((Act { facts: facts.into(), content, consequences, papers }, judged))
    }

    /// Returns what the desk says about an answer that a gap cannot take.
    fn rejecting(&self, gap: &Gap, answer: AnswerValue, assurance: Assurance) -> Result<Act, Error> {
        let code = RefusalCode::try_from(NOT_OF_ITS_KIND.to_owned()).map_err(|_| Error::NothingOpen)?;
        let round = gap.round_of(&answer.to_string(), (false, assurance))?;
        let papers = self.papers(self.view()?.open_after(&[])?)?.with_round(round);
        // Who gave it, the desk says when it signs.
        let by = Text::try_from("somebody").map_err(limit("by"))?;
        Ok(Act {
            facts: AnswerRejected { code, question: gap.question.sequence }.into(),
            content: Content::AnswerRejected(RejectedContent { answer: Some(answer), by }),
            consequences: Consequences { after: self.head(), signing: None, sayings: Vec::new() },
            papers: Some(Box::new(papers)),
        })
    }

    /// Returns whether the answer of whoever submitted the plan settles a gap of it: only where the rules say so.
    pub const fn is_settled_by_submitter(gap: &Gap) -> bool {
        gap.facts.asker_settles
    }

    /// Returns what whoever submitted the plan would answer to an open gap, kept for whoever settles it; none where it said just
    /// that last time.
    pub fn claim(&self, gap: &Gap, answer: &str, note: Option<Text<1, 4096>>) -> Result<Option<Act>, Error> {
        AnswerText::try_from(answer).map_err(limit("answer"))?;
        if self.claims(gap).last().is_some_and(|claim| claim.answer == answer) {
            return Ok(None);
        }
        let worded = match self.finding(gap)? {
            Some(finding) => gap::worded(&finding, answer)?,
            None => gap::plain(answer)?,
        };
        Ok(Some(Act {
            facts: AnswerClaimed { question: gap.question.sequence }.into(),
            content: Content::AnswerClaimed(AnswerClaimContent { answer: worded.value, note }),
            consequences: Consequences::default(),
            papers: None,
        }))
    }

    /// Returns the acceptance of a warning as it is.
    pub fn accept(
        &self,
        gap: &Gap,
        assurance: Assurance,
        by: Option<Text<1, 256>>,
        reason: Text<1, 4096>,
    ) -> Result<Act, Error> {
        let mut view = self.view()?;
        view.accept(self.place(gap)?, self.finding(gap)?.as_ref());
        let facts = GapAccepted { attribution: None, assurance, question: gap.question };
        let due = view.due()?;
        let round = gap.round_of(ACCEPTED, (true, assurance))?;
        let papers = self.papers(view.open_after(&due)?)?.with_round(round);
        Ok(Act {
            facts: facts.into(),
            content: Content::GapAccepted(ActContent { by, reason }),
            consequences: Consequences { after: self.head(), signing: None, sayings: due },
            papers: Some(Box::new(papers)),
        })
    }

    /// An answer does not reach a field that another open gap puts to somebody with more assurance.
    pub(crate) fn check_stricter(&self, gap: &Gap, assurance: Assurance) -> Result<(), Error> {
        match self.stricter(gap, assurance) {
            Some(other) => Err(Error::Stricter {
                gap: gap.id.to_string(),
                other: other.id.to_string(),
                least: assurance_word(other.facts.assurance),
            }),
            None => Ok(()),
        }
    }

    /// Returns an open gap at the same field that demands more than this.
    pub(crate) fn stricter(&self, gap: &Gap, assurance: Assurance) -> Option<&Gap> {
        let is_there = |other: &Gap| touches(gap.field.as_str(), other.field.as_str());
        self.open_gaps()
            .find(|other| other.id != gap.id && is_there(other) && other.facts.assurance > assurance)
    }

    /// Returns the confirmation of the plan with every answer in it, and where each value came from.
    pub fn confirm(&self) -> Result<Act, Error> {
        let provenance = self.provenance()?;
        let content = ConfirmationContent {
            plan: members(&self.plan),
            provenance: List::try_from(provenance).map_err(limit("provenance"))?,
        };
        // While a gap is open the engine refuses it, and there is nothing to sign.
        let gaps = self.view()?.open_after(&[])?;
        let papers = if gaps.open.is_empty() {
            Some(Box::new(self.papers(gaps)?.with_acceptance(&self.plan)))
        } else {
            None
        };
        Ok(Act {
            facts: PlanConfirmed {}.into(),
            content: Content::PlanConfirmed(content),
            consequences: Consequences { after: self.head(), signing: None, sayings: Vec::new() },
            papers,
        })
    }

    /// Returns what the desk says after it has put every open question before somebody: to whom, and what was shown. Each stands
    /// beside its question.
    pub fn deliveries(&self, to: &str, channel: &str) -> Result<Vec<(Sequence, Saying)>, Error> {
        let new = |gap: &&Gap| !self.delivered.contains(&(gap.question.sequence, to.to_owned()));
        let delivery = |gap: &Gap| {
            let facts = QuestionDelivered { question: gap.question.sequence, to: None };
            let content = DeliveryContent {
                channel: Text::cut(channel).map_err(limit("channel"))?,
                said_by: None,
                shown: gap.shown()?,
                to: Text::cut(to).map_err(limit("to"))?,
            };
            let content = Some(Content::QuestionDelivered(content));
            Ok((gap.question.sequence, Saying { role: Role::Desk, facts: facts.into(), content }))
        };
        self.open_gaps().filter(new).map(delivery).collect()
    }

    /// Returns the source of every value in the plan: the answer that gave it, else the plan as its agent gave it last.
    pub(crate) fn provenance(&self) -> Result<Vec<Provenance>, Error> {
        let rules = self.rules()?;
        // The newest answer to each field; the answers stand in the order of their events.
        let newest: BTreeMap<&str, Sequence> =
            self.answers.iter().map(|given| (self.field(given), given.event)).collect();
        let mut sources = Vec::new();
        leaves(self.plan.as_value(), &mut String::new(), &mut |field, _| {
            let moved = rules.moved_from(&self.own.plan, field);
            let places = around(field).chain(moved.as_deref().into_iter().flat_map(around));
            let answered = places.filter_map(|place| newest.get(place)).max().copied();
            sources.push((field.to_owned(), moved, answered));
        });
        let source = |(field, moved, answered): (String, Option<String>, Option<Sequence>)| {
            let pointer = match answered {
                Some(_) => "/answer".to_owned(),
                None => format!("/plan/{}", moved.as_ref().unwrap_or(&field).replace('.', "/")),
            };
            Ok(Provenance {
                field: Text::try_from(field.as_str()).map_err(limit("provenance"))?,
                pointer: Text::try_from(pointer.as_str()).map_err(limit("provenance"))?,
                source: answered.unwrap_or(self.own.event),
            })
        };
        sources.into_iter().map(source).collect()
    }

    /// Returns the value that a source names, if there is one.
    pub(crate) fn sourced(&self, source: &Provenance) -> Option<&Value> {
        if source.source == self.own.event {
            return self.own.plan.as_value().pointer(source.pointer.strip_prefix("/plan")?);
        }
        let given = self.answers.binary_search_by_key(&source.source, |given| given.event).ok()?;
        let given = &self.answers[given];
        given.value.pointer(&self.below(given, &source.field)?.replace('.', "/"))
    }

    /// Returns what is left of a field below the one that an answer was given for; that one may have moved since.
    fn below(&self, given: &Given, field: &str) -> Option<String> {
        let below = |field: &str| rest_below(field, self.field(given)).map(str::to_owned);
        let moved = || self.rules().ok()?.moved_from(&self.own.plan, field);
        below(field).or_else(|| below(&moved()?))
    }

    pub(crate) fn field(&self, given: &Given) -> &str {
        self.gaps[given.gap].field.as_str()
    }
}

/// Returns the facts and the words of an answer to a gap.
pub(crate) fn answering(
    gap: &Gap,
    worded: gap::Worded,
    assurance: Assurance,
    voice: Voice,
) -> (QuestionAnswered, AnswerContent) {
    let facts = QuestionAnswered {
        attribution: None,
        assurance,
        choice: worded.choice,
        kind: worded.kind,
        question: gap.question,
    };
    let content = AnswerContent {
        answer: worded.value,
        by: voice.by,
        note: voice.note,
        request: gap.content.request,
        signed: None,
        shown: voice.shown,
    };
    (facts, content)
}

/// Returns a field and everything that it is part of.
fn around(field: &str) -> impl Iterator<Item = &str> {
    field.match_indices('.').map(|(end, _)| &field[..end]).chain([field])
}

/// Returns what is left of a field below another: nothing if they are the same, else a path that begins with a dot.
fn rest_below<'a>(field: &'a str, above: &str) -> Option<&'a str> {
    field.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Calls `visit` with every value that holds no other, by its dotted path.
pub(crate) fn leaves(value: &Value, path: &mut String, visit: &mut dyn FnMut(&str, &Value)) {
    let mut below = |name: &str, value: &Value| {
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        leaves(value, path, visit);
        path.truncate(length);
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, value)| below(name, value));
        }
        Value::Array(entries) if !entries.is_empty() => {
            entries.iter().enumerate().for_each(|(at, value)| below(&at.to_string(), value));
        }
        // A plan that says nothing has no value.
        _ if path.is_empty() => {}
        _ => visit(path, value),
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

/// The members that an attestation adds to a plan.
const RESERVED: [&str; 3] = ["clarification_rounds", "clarification_chain_ref", "input_hash"];
/// The code of an answer that is of no kind that the question takes.
const NOT_OF_ITS_KIND: &str = "ANSWER_KIND";
/// As many values as a confirmation can name the sources of.
const MOST_VALUES: usize = 1024;
