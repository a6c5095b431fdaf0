//! `demur open`: signs a browser in, once. What a browser is started with every process of this machine can read, and what stands in
//! an address is kept: the code goes into a file that only its user reads, or is typed.

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

/// Makes a code, and opens a browser with it if somebody sits here; otherwise shows where to type it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Open) -> Result<(), Failure> {
    let client = Client::open(context)?;
    // A browser here is mine: a code for somebody else is for handing on.
    let opens = !arguments.print && arguments.person.is_none() && context.output.is_live();
    let new = NewLink { person: arguments.person.clone(), file: opens };
    let link = client.call(ApiRequest::<MakeSignInLink>::send(NoArguments {}, new))?;
    if link.file.as_deref().is_some_and(show) {
        context.output.notice(
            "A browser opens; press its button to sign in. Without a browser here, type this instead:",
        );
    }
    context.output.reply(&Shown(link))
}

/// Opens a browser; returns whether one is there. Without one, or without a screen, what is printed has to do.
fn show(path: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    Command::new(opener).arg(path).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(Link);

impl Reply for Shown {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let Link { url, code, seconds, .. } = &self.0;
        vec![
            format!("{} {url}", paint.good("Address:")),
            format!("{} {code}", paint.good("Code:   ")),
            format!("  Type the code on that page; it works once, for {} minutes.", seconds / 60),
        ]
    }
}
