//! `demur open`: a link that signs a browser in, once.

use std::process::{Command, Stdio};

use demur_server::routes::sign_in::{Link, NewLink};
use serde::Serialize;

use crate::{
    arguments::Open,
    client::{Call, Client},
    context::Context,
    error::CommandError,
    output::{Paint, Reply},
};

/// Makes a link, shows it, and opens it in a browser if somebody sits here.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Open) -> Result<(), CommandError> {
    let client = Client::open(context)?;
    let new = NewLink { person: arguments.person.clone() };
    let link: Link = client.call(&Call::post("/v1/sign-in", &new)?)?;
    // A browser here is mine: a link for somebody else is for handing on.
    if !arguments.print && new.person.is_none() && context.output.is_live() {
        show(&link.url);
    }
    context.output.reply(&Shown(link))
}

/// Opens a browser. Without one, or without a screen, the link that is printed has to do.
fn show(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    let _ = Command::new(opener).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(Link);

impl Reply for Shown {
    fn lines(&self, _: Paint) -> Vec<String> {
        // Alone, so that it can be handed on.
        vec![self.0.url.clone()]
    }
}
