//! The longer texts of `demur setup` and `demur hook`.

pub(in crate::arguments) const SETUP_ABOUT: &str = "\
Make demur known to a program that speaks MCP: shows what changes in the program's configuration file, asks, and writes it. \
Everything else in the file stays as it is, byte for byte; a file that cannot be changed safely is left alone, and what \
belongs into it is printed. --undo takes out what was put in. A second time changes nothing.

Without --project the file is yours and holds for every project. With --project it is the one in this folder, which others \
may share: it names `demur` by its name and not by where it lies here.

The data folder is written down where --data or DEMUR_DATA names one.";

pub(in crate::arguments) const SETUP_EXAMPLES: &str = "\
Examples:
  demur setup claude-code               show the change, ask, write it
  demur setup claude-code --hook        also refuse tool calls while a question is open
  demur setup claude-code --hook --wake   also wake an idle session when an answer comes
  demur setup vscode --project --yes    into .vscode/mcp.json
  demur setup codex --tools wwa         with the tools for plans
  demur setup hermes --print            only what would be put in
  demur setup cursor --undo             take it out again

`demur --help` lists the exit codes; 3 if the file cannot be changed safely. docs/mcp.md has two minutes for each client.";

pub(in crate::arguments) const HOOK_ABOUT: &str = "\
Answer the hooks of a program that an agent runs in. The program calls this; `demur setup claude-code --hook` tells it to.";

pub(in crate::arguments) const HOOK_EXAMPLES: &str = "\
Examples:
  demur setup claude-code --hook

`demur --help` lists the exit codes.";

pub(in crate::arguments) const HOOK_CLAUDE_CODE_ABOUT: &str = "\
Answer a hook of Claude Code: read its JSON from standard input, and say on standard output what Claude Code shall do.

`PreToolUse`: refuse the tool call while a question or a gap of this session is open that blocks it, naming the question and \
where to answer it. A question counts if this session of Claude Code asked it (--asker names others) and its severity is \
`block`. Its words say what it blocks: a tool (`Bash`), an MCP server (`mcp__github`), a class (`edit`, `shell`, `web`, \
`agents`, `mcp`), or a name under [operations] of guard.toml. Any other word, and none, means every tool but those that only \
look. Asking and looking at questions is never refused.

Where nothing is open, no server is needed. Where a question may be open and no server answers within 2 s, the call is \
refused. No server is started for this.

`SessionStart`, `UserPromptSubmit`, `Stop`: tell the agent the answers that this session has not seen yet. Every other event \
passes in silence.";

pub(in crate::arguments) const HOOK_CLAUDE_CODE_EXAMPLES: &str = "\
Examples:
  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}' | demur hook claude-code
  demur hook claude-code --asker claude-code --asker ask --server asking

Exit codes: 0 with a decision on standard output, or silent; 2 with one line on standard error if the input is no hook or does \
not end, and with --wake when an answer came: Claude Code refuses the call, or wakes the session.";
