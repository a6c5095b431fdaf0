//! Changes to a JSON file: one member or element is put in or taken out, and nothing else moves. What is taken out leaves the
//! file as it was before it was put in, also where objects around it were made for it.
//!
//! How the file remembers: into an object that was there and empty, the member is put right behind the brace; an object that
//! is made for it has white space behind its brace. So the second goes with its last member, and the first stays.

use std::ops::Range;

use serde_json::Value;

use super::{
    json::{Dialect, Kind, Node, after_trivia, parse},
    malformed::{Malformed, Place},
    tree::{Tree, quoted},
};

/// Something in a file, by the names that lead to it.
pub(super) struct Slot<'a> {
    /// The names of the objects around it, from the outermost to the one that holds it.
    pub(super) path: &'a [&'static str],
    /// Its name there; none for an element of an array.
    pub(super) name: Option<&'static str>,
}

/// What becomes of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// It says so already.
    Unchanged,
    /// It says this.
    Text(String),
    /// Nothing is left of it.
    Gone,
}

/// Returns what stands in a slot that has a name.
pub(super) fn value(text: &str, dialect: Dialect, slot: &Slot<'_>) -> Option<Value> {
    let root = parse(text, dialect).ok()?;
    let holder = slot.path.iter().try_fold(&root, |node, name| node.member(name).map(|member| &member.value));
    Some(holder?.member(slot.name?)?.value.value())
}

/// Returns the text of a file that holds nothing else.
fn alone(slot: &Slot<'_>, tree: &Tree) -> String {
    format!("{}\n", around(slot.path, slot.name, tree).on_many_lines("", "  ", "\n"))
}

