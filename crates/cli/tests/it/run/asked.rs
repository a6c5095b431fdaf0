//! Executor and critic in processes of their own, over their lines, where a person confirms the tool: each tries what must not
//! be, and the run waits for the person that the critic asked.

use std::{fs, path::PathBuf, process::Stdio};

use serde_json::Value;

use super::{
    Draft,
    agents::{player, python, with_agents},
    kinds,
    meaning::COMMON,
};
use crate::{asker::until, independent::verify_alone, sandbox::Sandbox};

/// What both try: a yes with a key of their own, to what they want or asked.
const YES: &str = r#"
def yes(position, digest):
    facts = {"assurance": "agent", "attribution": None, "confirmation": position}
    return agent.say("confirmation_given", facts, {"by": None, "digest": digest, "note": None, "shown": None})
"#;

/// Approves the proposal, and asks a person about the intent: first in every wrong way.
const CRITIC: &str = r#"
def ask(about, operation, digest=None):
    people = {"people": True, "principals": []}
    facts = {"about": about, "answerers": people, "assurance": "relayed", "deadline": None}
    content = {"action": "count words", "consequence": None, "language": "en", "operation": operation, "risk": "high"}
    return agent.say("confirmation_asked", facts, {**content, "digest": digest or sha256(canonical(operation))})

waiting, position = [], None
for heard in agent:
    if isinstance(heard, Event) and heard.type in ("proposal_created", "tool_intent_signed"):
        waiting.append(heard)
    elif isinstance(heard, Turn):
        for each in waiting:
            if each.type == "proposal_created":
                facts = {"conditions": 0, "decision": "approved", "proposal": each.sequence}
                agent.say("proposal_reviewed", facts, {"conditions": [], "rationale": "fine"})
                continue
            if position:
                agent.say("tool_intent_reviewed", {"decision": "approved", "intent": each.sequence}, {"rationale": "fine"})
                continue
            call = {"input": each.content["input_hash"], "tool": each.content["tool"]}
            tell("CONFIRMATION_MISMATCH", lambda: ask(each.sequence, {**call, "tool": "rm"}))
            tell("CONFIRMATION_MISMATCH", lambda: ask(each.sequence, call, "00" * 32))
            tell("CONFIRMATION_FORM", lambda: ask(None, call))
            ask(each.sequence, call)
            position = agent._head
            tell("CONFIRMATION_FORM", lambda: ask(each.sequence, call))
            tell("ROLE_FORBIDDEN", lambda: yes(position, sha256(canonical(call))))
            agent.say("tool_intent_reviewed", {"decision": "approved", "intent": each.sequence}, {"rationale": "if a person agrees"})
        waiting = []
        agent.done()
"#;

/// Starts before the yes, says yes itself, then does what was confirmed and nothing else.
const EXECUTOR: &str = r#"
def intend(name):
    facts = {"meets": [], "proposal": proposal, "retries": None, "risk": "medium"}
    return agent.say("tool_intent_signed", facts, {"input_hash": sha256(data(name)), "justification": "to count", "tool": "wc"})

def data(name):
    return canonical({"call": name, "command": ["wc"], "stdin": name})

def start(intent, artifact):
    return agent.say("tool_execution_started", {"input": artifact, "intent": intent}, {"limits": []})

def conclude():
    content = {"claims": [{"claim": claimed, "text": "It has two words."}], "verdict": "done"}
    return agent.say("final_statement_signed", {"claims": [claimed]}, content)

intent, asked, given, over = None, None, False, False
for heard in agent:
    if isinstance(heard, Event):
        if heard.type == "proposal_created":
            proposal = heard.sequence
        elif heard.type == "confirmation_asked":
            asked, digest = agent._head, heard.content["digest"]
        given = given or heard.type == "confirmation_given"
    if not isinstance(heard, Turn):
        continue
    if intent is None:
        source = agent.store("source", "application/json", data("words"))
        intent, again = intend("words"), intend("words")
    elif not given and asked:
        tell("OPERATION_UNCONFIRMED", lambda: start(intent, source))
        tell("ROLE_FORBIDDEN", lambda: yes(asked, digest))
    elif given and not over:
        over = True
        tell("OPERATION_UNCONFIRMED", lambda: start(again, source))
        started = start(intent, source)
        output = agent.store("output", "text/plain", b"2\n")
        result = {"duration_ms": 1, "exit_status": 0, "note": None}
        ended = agent.say("tool_execution_completed", {"outputs": [output], "started": started}, result)
        tell("CONFIRMATION_SPENT", lambda: start(again, source))
        facts = {"about_failure": False, "evidence": [output], "executions": [ended]}
        claimed = agent.say("claim_issued", facts, {"confidence": 90, "text": "It has two words."})
    elif over and heard.phase == "claiming":
        conclude()
    agent.done()
