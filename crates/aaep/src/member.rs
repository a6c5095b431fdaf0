//! Reading a type from the members of a message, some of which another reader takes: no field twice, none that is unknown, none
//! that is null.

use std::fmt;

use demur_core::canonical::{self, Member, ReadError};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor},
    forward_to_deserialize_any,
};

use crate::{
    error::{Rule, RuleViolation, WHOLE, shown},
    extension::Strictness,
};

/// Returns a field that may be left out but not be null.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Returns the value of one member, or the violation of this rule.
pub(crate) fn value<'a, T: Deserialize<'a>>(
    rule: Rule,
    field: &str,
    text: &'a str,
) -> Result<T, RuleViolation> {
    canonical::from_checked(text).map_err(|error| RuleViolation::of_value(rule, field, &error))
}

/// Returns the type that members make, without those that `skipped` names.
pub(crate) fn object<'a, T: Deserialize<'a>>(
    members: &[Member<'a>],
    skipped: fn(&str) -> bool,
    strictness: Strictness,
    rule: Rule,
) -> Result<T, RuleViolation> {
    let reader = MemberReader { members, skipped, strictness };
    T::deserialize(reader).map_err(|failure| failure.into_violation(rule))
}

#[derive(Clone, Copy)]
struct MemberReader<'m, 'a> {
    members: &'m [Member<'a>],
    skipped: fn(&str) -> bool,
    strictness: Strictness,
}

impl<'de> Deserializer<'de> for MemberReader<'_, 'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_map(Walk { rest: self.members.iter(), reader: self, fields: &[], next: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_map(Walk { rest: self.members.iter(), reader: self, fields, next: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Goes from member to member.
struct Walk<'m, 'a> {
    rest: std::slice::Iter<'m, Member<'a>>,
    reader: MemberReader<'m, 'a>,
    /// The fields of the type.
    fields: &'static [&'static str],
    next: Option<&'m Member<'a>>,
}

impl<'de> MapAccess<'de> for Walk<'_, 'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        loop {
            let Some(member) = self.rest.next() else { return Ok(None) };
            if (self.reader.skipped)(&member.name) {
                continue;
            }
            if self.fields.contains(&member.name.as_ref()) {
                self.next = Some(member);
                let name: &str = &member.name;
                return seed.deserialize(name.into_deserializer()).map(Some);
            }
            if self.reader.strictness == Strictness::Exact {
                return Err(Failure::Unknown(member.name.clone().into_owned()));
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        let Some(member) = self.next.take() else { return Err(Failure::custom("a value before its key")) };
        if member.value == "null" {
            return Err(Failure::Null(member.name.clone().into_owned()));
        }
        canonical::from_checked_with(member.value, seed)
            .map_err(|error| Failure::Value(member.name.clone().into_owned(), error))
    }
}

/// Why members make no value of a type.
#[derive(Debug)]
enum Failure {
    Missing(&'static str),
    Unknown(String),
    Null(String),
    Value(String, ReadError),
    Other(String),
}

impl Failure {
    fn into_violation(self, rule: Rule) -> RuleViolation {
        match self {
            Self::Missing(name) => RuleViolation::new(rule, name, "a value", "none"),
            Self::Unknown(name) => {
                let rule = if rule == Rule::Payload { Rule::UnknownField } else { rule };
                RuleViolation::new(
                    rule,
                    &name,
                    "only fields of the type; others go into extensions",
                    "another field",
                )
            }
            Self::Null(name) => {
                RuleViolation::new(rule, &name, "a value, or that the field is left out", "null")
            }
            Self::Value(name, error) => RuleViolation::of_value(rule, &name, &error),
            Self::Other(message) => RuleViolation::new(rule, WHOLE, "a value of its type", message),
        }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self:?}")
    }
}

impl Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(shown(&message.to_string()).into_owned())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}
