//! The roles that demur plays go by what the tools print: another input is another claim, or another end.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{
    Draft,
    agents::{check_both_verifiers, player, python, with_agents},
    entries, example, kinds, verdict,
};
use crate::sandbox::Sandbox;

/// Runs a copy of an example whose files were changed; returns the answer.
fn changed(sandbox: &Sandbox, name: &str, change: impl Fn(&str, String) -> String) -> Value {
    let folder = sandbox.path(name);
    fs::create_dir(&folder).unwrap();
    for file in ["task.toml", "policy.toml", "text.txt"] {
        let text = fs::read_to_string(PathBuf::from(example(name)).with_file_name(file)).unwrap();
        fs::write(folder.join(file), change(file, text)).unwrap();
    }
    let ran = sandbox.run(&["run", "--task", &format!("{name}/task.toml"), "--json"]);
    ran.expect_code(0);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Returns the file with another text in place of the example's.
fn text(instead: &'static str) -> impl Fn(&str, String) -> String {
    move |file, text| if file == "text.txt" { instead.to_owned() } else { text }
}

/// Returns the words of the only claim, whether it is disputed, and the verdict.
fn end(reply: &Value) -> (&str, bool, &str) {
    let claims = reply["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 1, "{reply}");
    (claims[0]["text"].as_str().unwrap(), claims[0]["disputed"] == true, reply["verdict"].as_str().unwrap())
}

/// LED-13 LED-35 LED-39: the claim is what the file holds.
#[test]
fn other_text_is_another_claim_in_the_example_that_passes() {
    let sandbox = Sandbox::new();
    let reply = changed(&sandbox, "passes", text("one\ntwo\n"));
    assert_eq!(end(&reply), ("The text has 2 lines. count and count-again agree.", false, "pass"));
    check_both_verifiers(&sandbox);
    let report = sandbox.json(&["verify", "last.jsonl"]);
    assert_eq!(report["report"]["claims"][0]["checks"]["hold"], 2, "{report}");
}

/// LED-13 LED-39: without the empty line both ways to count find the same.
#[test]
fn dispute_ends_where_the_text_gives_no_reason_for_it() {
    let sandbox = Sandbox::new();
    let reply = changed(&sandbox, "disputed", |_, text| text);
    let words = "The calls differ about lines: all-lines shows 7, lines-with-words shows 6.";
    assert_eq!(end(&reply), (words, true, "pass_with_warnings"));
    let why = entries(&sandbox).into_iter().find(|entry| entry["kind"] == "claim_challenged").unwrap();
    assert!(why["why"].as_str().unwrap().contains("contradicts itself about lines: 7 in #"), "{why}");
    let sandbox = Sandbox::new();
    // In the other files empty lines mean nothing.
    let reply = changed(&sandbox, "disputed", |_, text| text.replace("\n\n", "\n"));
    assert_eq!(end(&reply), ("The text has 6 lines. all-lines and lines-with-words agree.", false, "pass"));
}

/// LED-13 LED-39
#[test]
fn other_text_is_another_claim_in_the_example_that_loses_an_artifact() {
    let sandbox = Sandbox::new();
    let reply = changed(&sandbox, "lost-artifact", text("just three words\n"));
    assert_eq!(end(&reply), ("The text has 3 words.", false, "pass"));
}

/// LED-13 LED-39: a tool that prints something else than what is the case is found out by the second way to count.
#[test]
fn lie_of_a_tool_about_a_checked_value_is_found() {
    let sandbox = Sandbox::new();
    let reply = changed(&sandbox, "passes", |_, text| {
        text.replace("[\"grep\", \"-c\", \"^\", \"text.txt\"]", "[\"echo\", \"7\"]")
            .replace("[tools.grep]", "[tools.grep]\nprograms = [\"echo\"]")
    });
    let words = "The calls differ about lines: count shows 7, count-again shows 6.";
    assert_eq!(end(&reply), (words, true, "pass_with_warnings"));
    assert_eq!(verdict(&sandbox), "pass_with_warnings");
}

/// LED-24 LED-39: what is not there is not guessed, and not what was hoped for is said.
#[test]
fn value_that_is_missing_or_unexpected_is_claimed_as_such() {
    let shows = "shows.lines = { after = \"lines: \", before = \"\\n\" }\n";
    let draft = |printed: &str| {
        let call = Draft::new().call("count", &["echo", printed]).and(shows);
        call.claim("It has {lines} lines.", &[]).and("expect.lines = { is = \"ge\", value = 10 }\n")
    };
    for (printed, words) in [
        ("lines: 12", "It has 12 lines."),
        ("lines: 6", "It has 6 lines. This is not as expected: lines \u{2265} 10."),
        ("lines: six", "It has six lines. This is not as expected: lines \u{2265} 10."),
        ("nothing", "What count printed does not show lines."),
        ("lines: 1, lines: 2", "What count printed does not show lines."),
    ] {
        let sandbox = Sandbox::new();
        assert_eq!(end(&draft(printed).run(&sandbox, 0)), (words, false, "pass"), "{printed}");
    }
    // Where the policy asks for checks, words alone are challenged.
    let sandbox = Sandbox::new();
    let reply = draft("nothing").demand("challenge_unchecked = true").run(&sandbox, 0);
    assert_eq!(end(&reply), ("What count printed does not show lines.", true, "pass_with_warnings"));
    let sandbox = Sandbox::new();
    let reply = draft("lines: 12").demand("challenge_unchecked = true").run(&sandbox, 0);
    assert_eq!(end(&reply), ("It has 12 lines.", false, "pass"));
}

/// LED-24: the same bytes twice are one piece of evidence.
#[test]
fn evidence_that_says_the_same_twice_is_challenged() {
    let draft = |second: &str| {
        let draft = Draft::new().call("one", &["echo", "1"]).call("two", &["echo", second]);
        draft.claim("Said.", &["one", "two"]).demand("challenge_below = 2")
    };
    for (second, disputed) in [("1", true), ("2", false)] {
        let sandbox = Sandbox::new();
        assert_eq!(end(&draft(second).run(&sandbox, 0)).1, disputed, "{second}");
    }
}

/// A condition on what an earlier call printed.
const SEEN: &str = "[[conditions]]\ntext = \"the text is short\"\ntools = [\"print\"]\nof = \"size\"\n\
                    at = { pointer = \"\" }\nis = \"lt\"\nvalue = 100\n";

/// LED-10 LED-11 LED-38: the critic reads the input and earlier outputs, and says what it found.
#[test]
fn condition_is_judged_by_its_check_on_recorded_bytes() {
    let goals = |size: &str| {
        let draft = Draft::new().call("size", &["echo", size]).claim("Measured.", &["size"]);
        let draft = draft.and("\n[[goal]]\nobjective = \"print it\"\n").call("print", &["echo", "it"]);
        draft.claim("Printed.", &["print"]).demand(SEEN)
    };
    let sandbox = Sandbox::new();
    let reply = goals("99").run(&sandbox, 0);
    assert_eq!(reply["claims"].as_array().unwrap().len(), 2);
    assert_eq!(kinds(&sandbox).iter().filter(|kind| *kind == "check_stated").count(), 1);
    check_both_verifiers(&sandbox);
    let sandbox = Sandbox::new();
    let reply = goals("100").run(&sandbox, 0);
    assert_eq!((&reply["claims"][0]["text"], &reply["tools"]["blocked"]), (&"Measured.".into(), &1.into()));
    let entries = entries(&sandbox);
    let of = |kind: &str| entries.iter().find(|entry| entry["kind"] == kind).unwrap();
    assert!(of("condition_judged")["what"].as_str().unwrap().contains("not"), "{}", of("condition_judged"));
    let why = of("tool_intent_reviewed")["why"].as_str().unwrap();
    let expected = "the condition \u{201c}the text is short\u{201d} does not hold: expected of the output of size that the value at \
                    \"\" < 100, found 100";
    assert_eq!(why, expected);
}

/// LED-38: no program can tell whether words hold, so demur's critic does not say that they do.
#[test]
fn condition_in_words_alone_is_refused_where_no_critic_can_read() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    draft.demand("conditions = [\"be careful\"]").write(&sandbox);
    let error = sandbox.json_error(&["run", "--task", "task.toml"], 2);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("\u{201c}be careful\u{201d}, found words alone"), "{error}");
    assert!(message.contains("[agents.critic]"), "{error}");
    assert!(!sandbox.data().exists());
}

