//! The longer texts of `--help`: an introduction, examples at the end, the exit codes.

mod confirm;
mod identity;
mod passkey;
mod plan;
mod question;
mod rules;
mod run;
mod server;
mod setup;
mod store;

pub(super) use confirm::*;
pub(super) use identity::*;
pub(super) use passkey::*;
pub(super) use plan::*;
pub(super) use question::*;
pub(super) use rules::*;
pub(super) use run::*;
pub(super) use server::*;
pub(super) use setup::*;
pub(super) use store::*;

use crate::exit::Exit;

/// Returns examples followed by the exit codes.
pub(super) fn footer(examples: &str) -> String {
    let codes: Vec<String> = Exit::ALL.iter().map(|exit| format!("  {exit}")).collect();
    format!("{examples}\n\nExit codes:\n{}\n\n{ENVIRONMENT}", codes.join("\n"))
}

pub(super) const ABOUT: &str = "\
demur is the place where AI agents stop and ask instead of guessing, and can prove later that they did.

Every step of a piece of work is a statement that its author signs. A desk puts the statements in order and \
chains them by hash. Anybody can check the file that comes out without trusting whoever made it.

New here? Run `demur demo`: it takes a second and touches nothing of yours.";

pub(super) const EXAMPLES: &str = "\
Examples:
  demur ask \"Which colour?\"              ask, wait, print the answer
  demur inbox                            what waits for an answer, and a way to give it
  demur demo                             a whole session with four agents, told step by step
  demur verify run.jsonl                 what a file proves, and what it does not
  demur trace list                       what was recorded here
  demur trace show last                  who did what, and why
  demur export last | demur verify -     one file that anybody can check, checked
  demur keys new alice --role planner    make a key; the first one also creates the registry
  demur keys list                        who may speak, and since when
  demur keys list --json | jq .keys      the same for programs";

pub(super) const SHORT_FOOTER: &str = "`demur --help` has examples and the exit codes.";

const ENVIRONMENT: &str = "\
Environment:
  DEMUR_DATA     the data folder, unless --data names one
  DEMUR_PLAIN=1  no colour and no other escapes; NO_COLOR does the same
  TZ             the zone of the times that are shown; programs get UTC with --json";

pub(super) const KEYS_ABOUT: &str = "\
Make, list, rotate and revoke the keys that may speak.

A key is known by its fingerprint. The registry of the data folder says what each key may speak as; every \
change to it is a signed event that stays for good. Secrets lie in the folder `keys`, each in a file that only \
you can read.

A name is what demur says about a key. What is proven is the fingerprint.";

pub(super) const KEYS_EXAMPLES: &str = "\
Examples:
  demur keys new alice --role planner
  demur keys list
  demur keys rotate alice
  demur keys revoke alice --reason lost

`demur --help` lists the exit codes.";

pub(super) const NEW_ABOUT: &str = "\
Make a key and register it.

The registration is signed with the new key itself, which shows that its holder has it. The first key also \
creates the registry and the key of the desk that signs it.

With --out the secret goes to FILE and nowhere else: for an agent in a process of its own, which signs for itself \
(docs/agents.md).

With --recovery a second key is made that can do one thing only: name a successor when the key is lost. Its \
secret goes to FILE and nowhere else. Move that file away from this machine.";

pub(super) const NEW_EXAMPLES: &str = "\
Examples:
  demur keys new alice --role planner
  demur keys new \"build robot\" --role executor --recovery /media/stick/robot.key
  demur keys new cleo --role critic --out cleo.key
  demur keys new carol --role critic --json

`demur --help` lists the exit codes.";

pub(super) const LIST_ABOUT: &str = "\
List every key, oldest first, with its role, the beginning of its fingerprint, its status and since when it is \
registered.

Status: active; rotated (it has a successor and still speaks until it is retired); retired; revoked.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  demur keys list
  demur keys list --json | jq -r '.keys[] | select(.status == \"active\") | .fingerprint'

`demur --help` lists the exit codes.";

