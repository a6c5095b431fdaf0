//! Every document as literal JSON, written by hand, with all members that it can have.

use demur_clarify::{
    Error,
    answer::Answer,
    ask::Ask,
    attestation::{Attestation, Inclusion},
    audit::AuditRecord,
    document::Document,
    handoff::Handoff,
    identity::{Check, CheckReply, Possession, Register, Revoke, Rotate, RotateReply, SignedMessage},
    paper::{AcceptancePaper, DocumentPaper, RoundPaper},
    read,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// One document, the name of its schema, and its reader, which writes back what it read.
pub(crate) struct Sample {
    pub(crate) schema: &'static str,
    pub(crate) value: Value,
    pub(crate) read: fn(&[u8]) -> Result<Value, Error>,
}

fn sample<T: Serialize + DeserializeOwned>(schema: &'static str, value: Value) -> Sample {
    let read = |bytes: &[u8]| read::from_slice::<T>(bytes).map(|read| serde_json::to_value(read).unwrap());
    Sample { schema, value, read }
}

pub(crate) fn all() -> Vec<Sample> {
    vec![
        sample::<Document>("clarification-protocol", document()),
        sample::<Ask>("ask", ask()),
        sample::<Answer>("answer", answer()),
        sample::<AuditRecord>("audit-record", record()),
        sample::<Attestation>("attestation-protocol", attestation()),
        sample::<Inclusion>(
            "inclusion",
            json!({"leaf_index": 1, "tree_size": 3, "siblings": [hash(), hash()]}),
        ),
        sample::<AcceptancePaper>(
            "paper-acceptance",
            json!({"attestation": attestation(), "record": sealed()}),
        ),
        sample::<DocumentPaper>("paper-document", json!({"document": document(), "record": sealed()})),
        sample::<RoundPaper>("paper-round", json!({"record": sealed(), "round": record()["chain"][1]})),
        sample::<Handoff>("handoff", handoff()),
        sample::<SignedMessage<Register>>("identity-register", signed(&register())),
        sample::<SignedMessage<Rotate>>("identity-rotate", signed(&rotate())),
        sample::<RotateReply>(
            "identity-rotate-reply",
            json!({"status": "rotating", "old_key_expires": "2026-05-11T15:00:00Z"}),
        ),
        sample::<Possession>("identity-possession", possession()),
        sample::<SignedMessage<Revoke>>(
            "identity-revoke",
            signed(&json!({"type": "wwa.identity.revoke", "reason": "compromised"})),
        ),
        sample::<Check>("identity-check", check()),
        sample::<CheckReply>(
            "identity-check-reply",
            json!({"valid": false, "agent_id": "caller-01", "status": "active", "reason": "signature_mismatch"}),
        ),
    ]
}

/// CLR-20, CLR-21, CLR-50
#[test]
fn every_document_is_read_and_written_back_as_it_was() {
    for Sample { schema, value, read } in all() {
        assert_eq!(read(value.to_string().as_bytes()).unwrap(), value, "{schema}");
        assert_eq!(read(format!("{value:#}").as_bytes()).unwrap(), value, "{schema}");
    }
}

fn key() -> Value {
    json!("ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
}

fn seal() -> Value {
    json!(format!("ed25519:{}", "5e".repeat(64)))
}

fn hash() -> Value {
    json!(format!("sha256:{}", "a5".repeat(32)))
}

fn gap() -> Value {
    json!({
        "id": "gap-002", "field": "output.path", "severity": "BLOCK", "question": "Where to?", "context": "real build",
        "suggestions": ["dist"], "blocked_operations": ["build"]
    })
}

fn document() -> Value {
    json!({
        "$schema": "https://workswithagents.dev/specs/clarification-protocol.json", "protocol_version": "1.0.0",
        "session_id": "550e8400-e29b-41d4-a716-446655440000", "agent_id": "scaffold", "agent_public_key": key(),
        "timestamp": "2026-05-10T15:00:00.250Z", "status": "needs_clarification", "gaps": [gap()], "accepted_gaps": 1,
        "blocking_gaps": 1, "warning_gaps": 0, "signature": seal()
    })
}

fn ask() -> Value {
    json!({
        "type": "wwa.clarification.ask", "session_id": "550e8400-e29b-41d4-a716-446655440000", "round": 1,
        "agent_id": "scaffold", "ask_timestamp": "2026-05-10T15:00:00Z", "gap": gap(), "ask_signature": seal()
    })
}

fn answer() -> Value {
    json!({
        "type": "wwa.clarification.answer", "session_id": "550e8400-e29b-41d4-a716-446655440000", "round": 1,
        "gap_id": "gap-002", "answer": "dist", "answer_timestamp": "2026-05-10T15:01:23Z", "ask_signature": seal(),
        "answered_by": {"agent_id": "caller-01", "public_key": key(), "kind": "human"}, "answer_signature": seal()
    })
}

fn record() -> Value {
    json!({
        "session_id": "550e8400-e29b-41d4-a716-446655440000",
        "chain": [
            {
                "round": 1, "ask_round": 1, "ask_timestamp": "2026-05-10T15:00:00Z", "ask_signature": seal(), "gap": gap(),
                "answer_timestamp": "2026-05-10T15:01:23Z", "answer": "dist", "answer_signature": seal(),
                "answered_by": {"agent_id": "caller-01", "public_key": key()}, "resolved": true, "prev_hash": null
            },
            {
                "round": 2, "ask_round": 3, "ask_timestamp": "2026-05-10T15:00:00Z", "ask_signature": seal(), "gap": gap(),
                "answer_timestamp": "2026-05-10T15:01:23Z", "answer": "dist", "answer_signature": seal(),
                "answer_signer": "recorder", "answered_for": {"assurance": "signed_in", "name": "Ada"}, "resolved": false, "prev_hash": hash()
            }
        ],
        "total_rounds": 2, "all_resolved": false, "withdrawn_gaps": ["gap-003"], "chain_signature": seal()
    })
}

fn sealed() -> Value {
    let mut record = record();
    record.as_object_mut().unwrap().remove("chain");
    record
}

fn attestation() -> Value {
    json!({
        "$schema": "https://workswithagents.dev/specs/attestation-protocol.json", "protocol_version": "1.0.0",
        "attestation_id": "550e8400-e29b-41d4-a716-446655440001", "session_id": "550e8400-e29b-41d4-a716-446655440000",
        "agent_id": "scaffold", "agent_version": "1.0.0", "agent_public_key": key(), "timestamp": "2026-05-10T15:00:00Z",
        "inputs": {
            "description": "MOD training tracker", "component_type": "webpart-react", "operation": "add",
            "clarification_rounds": 1,
            "clarification_chain_ref":
                format!("clarification://session/550e8400-e29b-41d4-a716-446655440000#{}", hash().as_str().unwrap()),
            "overlaps_detected": {"jsp-440": {"partially_covers": ["nato-stanag"]}}, "spo_theme": true, "input_hash": hash()
        },
        "outputs": {
            "total_files": 2, "files_created": 1, "files_updated": 1, "compliance_libraries": 6, "locale_files": 2,
            "audit_file": "COMPLIANCE-AUDIT.md", "output_path": "src/webparts/trainingTracker/",
            "file_hashes": [
                {
                    "path": "src/b.ts", "sha256": hash(), "action": "created", "compliance_relevant": true,
                    "standards_applied": ["jsp-440"]
                },
                {"path": "src/a.json", "sha256": hash(), "action": "updated", "compliance_relevant": false}
            ],
            "output_hash": hash(),
            "build_result": {"exit_code": 0, "errors": 0, "warnings": 0, "build_log_hash": hash()}
        },
        "compliance_claims": [
            {"standard": "jsp-440", "status": "selected", "rationale": "MOD", "files_checked": 3, "hash_subtree": hash()}
        ],
        "deterministic": {
            "seed": null, "random_free": true, "agent_version_pinned": "scaffold==1.0.0", "reproducible_command": "scaffold",
            "expected_output_hash": hash()
        },
        "signature": seal()
    })
}

fn handoff() -> Value {
    json!({
        "handoff_id": "550e8400-e29b-41d4-a716-446655440002", "task_id": "original-task",
        "sender": {
            "agent_id": "builder-01", "session_id": "550e8400-e29b-41d4-a716-446655440000", "identity_sig": seal()
        },
        "context": {
            "task_description": "Build a compliance report", "workspace_path": "/projects/audit",
            "state_snapshot": {"files_modified": ["report.md"], "branch": "feature", "last_commit": "abc123"},
            "agent_memory": {"key_decisions": ["a"], "discovered_pitfalls": ["b"], "pending_items": ["c"]},
            "tools_required": ["terminal"],
            "constraints": {"max_turns": 30, "deadline": "2026-05-07T17:00:00Z", "compliance_level": "nhs-dtac"},
            "clarification_chain": record(), "attestation": attestation()
        },
        "quality_checklist": ["audit trail is complete"]
    })
}

fn signed(payload: &Value) -> Value {
    let message = json!({"agent_id": "scaffold", "timestamp": "2026-05-10T15:00:00Z", "payload": payload});
    json!({"message": message, "signature": seal()})
}

fn register() -> Value {
    json!({
        "type": "wwa.identity.register", "identity_version": "1.0.0-draft", "public_key": key(),
        "created_at": "2026-05-10T15:00:00Z", "expires_at": null, "did": "did:wwa:scaffold"
    })
}

fn rotate() -> Value {
    json!({"type": "wwa.identity.rotate", "new_public_key": key(), "new_key_signature": seal()})
}

fn possession() -> Value {
    json!({
        "type": "wwa.identity.possession", "agent_id": "scaffold", "public_key": key(), "timestamp": "2026-05-10T15:00:00Z"
    })
}

fn check() -> Value {
    let mut check = signed(&json!({"type": "heartbeat", "load": 0.3}));
    check["agent_id"] = "scaffold".into();
    check
}
