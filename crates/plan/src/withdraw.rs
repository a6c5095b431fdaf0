//! A gap or a whole plan is withdrawn, and a gap is put again (CLR-34). A gap that nobody is asked about any more is not settled:
//! what waits for it goes on waiting until it is put again and answered.

use demur_core::limit::Text;
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::ActContent,
    event_type::{Content, Facts},
    facts::{ConfirmationExpired, GapWithdrawn, PlanWithdrawn, QuestionDeclined, QuestionEscalated},
    question::Outcome,
    role::Role,
};

use crate::{Error, Gap, Session, act::Act, error::limit};

impl Session {
    /// Returns the withdrawal of the plan, with which everything that was asked about it ends.
    pub fn withdraw(&self, by: Option<Text<1, 256>>, reason: Text<1, 4096>) -> Result<Act, Error> {
        let papers = self.papers(self.view()?.open_after(&[])?)?.without_document();
        Ok(Act {
            facts: PlanWithdrawn { attribution: None }.into(),
            content: Content::PlanWithdrawn(ActContent { by, reason }),
            consequences: Consequences { after: self.head(), signing: None, sayings: self.closing()? },
            papers: Some(Box::new(papers)),
        })
    }

    /// Returns what the desk says about everything that is still open in a plan that is withdrawn.
    pub(crate) fn closing(&self) -> Result<Vec<Saying>, Error> {
        let reason = Text::try_from("the plan was withdrawn").map_err(limit("reason"))?;
        let mut sayings = Vec::new();
        for (question, _) in self.work().questions().unsettled() {
            let content = Content::GapWithdrawn(ActContent { by: None, reason: reason.clone() });
            let facts = Facts::from(GapWithdrawn { question });
            sayings.push(Saying { role: Role::Desk, facts, content: Some(content) });
        }
        for (confirmation, _) in self.work().confirmations().open() {
            let facts = Facts::from(ConfirmationExpired { confirmation });
            sayings.push(Saying { role: Role::Desk, facts, content: None });
        }
        Ok(sayings)
    }

    /// Returns that nobody is asked about a gap any more; none where nobody is.
    pub fn withdraw_gap(
        &self,
        gap: &Gap,
        by: Option<Text<1, 256>>,
        reason: Text<1, 4096>,
    ) -> Result<Option<Act>, Error> {
        let facts = QuestionDeclined { attribution: None, question: gap.question.sequence };
        Ok(match self.outcome(gap) {
            Some(Outcome::Declined | Outcome::Expired) => None,
            Some(Outcome::Open) => Some(Act {
                facts: facts.into(),
                content: Content::QuestionDeclined(ActContent { by, reason }),
                consequences: Consequences::default(),
                papers: None,
            }),
            outcome => return Err(settled(gap, outcome)),
        })
    }

    /// Returns that a gap is put again which was declined, withdrawn or not answered in time; none where it is open. The desk says so,
    /// for whoever wants it.
    pub fn put_again(
        &self,
        gap: &Gap,
        by: Option<Text<1, 256>>,
        reason: Text<1, 4096>,
    ) -> Result<Option<Act>, Error> {
        let question = gap.question.sequence;
        let asked = self.work().questions().find(question);
        let asked = asked.ok_or_else(|| Error::OutOfDate { gap: gap.id.to_string() })?;
        let facts = QuestionEscalated {
            answerers: gap.facts.answerers.clone(),
            assurance: asked.facts().assurance,
            deadline: None,
            question,
        };
        Ok(match asked.outcome() {
            Outcome::Open => None,
            Outcome::Declined | Outcome::Expired => Some(Act {
                facts: facts.into(),
                content: Content::QuestionEscalated(ActContent { by, reason }),
                consequences: Consequences::default(),
                papers: None,
            }),
            outcome => return Err(settled(gap, Some(outcome))),
        })
    }
}

fn settled(gap: &Gap, outcome: Option<&Outcome>) -> Error {
    Error::Settled { gap: gap.id.to_string(), outcome: outcome.map_or("gone", Outcome::as_str) }
}
