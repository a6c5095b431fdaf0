//! People, added and removed by the user of this machine only.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    person::{ListedPeople, NewPerson, RemovedPerson, ShownPerson},
    scope::Scope,
};
use hyper::{Method, StatusCode};

use crate::{
    api::{Api, Operation},
    people::{self, Person},
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::POST,
            "/v1/people",
            "addPerson",
            LOCAL,
            "Let somebody sign in with a browser, in a role",
        )
        .takes::<NewPerson>()
        .gives::<ShownPerson>(StatusCode::CREATED, "Who can sign in now"),
        create,
    )
    .with(
        Operation::new(Method::GET, "/v1/people", "listPeople", LOCAL, "List the people who can sign in")
            .gives::<ListedPeople>(StatusCode::OK, "Everybody but the user of this machine, who always can"),
        list,
    )
    .with(
        Operation::new(
            Method::DELETE,
            "/v1/people/{person}",
            "removePerson",
            LOCAL,
            "Let somebody sign in no longer",
        )
        .gives::<RemovedPerson>(StatusCode::OK, "Removed; the sessions have ended"),
        remove,
    )
}

impl From<Person> for ShownPerson {
    fn from(person: Person) -> Self {
        let Person { name, role, added } = person;
        Self { name: name.to_string(), role, added }
    }
}

async fn create(
    State(service): State<Shared>,
    Document(new): Document<NewPerson>,
) -> Result<Response, Problem> {
    let added = service.work(move |service, owner| {
        let _turn = service.people_turn();
        people::add(owner, &service.user, new.name, new.role, service.most.people as usize)
    });
    Ok((StatusCode::CREATED, Json(ShownPerson::from(added.await?))).into_response())
}

async fn list(State(service): State<Shared>) -> Result<Json<ListedPeople>, Problem> {
    let people = service.work(|_, owner| people::list(owner)).await?;
    Ok(Json(ListedPeople { people: people.into_iter().map(ShownPerson::from).collect() }))
}

async fn remove(
    State(service): State<Shared>,
    Named(name): Named<String>,
) -> Result<Json<RemovedPerson>, Problem> {
    let removed = service.work(move |service, owner| {
        let _turn = service.people_turn();
        let person = people::find(owner, &name)?;
        service.links.forget(&person.name);
        // First: a session must not outlive its person, whatever happens in between.
        let sessions = service.tokens.end_sessions(owner, &person.name)?;
        let person = people::remove(owner, &name)?;
        Ok(RemovedPerson { person: person.into(), sessions })
    });
    Ok(Json(removed.await?))
}

const LOCAL: &[Scope] = &[Scope::Local];
