//! The longer texts of `demur run --help`.

pub(in crate::arguments) const RUN_ABOUT: &str = "\
Do a task with four accountable roles. The planner proposes what the task file says, the critic holds it against the \
policy file, the executor runs the commands under limits and claims what they show, and the auditor verifies all of it \
and closes the run. Every step is signed and recorded before the next one.

Commands run in a helper process, never in a shell: with limits of time, output, memory, processes and files, without \
the environment, without sockets, able to write only into a folder of their own. Where the system cannot enforce that, \
nothing runs, unless the policy says sandbox = \"best-effort\"; the record says which it was.

Each role is played by demur itself with a key from the data folder, or by a process of its own that signs for itself: \
docs/agents.md. docs/run.md has the two file formats.

A run that is killed loses nothing: `demur run resume` goes on with the next step.";

pub(in crate::arguments) const RUN_EXAMPLES: &str = "\
Examples:
  demur run --task count.toml
  demur run --task count.toml --policy strict.toml --json
  demur run --task count.toml --until auditing
  demur run resume
  demur run status
  demur run abort --reason \"wrong input\"
  demur trace show last

Exit codes of a run: 0 it completed; 1 the audit failed; 3 it was aborted; 5 the policy let nothing run.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const RESUME_ABOUT: &str = "\
Go on with a run that was interrupted or stopped, with the step that comes next.

A tool whose end nobody reported is recorded as failed: what it did last is not known. It is tried again only with \
a new intent, and only as often as the policy allows.";

pub(in crate::arguments) const RESUME_EXAMPLES: &str = "\
Examples:
  demur run resume
  demur run resume 01KA2V6S5E8ZC5W0N8Q5H4Z7T3

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STATUS_ABOUT: &str = "\
Say where a run stands: its state, what was proposed, run and claimed, and what it waits for. Whoever owns the data \
folder goes on meanwhile.";

pub(in crate::arguments) const STATUS_EXAMPLES: &str = "\
Examples:
  demur run status
  demur run status --json | jq -r .phase

`demur --help` lists the exit codes.";

pub(in crate::arguments) const ABORT_ABOUT: &str = "\
End a run for good, on the operator's word. Nothing can follow; what was recorded stays. A process that runs it hears of \
it and stops: a tool that works is ended, an agent in a process of its own finishes its turn first.";

pub(in crate::arguments) const ABORT_EXAMPLES: &str = "\
Examples:
  demur run abort --reason \"the input was wrong\"

`demur --help` lists the exit codes.";
