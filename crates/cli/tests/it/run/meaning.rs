//! What the events of a run mean, where processes of their own say them over their lines and where demur plays every role: each
//! demand is refused with its code, is told with what to do, and leaves nothing but a note of the refusal.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;

use super::{
    Draft,
    agents::{check_both_verifiers, player, python, with_agents},
    kinds, verdict,
};
use crate::sandbox::Sandbox;

/// What the three below have in common.
pub(super) const COMMON: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import demur_format
from demur_agent import Agent, Event, Refused, Turn
from demur_format import canonical, sha256

agent = Agent(demur_format.Key(sys.argv[2]))

def tell(expected, action):
    """Does what must not be, and writes down what came of it."""
    told = {"expected": expected, "code": "recorded", "message": "", "cure": "", "field": None}
    try:
        action()
    except Refused as refused:
        told.update(code=refused.code, message=refused.message, cure=refused.cure, field=refused.field)
    with open("answers.jsonl", "a") as answers:
        answers.write(json.dumps(told) + "\n")
"#;

/// Opens the run under another policy, then as it should, and asks for a tool that the policy does not name.
const PLANNER: &str = r#"
opening = {"constraints": agent.hello["constraints"], "objective": "to count", "task": "count"}
proposal = {"assumptions": [], "expected_evidence": ["a count"], "objective": "count", "required_tools": ["git", "wc"]}
for heard in agent:
    if not isinstance(heard, Turn):
        continue
    if heard.phase == "initialized":
        facts = {"participants": agent.hello["participants"], "policy": agent.policy}
        lax = {**facts, "policy": {**agent.policy, "retry_limit": 16}}
        tell("POLICY_MISMATCH", lambda: agent.say("session_initialized", lax, opening))
        agent.say("session_initialized", facts, opening)
        agent.say("proposal_created", {"fallback_for": None, "replaces": None}, proposal)
    agent.done()
"#;

/// Approves everything but what asks to be blocked, on a condition that it judges to hold unless it is asked not to, and refutes
/// the claim with a check of its own.
const CRITIC: &str = r#"
waiting, artifacts = [], []
for heard in agent:
    if isinstance(heard, Event) and heard.type in ("proposal_created", "tool_intent_signed", "claim_issued"):
        waiting.append(heard)
    elif isinstance(heard, Event) and heard.type == "artifact_recorded":
        artifacts.append(heard.sequence)
    elif isinstance(heard, Turn):
        for each in waiting:
            if each.type == "proposal_created":
                facts = {"conditions": 1, "decision": "conditionally_approved", "proposal": each.sequence}
                agent.say("proposal_reviewed", facts, {"conditions": ["it only reads"], "rationale": "fine"})
            elif each.type == "claim_issued":
                facts = {"about": each.sequence, "artifact": artifacts[-1], "condition": None}
                agent.say("check_stated", facts, {"at": "size", "is": "eq", "value": 99})
            else:
                decision = "blocked" if each.content["justification"] == "block it" else "approved"
                agent.say("tool_intent_reviewed", {"decision": decision, "intent": each.sequence}, {"rationale": "fine"})
                if each.content["justification"] == "to count":
                    facts = {"condition": 0, "evidence": artifacts[:1], "holds": True, "intent": each.sequence}
                    agent.say("condition_judged", facts)
        waiting = []
        agent.done()
"#;

/// Tries in each turn what must not be, then does what may be.
const EXECUTOR: &str = r#"
QUESTION = {
    "about": None, "answerers": {"people": True, "principals": None}, "asker_settles": False, "assurance": "terminal",
    "blocks": ["WC"], "choices": 0, "deadline": None, "default": False, "kinds": ["freetext"], "repeats": None,
    "severity": "block",
}
WORDS = {
    "ask": None, "choices": [], "context": None, "default": None, "field": None, "gap": None, "language": "en",
    "recommendation": None, "request": None, "rule": None, "suggestions": [],
    "wording": {"detailed": "Which file is meant?", "normal": "Which file?", "terse": "File?"},
}

def data(name):
    return canonical({"call": name, "command": ["wc"], "stdin": name})

