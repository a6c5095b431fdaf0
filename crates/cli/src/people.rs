//! `demur people`: who may sign in with a browser, and as what.

use demur_api::{
    call::ApiRequest,
    operation::{AddPerson, ListPeople, NoArguments, Nothing, OfPerson, RemovePerson},
    person::{ListedPeople, NewPerson, RemovedPerson, ShownPerson},
};
use demur_core::visible::visible;
use serde::Serialize;

use crate::{
    arguments::PeopleCommand,
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    keys::clock,
    output::{Paint, Reply, Table},
};

/// Runs one of the `people` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &PeopleCommand) -> Result<(), Failure> {
    let makes = matches!(command, PeopleCommand::Add(_));
    let client = if makes { Client::open(context)? } else { Client::of_existing(context)? };
    match command {
        PeopleCommand::Add(arguments) => {
            let new = NewPerson { name: arguments.name.clone(), role: arguments.role.into() };
            let request = ApiRequest::<AddPerson>::send(NoArguments {}, new);
            let added = client.call_with(&request, SocketRequest::once)?;
            context.output.reply(&Added(added))
        }
        PeopleCommand::List => {
            let listed = client.call(ApiRequest::<ListPeople>::get(NoArguments {}, Nothing {}))?;
            context.output.reply(&People(listed))
        }
        PeopleCommand::Remove(arguments) => {
            let path = OfPerson { person: arguments.name.to_string() };
            let removed =
                client.call_with(&ApiRequest::<RemovePerson>::get(path, Nothing {}), SocketRequest::once)?;
            context.output.reply(&Removed(removed))
        }
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Added(ShownPerson);

impl Reply for Added {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let name = visible(&self.0.name);
        vec![
            format!("{} {name} as {}", paint.good("Added:"), self.0.role.as_str()),
            format!("  `demur open --as {name:?} --print` makes a link that signs this one in."),
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct People(ListedPeople);

impl Reply for People {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.0.people.is_empty() {
            return vec!["Nobody but you. `demur people add NAME --role answerer` adds somebody.".to_owned()];
        }
        let mut table = Table::new(["NAME", "ROLE", "SINCE"]);
        for person in &self.0.people {
            let name = visible(&person.name).into_owned();
            table.add([name, person.role.as_str().to_owned(), clock(person.added)]);
        }
        table.lines(paint)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Removed(RemovedPerson);

impl Reply for Removed {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let ended = match self.0.sessions {
            0 => "nobody was signed in".to_owned(),
            1 => "one session ended".to_owned(),
            count => format!("{count} sessions ended"),
        };
        vec![format!("{} {}; {ended}", paint.good("Removed:"), visible(&self.0.person.name))]
    }
}
