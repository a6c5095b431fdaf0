//! The operations of questions: asked, listed, looked at, waited for; a secret answer fetched (ONE-01, CLR-03, CLR-04).

mod acts;
mod passing;
mod repeats;

use std::time::Duration;

use demur_api::{
    call::{ApiReply, ApiRequest, IdempotencyKey},
    operation as op,
    question::{AskedView, QuestionListParameters, QuestionView},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_ledger::{event_type::TraceKind, name::TraceId, question::OutcomeKind};
use demur_store::contract::QuestionFilter;

pub(super) use self::{acts::note_answer, passing::people_apart};

use super::{
    Asked, ask_once, asked_before, asking, asking_once, forget_secret, list_in_turns, list_of, list_seen,
    recorded_under, secret, view,
};
use crate::{
    access::{Admitted, Sight, asker_of, check_trace, may_read, player_in, seen_question},
    desk::Desk,
    entry::{Awaited, Begun, Handle, Handled},
    keyed::Keyed,
    lookup::Lookup,
    owner::Owner,
};

impl Handle<op::Ask> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::Ask>) -> Handled<op::Ask> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let ApiRequest { query, body: ask, key, .. } = request;
        let name = asker_name(query.asker.as_deref())?;
        let key = key.as_ref().map(IdempotencyKey::as_str);
        let once = repeats::repeating(query.once, query.again, key.is_some())?;
        // A refusal may be recorded in the trace: a caller who takes no part in it leaves no mark.
        ask.trace.map_or(Ok(()), |trace| check_trace(owner, caller, trace))?;
        let author = match ask.trace {
            Some(trace) if is_run(owner, trace)? => player_in(owner, caller, trace, name.as_deref())?,
            _ => caller.asker(owner, name.as_deref())?,
        };
        let asked = match &once {
            None => super::ask(owner, &author, &ask, key)?,
            Some(once) => ask_once(owner, &author, &ask, once.under(key))?,
        };
        Ok(asked_reply(view(owner, asked.id)?, asked, once.is_some()))
    }

    fn begin(at: &Lookup, by: &Admitted, request: &ApiRequest<op::Ask>) -> Result<Begun<AskedView>, Refusal> {
        let ApiRequest { query, body: ask, key, .. } = request;
        // For a question in a new trace only its author has to be known; everything else has to be read.
        if ask.trace.is_some() || query.again.is_some() {
            return Ok(Begun::NotHere);
        }
        let name = asker_name(query.asker.as_deref())?;
        let Some(author) = by.caller().known_asker(at, name.as_deref())? else { return Ok(Begun::NotHere) };
        if let Some(once) = repeats::repeating(query.once.clone(), None, key.is_some())? {
            let recording = asking_once(at, &author, ask, once.into_session())?.then(
                |at, asked| Some(asked_reply(at.question(asked.id)?, *asked, true)),
                |owner, asked| Ok(asked_reply(view(owner, asked.id)?, asked, true)),
            );
            return Ok(Begun::recording(recording));
        }
        let keyed = key.as_ref().map(|key| Keyed::new(&author, key.as_str(), ask)).transpose()?;
        let recording = asking(at, &author, ask, None, keyed)?.then(
            |at, asked| Some(asked_reply(at.question(asked.id)?, *asked, false)),
            |owner, asked| Ok(asked_reply(view(owner, asked.id)?, asked, false)),
        );
        Ok(Begun::recording(recording))
    }

    const ASKS: bool = true;

    /// A request that is sent again under its key, or in its words, gets what there is.
    fn repeated(
        &self,
        by: &Admitted,
        request: &ApiRequest<op::Ask>,
    ) -> Result<Option<ApiReply<AskedView>>, Refusal> {
        let (owner, query) = (&*self.owner()?, &request.query);
        let name = asker_name(query.asker.as_deref())?;
        let Ok(author) = by.caller().asker(owner, name.as_deref()) else { return Ok(None) };
        let key = request.key.as_ref().map(IdempotencyKey::as_str);
        let once = repeats::repeating(query.once.clone(), query.again, key.is_some())?;
        let found = match &once {
            Some(once) => asked_before(owner, &author, &request.body, once.under(key))?,
            None => match key {
                Some(key) => recorded_under(owner, &author, &Keyed::new(&author, key, &request.body)?)?,
                None => None,
            },
        };
        found.map(|asked| Ok(asked_reply(view(owner, asked.id)?, asked, once.is_some()))).transpose()
    }

    fn patience(request: &ApiRequest<op::Ask>) -> Result<Option<Duration>, Refusal> {
        let patience = patience(request.query.wait.unwrap_or(0))?;
        Ok(Some(patience).filter(|patience| !patience.is_zero()))
    }

    fn awaited(reply: &mut AskedView) -> Option<Awaited<'_>> {
        Some(Awaited::Question(&mut reply.question))
    }
}

