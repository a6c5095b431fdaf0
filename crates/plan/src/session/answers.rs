//! Answers and acceptances as a session takes them in: what they write into the plan, what they let pass, and what becomes of that
//! when the plan changes.

use demur_ledger::{
    content::{AnswerContent, AnswerValue},
    facts::QuestionAnswered,
    name::Sequence,
};
use demur_rules::{Judgement, Plan, Settled};
use serde_json::Value;

use super::{COST_OF_GAP, Given, LastWord, Round, Session, TIMES_FOR_ANSWER};
use crate::{
    Error,
    consent::{self, Consent},
    gap,
};

impl Session {
    pub(super) fn fold_answer(
        &mut self,
        event: Sequence,
        facts: &QuestionAnswered,
        content: &AnswerContent,
    ) -> Result<(), Error> {
        let question = facts.question.sequence;
        let Some(index) = self.gaps.iter().position(|gap| gap.question.sequence == question) else {
            // A question of the agent's own: it is no gap of the plan.
            return Ok(());
        };
        let expected = "an answer in the open: what settles a gap goes into the plan";
        let answer = gap::typed(&content.answer).ok_or(Error::Trace { at: event, expected })?;
        let (kind, assurance) = (facts.kind, facts.assurance);
        let given = Given { gap: index, text: answer, value: Value::Null, event, kind, assurance };
        let resolved = self.take(given, plain(&content.answer))?;
        self.rounds.push(Round { resolved, event });
        self.lapse()
    }

    /// Writes an answer into the plan if it settles its gap; what it says is kept all the same.
    fn take(&mut self, given: Given, said: Option<Value>) -> Result<bool, Error> {
        let mut found = self.found.take();
        let glanced = self.settling_at_a_glance(&mut found, (&self.plan, &self.settled), &given)?;
        let settled = match glanced {
            Some(glanced) => {
                (self.found, self.recent) = (found, Some(glanced.places));
                glanced.settled
            }
            None => self.settling(&self.plan, &self.settled, &given)?,
        };
        let gap = &self.gaps[given.gap];
        let Some((plan, value)) = settled else {
            let (gap, event, value) = (given.gap, given.event, said);
            self.last_words.insert(self.gaps[gap].field.clone(), LastWord { gap, event, value });
            return Ok(false);
        };
        self.last_words.remove(&gap.field);
        self.plan = plan;
        self.settled.answer(&gap.field, gap::surety(given.assurance));
        self.consents.extend(Consent::answering(given.gap, gap, given.kind));
        self.answers.push(Given { value, ..given });
        Ok(true)
    }

    /// Takes out what somebody let pass where its values have changed.
    pub(crate) fn lapse(&mut self) -> Result<(), Error> {
        let (at, effort) = (self.newest_event(), &self.effort);
        let Some(rules) = &self.rules else { return Ok(()) };
        let spend = || effort.spend(COST_OF_GAP, at);
        let lapsed = consent::lapse(rules, (&mut self.plan, &mut self.settled), &mut self.consents, &spend)?;
        if !lapsed.is_empty() {
            self.forget_found();
        }
        for given in self.answers.extract_if(.., |given| lapsed.contains(&given.gap)) {
            let word = LastWord { gap: given.gap, event: given.event, value: None };
            self.last_words.insert(self.gaps[given.gap].field.clone(), word);
        }
        self.lapsed.extend(lapsed);
        Ok(())
    }

    /// Returns a plan with this answer to a gap in it, and what it wrote; none where it does not settle the gap.
    fn settling(
        &self,
        plan: &Plan,
        settled: &Settled,
        given: &Given,
    ) -> Result<Option<(Plan, Value)>, Error> {
        let rules = self.rules()?;
        self.spend(rules, TIMES_FOR_ANSWER)?;
        let found = rules.detect(plan, settled)?;
        let Some(finding) = found.into_iter().find(|finding| self.gaps[given.gap].is_of(finding)) else {
            return Ok(None);
        };
        let said = (given.text.as_str(), gap::surety(given.assurance));
        match (rules.judge_as(plan, settled, &finding, said)?, finding.read_answer(&given.text)) {
            (Judgement::Settles { plan, .. }, Ok(value)) => Ok(Some((plan, value))),
            _ => Ok(None),
        }
    }

    pub(super) fn fold_acceptance(&mut self, event: Sequence, question: Sequence) -> Result<(), Error> {
        let Some(index) = self.gaps.iter().position(|gap| gap.question.sequence == question) else {
            return Ok(());
        };
        let found = self.finding(&self.gaps[index])?;
        if let Some(finding) = found {
            // The engine lets only warnings be accepted.
            let _ = self.settled.accept(&finding);
            self.forget_found();
            self.consents.extend(Consent::accepting(index, &self.gaps[index]));
        }
        self.rounds.push(Round { resolved: true, event });
        Ok(())
    }

    /// Takes an answer out of the plan.
    pub(super) fn take_back(&mut self, answer: Sequence) -> Result<(), Error> {
        let taken = self.answers.iter().find(|given| given.event == answer).map(|given| given.gap);
        (self.plan, self.answers, self.settled) = self.without(answer)?;
        self.forget_found();
        self.consents.retain(|consent| Some(consent.gap) != taken);
        self.last_words.retain(|_, word| word.event != answer);
        self.lapse()
    }

    /// Returns the plan without an answer, and the answers that count then: every other one that counts is written into the
    /// plan as its agent gave it.
    pub(super) fn without(&self, answer: Sequence) -> Result<(Plan, Vec<Given>, Settled), Error> {
        let (mut plan, mut kept, mut settled) =
            (self.own.plan.clone(), Vec::new(), self.settled.without_answers());
        let mut found = None;
        for given in self.answers.iter().filter(|given| given.event != answer) {
            let glanced = self.settling_at_a_glance(&mut found, (&plan, &settled), given)?;
            let settling = if let Some(glanced) = glanced {
                glanced.settled
            } else {
                found = None;
                self.settling(&plan, &settled, given)?
            };
            if let Some((next, value)) = settling {
                plan = next;
                settled.answer(&self.gaps[given.gap].field, gap::surety(given.assurance));
                kept.push(Given { value, ..given.clone() });
            }
        }
        Ok((plan, kept, settled))
    }
}

/// Returns an answer as it would stand in a plan; none for a secret, which stands in none.
fn plain(answer: &AnswerValue) -> Option<Value> {
    match answer {
        AnswerValue::Text(text) => Some(Value::from(text.trim())),
        AnswerValue::Flag(flag) => Some(Value::from(*flag)),
        AnswerValue::Number(number) => Some(Value::from(number.clone())),
        AnswerValue::Sealed(_) => None,
    }
}
