//! `demur doctor`: is everything as it should be? Looks only: nothing is started, changed or repaired.

mod files;
mod ledger;
mod sandbox;
mod server;
mod shell;

use serde::Serialize;

use crate::{
    arguments::Doctor,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Reply},
};

/// Looks at everything, and says what it found.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Doctor) -> Result<Exit, Failure> {
    let data = context.data_as_it_is()?;
    let mut checks = files::check(&data);
    checks.extend(ledger::check(&data));
    checks.extend(server::check(&data, arguments.port)?);
    checks.push(sandbox::check());
    checks.push(shell::check());
    let healthy = checks.iter().all(|check| check.state != State::Problem);
    context.output.reply(&Examined { checks, healthy })?;
    Ok(if healthy { Exit::Success } else { Exit::Refused })
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    /// What it is called.
    name: &'static str,
    state: State,
    /// What is there.
    found: String,
    /// What to do about it.
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Neither good nor bad: something is not there, and need not be.
    Note,
    /// It works, but not for long, or not as expected.
    Warning,
    /// Something does not work.
    Problem,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Ok, found: found.into(), hint: None }
    }

    fn note(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Note, found: found.into(), hint: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state: State::Warning, found: found.into(), hint: Some(hint.into()) }
    }

    fn problem(name: &'static str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state: State::Problem, found: found.into(), hint: Some(hint.into()) }
    }

    /// Returns the check of something that went wrong.
    fn failed(name: &'static str, error: impl Into<Failure>) -> Self {
        let error = error.into();
        let hint = error.hint().map(str::to_owned);
        Self { name, state: State::Problem, found: error.to_string(), hint }
    }
}

#[derive(Serialize)]
struct Examined {
    checks: Vec<Check>,
    healthy: bool,
}

impl Reply for Examined {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines: Vec<String> = self.checks.iter().flat_map(|check| check_lines(check, paint)).collect();
        lines.push(if self.healthy { "All is well." } else { "Not all is well." }.to_owned());
        lines
    }
}

fn check_lines(check: &Check, paint: Paint) -> Vec<String> {
    let state = match check.state {
        State::Ok => paint.good("ok     "),
        State::Note => "note   ".to_owned(),
        State::Warning => paint.strong("warning"),
        State::Problem => paint.bad("problem"),
    };
    let found = demur_core::visible::visible(&check.found);
    let mut lines = vec![format!("{state}  {:<12} {found}", check.name)];
    lines.extend(
        check.hint.as_ref().map(|hint| format!("{:22} hint: {}", "", demur_core::visible::visible(hint))),
    );
    lines
}
