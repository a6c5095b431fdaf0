//! `demur token`: credentials for what is not on this machine.

use demur_api::{
    call::ApiRequest,
    operation::{ListTokens, MakeToken, NoArguments, Nothing, OfToken, RevokeToken},
    scope::Scope,
    token::{ListedTokens, MadeToken, NewToken, ShownToken},
};
use demur_core::{limit::Whole, visible::visible};
use serde::Serialize;

use crate::{
    arguments::TokenCommand,
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    keys::clock,
    lookup::{self, Noun},
    output::{Paint, Reply, Table},
};

/// Runs one of the `token` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::New(arguments) => {
            let client = Client::open(context)?;
            let mut scopes = arguments.scopes.clone();
            scopes.sort_unstable();
            scopes.dedup();
            let seconds = arguments.expires.map(|time| Whole::try_from(time.as_secs())).transpose()?;
            let new = NewToken {
                name: arguments.name.clone(),
                scopes: scopes.try_into()?,
                people: arguments.people.clone().try_into()?,
                for_anyone: arguments.for_anyone,
                seconds,
            };
            let request = ApiRequest::<MakeToken>::send(NoArguments {}, new);
            let made = client.call_with(&request, SocketRequest::once)?;
            context.output.reply(&Made(made))
        }
        TokenCommand::List => {
            let listed = match Client::for_list(context)? {
                Some(client) => list(&client)?,
                None => ListedTokens { tokens: Vec::new() },
            };
            let nowhere = Context::nowhere(&context.data()?, "tokens");
            context.output.reply(&Tokens { listed, nowhere })
        }
        TokenCommand::Revoke(arguments) => {
            let client = Client::of_existing(context)?;
            let ids: Vec<String> = list(&client)?.tokens.into_iter().map(|token| token.id).collect();
            let id = lookup::among(Noun::Token, &arguments.id, &ids)?;
            let path = OfToken { token: id.clone() };
            let revoked =
                client.call_with(&ApiRequest::<RevokeToken>::get(path, Nothing {}), SocketRequest::once)?;
            context.output.reply(&Revoked(revoked))
        }
    }
}

fn list(client: &Client) -> Result<ListedTokens, Failure> {
    client.call(ApiRequest::<ListTokens>::get(NoArguments {}, Nothing {}))
}

#[derive(Serialize)]
#[serde(transparent)]
struct Made(MadeToken);

impl Reply for Made {
    fn lines(&self, _: Paint) -> Vec<String> {
        // Alone, so that it can be taken into a variable.
        vec![self.0.secret.clone()]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Tokens {
    listed: ListedTokens,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
}

impl Reply for Tokens {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.listed.tokens.is_empty() {
            let none = self.nowhere.as_deref().unwrap_or("No tokens.");
            return vec![format!("{none} `demur token new NAME --scope ask` makes one.")];
        }
        let mut table = Table::new(["ID", "NAME", "SCOPES", "FOR", "MADE", "ENDS"]);
        for token in &self.listed.tokens {
            let ends = token.expires.map_or_else(|| "when it is taken back".to_owned(), clock);
            table.add([
                token.id.clone(),
                visible(&token.name).into_owned(),
                scopes(token),
                people(token),
                clock(token.created),
                ends,
            ]);
        }
        table.lines(paint)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Revoked(ShownToken);

impl Reply for Revoked {
    fn lines(&self, paint: Paint) -> Vec<String> {
        vec![format!("{} {} of {}", paint.good("Taken back:"), self.0.id, visible(&self.0.name))]
    }
}

/// Returns whose words it passes on.
fn people(token: &ShownToken) -> String {
    match &token.people {
        Some(people) => people.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", "),
        None if token.scopes.contains(&Scope::Relay) => "anyone, its own questions".to_owned(),
        None => "-".to_owned(),
    }
}

fn scopes(token: &ShownToken) -> String {
    token.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
}
