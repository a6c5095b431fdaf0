//! Source split into lines, each line into code and comment, with the contents of literals left out.

use std::iter::Peekable;
use std::str::Chars;

/// One line of source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The code, without comments and without what stands between quotes.
    pub(crate) code: String,
    /// The line comment with its slashes, or nothing.
    pub(crate) comment: String,
}

impl Line {
    /// Returns the lines of a source text.
    pub(crate) fn split(text: &str) -> Vec<Self> {
        let mut splitter =
            Splitter { rest: text.chars().peekable(), lines: Vec::new(), current: Self::default() };
        splitter.run();
        let Splitter { mut lines, current, .. } = splitter;
        if !text.is_empty() && !text.ends_with('\n') {
            lines.push(current);
        }
        lines
    }
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    lines: Vec<Line>,
    current: Line,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while let Some(character) = self.next() {
            match character {
                '/' if self.rest.peek() == Some(&'/') => self.line_comment(),
                '/' if self.rest.peek() == Some(&'*') => self.block_comment(),
                '"' => self.string(),
                '\'' => self.character_or_lifetime(),
                'r' if self.raw_string_hashes().is_some() => self.raw_string(),
                '\n' => {}
                other => self.current.code.push(other),
            }
        }
    }

    /// Returns the next character, after closing the line when it ends one.
    fn next(&mut self) -> Option<char> {
        let character = self.rest.next()?;
        if character == '\n' {
            self.lines.push(std::mem::take(&mut self.current));
        }
        Some(character)
    }

    fn line_comment(&mut self) {
        self.current.comment.push('/');
        while let Some(character) = self.rest.next_if(|character| *character != '\n') {
            self.current.comment.push(character);
        }
    }

    /// Skips a block comment. They nest in Rust.
    fn block_comment(&mut self) {
        self.next();
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some('/') if self.rest.next_if_eq(&'*').is_some() => depth += 1,
                Some('*') if self.rest.next_if_eq(&'/').is_some() => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    fn string(&mut self) {
        self.current.code.push('"');
        loop {
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                Some('"') => break,
                Some(_) => {}
                None => return,
            }
        }
        self.current.code.push('"');
    }

    /// Returns the number of `#` when a raw string starts at the `r` just read.
    fn raw_string_hashes(&self) -> Option<usize> {
        let before: Vec<char> = self.current.code.chars().rev().take(2).collect();
        let starts_word = match before.as_slice() {
            [] => true,
            // `br"..."` and `cr"..."`
            ['b' | 'c', rest @ ..] => !rest.iter().any(|character| is_word(*character)),
            [last, ..] => !is_word(*last),
        };
        let mut ahead = self.rest.clone();
        let mut hashes = 0;
        while ahead.next_if_eq(&'#').is_some() {
            hashes += 1;
        }
        (starts_word && ahead.peek() == Some(&'"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_string_hashes().unwrap_or_default();
        for _ in 0..=hashes {
            self.next();
        }
        self.current.code.push('"');
        while let Some(character) = self.next() {
            if character == '"' && self.skip_hashes(hashes) {
                break;
            }
        }
        self.current.code.push('"');
    }

    /// Returns whether that many `#` follow, and skips them if so.
    fn skip_hashes(&mut self, count: usize) -> bool {
        let follow = self.rest.clone().take(count).filter(|character| *character == '#').count() == count;
        if follow {
            for _ in 0..count {
                self.next();
            }
        }
        follow
    }

    /// Skips `'x'` and `'\n'`, and keeps the quote of a lifetime.
    fn character_or_lifetime(&mut self) {
        self.current.code.push('\'');
        let mut ahead = self.rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.next();
                self.next();
                while self.next().is_some_and(|character| character != '\'') {}
            }
            (Some(_), Some('\'')) => {
                self.next();
                self.next();
            }
            _ => return,
        }
        self.current.code.push('\'');
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        Line::split(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn parts_code_and_comment() {
        let lines = Line::split("let a = 1; // one\n/// docs\n\nlet b;");
        assert_eq!(lines[0], Line { code: "let a = 1; ".into(), comment: "// one".into() });
        assert_eq!(lines[1], Line { code: String::new(), comment: "/// docs".into() });
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn leaves_out_strings() {
        assert_eq!(code(r#"f("fn a() { // \" }", b"x");"#), [r#"f("", b"");"#]);
        assert_eq!(code("f(\"one\ntwo\");"), ["f(\"", "\");"]);
        assert_eq!(code("f(\"one\\\ntwo\");"), ["f(\"", "\");"]);
    }

    #[test]
    fn leaves_out_raw_strings() {
        assert_eq!(code(r##"f(r#"a "quoted" {"#, br"\", r"x");"##), [r#"f("", b"", "");"#]);
        assert_eq!(code("let r#type = for_r; \"x\""), ["let r#type = for_r; \"\""]);
    }

    #[test]
    fn tells_characters_from_lifetimes() {
        assert_eq!(
            code(r"fn a<'a>(x: &'a str) { f('{', '\'', '\u{1F}', b'\n') }"),
            ["fn a<'a>(x: &'a str) { f('', '', '', b'') }"]
        );
    }

    #[test]
    fn leaves_out_nested_block_comments() {
        assert_eq!(code("a /* one /* two */\nthree */ b"), ["a ", " b"]);
    }

    #[test]
    fn survives_what_never_ends() {
        for text in ["\"abc", "r#\"abc\"", "/* abc", "'", "'\\", "// abc"] {
            assert_eq!(Line::split(text).len(), 1, "{text}");
        }
    }
}
