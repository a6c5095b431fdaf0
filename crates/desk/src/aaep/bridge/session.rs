//! The session of a question: it begins, its windows open and are renewed, it ends as the ledger says.

use std::collections::BTreeMap;

use demur_aaep::{
    envelope::LocalizationHints,
    event::AgentEvent,
    form::ReplyToken,
    form::SessionId,
    language::LanguageTag,
    payload::Payload,
    prompt::{Prompt, PromptInput},
    resolved::{PromptResolved, RESOLVED_TYPE, ResolvedOutcome},
    sequence::SessionSequence,
};
use demur_api::{
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_core::{limit::Text, time::Timestamp};
use demur_sequencer::Changes;
use demur_store::contract::{RecordKey, Swap, Version};

use super::{ToldQuestion, words};
use crate::{
    aaep::{
        audience::Audience,
        kept::{KeptPrompt, KeptSession, PromptSource, prompt_key, question_key, session_key},
        posted::own_event_post,
        resolve,
    },
    desk::Desk,
    owner::Owner,
    question::{self, answering_keys},
    records,
};

impl Desk {
    /// Begins the session of a question: with a prompt, or with where to answer.
    pub(super) fn begin_question(
        &self,
        owner: &Owner,
        key: &RecordKey,
        shown: &QuestionView,
    ) -> Result<(), Refusal> {
        let now = self.now()?;
        if shown.deadline.is_some_and(|deadline| deadline <= now) {
            // Whoever records that it has passed is about to.
            return Ok(());
        }
        let audience = Audience::Question {
            asker: shown.asker.principal,
            people: shown.people,
            keys: answering_keys(owner, shown.id)?,
        };
        let mut session = KeptSession {
            audience,
            sequence: SessionSequence::new(SessionId::random(&mut owner.system())),
            language: None,
            last: now,
            prompts: BTreeMap::new(),
        };
        let mut changes = Changes::default();
        for payload in [words::started(shown)?, words::awaits()?] {
            self.tell(owner, &mut session, payload, None, &mut changes)?;
        }
        let token = self.open_window(owner, &mut session, shown, &mut changes)?;
        if token.is_none() {
            let address = self.pages().map(|pages| format!("{pages}/questions/{}", shown.id));
            let announced = words::announced(shown, address.as_deref())?;
            self.tell(owner, &mut session, announced, spoken(shown), &mut changes)?;
        }
        let told = ToldQuestion { question: shown.id, session: session.sequence.session().clone(), token };
        changes.swaps.push(records::creation(key.clone(), records::value(&told, None)?));
        changes.swaps.push(self.session_swap(&session, Version::ABSENT)?);
        self.keep_events(owner, changes)
    }

    /// Opens a window in which a question can be answered, if a reply can be an answer. Returns its token.
    fn open_window(
        &self,
        owner: &Owner,
        session: &mut KeptSession,
        shown: &QuestionView,
        changes: &mut Changes,
    ) -> Result<Option<ReplyToken>, Refusal> {
        let token = ReplyToken::random(&mut owner.system());
        let Some(asks) = words::asks(shown, &token, self.now()?)? else { return Ok(None) };
        let event = self.tell(owner, session, asks, spoken(shown), changes)?;
        let prompt = Prompt::open(&event).ok_or_else(|| Refusal::bug(&"a prompt that asks nothing"))?;
        let (audience, source) = (session.audience.clone(), PromptSource::Question(shown.id));
        changes.swaps.push(KeptPrompt { prompt, audience, source }.swap(Version::ABSENT)?);
        Ok(Some(token))
    }

    /// Looks at the window of a question whose time has come: it reminds, or it is over, and the question is asked again in a new
    /// one, whose token is another.
    pub(in crate::aaep) fn renew_window(
        &self,
        owner: &Owner,
        id: QuestionId,
        token: &ReplyToken,
    ) -> Result<(), Refusal> {
        self.tell_question(owner, id)?;
        records::retry(|| {
            let store = owner.sequencer().store();
            let Some((was, mut kept)) = resolve::find(store, token)? else { return Ok(()) };
            let (shown, now) = (question::view(owner, id)?, self.now()?);
            let found = records::find::<KeptSession>(store, &session_key(kept.prompt.session())?)?;
            let (Some((session_was, mut session)), Some((told_was, mut told))) =
                (found, records::find::<ToldQuestion>(store, &question_key(id)?)?)
            else {
                let swaps = vec![records::removal(prompt_key(token)?, was)];
                return self.keep_events(owner, Changes { swaps, ..Changes::default() });
            };
            let mut changes = Changes::default();
            if kept.prompt.deadline() > now {
                let step = kept.prompt.handle(PromptInput::Tick, now);
                if let Some(remaining_ms) = step.remaining_ms {
                    changes.posts.push(self.reminder(owner, &mut session, remaining_ms)?);
                }
                changes.swaps.push(kept.swap(was)?);
            } else if shown.deadline.is_some_and(|deadline| deadline <= now) {
                // Its deadline is recorded in a moment, and told then.
                let next = Some(records::value(&kept, Some(now.plus_millis(RECORDED_WITHIN_MS)))?);
                changes.swaps.push(Swap { key: prompt_key(token)?, was, next });
            } else {
                changes.swaps.push(records::removal(prompt_key(token)?, was));
                session.sequence.resolved(token, false);
                let ended = ended(&kept, ResolvedOutcome::Cancelled, now, None);
                self.tell_resolved(owner, &mut session, &ended, words::still_waits()?, &mut changes)?;
                told.token = self.open_window(owner, &mut session, &shown, &mut changes)?;
                let next = Some(records::value(&told, None)?);
                changes.swaps.push(Swap { key: question_key(id)?, was: told_was, next });
            }
            changes.swaps.push(self.session_swap(&session, session_was)?);
            self.keep_events(owner, changes)
        })
    }

    /// Ends the session of a question as the ledger says that it ended.
    pub(super) fn end_question(
        &self,
        owner: &Owner,
        (key, was): (&RecordKey, Version),
        told: &ToldQuestion,
        shown: &QuestionView,
    ) -> Result<(), Refusal> {
        let store = owner.sequencer().store();
        let mut changes = Changes { swaps: vec![records::removal(key.clone(), was)], ..Changes::default() };
        let found = records::find::<KeptSession>(store, &session_key(&told.session)?)?;
        let Some((session_was, mut session)) = found.filter(|(_, session)| !session.sequence.has_ended())
        else {
            return self.keep_events(owner, changes);
        };
        let moves_on = words::moves_on(shown)?;
        let prompt = told.token.as_ref().map(|token| resolve::find(store, token)).transpose()?.flatten();
        if let Some((prompt_was, kept)) = prompt {
            changes.swaps.push(records::removal(prompt_key(kept.prompt.token())?, prompt_was));
            session.sequence.resolved(kept.prompt.token(), false);
            let (outcome, at, by) = words::outcome(shown);
            let ended = ended(&kept, outcome, at.unwrap_or(self.now()?), by);
            self.tell_resolved(owner, &mut session, &ended, moves_on, &mut changes)?;
        } else {
            self.tell(owner, &mut session, moves_on, None, &mut changes)?;
        }
        for payload in words::ends(shown, self.pages().as_deref())? {
            self.tell(owner, &mut session, payload, None, &mut changes)?;
        }
        changes.swaps.push(self.session_swap(&session, session_was)?);
        self.keep_events(owner, changes)
    }

    /// Tells how a prompt ended: by name, and in the state that follows.
    fn tell_resolved(
        &self,
        owner: &Owner,
        session: &mut KeptSession,
        resolved: &PromptResolved,
        state: Payload,
        changes: &mut Changes,
    ) -> Result<(), Refusal> {
        let expires = self.events_expire(self.now()?);
        let named = words::named(
            RESOLVED_TYPE.parse().map_err(|error| Refusal::bug(&error))?,
            "A prompt was resolved.",
        );
        for payload in [named, state] {
            let event = resolved
                .told_in(self.own_event(owner, session, payload)?)
                .map_err(|error| Refusal::bug(&error))?;
            session.sequence.apply(&event);
            changes.posts.push(own_event_post(&session.audience, &event, expires)?);
        }
        Ok(())
    }

    /// Adds an event to a session of ours; its words are in this language where they are the asker's.
    fn tell(
        &self,
        owner: &Owner,
        session: &mut KeptSession,
        payload: Payload,
        language: Option<LanguageTag>,
        changes: &mut Changes,
    ) -> Result<AgentEvent, Refusal> {
        let mut event = self.own_event(owner, session, payload)?;
        if let Some(language) = language {
            event.envelope.localization_hints = Some(LocalizationHints::of(language));
        }
        session.sequence.apply(&event);
        changes.posts.push(own_event_post(&session.audience, &event, self.events_expire(self.now()?))?);
        Ok(event)
    }
}

/// Returns the language of the asker's words.
fn spoken(shown: &QuestionView) -> Option<LanguageTag> {
    shown.language.as_deref()?.parse().ok()
}

/// Returns how a prompt ended, as everybody is told.
fn ended(
    kept: &KeptPrompt,
    outcome: ResolvedOutcome,
    at: Timestamp,
    resolved_by: Option<Text<1, 256>>,
) -> PromptResolved {
    PromptResolved {
        reply_token: kept.prompt.token().clone(),
        event_id: kept.prompt.event().clone(),
        outcome,
        resolved_at: at.into(),
        resolved_by,
    }
}

/// How soon after its deadline a question ends in the ledger, about.
const RECORDED_WITHIN_MS: u64 = 500;
