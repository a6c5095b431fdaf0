//! `demur people`, `demur open --as`, `demur serve --public-url`.

use insta::assert_snapshot;

use crate::{sandbox::Sandbox, server_life::serve};

#[test]
fn people_are_added_listed_and_removed() {
    let sandbox = Sandbox::with_keys();
    assert_snapshot!(sandbox.run(&["people", "list"]), @r"
    exit 0
    --- stdout
    Nobody but you. `demur people add NAME --role answerer` adds somebody.
    ");
    assert_snapshot!(sandbox.run(&["people", "add", "Zoë Ångström", "--role", "answerer"]), @r#"
    exit 0
    --- stdout
    Added: Zoë Ångström as answerer
      `demur open --as "Zoë Ångström" --print` makes a code that signs this one in.
    "#);
    assert_snapshot!(sandbox.run(&["people", "add", "zoë ångström", "--role", "auditor"]), @r#"
    exit 3
    --- stderr
    error: expected a name that is free, found "zoë ångström" in use by a person
    hint: `demur people list` shows them; remove first to change a role
    "#);
    let listed = sandbox.json(&["people", "list"]);
    assert_eq!(listed["people"][0]["role"], "answerer");
    assert_snapshot!(sandbox.run(&["people", "remove", "Zoë Ångström"]), @r"
    exit 0
    --- stdout
    Removed: Zoë Ångström; nobody was signed in
    ");
    assert_snapshot!(sandbox.run(&["people", "remove", "Zoë Ångström"]), @r#"
    exit 2
    --- stderr
    error: expected the name of a person who was added, found "Zoë Ångström"
    hint: `demur people list` shows them
    "#);
    sandbox.run(&["stop"]).expect_code(0);
}

#[test]
fn a_code_is_made_for_somebody_who_was_added() {
    let sandbox = Sandbox::new();
    let unknown = sandbox.json_error(&["open", "--as", "zoe"], 2);
    assert_eq!(unknown["code"], "PERSON_UNKNOWN", "{unknown}");
    sandbox.run(&["people", "add", "zoe", "--role", "auditor"]).expect_code(0);
    let link = sandbox.json(&["open", "--as", "zoe", "--print"]);
    let (url, code) = (link["url"].as_str().unwrap(), link["code"].as_str().unwrap());
    assert!(url.starts_with("http://demur.localhost:") && url.ends_with("/sign-in"), "{url}");
    let printed = sandbox.run(&["open", "--as", "zoe", "--print"]);
    let printed = &printed.expect_code(0).stdout;
    assert!(
        printed.contains(&format!("Address: {url}\n")) && !printed.contains(code),
        "each is another: {printed}"
    );
    sandbox.run(&["stop"]).expect_code(0);
}

#[test]
fn browsers_elsewhere_come_over_https_or_not_at_all() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["serve", "--public-url", "http://demur.example"]), @r"
    exit 2
    --- stderr
    error: --public-url: expected https:// and a name, such as https://demur.example; http:// only for this machine
    hint: `demur serve --help` shows what can be typed
    ");
    let mistake = sandbox.run(&["serve", "--listen", "0.0.0.0:1"]);
    assert!(mistake.expect_code(2).stderr.contains("--listen needs --public-url"), "{mistake}");
    assert_snapshot!(sandbox.run(&["serve", "--public-url", "https://demur.example", "--trusted-proxy", "proxy"]), @r"
    exit 2
    --- stderr
    error: --trusted-proxy: expected an address or a network, such as 127.0.0.1 or 10.0.0.0/8
    hint: `demur serve --help` shows what can be typed
    ");
    let public = [
        "--listen",
        "127.0.0.1:0",
        "--public-url",
        "https://Demur.example:443/",
        "--trusted-proxy",
        "10.0.0.0/8",
    ];
    let mut server = serve(&sandbox, &public);
    assert_eq!(sandbox.json(&["status"])["address"], "https://demur.example");
    let link = sandbox.json(&["open", "--print"]);
    assert_eq!(link["url"], "https://demur.example/sign-in");
    sandbox.run(&["stop"]).expect_code(0);
    assert!(server.wait().unwrap().success());
}

/// ONE-07: a token is a way in for the holder of its name.
#[test]
fn name_of_a_token_means_one_holder() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    sandbox.run(&["people", "add", "zoe", "--role", "answerer"]).expect_code(0);
    let keys = || sandbox.json(&["keys", "list"])["keys"].as_array().unwrap().len();
    let before = keys();
    sandbox.run(&["token", "new", "agent", "--scope", "ask"]).expect_code(0);
    assert_eq!(keys(), before, "the key that is there speaks");
    for (name, scope) in [("agent", "answer"), ("zoe", "ask"), ("zoe", "read"), ("Zoe", "relay")] {
        let people: &[&str] = if scope == "relay" { &["--for", "kim"] } else { &[] };
        let error = sandbox.json_error(&[&["token", "new", name, "--scope", scope], people].concat(), 3);
        assert_eq!(error["code"], "NAME_TAKEN", "{name} {scope}: {error}");
    }
}

#[test]
fn link_for_nobody_names_what_was_typed() {
    let sandbox = Sandbox::with_keys();
    assert_snapshot!(sandbox.run(&["open", "--as", "nobody", "--print"]), @r#"
    exit 2
    --- stderr
    error: expected the name of a person who was added, found "nobody"
    hint: `demur people list` shows them
    "#);
}
