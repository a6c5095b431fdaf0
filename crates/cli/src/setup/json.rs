//! JSON with the places of everything in it, so that a file can be changed and stay what it was everywhere else. Comments and
//! commas at the end are read where the client reads them too.

use std::ops::Range;

use serde_json::{Map, Value};

use super::malformed::{Malformed, Place};

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    /// The members in their order.
    Object(Vec<Member>),
    /// The elements in their order.
    Array(Vec<Node>),
    /// Anything else.
    Plain(Value),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// Where its name begins.
    pub(super) start: usize,
    pub(super) name: String,
    pub(super) value: Node,
}

/// Which JSON a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// As RFC 8259 has it.
    Strict,
    /// With comments, and commas at the end.
    WithComments,
}

impl Node {
    /// Returns the member of this name.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|member| member.name == name),
            _ => None,
        }
    }

    /// Returns the places of its members or elements, each from its beginning to its end.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| member.start..member.value.span.end).collect()
            }
            Kind::Array(elements) => elements.iter().map(|element| element.span.clone()).collect(),
            Kind::Plain(_) => Vec::new(),
        }
    }

    /// Returns what it means.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.name.clone(), member.value.value()))
                    .collect::<Map<_, _>>(),
            ),
            Kind::Array(elements) => Value::Array(elements.iter().map(Self::value).collect()),
            Kind::Plain(value) => value.clone(),
        }
    }
}

/// Returns the one value of a text.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Node, Malformed> {
    let mut reader = Reader { text, at: 0, dialect };
    // Some editors begin a file with a mark that is no part of it.
    reader.at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    reader.skip()?;
    let node = reader.value(0)?;
    reader.skip()?;
    if reader.at == text.len() { Ok(node) } else { Err(reader.malformed("the end of the file")) }
}

/// Returns where white space and comments end that begin here.
pub(super) fn after_trivia(text: &str, at: usize, dialect: Dialect) -> usize {
    let mut reader = Reader { text, at, dialect };
    // What cannot be read was found when the whole was read.
    let _ = reader.skip();
    reader.at
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn malformed(&self, expected: &'static str) -> Malformed {
        let found = match self.rest().chars().next() {
            None => "the end of the file".to_owned(),
            Some(_) if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                "a comment".to_owned()
            }
            Some(character) => format!("{character:?}"),
        };
        Malformed { place: Place::of(self.text, self.at), expected: expected.to_owned(), found }
    }

    /// Skips white space, and comments where they are read.
    fn skip(&mut self) -> Result<(), Malformed> {
        loop {
            let blank = |character: char| matches!(character, ' ' | '\t' | '\n' | '\r');
            self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
            if self.dialect == Dialect::Strict {
                return Ok(());
            }
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let Some(end) = self.rest().find("*/") else {
                    return Err(self.malformed("a comment that ends"));
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Malformed> {
        if depth > MAX_DEPTH {
            return Err(self.malformed("fewer levels"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::Array(self.array(depth)?),
            Some(b'"') => Kind::Plain(Value::String(self.string()?)),
            _ => Kind::Plain(self.word()?),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, Malformed> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        while self.goes_on(b'}', members.is_empty(), "a comma or the end of the object")? {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.malformed("a name in quotes"));
            }
            let name = self.string()?;
            if members.iter().any(|member| member.name == name) {
                self.at = start;
                return Err(self.malformed("every name once"));
            }
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.malformed("a colon"));
            }
            self.at += 1;
            self.skip()?;
            let value = self.value(depth + 1)?;
            members.push(Member { start, name, value });
        }
        Ok(members)
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, Malformed> {
        let mut elements = Vec::new();
        self.at += 1;
        while self.goes_on(b']', elements.is_empty(), "a comma or the end of the array")? {
            elements.push(self.value(depth + 1)?);
        }
        Ok(elements)
    }

    /// Returns whether another one follows; otherwise the end was read.
    fn goes_on(&mut self, end: u8, first: bool, expected: &'static str) -> Result<bool, Malformed> {
        self.skip()?;
        let mut comma = false;
        if !first && self.peek() == Some(b',') {
            comma = true;
            self.at += 1;
            self.skip()?;
        }
        match self.peek() {
            Some(found) if found == end && comma && self.dialect == Dialect::Strict => {
                Err(self.malformed("something after the comma"))
            }
            Some(found) if found == end => {
                self.at += 1;
                Ok(false)
            }
            _ if first || comma => Ok(true),
            _ => Err(self.malformed(expected)),
        }
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let quoted = self.text.get(self.at..=end).filter(|quoted| quoted.ends_with('"'));
        let Some(quoted) = quoted else { return Err(self.malformed("a string that ends")) };
        let string = serde_json::from_str(quoted).map_err(|_| self.malformed("a string as JSON has it"))?;
        self.at = end + 1;
        Ok(string)
    }

    fn word(&mut self) -> Result<Value, Malformed> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.rest().bytes().take_while(|byte| is_part(byte)).count();
        let word = &self.rest()[..length];
        let value = serde_json::from_str(word).map_err(|_| self.malformed("a value"))?;
        self.at += length;
        Ok(value)
    }
}

/// Nothing that a client is configured with is nested more.
const MAX_DEPTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, dialect: Dialect) -> String {
        parse(text, dialect).unwrap_err().to_string()
    }

    #[test]
    fn values_mean_what_they_mean_elsewhere() {
        let text = r#" {"a": [1, -2.5e3, true, null, "\u00e9\"\\"], "b": {"c": {}}, "é": []} "#;
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parse(text, Dialect::Strict).unwrap().value(), expected);
        assert_eq!(parse(&format!("\u{feff}{text}"), Dialect::Strict).unwrap().value(), expected);
    }

    #[test]
    fn comments_and_last_commas_are_read_where_the_client_reads_them() {
        let text = "// top\n{ /* a */ \"a\": [1, 2,], // b\n \"b\": 1,\n}\n";
        let read = parse(text, Dialect::WithComments).unwrap().value();
        assert_eq!(read, serde_json::json!({ "a": [1, 2], "b": 1 }));
        assert_eq!(refused(text, Dialect::Strict), "line 1, column 1: expected a value, found a comment");
        assert_eq!(
            refused("{\"a\": 1,\n}", Dialect::Strict),
            "line 2, column 1: expected something after the comma, found '}'"
        );
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, message) in [
            ("", "line 1, column 1: expected a value, found the end of the file"),
            ("{\n  \"a\" 1\n}", "line 2, column 7: expected a colon, found '1'"),
            (
                "{\"é\": 1 \"b\": 2}",
                "line 1, column 9: expected a comma or the end of the object, found '\"'",
            ),
            ("{\"a\": \"b}", "line 1, column 7: expected a string that ends, found '\"'"),
            ("{\"a\": tru}", "line 1, column 7: expected a value, found 't'"),
            ("{a: 1}", "line 1, column 2: expected a name in quotes, found 'a'"),
            ("{\"a\": 1, \"a\": 2}", "line 1, column 10: expected every name once, found '\"'"),
            ("{} x", "line 1, column 4: expected the end of the file, found 'x'"),
            ("[,]", "line 1, column 2: expected a value, found ','"),
            ("{\"a\": \"\\", "line 1, column 7: expected a string that ends, found '\"'"),
        ] {
            assert_eq!(refused(text, Dialect::Strict), message, "{text}");
        }
        assert!(refused(&"[".repeat(100_000), Dialect::Strict).contains("fewer levels"));
    }
}
