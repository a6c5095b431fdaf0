//! The longer texts of `demur check`, `demur plan`, `demur audit` and `demur handoff`.

pub(in crate::arguments) const CHECK_ABOUT: &str = "\
Hold a plan against the rules and say what is missing, ambiguous or contradictory, field by field. Nothing is recorded: \
`demur plan submit` does that.

With --json the answer has the signed document of the clarification protocol, if the data folder has a key to sign it.";

pub(in crate::arguments) const CHECK_EXAMPLES: &str = "\
Examples:
  demur check plan.json
  demur check plan.json --watch --rules my-pack
  demur check plan.json --rules examples/rules/travel --only
  generate-plan | demur check - --json | jq .gaps

Exit codes: 0 nothing is missing; 3 something must be clarified first.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const PLAN_ABOUT: &str = "\
Take a plan from submission to attestation. An agent submits it; the rules find what is missing, ambiguous or \
contradictory; every gap is a question that a person or another agent answers; the plan is confirmed when all of them \
are settled; what was made of it is attested. Every step is signed and recorded.";

pub(in crate::arguments) const PLAN_EXAMPLES: &str = "\
Examples:
  demur keys new agent --role agent
  demur plan submit plan.json
  demur plan list
  demur plan resolve last gap-001 jsp-440-only
  demur plan resolve last gap-002 --accept
  demur plan confirm last
  demur plan attest last --output dist
  demur audit last --json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const SUBMIT_ABOUT: &str = "\
Submit a plan. It is recorded with the rules it is held against and with every gap they find. The reply is the \
document of the clarification protocol while gaps are open, never a partial plan.

The same session with the same plan gets the same reply, byte for byte; with another plan it is refused.";

pub(in crate::arguments) const SUBMIT_EXAMPLES: &str = "\
Examples:
  demur plan submit plan.json
  demur plan submit plan.json --as builder --json
  demur plan submit trip.json --rules examples/rules/travel --only

Exit codes: 0 nothing is missing; 3 something must be clarified first.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const PLAN_LIST_ABOUT: &str = "\
List the plans that were submitted, the newest first: the session, how it stands, whose it is, when it came and what it \
is about.

The commands that take a session take its id, the first 6 characters of it or more, or `last`, which is the newest.";

pub(in crate::arguments) const PLAN_LIST_EXAMPLES: &str = "\
Examples:
  demur plan list
  demur plan list --limit 5
  demur plan list --json | jq -r '.plans[] | select(.open > 0) | .session'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PLAN_SHOW_ABOUT: &str = "\
Say where a session stands: what is asked, what was answered by whom, whether the plan is confirmed or attested.";

pub(in crate::arguments) const PLAN_SHOW_EXAMPLES: &str = "\
Examples:
  demur plan show last
  demur plan show last --json | jq .document

`demur --help` lists the exit codes.";

pub(in crate::arguments) const RESOLVE_ABOUT: &str = "\
Answer a question about a plan. The first answer by somebody entitled counts, once; whoever comes later is told who was \
first. Without --as the answer is yours, as recorded by demur (*same user*); with --as a key signs it.

An answer that does not settle the gap (not of its kind, itself ambiguous) is recorded as what it is, and the gap stays \
open: escalated. An answer that uncovers other gaps adds them.";

pub(in crate::arguments) const RESOLVE_EXAMPLES: &str = "\
Examples:
  demur plan resolve last gap-001 jsp-440-only
  demur plan resolve last gap-002 --accept --note \"LGPD does not apply to us\"
  demur plan resolve last gap-003 dist --as release-bot

Exit codes: 0 the gap is settled; 3 it is not.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const AMEND_ABOUT: &str = "\
Put another plan in the place of one that is not confirmed yet, in the same session. The rules are asked again: questions that \
no longer arise are withdrawn, those that stay keep their names, new ones are added. A field that somebody answered keeps \
the answer: leave it out, or as it was. Another value there is refused.";

pub(in crate::arguments) const AMEND_EXAMPLES: &str = "\
Examples:
  demur plan amend last plan.json

Exit codes: 0 nothing is asked; 3 something must be answered first.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const WITHDRAW_ABOUT: &str = "\
Withdraw a plan that is not confirmed: every question about it is closed, and nothing of it begins any more. With a gap, only \
that question is closed; what waits for it goes on waiting until `demur plan ask-again` puts it again and somebody answers. \
Without --as you say so.";

