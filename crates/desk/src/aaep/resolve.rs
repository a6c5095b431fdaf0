//! A prompt ends. Everybody is told who answered, when and how; the producer hears the answer itself.

use demur_aaep::{
    event::AgentEvent,
    form::{EventId, ReplyToken},
    payload::{ExtensionPayload, Payload, ProgressUpdated, StateChanged, WorkProgress},
    prompt::{Prompt, PromptCancellation, PromptInput, PromptOutcome, PromptResolution},
    resolved::{PromptResolved, RESOLVED_TYPE},
    word::ReplyDecision,
};
use demur_api::refusal::Refusal;
use demur_core::{limit::Text, time::Timestamp};
use demur_sequencer::Changes;
use demur_store::contract::{Post, Store, Version};

use super::{
    kept::{KeptPrompt, KeptSession, PromptSource, prompt_key, session_key},
    offer::language,
    outcomes::PromptNotice,
    posted::own_event_post,
};
use crate::{desk::Desk, owner::Owner, records};

/// A prompt as it is kept.
pub(super) type FoundPrompt = (Version, KeptPrompt);

/// Returns an open prompt by our token.
pub(super) fn find(store: &dyn Store, token: &ReplyToken) -> Result<Option<FoundPrompt>, Refusal> {
    records::find(store, &prompt_key(token)?)
}

impl Desk {
    /// Adds what follows from the end of a prompt: it is no record any more, and everybody is told. The session stands before
    /// whatever ended it.
    pub(super) fn add_resolution(
        &self,
        owner: &Owner,
        (was, kept): &FoundPrompt,
        resolution: &PromptResolution,
        session: &mut KeptSession,
        changes: &mut Changes,
    ) -> Result<(), Refusal> {
        let (now, is_allowed) = (self.now()?, is_allowed(&resolution.outcome));
        changes.swaps.push(records::removal(prompt_key(kept.prompt.token())?, *was));
        let expires = self.events_expire(now);
        if let PromptSource::Producer { token, event } = &kept.source {
            session.sequence.resolved(token, is_allowed);
            session.prompts.remove(token);
            let notice = PromptNotice::of(token, event, &kept.prompt, resolution);
            changes.posts.push(notice.post(kept.prompt.session(), expires)?);
        }
        let told = PromptResolved::of(&kept.prompt, resolution);
        let state = Text::cut(session.sequence.state()).map_err(|error| Refusal::bug(&error))?;
        let said = words(&resolution.outcome);
        // The session stays in its state: what its producer says next follows from that. It passes every default filter.
        let mut stands = StateChanged::new(state.clone(), state);
        stands.summary_terse = Text::try_from(said).ok();
        stands.summary_normal = Text::try_from(said).ok();
        let named = Payload::Extension(ExtensionPayload {
            name: RESOLVED_TYPE.parse().map_err(|error| Refusal::bug(&error))?,
            summary_terse: Text::try_from(said).ok(),
            summary_normal: Text::try_from(said).ok(),
            summary_detailed: None,
        });
        for payload in [named, stands.into()] {
            let event = told
                .told_in(self.own_event(owner, session, payload)?)
                .map_err(|error| Refusal::bug(&error))?;
            changes.posts.push(own_event_post(&session.audience, &event, expires)?);
        }
        Ok(())
    }

    /// Returns the post that says how long a prompt still waits (6.4).
    pub(super) fn reminder(
        &self,
        owner: &Owner,
        session: &mut KeptSession,
        remaining_ms: u64,
    ) -> Result<Post, Refusal> {
        let words = format!("{} seconds are left to answer.", remaining_ms.div_ceil(1000));
        let description = Text::cut(&words).ok();
        let mut progress = ProgressUpdated::new(WorkProgress { description, ..WorkProgress::default() });
        progress.summary_normal = Text::cut(&words).ok();
        let event = self.own_event(owner, session, progress.into())?;
        own_event_post(&session.audience, &event, self.events_expire(self.now()?))
    }

