//! Plans that are amended and withdrawn over HTTP and on a page, and gaps that are withdrawn and put again.

use serde_json::{Value, json};

use crate::{browser::Browser, client::Reply, server::Server};

/// A plan with one gap that must be answered, in a session.
struct Opened {
    server: Server,
    agent: String,
    session: String,
}

impl Opened {
    fn new() -> Self {
        let server = Server::start();
        let agent = server.token("agent", &["ask"]);
        let opened =
            server.call("POST", "/v1/plans").token(&agent).json(&json!({"plan": plan(&json!({}))})).send();
        assert_eq!(opened.status, 201, "{opened:?}");
        let session = opened.json()["session_id"].as_str().unwrap().to_owned();
        Self { server, agent, session }
    }

    fn post(&self, token: &str, rest: &str, document: &Value) -> Reply {
        self.server
            .call("POST", &format!("/v1/plans/{}{rest}", self.session))
            .token(token)
            .json(document)
            .send()
    }

    fn shown(&self) -> Value {
        self.server.call("GET", &format!("/v1/plans/{}", self.session)).token(&self.agent).send().json()
    }

    fn status(&self) -> String {
        self.shown()["status"].as_str().unwrap().to_owned()
    }

    fn question(&self) -> Value {
        let listed = self.server.local("GET", "/v1/questions").send().json();
        listed["questions"][0].clone()
    }
}

fn plan(members: &Value) -> Value {
    let mut plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "real_build": true,
    });
    plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    plan
}

fn refused(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (status, code), "{reply:?}");
}

/// CLR-34
#[test]
fn a_plan_is_amended_beside_its_answers_by_its_agent_alone() {
    let opened = Opened::new();
    let (server, agent) = (&opened.server, &opened.agent);
    let (other, person) = (server.token("other", &["ask"]), server.token("client", &["relay"]));
    let amended = json!({"plan": plan(&json!({"description": "a news page"}))});
    refused(&opened.post(&other, "/amend", &amended), 404, "SESSION_UNKNOWN");
    refused(&opened.post(&person, "/amend", &amended), 403, "FORBIDDEN");
    let standing = opened.post(agent, "/amend", &amended).json();
    assert_eq!(
        (&standing["gaps"][0]["id"], &standing["subject"]),
        (&json!("gap-001"), &json!("a news page"))
    );
    let answer = json!({"answer": "dist", "by": "kim"});
    assert_eq!(opened.post(&person, "/gaps/gap-001", &answer).json()["status"], "resolved");
    let moved = json!({"plan": plan(&json!({"output_path": "elsewhere"}))});
    refused(&opened.post(agent, "/amend", &moved), 409, "FIELD_ANSWERED");
    let again = json!({"plan": plan(&json!({"description": "a page"}))});
    assert_eq!(opened.post(agent, "/amend", &again).json()["status"], "ready_to_proceed");
    assert_eq!(opened.post(agent, "/amend", &again).status, 200, "the same again");
    // CLR-04: the newest plan submitted again in its session is the same submission, and so is the first one.
    let now = opened.shown();
    let trace = now["trace"].as_str().unwrap();
    let events = || server.local("GET", &format!("/v1/traces/{trace}/events")).send().text();
    let before = events();
    for submitted in [&again, &json!({"plan": plan(&json!({}))})] {
        let mut submitted = submitted.clone();
        submitted["session_id"] = json!(opened.session);
        let reply = server.call("POST", "/v1/plans").token(agent).json(&submitted).send();
        assert_eq!((reply.status, reply.json()), (200, now.clone()), "{submitted}");
    }
    assert_eq!(events(), before, "nothing is recorded");
    let mut other = moved.clone();
    other["session_id"] = json!(opened.session);
    refused(&server.call("POST", "/v1/plans").token(agent).json(&other).send(), 409, "SESSION_CONFLICT");
    let whole = server.call("GET", &format!("/v1/plans/{}/plan", opened.session)).token(agent).send().json();
    assert_eq!(
        (&whole["plan"]["output_path"], &whole["plan"]["description"]),
        (&json!("dist"), &json!("a page"))
    );
    assert_eq!(opened.post(agent, "/confirm", &json!({})).status, 200);
    refused(&opened.post(agent, "/amend", &amended), 409, "OUT_OF_PLAN");
    refused(&opened.post(agent, "/withdraw", &json!({})), 409, "OUT_OF_PLAN");
}

