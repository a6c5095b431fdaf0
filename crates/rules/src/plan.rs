//! The plan: a bounded JSON object whose every member can be named by a dotted path, so that every gap can name its
//! field (CLR-02).

use demur_clarify::name::FieldPath;
use demur_core::{canonical, limit::Limits, visible::is_blank};
use serde_json::{Map, Value};

use crate::{error::PlanError, facts};

/// What somebody wants done, member by member.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan(Value);

impl Plan {
    /// Returns the plan in these bytes; the layout and the order of members are free.
    pub fn read(bytes: &[u8]) -> Result<Self, PlanError> {
        Self::try_from(canonical::from_json::<Value>(bytes, &LIMITS)?)
    }

    /// Returns the plan as JSON.
    pub const fn as_value(&self) -> &Value {
        &self.0
    }

    /// Returns the canonical bytes of the plan.
    pub fn to_canonical(&self) -> Result<Vec<u8>, PlanError> {
        Ok(canonical::to_vec(&self.0)?)
    }

    /// Returns the value at a field. Null is no value.
    pub fn value(&self, field: &FieldPath) -> Option<&Value> {
        at(&self.0, field.as_str())
    }

    /// Returns the plan with this value at a field. Records on the way are made; a list takes an entry that it has, or
    /// one more at its end.
    pub fn with_value(&self, field: &FieldPath, value: Value) -> Result<Self, PlanError> {
        let mut plan = self.0.clone();
        let mut place = &mut plan;
        for name in field.as_str().split('.') {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            let found = shape(place);
            place = step(place, name)
                .ok_or_else(|| PlanError::Place { field: field.as_str().to_owned(), found })?;
        }
        *place = value;
        // What is written into a plan is held to the same limits as what comes with it.
        Self::read(&canonical::to_vec(&plan)?)
    }

    /// Returns the plan without what is at a field, and without records and lists that are empty then.
    #[must_use]
    pub fn without(&self, field: &FieldPath) -> Self {
        let mut plan = self.0.clone();
        let names: Vec<&str> = field.as_str().split('.').collect();
        take_out(&mut plan, &names);
        Self(plan)
    }

    /// Returns what leaves no room for a field: the path and value of something on the way to it that has no members,
    /// or none of that name.
    pub(crate) fn in_the_way<'a>(&'a self, field: &'a FieldPath) -> Option<(&'a str, &'a Value)> {
        let field = field.as_str();
        let (mut place, mut start) = (&self.0, 0);
        for name in field.split('.') {
            place = match place {
                Value::Object(members) => members.get(name)?,
                Value::Array(entries) if index(name).is_some() => entries.get(index(name)?)?,
                Value::Null => return None,
                // The way here is every name before this one, without the dot after it; a plan is an object, so there is one.
                other => return Some((&field[..start - 1], other)),
            };
            start += name.len() + 1;
        }
        None
    }

    /// Calls `visit` with every text in the plan and the path of its field.
    pub(crate) fn texts<'a>(&'a self, visit: &mut dyn FnMut(&str, &'a str)) {
        self.walk(&mut |path, value| {
            if let Value::String(text) = value {
                visit(path, text);
            }
        });
    }

    /// Calls `visit` with every value in the plan, the plan itself first, and the path of its field.
    pub(crate) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&str, &'a Value)) {
        walk(&self.0, &mut String::new(), visit);
    }
}

impl TryFrom<Value> for Plan {
    type Error = PlanError;

    fn try_from(value: Value) -> Result<Self, PlanError> {
        let Value::Object(members) = &value else {
            return Err(PlanError::NotAnObject { found: shape(&value) });
        };
        if members.contains_key(facts::DERIVED) {
            return Err(PlanError::Reserved);
        }
        // As the record will have it: `1e2`, `100.0` and `100` are one number, in rules and in words as in the file. And the
        // same limits hold for a value that was never bytes.
        let bytes = canonical::to_vec(&value)?;
        let value: Value = canonical::from_canonical(&bytes, &LIMITS)?;
        let mut unnamed = bad_key(&value);
        walk(&value, &mut String::new(), &mut |path, _| {
            if unnamed.is_none() && !path.is_empty() && path.parse::<FieldPath>().is_err() {
                unnamed = Some(path.chars().take(SHOWN).collect::<String>());
            }
        });
        if let Some(field) = unnamed {
            return Err(PlanError::Name { field });
        }
        Ok(Self(value))
    }
}

/// Returns the value at a path. Null is no value.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut place = value;
    for name in path.split('.') {
        place = match place {
            Value::Object(members) => members.get(name)?,
            Value::Array(entries) => entries.get(index(name)?)?,
            _ => return None,
        };
    }
    (!place.is_null()).then_some(place)
}

/// Returns whether there is nothing in a value that could be an answer. A text without a letter or digit is none.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => is_blank(text),
        Value::Array(entries) => entries.iter().all(is_empty),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the name of a value's shape in a sentence.
pub(crate) const fn shape(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a record",
    }
}

/// Returns the number of an entry in a list.
fn index(name: &str) -> Option<usize> {
    name.parse().ok()
}

fn step<'a>(place: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    match place {
        Value::Object(members) => Some(members.entry(name).or_insert(Value::Null)),
        Value::Array(entries) => {
            let index = index(name)?;
            if index == entries.len() {
                entries.push(Value::Null);
            }
            entries.get_mut(index)
        }
        _ => None,
    }
}

/// Takes out what is at a path. Entries of a list keep their numbers: one in the middle becomes null.
fn take_out(place: &mut Value, names: &[&str]) {
    let Some((name, below)) = names.split_first() else { return };
    let inner = match place {
        Value::Object(members) => members.get_mut(*name),
        Value::Array(entries) => index(name).and_then(|at| entries.get_mut(at)),
        _ => None,
    };
    let Some(inner) = inner else { return };
    take_out(inner, below);
    let is_bare = match inner {
        Value::Object(members) => members.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        _ => false,
    };
    if !below.is_empty() && !is_bare {
        return;
    }
    match place {
        Value::Object(members) => drop(members.remove(*name)),
        Value::Array(entries) => match index(name) {
            Some(at) if at + 1 == entries.len() => drop(entries.pop()),
            Some(at) => entries[at] = Value::Null,
            None => {}
        },
        _ => {}
    }
}

fn walk<'a>(value: &'a Value, path: &mut String, visit: &mut dyn FnMut(&str, &'a Value)) {
    visit(path, value);
    let length = path.len();
    let mut inner = |name: &str, value: &'a Value| {
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        walk(value, path, visit);
        path.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| inner(name, value)),
        Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(index, value)| inner(&index.to_string(), value));
        }
        _ => {}
    }
}

/// Returns a key that a path cannot name: an empty one would be passed over, one with a dot taken for two.
fn bad_key(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => members.iter().find_map(|(name, value)| match name.as_str() {
            "" => Some("\"\"".to_owned()),
            name if name.contains('.') => Some(name.chars().take(SHOWN).collect()),
            _ => bad_key(value),
        }),
        Value::Array(entries) => entries.iter().find_map(bad_key),
        _ => None,
    }
}

/// Far more than a plan needs, and little enough to look at in a millisecond.
const LIMITS: Limits = Limits { bytes: 256 << 10, depth: 12, members: 1024, text: 64 << 10 };

/// Characters of a bad name that are shown.
const SHOWN: usize = 80;
