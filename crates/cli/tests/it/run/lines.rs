//! Who says what in a run, and until when, where processes of their own speak over their lines: the opening, the roles, and the
//! silence after the final statement.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{
    Draft,
    agents::{check_both_verifiers, player, python, with_agents},
    kinds,
    meaning::COMMON,
};

/// Opens the run without somebody who is needed, then as it should.
const PLANNER: &str = r#"
opening = {"constraints": agent.hello["constraints"], "objective": "to count", "task": "count"}
proposal = {"assumptions": [], "expected_evidence": ["a count"], "objective": "count", "required_tools": ["wc"]}
for heard in agent:
    if not isinstance(heard, Turn):
        continue
    if heard.phase == "initialized":
        facts = {"participants": agent.hello["participants"], "policy": agent.policy}
        for role in ("critic", "executor"):
            left = [one for one in facts["participants"] if one["role"] != role]
            tell("without " + role, lambda: agent.say("session_initialized", {**facts, "participants": left}, opening))
        agent.say("session_initialized", facts, opening)
        tell("ROLE_FORBIDDEN", lambda: agent.say("tool_intent_reviewed", {"decision": "approved", "intent": 1}, {"rationale": "fine"}))
        agent.say("proposal_created", {"fallback_for": None, "replaces": None}, proposal)
    agent.done()
"#;

/// Speaks as planner, critic and auditor would, with its own key; concludes, and goes on talking.
const EXECUTOR: &str = r#"
data = canonical({"call": "count", "command": ["wc"], "stdin": "two words"})

def intend():
    facts = {"meets": [], "proposal": proposal, "retries": None, "risk": "low"}
    return agent.say("tool_intent_signed", facts, {"input_hash": sha256(data), "justification": "to count", "tool": "wc"})

def claim():
    facts = {"about_failure": False, "evidence": [output], "executions": [ended]}
    return agent.say("claim_issued", facts, {"confidence": 90, "text": "It has two words."})

OTHERS = [
    ("proposal_created", {"fallback_for": None, "replaces": None},
     {"assumptions": [], "expected_evidence": ["a count"], "objective": "more", "required_tools": ["wc"]}),
    ("proposal_reviewed", {"conditions": 0, "decision": "approved", "proposal": 1}, {"conditions": [], "rationale": "fine"}),
    ("tool_intent_reviewed", {"decision": "approved", "intent": 1}, {"rationale": "fine"}),
    ("condition_judged", {"condition": 0, "evidence": [1], "holds": True, "intent": 1}, None),
    ("claim_challenged", {"claim": 1}, {"reason": "which?"}),
    ("claim_resolved", {"challenge": 1}, {"reason": "I see"}),
    ("verification_run_started", {"profile": "default"}, None),
]

turn = 0
for heard in agent:
    if isinstance(heard, Event) and heard.type == "proposal_created":
        proposal = heard.sequence
    if not isinstance(heard, Turn):
        continue
    turn += 1
    if turn == 1:
        for kind, facts, content in OTHERS:
            tell("ROLE_FORBIDDEN", lambda: agent.say(kind, facts, content))
        given = agent.store("input", "application/json", data)
        intent = intend()
    elif turn == 2:
        started = agent.say("tool_execution_started", {"input": given, "intent": intent}, {"limits": []})
        output = agent.store("output", "text/plain", b"2\n")
        result = {"duration_ms": 1, "exit_status": 0, "note": None}
        ended = agent.say("tool_execution_completed", {"outputs": [output], "started": started}, result)
        claimed = claim()
    elif turn == 3:
        content = {"claims": [{"claim": claimed, "text": "It has two words."}], "verdict": "done"}
        agent.say("final_statement_signed", {"claims": [claimed]}, content)
        for late in (intend, claim, lambda: agent.store("late", "text/plain", b"3\n")):
            tell("OUT_OF_PHASE", late)
        tell("OUT_OF_PHASE", lambda: agent.say("claim_retracted", {"claim": claimed}, {"reason": "no"}))
    agent.done()
