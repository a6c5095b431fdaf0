//! Tools of a run that a person confirms, tried from outside over HTTP, MCP and the page: who may ask, who may say yes, what
//! starts on it. Each attempt stands alone in a run of its own.

use demur_ledger::{
    facts::VerificationProfile,
    verify::{Options, Report, Verdict, verify_whole},
};
use serde_json::{Value, json};

use crate::{
    browser::{Browser, hidden},
    client::Reply,
    mcp::play,
    run::{INPUT, Run, artifact, claim, complete, conclusion, start},
    run_meaning::{calling, executing, expect_nothing_more},
    server::until,
};

/// The ways in which somebody asks or decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Http,
    Mcp,
    Page,
}

/// What came of an attempt: nothing, or the code with which it was refused.
type Told = Result<Value, String>;

/// A run with an intent for `mail`, which a person confirms.
struct Waiting {
    run: Run,
    proposal: u64,
    intent: u64,
    input: u64,
    /// A token of a client that takes no part and passes on what people say.
    rita: String,
}

impl Waiting {
    fn new() -> Self {
        let (run, proposal) = executing(&[]);
        let intent = run.said("bo", &mail(proposal));
        // The name under which the tool of MCP finds it.
        let input = run.said("bo", &artifact(&format!("input-{intent}.json"), INPUT));
        let rita = run.server.token("rita", &["ask", "relay"]);
        Self { run, proposal, intent, input, rita }
    }

    /// Has somebody ask about the intent, with more or other members.
    fn ask(&self, way: Way, token: &str, more: &Value) -> Told {
        let mut document = json!({"action": "Mail it", "trace": self.run.trace, "about": self.intent});
        let more = more.as_object().unwrap().iter();
        for (name, value) in more {
            document[name] = value.clone();
        }
        document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        match way {
            Way::Http | Way::Page => {
                http(&self.run.server.call("POST", "/v1/confirmations").token(token).json(&document).send())
            }
            Way::Mcp => {
                document["wait_s"] = json!(0);
                told(&play(&self.run.server, token, "confirm_operation", &document))
            }
        }
    }

    /// Has the critic ask about the intent; returns id and digest.
    fn asked(&self, way: Way) -> (String, String) {
        let asked = self.ask(way, self.run.token("cy"), &json!({})).unwrap();
        let id = asked.get("confirmation_id").unwrap_or(&asked["id"]);
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
        (text(id), text(&asked["digest"]))
    }

    /// Has somebody say yes or no to this digest.
    fn decide(&self, way: Way, token: &str, (id, digest): (&str, &str), yes: bool) -> Told {
        let act = if yes { "give" } else { "refuse" };
        let server = &self.run.server;
        match way {
            Way::Http => {
                let document = json!({"digest": digest, "by": "kim"});
                let path = format!("/v1/confirmations/{id}/{act}");
                http(&server.call("POST", &path).token(token).json(&document).send())
            }
            Way::Mcp => {
                let words = json!({"confirmation_id": id, "digest": digest, "confirm": yes, "by": "kim"});
                told(&play(server, token, "decide_confirmation", &words))
            }
            Way::Page => {
                let browser = Browser::of_new(server, "kim", "answerer");
                let page = browser.page(&format!("/confirmations/{id}"));
                let path = format!("/confirmations/{id}/{act}");
                let mut fields = hidden(&page, &path);
                for (_, value) in fields.iter_mut().filter(|(name, _)| name == "digest") {
                    digest.clone_into(value);
                }
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let reply = browser.post(&path, &fields);
                if reply.status == 303 { Ok(Value::Null) } else { Err(reply.text()) }
            }
        }
    }

    /// Has the executor start the tool.
    fn start(&self, way: Way) -> Told {
        match way {
            Way::Http | Way::Page => http(&self.run.say("bo", &start(self.intent, self.input))),
            Way::Mcp => {
                let given = json!({"trace": self.run.trace, "intent": self.intent});
                told(&play(&self.run.server, self.run.token("bo"), "session_start", &given))
            }
        }
    }

