//! Attestations: what they cover, what they refer to, and the tree over the files.

use demur_clarify::{
    Error,
    attestation::{
        Attestation, ComplianceClaim, Deterministic, FileAction, FileHash, Outputs, Particulars, Tree,
    },
    audit::AuditRecord,
    read,
    seal::Sha256,
};
use demur_core::{
    hash::sha256,
    limit::{List, Whole},
};
use serde_json::{Value, json};

use crate::world::{after, agent, keys, list, of, one_round, record};

fn files(count: usize) -> Vec<FileHash> {
    let file = |number: usize| {
        let path = format!("src/{}.ts", (number * 7) % count);
        let file = FileHash::new(of(&path), sha256(path.as_bytes()).into(), FileAction::Created);
        if number.is_multiple_of(2) { file.with_standards(list(&["jsp-440"])) } else { file }
    };
    (0..count).map(file).collect()
}

fn plan() -> serde_json::Map<String, Value> {
    let plan = json!({"description": "MOD training tracker", "languages": ["en-gb"], "real_build": false, "share": 0.25});
    plan.as_object().unwrap().clone()
}

pub(crate) fn attestation() -> Attestation {
    let outputs = Outputs::new(of("src/webparts/"), List::try_from(files(5)).unwrap()).unwrap();
    let claim = ComplianceClaim::new(
        of("jsp-440"),
        of("selected"),
        of("MOD in the description"),
        &outputs.file_hashes,
    );
    let again = Deterministic::new(of("scaffold==1.0.0"), of("scaffold < plan.json"), outputs.output_hash);
    let particulars = Particulars {
        attestation_id: of("0196bb7c-0000-7000-8000-0000000000aa"),
        agent_version: of("1.0.0"),
        timestamp: after(200),
        compliance_claims: List::try_from(vec![claim.unwrap()]).unwrap(),
        deterministic: Some(again),
    };
    Attestation::sign(particulars, &plan(), outputs, &record(), &agent()).unwrap()
}

#[track_caller]
fn refused(value: &Value, record: &AuditRecord) -> String {
    match read::from_slice::<Attestation>(value.to_string().as_bytes()) {
        Err(error) => error.to_string(),
        Ok(attestation) => attestation.verify(&keys(), record).unwrap_err().to_string(),
    }
}

/// Returns the attestation with the agent's signature made anew: the agent itself is the forger.
fn sealed(mut value: Value) -> Value {
    value.as_object_mut().unwrap().remove("signature");
    let seal = agent().sign(&demur_core::canonical::to_vec(&value).unwrap()).unwrap();
    value["signature"] = seal.to_string().into();
    value
}

/// CLR-71
#[test]
fn refers_to_the_record_and_says_how_many_rounds() {
    let attestation = attestation();
    attestation.verify(&keys(), &record()).unwrap();
    assert_eq!(attestation.inputs.clarification_rounds(), 3);
    assert_eq!(attestation.inputs.plan(), plan());
    let reference = &serde_json::to_value(&attestation).unwrap()["inputs"]["clarification_chain_ref"];
    let hash = record().hash().unwrap();
    assert_eq!(*reference, format!("clarification://session/0196bb7c-0000-7000-8000-000000000001#{hash}"));
}

/// CLR-71: the reference binds; another record of the same session does not do.
#[test]
fn refuses_another_record_of_the_session() {
    let other = one_round().seal(false, &agent()).unwrap();
    let error = attestation().verify(&keys(), &other).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "inputs.clarification_rounds"));
    let mut record = record();
    record.chain_signature = of(&format!("ed25519:{}", "0a".repeat(64)));
    let error = attestation().verify(&keys(), &record).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "inputs.clarification_chain_ref"));
}

/// CLR-61
#[test]
fn refuses_while_a_gap_is_open() {
    let open = one_round().seal(true, &agent()).unwrap();
    let outputs = Outputs::new(of("src"), List::default()).unwrap();
    let particulars = Particulars {
        attestation_id: of("0196bb7c-0000-7000-8000-0000000000aa"),
        agent_version: of("1"),
        timestamp: after(200),
        compliance_claims: List::default(),
        deterministic: None,
    };
    let error =
        Attestation::sign(particulars.clone(), &plan(), outputs.clone(), &open, &agent()).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "all_resolved"));
    let closed = one_round().seal(false, &agent()).unwrap();
    let signed = Attestation::sign(particulars, &plan(), outputs, &closed, &agent()).unwrap();
    signed.verify(&keys(), &closed).unwrap();
    assert!(
        matches!(signed.verify(&keys(), &open), Err(Error::Field(error)) if error.field == "all_resolved")
    );
}

/// The signature covers everything, not only id, time and output hash.
#[test]
fn every_member_is_signed() {
    for (pointer, other) in [
        ("/attestation_id", json!("0196bb7c-0000-7000-8000-0000000000ab")),
        ("/agent_version", json!("1.0.1")),
        ("/timestamp", json!("2026-05-10T16:00:00Z")),
        ("/inputs/description", json!("other")),
        ("/inputs/clarification_rounds", json!(2)),
        ("/outputs/output_path", json!("elsewhere")),
        ("/compliance_claims/0/status", json!("passed")),
        ("/deterministic/reproducible_command", json!("true")),
    ] {
        let mut value = serde_json::to_value(attestation()).unwrap();
        *value.pointer_mut(pointer).unwrap() = other;
        assert!(refused(&value, &record()).starts_with("signature: "), "{pointer}");
    }
}