"#;

/// LED-01, LED-02, LED-08, LED-40, LED-42
#[test]
fn agents_open_speak_and_fall_silent_as_their_roles_may() {
    let sandbox = with_agents();
    sandbox.run(&["keys", "new", "ada", "--role", "planner", "--out", "ada.key"]).expect_code(0);
    let interpreter = python("critic.py").remove(0);
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let mut players = String::new();
    for (role, name, script) in [("planner", "ada", PLANNER), ("executor", "ben", EXECUTOR)] {
        let (file, key) = (format!("{role}.py"), format!("{name}.key"));
        fs::write(sandbox.path(&file), format!("{COMMON}{script}")).unwrap();
        let command =
            [&interpreter, file.as_str(), library.to_str().unwrap(), key.as_str()].map(str::to_owned);
        players += &player(role, name, &command);
    }
    let task = Draft::new().task.replace("[[goal]]", &(players + "\n[[goal]]"));
    let reply = Draft { task, policy: "[tools.wc]\n".to_owned() }.run(&sandbox, 0);
    assert_eq!(reply["phase"], "completed", "{reply}");
    let answers = fs::read_to_string(sandbox.path("answers.jsonl")).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 14, "{answers:?}");
    for answer in &answers {
        let (expected, code) = (answer["expected"].as_str().unwrap(), answer["code"].as_str().unwrap());
        if expected.starts_with("without") {
            assert_eq!(code, "OPENING_DIFFERS", "{answer}");
        } else {
            assert_eq!(code, expected, "{answer}");
        }
    }
    let kinds = kinds(&sandbox);
    let silent = kinds.iter().skip_while(|kind| *kind != "final_statement_signed").skip(1);
    let said: Vec<_> = silent.filter(|kind| *kind != "command_refused").collect();
    assert_eq!(said, ["verification_run_started", "report_recorded", "verification_run_completed"]);
    check_both_verifiers(&sandbox);
}

/// Calls what is disputed all right, and then says what the verifier says.
const AUDITOR: &str = r#"
def verdict(status):
    report = canonical({"status": status})
    agent.report(report)
    content = {"report": sha256(report), "summary": "as it is"}
    return agent.say("verification_run_completed", {"status": status, "through": through}, content)

for heard in agent:
    if isinstance(heard, Turn):
        agent.say("verification_run_started", {"profile": "default"})
        through = agent._head
        tell("VERDICT_UNFOUNDED", lambda: verdict("pass"))
        verdict("pass_with_warnings")
        agent.done()
"#;

/// LED-34, LED-42: no auditor's verdict is better than what the verifier finds, also where it has its report on record.
#[test]
fn agents_verdict_is_no_better_than_what_is_found() {
    let sandbox = with_agents();
    sandbox.run(&["keys", "new", "dora", "--role", "auditor", "--out", "dora.key"]).expect_code(0);
    fs::write(sandbox.path("auditor.py"), format!("{COMMON}{AUDITOR}")).unwrap();
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let command = [&python("critic.py").remove(0), "auditor.py", library.to_str().unwrap(), "dora.key"];
    let auditor = player("auditor", "dora", &command.map(str::to_owned));
    let draft = Draft::new().call("echo", &["echo", "1"]).claim("Said.", &["echo"]);
    let draft = draft.demand("challenge_unchecked = true");
    let task = draft.task.replace("[[goal]]", &(auditor + "\n[[goal]]"));
    let reply = Draft { task, ..draft }.run(&sandbox, 0);
    assert_eq!(reply["verdict"], "pass_with_warnings", "{reply}");
    let answer: Value =
        serde_json::from_str(&fs::read_to_string(sandbox.path("answers.jsonl")).unwrap()).unwrap();
    assert_eq!(answer["code"], "VERDICT_UNFOUNDED", "{answer}");
    check_both_verifiers(&sandbox);
}
