//! `demur demo`.

use std::{fs, os::unix::fs::PermissionsExt as _};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the answer of a demo and the lines of the file it left.
fn demo(sandbox: &Sandbox) -> (Value, Vec<Value>) {
    let reply = sandbox.json(&["demo"]);
    let text = fs::read_to_string(reply["export"].as_str().unwrap()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (reply, lines)
}

/// Returns the events of the run, without those of the registry.
fn events(lines: &[Value]) -> Vec<&Value> {
    let end = lines.iter().position(|line| line["head"].is_object()).unwrap();
    lines[end..].iter().map(|line| &line["event"]["event"]).filter(|event| event.is_object()).collect()
}

fn kind(event: &Value) -> &str {
    event["statement"]["type"].as_str().or(event["record"]["type"].as_str()).unwrap()
}

#[test]
fn tells_its_story() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["demo", "--keep", "kept"]), @r#"
    exit 0
    --- stdout
    Four agents, one small task, every step signed.

    Everything happens in a new folder: kept
    The desk opened a registry and four agents registered, each with a key of its own:

      ada   planner   key [KEY]
      ben   executor  key [KEY]
      cleo  critic    key [KEY]
      dora  auditor   key [KEY]

    Act one: the plan. The number is the event's place in the record.

       0  ada (planner) opens the run: how many lines and words does a short text have?
       1  the desk records the policy: only count-text may run, from medium risk on with the critic's approval.
       2  ada (planner) proposes to count once, and says what she assumes and what will show it.
       3  cleo (critic) agrees on one condition: record the text first, or nobody can count again.

    Act two: the work. One step comes too early.

       4  ben (executor) signs what he is about to do, before he does it, and that it meets the condition.
       5  ben (executor) records the text; the chain holds a salted commitment, so the text can be erased.
       -  ben (executor) wants to start at once, but the critic has not looked at the intent yet.
          Refused, APPROVAL_MISSING: intent 4 is risky and needs the critic's approval before it starts
       6  the desk notes the refusal. Nothing else changed.
       7  cleo (critic) has seen the text in the record and approves.
       8  cleo (critic) judges that the condition holds: the text is recorded.
       9  ben (executor) starts the tool.
      10  ben (executor) records the result: 6 lines, 48 words.
      11  ben (executor) ends the tool.

    Act three: the doubt.

      12  ben (executor) claims: "The text has 6 lines and 48 words." He cites the result.
      13  cleo (critic) challenges the claim: one count by one method proves little.
      14  ben (executor) signs a second intent: count another way. Low risk, so no approval is needed.
      15  cleo (critic) judges that the condition holds: the text is recorded.
      16  ben (executor) starts the tool.
      17  ben (executor) records the result: 6 lines, 48 words.
      18  ben (executor) ends the tool.
      19  ben (executor) revises the claim; it now cites both results.
      20  cleo (critic) closes the challenge: two methods agree, and the text is there to count.

    Act four: the audit.

      21  ben (executor) signs the final statement with the one claim he stands by.
      22  dora (auditor) takes an export and begins to verify it.
      23  dora (auditor) records her report, which everybody can read.
      24  dora (auditor) passes it: every check of the export holds. The run is closed.

    The desk records a checkpoint: it fixes every trace of the store as it is now.

    Now an agent that lacks something. It is refused and asks; it never guesses.

      eve (agent) submits a plan: a status page under JSP 440, to be deployed with USWDS.
      the desk asks, gap-001 compliance.jurisdiction: JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?
      the desk asks, gap-002 output_path: real_build is requested but output_path is not set. Into which directory is the build to be written?
      eve (agent) wants to build all the same.
        Refused, OPERATION_BLOCKED: build is blocked until this is settled: gap-001 (compliance.jurisdiction), gap-002 (output_path)
      finn (answerer) answers gap-001: "jsp-440-only". settled.
      finn (answerer) answers gap-002: "the usual one". recorded, and asked again: it names nothing.
      somebody at the terminal answers gap-002: "dist". settled.
      eve (agent) confirms the plan; the record says where every value came from.
      eve (agent) attests what she made, after 3 rounds of clarification.

      From the file alone: No guess by these rules: of 10 values 1 was answered by a person, 1 by another key whose client is not recorded, 0 by a default, 8 are the agent's own word; 2 gaps were asked as the rules in the file find them, and settled, and they demand nothing more.

    Three more tasks, done by `demur run` with a policy and tools under limits:

      passes         completed: the audit passed
                     the critic doubts, the executor counts another way, the doubt is settled
      disputed       completed: the audit passed with warnings
                     two ways to count differ, the claim says so, and the critic does not let it stand
      lost-artifact  failed: the audit failed
                     what the claim rests on was removed on purpose before the audit

    Now the file of the first run, read back from the disk and trusting nothing in it:

    Verdict: internally consistent; origin and completeness not established: through sequence 24; later events may exist

    Proven by a key:
      key [KEY] said 2 things as planner; the desk calls it ada.planner
      key [KEY] said 12 things as executor; the desk calls it ben.executor
      key [KEY] said 6 things as critic; the desk calls it cleo.critic
      key [KEY] said 3 things as auditor; the desk calls it dora.auditor

    Only the desk's word:
      1 x command_refused, which no key signed
      1 x policy_recorded, which no key signed
      the order of events that no author had seen when it signed, and the times of all events
      the names of key holders, unless you pinned their keys
      that nothing happened which is not in the trace

    That this file comes from the right desk takes a fingerprint or a receipt
    that you got some other way.

    Look further:
      demur verify kept/demo.jsonl
      demur verify kept/plan.jsonl --no-guess
      demur verify kept/demo.jsonl --html report.html
      demur trace show kept/demo.jsonl
      demur trace list --data kept
      demur trace show kept/demo.jsonl --graph --out run.svg
      demur keys list --data kept

    Delete the folder when you are done:
      demur stop --data kept 2>/dev/null; rm -r kept
    "#);
}

