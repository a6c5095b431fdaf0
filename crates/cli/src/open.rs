//! `demur open`: signs a browser in, once. What a browser is started with every process of this machine can read, and what stands in
//! an address is kept: the code goes into a file that only its user reads, or is typed.

use std::process::{Command, Stdio};

use demur_api::{
    call::ApiRequest,
    operation::{MakeSignInLink, NoArguments},
    passkey::SetupCode,
    person::{Link, NewLink},
};
use serde::Serialize;

use crate::{
    arguments::Open,
    client::Client,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
    passkey,
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
    let setup_code = if arguments.person.is_none() { offered(&client)? } else { None };
    context.output.reply(&Shown { link, setup_code })
}

/// Returns a new setup code while the store has no passkey; an earlier code stops working.
fn offered(client: &Client) -> Result<Option<SetupCode>, Failure> {
    let listed = passkey::list(client)?;
    Ok(if listed.needs_setup_code { Some(passkey::setup_code(client)?) } else { None })
}

/// Opens a browser; returns whether one is there. Without one, or without a screen, what is printed has to do.
fn show(path: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    Command::new(opener).arg(path).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    link: Link,
    /// For the first passkey, where there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_code: Option<SetupCode>,
}

impl Reply for Shown {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let Link { url, code, seconds, .. } = &self.link;
        let mut lines = vec![
            format!("{} {url}", paint.good("Address:")),
            format!("{} {code}", paint.good("Code:   ")),
            format!("  Type the code on that page; it works once, for {} minutes.", seconds / 60),
        ];
        if let Some(SetupCode { code, seconds, url }) = &self.setup_code {
            lines.push(format!("{} {code}", paint.strong("Setup code:")));
            lines.push(format!(
                "  No passkey yet. To add the first one, type this code at {url} within {} minutes.",
                seconds / 60
            ));
        }
        lines
    }
}
