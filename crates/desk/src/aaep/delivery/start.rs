//! Where a connection begins. One that names an event goes on after it. The first one of a subscription begins where that did. Any
//! other, and one that names an event that is gone, begins now. Whoever does not go on after an event is told first what is going on:
//! the state of each session, and every open prompt, under the ids that it had (8.7).

use std::sync::Arc;

use demur_aaep::{
    capability::Capabilities, event::AgentEvent, form::EventId, payload::StateChanged, resolved,
    subscription::SubscriptionInput,
};
use demur_api::refusal::Refusal;
use demur_core::limit::Text;
use demur_sequencer::Changes;

use super::{EventFrame, unknown};
use crate::{
    aaep::{
        audience::Viewpoint,
        kept::{KeptPrompt, KeptSession, KeptSubscription, PROMPTS, SESSIONS},
        posted::{self, LogContent, LogEntry},
        publish::named,
        receive::subscription_swap,
    },
    desk::Desk,
    owner::Owner,
    records::{self, listed},
};
use demur_store::contract::{RecordKey, Store};

/// Where a connection begins, and what is sent first.
pub(super) struct Start {
    pub(super) terms: Capabilities,
    /// It goes on after this place.
    pub(super) place: u64,
    /// The event at that place.
    pub(super) after: Option<EventId>,
    pub(super) frames: Vec<EventFrame>,
}

impl Desk {
    /// Returns where a connection of a subscription begins, and notes that somebody follows.
    pub(super) fn start(
        &self,
        owner: &Owner,
        from: &Viewpoint,
        key: &RecordKey,
        last: Option<&str>,
    ) -> Result<Start, Refusal> {
        let store = owner.sequencer().store();
        let (kept, is_first) = self.followed(owner, key)?;
        let terms = kept.subscription.terms().clone();
        let known = last.and_then(|last| last.parse::<EventId>().ok());
        if let Some(id) = known
            && let Some(post) = named(store, &posted::events()?, &id)?
        {
            return Ok(Start { terms, place: post.position.number(), after: Some(id), frames: Vec::new() });
        }
        let place = if is_first { kept.begun } else { store.newest_post(&posted::events()?)?.number() };
        let mut frames = self.summaries(owner, from, &terms)?;
        frames.extend(open_prompts(store, from, place)?);
        Ok(Start { terms, place, after: None, frames })
    }

    /// Notes that somebody follows a subscription. Returns it, and whether it is the first time.
    fn followed(&self, owner: &Owner, key: &RecordKey) -> Result<(KeptSubscription, bool), Refusal> {
        let (store, offer) = (owner.sequencer().store(), self.aaep_offer()?);
        records::retry(|| {
            let found = records::find::<KeptSubscription>(store, key)?;
            let Some((was, mut kept)) = found else { return Err(unknown()) };
            kept.subscription.handle(SubscriptionInput::Seen, &offer, self.now()?);
            if !kept.subscription.is_active() {
                return Err(unknown());
            }
            let is_first = !kept.was_followed;
            kept.was_followed = true;
            let swaps = vec![subscription_swap(key, was, &kept)?];
            self.keep_events(owner, Changes { swaps, ..Changes::default() })?;
            Ok((kept, is_first))
        })
    }

    /// Returns what each session does that is followed. Where the rate is limited there are none: they would use it up.
    fn summaries(
        &self,
        owner: &Owner,
        from: &Viewpoint,
        terms: &Capabilities,
    ) -> Result<Vec<EventFrame>, Refusal> {
        if terms.max_events_per_second.is_some() {
            return Ok(Vec::new());
        }
        let known = [resolved::known().map_err(|error| Refusal::bug(&error))?];
        let mut frames = Vec::new();
        for record in owner.sequencer().store().records(SESSIONS, None, MAX_SUMMARIES)? {
            let Some(mut session) = listed::<KeptSession>(&record) else { continue };
            if session.sequence.has_ended() || !from.sees(&session.audience) {
                continue;
            }
            let event = self.summary(owner, &mut session)?;
            if terms.wants(&event, &known) {
                let text = event.to_json().map_err(|error| Refusal::bug(&error))?;
                frames.push(EventFrame { id: None, text: text.into() });
            }
        }
        Ok(frames)
    }

    fn summary(&self, owner: &Owner, session: &mut KeptSession) -> Result<AgentEvent, Refusal> {
        let state = Text::cut(session.sequence.state()).map_err(|error| Refusal::bug(&error))?;
        let words = format!("The agent's state is {}.", state.as_str().replace('_', " "));
        let mut stands = StateChanged::new(state.clone(), state);
        stands.summary_terse = Text::cut(&words).ok();
        stands.summary_normal = Text::cut(&words).ok();
        self.own_event(owner, session, stands.into())
    }
}

/// Returns every prompt that was open before this place, as it was told.
fn open_prompts(store: &dyn Store, from: &Viewpoint, place: u64) -> Result<Vec<EventFrame>, Refusal> {
    let (mut found, stream) = (Vec::new(), posted::events()?);
    for record in records::all(store, PROMPTS)? {
        let Some(kept) = listed::<KeptPrompt>(&record) else { continue };
        if !from.sees(&kept.audience) {
            continue;
        }
        let post = named(store, &stream, kept.prompt.event())?;
        let Some(post) = post.filter(|post| post.position.number() <= place) else { continue };
        if let LogContent::Event { text, .. } = LogEntry::read(&post).content {
            found.push((post.position, EventFrame { id: None, text: Arc::clone(&text) }));
        }
    }
    found.sort_unstable_by_key(|(position, _)| *position);
    Ok(found.into_iter().map(|(_, frame)| frame).collect())
}

/// How many sessions are looked at.
const MAX_SUMMARIES: usize = 1024;
