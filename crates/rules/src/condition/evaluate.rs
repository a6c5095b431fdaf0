//! Deciding a condition with what a plan has. Three values: true, false, and "lacks these fields".
//!
//! `false && x` is false and `true || x` is true on either side, whatever `x` lacks. Where both sides of `&&` or
//! `||` are open, only the first that is open is named: its value may make the other needless. A comparison names
//! every field it lacks.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{
    Lack, Shape, Verdict,
    syntax::{Expression, How, Order, Piece, Sign},
};

/// What a condition can see.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) plan: &'a Value,
    pub(super) derived: &'a Value,
}

/// Returns what a condition says.
pub(super) fn decide(expression: &Expression, context: Context<'_>) -> Verdict {
    match truth(expression, context) {
        Ok(true) => Verdict::Holds,
        Ok(false) => Verdict::Fails,
        Err(Open(lacks)) => Verdict::Lacks(lacks),
    }
}

/// A value that is known, borrowed from the plan where it can be.
type Known<'a> = Cow<'a, Value>;

/// What is missing for a value.
struct Open(BTreeMap<String, Lack>);

impl Open {
    /// Returns the same with a shape for the fields that had none.
    fn needing(mut self, needed: Shape) -> Self {
        for lack in self.0.values_mut().filter(|lack| lack.needed == Shape::Any) {
            lack.needed = needed;
        }
        self
    }

    /// Returns what this and the other lack together.
    fn and<T>(mut self, other: Result<T, Self>) -> Self {
        if let Err(Self(more)) = other {
            self.0.extend(more);
        }
        self
    }

    /// Returns that the fields of an expression have another shape than the one needed.
    fn shape(expression: &Expression, needed: Shape, found: &Value) -> Self {
        let mut paths = std::collections::BTreeSet::new();
        expression.reads(&mut paths);
        let lack = Lack { needed, found: Some(shape_of(found)) };
        Self(paths.into_iter().map(|path| (path, lack)).collect())
    }
}

fn value<'a>(expression: &'a Expression, context: Context<'a>) -> Result<Known<'a>, Open> {
    let known = match expression {
        Expression::Bool(value) => Cow::Owned(Value::Bool(*value)),
        Expression::Long(value) => Cow::Owned(Value::from(*value)),
        Expression::Text(text) => Cow::Owned(Value::String(text.clone())),
        Expression::List(entries) => Cow::Owned(Value::Array(list(entries, context)?)),
        Expression::Field(path) => Cow::Borrowed(field(path, context).ok_or_else(|| {
            let lack = Lack { needed: Shape::Any, found: None };
            Open(BTreeMap::from([(path.join("."), lack)]))
        })?),
        Expression::Sum(parts) => Cow::Owned(Value::from(sum(expression, parts, context)?)),
        Expression::Product(parts) => Cow::Owned(Value::from(product(expression, parts, context)?)),
        Expression::If { condition, then, otherwise } => return choice(condition, then, otherwise, context),
        _ => Cow::Owned(Value::Bool(truth(expression, context)?)),
    };
    Ok(known)
}

fn truth(expression: &Expression, context: Context<'_>) -> Result<bool, Open> {
    match expression {
        Expression::Has(path) => Ok(field(path, context).is_some()),
        Expression::Not(part) => truth(part, context).map(|value| !value),
        Expression::All(parts) => chain(parts, false, context),
        Expression::Any(parts) => chain(parts, true, context),
        Expression::Equal { left, right, negated } => {
            equal(left, right, context).map(|same| same != *negated)
        }
        Expression::Order { left, right, order } => ordered(left, right, *order, context),
        Expression::Like { text, pattern } => {
            let known = value(text, context).map_err(|open| open.needing(Shape::Text))?;
            let Value::String(found) = &*known else { return Err(Open::shape(text, Shape::Text, &known)) };
            Ok(matches(found, pattern))
        }
        Expression::Contains { list, entry, how } => contains(list, entry, *how, context),
        Expression::IsEmpty(list) => entries(list, context).map(|entries| array(&entries).is_empty()),
        _ => {
            let known = value(expression, context).map_err(|open| open.needing(Shape::Bool))?;
            known.as_bool().ok_or_else(|| Open::shape(expression, Shape::Bool, &known))
        }
    }
}

/// Decides a chain of `&&` or `||`; one part with the value `decisive` decides it.
fn chain(parts: &[Expression], decisive: bool, context: Context<'_>) -> Result<bool, Open> {
    let mut first_open = None;
    for part in parts {
        match truth(part, context) {
            Ok(value) if value == decisive => return Ok(decisive),
            Ok(_) => {}
            Err(open) => drop(first_open.get_or_insert(open)),
        }
    }
    first_open.map_or(Ok(!decisive), Err)
}

fn choice<'a>(
    condition: &'a Expression,
    then: &'a Expression,
    otherwise: &'a Expression,
    context: Context<'a>,
) -> Result<Known<'a>, Open> {
    match truth(condition, context) {
        Ok(true) => value(then, context),
        Ok(false) => value(otherwise, context),
        Err(open) => match (value(then, context), value(otherwise, context)) {
            (Ok(left), Ok(right)) if same(&left, &right) => Ok(left),
            _ => Err(open),
        },
    }
}