#[test]
fn what_contradicts_the_files_or_the_plan_is_named() {
    let hash = json!(format!("sha256:{}", "0a".repeat(32)));
    for (pointer, other, field) in [
        ("/inputs/description", json!("other"), "inputs.input_hash"),
        ("/outputs/total_files", json!(4), "outputs.total_files"),
        ("/outputs/files_created", json!(4), "outputs.files_created"),
        ("/outputs/files_updated", json!(1), "outputs.files_updated"),
        ("/outputs/output_hash", hash.clone(), "outputs.output_hash"),
        ("/outputs/file_hashes/2/sha256", hash.clone(), "outputs.output_hash"),
        ("/outputs/file_hashes/2/path", json!("src/0.ts"), "outputs.file_hashes"),
        ("/compliance_claims/0/hash_subtree", hash.clone(), "compliance_claims.hash_subtree"),
        ("/compliance_claims/0/files_checked", json!(2), "compliance_claims.files_checked"),
        ("/deterministic/expected_output_hash", hash, "deterministic.expected_output_hash"),
        ("/session_id", json!("0196bb7c-0000-7000-8000-000000000002"), "session_id"),
    ] {
        let mut value = serde_json::to_value(attestation()).unwrap();
        *value.pointer_mut(pointer).unwrap() = other;
        let error = refused(&sealed(value), &record());
        assert!(error.starts_with(&format!("{field}: ")), "{pointer}: {error}");
    }
}

/// During a rotation two keys are valid, and the attestation names the one that signed.
#[test]
fn refuses_an_attestation_that_names_another_key_than_its_own() {
    let keys = crate::identity::rotated().keys();
    let mut value = serde_json::to_value(attestation()).unwrap();
    value["agent_public_key"] = json!(crate::identity::new_agent().public_key());
    let forged: Attestation = read::from_slice(sealed(value).to_string().as_bytes()).unwrap();
    let error = forged.verify(&keys, &record()).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "agent_public_key"));
    attestation().verify(&keys, &record()).unwrap();
}

#[test]
fn a_plan_may_not_bring_the_members_of_the_attestation() {
    let mut plan = plan();
    plan.insert("clarification_rounds".to_owned(), 0.into());
    let outputs = Outputs::new(of("src"), List::default()).unwrap();
    let particulars = Particulars {
        attestation_id: of("0196bb7c-0000-7000-8000-0000000000aa"),
        agent_version: of("1"),
        timestamp: after(200),
        compliance_claims: List::default(),
        deterministic: None,
    };
    let error = Attestation::sign(particulars, &plan, outputs, &record(), &agent()).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "inputs.clarification_rounds"));
}

/// The order in which files are listed does not matter: the tree goes by path.
#[test]
fn the_root_does_not_depend_on_the_order_of_files() {
    let mut reversed = files(9);
    reversed.reverse();
    let (one, other) = (List::try_from(files(9)).unwrap(), List::try_from(reversed).unwrap());
    assert_eq!(Tree::of(&one).unwrap().root(), Tree::of(&other).unwrap().root());
}

/// Two leaves by hand: SHA-256(1, SHA-256(0, a), SHA-256(0, b)) as in RFC 6962, 2.1.
#[test]
fn the_tree_is_that_of_the_rfc() {
    let (first, second) = (sha256(b"first"), sha256(b"second"));
    let leaf = |path: &str, hash| {
        sha256(format!("\0{{\"path\":\"{path}\",\"sha256\":\"sha256:{hash}\"}}").as_bytes())
    };
    let node = [&[1][..], leaf("a", first).as_bytes(), leaf("b", second).as_bytes()].concat();
    let file =
        |path, hash: demur_core::hash::Digest| FileHash::new(of(path), hash.into(), FileAction::Updated);
    let files = List::try_from(vec![file("b", second), file("a", first)]).unwrap();
    assert_eq!(Tree::of(&files).unwrap().root(), Sha256::from(sha256(&node)));
    assert_eq!(Tree::of(&List::default()).unwrap().root(), Sha256::from(sha256(b"")));
}

#[test]
fn every_file_can_be_shown_to_belong_and_no_other() {
    for count in 1..=20 {
        let files = List::try_from(files(if count % 7 == 0 { count + 1 } else { count })).unwrap();
        let tree = Tree::of(&files).unwrap();
        for file in &files {
            let proof = tree.inclusion(&file.path).unwrap();
            assert!(proof.shows(&file.path, &file.sha256, &tree.root()).unwrap());
            assert!(!proof.shows(&of("src/other.ts"), &file.sha256, &tree.root()).unwrap());
            assert!(!proof.shows(&file.path, &sha256(b"other").into(), &tree.root()).unwrap());
            let mut moved = proof.clone();
            moved.leaf_index = Whole::try_from(proof.leaf_index.as_u64() + 1).unwrap();
            assert!(!moved.shows(&file.path, &file.sha256, &tree.root()).unwrap());
        }
        assert_eq!(tree.inclusion(&of("src/other.ts")), None);
    }
}