/// A request that is sent again under its key gets the same bytes; only a client that may repeat itself is told whether it did.
fn asked_reply(question: QuestionView, asked: Asked, is_told: bool) -> ApiReply<AskedView> {
    let document = AskedView { question, repeated: is_told.then_some(asked.repeated) };
    ApiReply { document, repeated: asked.repeated }
}

pub(crate) fn asker_name(name: Option<&str>) -> Result<Option<Text<1, 64>>, Refusal> {
    name.map(Text::try_from).transpose().map_err(|error| Refusal::malformed(format!("as: {error}")))
}

pub(crate) fn is_run(owner: &Owner, trace: TraceId) -> Result<bool, Refusal> {
    let found = owner.sequencer().store().trace(trace)?;
    Ok(found.is_some_and(|summary| summary.kind == TraceKind::Run))
}

impl Handle<op::ListQuestions> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ListQuestions>) -> Handled<op::ListQuestions> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let QuestionListParameters { state, trace, severity, people, newest, mine, turns, after, limit } =
            request.query;
        let limit = limit.unwrap_or(50);
        if !(1..=200).contains(&limit) {
            return Err(Refusal::malformed(format!("limit: expected 1 to 200, found {limit}")));
        }
        // A participant of a trace sees every question in it, also those of the rules.
        let takes_part = trace.map_or(Ok(false), |trace| may_read(owner, caller, trace))?;
        let filter = QuestionFilter {
            outcomes: state.as_deref().map(states).transpose()?,
            trace,
            asker: None,
            with_gaps: false,
            severity,
            people,
            newest_first: newest.unwrap_or(false),
        };
        let mut page = if mine == Some(true) {
            list_of(owner, &caller.askers(owner)?, &filter, after.as_deref(), limit)?
        } else {
            let sight = if takes_part { Sight::All } else { Sight::of(caller, owner.sequencer().registry()) };
            let is_open = filter.outcomes.as_deref() == Some(&[OutcomeKind::Open]);
            if turns == Some(true) && is_open && !filter.newest_first && sight.is_all() {
                list_in_turns(owner, &filter, after.as_deref(), limit)?
            } else {
                list_seen(owner, &sight, &filter, after.as_deref(), limit)?
            }
        };
        page.questions.iter_mut().for_each(|shown| self.waiters().tell(shown));
        Ok(ApiReply::new(page))
    }
}

fn states(words: &str) -> Result<Vec<OutcomeKind>, Refusal> {
    let state = |word: &str| {
        OutcomeKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
            let known: Vec<_> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
            Refusal::malformed(format!("state: expected {}, found another word", known.join(", ")))
        })
    };
    words.split(',').map(state).collect()
}

impl Handle<op::ShowQuestion> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowQuestion>) -> Handled<op::ShowQuestion> {
        let mut shown = seen_question(&*self.owner()?, by.caller(), request.path.question)?;
        self.waiters().tell(&mut shown);
        Ok(ApiReply::new(shown))
    }
}

impl Handle<op::WaitForQuestion> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::WaitForQuestion>,
    ) -> Handled<op::WaitForQuestion> {
        seen_question(&*self.owner()?, by.caller(), request.path.question).map(ApiReply::new)
    }

    fn begin(
        at: &Lookup,
        by: &Admitted,
        request: &ApiRequest<op::WaitForQuestion>,
    ) -> Result<Begun<QuestionView>, Refusal> {
        let shown = at.seen_question(by.caller(), request.path.question);
        Ok(shown.map_or(Begun::NotHere, |shown| Begun::Done(ApiReply::new(shown))))
    }

    fn patience(request: &ApiRequest<op::WaitForQuestion>) -> Result<Option<Duration>, Refusal> {
        patience(request.query.seconds.unwrap_or(30)).map(Some)
    }

    fn awaited(reply: &mut QuestionView) -> Option<Awaited<'_>> {
        Some(Awaited::Question(reply))
    }
}

pub(crate) fn patience(seconds: u64) -> Result<Duration, Refusal> {
    if seconds <= 300 {
        return Ok(Duration::from_secs(seconds));
    }
    Err(Refusal::malformed(format!("expected at most 300 seconds, found {seconds}")))
}

impl Handle<op::ReadSecret> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ReadSecret>) -> Handled<op::ReadSecret> {
        let (owner, id) = (&*self.owner()?, request.path.question);
        asker_of(owner, by.caller(), id, None)?;
        secret(owner, id).map(ApiReply::new)
    }
}

impl Handle<op::ForgetSecret> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ForgetSecret>) -> Handled<op::ForgetSecret> {
        let (owner, id) = (&*self.owner()?, request.path.question);
        asker_of(owner, by.caller(), id, None)?;
        forget_secret(owner, id)?;
        Ok(ApiReply::new(op::Nothing {}))
    }
}
