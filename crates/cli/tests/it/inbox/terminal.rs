//! A real terminal, kept by tmux: keys go in, and what a person would see comes out.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use crate::sandbox::Sandbox;

/// A terminal with a program in it.
pub(crate) struct Terminal {
    socket: PathBuf,
    /// Every byte that the program wrote.
    written: PathBuf,
}

impl Terminal {
    /// Opens an inbox in a terminal of 80 columns, and waits for its prompt.
    pub(crate) fn open(sandbox: &Sandbox, name: &str) -> Self {
        Self::with(sandbox, name, "")
    }

    /// Opens an inbox in a terminal, with these variables.
    pub(crate) fn with(sandbox: &Sandbox, name: &str, variables: &str) -> Self {
        let (data, home) = (sandbox.data(), sandbox.path("home"));
        // What follows the inbox shows in what state it leaves the terminal.
        let script = format!(
            "env -u NO_COLOR DEMUR_DATA='{}' HOME='{}' {variables} '{}' inbox; echo left with $?; stty -a; exec cat",
            data.display(),
            home.display(),
            env!("CARGO_BIN_EXE_demur"),
        );
        let terminal = Self::running(sandbox, name, 80, &script);
        terminal.shows("inbox>");
        terminal
    }

    /// Opens a terminal of this width with a shell script in it.
    pub(crate) fn running(sandbox: &Sandbox, name: &str, columns: u16, script: &str) -> Self {
        let terminal = Self {
            socket: sandbox.path(&format!("{name}.tmux")),
            written: sandbox.path(&format!("{name}.out")),
        };
        let (begin, columns) = (format!("read begin; {script}"), columns.to_string());
        let server =
            ["-f", "/dev/null", "start-server", ";", "set-option", "-g", "history-limit", "20000", ";"];
        let session = ["new-session", "-d", "-x", &columns, "-y", "24", &begin];
        terminal.tmux(&[&server[..], &session].concat());
        terminal.tmux(&["pipe-pane", "-o", &format!("cat > '{}'", terminal.written.display())]);
        terminal.enter("");
        terminal
    }

    /// Types text without Enter.
    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses a key by its name.
    pub(crate) fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Types a line and Enter.
    pub(crate) fn enter(&self, line: &str) {
        if !line.is_empty() {
            self.types(line);
        }
        self.press("Enter");
    }

    /// Makes the window this wide.
    pub(crate) fn resize(&self, columns: u16) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", "24"]);
    }

    /// Returns what is to be seen, with lines that the terminal broke put together.
    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-200"])
    }

    /// Returns what was to be seen from the beginning, with lines that the terminal broke put together.
    pub(crate) fn everything(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Waits until something is to be seen; returns all of it.
    pub(crate) fn shows(&self, text: &str) -> String {
        self.sees(text, |screen| screen.contains(text))
    }

    fn sees(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what:?}:\n{screen}");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Waits until the line under way is this, on a row of its own at the end.
    pub(crate) fn line_is(&self, line: &str) {
        let row = format!("inbox> {line}");
        self.sees(&row, |screen| {
            let last = screen.lines().rfind(|row| !row.trim().is_empty()).unwrap_or_default();
            last.trim_end() == row.trim_end()
        });
    }

    /// Returns every byte that the program wrote.
    pub(crate) fn written(&self) -> Vec<u8> {
        fs::read(&self.written).unwrap_or_default()
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).args(arguments).env_remove("TMUX").env("LC_ALL", "C.UTF-8");
        let output = tmux.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

const PATIENCE: Duration = Duration::from_mins(1);