def intend(tool, risk, name, justification="to count"):
    facts = {"meets": [0], "proposal": proposal, "retries": None, "risk": risk}
    return agent.say("tool_intent_signed", facts, {"input_hash": sha256(data(name)), "justification": justification, "tool": tool})

def start(intent, artifact):
    return agent.say("tool_execution_started", {"input": artifact, "intent": intent}, {"limits": []})

def claim(evidence):
    facts = {"about_failure": False, "evidence": [evidence], "executions": [ended]}
    return agent.say("claim_issued", facts, {"confidence": 90, "text": "It has two words."})

def check(size):
    facts = {"about": claimed, "artifact": output, "condition": None}
    return agent.say("check_stated", facts, {"at": "size", "is": "eq", "value": size})

def conclude(text):
    content = {"claims": [{"claim": claimed, "text": text}], "verdict": "done"}
    return agent.say("final_statement_signed", {"claims": [claimed]}, content)

turn = 0
for heard in agent:
    if isinstance(heard, Event) and heard.type == "proposal_created":
        proposal = heard.sequence
    if not isinstance(heard, Turn):
        continue
    turn += 1
    if turn == 1:
        first, second, third = [agent.store(name, "application/json", data(name)) for name in ("first", "second", "third")]
        tell("TOOL_NOT_PROPOSED", lambda: intend("rm", "high", "first"))
        tell("TOOL_NOT_ALLOWED", lambda: intend("git", "high", "first"))
        tell("RISK_UNDERSTATED", lambda: intend("wc", "low", "first"))
        fails = intend("wc", "medium", "first")
        intend("wc", "high", "second", "block it")
        unshown = intend("wc", "medium", "third", "show nothing")
    elif turn == 2:
        tell("INPUT_MISMATCH", lambda: start(fails, second))
        tell("INPUT_MISMATCH", lambda: start(fails, None))
        tell("CONDITION_UNSHOWN", lambda: start(unshown, third))
        started = start(fails, first)
        failure = {"failure": "exit", "outputs": [], "started": started}
        agent.say("tool_execution_failed", failure, {"duration_ms": 1, "exit_status": 1, "message": "it failed"})
        retry, downgraded, works = intend("wc", "medium", "first"), intend("wc", "medium", "second"), intend("wc", "medium", "third")
    elif turn == 3:
        tell("RETRY_LIMIT", lambda: start(retry, first))
        tell("BLOCKED_AGAIN", lambda: start(downgraded, second))
        question = agent.say("question_asked", QUESTION, WORDS)
        tell("TOOL_BLOCKED", lambda: start(works, third))
        agent.say("question_cancelled", {"question": question}, {"by": None, "reason": "it is clear"})
        started = start(works, third)
        output = agent.store("output", "text/plain", b"2\n")
        result = {"duration_ms": 1, "exit_status": 0, "note": None}
        ended = agent.say("tool_execution_completed", {"outputs": [output], "started": started}, result)
        tell("EVIDENCE_WEAK", lambda: claim(third))
        claimed = claim(output)
        tell("CHECK_FAILED", lambda: check(3))
        check(2)
    elif turn == 4:
        tell("BUNDLE_DIFFERS", lambda: conclude("It has two thousand words."))
        conclude("It has two words.")
        tell("SPOKE_AFTER_FINAL", lambda: agent.say("question_asked", QUESTION, WORDS))
    agent.done()
"#;

/// Gives a better verdict than the verifier's, one on a report that it did not record, and then another than the report's.
const AUDITOR: &str = r#"
def verdict(status):
    content = {"report": sha256(report), "summary": "as it is"}
    return agent.say("verification_run_completed", {"status": status, "through": through}, content)

for heard in agent:
    if not isinstance(heard, Turn):
        continue
    agent.say("verification_run_started", {"profile": "default"})
    through, report = agent._head, canonical({"status": "pass_with_warnings"})
    tell("VERDICT_UNFOUNDED", lambda: verdict("pass"))
    tell("REPORT_MISMATCH", lambda: verdict("pass_with_warnings"))
    agent.report(report)
    tell("REPORT_MISMATCH", lambda: verdict("fail"))
    verdict("pass_with_warnings")
    agent.done()
