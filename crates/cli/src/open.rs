//! `demur open`: a link that signs a browser in, once.

use std::process::{Command, Stdio};

use demur_api::{
    call::ApiRequest,
    operation::{MakeSignInLink, NoArguments},
    person::{Link, NewLink},
};
use serde::Serialize;

use crate::{
    arguments::Open,
    client::Client,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Makes a link, shows it, and opens it in a browser if somebody sits here.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Open) -> Result<(), Failure> {
    let client = Client::open(context)?;
    let new = NewLink { person: arguments.person.clone() };
    let is_mine = new.person.is_none();
    let link = client.call(ApiRequest::<MakeSignInLink>::send(NoArguments {}, new))?;
    // A browser here is mine: a link for somebody else is for handing on.
    let opens = !arguments.print && is_mine && context.output.is_live();
    if !opens || !show(&link.url) {
        context.output.notice(&format!("Open this link; it works once, for {} minutes:", link.seconds / 60));
    }
    context.output.reply(&Shown(link))
}

/// Opens a browser; returns whether one is there. Without one, or without a screen, the link that is printed has to do.
fn show(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    Command::new(opener).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
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
