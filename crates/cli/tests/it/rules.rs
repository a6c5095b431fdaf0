//! `demur rules`.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::Path,
    process::Command,
};

use demur_rules::Rules;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{mcp::client::Client, sandbox::Sandbox};

/// A pack with one row of facts, one required field and one condition.
const PACK: &str = "\
[pack]
name = \"ours\"
version = \"3\"

[[required]]
id = \"owner\"
field = \"owner\"
question = \"Who owns it?\"
";

const POLICY: &str = "\
@id(\"no-friday\")
@severity(\"WARN\")
@field(\"day\")
@question(\"Why on a Friday?\")
forbid (principal, action, resource)
when { context has day && context.day == \"friday\" };
";

/// Writes a pack into a folder of the sandbox.
fn pack(sandbox: &Sandbox, folder: &str, files: &[(&str, &str)]) {
    fs::create_dir_all(sandbox.path(folder)).unwrap();
    for (name, text) in files {
        fs::write(sandbox.path(folder).join(name), text).unwrap();
    }
}

fn travel() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rules/travel").to_str().unwrap().to_owned()
}

fn rows(reply: &Value) -> u64 {
    reply["tables"].as_array().unwrap().iter().map(|table| table["rows"].as_u64().unwrap()).sum()
}

/// CLR-16
#[test]
fn built_in_pack_is_shown_with_the_hash_that_decisions_record() {
    let sandbox = Sandbox::new();
    let reply = sandbox.json(&["rules", "check"]);
    assert_eq!(reply["hash"], Rules::builtin().unwrap().hash().to_string());
    assert_eq!(reply["packs"][0]["name"], "default");
    let names: Vec<&str> =
        reply["tables"].as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
    let expected = [
        "jurisdiction",
        "standard",
        "target",
        "bundle",
        "language",
        "required",
        "ambiguous",
        "overlap",
        "conflict",
        "policy",
    ];
    assert_eq!(names, expected);
    let text = sandbox.run(&["rules", "check"]);
    assert!(
        text.expect_code(0).stdout.contains(&format!("{} rows from pack default", rows(&reply))),
        "{text}"
    );
    assert!(!sandbox.data().exists(), "looking at rules needs no data folder");
}

/// CLR-16: a user adds rules in files, without rebuilding.
#[test]
fn packs_are_counted_by_the_layer_they_come_from() {
    let sandbox = Sandbox::new();
    pack(&sandbox, "ours", &[("pack.toml", PACK), ("day.cedar", POLICY), ("notes.txt", "not \u{7f} a rule")]);
    assert_snapshot!(sandbox.run(&["rules", "check", "ours", "--only"]), @r"
    exit 0
    --- stdout
    Good: 2 rows from pack ours (version 3).
      hash  [FINGERPRINT]

    TABLE         ROWS  FROM
    jurisdiction  0
    standard      0
    target        0
    bundle        0
    language      0
    required      1     ours 1
    ambiguous     0
    overlap       0
    conflict      0
    policy        1     ours 1
    ");
    let (below, above) = (sandbox.json(&["rules", "check"]), sandbox.json(&["rules", "check", "ours"]));
    assert_eq!(rows(&above), rows(&below) + 2);
    assert_ne!(above["hash"], below["hash"]);
    assert_eq!(above["packs"][1], json!({"name": "ours", "version": "3"}));
    assert_eq!(above["tables"][9]["packs"]["ours"], 1);
    let both = sandbox.json(&["rules", "check", &travel(), "ours"]);
    let order: Vec<&str> =
        both["packs"].as_array().unwrap().iter().map(|pack| pack["name"].as_str().unwrap()).collect();
    assert_eq!(order, ["default", "travel", "ours"]);
}

/// The hash is that of the rules, wherever they lie and however the disk lists them.
#[test]
fn same_rules_in_another_folder_have_the_same_hash() {
    let sandbox = Sandbox::new();
    let other = POLICY.replace("no-friday", "no-sunday").replace("friday", "sunday");
    pack(&sandbox, "one", &[("pack.toml", PACK), ("a.cedar", POLICY), ("b.cedar", &other)]);
    pack(&sandbox, "two/deep", &[("y.cedar", &other), ("x.cedar", POLICY), ("pack.toml", PACK)]);
    // A link may lead to a file of the same folder.
    fs::create_dir(sandbox.path("linked")).unwrap();
    fs::write(sandbox.path("linked/all.txt"), format!("{POLICY}\n{other}")).unwrap();
    fs::write(sandbox.path("linked/pack.toml"), PACK).unwrap();
    symlink("all.txt", sandbox.path("linked/all.cedar")).unwrap();
    let hash = |folder: &str| sandbox.json(&["rules", "check", folder])["hash"].clone();
    assert_eq!(hash("one"), hash("two/deep"));
    assert_eq!(hash("one"), hash("linked"));
}

/// Every mistake of a pack is told with its place and what to do.
#[test]
fn mistakes_are_told_with_file_line_and_column() {
    let sandbox = Sandbox::new();
    let row = |text: &str| format!("{PACK}\n{text}");
    let cases: [(&str, &str, String); 9] = [
        ("pack.toml", "", "[pack\n".to_owned()),
        ("pack.toml", "", "name = \"no pack\"\n".to_owned()),
        ("pack.toml", "", row("[[colour]]\nid = \"red\"\n")),
        ("pack.toml", "", row("[[standard]]\nid = \"Not An Id\"\nname = \"x\"\n")),
        ("pack.toml", "", row("[[required]]\nid = \"owner\"\nfield = \"owner\"\nquestion = \"Who?\"\n")),
        ("pack.toml", "", row("[[bundle]]\nid = \"all\"\nname = \"All\"\nstandards = [\"none-such\"]\n")),
        ("pack.toml", "", row("[[standard]]\nid = \"none-such\"\nremove = true\n")),
        ("a.cedar", PACK, "\nforbid (principal\n".to_owned()),
        ("b.cedar", PACK, POLICY.replace("@field(\"day\")\n", "")),
    ];
    let mut told = String::new();
    for (number, (file, table, text)) in cases.iter().enumerate() {
        let folder = format!("bad{number}");
        pack(&sandbox, &folder, &[("pack.toml", table), (file, text)]);
        told += &sandbox.run(&["rules", "check", &folder]).to_string();
    }
    assert_snapshot!(told, @r#"
    exit 2
    --- stderr
    error: bad0/pack.toml:1:6: expected TOML as docs/rules.md describes it, found unclosed table, expected `]`
    hint: correct the file; docs/rules.md describes every table and condition
    exit 2
    --- stderr
    error: bad1/pack.toml:1:1: expected a table [pack] with name and version, found none
    hint: correct the file; docs/rules.md describes every table and condition
    exit 2
    --- stderr
    error: bad2/pack.toml:10:3: expected one of the tables [pack], [settings], [wording], [unread], [[jurisdiction]], [[standard]], [[target]], [[bundle]], [[language]], [[required]], [[ambiguous]], [[overlap]], [[conflict]], [[policy]], found [colour]
    hint: correct the file; docs/rules.md describes every table and condition
    exit 2
    --- stderr
    error: bad3/pack.toml:11:6: expected a table as docs/rules.md describes it, found expected an id of 1 to 64 lower-case letters, digits, _ and -, found "Not An Id"
    hint: correct the file; docs/rules.md describes every table and condition
    exit 2
    --- stderr
    error: bad4/pack.toml:10:1: expected each id once in a pack, found "owner" twice in [[required]]
    hint: rename one, or take it out
    exit 2
    --- stderr
    error: bad5/pack.toml:10: expected the id of a row in this or a lower pack, found "none-such" (standards of [[bundle]] all)
    hint: add the row, or correct the id
    exit 2
    --- stderr
    error: bad6/pack.toml:10: expected a row of [[standard]] in a pack below, found none with id "none-such"
    hint: correct the id, or leave the row out
    exit 2
    --- stderr
    error: bad7/a.cedar:3:1: expected `,` or `)`, found the end of the file
    hint: write conditions on the plan after `when`
    exit 2
    --- stderr
    error: bad8/b.cedar:1: expected an annotation @field, found none
    hint: write @field("...") above the forbid
    "#);
    let error = sandbox.json_error(&["rules", "check", "bad3"], 2);
    assert_eq!(error["code"], "RULES_MALFORMED");
    assert!(error["message"].as_str().unwrap().starts_with("bad3/pack.toml:11:6: expected "), "{error}");
    assert!(!error["hint"].as_str().unwrap().is_empty());
}

#[test]
fn folders_that_hold_no_usable_pack_are_refused() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("file"), PACK).unwrap();
    pack(&sandbox, "empty", &[]);
    pack(&sandbox, "out", &[("pack.toml", PACK)]);
    symlink("/etc/hostname", sandbox.path("out/a.cedar")).unwrap();
    pack(&sandbox, "away", &[("pack.toml", PACK)]);
    symlink("../file", sandbox.path("away/a.cedar")).unwrap();
    pack(&sandbox, "inner/a.cedar", &[]);
    fs::write(sandbox.path("inner/pack.toml"), PACK).unwrap();
    pack(&sandbox, "pipe", &[("pack.toml", PACK)]);
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe/a.cedar")).status().unwrap().success());
    pack(&sandbox, "large", &[("pack.toml", &"#".repeat((256 << 10) + 1))]);
    pack(&sandbox, "bytes", &[("pack.toml", PACK)]);
    fs::write(sandbox.path("bytes/a.cedar"), b"// \xff\n").unwrap();
    pack(&sandbox, "name", &[("pack.toml", PACK)]);
    fs::write(sandbox.path("name").join(OsStr::from_bytes(b"\xff.cedar")), POLICY).unwrap();
    pack(&sandbox, "many", &[("pack.toml", PACK)]);
    for number in 0..64 {
        fs::write(sandbox.path("many").join(format!("{number}.cedar")), "").unwrap();
    }
    let folders = ["none", "file", "empty", "out", "away", "inner", "pipe", "large", "bytes", "name", "many"];
    let told: Vec<String> =
        folders.iter().map(|folder| sandbox.run(&["rules", "check", folder]).to_string()).collect();
    assert_snapshot!(told.join(""), @r"
    exit 2
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    exit 2
    --- stderr
    error: expected a folder with a pack.toml, found a file: file
    hint: name the folder that the file lies in
    exit 2
    --- stderr
    error: empty/pack.toml: expected a file of this name in the pack, found none
    hint: write one with [pack], name and version
    exit 2
    --- stderr
    error: out/a.cedar: expected a file in the pack's folder, found a link out of it
    hint: copy the file into the folder
    exit 2
    --- stderr
    error: away/a.cedar: expected a file in the pack's folder, found a link out of it
    hint: copy the file into the folder
    exit 2
    --- stderr
    error: inner/a.cedar: expected a file, found something else
    exit 2
    --- stderr
    error: pipe/a.cedar: expected a file, found something else
    exit 2
    --- stderr
    error: large/pack.toml: expected at most 262144 bytes, found more
    hint: split the pack into layers
    exit 2
    --- stderr
    error: bytes/a.cedar:1: expected UTF-8, found other bytes
    hint: save the file as UTF-8
    exit 2
    --- stderr
    error: name/�.cedar: expected a file name in UTF-8, found other bytes
    hint: rename the file
    exit 2
    --- stderr
    error: many: expected at most 64 files of a pack, found more
    hint: write more policies into each .cedar file
    ");
}

#[test]
fn leaving_the_built_in_pack_out_needs_another_pack() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("plan"), "{}").unwrap();
    for call in [&["rules", "check", "--only"][..], &["rules", "explain", "plan", "--only"]] {
        assert_eq!(sandbox.json_error(call, 2)["code"], "USAGE");
    }
}

const PLAN: &str = r#"{"description": "news", "component_type": "webpart-react", "operation": "add",
    "data_storage": "properties", "api_choice": "rest", "real_build": true,
    "standards_selected": ["JSP 440", "Foo\u001b[2J"], "design_system": "USWDS"}"#;

/// CLR-16: the pack, the row or policy, and what in the plan made it apply.
#[test]
fn every_gap_is_explained_by_its_rule() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("plan.json"), PLAN).unwrap();
    let ran = sandbox.run(&["rules", "explain", "plan.json"]);
    assert_snapshot!(ran, @r#"
    exit 0
    --- stdout
    3 gaps by pack default (version 1).
      hash      [FINGERPRINT]

    WARN standards_selected.1
      rule      unknown-standard/foo-2j
      why       no row of the tables has this name
      question  standards_selected.1: no rule knows the standard "Foo\u{1b}[2J", so it cannot be checked. Which standard is meant?

    BLOCK compliance.jurisdiction
      rule      conflict/uk-mod-us-design of pack default
      why       row uk-mod-us-design of [[conflict]] in pack default: jsp-440 is selected and the target is uswds
      question  JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?

    BLOCK output_path
      rule      policy/real-build-output of pack default
      why       policy real-build-output of pack default cannot be decided without output_path
      question  real_build is requested but output_path is not set. Into which directory is the build to be written?
    "#);
    let piped = sandbox.feed(&["rules", "explain", "-"], PLAN.as_bytes());
    assert_eq!(piped.stdout, ran.stdout);
    let reply = sandbox.json(&["rules", "explain", "plan.json"]);
    let gap = &reply["gaps"][1];
    let found = (&gap["field"], &gap["severity"], &gap["rule"], &gap["pack"]);
    let expected = ("compliance.jurisdiction", "BLOCK", "conflict/uk-mod-us-design", "default");
    assert_eq!(found, (&expected.0.into(), &expected.1.into(), &expected.2.into(), &expected.3.into()));
    assert_eq!((&reply["gaps"][0]["pack"], reply["gaps"].as_array().unwrap().len()), (&Value::Null, 3));
    assert_eq!(reply["hash"], sandbox.json(&["rules", "check"])["hash"]);
    assert!(!sandbox.data().exists());
}

