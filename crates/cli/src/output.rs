//! Everything the command says goes through here: text or one JSON document to standard output, errors to
//! standard error, colour only where somebody looks at it.

mod paint;
mod progress;
mod table;
mod width;

use std::{
    ffi::OsString,
    io::{self, ErrorKind, IsTerminal as _, Write},
    path::Path,
};

use demur_api::{code::Code, confirmation::ConfirmationId, question::QuestionId};
use demur_core::{canonical, visible::visible};
use demur_desk::visible::visible_path;
use serde::Serialize;
use serde_json::Value;
use zeroize::Zeroizing;

pub(crate) use demur_core::words::{counted, counted_as};
pub(crate) use paint::Paint;
pub(crate) use progress::{Progress, percent};
pub(crate) use table::Table;
use width::error_columns;
pub(crate) use width::{NARROW, columns, fitted, wrapped};

use crate::failure::Failure;

/// What a command answers: a document for programs, a text for people.
pub(crate) trait Reply: Serialize {
    /// Returns the lines of the text.
    fn lines(&self, paint: Paint) -> Vec<String>;
}

/// Standard output and standard error.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    out: Paint,
    err: Paint,
    /// Whoever read standard output has left. The work goes on, in silence.
    deserted: bool,
}

impl Output {
    /// Returns the output of this process.
    pub(crate) fn of_process(json: bool) -> Self {
        let variable = |name: &str| std::env::var_os(name);
        Self {
            json,
            out: Paint::new(io::stdout().is_terminal() && wants_colour(&variable)),
            err: Paint::new(io::stderr().is_terminal() && wants_colour(&variable)),
            deserted: false,
        }
    }

    /// Returns whether standard output is for a program.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Returns whether somebody watches standard output while the work goes on.
    pub(crate) fn is_live(&self) -> bool {
        !self.json && io::stdout().is_terminal()
    }

    /// Returns whether somebody watches standard error who does not mind a line that comes and goes.
    pub(crate) const fn is_watched(&self) -> bool {
        self.err.is_on()
    }

    /// Returns whether whoever read standard output has left.
    pub(crate) const fn is_deserted(&self) -> bool {
        self.deserted
    }

    /// Returns how standard output may be painted.
    pub(crate) const fn paint(&self) -> Paint {
        self.out
    }

    /// Writes the answer of a command.
    pub(crate) fn reply(&mut self, reply: &impl Reply) -> Result<(), Failure> {
        if self.json {
            // It may have a secret in it: it is wiped, and not moved while it is written.
            let mut line = Zeroizing::new(Vec::with_capacity(USUAL_REPLY_BYTES));
            canonical::write(reply, &mut line)?;
            line.push(b'\n');
            self.write(&line)
        } else {
            let lines = Zeroizing::new(reply.lines(self.out));
            let mut text = Zeroizing::new(match columns().filter(|columns| *columns < NARROW) {
                Some(columns) => {
                    let lines = lines.iter().flat_map(|line| line.split('\n'));
                    lines.flat_map(|line| wrapped(line, columns)).collect::<Vec<_>>().join("\n")
                }
                None => lines.join("\n"),
            });
            text.push('\n');
            self.write(text.as_bytes())
        }
    }

