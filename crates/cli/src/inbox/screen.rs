//! A terminal with a line being typed at its bottom. What happens meanwhile is printed above the line, which stays as it
//! was. The line never takes more than one row, so that no change of the window's size can tear it.

use std::{
    io::{self, Read as _},
    os::unix::net::UnixStream,
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Signal, getpid, kill_process},
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};
use tokio::signal::unix::{SignalKind, signal};
use zeroize::{Zeroize as _, Zeroizing};

use super::{
    editor::{Edited, Editor},
    face::{Input, PROMPT},
    key::Keys,
    news::Bell,
};
use crate::{
    failure::Failure,
    output::{self, Output},
};

/// The terminal, with every key told at once.
pub(super) struct Screen<'a> {
    pub(super) output: &'a mut Output,
    mode: Mode,
    bell: UnixStream,
    keys: Keys,
    editor: Editor,
    prompt: String,
    /// Whether what is typed stays unseen.
    hidden: bool,
    /// How wide the window was, and what stood on the row, when it was drawn last.
    drawn: Option<(usize, usize)>,
}

impl<'a> Screen<'a> {
    /// Takes the terminal. `bell` is rung for whatever is to be looked at.
    pub(super) fn open(output: &'a mut Output, bell: UnixStream, ringer: &Bell) -> Result<Self, Failure> {
        let mode = Mode::raw().map_err(|error| trouble(&error))?;
        watch_size(ringer.another().map_err(|error| trouble(&error))?);
        output.write(PASTE_ON)?;
        let (keys, editor) = (Keys::default(), Editor::default());
        let prompt = PROMPT.to_owned();
        Ok(Self { output, mode, bell, keys, editor, prompt, hidden: false, drawn: None })
    }

    /// Returns the next line, or that something is to be looked at; the line under way stays.
    pub(super) fn read(&mut self) -> Result<Input, Failure> {
        if self.drawn.is_none() {
            self.draw()?;
        }
        loop {
            while let Some(key) = self.keys.next() {
                match self.editor.press(key) {
                    Edited::Changed => {}
                    Edited::Line(line) => return self.entered(line),
                    Edited::Leave => return self.left(),
                    Edited::Suspend => self.suspend()?,
                }
            }
            self.draw()?;
            match self.wait()? {
                Woken::Keys => {}
                Woken::Bell if self.hidden => {}
                Woken::Bell => return Ok(Input::News),
                Woken::Gone => return self.left(),
            }
        }
    }

    /// Returns a line that nobody sees; none if whoever types thinks better of it.
    pub(super) fn secret(&mut self, prompt: &str) -> Result<Option<Zeroizing<String>>, Failure> {
        self.clear()?;
        prompt.clone_into(&mut self.prompt);
        self.hidden = true;
        self.editor.make_room();
        let read = self.read();
        self.keys.wipe();
        self.hidden = false;
        PROMPT.clone_into(&mut self.prompt);
        Ok(match read? {
            Input::Line(line) => Some(Zeroizing::new(line)).filter(|line| !line.is_empty()),
            Input::News | Input::End => None,
        })
    }

    /// Prints lines above the line under way.
    pub(super) fn say(&mut self, lines: &[String]) -> Result<(), Failure> {
        self.clear()?;
        self.output.write(format!("{}\n", lines.join("\n")).as_bytes())
    }

    fn entered(&mut self, line: String) -> Result<Input, Failure> {
        self.draw_done(&line)?;
        if !self.hidden {
            self.editor.remember(&line);
        }
        Ok(Input::Line(line))
    }

    /// Leaves the line where it is: what comes next begins on a row of its own.
    fn draw_done(&mut self, line: &str) -> Result<(), Failure> {
        self.clear()?;
        let line = if self.hidden { String::new() } else { demur_core::visible::visible(line).into_owned() };
        self.output.write(format!("{}{line}\n", self.prompt).as_bytes())
    }

