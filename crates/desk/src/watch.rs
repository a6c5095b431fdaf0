//! Watching: a caller hears what is recorded, as it is recorded. Whether it may is asked again for each change, and a watch
//! ends with the credential it was begun with.

use std::{collections::VecDeque, sync::Arc};

use demur_api::{
    code::Code, confirmation::ConfirmationId, feed::Notice, question::QuestionId, refusal::Refusal,
    scope::Scope, server_limits::MAX_VIEWERS,
};
use demur_ledger::{confirmation::touched_confirmation, question::touched};
pub use demur_store::contract::Cursor;
use tokio::{sync::watch, time};

use crate::{
    access::{self, Admitted, Caller, WaitShare},
    desk::Desk,
    follower::{self, BEAT_INTERVAL, QuestionChange},
    owner::Owner,
};

/// What somebody wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// What becomes of questions, from now on; whoever comes back soon enough misses nothing.
    Questions,
    /// Every event, from any place on.
    Events,
}

/// What somebody hears.
#[derive(Clone, Debug)]
pub enum News {
    /// It begins after this place.
    Begins(Cursor),
    /// It goes on after this place, and nothing was missed.
    Resumes(Cursor),
    /// Something was missed, so look again; it goes on after this place.
    Missed(Cursor),
    /// Something happened to questions.
    Questions(Vec<Arc<QuestionChange>>),
    /// Something was recorded at this place.
    Event(Cursor, Notice),
    /// Nothing happened for a while.
    Quiet,
}

/// A caller who watches.
pub struct Watch {
    desk: Arc<Desk>,
    by: Admitted,
    way: Way,
    others: usize,
    /// One of the places that its caller has for what waits.
    _share: WaitShare,
}

enum Way {
    Questions(Viewer),
    Events(Reader),
}

/// Hears what one task reads for everybody.
struct Viewer {
    state: watch::Receiver<follower::State>,
    /// The place up to which everything was told.
    place: Option<Cursor>,
    has_begun: bool,
}

/// Reads events at its own pace: nothing is kept in memory for the slow.
struct Reader {
    commits: watch::Receiver<u64>,
    place: Option<Cursor>,
    has_begun: bool,
    ready: VecDeque<(Cursor, Option<Notice>)>,
}

impl Desk {
    /// Begins a watch after a place, or from now on.
    pub fn watch(
        self: &Arc<Self>,
        caller: &Caller,
        interest: Interest,
        after: Option<Cursor>,
    ) -> Result<Watch, Refusal> {
        let by = access::admit(caller, WATCHING)?;
        let (others, share) = (self.follower().viewers(), self.quotas().wait(caller)?);
        let way = match interest {
            Interest::Questions if others >= MAX_VIEWERS as usize => return Err(full()),
            Interest::Questions => {
                let state = self.follower().subscribe();
                Way::Questions(Viewer { state, place: after, has_begun: false })
            }
            Interest::Events => {
                let (commits, ready) = (self.waiters().commits(), VecDeque::new());
                Way::Events(Reader { commits, place: after, has_begun: false, ready })
            }
        };
        Ok(Watch { desk: Arc::clone(self), by, way, others, _share: share })
    }
}

impl Watch {
    /// Returns how many watched questions already when this began.
    pub const fn others(&self) -> usize {
        self.others
    }

    /// Waits for what is to be told next. A refusal is the end, and says why.
    pub async fn next(&mut self) -> Result<News, Refusal> {
        match &mut self.way {
            Way::Questions(viewer) => viewer.next(&self.desk, &self.by).await,
            // Elsewhere: what reads the store takes more room than a thousand open pages should.
            Way::Events(reader) => Box::pin(reader.next(&self.desk, &self.by)).await,
        }
    }
}

impl Viewer {
    async fn next(&mut self, desk: &Arc<Desk>, by: &Admitted) -> Result<News, Refusal> {
        loop {
            let state = *self.state.borrow_and_update();
            if state.over {
                return Err(ends());
            }
            desk.expect_good(by.caller()).await?;
            if let Some(newest) = state.newest {
                if !self.has_begun {
                    self.has_begun = true;
                    return Ok(self.begin(desk, newest));
                }
                if let Some(news) = self.news(desk, newest) {
                    return Ok(news);
                }
            }
            self.state.changed().await.map_err(|_| ends())?;
            let now = *self.state.borrow();
            if now.beats != state.beats && !now.over {
                desk.expect_good(by.caller()).await?;
                return Ok(News::Quiet);
            }
        }
    }

