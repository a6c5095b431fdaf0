//! Which tools a question blocks, by the words it names: a tool, an MCP server, a class of tools, or an operation that
//! `guard.toml` describes. Any other word, and none, means everything that does something (CLR-62).

use demur_ledger::name::Operation;
use serde_json::Value;

use super::{operations::Operations, release};

/// A tool that is about to be called.
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
}

impl Tool<'_> {
    /// Returns whether it is a tool of demur for asking and looking, under its own name, as a plugin or under one of these.
    pub(super) fn is_own(&self, servers: &[String]) -> bool {
        let known = OWN_SERVERS.into_iter().chain(servers.iter().map(String::as_str));
        let rest = self.name.strip_prefix("mcp__");
        known.into_iter().any(|server| {
            let tool =
                rest.and_then(|rest| rest.strip_prefix(server)).and_then(|rest| rest.strip_prefix("__"));
            tool.is_some_and(|tool| OWN_TOOLS.contains(&tool) || is_of_plans(tool))
        })
    }

    /// Returns whether a question that names these words blocks it.
    pub(super) fn is_stopped(&self, blocks: &[Operation], operations: &Operations) -> bool {
        let word = |word: &Operation| self.is_meant(word.as_str(), operations);
        if blocks.is_empty() { self.does_something() } else { blocks.iter().any(word) }
    }

    fn is_meant(&self, word: &str, operations: &Operations) -> bool {
        let word = word.to_ascii_lowercase();
        let described = operations.find(&word);
        if let Some(patterns) = described
            && patterns.iter().any(|pattern| pattern.fits(self))
        {
            return true;
        }
        let is = |names: &[&str]| names.iter().any(|name| self.name.eq_ignore_ascii_case(name));
        match word.as_str() {
            // A shell writes files as well.
            "edit" => is(&EDIT) || is(&SHELL),
            "shell" => is(&SHELL),
            "web" => is(&WEB),
            "agents" => is(&AGENTS),
            "mcp" => self.name.starts_with("mcp__"),
            server if is_mcp(server) => self.is_of_server(server),
            tool if is_known(tool) => is(&[tool]),
            _ if described.is_some() => false,
            _ => self.does_something(),
        }
    }

    /// Returns whether it is this tool of an MCP server, or any tool of that server. The beginning of a tool's name, such as
    /// `mcp__k8s__`, means the server.
    pub(super) fn is_of_server(&self, word: &str) -> bool {
        let name = self.name.to_ascii_lowercase();
        [word, word.trim_end_matches('_')]
            .into_iter()
            .any(|word| name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with("__")))
    }

    /// Returns whether it does more than looking, planning or talking to the user.
    fn does_something(&self) -> bool {
        !LOOKING.contains(&self.name)
    }

    /// Returns whether it is a shell.
    pub(super) fn is_shell(&self) -> bool {
        SHELL.contains(&self.name)
    }

    /// Returns whether it is a shell in which the agent might let itself go: any use of `demur` that does not only look.
    pub(super) fn releases(&self) -> bool {
        self.is_shell() && self.input["command"].as_str().is_some_and(release::might_release)
    }
}

