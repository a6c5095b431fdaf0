//! Operations that a person describes in `guard.toml`: `deploy = ["Bash(*deploy*)", "mcp__k8s__*"]`. A pattern is the name of
//! a tool, with `*` and `?`, and in brackets what it is called with.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use serde::Deserialize;
use serde_json::Value;

use super::words::{Tool, is_mcp};

/// What names of operations mean. The rest of the file is for others.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Operations {
    #[serde(default)]
    operations: BTreeMap<String, Vec<Pattern>>,
}

impl Operations {
    /// Returns what this file says, or `guard.toml` of the data folder. One that is not there or cannot be read describes
    /// nothing, and then every name means everything.
    pub(super) fn read(named: Option<&Path>, data: &Path) -> Self {
        let usual = data.join(FILE_NAME);
        let mut text = String::new();
        let opened = File::open(named.unwrap_or(&usual));
        let read = opened.and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
        read.ok().and_then(|_| Self::parse(&text)).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let read: Self = toml::from_str(text).ok()?;
        let lower = |(name, patterns): (String, _)| (name.to_ascii_lowercase(), patterns);
        Some(Self { operations: read.operations.into_iter().map(lower).collect() })
    }

    /// Returns what a name means, in small letters.
    pub(super) fn find(&self, name: &str) -> Option<&[Pattern]> {
        self.operations.get(name).map(Vec::as_slice)
    }
}

/// A tool, and what it is called with.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct Pattern {
    tool: String,
    argument: Option<String>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        let split = text.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
        let (tool, argument) = split.map_or((text.as_str(), None), |(tool, argument)| (tool, Some(argument)));
        Self { tool: tool.to_ascii_lowercase(), argument: argument.map(str::to_owned) }
    }
}

impl Pattern {
    /// Returns whether it means this call.
    pub(super) fn fits(&self, tool: &Tool<'_>) -> bool {
        let named = glob(&self.tool, &tool.name.to_ascii_lowercase());
        let of_server = is_mcp(&self.tool) && tool.is_of_server(&self.tool);
        let argument = self.argument.as_deref();
        (named || of_server) && argument.is_none_or(|argument| is_called_with(tool, argument))
    }
}

/// Returns whether a tool is called with this. What it is called with is what its user would be shown; where that is not
/// known, it counts.
fn is_called_with(tool: &Tool<'_>, pattern: &str) -> bool {
    let found = MEMBERS.iter().find_map(|member| tool.input[*member].as_str());
    let whole = match (found, tool.input) {
        (Some(text), _) => text.to_owned(),
        (None, Value::Null) => return true,
        (None, input) => input.to_string(),
    };
    if glob(pattern, &whole) {
        return true;
    }
    // In a shell each command of a line counts by itself.
    let ends = [';', '|', '&', '\n', '(', ')', '`', '{', '}'];
    tool.is_shell() && whole.split(ends).any(|command| glob(pattern, command.trim()))
}

/// Returns whether a text is as a pattern says, in which `*` is anything and `?` any one character.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut here) = (0, 0);
    // Where the last `*` stands, and up to where it reaches so far.
    let mut star = None;
    while here < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(one) if *one == '?' || *one == text[here] => {
                at += 1;
                here += 1;
            }
            _ => match &mut star {
                Some((begin, reach)) => {
                    *reach += 1;
                    (at, here) = (*begin + 1, *reach);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|one| *one == '*')
}

/// Where operations are described, in the data folder.
const FILE_NAME: &str = "guard.toml";
/// What a tool is called with, by the names that the tools of Claude Code have for it.
const MEMBERS: [&str; 6] = ["command", "file_path", "notebook_path", "url", "query", "path"];
const MAX_FILE_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_anything() {
        for (pattern, text) in [
            ("*", ""),
            ("a*c", "abbc"),
            ("*b*", "abc"),
            ("a?c", "abc"),
            ("a*b*c", "a1b2b3c"),
            ("ä*", "ää"),
            ("", ""),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a?c", "ac"), ("a*c", "abd"), ("b", "abc"), ("*x", "xy")] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
        // No pattern takes for ever.
        assert!(!glob(&"*a".repeat(200), &"a".repeat(100)));
    }

    fn fits(pattern: &str, tool: &str, input: &Value) -> bool {
        Pattern::from(pattern.to_owned()).fits(&Tool { name: tool, input })
    }

    #[test]
    fn pattern_with_an_argument_means_such_calls() {
        let line = json!({ "command": "cd x && git push origin main" });
        assert!(fits("Bash(git push *)", "Bash", &line));
        assert!(fits("Bash", "Bash", &line) && fits("mcp__k8s", "mcp__k8s__get", &line));
        assert!(!fits("Bash(git pull*)", "Bash", &line));
        assert!(!fits("Write(git push *)", "Bash", &line));
        assert!(fits("Write(*.env)", "Write", &json!({ "file_path": "/a/.env" })));
        assert!(fits("mcp__k8s__*(*prod*)", "mcp__k8s__apply", &json!({ "where": { "is": "prod" } })));
        assert!(fits("Bash(x)", "Bash", &Value::Null), "what is not known counts");
    }

    #[test]
    fn file_that_cannot_be_read_describes_nothing() {
        for text in
            ["operations = 1", "[operations]\ndeploy = \"Bash\"", "[operations", "[operations]\nx = [1]"]
        {
            assert!(Operations::parse(text).is_none(), "{text}");
        }
        let rules = "default = \"ask\"\n[[rule]]\nid = \"a\"\n[operations]\nDeploy = [\"Bash\"]\n";
        assert!(Operations::parse(rules).unwrap().find("deploy").is_some());
    }
}
