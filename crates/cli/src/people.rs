//! `demur people`: who may sign in with a browser, and as what.

use demur_api::{
    call::ApiRequest,
    operation::{
        AddPerson, EndSession, EndSessions, ListPeople, ListSessions, NoArguments, Nothing, OfPerson,
        OfSignIn, RemovePerson,
    },
    person::{
        EndSessionsParameters, EndedSessions, ListedPeople, ListedSessions, NewPerson, RemovedPerson,
        ShownPerson,
    },
};
use demur_core::visible::visible;
use serde::Serialize;

use crate::{
    arguments::{PeopleCommand, Sessions},
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    keys::clock,
    output::{Paint, Reply, Table},
};

/// Runs one of the `people` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &PeopleCommand) -> Result<(), Failure> {
    match command {
        PeopleCommand::Add(arguments) => {
            let client = Client::open(context)?;
            let new = NewPerson { name: arguments.name.clone(), role: arguments.role.into() };
            let request = ApiRequest::<AddPerson>::send(NoArguments {}, new);
            let added = client.call_with(&request, SocketRequest::once)?;
            context.output.reply(&Added(added))
        }
        PeopleCommand::List => {
            let listed = match Client::for_list(context)? {
                Some(client) => client.call(ApiRequest::<ListPeople>::get(NoArguments {}, Nothing {}))?,
                None => ListedPeople { people: Vec::new() },
            };
            let nowhere = Context::nowhere(&context.data()?, "people");
            context.output.reply(&People { listed, nowhere })
        }
        PeopleCommand::Remove(arguments) => {
            let client = Client::of_existing(context)?;
            let path = OfPerson { person: arguments.name.to_string() };
            let removed =
                client.call_with(&ApiRequest::<RemovePerson>::get(path, Nothing {}), SocketRequest::once)?;
            context.output.reply(&Removed(removed))
        }
        PeopleCommand::Sessions(arguments) => sessions(context, arguments),
    }
}

fn sessions(context: &mut Context<'_>, arguments: &Sessions) -> Result<(), Failure> {
    if let Some(id) = &arguments.end {
        let client = Client::of_existing(context)?;
        let request = ApiRequest::<EndSession>::get(OfSignIn { sign_in: id.clone() }, Nothing {});
        return context.output.reply(&Ended(client.call_with(&request, SocketRequest::once)?));
    }
    if arguments.end_all {
        let client = Client::of_existing(context)?;
        let query = EndSessionsParameters { person: arguments.person.clone() };
        let request = ApiRequest::<EndSessions>::get(NoArguments {}, query);
        return context.output.reply(&Ended(client.call_with(&request, SocketRequest::once)?));
    }
    let mut listed = match Client::for_list(context)? {
        Some(client) => client.call(ApiRequest::<ListSessions>::get(NoArguments {}, Nothing {}))?,
        None => ListedSessions { sessions: Vec::new() },
    };
    if let Some(person) = &arguments.person {
        listed.sessions.retain(|session| session.person.eq_ignore_ascii_case(person));
    }
    context.output.reply(&SignedIn(listed))
}

#[derive(Serialize)]
#[serde(transparent)]
struct SignedIn(ListedSessions);

impl Reply for SignedIn {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.0.sessions.is_empty() {
            return vec!["No browser is signed in. `demur open` signs one in.".to_owned()];
        }
        let mut table = Table::new(["ID", "WHO", "ROLE", "SINCE", "LAST USED", "ENDS", "ADDRESS", "BROWSER"]);
        for session in &self.0.sessions {
            let shown = |text: &str| visible(text).into_owned();
            let (role, times) =
                (session.role.as_str().to_owned(), [session.begun, session.used, session.ends]);
            let [begun, used, ends] = times.map(clock);
            let browser = shown(&session.browser);
            table.add([
                session.id.clone(),
                shown(&session.person),
                role,
                begun,
                used,
                ends,
                shown(&session.address),
                browser,
            ]);
        }
        table.lines(paint)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Ended(EndedSessions);

impl Reply for Ended {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let ended = match self.0.ended {
            0 => "nobody was signed in".to_owned(),
            1 => "one browser".to_owned(),
            count => format!("{count} browsers"),
        };
        vec![format!("{} {ended}", paint.good("Signed out:"))]
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
            format!("  `demur open --as {name:?} --print` makes a code that signs this one in."),
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct People {
    listed: ListedPeople,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
}

impl Reply for People {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.listed.people.is_empty() {
            let none = self.nowhere.as_deref().unwrap_or("Nobody but you.");
            return vec![format!("{none} `demur people add NAME --role answerer` adds somebody.")];
        }
        let mut table = Table::new(["NAME", "ROLE", "SINCE"]);
        for person in &self.listed.people {
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
