//! People, added and removed by the user of this machine only.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    operation,
    person::{ListedPeople, NewPerson, RemovedPerson, ShownPerson},
};
use hyper::StatusCode;

use crate::{
    api::{Api, Operation},
    people::{self, Person},
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::AddPerson>(), create)
        .with(Operation::of::<operation::ListPeople>(), list)
        .with(Operation::of::<operation::RemovePerson>(), remove)
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