#[test]
fn packs_of_ones_own_explain_too() {
    let sandbox = Sandbox::new();
    pack(&sandbox, "ours", &[("pack.toml", PACK), ("day.cedar", POLICY)]);
    fs::write(sandbox.path("plan"), r#"{"day": "friday"}"#).unwrap();
    let reply = sandbox.json(&["rules", "explain", "plan", "--rules", "ours", "--only"]);
    let told: Vec<(&str, &str)> = reply["gaps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gap| (gap["rule"].as_str().unwrap(), gap["pack"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("required/owner", "ours"), ("policy/no-friday", "ours")]);
    fs::write(sandbox.path("whole"), r#"{"day": "monday", "owner": "me"}"#).unwrap();
    assert_snapshot!(sandbox.run(&["rules", "explain", "whole", "--rules", "ours", "--only"]), @r"
    exit 0
    --- stdout
    No gaps: by pack ours (version 3) the plan leaves nothing open.
      hash      [FINGERPRINT]
    ");
}

#[test]
fn plans_that_cannot_be_looked_at_are_refused() {
    let sandbox = Sandbox::new();
    let plans =
        ["", "[1]", "{\"a\": 1, \"a\": 2}", "{\"a\": {\"b c\": 1}}", "{\"derived\": 1}", "{\"a\": nan}"];
    let told: Vec<String> = plans
        .iter()
        .map(|plan| sandbox.feed(&["rules", "explain", "-"], plan.as_bytes()).to_string())
        .chain(["none", "."].map(|path| sandbox.run(&["rules", "explain", path]).to_string()))
        .collect();
    assert_snapshot!(told.join(""), @r"
    exit 2
    --- stderr
    error: standard input: plan: expected strict JSON within the limits: expected a value, found the end at byte 0
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: standard input: plan: expected an object with named members, found a list; send the members of the plan in an object
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: standard input: plan: expected strict JSON within the limits: expected every key once, found it twice at byte 10
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: standard input: a.b c: expected a member named with letters, digits, _, $ and - and a path up to 200 characters; rename it
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: standard input: derived: expected a plan without a member of this name, found one; it is what rules derive from a plan
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: standard input: plan: expected strict JSON within the limits: expected a value, found byte 0x6e at byte 6
    hint: a plan is one JSON object; nothing was recorded; `demur check --help` has examples
    exit 2
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    exit 2
    --- stderr
    error: expected a file, found a folder: .
    hint: `ls .` shows the files in it
    ");
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(256 << 10));
    fs::write(sandbox.path("large"), large).unwrap();
    assert_eq!(sandbox.json_error(&["rules", "explain", "large"], 2)["code"], "FILE_TOO_LARGE");
    let items: Vec<Value> = (0..300).map(|number| json!(format!("unknown {number}"))).collect();
    fs::write(sandbox.path("many"), json!({"standards_selected": items}).to_string()).unwrap();
    assert_eq!(sandbox.json_error(&["rules", "explain", "many"], 2)["code"], "TOO_MANY_GAPS");
}

/// Returns the fields of the gaps that a server finds, which was started by the client that asks.
fn fields_over_mcp(sandbox: &Sandbox, plan: &Value) -> Vec<String> {
    let mut client = Client::modern(sandbox, &["--tools", "wwa"], &json!({}));
    let told = client.call("wwa_clarify_check", &json!({"plan": plan, "wait_s": 0}));
    let gaps = told["structuredContent"]["gaps"].as_array().unwrap_or_else(|| panic!("{told}"));
    gaps.iter().map(|gap| gap["field"].as_str().unwrap().to_owned()).collect()
}

/// CLR-16: own packs alone, kept in the data folder: every server that is started there has them, and so have commands.
#[test]
fn packs_that_a_data_folder_keeps_are_used_by_a_server_that_another_command_starts() {
    let sandbox = Sandbox::new();
    pack(&sandbox, "own", &[("pack.toml", PACK)]);
    let plan = json!({"day": "friday", "ownr": "Ada"});
    fs::write(sandbox.path("plan.json"), plan.to_string()).unwrap();
    let kept = sandbox.json(&["rules", "use", sandbox.path("own").to_str().unwrap(), "--only"]);
    assert_eq!(kept["packs"].as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(fields_over_mcp(&sandbox, &plan), ["owner", "ownr"]);
    let file = sandbox.path("plan.json");
    let checked = sandbox.run(&["check", file.to_str().unwrap(), "--json"]);
    checked.expect_code(3);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(checked["rules"], kept["hash"]);
    // A server that runs takes another choice with the next plan.
    sandbox.run(&["rules", "use", "--built-in"]).expect_code(0);
    let over = fields_over_mcp(&sandbox, &plan);
    assert!(over.contains(&"component_type".to_owned()), "{over:?}");
    assert!(!over.contains(&"owner".to_owned()), "{over:?}");
}

/// CLR-16: nothing is kept that cannot be used, and what was kept stays.
#[test]
fn a_pack_with_a_mistake_is_not_kept() {
    let sandbox = Sandbox::new();
    pack(&sandbox, "own", &[("pack.toml", PACK)]);
    pack(&sandbox, "bad", &[("pack.toml", "[pack]\nname = \"bad\"\n")]);
    sandbox.run(&["rules", "use", sandbox.path("own").to_str().unwrap()]).expect_code(0);
    let before = fs::read(sandbox.data().join("settings.json")).unwrap();
    let error = sandbox.json_error(&["rules", "use", sandbox.path("bad").to_str().unwrap()], 2);
    assert_eq!(error["code"], "RULES_MALFORMED", "{error}");
    assert_eq!(fs::read(sandbox.data().join("settings.json")).unwrap(), before);
    sandbox.run(&["rules", "use"]).expect_code(2);
}

/// CLR-17: whoever checks a plan is told which fields nobody looked at.
#[test]
fn fields_that_no_rule_reads_are_shown_with_every_check() {
    let sandbox = Sandbox::new();
    let plan = json!({"description": "d", "component_type": "x", "operation": "add", "spo_theme": true, "owner": {"team": "web"}});
    let checked = sandbox.feed(&["check", "-"], plan.to_string().as_bytes());
    checked.expect_code(0);
    assert!(
        checked
            .stdout
            .contains("Named by no rule, so checked for vague words at most: owner.team, spo_theme"),
        "{}",
        checked.stdout
    );
    let checked = sandbox.feed(&["check", "-", "--json"], plan.to_string().as_bytes());
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(checked["unread"], json!(["owner.team", "spo_theme"]));
}