    fn left(&mut self) -> Result<Input, Failure> {
        self.clear()?;
        self.output.write(b"\n")?;
        Ok(Input::End)
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let columns = columns();
        let nothing = Editor::default();
        let shown = if self.hidden { &nothing } else { &self.editor };
        let row = shown.row(&self.prompt, columns);
        self.clear()?;
        let mut text = format!("{}\r", row.text);
        if row.cursor > 0 {
            text = format!("{text}\u{1b}[{}C", row.cursor);
        }
        self.drawn = Some((columns, row.width));
        self.output.write(text.as_bytes())
    }

    /// Makes room for what comes next.
    fn clear(&mut self) -> Result<(), Failure> {
        let Some((before, width)) = self.drawn.take() else { return Ok(()) };
        let now = columns();
        if now < before && width >= now {
            // The row is torn in two, or cut off: which of them, only the terminal knows. A fresh one is whole.
            return self.output.write(b"\x1b[J\n");
        }
        self.output.write(b"\r\x1b[J")
    }

    /// Waits for a key, or for the bell.
    fn wait(&mut self) -> Result<Woken, Failure> {
        loop {
            let stdin = rustix::stdio::stdin();
            let mut sources = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
            let moment = Timespec { tv_sec: 0, tv_nsec: ESCAPE_TIMEOUT.subsec_nanos().into() };
            match poll(&mut sources, self.keys.is_waiting().then_some(&moment)) {
                Ok(0) => {
                    self.keys.give_up();
                    continue;
                }
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(trouble(&error)),
            }
            if !sources[0].revents().is_empty() {
                return self.take_keys();
            }
            // More than is ever rung before somebody looks; what is left rings again.
            let _ = self.bell.read(&mut [0; 256]);
            return Ok(Woken::Bell);
        }
    }

    fn take_keys(&mut self) -> Result<Woken, Failure> {
        let mut buffer = [0; 1024];
        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(0) | Err(Errno::IO) => Ok(Woken::Gone),
            Ok(length) => {
                self.keys.add(&buffer[..length]);
                buffer.zeroize();
                Ok(Woken::Keys)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(Woken::Keys),
            Err(error) => Err(trouble(&error)),
        }
    }

    /// Gives the terminal back until the shell continues this.
    fn suspend(&mut self) -> Result<(), Failure> {
        self.clear()?;
        self.output.write(PASTE_OFF)?;
        self.mode.leave();
        // It stops here, and goes on here.
        let _ = kill_process(getpid(), Signal::TSTP);
        self.mode.enter().map_err(|error| trouble(&error))?;
        self.output.write(PASTE_ON)
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = self.output.write(PASTE_OFF);
    }
}

enum Woken {
    Keys,
    Bell,
    Gone,
}

/// How the terminal was before, and is again when this is dropped.
struct Mode {
    before: Termios,
}

impl Mode {
    fn raw() -> io::Result<Self> {
        let mode = Self { before: tcgetattr(rustix::stdio::stdin())? };
        mode.enter()?;
        Ok(mode)
    }

    fn enter(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        // Output stays as it is: a line feed still begins a line.
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?)
    }

    fn leave(&self) {
        // There is no terminal left if this fails.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Rings when the window has another size.
fn watch_size(bell: Bell) {
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut changes = signal(SignalKind::window_change())?;
            while changes.recv().await.is_some() && bell.ring() {}
            Ok::<_, io::Error>(())
        })
    };
    // Without it the line is drawn anew with the next key.
    thread::spawn(watch);
}

fn columns() -> usize {
    output::columns().unwrap_or(DEFAULT_COLUMNS)
}

fn trouble(error: &dyn std::fmt::Display) -> Failure {
    Failure::internal("TERMINAL_TROUBLE", format!("the terminal does not do what it should: {error}"))
        .with_hint("DEMUR_PLAIN=1 asks less of it")
}

/// Terminals that know it mark what is pasted.
const PASTE_ON: &[u8] = b"\x1b[?2004h";
const PASTE_OFF: &[u8] = b"\x1b[?2004l";
/// How long the rest of an escape sequence may take.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(50);
/// How wide a terminal is that does not say.
const DEFAULT_COLUMNS: usize = 80;
