//! The TOML file of Codex: a table of its own at the end, between marks. Remarks and order of everything else stay.

use toml::{Table, Value};

use super::{
    block,
    edit::Edited,
    malformed::{Malformed, Place},
    tree::quoted,
    unsafe_change::Unsafe,
};

/// Returns the file with the table of this name in place of the one that is there, if any.
pub(super) fn put(text: &str, client: &str, table: &str, lines: &[String]) -> Result<Edited, Unsafe> {
    let before = parse(text)?;
    let end = block::line_end(text);
    let marked = block::marked(client, "", lines, end);
    let place = block::find(text);
    let with = match &place {
        Some(place) => format!("{}{marked}{}", &text[..place.start], &text[place.end..]),
        None if text.is_empty() => format!("{end}{marked}{end}"),
        None => block::at_the_end(text, &marked, end),
    };
    if with == text {
        return Ok(Edited::Unchanged);
    }
    if place.is_none() && entry(&before, table).is_some() {
        return Err(Unsafe::taken(table));
    }
    let after = parse(&with).map_err(|_| Unsafe::shape(table))?;
    let expected: Table = toml::from_str(&lines.join("\n")).map_err(|_| Unsafe::shape(table))?;
    let fits = entry(&after, table) == entry(&expected, table) && rest(after, table) == rest(before, table);
    if fits { Ok(Edited::Text(with)) } else { Err(Unsafe::shape(table)) }
}

/// Returns the file without the table.
pub(super) fn take_out(text: &str, table: &str) -> Result<Edited, Unsafe> {
    let before = parse(text)?;
    let Some(place) = block::find(text) else {
        return if entry(&before, table).is_some() {
            Err(Unsafe::taken(table))
        } else {
            Ok(Edited::Unchanged)
        };
    };
    let without = block::without(text, &place);
    if let Edited::Text(text) = &without {
        let after = parse(text).map_err(|_| Unsafe::shape(table))?;
        if entry(&after, table).is_some() || rest(after, table) != rest(before, table) {
            return Err(Unsafe::shape(table));
        }
    }
    Ok(without)
}

/// Returns the lines of the table.
pub(super) fn lines(
    table: &str,
    command: &str,
    arguments: &[String],
    environment: &[(String, String)],
) -> Vec<String> {
    let words: Vec<_> = arguments.iter().map(|word| quoted(word)).collect();
    let mut lines = vec![
        format!("[{table}]"),
        format!("command = {}", quoted(command)),
        format!("args = [{}]", words.join(", ")),
        // Longer than any wait that setup writes.
        "tool_timeout_sec = 3600".to_owned(),
    ];
    if !environment.is_empty() {
        let pairs: Vec<_> =
            environment.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
        lines.push(format!("env = {{ {} }}", pairs.join(", ")));
    }
    lines
}

fn parse(text: &str) -> Result<Table, Malformed> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let place = Place::of(text, error.span().map_or(0, |span| span.start));
        let found = error.message().lines().next().unwrap_or_default().to_owned();
        Malformed { place, expected: "TOML".to_owned(), found }
    })
}

/// Returns the table by its dotted name.
fn entry<'a>(root: &'a Table, table: &str) -> Option<&'a Value> {
    let (outer, inner) = table.split_once('.')?;
    root.get(outer)?.get(inner)
}

/// Returns everything but the table.
fn rest(mut root: Table, table: &str) -> Table {
    let Some((outer, inner)) = table.split_once('.') else { return root };
    if let Some(Value::Table(tables)) = root.get_mut(outer) {
        tables.remove(inner);
        if tables.is_empty() {
            root.remove(outer);
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "mcp_servers.demur";

    fn ours() -> Vec<String> {
        lines(TABLE, "/a b/demur", &["mcp".to_owned()], &[("DEMUR_LOG".to_owned(), "debug".to_owned())])
    }

    #[test]
    fn file_is_the_same_after_putting_in_and_taking_out() {
        for text in [
            "",
            "model = \"x\" # mine\n",
            "# remark\n[mcp_servers.a]\ncommand = \"b\"",
            "text = \"\"\"\n[mcp_servers]\n\"\"\"\n\n[projects.\"/x\"]\r\ntrust_level = \"trusted\"\r\n",
        ] {
            let Edited::Text(with) = put(text, "codex", TABLE, &ours()).unwrap() else { panic!() };
            assert_eq!(put(&with, "codex", TABLE, &ours()).unwrap(), Edited::Unchanged);
            assert_eq!(take_out(&with, TABLE).unwrap(), Edited::Text(text.to_owned()));
            assert_eq!(take_out(text, TABLE).unwrap(), Edited::Unchanged);
        }
    }

    #[test]
    fn table_that_somebody_else_wrote_is_left_alone() {
        for text in ["[mcp_servers.demur]\ncommand = \"x\"\n", "mcp_servers.demur.command = \"x\"\n"] {
            assert!(
                put(text, "codex", TABLE, &ours()).unwrap_err().to_string().contains("setup did not write")
            );
            assert!(take_out(text, TABLE).unwrap_err().to_string().contains("setup did not write"));
        }
        let closed = "mcp_servers = { a = { command = \"x\" } }\n";
        assert!(put(closed, "codex", TABLE, &ours()).unwrap_err().to_string().contains("cannot be"));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let refused = put("a = 1\nb = = 2\n", "codex", TABLE, &ours()).unwrap_err().to_string();
        assert!(refused.starts_with("line 2, column 5: expected TOML"), "{refused}");
    }
}