/// Approves on one condition, and shows it with a check that is false, and then, where it is told to, with one that is true.
const CRITIC: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import demur_format
from demur_agent import Agent, Event, Turn

agent = Agent(demur_format.Key(sys.argv[2]))
waiting, inputs, sizes = [], [], {"false": [1], "true": [1, 2]}[sys.argv[3]]
for heard in agent:
    if isinstance(heard, Event):
        waiting += [heard] if heard.type in ("proposal_created", "tool_intent_signed") else []
        inputs += [heard.sequence] if heard.type == "artifact_recorded" else []
    elif isinstance(heard, Turn):
        for each in waiting:
            if each.type == "proposal_created":
                facts = {"conditions": 1, "decision": "conditionally_approved", "proposal": each.sequence}
                agent.say("proposal_reviewed", facts, {"conditions": ["it is short"], "rationale": "fine"})
            else:
                for times in sizes:
                    facts = {"about": each.sequence, "artifact": inputs[-1], "condition": 0}
                    check = {"at": "size", "is": "lt" if times == 1 else "gt", "value": 1}
                    agent.say("check_stated", facts, check)
        waiting = []
        agent.done()
"#;

/// LED-10 LED-38: a condition that an agent's critic shows with a false check is not shown, and demur's executor does not start.
#[test]
fn false_check_of_an_agents_critic_starts_nothing() {
    for (word, code) in [("false", 3), ("true", 0)] {
        let sandbox = with_agents();
        fs::write(sandbox.path("critic.py"), CRITIC).unwrap();
        let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
        let command = [python("critic.py").remove(0), "critic.py".to_owned()].into_iter();
        let words = [library.to_str().unwrap(), "cleo.key", word].map(str::to_owned);
        let critic = player("critic", "cleo", &command.chain(words).collect::<Vec<_>>());
        let draft = Draft::new().call("echo", &["echo", "1"]).claim("Said.", &["echo"]);
        let task = draft.task.replace("[[goal]]", &(critic + "\n[[goal]]"));
        let reply = Draft { task, ..draft }.run(&sandbox, code);
        let kinds = kinds(&sandbox);
        assert!(!kinds.contains(&"command_refused".to_owned()), "{kinds:?}");
        assert_eq!(kinds.contains(&"tool_execution_started".to_owned()), code == 0, "{kinds:?}");
        if code == 3 {
            assert_eq!(reply["phase"], "aborted");
            let entries = entries(&sandbox);
            let why = entries.last().unwrap()["why"].as_str().unwrap();
            assert!(why.contains("nobody has shown that condition 0 holds for intent #"), "{why}");
        }
    }
}