    /// Takes the run to its end after the tool was started, under the strict profile; returns the report over its export.
    fn finish(&self, started: u64) -> Report {
        let run = &self.run;
        let output = run.said("bo", &artifact("output", "sent"));
        let ended = run.said("bo", &complete(started, output));
        run.said("bo", &conclusion(run.said("bo", &claim("claim_issued", output, ended))));
        let audited =
            run.post("dee", &format!("/v1/runs/{}/audit", run.trace), &json!({"profile": "strict"}));
        let status = audited.json()["status"].clone();
        assert!(["pass", "pass_with_warnings"].map(Value::from).contains(&status), "{}", audited.text());
        strict(run)
    }
}

/// Returns what the strict verifier says about the run as it stands.
fn strict(run: &Run) -> Report {
    let export = run.server.local("GET", &format!("/v1/traces/{}/export", run.trace)).send().body;
    let options = Options { profile: VerificationProfile::Strict, ..Options::default() };
    verify_whole(&export, &options).unwrap()
}

fn mail(proposal: u64) -> Value {
    let mut call = calling(proposal);
    call["content"]["tool"] = json!("mail");
    call
}

fn http(reply: &Reply) -> Told {
    if reply.status < 300 { Ok(reply.json()) } else { Err(reply.code()) }
}

fn told(result: &Value) -> Told {
    if result["isError"] != true {
        return Ok(result["structuredContent"].clone());
    }
    let words = result["content"][0]["text"].as_str().unwrap();
    Err(words.split([':', ' ']).next().unwrap().to_owned())
}

#[track_caller]
fn refused(code: &str, told: Told) {
    match told {
        Err(found) => assert!(found.contains(code), "expected {code}, found {found}"),
        Ok(done) => panic!("expected {code}, found that it was done: {done}"),
    }
}

/// ONE-09 LED-23: the critic asks and a person says yes, whichever way; the tool starts on it once, and strict finds nothing but
/// that a program of the same user may have said it. Without this the attempts below could be refused for another reason.
#[test]
fn tool_starts_on_a_yes_over_http_mcp_or_a_page() {
    for (asks, decides) in [(Way::Http, Way::Page), (Way::Mcp, Way::Http), (Way::Http, Way::Mcp)] {
        let waiting = Waiting::new();
        refused("OPERATION_UNCONFIRMED", waiting.start(decides));
        let (id, digest) = waiting.asked(asks);
        refused("OPERATION_UNCONFIRMED", waiting.start(asks));
        waiting.decide(decides, &waiting.rita, (&id, &digest), true).unwrap();
        let started = waiting.start(Way::Http).unwrap()["sequence"].as_u64().unwrap();
        // The same call under another intent needs a yes of its own.
        let again = Waiting { intent: waiting.run.said("bo", &mail(waiting.proposal)), ..waiting };
        refused("CONFIRMATION_SPENT", again.start(Way::Http));
        let report = again.finish(started);
        assert!(report.verdict < Verdict::NotEstablished, "{asks:?} {decides:?}");
        assert!(report.to_text().contains("ran once as event"), "{}", report.to_text());
    }
}

/// ONE-09 LED-23: a no is final for the call, under whatever intent.
#[test]
fn tool_does_not_start_after_a_no_over_http_mcp_or_a_page() {
    for way in [Way::Http, Way::Mcp, Way::Page] {
        let waiting = Waiting::new();
        let (id, digest) = waiting.asked(Way::Http);
        waiting.decide(way, &waiting.rita, (&id, &digest), false).unwrap();
        let before = waiting.run.standing();
        refused("OPERATION_UNCONFIRMED", waiting.start(Way::Http));
        refused("OPERATION_UNCONFIRMED", waiting.start(Way::Mcp));
        expect_nothing_more("OPERATION_UNCONFIRMED", &waiting.run, &before);
        let again = Waiting { intent: waiting.run.said("bo", &mail(waiting.proposal)), ..waiting };
        refused("OPERATION_UNCONFIRMED", again.start(Way::Http));
        assert_ne!(strict(&again.run).verdict, Verdict::Pass);
    }
}

