//! Clients and the roles they hold over the wire: who has which token is on record, one client in several roles is shown, and
//! refused where the policy says so.

use serde_json::{Value, json};

use crate::{
    client_restart::{self, FIRST, SECOND, THIRD},
    run::{intent, opening, proposal, review},
    server::Server,
};

/// Opens a run with a policy; returns status, code and document.
fn open(server: &Server, token: &str, agents: &Value, distinct: bool) -> (u16, Value) {
    let mut document = opening();
    document["agents"] = agents.clone();
    document["policy"] = json!({"distinct_clients": distinct});
    let reply = server.call("POST", "/v1/runs").token(token).json(&document).send();
    (reply.status, reply.json())
}

/// Returns the report on a run.
fn verified(server: &Server, trace: &Value) -> Value {
    let export = server.local("GET", &format!("/v1/traces/{}/export", trace.as_str().unwrap())).send();
    let checked = server.local("POST", "/v1/verify").header("Content-Type", "application/jsonl");
    checked.body(&export.body).send().json()["report"].clone()
}

/// LED-41 LED-42
#[test]
fn client_that_takes_two_roles_is_refused_where_the_policy_says_so() {
    let server = Server::start();
    let ada = server.token("ada", &["ask"]);
    for name in ["bo", "cy"] {
        server.token(name, &["ask"]);
    }
    let (status, refusal) = open(&server, &ada, &json!({}), true);
    assert_eq!((status, &refusal["code"]), (409, &json!("CLIENT_HELD_ROLES")), "{refusal}");
    let words = refusal.to_string();
    assert!(words.contains("one client held planner, executor, critic and auditor"), "{words}");
    assert!(words.contains("demur token new"), "{words}");
    let (status, refusal) = open(&server, &ada, &json!({"critic": "bo"}), true);
    assert_eq!((status, &refusal["code"]), (409, &json!("CLIENT_HELD_ROLES")), "{refusal}");
    let (status, opened) = open(&server, &ada, &json!({"critic": "bo", "auditor": "cy"}), true);
    assert_eq!(status, 201, "{opened}");
    let report = verified(&server, &opened["trace"]);
    assert!(!report.to_string().contains("CLIENT_HELD_ROLES"), "{report}");
}

/// LED-41
#[test]
fn client_that_takes_two_roles_is_shown_where_nobody_forbids_it() {
    let server = Server::start();
    let ada = server.token("ada", &["ask"]);
    let (status, opened) = open(&server, &ada, &json!({}), false);
    assert_eq!(status, 201, "{opened}");
    let clients: Vec<_> =
        opened["participants"].as_array().unwrap().iter().map(|one| &one["client"]).collect();
    assert!(clients.len() == 4 && clients.iter().all(|client| *client == clients[0]), "{clients:?}");
    let report = verified(&server, &opened["trace"]);
    let message = "one client held planner, executor, critic and auditor";
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["message"] == message), "{report}");
    assert_eq!(report["roles"].as_array().unwrap().len(), 4, "{report}");
}

/// Returns the events of the registry, as its export has them.
pub(crate) fn registry(server: &Server) -> Vec<Value> {
    let keys = server.local("GET", "/v1/keys").send().json();
    let trace = keys["registry"]["trace"].as_str().unwrap_or_else(|| panic!("{keys}")).to_owned();
    let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send();
    let lines =
        export.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    lines.into_iter().filter(|line| line.get("event").is_some()).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|line| line["event"]["event"]["statement"]["type"].as_str()).collect()
}

/// Returns the clients that the events name.
fn clients(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|line| line["event"]["event"]["statement"]["facts"]["client"].as_str()).collect()
}

/// Two tokens of one name are one client; the registry says what was made and taken back, and no secret.
#[test]
fn tokens_are_in_the_registry_and_their_secrets_are_not() {
    let server = Server::start();
    let made = |scopes: Value| {
        let wanted =
            json!({"name": "ada", "for_anyone": scopes.to_string().contains("relay"), "scopes": scopes});
        server.local("POST", "/v1/tokens").json(&wanted).send().json()
    };
    let first = made(json!(["ask"]));
    made(json!(["read", "relay"]));
    let id = first["token"]["id"].as_str().unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    let events = registry(&server);
    let expected =
        ["store_created", "key_registered", "client_bound", "token_made", "token_made", "token_revoked"];
    assert_eq!(types(&events), expected);
    let secret = first["secret"].as_str().unwrap().rsplit('_').next().unwrap();
    assert!(!json!(events).to_string().contains(secret));
    let clients = clients(&events);
    assert!(clients.len() == 3 && clients.iter().all(|client| *client == clients[0]), "{clients:?}");
}

