//! What a passkey signs that a page offers: the fields of a form become acts by the code that sends them without a passkey, and the
//! script of the page gets what is to be signed.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    call::ApiRequest,
    operation as op,
    passkey::{PrepareTouch, TouchAct},
};
use demur_core::limit::Text;
use hyper::{Method, StatusCode};

use super::{Form, LOOKING, Visiting, limit, people, review};
use crate::{
    api::{Api, Route},
    problem::Problem,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    // Whether somebody may do what is signed, the desk says of each act.
    api.with(Route::page(Method::POST, "/touch", LOOKING), prepare)
}

/// Prepares what the button of a form has signed.
async fn prepare(State(service): State<Shared>, visiting: Visiting, form: Form) -> Result<Response, Problem> {
    form.check_key()?;
    let acts = match form.one("touch").as_deref() {
        Some("question") => vec![review::signed(&service, &visiting, &form).await?],
        Some("several") => review::several_signed(&service, &visiting, &form).await?,
        Some(word) => vec![alone(word, &form)?],
        None => return Err(unknown()),
    };
    let acts = acts.try_into().map_err(|error| Problem::malformed(format!("the acts: {error}")))?;
    let request = ApiRequest::<op::PrepareTouch>::send(op::NoArguments {}, PrepareTouch { acts });
    let prepared = service.desk.call(&visiting.caller, request).await?.document;
    Ok((StatusCode::CREATED, Json(prepared)).into_response())
}

/// Returns what is signed with a touch of its own.
fn alone(word: &str, form: &Form) -> Result<TouchAct, Problem> {
    let name = || {
        let name = form.one("name").unwrap_or_default();
        Text::<1, 64>::try_from(name.trim()).map_err(|error| limit("name", &error))
    };
    let role = || people::role(form.one("role").as_deref());
    Ok(match word {
        "give" => TouchAct::Give {
            confirmation: parsed(form, "confirmation")?,
            digest: parsed(form, "digest")?,
            note: note(form)?,
        },
        "refuse" => TouchAct::Refuse {
            confirmation: parsed(form, "confirmation")?,
            digest: parsed(form, "digest")?,
            note: note(form)?,
        },
        "abort-run" => {
            let reason = form.one("reason").unwrap_or_default();
            let reason = Text::try_from(reason.trim()).map_err(|error| limit("reason", &error))?;
            TouchAct::AbortRun { trace: parsed(form, "trace")?, reason }
        }
        "add-passkey" => TouchAct::AddPasskey { key: parsed(form, "key")? },
        "remove-passkey" => TouchAct::RemovePasskey { key: parsed(form, "key")? },
        "add-person" => TouchAct::AddPerson { name: name()?, role: role()? },
        "change-person" => TouchAct::ChangePerson { name: name()?, role: role()? },
        "remove-person" => TouchAct::RemovePerson { name: name()? },
        _ => return Err(unknown()),
    })
}

fn parsed<T: std::str::FromStr>(form: &Form, field: &str) -> Result<T, Problem> {
    let found = form.one(field).and_then(|text| text.parse().ok());
    found
        .ok_or_else(|| Problem::malformed(format!("{field}: expected what the page has, found another word")))
}

fn note(form: &Form) -> Result<Option<Text<1, 4096>>, Problem> {
    let note = form.one("note").unwrap_or_default();
    let note = Some(note.trim()).filter(|note| !note.is_empty());
    note.map(Text::try_from).transpose().map_err(|error| limit("note", &error))
}

fn unknown() -> Problem {
    Problem::malformed("expected what a passkey can sign, found another word")
}
