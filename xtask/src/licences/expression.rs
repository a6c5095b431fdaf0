//! SPDX licence expressions, SPDX specification 2.3 annex D: `OR`, `AND`, `WITH`, parentheses, and the older `/`.

use std::fmt;

use anyhow::{Result, bail};

/// A licence expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    /// One licence, together with its exception where it has one: `Apache-2.0 WITH LLVM-exception`.
    Licence(String),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

impl Expression {
    /// Returns the expression in a text, such as the `license` field of a package.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut parser = Parser { words: spaced.split_whitespace().collect(), position: 0, depth: 0 };
        let expression = parser.any()?;
        match parser.peek() {
            None => Ok(expression),
            Some(word) => bail!("expected `OR`, `AND` or the end in `{text}`, found `{word}`"),
        }
    }

    /// Returns whether the licences that are allowed suffice to use the package.
    pub(crate) fn is_satisfied_by(&self, is_allowed: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Licence(licence) => is_allowed(licence),
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied_by(is_allowed)),
            Self::Any(parts) => parts.iter().any(|part| part.is_satisfied_by(is_allowed)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, operator) = match self {
            Self::Licence(licence) => return formatter.write_str(licence),
            Self::All(parts) => (parts, " AND "),
            Self::Any(parts) => (parts, " OR "),
        };
        let parts: Vec<String> = parts.iter().map(Self::to_string).collect();
        write!(formatter, "({})", parts.join(operator))
    }
}

/// Reads words by descent: `OR` binds loosest, then `AND`, then `WITH`.
struct Parser<'a> {
    words: Vec<&'a str>,
    position: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<Expression> {
        let mut parts = vec![self.all()?];
        while self.take("OR") {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression> {
        let mut parts = vec![self.one()?];
        while self.take("AND") {
            parts.push(self.one()?);
        }
        Ok(single_or(parts, Expression::All))
    }

    fn one(&mut self) -> Result<Expression> {
        if self.take("(") {
            return self.parenthesised();
        }
        let licence = self.name("a licence")?;
        if !self.take("WITH") {
            return Ok(Expression::Licence(licence.to_owned()));
        }
        let exception = self.name("an exception")?;
        Ok(Expression::Licence(format!("{licence} WITH {exception}")))
    }

    fn parenthesised(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            bail!("expected at most {DEPTH_LIMIT} nested parentheses");
        }
        let expression = self.any()?;
        self.depth -= 1;
        if !self.take(")") {
            bail!("expected `)`, found {}", self.peek().unwrap_or("the end"));
        }
        Ok(expression)
    }

    fn name(&mut self, what: &str) -> Result<&'a str> {
        match self.peek() {
            Some(word) if !OPERATORS.contains(&word) => {
                self.position += 1;
                Ok(word)
            }
            Some(word) => bail!("expected {what}, found `{word}`"),
            None => bail!("expected {what}, found the end"),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.position += usize::from(found);
        found
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.position).copied()
    }
}

/// Returns the only part as it is, or several joined.
fn single_or(mut parts: Vec<Expression>, join: impl Fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

const OPERATORS: [&str; 5] = ["OR", "AND", "WITH", "(", ")"];
const DEPTH_LIMIT: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(text: &str) -> bool {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        Expression::parse(text).unwrap().is_satisfied_by(&|licence| allowed.contains(&licence))
    }

    #[test]
    fn one_allowed_alternative_suffices() {
        assert!(is_allowed("MIT"));
        assert!(is_allowed("GPL-3.0 OR MIT"));
        assert!(is_allowed("GPL-3.0/MIT"));
        assert!(!is_allowed("GPL-3.0 OR MPL-2.0"));
    }

    #[test]
    fn every_part_of_a_conjunction_is_needed() {
        assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
        assert!(!is_allowed("MIT AND GPL-3.0"));
        assert!(!is_allowed("(MIT OR Apache-2.0) AND GPL-3.0"));
    }

    #[test]
    fn exception_belongs_to_its_licence() {
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception"));
        assert!(!is_allowed("MIT WITH LLVM-exception"));
        assert!(is_allowed("Apache-2.0 WITH Other-exception OR MIT"));
    }

    #[test]
    fn and_binds_more_tightly_than_or() {
        let expression = Expression::parse("A OR B AND C WITH D").unwrap();
        assert_eq!(expression.to_string(), "(A OR (B AND C WITH D))");
        assert_eq!(Expression::parse("((A))").unwrap(), Expression::Licence("A".into()));
    }

    #[test]
    fn refuses_what_is_no_expression() {
        for (text, expected) in [
            ("", "expected a licence, found the end"),
            ("MIT OR", "expected a licence, found the end"),
            ("MIT Apache-2.0", "found `Apache-2.0`"),
            ("OR MIT", "expected a licence, found `OR`"),
            ("(MIT", "expected `)`, found the end"),
            ("MIT)", "found `)`"),
            ("MIT WITH AND", "expected an exception, found `AND`"),
        ] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn refuses_deep_nesting() {
        let text = format!("{}MIT{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(Expression::parse(&text).is_err());
    }
}
