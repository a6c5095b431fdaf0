//! The longer texts of `demur confirm`.

pub(in crate::arguments) const CONFIRMATION_ABOUT: &str = "\
Put one operation before a person, who says yes or no to exactly that one. A yes is for the bytes of the operation, known by \
their digest: it serves for one start, and for no other operation. Silence is a no, there is no default, and whoever wants to act \
does not confirm it. An answer to a question confirms nothing.

A person confirms here, in the inbox of the browser, over HTTP or through another MCP client; the first yes or no counts.";

pub(in crate::arguments) const CONFIRMATION_EXAMPLES: &str = "\
Examples:
  demur confirm ask \"Send 10 to mallory\" --operation '{\"amount\":10,\"to\":\"mallory\"}'
  demur confirm show last
  demur confirm give 01ARZ3NDEKTSV4RRFFQ69G5FAV.0
  demur confirm start last --operation '{\"amount\":10,\"to\":\"mallory\"}' && ./send && demur confirm end last

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_ASK_ABOUT: &str = "\
Put one operation before a person and wait until it is confirmed or refused. The id is printed on standard error, the word \
`given` on standard output. It stays open if this command is stopped: `demur confirm wait ID` goes on waiting.";

pub(in crate::arguments) const CONFIRMATION_ASK_EXAMPLES: &str = "\
Examples:
  demur confirm ask \"Drop table users\" --operation '{\"sql\":\"DROP TABLE users\"}' --consequence \"It is gone.\"
  demur confirm ask \"Deploy 1.2\" --operation - --timeout 10m < deploy.json
  id=$(demur confirm ask \"Deploy 1.2\" --operation '{\"version\":\"1.2\"}' --no-wait)
  demur confirm ask \"Let the tool run\" --trace last --about 12 --as critic

Exit codes: 0 given; 10 refused; 12 nobody said yes in time, which is a no. `demur --help` lists all exit codes.";

pub(in crate::arguments) const CONFIRMATION_LIST_EXAMPLES: &str = "\
Examples:
  demur confirm list
  demur confirm list --all --json | jq '.confirmations[].state'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_SHOW_EXAMPLES: &str = "\
Examples:
  demur confirm show last
  demur confirm show 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 --json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_WAIT_EXAMPLES: &str = "\
Examples:
  demur confirm wait last
  demur confirm wait 01ARZ3NDEKTSV4RRFFQ69G5FAV.0

Exit codes: 0 given; 10 refused; 12 nobody said yes in time. `demur --help` lists all exit codes.";

pub(in crate::arguments) const CONFIRMATION_GIVE_ABOUT: &str = "\
Say yes to exactly the operation that `demur confirm show` prints. With --digest it is refused unless the digest of the operation \
begins so: a script says what it means. `last` needs it, because a newer confirmation may have come since you looked.";

pub(in crate::arguments) const CONFIRMATION_GIVE_EXAMPLES: &str = "\
Examples:
  demur confirm give 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 --note \"as discussed\"
  demur confirm give last --digest 5f2c1a

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_REFUSE_EXAMPLES: &str = "\
Examples:
  demur confirm refuse 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 --note \"too much\"
  demur confirm refuse last --digest 5f2c1a

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_START_ABOUT: &str = "\
Record that a confirmed operation starts, before it is carried out. It is refused unless the confirmation was given, was not used yet \
and is for exactly this operation.";

pub(in crate::arguments) const CONFIRMATION_START_EXAMPLES: &str = "\
Examples:
  demur confirm start last --operation '{\"amount\":10,\"to\":\"mallory\"}'
  demur confirm start 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 --operation - < deploy.json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRMATION_END_EXAMPLES: &str = "\
Examples:
  demur confirm end last
  demur confirm end last --failed

`demur --help` lists the exit codes.";
