//! A producer publishes: each event is checked, takes its place in its session, and is told to everybody who follows it.

use demur_aaep::{
    event::{AgentEvent, ReceivedEvent},
    form::{EventId, ReplyToken},
    payload::Payload,
    prompt::Prompt,
    sequence::SequenceFault,
};
use demur_api::{code::Code, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_sequencer::Changes;
use demur_store::contract::{
    KeptPost, PostName, RecordKey, Store, StreamName, StreamPosition, Swap, Version,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    PUBLISHING,
    audience::{Audience, holder},
    broken,
    kept::{KeptPrompt, KeptSession, PromptSource, open_session_key, open_sessions, session_key},
    posted::{self, PostHead, Told, event_post, original_post, parted},
    reader,
    resolve::{HOUR_MS, cancelled},
};
use crate::{
    access::{Caller, exceeded},
    desk::Desk,
    owner::Owner,
    records,
};

/// What a producer hears of its event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Published {
    /// Under which id it is told: its own, or for a prompt one of ours.
    pub event_id: EventId,
    /// Under which token replies to a prompt come in. What becomes of the prompt is told under the producer's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<ReplyToken>,
    /// What is wrong with the order of events; it is told all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it was published before, and nothing happened now.
    #[serde(skip)]
    pub repeated: bool,
}

impl Desk {
    /// Publishes an event of a session. May block.
    pub fn publish_event(&self, caller: &Caller, session: &str, bytes: &[u8]) -> Result<Published, Refusal> {
        let by = self.admit(caller, PUBLISHING)?;
        let now = self.now()?;
        let _room = self.quotas().expect_room(by.caller(), now, || bytes.len() as u64)?;
        let received = reader()?.read(bytes).map_err(|violation| broken(&violation))?;
        check(&received.event, session, now)?;
        let holder = holder(by.caller())?;
        let owner = &*self.owner()?;
        let published = records::retry(|| self.publish(owner, &holder, &received))?;
        if !published.repeated {
            self.quotas().note_recorded(by.caller(), now, bytes.len());
        }
        Ok(published)
    }

    fn publish(
        &self,
        owner: &Owner,
        holder: &str,
        received: &ReceivedEvent<'_>,
    ) -> Result<Published, Refusal> {
        let (store, event, now) = (owner.sequencer().store(), &received.event, self.now()?);
        if let Some(earlier) = earlier(store, holder, received)? {
            return Ok(earlier);
        }
        let (was, mut session) = self.session_of(store, holder, event)?;
        // The prompts that it ends are resolved before it.
        let mut before = session.clone();
        let step = session.sequence.apply(event);
        expect_fit(&step.faults, token_of(&event.payload).is_some())?;
        let mut changes = Changes::default();
        for (token, reason) in step.cancelled {
            let Some(ours) = before.prompts.get(&token).cloned() else { continue };
            let Some((prompt_was, mut kept)) = super::resolve::find(store, &ours)? else { continue };
            if let Some(resolution) = cancelled(&mut kept.prompt, reason, now) {
                self.add_resolution(owner, &(prompt_was, kept), &resolution, &mut before, &mut changes)?;
                session.prompts.remove(&token);
            }
        }
        session.last = before.last.max(event.envelope.timestamp.as_timestamp());
        let (event_id, reply_token) = self.add_event(owner, received, (&mut session, &mut changes))?;
        self.add_session(holder, (&session, was), &mut changes)?;
        self.keep_events(owner, changes)?;
        let notes = step.faults.iter().map(ToString::to_string).collect();
        Ok(Published { event_id, reply_token, notes, repeated: false })
    }

    /// Returns the session of an event, if this one publishes it or may begin it.
    fn session_of(
        &self,
        store: &dyn Store,
        holder: &str,
        event: &AgentEvent,
    ) -> Result<(Version, KeptSession), Refusal> {
        let found = records::find::<KeptSession>(store, &session_key(&event.envelope.session_id)?)?;
        if let Some((was, session)) = found {
            return if session.audience == Audience::Publisher(holder.to_owned()) {
                Ok((was, session))
            } else {
                Err(taken())
            };
        }
        let most = self.limits().aaep.sessions as usize;
        let open = store.records(&open_sessions(holder), None, most)?.len();
        if open >= most {
            let cure = "nothing was changed; end a session, or publish in one that is open";
            return Err(exceeded("sessions", (most as u64, open as u64), "open sessions", cure));
        }
        Ok((Version::ABSENT, KeptSession::new(holder, event)))
    }

    /// Adds the event itself; a prompt with a token and an id of ours.
    fn add_event(
        &self,
        owner: &Owner,
        received: &ReceivedEvent<'_>,
        (session, changes): (&mut KeptSession, &mut Changes),
    ) -> Result<(EventId, Option<ReplyToken>), Refusal> {
        let (event, expires) = (&received.event, self.events_expire(self.now()?));
        let Some(their_token) = token_of(&event.payload) else {
            let id = event.envelope.event_id.clone();
            changes.posts.push(event_post(&session.audience, &id, &on_one_line(received.text), expires)?);
            return Ok((id, None));
        };
        let (id, token) = (EventId::random(&mut owner.system()), ReplyToken::random(&mut owner.system()));
        let text = received.retokened(&id, &token).map_err(|violation| broken(&violation))?;
        let text = on_one_line(&text);
        let ours = reader()?.read(text.as_bytes()).map_err(|violation| broken(&violation))?.event;
        let prompt = Prompt::open(&ours).ok_or_else(|| Refusal::bug(&"a prompt that asks nothing"))?;
        if prompt.deadline() <= self.now()? {
            let message = "expected a prompt that still waits, found one whose time is over";
            return Err(Refusal::new(Code::MessageMalformed, message).about("timeout_seconds"));
        }
        let their_event = event.envelope.event_id.clone();
        let told = Told { event: id.clone(), token: token.clone() };
        changes.posts.push(original_post(&their_event, &told, received.text, expires)?);
        changes.posts.push(event_post(&session.audience, &id, &text, expires)?);
        session.prompts.insert(their_token.clone(), token.clone());
        let source = PromptSource::Producer { token: their_token.clone(), event: their_event };
        let kept = KeptPrompt { prompt, audience: session.audience.clone(), source };
        changes.swaps.push(kept.swap(Version::ABSENT)?);
        Ok((id, Some(token)))
    }