pub(super) const SHOW_ABOUT: &str = "\
Show everything public about one key: fingerprint, public key, how it came in and how much stands behind that, \
and what became of it. Never the secret.";

pub(super) const SHOW_EXAMPLES: &str = "\
Examples:
  demur keys show alice
  demur keys show 9f86d081
  demur keys show desk --json

`demur --help` lists the exit codes.";

pub(super) const ROTATE_ABOUT: &str = "\
Replace a key by a new one of the same holder and role.

The old key signs for its successor. If it is lost, its recovery key does: --with-recovery FILE. The old key \
stays usable for 24 hours, so that nothing under way breaks; after that the next change to the registry retires \
it and removes its secret. With --retire-now this happens at once.

With --recovery a key that has no recovery key gets one, whose secret goes into a new file. That of the server's \
own key (`desk`) also brings back an operator who has lost every passkey: `demur passkey reset`. Keep it elsewhere.";

pub(super) const ROTATE_EXAMPLES: &str = "\
Examples:
  demur keys rotate alice
  demur keys rotate alice --retire-now
  demur keys rotate alice --with-recovery /media/stick/alice.key
  demur keys rotate desk
  demur keys rotate desk --recovery /media/stick/desk.key

`demur --help` lists the exit codes.";

pub(super) const REVOKE_ABOUT: &str = "\
Take a key's voice away, at once and for good.

What the key signed before stays in the record. The event holds a hash over all that was recorded here until \
then, so that nothing can be slipped in before it later. The secret is removed from this data folder.";

pub(super) const REVOKE_EXAMPLES: &str = "\
Examples:
  demur keys revoke alice --reason withdrawn
  demur keys revoke 9f86d081 --reason compromised --note \"laptop stolen\"

`demur --help` lists the exit codes.";

pub(super) const DEMO_ABOUT: &str = "\
Watch four agents do a small task accountably, then check the file they leave.

A planner proposes, a critic sets a condition, an executor does the work and claims a result, the critic doubts \
it, an auditor closes. One step comes too early and is refused. The keys, the signatures, the store and the work are \
real; the folder is new, and your data folder is not touched.";

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  demur demo
  demur demo --keep ./my-demo
  demur demo --json | jq .verification.verdict

`demur --help` lists the exit codes.";

pub(super) const VERIFY_ABOUT: &str = "\
Say what an export proves, what is only the desk's word, and what is neither.

Nothing but the file is needed: no network, no configuration, no data folder. Every line is checked: its form, its \
place in the chain, its author's key and signature, its content, and whether the run kept its rules. The report \
names the first event that does not hold and what to do about it. The same file gives the same report.

A file can be whole and still come from somebody else, or lack its end. What you know from elsewhere settles that: \
a receipt you were given, a key you pinned, the hash of an event you saw before. Without any of them the report says \
\"origin and completeness not established\", and --require-anchor makes that a failure.

A second export of the same store is compared: the key registries always, and of one trace every event: where both hold and differ, demur signed two \
histories, and the two files together prove it. A receipt as the second file is the same as --receipt.";

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  demur verify run.jsonl
  demur verify run.jsonl --pin desk=FINGERPRINT --receipt receipt.json --require-anchor
  demur verify run.jsonl --against 41:HASH      event 41 is the one I saw
  demur verify yesterday.jsonl today.jsonl      did demur rewrite anything?
  demur verify run.jsonl --html report.html     the report as a page, to print or to send
  demur verify run.jsonl --json | jq .verdict
  demur export last | demur verify -
  zcat run.jsonl.gz | demur verify -

Exit codes: 0 pass, with or without warnings; 1 fail or not established, the report says why; 2 the file cannot be \
read as an export, or is of a newer format. `demur --help` lists the others.";

pub(super) const COMPLETIONS_ABOUT: &str = "\
Print the script that completes demur's commands and options in a shell.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(demur completions bash)
  demur completions zsh > ~/.zfunc/_demur
  demur completions fish > ~/.config/fish/completions/demur.fish

`demur --help` lists the exit codes.";
