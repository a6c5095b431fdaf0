//! The longer texts of `--help` for traces, exports and the care of the store.

pub(in crate::arguments) const TRACE_ABOUT: &str = "\
Read what happened in a trace: who said what, as what, why, and on what it rests.

A trace is the record of one piece of work. It can be read at any time, also while more is recorded.";

pub(in crate::arguments) const TRACE_EXAMPLES: &str = "\
Examples:
  demur trace list
  demur trace show last
  demur trace show run.jsonl
  demur trace export last --out run.jsonl

`demur --help` lists the exit codes.";

pub(in crate::arguments) const TRACE_LIST_ABOUT: &str = "\
List the traces of the store, the newest first, with the phase of the run, the number of events, when it was opened, \
when something happened last, and what it is about: the task of a run, the name of a plan, the words of a question.

The column DAMAGE says whether an integrity check found the trace damaged. Nothing is checked by listing: `demur \
store check` does that.";

pub(in crate::arguments) const TRACE_LIST_EXAMPLES: &str = "\
Examples:
  demur trace list
  demur trace list --limit 5
  demur trace list --after TRACE                 the next page
  demur trace list --json | jq -r '.traces[] | select(.phase == \"completed\") | .trace'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const TRACE_SHOW_ABOUT: &str = "\
Show the events of a trace in words, in order, under the verdict on it.

The trace is an export in a file, or one of the store: then the same export is made and read in its place. A file \
whose name is `last`, `registry` or an id is meant by a path: ./last. The first 6 characters of an id or more are \
enough, where no file has that name.

The export is verified first. Where it does not hold, everything that can still be read is shown, what cannot be \
relied on is marked with a question mark, and the exit code is 1. Names are what demur calls the holders of keys; \
\"desk's word\" marks events that no key signed. DISPUTED marks claims with an open challenge.

With --graph the states of the run are drawn instead: one SVG that any browser shows and prints, without script. What \
happened has thick whole lines and numbers, what did not has thin broken ones.";

pub(in crate::arguments) const TRACE_SHOW_EXAMPLES: &str = "\
Examples:
  demur trace show last
  demur trace show run.jsonl
  demur trace show last --graph --out run.svg
  demur trace show run.jsonl --json | jq -r '.entries[] | select(.role == \"critic\") | .what'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const EXPORT_ABOUT: &str = "\
Write a trace as one file that anybody can verify without us: its events and artifacts, the registry of keys, and \
the desk's signature over all of it.

The file goes to standard output, or with --out to a new file that is there completely or not at all. What was \
erased is not in it; what is in it cannot be called back.";

pub(in crate::arguments) const EXPORT_EXAMPLES: &str = "\
Examples:
  demur export last | demur verify -
  demur export last --out run.jsonl
  demur export TRACE | gzip > run.jsonl.gz
  demur export registry --out keys.jsonl         who may speak, and since when

`demur --help` lists the exit codes.";

pub(in crate::arguments) const ERASE_ABOUT: &str = "\
Erase what one event says: its content with the salt, its artifact unless another event records the same bytes, and \
every signed paper since that may quote it. The event stays with its time, its author and its facts, so every \
signature and every other event still verifies. Who erased it, when and why is recorded as an event of its own.

The event is named by its trace, a dot and its number: TRACE.3, last.0, registry.2. A question that is open is settled \
first. What other events repeat stays until they are erased, too.

Nobody can call back what backups, exports and other people's copies hold. docs/erasure.md lists what keeps what.";

pub(in crate::arguments) const ERASE_EXAMPLES: &str = "\
Examples:
  demur erase last.4 --why \"a password was in it\"
  demur erase 01ARZ3.0 --why \"asked by its author\" --yes

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STORE_ABOUT: &str = "\
Care for the files of the store: look for damage, make backups, bring one back.

The store is `ledger.db` and the folder `artifacts` in the data folder. Events are only ever added; nothing here \
changes one.";

pub(in crate::arguments) const STORE_EXAMPLES: &str = "\
Examples:
  demur store check
  demur store backup /media/stick/demur-2026-11-15
  demur store restore /media/stick/demur-2026-11-15

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STORE_CHECK_ABOUT: &str = "\
Look at everything in the store and say what is wrong, why, and what to do about it.

First the files: the structure of the database, every event with its content and its artifact, and the tables that \
follow from events. Then every trace is exported and verified like a file from a stranger. A trace that does not hold \
is marked as failed: it stays readable, and nothing is added to it any more. Nothing is repaired.

The exit code is 1 if anything is wrong.";

pub(in crate::arguments) const STORE_CHECK_EXAMPLES: &str = "\
Examples:
  demur store check
  demur store check --json | jq -r '.problems[] | .cause'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STORE_REBUILD_ABOUT: &str = "\
Make again what follows from the events: their index, which command became which event, which key changed when, where \
each run stands.

These only save time. If `demur store check` says that one differs from the events, this is the cure. Events are read \
and never changed.

It needs the data folder for itself. A server that a command has started ends, and the next command starts another; one \
that you run yourself is left alone: end it first with `demur stop`.";

pub(in crate::arguments) const STORE_REBUILD_EXAMPLES: &str = "\
Examples:
  demur store rebuild

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STORE_BACKUP_ABOUT: &str = "\
Copy the store into a new folder as of one moment, while the server goes on.

The secret keys are not part of it: whoever has them speaks as their holders, and backups travel. Keep the folder \
`keys` elsewhere and closed; without the desk's key a store that comes back can record nothing.

Artifacts that the store has lost are named, and everything else is backed up: exit code 1. Where it fails nothing \
stays behind.";

pub(in crate::arguments) const STORE_BACKUP_EXAMPLES: &str = "\
Examples:
  demur store backup /media/stick/demur-2026-11-15
  demur store backup ./copy --json | jq .size

`demur --help` lists the exit codes.";

pub(in crate::arguments) const STORE_RESTORE_ABOUT: &str = "\
Make a backup the store of the data folder, which must have none.

With --replace the store that is there is moved aside into a folder `replaced-TIME` first, with the folder `runs`: no \
run that began in it goes on in the restored one. Nothing is deleted. The \
desk's key of that time must be in the folder `keys`. Before anything else the registry records that the store came \
back: a new epoch begins, so that parts of the abandoned history cannot be mixed in later.

Tokens, sessions in browsers and links of the backup are ended, and numbers that lists of questions have printed mean \
nothing any more.

It needs the data folder for itself, as `demur store rebuild` does.";

pub(in crate::arguments) const STORE_RESTORE_EXAMPLES: &str = "\
Examples:
  demur store restore /media/stick/demur-2026-11-15
  demur store restore ./copy --replace

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CHECKPOINT_ABOUT: &str = "\
Record a checkpoint: one hash over all traces as they are now, signed by demur, in the registry.

Nothing that is recorded later can be slipped in before it. Whoever keeps the hash of the event elsewhere can show \
that: `demur verify --against` compares.";

pub(in crate::arguments) const CHECKPOINT_EXAMPLES: &str = "\
Examples:
  demur checkpoint
  demur checkpoint --json | jq -r '\"\\(.event.sequence):\\(.event.hash)\"' > kept-elsewhere
  demur export registry | demur verify - --against \"$(cat kept-elsewhere)\"

`demur --help` lists the exit codes.";
