//! Committed files that are made from the code: schemas, tables, diagram, golden export. Run the tests with
//! `DEMUR_BLESS=1` to write them anew, and read the difference before committing it.
#![expect(clippy::disallowed_methods, reason = "tests read and write the committed files")]

use std::{fmt::Write as _, fs, path::PathBuf};

use demur_ledger::{
    content::ContentRule,
    event_type::{EventType, Opens, TraceKind},
    schema,
    state::{Phase, TRANSITIONS, Transition},
    verify::{Code, FindingSeverity},
};

/// Compares a committed file with what the code makes, or writes it.
#[track_caller]
pub(crate) fn committed(path: &str, made: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("DEMUR_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == made, "{path} is not what the code makes: run the tests with DEMUR_BLESS=1 and look");
}

#[test]
fn schemas_are_committed() {
    let mut names = Vec::new();
    for (name, schema) in schema::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        committed(&format!("conformance/ledger/schemas/{name}.json"), &text);
        names.push(name);
    }
    assert_eq!(names.len(), EventType::ALL.len() + 7);
}

#[test]
fn schemas_require_every_field() {
    let (_, schema) = schema::all().into_iter().find(|(name, _)| name == "events/proposal_created").unwrap();
    let schema = serde_json::to_value(&schema).unwrap();
    let facts = &schema["$defs"]["ProposalCreated"];
    assert_eq!(facts["required"], serde_json::json!(["fallback_for", "replaces"]));
}

#[test]
fn the_table_of_event_types_is_committed() {
    let mut text = String::from(
        "# Event types\n\nGenerated from `crates/ledger/src/event_type/table.rs`. Facts and content of each type: \
         `conformance/ledger/schemas/events/`.\n",
    );
    for (traces, title) in [
        (&[TraceKind::Registry][..], "The registry"),
        (&[TraceKind::Journal], "The journal"),
        (&[TraceKind::Run], "A run"),
        (&[TraceKind::Run, TraceKind::Work], "A run or a piece of work"),
        (&[TraceKind::Work], "A piece of work"),
        (&[TraceKind::Registry, TraceKind::Run, TraceKind::Work, TraceKind::Journal], "Any trace"),
    ] {
        let _ = write!(
            text,
            "\n## {title}\n\n| type | meaning | roles | proofs | content | opens |\n|---|---|---|---|---|---|\n"
        );
        for kind in EventType::ALL.iter().filter(|kind| kind.rule().traces == traces) {
            let rule = kind.rule();
            let roles: Vec<_> = rule.roles.iter().map(|role| role.as_str()).collect();
            let proofs: Vec<_> = rule.proofs.iter().map(|proof| format!("`{}`", proof.as_str())).collect();
            let content = if rule.content == ContentRule::Required { "required" } else { "none" };
            let opens = match rule.opens {
                Opens::Always => "yes",
                Opens::Maybe => "or a piece of work",
                Opens::Never => "",
            };
            let mandatory = if rule.mandatory_in_seed { " *" } else { "" };
            let _ = writeln!(
                text,
                "| `{kind}`{mandatory} | {} | {} | {} | {content} | {opens} |",
                rule.meaning,
                roles.join(", "),
                proofs.join(", ")
            );
        }
    }
    text.push_str("\n\\* one of the six types that seed 002 lists as mandatory signed.\n");
    committed("docs/events.md", &text);
}

/// LED-04
#[test]
fn the_state_machine_is_committed() {
    let mut text = String::from(
        "# The states of a run\n\nGenerated from `crates/ledger/src/state/table.rs`, which the desk and the verifier \
         read too. A pair of state and event that is not here is refused; `docs/format.md` 10 has the guards.\n\n\
         ```mermaid\nstateDiagram-v2\n    [*] --> initialized\n",
    );
    for row in TRANSITIONS {
        for (from, to) in changes(row) {
            let _ = writeln!(text, "    {from} --> {to}: {}{}", row.event, condition(row, " (", ")"));
        }
    }
    text.push_str("    completed --> [*]\n    failed --> [*]\n    aborted --> [*]\n```\n\n");
    text.push_str("| from | event | when | to | why |\n|---|---|---|---|---|\n");
    for row in TRANSITIONS {
        let from: Vec<_> = row.from.iter().map(|phase| phase.as_str()).collect();
        let to = row.to.map_or("(stays)", Phase::as_str);
        let when = row.when.as_str();
        let _ = writeln!(text, "| {} | `{}` | {when} | {to} | {} |", from.join(", "), row.event, row.source);
    }
    text.push_str(
        "\nEarlier rows win. Any state also becomes `failed` when the store or a verifier finds an integrity \
         violation (seed 7): a flag of the store and of every report, not an event.\n",
    );
    committed("docs/state-machine.md", &text);
}