#[test]
fn leaves_a_whole_file_that_ends_with_a_checkpoint() {
    let sandbox = Sandbox::new();
    let (reply, lines) = demo(&sandbox);
    assert!(lines[lines.len() - 1]["checkpoint"].is_object());
    let scope = &reply["verification"]["scope"];
    assert_eq!(events(&lines).len() as u64, scope["events"].as_u64().unwrap());
    assert_eq!((&reply["phase"], &scope["state"]), (&"completed".into(), &"completed".into()));
    assert_eq!(reply["verification"]["verdict"], "pass");
    assert_eq!(reply["result"], serde_json::json!({"lines": 6, "words": 48}));
}

/// CLR-30 CLR-52
#[test]
fn an_agent_plans_is_refused_asks_is_answered_confirms_and_attests() {
    let sandbox = Sandbox::new();
    let (reply, _) = demo(&sandbox);
    let asked = &reply["asked"];
    assert_eq!((&asked["no_guess"], &asked["rounds"]), (&Value::Bool(true), &3.into()));
    let told = sandbox.json(&["trace", "show", asked["export"].as_str().unwrap()]);
    let kinds: Vec<_> =
        told["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let expected = [
        "plan_submitted",
        "rules_recorded",
        "gap_found",
        "gap_found",
        "paper_recorded",
        // Whoever calls is told what is open, as by `demur plan`.
        "question_delivered",
        "question_delivered",
        "command_refused",
        "question_answered",
        "paper_recorded",
        "paper_recorded",
        "question_delivered",
        "question_answered",
        "gap_found",
        "paper_recorded",
        "paper_recorded",
        "question_delivered",
        "question_answered",
        "paper_recorded",
        "paper_recorded",
        "plan_confirmed",
        "paper_recorded",
        "plan_attested",
    ];
    assert_eq!(kinds, expected);
}