    /// Whoever comes back and missed nothing goes on; everybody else is told where they begin, and looks again.
    fn begin(&mut self, desk: &Desk, newest: Cursor) -> News {
        let known = self.place.filter(|place| *place <= newest && desk.follower().since(*place).is_some());
        let place = known.unwrap_or(newest);
        match (known, self.place.replace(place)) {
            (Some(_), _) => News::Resumes(place),
            (None, Some(_)) => News::Missed(place),
            (None, None) => News::Begins(place),
        }
    }

    fn news(&mut self, desk: &Desk, newest: Cursor) -> Option<News> {
        let Some(changes) = desk.follower().since(self.place.unwrap_or(newest)) else {
            self.place = Some(newest);
            return Some(News::Missed(newest));
        };
        self.place = Some(changes.last()?.at);
        Some(News::Questions(changes))
    }
}

impl Reader {
    async fn next(&mut self, desk: &Arc<Desk>, by: &Admitted) -> Result<News, Refusal> {
        let mut ended = desk.tokens().ended();
        loop {
            desk.expect_good(by.caller()).await?;
            let after = match self.place {
                Some(place) => place,
                None => desk.work(|_, owner| Ok(owner.sequencer().store().end()?)).await?,
            };
            self.place = Some(after);
            if !self.has_begun {
                self.has_begun = true;
                return Ok(News::Begins(after));
            }
            while let Some((place, notice)) = self.ready.pop_front() {
                self.place = Some(place);
                if let Some(notice) = notice {
                    return Ok(News::Event(place, notice));
                }
            }
            if self.read(desk).await? {
                continue;
            }
            tokio::select! {
                changed = self.commits.changed() => changed.map_err(|_| ends())?,
                _ = ended.changed() => {}
                () = desk.stopping() => return Err(ends()),
                () = time::sleep(BEAT_INTERVAL) => return Ok(News::Quiet),
            }
        }
    }

    /// Reads on, and returns whether there was anything.
    async fn read(&mut self, desk: &Arc<Desk>) -> Result<bool, Refusal> {
        // Seen before the look: whatever is recorded after it wakes us again.
        self.commits.mark_unchanged();
        let after = self.place.unwrap_or_default();
        self.ready = desk.work(move |_, owner| notices(owner, after)).await?;
        Ok(!self.ready.is_empty())
    }
}

/// Returns what is told of every event after a place; nothing of one that a newer version wrote.
fn notices(owner: &Owner, after: Cursor) -> Result<VecDeque<(Cursor, Option<Notice>)>, Refusal> {
    let mut notices = VecDeque::new();
    for (place, stored) in owner.sequencer().store().changes(after, EVENTS_PER_READ)? {
        let notice = follower::event(&stored).map(|event| {
            let (trace, sequence) = (event.envelope().trace, event.position().sequence);
            let (time, actor) = (event.envelope().time, event.envelope().actor);
            let kind = event.said().map(|said| said.kind.to_string()).unwrap_or_default();
            let questions = touched(&event).map(|sequence| QuestionId { trace, sequence }).collect();
            let confirmations = touched_confirmation(&event);
            let confirmations = confirmations.map(|at| ConfirmationId::new(trace, at)).into_iter().collect();
            Notice { trace, sequence, kind, time, actor, questions, confirmations }
        });
        notices.push_back((place, notice));
    }
    Ok(notices)
}

fn full() -> Refusal {
    let message = "expected fewer open pages that are kept up to date, found as many as there can be";
    Refusal::new(Code::Overloaded, message).with_cure("the page works; load it again to see news")
}

fn ends() -> Refusal {
    Refusal::new(Code::Stopping, "the server is about to end").with_cure("watch again")
}

/// Who may watch: whoever may read everything.
const WATCHING: &[Scope] = &[Scope::Read];
/// How many events one watch reads at once.
const EVENTS_PER_READ: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_watches_takes_little_memory() {
        fn size<'a, F: Future>(_: fn(&'a mut Watch) -> F) -> usize {
            size_of::<F>()
        }
        // Its caller, whom it watches for, is most of it.
        assert!(size_of::<Watch>() <= 208, "{}", size_of::<Watch>());
        assert!(size(Watch::next) <= 320, "{}", size(Watch::next));
    }
}