    /// Adds how the session stands after it.
    fn add_session(
        &self,
        holder: &str,
        (session, was): (&KeptSession, Version),
        changes: &mut Changes,
    ) -> Result<(), Refusal> {
        changes.swaps.push(self.session_swap(session, was)?);
        let key = open_session_key(holder, session.sequence.session())?;
        if was == Version::ABSENT {
            changes.swaps.push(records::creation(key, records::value(&(), None)?));
        } else if session.sequence.has_ended() {
            changes.swaps.extend(self.forgetting(&key)?);
        }
        Ok(())
    }

    /// Returns the swap that takes a record away that is there.
    pub(super) fn forgetting(&self, key: &RecordKey) -> Result<Option<Swap>, Refusal> {
        let kept = self.owner()?.sequencer().store().record(key)?;
        Ok(kept.map(|kept| records::removal(kept.key, kept.version)))
    }

    /// Returns the swap that keeps how a session stands.
    pub(super) fn session_swap(&self, session: &KeptSession, was: Version) -> Result<Swap, Refusal> {
        let idle_ms = u64::from(self.limits().aaep.session_idle_hours) * HOUR_MS;
        let next = Some(session.value(self.now()?, idle_ms)?);
        Ok(Swap { key: session_key(session.sequence.session())?, was, next })
    }
}

/// Refuses an event of another session than its path names, and one from the future: its prompt would wait too long.
fn check(event: &AgentEvent, session: &str, now: Timestamp) -> Result<(), Refusal> {
    if event.envelope.session_id.as_str() != session {
        let message = "expected an event of the session in the path, found one of another";
        return Err(Refusal::new(Code::MessageMalformed, message).about("session_id"));
    }
    if event.envelope.timestamp.is_dated_ahead(now) {
        let message = "expected a time that has come, found one that is more than a minute ahead";
        return Err(Refusal::new(Code::MessageMalformed, message)
            .about("timestamp")
            .with_cure("set the clock of the producer"));
    }
    Ok(())
}

/// Refuses an event that means nothing at this place of its session, and a prompt that could not be told from another. Other faults
/// are noted.
fn expect_fit(faults: &[SequenceFault], is_prompt: bool) -> Result<(), Refusal> {
    let unfit = |fault: &&SequenceFault| {
        let is_lost = matches!(fault, SequenceFault::TokenReused | SequenceFault::TooMany);
        fault.is_fatal() || (is_prompt && is_lost)
    };
    faults.iter().find(unfit).map_or(Ok(()), |fault| {
        Err(Refusal::new(Code::SessionConflict, fault)
            .with_cure("nothing was published; begin another session with agent.session.started"))
    })
}

/// Returns what an earlier publication of the same event brought. Another event under the same id is refused: subscribers take an
/// id that they know for the same content.
fn earlier(
    store: &dyn Store,
    holder: &str,
    received: &ReceivedEvent<'_>,
) -> Result<Option<Published>, Refusal> {
    let id = &received.event.envelope.event_id;
    let again =
        |event_id, reply_token| Published { event_id, reply_token, notes: Vec::new(), repeated: true };
    if let Some(post) = named(store, &posted::originals()?, id)? {
        let told = parted(&post.bytes).filter(|(_, text)| *text == received.text);
        let told = told.and_then(|(head, _)| serde_json::from_slice::<Told>(head).ok());
        return told.map(|told| Some(again(told.event, Some(told.token)))).ok_or_else(reused);
    }
    if let Some(post) = named(store, &posted::events()?, id)? {
        let same = parted(&post.bytes).filter(|(head, text)| {
            let head = serde_json::from_slice(head).ok();
            head == Some(PostHead::Event(Audience::Publisher(holder.to_owned())))
                && *text == on_one_line(received.text)
        });
        return same.map(|_| Some(again(id.clone(), None))).ok_or_else(reused);
    }
    Ok(None)
}

/// Returns the post of a stream with the id of an event as its name.
pub(super) fn named(
    store: &dyn Store,
    stream: &StreamName,
    id: &EventId,
) -> Result<Option<KeptPost>, Refusal> {
    let Some(at) = store.named_post(stream, &PostName::new(id.as_str())?)? else { return Ok(None) };
    let before = StreamPosition::new(at.number() - 1);
    // It may be swept in between.
    Ok(store.posts(stream, before, 1)?.pop().filter(|post| post.position == at))
}

fn token_of(payload: &Payload) -> Option<&ReplyToken> {
    match payload {
        Payload::AwaitingClarification(prompt) => Some(&prompt.reply_token),
        Payload::AwaitingConfirmation(prompt) => Some(&prompt.reply_token),
        _ => None,
    }
}

/// Returns a JSON text on one line. Inside of its strings no line can end, so only space between its parts changes.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn taken() -> Refusal {
    Refusal::new(Code::SessionConflict, "expected a new session_id, found that of another publisher")
        .about("session_id")
        .with_cure("nothing was published; use 128 random bits")
}

fn reused() -> Refusal {
    Refusal::new(Code::SessionConflict, "expected a new event_id, found that of another event")
        .about("event_id")
        .with_cure("nothing was published; use 128 random bits")
}
