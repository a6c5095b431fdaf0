//! An answer to a gap is replaced or taken back by whoever gave it: the rules are asked again without it, and what follows is
//! said in the same commit (CLR-04). After the plan is confirmed the engine refuses both.

use demur_clarify::gap::AnswerText;
use demur_core::limit::Text;
use demur_engine::command::Consequences;
use demur_ledger::{
    content::ActContent,
    event_type::Content,
    facts::{AnswerRevoked, AnswerSuperseded, Assurance},
    name::Sequence,
    question::Outcome,
};

use crate::{
    Error, Session,
    act::{Act, Judged, Voice, answering},
    error::limit,
    gap,
    session::Gap,
};

impl Session {
    /// Returns another answer to a gap in the place of one that counts, and what the rules say about it. Whether it counts, the
    /// engine decides.
    pub fn replace(
        &self,
        gap: &Gap,
        replaces: Sequence,
        answer: &str,
        (assurance, voice): (Assurance, Voice),
    ) -> Result<(Act, Judged), Error> {
        // What the protocol's record cannot hold must not be taken for an answer.
        AnswerText::try_from(answer).map_err(limit("answer"))?;
        let (judged, worded, sayings, papers) = if self.counts(gap, replaces) {
            self.check_stricter(gap, assurance)?;
            let mut view = self.view_without(gap, replaces)?;
            let found = view.rules.detect(&view.plan, &view.settled)?;
            match found.into_iter().find(|finding| gap.is_of(finding)) {
                Some(finding) => {
                    let worded = gap::worded(&finding, answer)?;
                    let said = (worded.kind, assurance);
                    let judged = view.answer(self.place(gap)?, &finding, answer, said)?;
                    let due = view.due()?;
                    // As the event has it: what was typed may be longer, or another word for yes.
                    let text = worded.value.to_string();
                    let round = gap.round_of(&text, (matches!(judged, Judged::Resolved), assurance))?;
                    let papers = self.papers(view.open_after(&due)?)?.with_round(round);
                    (judged, worded, due, Some(Box::new(papers)))
                }
                None => return Err(Error::OutOfDate { gap: gap.id.to_string() }),
            }
        } else {
            // The engine says what became of the question, and which answer counts.
            (Judged::Resolved, gap::plain(answer)?, Vec::new(), None)
        };
        let (answer, content) = answering(gap, worded, assurance, voice);
        let act = Act {
            facts: AnswerSuperseded { answer, replaces }.into(),
            content: Content::AnswerSuperseded(content),
            consequences: Consequences { after: self.head(), signing: None, sayings },
            papers,
        };
        Ok((act, judged))
    }

    /// Returns the revocation of an answer to a gap. Whether it counts, the engine decides.
    pub fn revoke(
        &self,
        gap: &Gap,
        answer: Sequence,
        (assurance, by): (Assurance, Option<Text<1, 256>>),
        reason: Text<1, 4096>,
    ) -> Result<Act, Error> {
        let (sayings, papers) = if self.counts(gap, answer) {
            let mut view = self.view_without(gap, answer)?;
            view.lapse()?;
            let due = view.due()?;
            // The round of the answer stays as it was signed; this one says that it no longer holds.
            let round =
                gap.round_of(&format!("the answer of event {answer} is taken back"), (false, assurance))?;
            let papers = self.papers(view.open_after(&due)?)?.with_round(round);
            (due, Some(Box::new(papers)))
        } else {
            (Vec::new(), None)
        };
        Ok(Act {
            facts: AnswerRevoked { attribution: None, answer, question: gap.question.sequence }.into(),
            content: Content::AnswerRevoked(ActContent { by, reason }),
            consequences: Consequences { after: self.head(), signing: None, sayings },
            papers,
        })
    }

    /// Returns the answer to a gap that counts.
    pub fn answer_to(&self, gap: &Gap) -> Option<Sequence> {
        match self.outcome(gap) {
            Some(Outcome::Answered(given)) => Some(given.at),
            _ => None,
        }
    }

    fn counts(&self, gap: &Gap, answer: Sequence) -> bool {
        self.answer_to(gap) == Some(answer)
    }
}