/// LED-26
#[test]
fn every_claim_has_one_key_and_one_signed_event() {
    let (reply, lines) = demo(&Sandbox::new());
    let executor = &reply["agents"][1];
    assert_eq!(executor["role"], "executor");
    let events = events(&lines);
    let claims: Vec<_> = events.iter().filter(|event| kind(event).starts_with("claim_")).collect();
    let made: Vec<_> =
        claims.iter().filter(|event| ["claim_issued", "claim_revised"].contains(&kind(event))).collect();
    assert_eq!(made.len(), 2);
    for claim in made {
        assert_eq!(claim["proof"]["ed25519"]["key"], executor["fingerprint"]);
        assert_eq!(claim["statement"]["role"], "executor");
    }
    assert!(claims.iter().all(|event| event["proof"]["ed25519"]["signature"].is_string()));
}

/// As for any client, the desk keeps a key for each role that somebody plays.
#[test]
fn each_agent_signs_with_a_key_for_its_role() {
    let sandbox = Sandbox::new();
    let (reply, _) = demo(&sandbox);
    let keys = sandbox.json(&["keys", "list", "--data", reply["folder"].as_str().unwrap()]);
    let keys = keys["keys"].as_array().unwrap();
    for agent in reply["agents"].as_array().unwrap() {
        let key = keys.iter().find(|key| key["fingerprint"] == agent["fingerprint"]).unwrap();
        let name = format!("{}.{}", agent["name"].as_str().unwrap(), agent["role"].as_str().unwrap());
        assert_eq!(key["name"], name.as_str());
    }
}

/// LED-23
#[test]
fn risky_tool_starts_only_after_the_critic_agreed() {
    let (reply, lines) = demo(&Sandbox::new());
    assert_eq!(reply["refused"]["code"], "APPROVAL_MISSING");
    let events = events(&lines);
    let first = |name: &str| events.iter().position(|event| kind(event) == name).unwrap();
    assert!(first("tool_intent_signed") < first("command_refused"));
    assert!(first("command_refused") < first("tool_intent_reviewed"));
    assert!(first("tool_intent_reviewed") < first("tool_execution_started"));
}

/// LED-14
#[test]
fn final_statement_holds_the_claims_in_words() {
    let (_, lines) = demo(&Sandbox::new());
    let is_final = |line: &&Value| line["event"]["event"]["statement"]["type"] == "final_statement_signed";
    let line = &lines.iter().find(is_final).unwrap()["event"];
    let claims = line["content"]["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0]["text"], "The text has 6 lines and 48 words.");
    assert_eq!(line["event"]["statement"]["facts"]["claims"][0], claims[0]["claim"]);
}

#[test]
fn report_in_the_record_is_the_report_in_the_folder() {
    let sandbox = Sandbox::new();
    let (reply, lines) = demo(&sandbox);
    let folder = std::path::Path::new(reply["folder"].as_str().unwrap());
    let report = fs::read(folder.join("report.json")).unwrap();
    let hash = demur_core::hash::sha256(&report).to_string();
    let is_completed =
        |line: &&Value| line["event"]["event"]["statement"]["type"] == "verification_run_completed";
    let completed = &lines.iter().find(is_completed).unwrap()["event"];
    assert_eq!(
        (completed["content"]["report"].as_str(), reply["report"].as_str()),
        (Some(&*hash), Some(&*hash))
    );
}

#[test]
fn commands_at_the_end_work() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["demo"]).stdout;
    let commands = told.lines().filter_map(|line| line.strip_prefix("  demur "));
    let commands: Vec<&str> = commands.filter(|command| !command.starts_with("stop ")).collect();
    assert_eq!(commands.len(), 7);
    for command in commands {
        let ran = sandbox.run(&command.split(' ').collect::<Vec<_>>());
        let word = match command {
            list if list.starts_with("trace list") => "completed",
            graph if graph.ends_with("--graph --out run.svg") => "run.svg",
            guess if guess.ends_with("--no-guess") => "No guess by these rules: of ",
            _ => "cleo",
        };
        assert!(ran.expect_code(0).stdout.contains(word), "{ran}");
    }
    assert!(sandbox.path("report.html").is_file());
}

