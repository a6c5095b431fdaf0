//! Without us: Python rebuilds the signed bytes from `docs/clarify.md` and checks them with `cryptography`.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{
    attestation::attestation,
    handoff::handoff,
    identity::registration,
    world::{agent, document, record},
};

/// Returns a Python with what `conformance/python/requirements.txt` lists.
fn python() -> Command {
    let interpreter = std::env::var_os("DEMUR_PYTHON");
    Command::new(interpreter.expect("DEMUR_PYTHON is not set: run `cargo xtask test`"))
}

/// CLR-23: the seed's example and every other signed document, from the JSON alone.
#[test]
fn signatures_verify_with_a_foreign_library() {
    let documents = json!({
        "key": agent().public_key(), "agent_id": agent().agent_id(), "document": document(), "record": record(),
        "attestation": attestation(), "handoff": handoff(), "registration": registration(),
    });
    let mut child =
        python().args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(documents.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    // The document; chain, three asks and three answers; attestation; handoff; registration.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "11 hold, 11 forged, 2 links\n");
}

const SCRIPT: &str = r##"
import copy, hashlib, json, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
given = json.load(sys.stdin)
hold = forged = links = 0

def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def check(key, value, signature):
    global hold, forged
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix("ed25519:")))
    signature = bytes.fromhex(signature.removeprefix("ed25519:"))
    key.verify(signature, canonical(value))
    hold += 1
    try:
        key.verify(signature, canonical(value) + b" ")
    except InvalidSignature:
        forged += 1

def without(value, member):
    return {name: value[name] for name in value if name != member}

key, record = given["key"], given["record"]
check(key, without(given["document"], "signature"), given["document"]["signature"])
check(key, without(record, "chain_signature"), record["chain_signature"])
previous = None
for entry in record["chain"]:
    assert entry["prev_hash"] == previous
    links += previous is not None
    previous = "sha256:" + hashlib.sha256(canonical(entry)).hexdigest()
    shared = {"session_id": record["session_id"], "round": entry["ask_round"]}
    ask = shared | {"type": "wwa.clarification.ask", "agent_id": given["agent_id"], "gap": entry["gap"],
                    "ask_timestamp": entry["ask_timestamp"]}
    check(key, ask, entry["ask_signature"])
    by = entry.get("answered_by", {"agent_id": given["agent_id"], "public_key": key})
    answer = shared | {"type": "wwa.clarification.answer", "gap_id": entry["gap"]["id"], "agent_id": by["agent_id"],
                       "answer": entry["answer"], "answer_timestamp": entry["answer_timestamp"],
                       "ask_signature": entry["ask_signature"]}
    answer |= {"answered_for": entry["answered_for"]} if "answered_for" in entry else {}
    check(by["public_key"], answer, entry["answer_signature"])
check(key, without(given["attestation"], "signature"), given["attestation"]["signature"])
package = copy.deepcopy(given["handoff"])
check(key, package, package["sender"].pop("identity_sig"))
check(key, given["registration"]["message"], given["registration"]["signature"])

def root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root(leaves[:half]) + root(leaves[half:])).digest()

outputs = given["attestation"]["outputs"]
files = sorted(outputs["file_hashes"], key=lambda file: file["path"].encode())
leaves = [hashlib.sha256(b"\0" + canonical({"path": file["path"], "sha256": file["sha256"]})).digest() for file in files]
assert outputs["output_hash"] == "sha256:" + root(leaves).hex()
inputs = given["attestation"]["inputs"]
assert inputs["input_hash"] == "sha256:" + hashlib.sha256(canonical(without(inputs, "input_hash"))).hexdigest()
assert inputs["clarification_chain_ref"].endswith("#sha256:" + hashlib.sha256(canonical(record)).hexdigest())
print(f"{hold} hold, {forged} forged, {links} links")
"##;
