//! The expressions of a condition and their one spelling. Only what a plan needs: no entities, no records, no
//! extension functions.

use std::{collections::BTreeSet, fmt};

/// An expression. Chains are flat, so that depth follows from brackets alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Bool(bool),
    Long(i64),
    Text(String),
    List(Vec<Expression>),
    /// `context.a.b`
    Field(Vec<String>),
    /// `context.a has b`
    Has(Vec<String>),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Equal {
        left: Box<Expression>,
        right: Box<Expression>,
        negated: bool,
    },
    Order {
        left: Box<Expression>,
        right: Box<Expression>,
        order: Order,
    },
    Sum(Vec<(Sign, Expression)>),
    Product(Vec<Expression>),
    Like {
        text: Box<Expression>,
        pattern: Vec<Piece>,
    },
    Contains {
        list: Box<Expression>,
        entry: Box<Expression>,
        how: How,
    },
    IsEmpty(Box<Expression>),
    If {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

/// A part of a pattern: a star, or one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Star,
    Character(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    One,
    All,
    Any,
}

impl Order {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Returns whether two numbers stand in this order.
    pub(super) const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

impl How {
    const fn method(self) -> &'static str {
        match self {
            Self::One => "contains",
            Self::All => "containsAll",
            Self::Any => "containsAny",
        }
    }
}

impl Expression {
    /// Adds the paths whose values it reads.
    pub(super) fn reads(&self, paths: &mut BTreeSet<String>) {
        if let Self::Field(path) = self {
            paths.insert(path.join("."));
        }
        self.parts(&mut |part| part.reads(paths));
    }

    /// Adds the paths whose presence it asks.
    pub(super) fn asks(&self, paths: &mut BTreeSet<String>) {
        if let Self::Has(path) = self {
            paths.insert(path.join("."));
        }
        self.parts(&mut |part| part.asks(paths));
    }

    fn parts(&self, visit: &mut dyn FnMut(&Self)) {
        match self {
            Self::Bool(_) | Self::Long(_) | Self::Text(_) | Self::Field(_) | Self::Has(_) => {}
            Self::List(parts) | Self::All(parts) | Self::Any(parts) | Self::Product(parts) => {
                parts.iter().for_each(visit);
            }
            Self::Sum(parts) => parts.iter().for_each(|(_, part)| visit(part)),
            Self::Not(part) | Self::IsEmpty(part) | Self::Like { text: part, .. } => visit(part),
            Self::Equal { left, right, .. }
            | Self::Order { left, right, .. }
            | Self::Contains { list: left, entry: right, .. } => {
                visit(left);
                visit(right);
            }
            Self::If { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }
}

/// The normal form: every operator in brackets, one space between words.
impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Long(value) if *value < 0 => write!(formatter, "({value})"),
            Self::Long(value) => write!(formatter, "{value}"),
            Self::Text(text) => write_text(formatter, text.chars().map(Piece::Character)),
            Self::List(parts) => enclosed(formatter, ["[", ", ", "]"], parts),
            Self::Field(path) => write_path(formatter, path),
            Self::Has(path) => write_has(formatter, path),
            Self::Not(part) => write!(formatter, "(!{part})"),
            Self::All(parts) => enclosed(formatter, ["(", " && ", ")"], parts),
            Self::Any(parts) => enclosed(formatter, ["(", " || ", ")"], parts),
            Self::Product(parts) => enclosed(formatter, ["(", " * ", ")"], parts),
            Self::Sum(parts) => write_sum(formatter, parts),
            Self::Equal { left, right, negated } => {
                write!(formatter, "({left} {} {right})", if *negated { "!=" } else { "==" })
            }
            Self::Order { left, right, order } => write!(formatter, "({left} {} {right})", order.sign()),
            Self::Like { text, pattern } => {
                write!(formatter, "({text} like ")?;
                write_text(formatter, pattern.iter().copied())?;
                formatter.write_str(")")
            }
            Self::Contains { list, entry, how } => write!(formatter, "{list}.{}({entry})", how.method()),
            Self::IsEmpty(list) => write!(formatter, "{list}.isEmpty()"),
            Self::If { condition, then, otherwise } => {
                write!(formatter, "(if {condition} then {then} else {otherwise})")
            }
        }
    }
}

fn write_path(formatter: &mut fmt::Formatter<'_>, path: &[String]) -> fmt::Result {
    formatter.write_str("context")?;
    for name in path {
        formatter.write_str("[")?;
        write_text(formatter, name.chars().map(Piece::Character))?;
        formatter.write_str("]")?;
    }
    Ok(())
}

fn write_has(formatter: &mut fmt::Formatter<'_>, path: &[String]) -> fmt::Result {
    let (last, before) = path.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
    formatter.write_str("(")?;
    write_path(formatter, before)?;
    formatter.write_str(" has ")?;
    write_text(formatter, last.chars().map(Piece::Character))?;
    formatter.write_str(")")
}

fn write_sum(formatter: &mut fmt::Formatter<'_>, parts: &[(Sign, Expression)]) -> fmt::Result {
    formatter.write_str("(")?;
    for (index, (sign, part)) in parts.iter().enumerate() {
        let before = match (index, sign) {
            (0, Sign::Plus) => "",
            (0, Sign::Minus) => "0 - ",
            (_, Sign::Plus) => " + ",
            (_, Sign::Minus) => " - ",
        };
        write!(formatter, "{before}{part}")?;
    }
    formatter.write_str(")")
}

/// Writes what opens, the parts with something between them, and what closes.
fn enclosed(
    formatter: &mut fmt::Formatter<'_>,
    [open, between, close]: [&str; 3],
    parts: &[Expression],
) -> fmt::Result {
    formatter.write_str(open)?;
    for (index, part) in parts.iter().enumerate() {
        write!(formatter, "{}{part}", if index == 0 { "" } else { between })?;
    }
    formatter.write_str(close)
}

fn write_text(formatter: &mut fmt::Formatter<'_>, pieces: impl Iterator<Item = Piece>) -> fmt::Result {
    formatter.write_str("\"")?;
    for piece in pieces {
        match piece {
            Piece::Star => formatter.write_str("*")?,
            // A star that is none is escaped in plain texts too: both readers take it.
            Piece::Character('*') => formatter.write_str("\\*")?,
            Piece::Character('"') => formatter.write_str("\\\"")?,
            Piece::Character('\\') => formatter.write_str("\\\\")?,
            Piece::Character(other) if other.is_control() => write!(formatter, "\\u{{{:x}}}", other as u32)?,
            Piece::Character(other) => write!(formatter, "{other}")?,
        }
    }
    formatter.write_str("\"")
}