/// CLR-34
#[test]
fn with_a_plan_its_questions_are_withdrawn_whoever_withdraws_it() {
    for (token, body) in [("agent", json!({})), ("client", json!({"by": "kim", "reason": "by hand instead"}))]
    {
        let opened = Opened::new();
        let server = &opened.server;
        let (other, client) = (server.token("other", &["ask"]), server.token("client", &["relay"]));
        refused(&opened.post(&other, "/withdraw", &json!({})), 404, "SESSION_UNKNOWN");
        let speaker = if token == "agent" { opened.agent.clone() } else { client.clone() };
        assert_eq!(opened.post(&speaker, "/withdraw", &body).json()["status"], "withdrawn");
        assert_eq!(opened.post(&speaker, "/withdraw", &body).status, 200, "withdrawn once");
        assert_eq!(opened.question()["state"], "withdrawn");
        let answer = json!({"answer": "dist", "by": "kim"});
        refused(&opened.post(&client, "/gaps/gap-001", &answer), 409, "QUESTION_CLOSED");
        let id = opened.question()["id"].as_str().unwrap().to_owned();
        let late =
            server.call("POST", &format!("/v1/questions/{id}/answer")).token(&client).json(&answer).send();
        refused(&late, 409, "QUESTION_CLOSED");
        let begin = json!({"operation": "build"});
        refused(&opened.post(&opened.agent, "/operations", &begin), 409, "OUT_OF_PLAN");
        refused(&opened.post(&opened.agent, "/confirm", &json!({})), 409, "OUT_OF_PLAN");
        refused(&opened.post(&opened.agent, "/gaps/gap-001/ask", &json!({})), 409, "QUESTION_CLOSED");
        let whole =
            server.call("GET", &format!("/v1/plans/{}/plan", opened.session)).token(&opened.agent).send();
        assert_ne!(whole.status, 200, "nothing of it is whole");
    }
}

/// CLR-34
#[test]
fn a_gap_that_is_withdrawn_holds_the_plan_up_until_it_is_asked_again() {
    let opened = Opened::new();
    let server = &opened.server;
    let client = server.token("client", &["relay"]);
    for (speaker, body) in [(&opened.agent, json!({})), (&client, json!({"by": "kim"}))] {
        let standing = opened.post(speaker, "/gaps/gap-001/withdraw", &body).json();
        assert_eq!((&standing["unasked"], &standing["blocking_count"]), (&json!(["gap-001"]), &json!(1)));
        assert_eq!(
            (opened.status().as_str(), opened.question()["state"].as_str()),
            ("needs_clarification", Some("declined"))
        );
        refused(&opened.post(&opened.agent, "/confirm", &json!({})), 409, "QUESTIONS_OPEN");
        refused(
            &opened.post(&opened.agent, "/operations", &json!({"operation": "build"})),
            409,
            "OPERATION_BLOCKED",
        );
        let answer = json!({"answer": "dist", "by": "kim"});
        refused(&opened.post(&client, "/gaps/gap-001", &answer), 409, "QUESTION_CLOSED");
        assert_eq!(opened.post(speaker, "/gaps/gap-001/ask", &body).json()["unasked"], json!([]));
        assert_eq!(opened.question()["state"], "open");
    }
    let answer = json!({"answer": "dist", "by": "kim"});
    assert_eq!(opened.post(&client, "/gaps/gap-001", &answer).json()["status"], "resolved");
    refused(&opened.post(&client, "/gaps/gap-001/ask", &json!({"by": "kim"})), 409, "QUESTION_CLOSED");
}

/// CLR-34
#[test]
fn a_person_declines_asks_again_and_withdraws_on_the_page_of_a_gap() {
    let opened = Opened::new();
    let browser = Browser::sign_in(&opened.server);
    let question = opened.question();
    let id = question["id"].as_str().unwrap();
    assert_eq!(
        (&question["plan"]["agent"], &question["plan"]["subject"]),
        (&json!("agent"), &json!("a status page"))
    );
    let page = browser.page(&format!("/questions/{id}"));
    assert!(page.contains("for <bdi>the plan of agent: a status page</bdi>"), "{page}");
    assert!(browser.page("/").contains("the plan of agent: a status page"));
    let send = |act: &str| {
        let review = browser.post(&format!("/questions/{id}/review"), &[("act", act)]);
        assert_eq!(review.status, 200, "{act}: {}", review.text());
        browser.send(&format!("/questions/{id}/{act}"), &[("reason", "not now")])
    };
    assert_eq!(send("decline").status, 303);
    assert!(browser.page(&format!("/questions/{id}")).contains("id=\"ask-again\""));
    assert_eq!(send("ask-again").status, 303);
    let page = browser.page(&format!("/questions/{id}?sent=ask-again"));
    assert!(page.contains("The question is asked again.") && !page.contains("id=\"ask-again\""), "{page}");
    assert_eq!(opened.question()["state"], "open");
    assert_eq!(send("withdraw-plan").status, 303);
    assert!(browser.page(&format!("/questions/{id}?sent=withdraw-plan")).contains("The plan is withdrawn"));
    assert_eq!(
        (opened.status().as_str(), opened.question()["state"].as_str()),
        ("withdrawn", Some("withdrawn"))
    );
}