/// LED-41: with what an agent answers its own gaps, it speaks itself.
#[test]
fn key_of_an_agents_own_answers_is_its_clients() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("pack");
    std::fs::create_dir(&pack).unwrap();
    let rules = "[pack]\nname = \"own\"\nversion = \"1\"\n[settings]\nown_answers = \"all\"\n";
    std::fs::write(pack.join("pack.toml"), rules).unwrap();
    let server = Server::start_under(&folder.path().join("data"), vec![pack]);
    let ada = server.token("ada", &["ask"]);
    let plan = json!({"plan": {
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
        "standards_selected": ["jsp-440"], "deployment_target": "uswds",
    }});
    let submitted = server.call("POST", "/v1/plans").token(&ada).json(&plan).send().json();
    let session = submitted["session_id"].as_str().unwrap_or_else(|| panic!("{submitted}"));
    let path = format!("/v1/plans/{session}/gaps/gap-001/own");
    // Whether that is enough for the gap is another matter.
    server.call("POST", &path).token(&ada).json(&json!({"answer": "yes"})).send();
    let events = registry(&server);
    let bound: Vec<_> =
        events.iter().filter(|line| line["event"]["event"]["statement"]["type"] == "client_bound").collect();
    assert_eq!(bound.len(), 2, "{events:?}");
    let clients = clients(&events);
    assert!(clients.iter().all(|client| *client == clients[0]), "{clients:?}");
}

/// LED-41 LED-42: a program that speaks with a key made for another one is still one program.
#[test]
fn program_that_speaks_under_the_name_of_another_is_refused_its_second_role() {
    let server = Server::start();
    let post = |name: &str, process: &str, path: &str, document: &Value| {
        client_restart::post(&server, (name, process), path, document)
    };
    let mut document = opening();
    document["agents"] = json!({"executor": "ada", "critic": "cy", "auditor": "cy"});
    document["policy"] = json!({"distinct_clients": true});
    // The keys of ada are made for the first process.
    let opened = post("ada", FIRST, "/v1/runs", &document);
    assert_eq!(opened.status, 201, "{opened:?}");
    let path = format!("/v1/runs/{}/events", opened.json()["trace"].as_str().unwrap());
    // A second process goes on as ada, and then judges as cy.
    let proposed = post("ada", SECOND, &path, &proposal());
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let review = review(proposed.json()["sequence"].as_u64().unwrap());
    let refused = post("cy", SECOND, &path, &review);
    assert_eq!((refused.status, refused.code().as_str()), (409, "CLIENT_HELD_ROLES"), "{}", refused.text());
    // Another one judges, and the work goes on.
    let reviewed = post("cy", THIRD, &path, &review);
    assert_eq!(reviewed.status, 201, "{}", reviewed.text());
    let intended = post("ada", FIRST, &path, &intent(2));
    assert_eq!(intended.status, 201, "{}", intended.text());
}

/// LED-41: what is refused leaves no word in the registry that would fail the run for good.
#[test]
fn program_that_may_not_judge_is_not_bound_to_the_key_of_the_critic() {
    let server = Server::start();
    let post = |name: &str, process: &str, path: &str, document: &Value| {
        client_restart::post(&server, (name, process), path, document)
    };
    let mut document = opening();
    document["agents"] = json!({"executor": "ada", "critic": "cy", "auditor": "cy"});
    document["policy"] = json!({"distinct_clients": true});
    let opened = post("ada", FIRST, "/v1/runs", &document);
    let path = format!("/v1/runs/{}/events", opened.json()["trace"].as_str().unwrap());
    let proposed = post("ada", FIRST, &path, &proposal()).json()["sequence"].as_u64().unwrap();
    let bound = || registry(&server).iter().filter(|line| line.to_string().contains(FIRST)).count();
    let before = bound();
    // Nobody has spoken with the critic's key yet.
    let refused = post("cy", FIRST, &path, &review(proposed));
    assert_eq!((refused.status, refused.code().as_str()), (409, "CLIENT_HELD_ROLES"), "{}", refused.text());
    assert_eq!(bound(), before, "the key of the critic is still nobody's");
    let reviewed = post("cy", SECOND, &path, &review(proposed));
    assert_eq!(reviewed.status, 201, "{}", reviewed.text());
}
