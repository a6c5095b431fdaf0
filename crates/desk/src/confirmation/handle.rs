//! The operations of confirmations: asked for, listed, looked at, waited for, given, refused; what was confirmed started and ended.

use std::{sync::Arc, time::Duration};

use demur_api::{
    call::{ApiReply, ApiRequest, IdempotencyKey},
    confirmation::{ConfirmationId, ConfirmationListParameters, ConfirmationView},
    operation as op,
    refusal::Refusal,
};
use demur_ledger::{author::Author, confirmation::ConfirmationStanding};
use demur_store::contract::ConfirmationFilter;

use super::{act, ask, give, list, refuse, seen, view};
use crate::{
    access::{Admitted, Caller, Sight, check_trace, may_read, player_in},
    desk::Desk,
    entry::{Awaited, Handle, Handled},
    owner::Owner,
    question::{asker_name, is_run, patience},
};

impl Handle<op::AskConfirmation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::AskConfirmation>,
    ) -> Handled<op::AskConfirmation> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let ApiRequest { query, body, key, .. } = request;
        let name = asker_name(query.asker.as_deref())?;
        // A refusal may be recorded in the trace: a caller who takes no part in it leaves no mark.
        body.trace.map_or(Ok(()), |trace| check_trace(owner, caller, trace))?;
        let author = match body.trace {
            Some(trace) if is_run(owner, trace)? => player_in(owner, caller, trace, name.as_deref())?,
            _ => caller.asker(owner, name.as_deref())?,
        };
        let key = key.as_ref().map(IdempotencyKey::as_str);
        let (id, repeated) = ask::ask(owner, &author, &body, key)?;
        Ok(ApiReply { document: view(owner, id)?, repeated })
    }

    const ASKS: bool = true;

    fn patience(request: &ApiRequest<op::AskConfirmation>) -> Result<Option<Duration>, Refusal> {
        let patience = patience(request.query.wait.unwrap_or(0))?;
        Ok(Some(patience).filter(|patience| !patience.is_zero()))
    }

    fn awaited(reply: &mut ConfirmationView) -> Option<Awaited<'_>> {
        Some(Awaited::Confirmation(reply))
    }
}

impl Handle<op::ListConfirmations> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ListConfirmations>,
    ) -> Handled<op::ListConfirmations> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let ConfirmationListParameters { state, trace, newest, after, limit } = request.query;
        let limit = limit.unwrap_or(50);
        if !(1..=200).contains(&limit) {
            return Err(Refusal::malformed(format!("limit: expected 1 to 200, found {limit}")));
        }
        let takes_part = trace.map_or(Ok(false), |trace| may_read(owner, caller, trace))?;
        let sight = if takes_part { Sight::All } else { Sight::of(caller, owner.sequencer().registry()) };
        let filter = ConfirmationFilter {
            outcomes: state.as_deref().map(states).transpose()?,
            trace,
            asker: None,
            people: None,
            newest_first: newest.unwrap_or(false),
        };
        list(owner, &sight, &filter, after.as_deref(), limit).map(ApiReply::new)
    }
}

fn states(words: &str) -> Result<Vec<ConfirmationStanding>, Refusal> {
    let state = |word: &str| {
        ConfirmationStanding::from_word(word).ok_or_else(|| {
            let known = ConfirmationStanding::ALL.map(ConfirmationStanding::as_str);
            Refusal::malformed(format!("state: expected {}, found another word", known.join(", ")))
        })
    };
    words.split(',').map(state).collect()
}

impl Handle<op::ShowConfirmation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ShowConfirmation>,
    ) -> Handled<op::ShowConfirmation> {
        seen(&*self.owner()?, by.caller(), request.path.confirmation).map(ApiReply::new)
    }
}

impl Handle<op::WaitForConfirmation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::WaitForConfirmation>,
    ) -> Handled<op::WaitForConfirmation> {
        seen(&*self.owner()?, by.caller(), request.path.confirmation).map(ApiReply::new)
    }

    fn patience(request: &ApiRequest<op::WaitForConfirmation>) -> Result<Option<Duration>, Refusal> {
        patience(request.query.seconds.unwrap_or(30)).map(Some)
    }

    fn awaited(reply: &mut ConfirmationView) -> Option<Awaited<'_>> {
        Some(Awaited::Confirmation(reply))
    }
}

impl Handle<op::GiveConfirmation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::GiveConfirmation>,
    ) -> Handled<op::GiveConfirmation> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let asked = seen(owner, caller, request.path.confirmation)?;
        act::check_other(owner, caller, &asked)?;
        let speaker = caller.answerer(owner, request.body.by.clone())?;
        give(owner, &asked, &speaker, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::RefuseConfirmation> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::RefuseConfirmation>,
    ) -> Handled<op::RefuseConfirmation> {
        let (owner, caller) = (&*self.owner()?, by.caller());
        let asked = seen(owner, caller, request.path.confirmation)?;
        act::check_other(owner, caller, &asked)?;
        let speaker = caller.answerer(owner, request.body.by.clone())?;
        refuse(owner, &asked, &speaker, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::StartOperation> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::StartOperation>) -> Handled<op::StartOperation> {
        let owner = &*self.owner()?;
        let (asked, author) = asker(owner, by.caller(), request.path.confirmation)?;
        act::start(owner, &asked, author, request.body).map(ApiReply::new)
    }
}

impl Handle<op::EndOperation> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::EndOperation>) -> Handled<op::EndOperation> {
        let owner = &*self.owner()?;
        let (asked, author) = asker(owner, by.caller(), request.path.confirmation)?;
        act::end(owner, &asked, author, &request.body).map(ApiReply::new)
    }
}

/// Returns a confirmation and whoever asked for it, if this caller speaks for that one.
fn asker(
    owner: &Owner,
    caller: &Caller,
    id: ConfirmationId,
) -> Result<(ConfirmationView, Arc<Author>), Refusal> {
    let asked = seen(owner, caller, id)?;
    let principal = asked.asker.principal;
    let speaks = match caller {
        Caller::Local { client: None, .. } => true,
        Caller::Local { client: Some(_), .. } | Caller::Token(_) => {
            caller.askers(owner)?.contains(&principal)
        }
        Caller::Stranger => false,
    };
    if speaks {
        return Ok((asked, owner.author_of(principal)?));
    }
    let message = "expected whoever asked for the confirmation, found another caller";
    Err(Refusal::new(demur_api::code::Code::Forbidden, message))
}
