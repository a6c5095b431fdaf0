//! Checking a store in memory: its events and what lies beside them. What is derived from them cannot go astray here.

use demur_ledger::name::Position;

use super::state::State;
use crate::{
    contract::{StoreError, StoreProblem, StoreProgress, StoreStep},
    examine::{self, ErasureCheck, Found, Place},
};

impl State {
    pub(super) fn check(
        &self,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Vec<StoreProblem>, StoreError> {
        let (mut problems, mut done) = (Vec::new(), 0);
        let total = self.length();
        progress(StoreProgress { step: StoreStep::Events, done, total });
        for (trace, events) in self.all_events() {
            let (mut previous, mut erasures): (Option<Position>, _) = (None, ErasureCheck::default());
            for (position, stored) in events {
                let mut wrong = Vec::new();
                let (bytes, content) = (&stored.bytes, &stored.content);
                let place = Place { trace, position, time: None, bytes, previous, content };
                let sequence = position.sequence;
                match place.event(&mut wrong) {
                    Found::Known(event) => {
                        let read = |address: &_| Ok(self.artifact(address));
                        examine::artifact(&event, &stored.artifact, read, &mut wrong)?;
                    }
                    Found::Newer(newer) => {
                        problems.extend(newer.map(|newer| StoreProblem::Newer { trace, sequence, newer }));
                    }
                    Found::Nothing => {}
                }
                erasures.take(bytes, content, &stored.artifact);
                let problem = |what| StoreProblem::Event { trace, sequence, what };
                problems.extend(wrong.into_iter().map(problem));
                previous = Some(position);
                done += 1;
            }
            let problem = |(sequence, what)| StoreProblem::Event { trace, sequence, what };
            problems.extend(erasures.finish().into_iter().map(problem));
        }
        progress(StoreProgress { step: StoreStep::Events, done, total });
        Ok(problems)
    }
}
