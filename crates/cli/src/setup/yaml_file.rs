//! The YAML file of Hermes: an entry below `mcp_servers`, between marks. No reader of YAML is needed for that: of the file only
//! the lines that begin at the margin are looked at, and one that is written in another way is left alone.

use super::{
    block,
    edit::Edited,
    malformed::{Malformed, Place},
    tree::quoted,
    unsafe_change::Unsafe,
};

/// Returns the file with the entry in place of the one that is there, if any.
pub(super) fn put(text: &str, client: &str, entry: &[String]) -> Result<Edited, Unsafe> {
    let section = Section::find(text)?;
    let end = block::line_end(text);
    let with = match (block::find(text), &section) {
        (Some(place), section) => {
            let indent: String = text[place.start..].chars().take_while(|letter| *letter == ' ').collect();
            let marked = block::marked(client, &indent, &lines_of(entry, section.is_some(), &indent), end);
            format!("{}{marked}{}", &text[..place.start], &text[place.end..])
        }
        (None, Some(section)) if section.has_demur => return Err(Unsafe::taken(NAME)),
        (None, Some(section)) => {
            block::behind(text, section.end, &block::marked(client, &section.indent, entry, end), end)
        }
        (None, None) => {
            block::at_the_end(text, &block::marked(client, "", &lines_of(entry, false, ""), end), end)
        }
    };
    Ok(if with == text { Edited::Unchanged } else { Edited::Text(with) })
}

/// Returns the text of a file that holds nothing else.
pub(super) fn alone(entry: &[String]) -> Vec<String> {
    lines_of(entry, false, "")
}

/// Returns the file without the entry.
pub(super) fn take_out(text: &str) -> Result<Edited, Unsafe> {
    match block::find(text) {
        Some(place) if holds_more(&text[place.clone()], &text[place.end..]) => Err(Unsafe::shape(NAME)),
        Some(place) => Ok(block::without(text, &place)),
        None if Section::find(text)?.is_some_and(|section| section.has_demur) => Err(Unsafe::taken(NAME)),
        None => Ok(Edited::Unchanged),
    }
}

/// Returns the lines of the entry, as they stand below `mcp_servers`.
pub(super) fn lines(command: &str, arguments: &[String], environment: &[(String, String)]) -> Vec<String> {
    let words: Vec<_> = arguments.iter().map(|word| quoted(word)).collect();
    let mut lines = vec![
        "demur:".to_owned(),
        format!("  command: {}", quoted(command)),
        format!("  args: [{}]", words.join(", ")),
    ];
    if !environment.is_empty() {
        lines.push("  env:".to_owned());
        lines.extend(environment.iter().map(|(name, value)| format!("    {name}: {}", quoted(value))));
    }
    // A form in Hermes is a yes or a no: what is typed never arrives (docs/clients/hermes.md).
    lines.extend(["  elicitation:".to_owned(), "    enabled: false".to_owned()]);
    lines
}

/// Returns whether something hangs on the marked lines that setup did not put there.
fn holds_more(marked: &str, after: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = marked.lines().filter(says).collect();
    let Some(ours) = lines.iter().position(|line| line.trim() == "demur:") else { return true };
    let level = indent(lines[ours]);
    let above = |line: &&str| line.trim_end() == format!("{SECTION}:");
    let more = !lines[..ours].iter().all(above) || lines[ours + 1..].iter().any(|line| indent(line) <= level);
    // The next entry would belong to nothing.
    more || ours == 1 && after.lines().find(says).is_some_and(|line| indent(line) > 0)
}

/// Returns the entry, with the line above it where it stands alone.
fn lines_of(entry: &[String], inside: bool, indent: &str) -> Vec<String> {
    if inside && !indent.is_empty() {
        return entry.to_vec();
    }
    let below = entry.iter().map(|line| format!("  {line}"));
    [format!("{SECTION}:")].into_iter().chain(below).collect()
}

/// The mapping below `mcp_servers`.
#[derive(Debug)]
struct Section {
    /// Where its first line ends.
    end: usize,
    /// What its entries begin with.
    indent: String,
    /// Whether one of them is ours by name.
    has_demur: bool,
}

