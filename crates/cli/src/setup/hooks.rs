//! The hooks of Claude Code: one before every tool call, and those that tell a session what was answered.

use std::{ffi::OsStr, path::Path};

use serde_json::Value;

use super::{
    client::{AT_END, AT_PROMPT, AT_START, BEFORE_TOOL},
    edit::Slot,
    entry::{Entry, HOOK, NAME},
    part::Insert,
    tree::Tree,
};
use crate::failure::Failure;

/// Returns the hooks in the order in which they are put in. The one that wakes a session is put in only if `wake` says so,
/// and kept where it is.
pub(super) fn hooks(entry: &Entry, wake: bool) -> Result<Vec<Insert>, Failure> {
    let line = entry.hook_line("")?;
    let quiet = |slot: &'static Slot<'static>| Insert {
        slot,
        tree: group(None, &line, vec![("timeout", Tree::Number(HOOK_TIMEOUT_SECONDS))]),
        is_ours: is_our_hook,
        only_renewed: false,
    };
    let before = Insert {
        tree: group(
            Some("*"),
            &line,
            vec![
                ("timeout", Tree::Number(HOOK_TIMEOUT_SECONDS)),
                // A hook that fails or is late refuses the call.
                ("onFailure", Tree::Text("block".to_owned())),
            ],
        ),
        ..quiet(&BEFORE_TOOL)
    };
    let waking = Insert {
        slot: &AT_END,
        tree: group(
            None,
            &entry.hook_line(WAKE)?,
            vec![("timeout", Tree::Number(WAKE_TIMEOUT_SECONDS)), ("asyncRewake", Tree::Flag(true))],
        ),
        is_ours: is_our_waking_hook,
        only_renewed: !wake,
    };
    Ok(vec![before, quiet(&AT_START), quiet(&AT_PROMPT), quiet(&AT_END), waking])
}

fn group(matcher: Option<&str>, line: &str, more: Vec<(&'static str, Tree)>) -> Tree {
    let text = |text: &str| Tree::Text(text.to_owned());
    let hook = [("type", text("command")), ("command", text(line))].into_iter().chain(more).collect();
    let mut members: Vec<_> = matcher.map(|matcher| ("matcher", text(matcher))).into_iter().collect();
    members.push(("hooks", Tree::List(vec![Tree::Object(hook)])));
    Tree::Object(members)
}

/// Returns whether setup wrote this hook, and it is the only one of its group.
fn is_our_hook(group: &Value) -> bool {
    options(group).is_some_and(|options| !options.starts_with(WAKE))
}

fn is_our_waking_hook(group: &Value) -> bool {
    options(group).is_some_and(|options| options.starts_with(WAKE))
}

/// Returns what follows the name of our hook in its line, where it is the only one of its group.
fn options(group: &Value) -> Option<&str> {
    let [hook] = group["hooks"].as_array()?.as_slice() else { return None };
    let (program, options) = hook["command"].as_str()?.split_once(HOOK)?;
    let program = Path::new(program.trim().trim_matches('\'')).file_name();
    (program == Some(OsStr::new(NAME))).then_some(options)
}

const WAKE: &str = " --wake";
/// How long Claude Code waits for a hook: it answers a tool call within 2 s, and may have to start a server otherwise.
const HOOK_TIMEOUT_SECONDS: u32 = 10;
/// How long a hook that wakes may wait, in seconds.
const WAKE_TIMEOUT_SECONDS: u32 = 86_400;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hooks_are_recognized_by_what_they_start() {
        let group =
            |command: &str| json!({ "matcher": "*", "hooks": [{ "type": "command", "command": command }] });
        assert!(is_our_hook(&group("'/a b/demur' hook claude-code --data /x")));
        assert!(is_our_hook(&group("demur hook claude-code")));
        assert!(is_our_hook(&group("demur hook claude-code --strict")), "as it was written once");
        assert!(!is_our_hook(&group("mine.sh")));
        assert!(!is_our_hook(&json!({ "hooks": [{ "command": "demur hook claude-code" }, {}] })));
        assert!(is_our_waking_hook(&group("demur hook claude-code --wake --data /x")));
        assert!(!is_our_hook(&group("demur hook claude-code --wake")));
        assert!(!is_our_waking_hook(&group("demur hook claude-code")));
    }
}