    /// Returns an event of ours in the session of a producer. It has the number of the event before it, where events have numbers:
    /// the next one belongs to the producer.
    pub(super) fn own_event(
        &self,
        owner: &Owner,
        session: &mut KeptSession,
        payload: Payload,
    ) -> Result<AgentEvent, Refusal> {
        session.last = session.last.max(self.now()?);
        let ids = (EventId::random(&mut owner.system()), session.sequence.session().clone());
        let event = AgentEvent::new(ids, session.last.into(), self.producer()?, language()?, payload);
        let number = session.sequence.next_number().and_then(|next| next.checked_sub(1));
        Ok(match number.map(TryInto::try_into).transpose() {
            Ok(Some(number)) => event.numbered(number),
            Ok(None) | Err(_) => event,
        })
    }

    /// Hands a prompt an input that is no reply, and does what follows. Where somebody else was faster, nothing is left to do.
    pub(super) fn move_prompt(
        &self,
        owner: &Owner,
        token: &ReplyToken,
        input: PromptInput<'_>,
    ) -> Result<(), Refusal> {
        let store = owner.sequencer().store();
        records::retry(|| {
            let Some((was, mut kept)) = find(store, token)? else { return Ok(()) };
            let step = kept.prompt.handle(input, self.now()?);
            if !step.is_changed {
                return Ok(());
            }
            let key = session_key(kept.prompt.session())?;
            let Some((session_was, mut session)) = records::find::<KeptSession>(store, &key)? else {
                // Its session is forgotten, and so is it.
                let gone = vec![records::removal(prompt_key(token)?, was)];
                return self.keep_events(owner, Changes { swaps: gone, ..Changes::default() });
            };
            let mut changes = Changes::default();
            if let Some(resolution) = &step.resolution {
                self.add_resolution(owner, &(was, kept), resolution, &mut session, &mut changes)?;
            } else {
                changes.swaps.push(kept.swap(was)?);
                if let Some(remaining_ms) = step.remaining_ms {
                    changes.posts.push(self.reminder(owner, &mut session, remaining_ms)?);
                }
            }
            changes.swaps.push(self.session_swap(&session, session_was)?);
            self.keep_events(owner, changes)
        })
    }

    /// Keeps changes of the hub and wakes whoever follows. A record that somebody else changed meanwhile is refused by its code.
    pub(super) fn keep_events(&self, owner: &Owner, changes: Changes) -> Result<(), Refusal> {
        owner.sequencer().change(changes)?;
        self.events().posted();
        Ok(())
    }

    /// Returns until when what is told now is kept.
    pub(super) fn events_expire(&self, now: Timestamp) -> Timestamp {
        now.plus_millis(u64::from(self.limits().aaep.retention_hours) * HOUR_MS)
    }
}

/// Returns the resolution of a prompt that its session ends.
pub(super) fn cancelled(
    prompt: &mut Prompt,
    reason: PromptCancellation,
    now: Timestamp,
) -> Option<PromptResolution> {
    prompt.handle(PromptInput::Cancel(reason), now).resolution
}

fn is_allowed(outcome: &PromptOutcome) -> bool {
    match outcome {
        PromptOutcome::Decided { decision, .. } | PromptOutcome::DecisionDefaulted { decision } => {
            *decision == ReplyDecision::Accept
        }
        PromptOutcome::Answered { .. }
        | PromptOutcome::AnswerDefaulted(_)
        | PromptOutcome::Expired
        | PromptOutcome::Cancelled(_) => false,
    }
}

/// Returns what is said about an outcome. The answer itself is for whoever asked.
const fn words(outcome: &PromptOutcome) -> &'static str {
    match outcome {
        PromptOutcome::Answered { .. } => "The question was answered.",
        PromptOutcome::Decided { decision: ReplyDecision::Accept, .. } => "The action was accepted.",
        PromptOutcome::Decided { decision: ReplyDecision::Reject, .. } => "The action was rejected.",
        PromptOutcome::AnswerDefaulted(_) => "Nobody answered in time; the default holds.",
        PromptOutcome::DecisionDefaulted { .. } => "Nobody decided in time; the default holds.",
        PromptOutcome::Expired => "Nobody answered in time.",
        PromptOutcome::Cancelled(_) => "Nobody has to answer any more.",
    }
}

pub(super) const HOUR_MS: u64 = 3_600_000;