/// ONE-09: who wants to act does not decide, whatever its token may pass on; neither does whoever asked.
#[test]
fn planner_executor_and_critic_confirm_no_tool_of_their_run() {
    let waiting = Waiting::new();
    let (id, digest) = waiting.asked(Way::Http);
    for name in ["ada", "bo", "cy"] {
        // Another token of the same name is the same client.
        let token = waiting.run.server.token(name, &["ask", "relay"]);
        for (way, yes) in [(Way::Http, true), (Way::Http, false), (Way::Mcp, true), (Way::Mcp, false)] {
            let before = waiting.run.standing();
            refused("OWN_CLIENT", waiting.decide(way, &token, (&id, &digest), yes));
            expect_nothing_more("OWN_CLIENT", &waiting.run, &before);
        }
    }
    refused("OPERATION_UNCONFIRMED", waiting.start(Way::Http));
}

/// ONE-09
#[test]
fn yes_to_another_digest_starts_nothing_in_a_run() {
    for way in [Way::Http, Way::Mcp, Way::Page] {
        let waiting = Waiting::new();
        let (id, _) = waiting.asked(Way::Http);
        let before = waiting.run.standing();
        // A page says it in words.
        let code = if way == Way::Page { "expected that of the operation" } else { "CONFIRMATION_MISMATCH" };
        refused(code, waiting.decide(way, &waiting.rita, (&id, &"00".repeat(32)), true));
        refused("OPERATION_UNCONFIRMED", waiting.start(Way::Http));
        assert_eq!(waiting.run.standing()["phase"], before["phase"]);
    }
}

/// ONE-09: what is asked is the call of the intent, once, by somebody of the run, before the final statement.
#[test]
fn confirmation_that_is_not_about_its_intent_is_not_asked_for() {
    let other = json!({"operation": {"input": "00", "tool": "cargo"}});
    for way in [Way::Http, Way::Mcp] {
        for (name, more, code) in [
            ("cy", other.clone(), "CONFIRMATION_MISMATCH"),
            // Whoever wants to act does not choose the words.
            ("bo", json!({}), "OPERATION_UNCONFIRMED"),
            ("bo", other.clone(), "OPERATION_UNCONFIRMED"),
            ("cy", json!({"about": null, "operation": {"tool": "mail"}}), "CONFIRMATION_FORM"),
            ("cy", json!({"about": 0, "operation": {"tool": "mail"}}), "REFERENCE"),
            // There is no such event.
            ("cy", json!({"about": 1_122_438_684_688_351_u64}), "DOCUMENT_INVALID"),
            ("rita", json!({}), "TRACE_UNKNOWN"),
        ] {
            let waiting = Waiting::new();
            let token = if name == "rita" { &waiting.rita } else { waiting.run.token(name) };
            let before = waiting.run.standing();
            refused(code, waiting.ask(way, token, &more));
            expect_nothing_more(code, &waiting.run, &before);
        }
        let waiting = Waiting::new();
        waiting.asked(way);
        let before = waiting.run.standing();
        refused("CONFIRMATION_FORM", waiting.ask(way, waiting.run.token("cy"), &json!({})));
        refused("CONFIRMATION_FORM", waiting.ask(way, waiting.run.token("bo"), &json!({})));
        expect_nothing_more("CONFIRMATION_FORM", &waiting.run, &before);
    }
}

/// ONE-09: an executor does not ask at all, and a critic that asks another agent instead of a person gets a yes that does not count.
#[test]
fn yes_of_an_agent_starts_no_tool_that_a_person_confirms() {
    let waiting = Waiting::new();
    let agents = json!({"answering": "agents"});
    refused("OPERATION_UNCONFIRMED", waiting.ask(Way::Http, waiting.run.token("bo"), &agents));
    let asked = waiting.ask(Way::Http, waiting.run.token("cy"), &agents).unwrap();
    let friend = waiting.run.server.token("eve", &["answer"]);
    let path = format!("/v1/confirmations/{}/give", asked["id"].as_str().unwrap());
    let document = json!({"digest": asked["digest"]});
    let given = waiting.run.server.call("POST", &path).token(&friend).json(&document).send();
    assert_eq!(given.json()["state"], "given", "{}", given.text());
    refused("OPERATION_UNCONFIRMED", waiting.start(Way::Http));
    refused("OPERATION_UNCONFIRMED", waiting.start(Way::Mcp));
}

