//! The words of a condition file, each with its place.

use super::{Fault, syntax::Piece};

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// What kind of word it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Name(String),
    /// A text; a bare `*` is a star, which only patterns tell from the character.
    Text(Vec<Piece>),
    Number(i64),
    Sign(&'static str),
    End,
}

impl Kind {
    /// Returns how the word looks in a message.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Name(name) => format!("`{}`", name.chars().take(40).collect::<String>()),
            Self::Text(_) => "a text".to_owned(),
            Self::Number(number) => format!("`{number}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// Returns the words of a text, the last one [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let kind = lexer.word()?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, line, column });
        if end {
            return Ok(tokens);
        }
        if tokens.len() > MOST_TOKENS {
            let found = "more".to_owned();
            return Err(Fault {
                expected: format!("at most {MOST_TOKENS} words"),
                found,
                cure: None,
                line,
                column,
            });
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(next)
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(next) = self.peek().filter(|next| fits(*next)) {
            taken.push(next);
            self.next();
        }
        taken
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("//") {
                return;
            }
            self.take_while(|next| next != '\n');
        }
    }

    fn fault(&self, expected: &str, found: impl Into<String>) -> Fault {
        let (line, column) = (self.line, self.column);
        Fault { line, column, expected: expected.to_owned(), found: found.into(), cure: None }
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let Some(first) = self.peek() else { return Ok(Kind::End) };
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(Kind::Name(self.take_while(|next| next.is_ascii_alphanumeric() || next == '_')));
        }
        if first.is_ascii_digit() {
            let fault = self.fault("a whole number up to 2^53 - 1", "a greater one");
            let digits = self.take_while(|next| next.is_ascii_digit());
            let number = digits.parse().ok().filter(|number: &i64| *number < 1 << 53);
            return number.map(Kind::Number).ok_or(fault);
        }
        if first == '"' {
            return self.text();
        }
        let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
        let sign = sign.ok_or_else(|| self.fault("a word of a policy", format!("{first:?}")))?;
        for _ in sign.chars() {
            self.next();
        }
        Ok(Kind::Sign(sign))
    }

    fn text(&mut self) -> Result<Kind, Fault> {
        let open = self.fault("a closing quote", "the end of the file");
        self.next();
        let mut pieces = Vec::new();
        loop {
            match self.next() {
                None => return Err(open),
                Some('"') => return Ok(Kind::Text(pieces)),
                Some('*') => pieces.push(Piece::Star),
                Some('\\') => pieces.push(Piece::Character(self.escaped()?)),
                Some(other) => pieces.push(Piece::Character(other)),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Fault> {
        let fault = self.fault("one of \\n \\r \\t \\\\ \\0 \\' \\\" \\* \\u{...}", "another escape");
        match self.next() {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('0') => Ok('\0'),
            Some(same @ ('\\' | '\'' | '"' | '*')) => Ok(same),
            Some('u') => {
                let digits = self.take_while(|next| next == '{' || next.is_ascii_hexdigit());
                let digits = digits.strip_prefix('{').filter(|_| self.next() == Some('}'));
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                code.and_then(char::from_u32).ok_or(fault)
            }
            _ => Err(fault),
        }
    }
}

/// Longer signs first: the first that fits is taken.
const SIGNS: [&str; 23] = [
    "&&", "||", "==", "!=", "<=", ">=", "::", "@", "(", ")", "{", "}", "[", "]", ",", ";", ".", "!", "<",
    ">", "+", "-", "*",
];

/// Enough for some thousand policies.
const MOST_TOKENS: usize = 100_000;