fn is_of_plans(tool: &str) -> bool {
    let rest = tool.strip_prefix("wwa_").unwrap_or_default();
    // Two underscores part a server from its tool: behind them somebody else's tool may stand.
    !rest.is_empty()
        && !tool.contains("__")
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns whether a word names a server of MCP, or a tool of one.
pub(super) fn is_mcp(word: &str) -> bool {
    word.strip_prefix("mcp__").is_some_and(|server| !server.trim_matches('_').is_empty())
}

fn is_known(word: &str) -> bool {
    let lists: [&[&str]; 6] = [&EDIT, &SHELL, &WEB, &AGENTS, &LOOKING, &OTHERS];
    lists.iter().any(|names| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
}

/// What demur is called: by setup, and as a plugin.
const OWN_SERVERS: [&str; 2] = ["demur", "plugin_demur_demur"];
const OWN_TOOLS: [&str; 9] = [
    "ask_human",
    "cancel_question",
    "cancel_questions",
    "check_confirmation",
    "check_question",
    "check_questions",
    "confirm_operation",
    "list_question",
    "list_questions",
];
const EDIT: [&str; 4] = ["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// Each runs a command line. `Monitor` goes on listening to its own.
const SHELL: [&str; 3] = ["Bash", "Monitor", "PowerShell"];
const WEB: [&str; 2] = ["WebFetch", "WebSearch"];
const AGENTS: [&str; 3] = ["Agent", "SendMessage", "Task"];
/// What a question that names nothing lets pass: tools of Claude Code that look, plan, or talk to the user.
const LOOKING: [&str; 17] = [
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Read",
    "ReadMcpResourceTool",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
];
/// Other tools of Claude Code: a question that names one blocks that one.
const OTHERS: [&str; 5] = ["BashOutput", "KillShell", "NotebookRead", "Skill", "SlashCommand"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stops(words: &[&str], tool: &str) -> bool {
        let blocks: Vec<Operation> =
            words.iter().map(|word| Operation::try_from((*word).to_owned()).unwrap()).collect();
        let operations = Operations::parse(
            "default = \"allow\"\n[operations]\nship = [\"Bash(*deploy*)\", \"mcp__k8s__*\", \"mcp__aws\"]\n",
        );
        let input = json!({ "command": "make deploy" });
        Tool { name: tool, input: &input }.is_stopped(&blocks, &operations.unwrap())
    }

    /// CLR-62
    #[test]
    fn words_block_what_they_mean() {
        for (words, stopped, passing) in [
            (&["bash"][..], &["Bash"][..], &["Write", "BashOutput", "Read"][..]),
            (
                &["edit"],
                &["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "Monitor"],
                &["WebFetch", "Task", "Read"],
            ),
            (&["shell"], &["Bash", "Monitor"], &["Edit", "mcp__x__y"]),
            (&["web"], &["WebFetch", "WebSearch"], &["Bash", "Edit"]),
            (&["agents"], &["Task", "Agent"], &["Bash", "TaskCreate"]),
            (&["mcp"], &["mcp__x__y"], &["Bash"]),
            (&["mcp__github"], &["mcp__github__create"], &["mcp__github2__x", "Bash"]),
            (&["mcp__k8s__"], &["mcp__k8s__apply"], &["mcp__k8s2__apply", "mcp__k8__s", "Bash"]),
            (&["mcp__k8s__apply_"], &["mcp__k8s__apply_", "mcp__k8s__apply"], &["mcp__k8s__apply_2", "Bash"]),
            (&["ship"], &["Bash", "mcp__k8s__apply", "mcp__aws__run"], &["Edit", "mcp__aws2__run", "Read"]),
            (&["Read"], &["Read"], &["Bash"]),
            (&["web", "Bash"], &["Bash", "WebFetch"], &["Edit"]),
        ] {
            for tool in stopped {
                assert!(stops(words, tool), "{words:?} lets {tool} pass");
            }
            for tool in passing {
                assert!(!stops(words, tool), "{words:?} blocks {tool}");
            }
        }
    }

    #[test]
    fn other_words_and_none_block_everything_that_does_something() {
        for words in [
            &[][..],
            &["deploy"],
            &["build"],
            &["planner"],
            &["editor"],
            &["NewTool"],
            &["web", "x"],
            &["mcp__"],
            &["mcp____"],
        ] {
            for tool in ["Bash", "Edit", "Task", "WebFetch", "mcp__x__y", "BashOutput", "SomethingNew"] {
                assert!(stops(words, tool), "{words:?} lets {tool} pass");
            }
            for tool in LOOKING {
                assert!(!stops(words, tool), "{words:?} blocks {tool}");
            }
        }
    }

    #[test]
    fn own_tools_are_known_by_their_whole_name() {
        let is_own = |name: &str| Tool { name, input: &json!({}) }.is_own(&["ask".to_owned()]);
        for server in ["demur", "plugin_demur_demur", "ask"] {
            for tool in [
                "ask_human",
                "check_question",
                "list_questions",
                "cancel_question",
                "wwa_clarify_check",
                "confirm_operation",
                "check_confirmation",
            ] {
                assert!(is_own(&format!("mcp__{server}__{tool}")), "{server} {tool}");
            }
        }
        for name in [
            "mcp__demur__session_open",
            "mcp__demur__decide_confirmation",
            "mcp__demur__start_operation",
            "mcp__demur__ask_human2",
            "mcp__demur__wwa_",
            "mcp__demur__wwa_a-b",
            "mcp__demur__wwa__x",
            "mcp__demur__wwa_tools__deploy",
            "mcp__demur2__ask_human",
            "mcp__plugin_other_demur__ask_human",
            "demur__ask_human",
            "xmcp__demur__ask_human",
        ] {
            assert!(!is_own(name), "{name}");
        }
    }

    #[test]
    fn every_shell_is_looked_at_for_what_releases() {
        for (name, stopped) in [("Monitor", true), ("PowerShell", true), ("Read", false)] {
            let tool = Tool { name, input: &json!({ "command": "demur cancel 01X" }) };
            assert_eq!(tool.releases(), stopped, "{name}");
        }
    }
}
