//! The example of seed 000, section 4: JSP 440 with USWDS.

use demur_clarify::keys::KeyHistory;
use serde_json::json;

use crate::office::Office;

/// CLR-01 CLR-13 CLR-20 CLR-21 CLR-22 AEP-17
#[test]
fn the_example_of_the_seed_gives_the_document_of_the_seed() {
    let office = Office::with(&json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
        "standards_selected": ["jsp-440"], "deployment_target": "uswds",
    }));
    let session = office.session();
    let document = session.document().unwrap();
    document.verify(&KeyHistory::single(&office.signer())).unwrap();
    let mut shown = serde_json::to_value(document).unwrap();
    for signed in ["agent_public_key", "signature", "timestamp", "session_id"] {
        assert!(shown.as_object_mut().unwrap().remove(signed).is_some(), "{signed}");
    }
    // Written from the seed by hand.
    let expected = json!({
        "$schema": "https://workswithagents.dev/specs/clarification-protocol.json",
        "protocol_version": "1.0.0",
        "agent_id": "wwa-scaffold-v1.0.0",
        "status": "needs_clarification",
        "gaps": [{
            "id": "gap-001",
            "field": "compliance.jurisdiction",
            "severity": "BLOCK",
            "question": "JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?",
            "context": "Compliance overlap: JSP 440 \u{2194} NATO STANAG. Possible UK/NATO deployment vs US system.",
            "suggestions": ["jsp-440-only", "uswds-only", "both-with-nato-stanag"],
            "blocked_operations": ["planner", "developer", "build"],
        }],
        "accepted_gaps": 0, "blocking_gaps": 1, "warning_gaps": 0,
    });
    assert_eq!(shown, expected);
}