pub(in crate::arguments) const WITHDRAW_EXAMPLES: &str = "\
Examples:
  demur plan withdraw last --reason \"we do it by hand\"
  demur plan withdraw last gap-001
  demur plan withdraw last --as agent

`demur --help` lists the exit codes.";

pub(in crate::arguments) const ASK_AGAIN_ABOUT: &str = "\
Put a question about a plan again that somebody declined or withdrew, or that nobody answered in time. Whoever could answer \
it before can answer it now.";

pub(in crate::arguments) const ASK_AGAIN_EXAMPLES: &str = "\
Examples:
  demur plan ask-again last gap-001
  demur plan ask-again last gap-001 --as agent --reason \"nothing else will do\"

`demur --help` lists the exit codes.";

pub(in crate::arguments) const BEGIN_ABOUT: &str = "\
Begin an operation in the name of the agent that submitted the plan. It is refused while a question blocks it, and \
recorded otherwise.";

pub(in crate::arguments) const BEGIN_EXAMPLES: &str = "\
Examples:
  demur plan begin last build && make
  demur plan begin last deploy --exact '{\"to\":\"staging\"}'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CONFIRM_ABOUT: &str = "\
Confirm a plan with every answer in it. The record says of each value which event it came from. Refused while a gap is \
open or a warning is not accepted; the rules are asked once more before.";

pub(in crate::arguments) const CONFIRM_EXAMPLES: &str = "\
Examples:
  demur plan confirm last

`demur --help` lists the exit codes.";

pub(in crate::arguments) const ATTEST_ABOUT: &str = "\
Attest what was made of a confirmed plan: the hash of every file in a folder, the plan, and how many rounds of \
clarification came before. The attestation is signed by demur and recorded in the agent's name.";

pub(in crate::arguments) const ATTEST_EXAMPLES: &str = "\
Examples:
  demur plan attest last --output dist --program-version 1.4.0 --json > attestation.json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const AUDIT_ABOUT: &str = "\
Print the audit record of a session: every question that was put and every answer that was given, each timestamped and \
signed when it happened, chained round by round. `demur audit verify` checks a record offline; docs/clarify.md says how to \
do it with any Ed25519 library.";

pub(in crate::arguments) const AUDIT_EXAMPLES: &str = "\
Examples:
  demur audit last
  demur audit last --json > record.json
  demur audit verify record.json --registry trace.jsonl

`demur --help` lists the exit codes.";

pub(in crate::arguments) const AUDIT_VERIFY_ABOUT: &str = "\
Check an audit record offline: every question and answer is signed, each round follows from the one before, and none is \
missing before the last. That rounds were cut off the end shows only against a round that you know (--round). The keys \
come from you (--key) or from an export of the store that made the record (--registry). Exit 0 means that it holds, exit 1 \
that it does not.";

pub(in crate::arguments) const AUDIT_VERIFY_EXAMPLES: &str = "\
Examples:
  demur audit verify record.json --registry trace.jsonl
  demur audit last --json | demur audit verify - --registry trace.jsonl
  demur audit verify record.json --key ed25519:HEX --round 3:sha256:HEX

`demur --help` lists the exit codes.";

pub(in crate::arguments) const HANDOFF_ABOUT: &str = "\
Print the package with which somebody else goes on: the task, the audit record of the session and the attestation if \
there is one, signed by demur and kept in the trace. It is always JSON. `demur handoff verify` checks a package offline.";

pub(in crate::arguments) const HANDOFF_EXAMPLES: &str = "\
Examples:
  demur handoff last --task \"build and publish\" > package.json
  demur handoff verify package.json --registry trace.jsonl

`demur --help` lists the exit codes.";

pub(in crate::arguments) const HANDOFF_VERIFY_ABOUT: &str = "\
Check a package offline, as its receiver: the sender signed it, its audit record holds, and the attestation in it refers to \
that very record. What is still open in it has to be asked again. The keys come from you (--key) or from an export of the \
store that made the package (--registry). Exit 0 means that it holds, exit 1 that it does not.";

pub(in crate::arguments) const HANDOFF_VERIFY_EXAMPLES: &str = "\
Examples:
  demur handoff verify package.json --registry trace.jsonl
  demur handoff verify package.json --key ed25519:HEX

`demur --help` lists the exit codes.";
