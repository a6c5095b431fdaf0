//! A terminal that is read aloud, or that knows nothing but lines: no escapes, nothing that comes by itself. What happened
//! meanwhile is told after Enter.

use std::{
    io::{self, BufRead as _},
    os::unix::net::UnixStream,
};

use demur_api::code::Code;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::face::{Input, PROMPT};
use crate::{failure::Failure, output::Output};

/// The terminal, line by line.
pub(super) struct Plain<'a> {
    pub(super) output: &'a mut Output,
    /// Rung by whoever follows what happens, which ends when nobody can hear it.
    pub(super) _bell: UnixStream,
}

impl Plain<'_> {
    /// Returns the next line.
    pub(super) fn read(&mut self) -> Result<Input, Failure> {
        self.output.write(PROMPT.as_bytes())?;
        if let Some(line) = line()? {
            return Ok(Input::Line(line));
        }
        self.output.write(b"\n")?;
        Ok(Input::End)
    }

    /// Returns a line that nobody sees; none if whoever types thinks better of it.
    pub(super) fn secret(prompt: &str) -> Result<Option<Zeroizing<String>>, Failure> {
        // Not on standard output, which may be a file.
        Output::prompt(prompt);
        let unseen = Unseen::begin()?;
        let read = line().map(|line| line.map(Zeroizing::new));
        drop(unseen);
        Output::prompt("\n");
        Ok(read?.filter(|line| !line.is_empty()))
    }

    /// Prints lines.
    pub(super) fn say(&mut self, lines: &[String]) -> Result<(), Failure> {
        self.output.write(format!("{}\n", lines.join("\n")).as_bytes())
    }
}

fn line() -> Result<Option<String>, Failure> {
    let mut line = String::with_capacity(USUAL_LINE_BYTES);
    let read = io::stdin().lock().read_line(&mut line);
    let length = read
        .map_err(|error| Failure::of(Code::FileUnreadable, format!("cannot read standard input: {error}")))?;
    for end in ['\n', '\r'] {
        if line.ends_with(end) {
            line.pop();
        }
    }
    // The line itself and no copy of it: it may be a secret.
    Ok((length > 0).then_some(line))
}

/// Longer than what is typed, so that a secret that is read into it is moved nowhere.
const USUAL_LINE_BYTES: usize = 1 << 12;

/// While this lives, the terminal does not show what is typed.
struct Unseen {
    before: rustix::termios::Termios,
}

impl Unseen {
    fn begin() -> Result<Self, Failure> {
        let trouble = |error: rustix::io::Errno| {
            Failure::internal("TERMINAL_TROUBLE", format!("what is typed cannot be hidden: {error}"))
                .with_hint("`demur answer QUESTION -` reads a secret from standard input")
        };
        let before = tcgetattr(rustix::stdio::stdin()).map_err(trouble)?;
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &hidden).map_err(trouble)?;
        Ok(Self { before })
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}