impl Section {
    /// Returns the section; none where the file has none.
    fn find(text: &str) -> Result<Option<Self>, Unsafe> {
        let (mut section, mut at, mut inside): (Option<Self>, usize, bool) = (None, 0, false);
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let words = line.trim_end_matches(['\r', '\n']);
            let indent: String = words.chars().take_while(|letter| *letter == ' ').collect();
            let rest = &words[indent.len()..];
            if rest.is_empty() || rest.starts_with('#') {
                continue;
            }
            if !indent.is_empty() {
                if let Some(section) = section.as_mut().filter(|_| inside) {
                    section.take(&indent, rest).map_err(|()| Unsafe::shape(NAME))?;
                }
                continue;
            }
            inside = top_level(text, start, rest)? == Some(SECTION);
            if inside {
                let value = rest.split_once(':').map_or("", |(_, value)| value.trim());
                if section.is_some() || !(value.is_empty() || value.starts_with('#')) {
                    return Err(Unsafe::shape(NAME));
                }
                section = Some(Self { end: at, indent: String::new(), has_demur: false });
            }
        }
        Ok(section.map(|mut section| {
            if section.indent.is_empty() {
                "  ".clone_into(&mut section.indent);
            }
            section
        }))
    }

    /// Looks at a line of the section.
    fn take(&mut self, indent: &str, rest: &str) -> Result<(), ()> {
        if self.indent.is_empty() {
            // A list, or a value on its own line, is no mapping.
            if rest.starts_with("- ")
                || !rest.contains(':')
                || rest.starts_with(['{', '[', '&', '*', '|', '>'])
            {
                return Err(());
            }
            indent.clone_into(&mut self.indent);
        }
        let name = rest.split_once(':').map(|(name, _)| name.trim().trim_matches(['"', '\'']));
        self.has_demur |= indent == self.indent && name == Some(NAME);
        Ok(())
    }
}

/// Returns the name that a line at the margin gives; none for a line that is no name but harmless.
fn top_level<'a>(text: &str, start: usize, line: &'a str) -> Result<Option<&'a str>, Malformed> {
    if start == 0 && line.starts_with("---") || line.starts_with("- ") {
        return Ok(None);
    }
    if line.starts_with('\t') {
        return Err(malformed(text, start, "spaces", "a tab"));
    }
    let name = line.split_once(':').map(|(name, _)| name.trim().trim_matches(['"', '\'']));
    let plain = |name: &&str| {
        !name.is_empty() && !name.contains(['{', '}', '[', ']', '&', '*', '!', '|', '>', '%', '@', '`', ','])
    };
    match name.filter(plain) {
        Some(name) => Ok(Some(name)),
        None => Err(malformed(text, start, "a name and a colon", "another line")),
    }
}

fn malformed(text: &str, at: usize, expected: &str, found: &str) -> Malformed {
    Malformed { place: Place::of(text, at), expected: expected.to_owned(), found: found.to_owned() }
}

const SECTION: &str = "mcp_servers";
const NAME: &str = "demur";

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Vec<String> {
        lines("/a b/demur", &["mcp".to_owned()], &[])
    }

    #[test]
    fn file_is_the_same_after_putting_in_and_taking_out() {
        for text in [
            "",
            "---\nmodel:\n  default: x\n",
            "model: x # mine\nmcp_servers:\n    time:\n        command: \"uvx\"\nlast: |\n  mcp_servers: no",
            "mcp_servers:",
            "mcp_servers: # none\n\n# remark\nlist:\n- a\n- b\n",
            "a: 1\r\nmcp_servers:\r\n  # remark\r\n  b:\r\n    url: x\r\n",
        ] {
            let Edited::Text(with) = put(text, "hermes", &ours()).unwrap() else { panic!() };
            assert_eq!(put(&with, "hermes", &ours()).unwrap(), Edited::Unchanged, "{with}");
            assert_eq!(take_out(&with).unwrap(), Edited::Text(text.to_owned()), "{with}");
            assert_eq!(take_out(text).unwrap(), Edited::Unchanged);
        }
    }

    #[test]
    fn file_that_is_written_in_another_way_is_left_alone() {
        for text in [
            "mcp_servers: {}\n",
            "mcp_servers: {a: {command: x}}\n",
            "mcp_servers:\n  - a\n",
            "mcp_servers: &all\n  a: {}\n",
            "mcp_servers:\n  a: {}\nmcp_servers:\n  b: {}\n",
        ] {
            let refused = put(text, "hermes", &ours()).unwrap_err().to_string();
            assert!(refused.contains("cannot be"), "{text}: {refused}");
        }
        let theirs = "mcp_servers:\n  demur:\n    command: x\n";
        assert!(put(theirs, "hermes", &ours()).unwrap_err().to_string().contains("setup did not write"));
        assert!(take_out(theirs).unwrap_err().to_string().contains("setup did not write"));
    }

    #[test]
    fn entries_of_others_never_hang_in_the_air() {
        let Edited::Text(with) = put("a: 1\n", "hermes", &ours()).unwrap() else { panic!() };
        for more in [
            format!("{with}  other:\n    command: x\n"),
            with.replace("# demur: end", "  other:\n    command: x\n# demur: end"),
        ] {
            assert!(take_out(&more).unwrap_err().to_string().contains("cannot be"), "{more}");
        }
        let later = format!("{with}b: 2\n");
        assert_eq!(take_out(&later).unwrap(), Edited::Text("a: 1\nb: 2\n".to_owned()));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let refused = put("a:\n\tb: 1\n", "hermes", &ours()).unwrap_err().to_string();
        assert_eq!(refused, "line 2, column 1: expected spaces, found a tab");
        let refused = put("a: 1\nwhat\n", "hermes", &ours()).unwrap_err().to_string();
        assert_eq!(refused, "line 2, column 1: expected a name and a colon, found another line");
    }
}
