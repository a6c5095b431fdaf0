//! What a session asks now: its plan, its rules and its gaps, and what the desk has to say so that the questions in the
//! ledger are exactly those that the rules ask. The desk works this out before it records an answer, whoever verifies
//! after it read one; both by the same function.

use std::collections::{BTreeMap, BTreeSet};

use demur_clarify::gap as clarify;
use demur_core::limit::Text;
use demur_engine::command::Saying;
use demur_ledger::{
    content::ActContent,
    event_type::{Content, Facts},
    facts::{AnswerKind, Assurance, GapWithdrawn},
    name::Sequence,
    role::Role,
};
use demur_rules::{Finding, Judgement, Plan, Rules, Settled, judge::Why};

use crate::{
    Error,
    consent::{self, Consent},
    error::limit,
    gap,
    session::Gap,
};

/// A session as the rules see it.
pub(crate) struct View<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) plan: Plan,
    pub(crate) settled: Settled,
    pub(crate) gaps: Vec<(Gap, Standing)>,
    pub(crate) consents: Vec<Consent>,
}

/// The open gaps of a session, and how many it has had in all.
#[derive(Clone, Debug)]
pub(crate) struct OpenGaps {
    pub(crate) open: Vec<clarify::Gap>,
    pub(crate) total: usize,
}

/// What became of a gap, as far as it matters for what is asked next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Waits for an answer.
    Open,
    /// Was answered, and the answer does not settle it.
    Unresolved,
    /// Is over.
    Settled,
}

/// What became of an answer, as far as the rules tell.
#[derive(Clone, Debug)]
pub enum Judged {
    /// It settles the gap.
    Resolved,
    /// It does not, and the gap is put again.
    Escalated(Why),
    /// It is the word of the program that submitted the plan: kept as a suggestion, while the gap stays open.
    Suggested,
}

impl Judged {
    /// Returns why an answer did not settle its gap; none where it did.
    pub fn unsettled(&self) -> Option<String> {
        match self {
            Self::Resolved => None,
            Self::Escalated(why) => Some(why.to_string()),
            Self::Suggested => Some(SUGGESTED.to_owned()),
        }
    }
}

/// What becomes of an answer that is the submitter's own.
const SUGGESTED: &str = "whoever submitted a plan does not settle its gaps: the answer is kept as a suggestion, and a person decides";

impl<'a> View<'a> {
    /// Returns a plan about which nothing was asked yet.
    pub(crate) fn new(plan: &Plan, rules: &'a Rules) -> Self {
        Self {
            rules,
            plan: plan.clone(),
            settled: Settled::default(),
            gaps: Vec::new(),
            consents: Vec::new(),
        }
    }

    /// Takes an answer to a gap, of this kind and assurance; returns what the rules say about it.
    pub(crate) fn answer(
        &mut self,
        index: usize,
        finding: &Finding,
        answer: &str,
        (kind, assurance): (AnswerKind, Assurance),
    ) -> Result<Judged, Error> {
        let said = (answer, gap::surety(assurance));
        let (standing, judged) = match self.rules.judge_as(&self.plan, &self.settled, finding, said)? {
            Judgement::Settles { plan, .. } => {
                self.plan = plan;
                self.settled.answer(&finding.field, said.1);
                self.consents.extend(Consent::answering(index, &self.gaps[index].0, kind));
                (Standing::Settled, Judged::Resolved)
            }
            Judgement::Escalates { why, .. } => (Standing::Unresolved, Judged::Escalated(why)),
        };
        self.gaps[index].1 = standing;
        self.lapse()?;
        Ok(judged)
    }

    /// Takes out what somebody let pass where its values have changed: those gaps are asked again if the rules find them.
    pub(crate) fn lapse(&mut self) -> Result<(), Error> {
        let values = (&mut self.plan, &mut self.settled);
        for place in consent::lapse(self.rules, values, &mut self.consents, &|| Ok(()))? {
            self.gaps[place].1 = Standing::Unresolved;
        }
        Ok(())
    }

    /// Takes the acceptance of a warning.
    pub(crate) fn accept(&mut self, index: usize, finding: Option<&Finding>) {
        if let Some(finding) = finding {
            // The engine lets only warnings be accepted.
            let _ = self.settled.accept(finding);
            self.consents.extend(Consent::accepting(index, &self.gaps[index].0));
        }
        self.gaps[index].1 = Standing::Settled;
    }

    /// Returns the gaps that are open once this is said, and how many there were in all.
    pub(crate) fn open_after(&self, sayings: &[Saying]) -> Result<OpenGaps, Error> {
        let mut total = self.gaps.len();
        let mut open = BTreeMap::new();
        for (gap, _) in self.gaps.iter().filter(|(_, standing)| *standing == Standing::Open) {
            open.insert(gap.id.clone(), (gap.question.sequence, gap.to_clarify()?));
        }
        for saying in sayings {
            match (&saying.facts, &saying.content) {
                (Facts::GapWithdrawn(facts), _) => open.retain(|_, (at, _)| *at != facts.question),
                (Facts::GapFound(facts), Some(Content::GapFound(content))) => {
                    let found = gap::of_saying(&facts.0, content)?;
                    total += usize::from(facts.0.repeats.is_none());
                    open.insert(found.id().clone(), (Sequence::FIRST, found));
                }
                _ => {}
            }
        }
        Ok(OpenGaps { open: open.into_values().map(|(_, gap)| gap).collect(), total })
    }

    /// Returns what the desk has to say: gaps that the rules no longer find are withdrawn, those they ask otherwise now or
    /// whose answer did not settle them are put again, and new ones are asked.
    pub(crate) fn due(&self) -> Result<Vec<Saying>, Error> {
        let findings = self.rules.detect(&self.plan, &self.settled)?;
        let (rules, mut sayings) = (self.rules, Vec::new());
        let found: BTreeMap<_, _> = findings.iter().map(|finding| (finding.place(), finding)).collect();
        let known: BTreeSet<_> = self.gaps.iter().filter_map(|(gap, _)| gap.place()).collect();
        for (gap, standing) in &self.gaps {
            let finding = gap.place().and_then(|place| found.get(&place).copied());
            sayings.extend(due_about((gap, *standing), finding, (rules, &self.plan))?);
        }
        let new = findings.iter().filter(|finding| !known.contains(&finding.place()));
        for (finding, number) in new.zip(self.gaps.len() + 1..) {
            sayings.push(gap::found(finding, &gap::name(number)?, None, rules, &self.plan)?);
        }
        Ok(sayings)
    }
}

/// Returns what the desk has to say about one gap, given what the rules find at its place.
pub(crate) fn due_about(
    (gap, standing): (&Gap, Standing),
    finding: Option<&Finding>,
    (rules, plan): (&Rules, &Plan),
) -> Result<Option<Saying>, Error> {
    let Some(finding) = finding else {
        return if standing == Standing::Open { withdrawn(gap).map(Some) } else { Ok(None) };
    };
    let again = gap::found(finding, &gap.id, Some(gap.question.sequence), rules, plan)?;
    // A gap that was settled and is found again is asked again under its name.
    Ok((standing != Standing::Open || !gap.asks_the_same(&again)).then_some(again))
}

fn withdrawn(gap: &Gap) -> Result<Saying, Error> {
    let reason = Text::try_from("the rules no longer find it").map_err(limit("reason"))?;
    Ok(Saying {
        role: Role::Desk,
        facts: Facts::from(GapWithdrawn { question: gap.question.sequence }),
        content: Some(Content::GapWithdrawn(ActContent { by: None, reason })),
    })
}