/// Returns the file with the value put in, in place of the one that `is_ours`, if there is one.
pub(super) fn put(
    text: &str,
    dialect: Dialect,
    slot: &Slot<'_>,
    tree: &Tree,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<Edited, Malformed> {
    if text.trim().is_empty() {
        // The end of a line before it remembers that there was a file.
        return Ok(Edited::Text(format!("{text}\n{}", alone(slot, tree))));
    }
    let root = parse(text, dialect)?;
    let way = way(text, &root, slot)?;
    let holder = way.last().copied().unwrap_or(&root);
    if way.len() == slot.path.len() + 1
        && let Some(there) = found(holder, slot, is_ours)
    {
        if there.value() == tree.value() {
            return Ok(Edited::Unchanged);
        }
        let begin = line_indent(text, there.span.start);
        let step = step(text, &root);
        let made = tree.on_many_lines(begin, &step, line_end(text));
        return Ok(Edited::Text(replaced(text, &[(there.span.clone(), made)])));
    }
    let missing = &slot.path[way.len() - 1..];
    let made = match missing {
        [] => (slot.name, tree.clone()),
        [first, rest @ ..] => (Some(*first), around(rest, slot.name, tree)),
    };
    Ok(Edited::Text(appended(text, dialect, &root, holder, made.0, &made.1)))
}

/// Returns the file without the value that `is_ours`, and without what was made for it.
pub(super) fn take_out(
    text: &str,
    dialect: Dialect,
    slot: &Slot<'_>,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<Edited, Malformed> {
    if text.trim().is_empty() {
        return Ok(Edited::Unchanged);
    }
    let root = parse(text, dialect)?;
    let way = way(text, &root, slot)?;
    if way.len() <= slot.path.len() {
        return Ok(Edited::Unchanged);
    }
    let Some(there) = way.last().and_then(|holder| found(holder, slot, is_ours)) else {
        return Ok(Edited::Unchanged);
    };
    let mut target = there;
    for holder in way.iter().rev() {
        let children = holder.children();
        let Some(index) = children.iter().position(|child| child.end == target.span.end) else { break };
        if children.len() > 1 || !was_made_here(text, holder, &children[index]) {
            let edits = without(text, dialect, &children, index);
            return Ok(Edited::Text(replaced(text, &edits)));
        }
        target = holder;
    }
    let before = text[..root.span.start].strip_suffix('\n');
    Ok(before.map_or(Edited::Gone, |before| Edited::Text(before.to_owned())))
}

/// Returns the objects and arrays that lead to the slot, beginning with the root, as far as they are there.
fn way<'a>(text: &str, root: &'a Node, slot: &Slot<'_>) -> Result<Vec<&'a Node>, Malformed> {
    let mut way = vec![root];
    let mut here = root;
    for (depth, name) in slot.path.iter().enumerate() {
        check(text, here, true)?;
        let Some(member) = here.member(name) else { return Ok(way) };
        here = &member.value;
        let holds_elements = depth + 1 == slot.path.len() && slot.name.is_none();
        check(text, here, !holds_elements)?;
        way.push(here);
    }
    check(text, here, slot.name.is_some())?;
    Ok(way)
}

fn check(text: &str, node: &Node, object: bool) -> Result<(), Malformed> {
    let expected = match (&node.kind, object) {
        (Kind::Object(_), true) | (Kind::Array(_), false) => return Ok(()),
        (_, true) => "an object",
        (_, false) => "an array",
    };
    let found = match &node.kind {
        Kind::Object(_) => "an object",
        Kind::Array(_) => "an array",
        Kind::Plain(_) => "something else",
    };
    let place = Place::of(text, node.span.start);
    Err(Malformed { place, expected: expected.to_owned(), found: found.to_owned() })
}

/// Returns what is in the slot.
fn found<'a>(holder: &'a Node, slot: &Slot<'_>, is_ours: &dyn Fn(&Value) -> bool) -> Option<&'a Node> {
    match (&holder.kind, slot.name) {
        (Kind::Array(elements), None) => elements.iter().find(|element| is_ours(&element.value())),
        (_, Some(name)) => {
            holder.member(name).map(|member| &member.value).filter(|node| is_ours(&node.value()))
        }
        _ => None,
    }
}

/// Returns the value with the objects around it.
fn around(path: &[&'static str], name: Option<&'static str>, tree: &Tree) -> Tree {
    let innermost = match name {
        Some(name) => Tree::Object(vec![(name, tree.clone())]),
        None => Tree::List(vec![tree.clone()]),
    };
    path.iter().rev().fold(innermost, |inner, name| Tree::Object(vec![(*name, inner)]))
}

/// Returns the text with something at the end of an object or array.
fn appended(
    text: &str,
    dialect: Dialect,
    root: &Node,
    holder: &Node,
    name: Option<&str>,
    tree: &Tree,
) -> String {
    let named =
        |value: String| name.map_or_else(|| value.clone(), |name| format!("{}: {value}", quoted(name)));
    let children = holder.children();
    let Some(last) = children.last() else {
        let at = holder.span.start + 1;
        return replaced(text, &[(at..at, named(tree.on_one_line()))]);
    };
    let end = line_end(text);
    let comma = Some(after_trivia(text, last.end, dialect)).filter(|at| text[*at..].starts_with(','));
    // Behind the comma, and behind a remark that stands on the same line.
    let place = behind_remark(text, dialect, comma.map_or(last.end, |at| at + 1));
    let closing = if comma.is_some() { "," } else { "" };
    let made = if text[holder.span.clone()].contains('\n') {
        let begin = line_indent(text, last.start);
        format!("{end}{begin}{}{closing}", named(tree.on_many_lines(begin, &step(text, root), end)))
    } else {
        format!(" {}{closing}", named(tree.on_one_line()))
    };
    let separator = if comma.is_some() { "" } else { "," };
    replaced(text, &[(last.end..last.end, separator.to_owned()), (place..place, made)])
}

/// Returns the end of the remark that follows on the same line, if one does.
fn behind_remark(text: &str, dialect: Dialect, at: usize) -> usize {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if dialect == Dialect::WithComments && rest[blank..].starts_with("//") {
        let line = rest.find('\n').unwrap_or(rest.len());
        return at + rest[..line].trim_end_matches('\r').len();
    }
    at
}

/// Returns the edits that take one of the members or elements out.
fn without(
    text: &str,
    dialect: Dialect,
    children: &[Range<usize>],
    index: usize,
) -> Vec<(Range<usize>, String)> {
    let child = &children[index];
    let start = text[..child.start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let following = after_trivia(text, child.end, dialect);
    if text[following..].starts_with(',') {
        let mut edits = vec![(start..child.end, String::new())];
        edits.push((following..following + 1, String::new()));
        return edits;
    }
    let mut edits = Vec::new();
    if let Some(before) = index.checked_sub(1).map(|index| &children[index]) {
        let comma = after_trivia(text, before.end, dialect);
        edits.push((comma..comma + 1, String::new()));
    }
    edits.push((start..child.end, String::new()));
    edits
}

/// Returns whether an object or array with one member was made for it, and has nothing else in it.
fn was_made_here(text: &str, holder: &Node, child: &Range<usize>) -> bool {
    let before = &text[holder.span.start + 1..child.start];
    let after = &text[child.end..holder.span.end - 1];
    !before.is_empty() && before.trim().is_empty() && after.trim().is_empty()
}

/// Returns the text with these parts replaced; they come in order and do not overlap.
fn replaced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut made, mut at) = (String::new(), 0);
    for (range, new) in edits {
        // Parts that touch: what the first took away is not there any more.
        made.push_str(&text[at..range.start.max(at)]);
        made.push_str(new);
        at = range.end.max(at);
    }
    made.push_str(&text[at..]);
    made
}

/// Returns the white space that the line of this byte begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns what one level is indented by.
fn step(text: &str, root: &Node) -> String {
    let first = root.children().first().map(|child| line_indent(text, child.start));
    first.filter(|indent| !indent.is_empty()).map_or_else(|| "  ".to_owned(), str::to_owned)
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: Slot<'_> = Slot { path: &["mcpServers"], name: Some("demur") };
    const HOOK: Slot<'_> = Slot { path: &["hooks", "PreToolUse"], name: None };

    fn entry() -> Tree {
        let words = Tree::texts(&["mcp".to_owned()]);
        Tree::Object(vec![("command", Tree::Text("demur".to_owned())), ("args", words)])
    }

    fn is_ours(value: &Value) -> bool {
        value["command"] == "demur"
    }

    /// Puts the entry in and takes it out again; returns the text between.
    #[track_caller]
    fn there_and_back(text: &str, dialect: Dialect, slot: &Slot<'_>) -> String {
        let Edited::Text(with) = put(text, dialect, slot, &entry(), &is_ours).unwrap() else {
            panic!("nothing changed in {text}")
        };
        parse(&with, dialect).unwrap_or_else(|error| panic!("{error} in {with}"));
        assert_eq!(put(&with, dialect, slot, &entry(), &is_ours).unwrap(), Edited::Unchanged, "{with}");
        let back = take_out(&with, dialect, slot, &is_ours).unwrap();
        assert_eq!(back, Edited::Text(text.to_owned()), "{with}");
        assert_eq!(take_out(text, dialect, slot, &is_ours).unwrap(), Edited::Unchanged);
        with
    }

    const STRICT: [&str; 17] = [
        "",
        " \n",
        "{}",
        "{ }",
        "{\n}\n",
        "{\"mcpServers\":{}}",
        "{\n  \"mcpServers\": {\n  }\n}",
        "{\"a\":1}",
        "{\"mcpServers\":{\"b\":{\"command\":\"x\"}}}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"b\": {}\n\t}\n}\n",
        "{\r\n    \"mcpServers\": {\r\n        \"b\": {}\r\n    },\r\n    \"z\": [1]\r\n}\r\n",
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"command\": \"x\"}\n    ]\n  }\n}\n",
        "{\"hooks\": {\"PostToolUse\": [{}]}, \"é\": \"{}\"}",
        "\u{feff}{\"a\": [1,\n2]}",
    ];

    #[test]
    fn file_is_the_same_after_putting_in_and_taking_out() {
        for text in STRICT {
            for slot in [&SERVER, &HOOK] {
                there_and_back(text, Dialect::Strict, slot);
                there_and_back(text, Dialect::WithComments, slot);
            }
        }
    }

    #[test]
    fn remarks_and_last_commas_stay_where_they_are() {
        for text in [
            "{\n  // mine\n  \"mcpServers\": {\n    \"b\": {}, // last\n  }, // more\n}\n",
            "{\n  \"mcpServers\": {\n    \"b\": {} // last\n    // and this\n  }\n}\n",
            "{\n  \"mcpServers\": { // none yet\n  }\n}\n",
            "{ \"mcpServers\": {\"b\": {},} }",
            "/* a */ {\"a\": 1 /* b */ } // c",
        ] {
            let with = there_and_back(text, Dialect::WithComments, &SERVER);
            for remark in ["// mine", "// last", "// more", "/* b */"] {
                assert_eq!(text.contains(remark), with.contains(remark), "{with}");
            }
        }
    }

    #[test]
    fn file_reads_well() {
        let with = there_and_back("{\n    \"a\": 1\n}\n", Dialect::Strict, &SERVER);
        let expected = "{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"demur\": {\n            \"command\": \
                        \"demur\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}\n";
        assert_eq!(with, expected);
        let with = there_and_back("{\"mcpServers\": {}}", Dialect::Strict, &SERVER);
        assert_eq!(with, r#"{"mcpServers": {"demur": { "command": "demur", "args": ["mcp"] }}}"#);
    }

    #[test]
    fn file_that_held_nothing_else_is_gone() {
        for slot in [&SERVER, &HOOK] {
            let text = alone(slot, &entry());
            assert_eq!(take_out(&text, Dialect::Strict, slot, &is_ours).unwrap(), Edited::Gone);
        }
    }

    #[test]
    fn what_others_added_later_stays() {
        let text =
            "{\n  \"mcpServers\": {\n    \"demur\": {\"command\": \"demur\"},\n    \"b\": {}\n  }\n}\n";
        let left = take_out(text, Dialect::Strict, &SERVER, &is_ours).unwrap();
        assert_eq!(left, Edited::Text("{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n".to_owned()));
        let text = "{\n  \"mcpServers\": {\n    \"demur\": {\"command\": \"demur\"}\n  },\n  \"b\": 1\n}\n";
        let left = take_out(text, Dialect::Strict, &SERVER, &is_ours).unwrap();
        assert_eq!(left, Edited::Text("{\n  \"b\": 1\n}\n".to_owned()));
    }

    #[test]
    fn entry_that_says_something_else_is_replaced_where_it_stands() {
        let text =
            "{\n  \"mcpServers\": {\n    \"demur\": {\"command\": \"demur\"},\n    \"b\": {}\n  }\n}\n";
        let Edited::Text(with) = put(text, Dialect::Strict, &SERVER, &entry(), &is_ours).unwrap() else {
            panic!()
        };
        assert!(
            with.starts_with("{\n  \"mcpServers\": {\n    \"demur\": {\n      \"command\": \"demur\",\n")
        );
        assert!(with.ends_with("    },\n    \"b\": {}\n  }\n}\n"), "{with}");
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_place() {
        for (text, message) in [
            ("[]", "line 1, column 1: expected an object, found an array"),
            ("{\n \"mcpServers\": []}", "line 2, column 16: expected an object, found an array"),
            ("{\"mcpServers\": null}", "line 1, column 16: expected an object, found something else"),
        ] {
            let refused = put(text, Dialect::Strict, &SERVER, &entry(), &is_ours).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
    }
}