/// Somebody who calls it from the build folder has no `demur` on the path, somebody who installed it has.
#[test]
fn commands_at_the_end_work_as_printed_from_the_build_folder_and_when_installed() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_demur"));
    for (called, path) in
        [(program.to_str().unwrap(), ""), ("demur", program.parent().unwrap().to_str().unwrap())]
    {
        let sandbox = Sandbox::new();
        let bash = |script: &str| {
            let mut bash = std::process::Command::new("bash");
            bash.args(["-euc", script]).current_dir(sandbox.path("")).env_clear();
            bash.env("TMPDIR", sandbox.path("")).env("PATH", format!("{path}:/usr/bin:/bin"));
            let ran = sandbox.ran(bash.output().unwrap());
            ran.expect_code(0);
            ran.stdout
        };
        let told = bash(&format!("{called} demo"));
        let (_, end) = told.split_once("Look further:").unwrap();
        let commands: Vec<&str> = end.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        let ours = commands.iter().filter(|line| line.starts_with(&format!("{called} "))).count();
        assert_eq!((ours, commands.len()), (8, 8), "{told}");
        bash(&commands.join("\n"));
        let left = fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["report.html", "run.svg"], "the last command takes the demo away");
    }
}

/// LED-34: the verifier's report is the one whose hash the auditor signed.
#[test]
fn auditor_signs_the_report_of_the_verifier() {
    let sandbox = Sandbox::new();
    let (reply, _) = demo(&sandbox);
    let folder = std::path::Path::new(reply["folder"].as_str().unwrap());
    let report: Value = serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    let codes: Vec<_> = report["findings"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    // The one thing missing when the auditor looked was its own verdict.
    assert_eq!(
        (codes, &report["scope"]["events"]),
        (vec![&Value::from("FINALIZATION_INCOMPLETE")], &23.into())
    );
    assert_eq!(report["checks"].as_array().unwrap().len(), 20);
}

#[test]
fn own_data_folder_is_not_touched() {
    let sandbox = Sandbox::with_keys();
    let before = sandbox.contents();
    demo(&sandbox);
    assert_eq!(sandbox.contents(), before);
    assert_snapshot!(sandbox.run(&["demo", "--data", "data"]), @r"
    exit 2
    --- stderr
    error: expected no --data: the demo uses a folder of its own
    hint: name the folder with --keep DIR
    ");
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn two_demos_have_nothing_in_common() {
    let sandbox = Sandbox::new();
    let (one, other) = (demo(&sandbox).0, demo(&sandbox).0);
    for member in ["folder", "store", "trace", "report"] {
        assert_ne!(one[member], other[member], "{member}");
    }
}

#[test]
fn folder_to_keep_must_be_new_or_empty() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run(&["demo", "--keep", "empty"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["demo", "--keep", "empty"]), @r"
    exit 2
    --- stderr
    error: expected a new or empty folder, found files in empty
    hint: name another with --keep
    ");
    fs::write(sandbox.path("file"), "").unwrap();
    sandbox.json_error(&["demo", "--keep", "file"], 2);
}

#[test]
fn folder_is_closed_to_others() {
    let sandbox = Sandbox::new();
    let (reply, _) = demo(&sandbox);
    let folder = std::path::Path::new(reply["folder"].as_str().unwrap());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder), mode(&folder.join("demo.jsonl"))), (0o700, 0o600));
}

/// The file the demo leaves is what its store holds, and the run that ended is fixed by a checkpoint.
#[test]
fn story_is_in_the_store() {
    let sandbox = Sandbox::with_run();
    let reply = sandbox.json(&["trace", "list"]);
    let trace = &reply["traces"][0];
    assert_eq!((&trace["events"], &trace["phase"]), (&25.into(), &"completed".into()));
    let newest = &sandbox.registry()[10]["event"]["event"]["statement"];
    assert_eq!((&newest["type"], &newest["facts"]["traces"]), (&"checkpoint_recorded".into(), &2.into()));
    let (left, now) =
        (fs::read_to_string(sandbox.path("data/demo.jsonl")).unwrap(), sandbox.run(&["export", "last"]));
    let body = |text: &str| text.trim_end().rsplit_once('\n').unwrap().0.to_owned();
    assert_eq!(body(&left), body(&now.stdout));
    assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
}
