//! The files of the matrix: one line for each outcome of a row, with everybody who gets it.

use std::{env, fs, path::PathBuf};

use serde_json::{Value, json};

use super::callers::KINDS;

/// Returns the lines of a row: what each kind of caller gets, in the order of the kinds, those with the same together.
pub(super) fn lines(head: &[(&str, &str)], outcomes: &[Value]) -> Vec<String> {
    assert_eq!(outcomes.len(), KINDS.len());
    let mut groups: Vec<(&Value, Vec<&str>)> = Vec::new();
    for (outcome, kind) in outcomes.iter().zip(KINDS) {
        match groups.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, kinds)) => kinds.push(kind),
            None => groups.push((outcome, vec![kind])),
        }
    }
    let line = |(outcome, kinds): (&Value, Vec<&str>)| {
        let head: Vec<_> = head.iter().map(|(name, value)| format!("\"{name}\":{}", json!(value))).collect();
        let mut members: Vec<_> = outcome.as_object().unwrap().iter().collect();
        // What matters most comes first; sorting keeps the others in their order.
        members.sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{},\"by\":{},{}}}", head.join(","), json!(kinds), members.join(","))
    };
    groups.into_iter().map(line).collect()
}

/// Returns what is different from the committed file, which is written anew if that is wanted.
pub(super) fn differences(file: &str, lines: &[String]) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/matrix/{file}.jsonl"));
    let made = lines.join("\n") + "\n";
    if env::var_os("DEMUR_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let missing = |from: &str, other: &str, mark: &str| -> Vec<String> {
        let other: std::collections::BTreeSet<_> = other.lines().collect();
        from.lines()
            .filter(|line| !other.contains(line))
            .map(|line| format!("{mark} {file}: {line}"))
            .collect()
    };
    let mut found = missing(&committed, &made, "-");
    found.extend(missing(&made, &committed, "+"));
    if found.is_empty() && committed != made {
        found.push(format!("{file}: the same lines in another order"));
    }
    found
}

/// What a line says first.
const FIRST: [&str; 5] = ["status", "is_error", "error", "code", "field"];

#[test]
fn callers_with_the_same_outcome_share_a_line() {
    let (refused, done) = (json!({"status": 403, "code": "FORBIDDEN"}), json!({"status": 204}));
    let outcomes: Vec<_> =
        (0..KINDS.len()).map(|at| if at == 1 { done.clone() } else { refused.clone() }).collect();
    let lines = lines(&[("operation", "stop"), ("case", "now")], &outcomes);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1], r#"{"operation":"stop","case":"now","by":["local client"],"status":204}"#);
    assert!(lines[0].contains(r#""by":["local","ask, owner","#), "{}", lines[0]);
}