"#;

/// LED-14 LED-24 LED-31 LED-36 LED-37 LED-38 LED-39 LED-40 LED-42
#[test]
fn what_nobody_approved_is_refused_to_agents_and_leaves_only_notes() {
    let sandbox = with_agents();
    for (name, role) in [("ada", "planner"), ("dora", "auditor")] {
        let file = format!("{name}.key");
        sandbox.run(&["keys", "new", name, "--role", role, "--out", &file]).expect_code(0);
    }
    let interpreter = python("critic.py").remove(0);
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let mut players = String::new();
    for (role, name, script) in [
        ("planner", "ada", PLANNER),
        ("executor", "ben", EXECUTOR),
        ("critic", "cleo", CRITIC),
        ("auditor", "dora", AUDITOR),
    ] {
        let (file, key) = (format!("{role}.py"), format!("{name}.key"));
        fs::write(sandbox.path(&file), format!("{COMMON}{script}")).unwrap();
        let command =
            [&interpreter, file.as_str(), library.to_str().unwrap(), key.as_str()].map(str::to_owned);
        players += &player(role, name, &command);
    }
    let Draft { task, .. } = Draft::new();
    let task = task.replace("[[goal]]", &(players + "\n[[goal]]"));
    let policy = "retry_limit = 0\n[tools.wc]\nrisk = \"medium\"\n".to_owned();
    let reply = Draft { task, policy }.run(&sandbox, 0);
    assert_eq!(reply["phase"], "completed", "{reply}");
    let answers = fs::read_to_string(sandbox.path("answers.jsonl")).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 17, "{answers:?}");
    for answer in &answers {
        let word = |field: &str| answer[field].as_str().unwrap();
        assert_eq!(word("code"), word("expected"), "{answer}");
        assert!(word("message").contains("expected ") && word("message").contains(", found "), "{answer}");
        assert!(!word("cure").is_empty() && answer["field"].is_string(), "{answer}");
    }
    let codes: BTreeSet<_> = answers.iter().map(|answer| answer["code"].as_str().unwrap()).collect();
    assert_eq!(codes.len(), 15, "{codes:?}");
    let count = |kind: &str| kinds(&sandbox).iter().filter(|found| *found == kind).count();
    assert_eq!(
        ["policy_recorded", "tool_intent_signed", "tool_execution_started", "claim_issued"].map(count),
        [1, 6, 2, 1]
    );
    // An opening that is refused leaves no trace to note it in, and of one author eight refusals a minute are noted.
    assert!((8..=11).contains(&count("command_refused")), "{:?}", kinds(&sandbox));
    check_both_verifiers(&sandbox);
    // What the critic refuted is disputed, whoever reads the file.
    assert_eq!(verdict(&sandbox), "pass_with_warnings");
    let report = sandbox.json(&["verify", "last.jsonl"]).to_string();
    assert!(report.contains("CLAIM_DISPUTED"), "{report}");
}

/// Approves every proposal, and where it is told to asks which words to echo.
const CARELESS_CRITIC: &str = r#"
QUESTION = {
    "about": None, "answerers": {"people": True, "principals": None}, "asker_settles": False, "assurance": "terminal",
    "blocks": ["ECHO"], "choices": 0, "deadline": None, "default": False, "kinds": ["freetext"], "repeats": None,
    "severity": "block",
}
WORDS = {
    "ask": None, "choices": [], "context": None, "default": None, "field": None, "gap": None, "language": "en",
    "recommendation": None, "request": None, "rule": None, "suggestions": [],
    "wording": {"detailed": "Which words are to be echoed?", "normal": "Which words?", "terse": "Words?"},
}
seen, proposals = set(), []
for heard in agent:
    if isinstance(heard, Event):
        seen.add(heard.type)
        proposals += [heard.sequence] if heard.type == "proposal_created" else []
    elif isinstance(heard, Turn):
        if "proposal_reviewed" not in seen:
            for proposal in proposals:
                facts = {"conditions": 0, "decision": "approved", "proposal": proposal}
                agent.say("proposal_reviewed", facts, {"conditions": [], "rationale": "fine"})
            if "ask" in sys.argv[3:]:
                agent.say("question_asked", QUESTION, WORDS)
        agent.done()