/// ONE-09: a run's tools start as such; what is confirmed there is not started around its intent.
#[test]
fn confirmed_tool_is_not_started_as_an_operation_of_its_own() {
    for way in [Way::Http, Way::Mcp] {
        let waiting = Waiting::new();
        let (id, digest) = waiting.asked(Way::Http);
        waiting.decide(Way::Http, &waiting.rita, (&id, &digest), true).unwrap();
        let shown = waiting.run.server.local("GET", &format!("/v1/confirmations/{id}")).send().json();
        for name in ["cy", "bo"] {
            let token = waiting.run.token(name);
            let outcome = match way {
                Way::Http | Way::Page => {
                    let call = waiting.run.server.call("POST", &format!("/v1/confirmations/{id}/start"));
                    http(&call.token(token).json(&json!({"operation": shown["operation"]})).send())
                }
                Way::Mcp => {
                    let given = json!({"confirmation_id": id, "operation": shown["operation"]});
                    told(&play(&waiting.run.server, token, "start_operation", &given))
                }
            };
            assert!(outcome.is_err(), "{way:?} {name}: {outcome:?}");
        }
        waiting.start(way).unwrap();
    }
}

/// ONE-09: nothing is concluded while one waits, and nobody but the auditor asks for one afterwards.
#[test]
fn nothing_is_concluded_while_a_tool_waits_for_a_yes() {
    for way in [Way::Http, Way::Mcp] {
        let waiting = Waiting::new();
        let run = &waiting.run;
        let started = {
            let intent = run.said("bo", &calling(waiting.proposal));
            run.said("bo", &start(intent, waiting.input))
        };
        let output = run.said("bo", &artifact("output", "ok"));
        let ended = run.said("bo", &complete(started, output));
        let (id, digest) = waiting.asked(way);
        let claimed = run.said("bo", &claim("claim_issued", output, ended));
        let before = run.standing();
        let concluded = match way {
            Way::Http | Way::Page => http(&run.say("bo", &conclusion(claimed))),
            Way::Mcp => {
                let given = json!({"trace": run.trace, "verdict": "done"});
                told(&play(&run.server, run.token("bo"), "session_conclude", &given))
            }
        };
        refused("CONFIRMATIONS_OPEN", concluded);
        expect_nothing_more("CONFIRMATIONS_OPEN", run, &before);
        waiting.decide(way, &waiting.rita, (&id, &digest), false).unwrap();
        run.said("bo", &conclusion(claimed));
        for name in ["bo", "cy"] {
            let told = waiting.ask(way, run.token(name), &json!({}));
            assert!(told.is_err(), "{way:?} {name}: {told:?}");
        }
    }
}

/// ONE-09: a client that waits over MCP hears the yes when it comes, and silence as a no.
#[test]
fn long_wait_over_mcp_ends_with_the_decision_or_the_deadline() {
    let waiting = Waiting::new();
    let (server, critic) = (&waiting.run.server, waiting.run.token("cy"));
    let (id, digest) = waiting.asked(Way::Mcp);
    std::thread::scope(|scope| {
        let wait = json!({"confirmation_id": id, "wait_s": 120});
        let waits = scope.spawn(move || play(server, critic, "check_confirmation", &wait));
        // It waits at the server before anybody decides.
        let waiting_calls = || server.local("GET", "/v1/server").send().json()["waiting"].as_u64();
        until("somebody waits", || waiting_calls() > Some(0));
        assert!(!waits.is_finished());
        waiting.decide(Way::Page, "", (&id, &digest), true).unwrap();
        let heard = told(&waits.join().unwrap()).unwrap();
        assert_eq!((&heard["state"], &heard["by"]), (&json!("given"), &json!("kim")), "{heard}");
    });
    let other = Waiting::new();
    let asked = json!({
        "action": "Mail it", "trace": other.run.trace, "about": other.intent, "timeout_s": 1, "wait_s": 120,
    });
    let heard = told(&play(&other.run.server, other.run.token("cy"), "confirm_operation", &asked)).unwrap();
    assert_eq!(heard["state"], "expired", "{heard}");
    refused("OPERATION_UNCONFIRMED", other.start(Way::Mcp));
}