#[test]
fn the_table_of_checks_is_committed() {
    let mut text = String::from(CHECKS);
    for code in Code::ALL {
        let weight = match code.severity() {
            FindingSeverity::Failure => "failure",
            FindingSeverity::NotEstablished => "not established",
            FindingSeverity::Warning => "warning",
        };
        let check = serde_json::to_value(code.check()).unwrap();
        let (meaning, cure) = (code.meaning(), code.cure());
        let _ = writeln!(text, "| {} | `{code}` | {weight} | {meaning} | {cure} |", check.as_str().unwrap());
    }
    committed("docs/checks.md", &text);
}

const CHECKS: &str = "# Checks and codes

Generated from `crates/ledger/src/verify/code.rs`. `demur verify` makes these checks in this order; findings are ordered
by the line of the file, then by this table, and \"the code\" of a file is that of its first failure. After a line that
cannot be read, and after a registry that does not hold, nothing further is checked, and the report says so.

Verdicts and exit codes: `pass` and `pass_with_warnings` 0; `not_established` (nothing failed, but something that
matters could not be checked) and `fail` 1; not readable as an export at all, or of a newer format, 2.

Which code:
- A fault in the frame of a line (header, head, inclusion, checkpoint, artifact line, disclosure, salt, base64) is
  `FILE_MALFORMED`; inside `event` it is `SCHEMA_INVALID`, also for a public key that is not of prime order.
- A registry event that breaks a rule of the format's section 7 (signer, actor, pin, epoch, roles ...) is
  `REGISTRY_INVALID`; its signature and proof are `SIG_INVALID` and `SIG_MISSING` as elsewhere; a run event in the
  registry is `ROLE_POLICY_VIOLATION`, and `REGISTRY_INVALID` where it stands first: only `store_created` opens a registry.
- After a registry event of a type nobody here knows everything else is checked on. A key that is not in the registry may have
  come in with it: then nothing is said about that key (`TYPE_UNKNOWN`), and the verdict stays open. After an event with a type or a
  proof nobody here knows, nothing is said of what its trace means any more.
- The store or trace of header or checkpoint differing from the events' is `STATEMENT_MISMATCH`.
- A line where it does not belong is `FILE_MALFORMED`; a registry or trace whose last event stands under no head is
  `HEAD_INVALID`.
- A file that ends inside its first line is `FILE_TRUNCATED` and exits with 2.
- Of a passkey that is not in the registry at all, nothing but that is said. Of one that had ended, the assertion is checked all the same.
- A pin named `desk` must be one of the desk's keys; any other name, which is the reader's own, must not. A pin
  anchors the trace as far as that key, or one that follows from it by rotation, signed it: the desk's key by the checkpoint, another's by
  its statements. A pinned passkey stands for those it vouches for as well. A key that is silent in the file, or was revoked and is not proven to have spoken before, anchors nothing.

Profiles: `strict` makes `AGAINST_ANSWER`, `CLAIM_DISPUTED`, `CLIENT_HELD_ROLES`, `FINALIZATION_INCOMPLETE`, `HISTORY_ABANDONED`,
`REVOKED_SINCE` and `ROOT_LATE` failures, and alone looks for `KEY_UNLINKED` (where keys are pinned), `NAME_MISSING` and `SAME_USER`; `lenient` makes `CLAIM_UNPROVEN` and
`ROLE_POLICY_VIOLATION` warnings. Integrity is the same in all three. Where the policy of a run says `distinct_clients`,
`CLIENT_HELD_ROLES` is a failure in every profile.

| check | code | weight | means | what to do |
|---|---|---|---|---|
";

fn changes(row: &Transition) -> Vec<(Phase, Phase)> {
    let to = |from: Phase| row.to.filter(|to| *to != from).map(|to| (from, to));
    row.from.iter().copied().filter_map(to).collect()
}

fn condition(row: &Transition, before: &str, after: &str) -> String {
    match row.when.as_str() {
        "" => String::new(),
        words => format!("{before}{words}{after}"),
    }
}