"#;

/// Writes a task whose executor and critic are these programs; returns the folder.
fn with_programs() -> Sandbox {
    let sandbox = with_agents();
    let interpreter = python("critic.py").remove(0);
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let mut players = String::new();
    for (role, name, script) in [("executor", "ben", EXECUTOR), ("critic", "cleo", CRITIC)] {
        let (file, key) = (format!("{role}.py"), format!("{name}.key"));
        fs::write(sandbox.path(&file), format!("{COMMON}{YES}{script}")).unwrap();
        let command =
            [&interpreter, file.as_str(), library.to_str().unwrap(), key.as_str()].map(str::to_owned);
        players += &player(role, name, &command);
    }
    let Draft { task, .. } = Draft::new();
    let task = task.replace("\"the work\"\n", "\"the work\"\ntools = [\"wc\"]\n");
    let task = task.replace("[[goal]]", &(players + "\n[[goal]]"));
    let policy = "[tools.wc]\nrisk = \"medium\"\nconfirm = true\n".to_owned();
    Draft { task, policy }.write(&sandbox);
    sandbox
}

/// Returns what each program tried, with the code it expected and the one it got.
fn tried(sandbox: &Sandbox) -> Vec<(String, String)> {
    let answers = fs::read_to_string(sandbox.path("answers.jsonl")).unwrap();
    let pair = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        let word = |field: &str| answer[field].as_str().unwrap().to_owned();
        (word("expected"), word("code"))
    };
    answers.lines().map(pair).collect()
}

/// ONE-09 LED-23 LED-42
#[test]
fn run_waits_for_the_person_whom_an_agents_critic_asked() {
    let sandbox = with_programs();
    let run = ["run", "--task", "task.toml", "--json"];
    let child = sandbox.command(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = until("somebody is asked, and the executor has tried to go on without", || {
        let listed = sandbox.run(&["confirm", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        let id = listed["confirmations"][0]["id"].as_str()?.to_owned();
        (tried(&sandbox).len() >= 7).then_some(id)
    });
    assert!(!kinds(&sandbox).contains(&"tool_execution_started".to_owned()));
    let other = sandbox.json_error(&["confirm", "give", &id, "--digest", "0000"], 3);
    assert_eq!(other["code"], "CONFIRMATION_MISMATCH", "{other}");
    sandbox.run(&["confirm", "give", &id]).expect_code(0);
    let ran = sandbox.ran(child.wait_with_output().unwrap());
    let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!((&reply["phase"], &reply["tools"]["completed"]), (&"completed".into(), &1.into()), "{reply}");
    for (expected, found) in tried(&sandbox) {
        assert_eq!(found, expected);
    }
    let codes: Vec<_> = tried(&sandbox).into_iter().map(|(_, found)| found).collect();
    for code in [
        "CONFIRMATION_MISMATCH",
        "CONFIRMATION_FORM",
        "CONFIRMATION_SPENT",
        "ROLE_FORBIDDEN",
        "OPERATION_UNCONFIRMED",
    ] {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
    sandbox.run(&["export", "last", "--out", "last.jsonl"]).expect_code(0);
    let strict = sandbox.json(&["verify", "--strict", "last.jsonl"]);
    // The yes came over the socket: the agent may have given it itself.
    assert_eq!(strict["verdict"], "pass_with_warnings", "{strict}");
    assert!(strict.to_string().contains("SAME_USER"), "{strict}");
    assert_eq!(verify_alone(&sandbox.path("last.jsonl")).0, Some(0));
}

/// ONE-09 LED-23: what a person refused to an agent's critic never starts, and the run does not end as done.
#[test]
fn tool_of_an_agent_does_not_start_after_the_no_that_its_critic_brought() {
    let sandbox = with_programs();
    let run = ["run", "--task", "task.toml", "--json"];
    let child = sandbox.command(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = until("somebody is asked", || {
        let listed = sandbox.run(&["confirm", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        Some(listed["confirmations"][0]["id"].as_str()?.to_owned())
    });
    sandbox.run(&["confirm", "refuse", &id]).expect_code(0);
    let ran = sandbox.ran(child.wait_with_output().unwrap());
    assert_ne!(ran.code, Some(0), "{ran}");
    assert!(!kinds(&sandbox).contains(&"tool_execution_started".to_owned()), "{:?}", kinds(&sandbox));
    for (expected, found) in tried(&sandbox) {
        assert_eq!(found, expected);
    }
    sandbox.run(&["export", "last", "--out", "last.jsonl"]).expect_code(0);
    let strict = sandbox.run(&["verify", "--strict", "last.jsonl", "--json"]);
    let strict: Value = serde_json::from_str(&strict.stdout).unwrap();
    assert_ne!(strict["verdict"], "pass", "{strict}");
}