"#;

/// Returns a sandbox whose critic approves every proposal, with the task and this policy in it.
fn with_careless_critic(policy: &str, words: &[&str]) -> Sandbox {
    let sandbox = with_agents();
    fs::write(sandbox.path("critic.py"), format!("{COMMON}{CARELESS_CRITIC}")).unwrap();
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let mut command = vec![python("critic.py").remove(0), "critic.py".to_owned()];
    command.extend([library.to_str().unwrap(), "cleo.key"].map(str::to_owned));
    command.extend(words.iter().map(|word| (*word).to_owned()));
    let Draft { task, .. } = Draft::new().call("echo", &["echo", "1"]).claim("Said.", &["echo"]);
    let task = task.replace("[[goal]]", &(player("critic", "cleo", &command) + "\n[[goal]]"));
    Draft { task, policy: policy.to_owned() }.write(&sandbox);
    sandbox
}

/// LED-31 LED-42
#[test]
fn run_stops_at_a_tool_that_a_question_blocks_and_goes_on_once_it_is_answered() {
    let sandbox = with_careless_critic("[tools.echo]\n", &["ask"]);
    for arguments in [&["run", "--task", "task.toml"][..], &["run", "resume"]] {
        let error = sandbox.json_error(arguments, 3);
        assert_eq!(error["code"], "TOOL_BLOCKED", "{error}");
        assert!(error["message"].as_str().unwrap().contains("expected no unsettled question"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("answer"), "{error}");
        assert!(!kinds(&sandbox).contains(&"tool_execution_started".to_owned()));
    }
    sandbox.run(&["answer", "last", "these"]).expect_code(0);
    sandbox.run(&["run", "resume"]).expect_code(0);
    assert_eq!(verdict(&sandbox), "pass");
}

/// LED-36 LED-42: whatever a critic lets through, the policy holds.
#[test]
fn run_stops_at_a_tool_that_its_policy_does_not_name() {
    let sandbox = with_careless_critic("[tools.wc]\n", &[]);
    let error = sandbox.json_error(&["run", "--task", "task.toml"], 3);
    assert_eq!(error["code"], "TOOL_NOT_ALLOWED", "{error}");
    assert!(error["message"].as_str().unwrap().contains("found \"echo\""), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("another policy"), "{error}");
    assert!(!kinds(&sandbox).contains(&"tool_intent_signed".to_owned()));
    sandbox.run(&["run", "abort", "--reason", "the policy does not name it"]).expect_code(0);
    assert_ne!(verdict(&sandbox), "fail");
}

/// LED-36 LED-37 LED-38 LED-42: what demur does itself keeps to the policy, so that nothing of it has to be refused.
#[test]
fn roles_that_demur_plays_keep_to_the_policy() {
    let risky = Draft::new().call("echo", &["echo", "1"]).claim("Said.", &["echo"]);
    let risky = Draft { policy: "[tools.echo]\nrisk = \"high\"\n".to_owned(), ..risky };
    let failing = Draft::new().call("no", &["false"]).claim("It worked.", &["no"]).demand("retry_limit = 1");
    let alike = Draft::new().call("one", &["echo", "1"]).call("two", &["echo", "1"]);
    let alike = alike.claim("Said twice.", &["one", "two"]).demand("evidence_minimum = 2");
    for (draft, code, kind, count) in [
        // The task says low, the policy high: then the critic looks.
        (&risky, 0, "tool_intent_reviewed", 1),
        (&failing, 0, "tool_execution_started", 2),
        // Two artifacts with the same bytes show one thing.
        (&alike, 3, "claim_issued", 0),
    ] {
        let sandbox = Sandbox::new();
        draft.run(&sandbox, code);
        let found = |kind: &str| kinds(&sandbox).iter().filter(|found| *found == kind).count();
        assert_eq!((found(kind), found("command_refused")), (count, 0), "{kind}");
        assert_ne!(verdict(&sandbox), "fail", "{kind}");
    }
}
