//! What to run: a program with its arguments, never a line for a shell.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{SandboxError, SandboxLimits, SandboxPolicy};

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The program and its arguments. A program without a slash is looked for in `PATH`.
    pub command: Vec<String>,
    /// What the tool reads from standard input. Travels beside the rest, as bytes.
    #[serde(skip)]
    pub stdin: Vec<u8>,
    /// Where the tool runs, and the only place where it may write.
    pub folder: PathBuf,
    /// What it may read and execute beside the folder and the system's programs.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    /// Its environment, beside `PATH`, `HOME`, `TMPDIR` and `LANG`, which it may replace.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// How much it may use.
    #[serde(default)]
    pub limits: SandboxLimits,
    /// How closely it is held.
    #[serde(default)]
    pub policy: SandboxPolicy,
}

impl Request {
    /// The most bytes of standard input.
    pub const MOST_INPUT: usize = 16 * 1024 * 1024;

    /// The most paths beside the folder.
    pub const MOST_READABLE: usize = 64;

    /// Returns a call with an empty standard input and default limits.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>, folder: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            stdin: Vec::new(),
            folder: folder.into(),
            readable: Vec::new(),
            environment: BTreeMap::new(),
            limits: SandboxLimits::default(),
            policy: SandboxPolicy::default(),
        }
    }

    /// Refuses what can never be run, so that it is told from a tool that does not start.
    pub fn check(&self) -> Result<(), SandboxError> {
        if self.command.first().is_none_or(String::is_empty) {
            return refuse("command", "a program", "none");
        }
        if self.command.iter().any(|word| word.contains('\0')) {
            return refuse("command", "words without the zero byte", "one");
        }
        for path in self.readable.iter().chain([&self.folder]) {
            if !path.is_absolute() || path.to_str().is_none_or(|path| path.contains('\0')) {
                return refuse("path", "an absolute path in UTF-8", format!("{}", path.display()));
            }
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return refuse("environment", "names without `=` and no zero bytes", format!("{name:?}"));
            }
        }
        if self.stdin.len() > Self::MOST_INPUT {
            let expected = format!("at most {} bytes", Self::MOST_INPUT);
            return refuse("stdin", expected, self.stdin.len().to_string());
        }
        if self.readable.len() > Self::MOST_READABLE {
            let expected = format!("at most {} paths", Self::MOST_READABLE);
            return refuse("readable", expected, self.readable.len().to_string());
        }
        self.limits.check()
    }

    /// Returns the whole environment of the tool: nothing is inherited.
    pub(crate) fn full_environment(&self) -> BTreeMap<String, String> {
        let folder = self.folder.to_string_lossy();
        let fixed = [("PATH", PATH), ("HOME", &*folder), ("TMPDIR", &*folder), ("LANG", "C.UTF-8")];
        let mut environment: BTreeMap<String, String> =
            fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        environment.extend(self.environment.clone());
        environment
    }
}

fn refuse(
    what: &'static str,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Result<(), SandboxError> {
    Err(SandboxError::Request { what, expected: expected.into(), found: found.into() })
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::new(["true"], "/tmp")
    }

    fn refusal(change: impl FnOnce(&mut Request)) -> String {
        let mut request = request();
        change(&mut request);
        request.check().unwrap_err().to_string()
    }

    #[test]
    fn plain_request_is_allowed() {
        request().check().unwrap();
    }

    #[test]
    fn refuses_what_can_never_run() {
        assert_eq!(refusal(|it| it.command.clear()), "command: expected a program, found none");
        assert_eq!(refusal(|it| it.command[0].clear()), "command: expected a program, found none");
        assert!(refusal(|it| it.command.push("a\0b".into())).starts_with("command"));
        assert_eq!(
            refusal(|it| it.folder = "here".into()),
            "path: expected an absolute path in UTF-8, found here"
        );
        assert!(refusal(|it| it.readable = vec!["there".into()]).starts_with("path"));
        assert!(refusal(|it| it.readable = vec!["/usr".into(); 65]).starts_with("readable"));
        assert!(refusal(|it| it.stdin = vec![0; Request::MOST_INPUT + 1]).starts_with("stdin"));
        assert!(refusal(|it| it.limits.processes = 0).starts_with("processes"));
        for name in ["", "A=B", "A\0"] {
            let message = refusal(|it| drop(it.environment.insert(name.into(), "1".into())));
            assert!(message.starts_with("environment"), "{message}");
        }
    }

    #[test]
    fn environment_of_the_request_replaces_the_fixed_one() {
        let mut request = request();
        request.environment.insert("HOME".into(), "/nowhere".into());
        let environment = request.full_environment();
        assert_eq!(environment["HOME"], "/nowhere");
        assert_eq!(environment["TMPDIR"], "/tmp");
        assert_eq!(environment.len(), 4);
    }
}