    /// Writes a line while the work goes on; programs get the reply at the end only.
    pub(crate) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        if self.json { Ok(()) } else { self.write(format!("{line}\n").as_bytes()) }
    }

    /// Writes bytes to standard output as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.deserted {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.deserted = true;
                Ok(())
            }
            Err(error) => {
                let message = format!("cannot write to standard output: {error}");
                Err(Failure::of(Code::OutputTrouble, message))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Writes a remark to whoever sits at the terminal; no program hears it.
    pub(crate) fn remark(&self, line: &str) {
        if !self.json && io::stderr().is_terminal() {
            write_note(line);
        }
    }

    /// Writes a line to standard error for people, also in a pipe. A program that wants documents hears of errors alone.
    pub(crate) fn notice(&self, line: &str) {
        if !self.json {
            write_note(line);
        }
    }

    /// Writes what stands before the place where somebody types, or what ends that line.
    pub(crate) fn prompt(text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Tells on standard error that a data folder was made: a name that was mistyped shows here.
    pub(crate) fn made(&self, folder: &Path) {
        self.notice(&format!("Made the data folder {}.", visible_path(folder)));
    }

    /// Tells on standard error which question was asked, so that a caller that is stopped can go on with it.
    pub(crate) fn asked(&self, id: QuestionId, answer: &str) {
        let words = format!("Question {id} waits. Answer it with: {answer}");
        self.waits(&serde_json::json!({ "asked": { "answer": answer, "id": id } }), &words);
    }

    /// Tells on standard error which confirmation was asked for, in the same way.
    pub(crate) fn asked_confirmation(&self, id: ConfirmationId, show: &str, give: &str) {
        let words = format!("Confirmation {id} waits. `{show}` shows it, `{give}` confirms it.");
        self.waits(&serde_json::json!({ "asked": { "give": give, "id": id, "show": show } }), &words);
    }

    fn waits(&self, document: &Value, words: &str) {
        if self.json {
            write_error(&canonical::to_vec(document).unwrap_or_default());
        } else {
            self.notice(words);
        }
    }

    /// Writes an error to standard error.
    pub(crate) fn error(&self, error: &Failure) {
        let text = if self.json {
            canonical::to_vec(&error.document()).unwrap_or_default()
        } else {
            describe(error, self.err).into_bytes()
        };
        write_error(&text);
    }

    /// Writes text that was laid out elsewhere to standard error.
    pub(crate) fn error_text(&self, plain: &str, painted: &str) {
        write_error(if self.err.is_on() { painted } else { plain }.trim_end().as_bytes());
    }
}

/// Writes a line of ours to standard error, broken between words where the terminal is narrow.
fn write_note(line: &str) {
    let line = visible(line);
    let text = match error_columns().filter(|columns| *columns < NARROW) {
        Some(columns) => wrapped(&line, columns).join("\n"),
        None => line.to_string(),
    };
    write_error(text.as_bytes());
}

/// There is nobody left to tell if this fails too: the exit code has to do.
fn write_error(text: &[u8]) {
    let _ = io::stderr().lock().write_all(&[text, b"\n"].concat());
}

fn describe(error: &Failure, paint: Paint) -> String {
    error_lines(error, paint).join("\n")
}

/// Returns an error as people read it.
pub(crate) fn error_lines(error: &Failure, paint: Paint) -> Vec<String> {
    let mut lines = vec![format!("{} {}", paint.bad("error:"), visible(&error.to_string()))];
    lines.extend(error.hint().map(|hint| format!("{} {}", paint.strong("hint:"), visible(hint))));
    lines
}

/// Returns whether the terminal may be told more than lines: `DEMUR_PLAIN` and a terminal that cannot are a no.
pub(crate) fn wants_escapes() -> bool {
    may_escape(&|name| std::env::var_os(name))
}

/// Returns whether the person wants colour where there is a terminal: `NO_COLOR`, `DEMUR_PLAIN` and a terminal
/// that cannot are all a no.
fn wants_colour(variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && may_escape(variable)
}

fn may_escape(variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_plain = variable("DEMUR_PLAIN").is_some_and(|value| !value.is_empty() && value != "0");
    !is_plain && variable("TERM").is_none_or(|value| value != "dumb")
}

/// What most replies take.
const USUAL_REPLY_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(variables: &[(&str, &str)]) -> bool {
        let find = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        wants_colour(&find)
    }

    #[test]
    fn colour_is_on_unless_somebody_says_no() {
        assert!(wants(&[]));
        assert!(wants(&[("TERM", "xterm-256color"), ("NO_COLOR", ""), ("DEMUR_PLAIN", "0")]));
        assert!(!wants(&[("NO_COLOR", "1")]));
        assert!(!wants(&[("DEMUR_PLAIN", "1")]));
        assert!(!wants(&[("TERM", "dumb")]));
    }

    #[test]
    fn errors_show_control_characters_instead_of_obeying_them() {
        let error = Failure::input("A", "found \u{1b}[2J").with_hint("try\nagain");
        assert_eq!(describe(&error, Paint::new(false)), "error: found \\u{1b}[2J\nhint: try\\u{a}again");
    }

    #[test]
    fn paint_adds_escapes_only_when_on() {
        let error = Failure::input("A", "no");
        assert!(!describe(&error, Paint::new(false)).contains('\u{1b}'));
        assert!(describe(&error, Paint::new(true)).contains('\u{1b}'));
    }
}