/// CLR-45: what a closed choice cannot take is a round all the same.
#[test]
fn an_answer_outside_closed_choices_is_a_round_of_the_record() {
    let server = Server::start();
    let (agent, client) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let mut gappy = plan(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}));
    gappy.as_object_mut().unwrap().remove("real_build");
    let opened = server.call("POST", "/v1/plans").token(&agent).json(&json!({"plan": gappy})).send().json();
    let session = opened["session_id"].as_str().unwrap().to_owned();
    let opened = Opened { server, agent, session };
    let answered =
        |words: &str| opened.post(&client, "/gaps/gap-001", &json!({"answer": words, "by": "kim"})).json();
    assert_eq!(answered("whatever you like")["status"], "escalated");
    assert_eq!(answered("uswds-only")["status"], "resolved");
    let path = format!("/v1/plans/{}/audit", opened.session);
    let record = opened.server.call("GET", &path).token(&opened.agent).send().json();
    let told = |round: &Value| (round["answer"].clone(), round["resolved"].clone());
    let rounds: Vec<_> = record["chain"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(rounds[0], (json!("whatever you like"), json!(false)), "{record}");
    assert_eq!(rounds[1], (json!("uswds-only"), json!(true)), "{record}");
}

/// CLR-54
#[test]
fn an_acceptance_over_http_lapses_when_another_standard_is_selected() {
    let server = Server::start();
    let (agent, client) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let with = |standards: Value| {
        let mut plan = plan(&json!({"standards_selected": standards}));
        plan.as_object_mut().unwrap().remove("real_build");
        json!({"plan": plan})
    };
    let opened = server.call("POST", "/v1/plans").token(&agent).json(&with(json!(["gdpr"]))).send().json();
    let session = opened["session_id"].as_str().unwrap().to_owned();
    let opened = Opened { server, agent, session };
    let accepted = opened.post(&client, "/gaps/gap-001", &json!({"by": "kim"})).json();
    assert_eq!(accepted["session"]["status"], "ready_to_proceed", "{accepted}");
    let amended = opened.post(&opened.agent, "/amend", &with(json!(["gdpr", "nist-800-171"]))).json();
    let asked: Vec<_> = amended["gaps"].as_array().unwrap().iter().map(|gap| gap["id"].clone()).collect();
    assert!(asked.contains(&json!("gap-001")), "{amended}");
    refused(&opened.post(&opened.agent, "/confirm", &json!({})), 409, "QUESTIONS_OPEN");
}

/// CLR-54: "approved" in the plan is the agent's own word, and a token that passes on what somebody says is not the terminal.
#[test]
fn an_approval_in_the_plan_or_relayed_does_not_satisfy_a_stated_assurance_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("pack");
    std::fs::create_dir(&pack).unwrap();
    std::fs::write(pack.join("pack.toml"), "[pack]\nname = \"bank\"\nversion = \"1\"\n").unwrap();
    std::fs::write(pack.join("bank.cedar"), APPROVALS).unwrap();
    let server = Server::start_under(&folder.path().join("data"), vec![pack]);
    let (agent, client) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let mut whole = plan(&json!({"amount": 10, "approved": true}));
    whole.as_object_mut().unwrap().remove("real_build");
    let opened = server.call("POST", "/v1/plans").token(&agent).json(&json!({"plan": whole})).send().json();
    assert_eq!(opened["blocking_count"], 1, "{opened}");
    let session = opened["session_id"].as_str().unwrap().to_owned();
    let opened = Opened { server, agent, session };
    let relayed = json!({"answer": "yes", "by": "kim"});
    refused(&opened.post(&client, "/gaps/gap-001", &relayed), 409, "ASSURANCE_TOO_LOW");
    let own = opened.post(&opened.agent, "/gaps/gap-001/own", &json!({"answer": "yes"}));
    assert_ne!(own.json()["status"], "resolved", "{own:?}");
    refused(&opened.post(&opened.agent, "/confirm", &json!({})), 409, "QUESTIONS_OPEN");
    let id = opened.question()["id"].as_str().unwrap().to_owned();
    assert_eq!(opened.server.answer(&id, &json!("yes")).status, 200);
    assert_eq!(opened.post(&opened.agent, "/confirm", &json!({})).status, 200);
}

const APPROVALS: &str = "
@id(\"approval\")
@field(\"approved\")
@question(\"{context.amount} go out. Go ahead?\")
@kinds(\"yes_no\")
@assurance(\"terminal\")
forbid (principal, action, resource)
when { context has amount && context.amount > 0 } unless { context has approved && context.approved };
";
