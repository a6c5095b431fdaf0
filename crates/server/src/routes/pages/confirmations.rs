//! Operations that wait for a yes or a no, as pages: the list, one of them whole, and what its two buttons do.

use axum::{extract::State, response::Response};
use demur_api::{
    call::ApiRequest,
    confirmation::{
        ConfirmationId, ConfirmationListParameters, ConfirmationView, GiveConfirmation, RefuseConfirmation,
    },
    operation as op,
};
use demur_core::{hash::Digest, limit::Text};
use demur_desk::access::Caller;
use demur_ledger::confirmation::ConfirmationStanding;
use demur_web::{
    confirmation::{ConfirmationCard, ConfirmationsPage},
    frame::{Frame, Here},
};
use hyper::{Method, StatusCode};

use super::{ANSWERING, Form, LOOKING, Visiting, page, see_other};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/confirmations", LOOKING), list)
        .with(Route::page(Method::GET, "/confirmations/{confirmation}", LOOKING), show)
        .with(Route::page(Method::POST, "/confirmations/{confirmation}/{act}", ANSWERING), act)
}

async fn list(State(service): State<Shared>, visiting: Visiting) -> Result<Response, Problem> {
    let query = ConfirmationListParameters { newest: Some(true), ..ConfirmationListParameters::default() };
    let request = ApiRequest::<op::ListConfirmations>::get(op::NoArguments {}, query);
    let listed = service.desk.call(&visiting.caller, request).await?.document;
    shown(&visiting.frame(Here::Confirmations), &listed.confirmations, false)
}

/// Returns how many operations wait for people, up to a page of them.
pub(super) async fn waiting(service: &Shared, caller: &Caller) -> Result<usize, Problem> {
    let state = Some(ConfirmationStanding::Open.as_str().to_owned());
    let query = ConfirmationListParameters { state, ..ConfirmationListParameters::default() };
    let request = ApiRequest::<op::ListConfirmations>::get(op::NoArguments {}, query);
    let listed = service.desk.call(caller, request).await?.document;
    Ok(listed.confirmations.iter().filter(|one| one.people).count())
}

async fn show(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(id): Named<ConfirmationId>,
) -> Result<Response, Problem> {
    let request = ApiRequest::<op::ShowConfirmation>::get(of(id), op::Nothing {});
    let one = service.desk.call(&visiting.caller, request).await?.document;
    shown(&visiting.signing_frame(&service, Here::Confirmations).await?, &[one], true)
}

/// Says yes or no to exactly what the page showed, whose digest its form carries.
async fn act(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((id, act)): Named<(ConfirmationId, String)>,
    form: Form,
) -> Result<Response, Problem> {
    form.check_key()?;
    let digest = form.one("digest").and_then(|text| text.parse::<Digest>().ok());
    let digest =
        digest.ok_or_else(|| Problem::malformed("expected the digest of the operation shown, found none"))?;
    match act.as_str() {
        "give" => {
            let body = GiveConfirmation { digest, note: None, by: None };
            let request = ApiRequest::<op::GiveConfirmation>::send(of(id), body);
            service.desk.call(&visiting.caller, request).await?;
        }
        "refuse" => {
            let note = form.one("note");
            let note = note.as_deref().map(str::trim).filter(|note| !note.is_empty());
            let note = note.map(Text::try_from).transpose();
            let note = note.map_err(|error| Problem::malformed(format!("the note: {error}")))?;
            let body = RefuseConfirmation { digest, note, by: None, instead: None };
            let request = ApiRequest::<op::RefuseConfirmation>::send(of(id), body);
            service.desk.call(&visiting.caller, request).await?;
        }
        _ => return Err(Problem::malformed("expected give or refuse, found another word")),
    }
    Ok(see_other(&format!("/confirmations/{id}")))
}

fn shown(frame: &Frame, found: &[ConfirmationView], whole: bool) -> Result<Response, Problem> {
    let cards = found.iter().map(|one| ConfirmationCard::new(one, frame.words)).collect();
    page(StatusCode::OK, &ConfirmationsPage { frame, cards, whole })
}

const fn of(confirmation: ConfirmationId) -> op::OfConfirmation {
    op::OfConfirmation { confirmation }
}
