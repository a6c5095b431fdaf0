//! People and tokens, looked after from a browser: for operators of a server with a public address, and elsewhere for what a passkey
//! signs. What a page makes it shows once, in the reply to the form: no address carries a secret.

use axum::{
    extract::{Path, State},
    response::Response,
};
use demur_api::{
    call::ApiRequest,
    operation::{self as op, Operation as _},
    person::{NewLink, NewPerson, PersonRole},
    scope::Scope,
    token::NewToken,
};
use demur_core::limit::{List, Text};
use demur_desk::access::Caller;
use demur_web::{
    frame::Here,
    people::{Administration, MadeOnce, PeoplePage, PeopleSigning},
    words::{ENGLISH, fill},
};
use hyper::{Method, StatusCode};

use super::{Form, Visiting, limit, listed, page, see_other, sessions};
use crate::{
    api::{Api, Route},
    problem::Problem,
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    // What is signed here, the desk lets operators do everywhere.
    api.with(Route::page(Method::GET, "/people", OPERATING), show)
        .with(Route::page(Method::POST, "/people/{change}", op::AddPerson::ABOUT.scopes), change)
}

async fn show(State(service): State<Shared>, visiting: Visiting) -> Result<Response, Problem> {
    people(&service, &visiting, None).await
}

async fn people(service: &Shared, visiting: &Visiting, made: Option<MadeOnce>) -> Result<Response, Problem> {
    let caller = &visiting.caller;
    let looks = caller.clone();
    let people = service.work(move |desk| desk.people_for(&looks)).await?;
    let frame = visiting.signing_frame(service, Here::People).await?;
    let visitor = frame.visitor.as_ref().ok_or_else(demur_desk::access::stranger)?;
    let signing = PeopleSigning::of(&listed::<op::ListPasskeys>(service, caller).await?);
    let administers = visitor.administers || caller.is_local();
    let administration = if administers { Some(administration(service, caller, made).await?) } else { None };
    page(StatusCode::OK, &PeoplePage { frame: &frame, visitor, people, signing, administration })
}

async fn administration(
    service: &Shared,
    caller: &Caller,
    made: Option<MadeOnce>,
) -> Result<Administration, Problem> {
    let mut tokens = listed::<op::ListTokens>(service, caller).await?.tokens;
    tokens.retain(|token| !token.scopes.contains(&Scope::Person));
    Ok(Administration { made, sessions: sessions::rows(service, caller).await?, tokens })
}

async fn change(
    State(service): State<Shared>,
    visiting: Visiting,
    Path(change): Path<String>,
    form: Form,
) -> Result<Response, Problem> {
    form.check_key()?;
    let caller = &visiting.caller;
    let text = form.one("name").unwrap_or_default();
    let name = || Text::<1, 64>::try_from(text.trim()).map_err(|error| limit("name", &error));
    match change.as_str() {
        "add" => {
            let role = role(form.one("role").as_deref())?;
            let request =
                ApiRequest::<op::AddPerson>::send(op::NoArguments {}, NewPerson { name: name()?, role });
            service.desk.call(caller, request).await?;
        }
        "remove" => {
            let path = op::OfPerson { person: text };
            service.desk.call(caller, ApiRequest::<op::RemovePerson>::get(path, op::Nothing {})).await?;
        }
        "code" => {
            let new = NewLink { person: Some(name()?), file: false };
            let request = ApiRequest::<op::MakeSignInLink>::send(op::NoArguments {}, new);
            let link = service.desk.call(caller, request).await?.document;
            let about = fill(ENGLISH.people_code_made, &[&text]);
            let made = MadeOnce { about, place: Some(link.url), secret: link.code };
            return people(&service, &visiting, Some(made)).await;
        }
        "token" => {
            let scopes: Result<Vec<Scope>, _> = form.all("scope").map(str::parse).collect();
            let scopes = scopes.map_err(|error| Problem::malformed(format!("the scopes: {error}")))?;
            let scopes = scopes.try_into().map_err(|error| limit("scopes", &error))?;
            let for_anyone = form.one("for_anyone").is_some();
            let new = NewToken { name: name()?, scopes, people: named(&form)?, for_anyone, seconds: None };
            let request = ApiRequest::<op::MakeToken>::send(op::NoArguments {}, new);
            let token = service.desk.call(caller, request).await?.document;
            let about = fill(ENGLISH.tokens_made, &[&text]);
            let made = MadeOnce { about, place: None, secret: token.secret };
            return people(&service, &visiting, Some(made)).await;
        }
        "revoke" => {
            let path = op::OfToken { token: form.one("token").unwrap_or_default() };
            service.desk.call(caller, ApiRequest::<op::RevokeToken>::get(path, op::Nothing {})).await?;
        }
        _ => {
            return Err(Problem::malformed(
                "expected add, remove, code, token or revoke, found another word",
            ));
        }
    }
    Ok(see_other("/people"))
}

/// Returns the people of a token: their names are in one field, with commas between them.
fn named(form: &Form) -> Result<List<Text<1, 64>, 0, 256>, Problem> {
    let field = form.one("people").unwrap_or_default();
    let names = field.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Result<Vec<_>, _> = names.map(Text::try_from).collect();
    names.map_err(|error| limit("people", &error))?.try_into().map_err(|error| limit("people", &error))
}

pub(super) fn role(word: Option<&str>) -> Result<PersonRole, Problem> {
    let roles = [PersonRole::Operator, PersonRole::Answerer, PersonRole::Auditor];
    roles
        .into_iter()
        .find(|role| Some(role.as_str()) == word)
        .ok_or_else(|| Problem::malformed("expected operator, answerer or auditor, found another word"))
}

/// Who adds and removes operators with a passkey.
const OPERATING: &[Scope] = &[Scope::Operate];
