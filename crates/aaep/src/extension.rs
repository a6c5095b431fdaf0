//! Extensions (chapter 7): prefixes, which of them are declared by the context of an event, and what a known one demands.

use std::collections::BTreeMap;

use demur_core::canonical;
use serde_json::{Map, Value};

use crate::{
    error::{Rule, RuleViolation},
    event_type::EventName,
    form::{Uri, formed_text},
};

formed_text! {
    /// The short name of an extension: 3 to 12 letters, digits, `_` and `-`, none of the reserved ones.
    Prefix, 12, "^(?!(aaep|xsd|rdf|rdfs)$)[A-Za-z][A-Za-z0-9_-]{2,11}$", "3 to 12 letters, digits, _ and -, and not aaep, xsd, rdf or rdfs",
    |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let is_reserved = RESERVED_PREFIXES.iter().any(|reserved| reserved.eq_ignore_ascii_case(text));
        text.len() > 2 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(fits) && !is_reserved
    }
}

/// The fields of extensions, by prefix.
pub type ExtensionFields = BTreeMap<Prefix, Map<String, Value>>;

/// An extension that this side knows.
#[derive(Clone, Debug)]
pub struct KnownExtension {
    /// Its short name.
    pub prefix: Prefix,
    /// The address by which a context declares it.
    pub context: Uri,
    /// Checks its fields in an event; the error says what was expected.
    pub check: fn(&Map<String, Value>) -> Result<(), String>,
}

/// Which fields and types are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Only fields and types of this version: for events that producers publish.
    #[default]
    Exact,
    /// Unknown fields, unknown types of the core and later versions 1.x pass: for a client of a newer producer.
    Tolerant,
}

/// Returns the violation of step 5, if the type is that of an extension that the context does not declare.
///
/// A context is an address, and the document behind it, which defines the prefix, is not fetched here. So a known
/// extension must be declared by its own address, and any other by some address that is not that of a known one.
pub(crate) fn check_type(
    name: &EventName,
    contexts: &[Uri],
    known: &[KnownExtension],
) -> Result<(), RuleViolation> {
    let EventName::Extension(name) = name else { return Ok(()) };
    let is_address = name.as_str().split_once(':').is_some_and(|(_, rest)| rest.starts_with("//"));
    let is_declared = match name.prefix() {
        Some(prefix) => is_declared(&prefix, contexts, known),
        None if name.is_of_core() => true,
        None => is_address && !contexts.is_empty(),
    };
    if is_declared {
        return Ok(());
    }
    let expected = "one of the twelve types, or one of an extension that @context declares";
    Err(RuleViolation::new(Rule::KnownType, "type", expected, name))
}

/// Returns the fields of extensions, once their prefixes have their form.
pub(crate) fn read_fields(text: &str) -> Result<ExtensionFields, RuleViolation> {
    let fields: BTreeMap<String, Map<String, Value>> = canonical::from_checked(text)
        .map_err(|error| RuleViolation::of_value(Rule::OptionalField, "extensions", &error))?;
    let prefixed = |(name, fields): (String, _)| match name.parse::<Prefix>() {
        Ok(prefix) => Ok((prefix, fields)),
        Err(error) => {
            Err(RuleViolation::new(Rule::ExtensionPrefix, "extensions", error.expected, error.found))
        }
    };
    fields.into_iter().map(prefixed).collect()
}

/// Returns the violation of step 8, if a prefix is not declared or the fields of a known extension are not as it demands.
pub(crate) fn check_fields(
    fields: &ExtensionFields,
    contexts: &[Uri],
    known: &[KnownExtension],
) -> Result<(), RuleViolation> {
    for (prefix, fields) in fields {
        let field = format!("extensions.{prefix}");
        if !is_declared(prefix, contexts, known) {
            let found = format!("{} other contexts", contexts.len());
            let expected = "a context that declares the prefix";
            return Err(RuleViolation::new(Rule::ExtensionDeclared, &field, expected, found));
        }
        if let Some(extension) = known.iter().find(|known| known.prefix == *prefix) {
            (extension.check)(fields).map_err(|expected| {
                let found = format!("{} fields that are not", fields.len());
                RuleViolation::new(Rule::ExtensionSchema, &field, expected, found)
            })?;
        }
    }
    Ok(())
}

/// Returns a prefix that two of these extensions share.
pub fn collision<'a>(chosen: &[&'a KnownExtension]) -> Option<&'a Prefix> {
    let shared = |(index, one): (usize, &&'a KnownExtension)| {
        let other =
            chosen[..index].iter().find(|other| other.prefix == one.prefix && other.context != one.context);
        other.map(|other| &other.prefix)
    };
    chosen.iter().enumerate().find_map(shared)
}

fn is_declared(prefix: &Prefix, contexts: &[Uri], known: &[KnownExtension]) -> bool {
    let mut namesakes = known.iter().filter(|known| known.prefix == *prefix).peekable();
    if namesakes.peek().is_some() {
        return namesakes.any(|known| contexts.contains(&known.context));
    }
    contexts.iter().any(|context| known.iter().all(|known| known.context != *context))
}

/// Prefixes that belong to the core and to the languages it stands on.
const RESERVED_PREFIXES: [&str; 4] = ["aaep", "xsd", "rdf", "rdfs"];