fn equal(left: &Expression, right: &Expression, context: Context<'_>) -> Result<bool, Open> {
    match (value(left, context), value(right, context)) {
        (Ok(left), Ok(right)) => Ok(same(&left, &right)),
        (Err(open), Ok(known)) | (Ok(known), Err(open)) => Err(open.needing(shape_of(&known))),
        (Err(open), other) => Err(open.and(other)),
    }
}

fn ordered(left: &Expression, right: &Expression, order: Order, context: Context<'_>) -> Result<bool, Open> {
    match (long(left, context), long(right, context)) {
        (Ok(left), Ok(right)) => Ok(order.holds(left, right)),
        (Err(open), other) => Err(open.and(other)),
        (_, Err(open)) => Err(open),
    }
}

fn long(expression: &Expression, context: Context<'_>) -> Result<i64, Open> {
    let known = value(expression, context).map_err(|open| open.needing(Shape::Long))?;
    known.as_i64().ok_or_else(|| Open::shape(expression, Shape::Long, &known))
}

fn sum(whole: &Expression, parts: &[(Sign, Expression)], context: Context<'_>) -> Result<i64, Open> {
    let numbers = every(parts.iter().map(|(_, part)| long(part, context)))?;
    let mut signed = parts.iter().zip(numbers);
    let total = signed.try_fold(0_i64, |total, ((sign, _), number)| match sign {
        Sign::Plus => total.checked_add(number),
        Sign::Minus => total.checked_sub(number),
    });
    total.ok_or_else(|| Open::shape(whole, Shape::Long, &Value::from(f64::MAX)))
}

fn product(whole: &Expression, parts: &[Expression], context: Context<'_>) -> Result<i64, Open> {
    let numbers = every(parts.iter().map(|part| long(part, context)))?;
    let total = numbers.into_iter().try_fold(1_i64, i64::checked_mul);
    total.ok_or_else(|| Open::shape(whole, Shape::Long, &Value::from(f64::MAX)))
}

/// Returns all values, or what all of them lack.
fn every<T>(results: impl Iterator<Item = Result<T, Open>>) -> Result<Vec<T>, Open> {
    let mut known = Vec::new();
    let mut open: Option<Open> = None;
    for result in results {
        match (result, open.take()) {
            (Ok(value), before) => {
                known.push(value);
                open = before;
            }
            (Err(more), None) => open = Some(more),
            (Err(more), Some(before)) => open = Some(before.and::<T>(Err(more))),
        }
    }
    open.map_or(Ok(known), Err)
}

fn list(entries: &[Expression], context: Context<'_>) -> Result<Vec<Value>, Open> {
    every(entries.iter().map(|entry| value(entry, context).map(Cow::into_owned)))
}

fn entries<'a>(expression: &'a Expression, context: Context<'a>) -> Result<Known<'a>, Open> {
    let known = value(expression, context).map_err(|open| open.needing(Shape::List))?;
    if known.is_array() { Ok(known) } else { Err(Open::shape(expression, Shape::List, &known)) }
}

fn array(known: &Value) -> &[Value] {
    known.as_array().map_or(&[], Vec::as_slice)
}

fn contains(list: &Expression, entry: &Expression, how: How, context: Context<'_>) -> Result<bool, Open> {
    let wanted = match how {
        How::One => value(entry, context),
        How::All | How::Any => entries(entry, context),
    };
    let (list, wanted) = match (entries(list, context), wanted) {
        (Ok(list), Ok(wanted)) => (list, wanted),
        (Ok(list), Err(open)) => {
            let needed = array(&list).first().map_or(Shape::Any, shape_of);
            return Err(open.needing(needed));
        }
        (Err(open), other) => return Err(open.and(other)),
    };
    let has = |wanted: &Value| array(&list).iter().any(|found| same(found, wanted));
    Ok(match how {
        How::One => has(&wanted),
        How::All => array(&wanted).iter().all(has),
        How::Any => array(&wanted).iter().any(has),
    })
}

/// Returns the value at a path. Null is what a plan writes for "nothing", so it is absent.
fn field<'a>(path: &[String], context: Context<'a>) -> Option<&'a Value> {
    let (mut at, path) = match path.split_first() {
        Some((first, rest)) if first == super::super::facts::DERIVED => (context.derived, rest),
        _ => (context.plan, path),
    };
    for name in path {
        at = at.as_object()?.get(name)?;
    }
    (!at.is_null()).then_some(at)
}

/// Returns whether two values are equal; lists are sets, as in Cedar.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            let within = |few: &[Value], many: &[Value]| {
                few.iter().all(|value| many.iter().any(|other| same(value, other)))
            };
            within(left, right) && within(right, left)
        }
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

fn shape_of(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Any,
        Value::Bool(_) => Shape::Bool,
        Value::Number(number) if number.as_i64().is_some() => Shape::Long,
        Value::Number(_) => Shape::Decimal,
        Value::String(_) => Shape::Text,
        Value::Array(_) => Shape::List,
        Value::Object(_) => Shape::Record,
    }
}

/// Returns whether a text fits a pattern; each star is tried once from left to right, so time is bounded by the
/// product of both lengths.
fn matches(text: &str, pattern: &[Piece]) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut next) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some(Piece::Star) => {
                star = Some((next + 1, at));
                next += 1;
            }
            Some(Piece::Character(wanted)) if *wanted == text[at] => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                (next, at) = (after, from + 1);
                star = Some((after, from + 1));
            }
        }
    }
    pattern[next..].iter().all(|piece| *piece == Piece::Star)
}
