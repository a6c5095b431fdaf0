//! The validation of an event, step by step as section 3.9 orders it: the first rule that is broken is the one that is named.

use std::borrow::Cow;

use demur_core::{
    canonical::{self, Member},
    limit::{Limits, List},
};
use serde::Deserialize;

use super::{AgentEvent, EventReader, ReceivedEvent, SoftLimitExcess};
use crate::{
    check,
    envelope::{CORE_CONTEXT, Contexts, Envelope, Producer, is_envelope_field, is_reserved_field},
    error::{Rule, RuleViolation, WHOLE},
    event_type::{CoreType, EventName, ExtensionType},
    extension::{self, ExtensionFields, Strictness},
    form::{AaepVersion, Uri},
    member::{object, value},
    payload::{ExtensionPayload, Payload},
    word::Urgency,
};

/// Returns the event in these bytes.
pub(super) fn event<'a>(bytes: &'a [u8], reader: &EventReader) -> Result<ReceivedEvent<'a>, RuleViolation> {
    let (members, mut excesses) = members(bytes)?;
    let fields = Fields::of(&members);
    let required = Required::of(&fields)?;
    let contexts = check_contexts(&required.contexts)?;
    let name = known_type(&required.name, reader.strictness)?;
    extension::check_type(&name, contexts.extensions(), &reader.extensions)?;
    let envelope = envelope(&fields, required.producer, contexts)?;
    check_version(envelope.aaep_version.as_ref(), reader.strictness)?;
    check_names(&members)?;
    let payload = payload(&name, &members, reader.strictness)?;
    check_urgency(&name, envelope.urgency)?;
    check::payload(&payload)?;
    let extensions = envelope.extensions.as_ref();
    if let Some(extensions) = extensions {
        extension::check_fields(extensions, envelope.contexts.extensions(), &reader.extensions)?;
    }
    if members.len() + extensions.map_or(0, ExtensionFields::len) > MAX_SOFT_FIELDS {
        excesses.push(SoftLimitExcess::Fields);
    }
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    Ok(ReceivedEvent { event: AgentEvent { envelope, payload }, text, excesses })
}

/// Step 1, within the limits of step 9: those that nothing passes, and those that are only noted.
fn members(bytes: &[u8]) -> Result<(Vec<Member<'_>>, Vec<SoftLimitExcess>), RuleViolation> {
    let mut excesses = Vec::new();
    let found = match canonical::members(bytes, &SOFT_LIMITS) {
        Err(error) if SoftLimitExcess::of(&error).is_some() => {
            excesses.extend(SoftLimitExcess::of(&error));
            canonical::members(bytes, &HARD_LIMITS)
        }
        found => found,
    };
    let members = found.map_err(|error| RuleViolation::of_json(&error))?;
    let members =
        members.ok_or_else(|| RuleViolation::new(Rule::Object, WHOLE, "an object", "another value"))?;
    Ok((members, excesses))
}

/// Makes a struct of the texts of the fields of the envelope.
macro_rules! fields {
    ($($field:ident $name:literal,)*) => {
        /// The fields of the envelope, as they stand in the text.
        #[derive(Default)]
        struct Fields<'a> {
            $($field: Option<&'a str>,)*
        }

        impl<'a> Fields<'a> {
            fn of(members: &[Member<'a>]) -> Self {
                let mut fields = Self::default();
                for Member { name, value } in members {
                    match name.as_ref() {
                        $($name => fields.$field = Some(value),)*
                        _ => {}
                    }
                }
                fields
            }
        }
    };
}

fields! {
    context "@context",
    name "type",
    event_id "event_id",
    session_id "session_id",
    timestamp "timestamp",
    producer "producer",
    aaep_version "aaep_version",
    sequence_number "sequence_number",
    verbosity "verbosity",
    urgency "urgency",
    localization_hints "localization_hints",
    correlation_id "correlation_id",
    extensions "extensions",
}

/// The required fields with the right types; ids and times are looked at later.
struct Required<'a> {
    contexts: ContextField<'a>,
    name: Cow<'a, str>,
    producer: Producer,
}

/// What stands in `@context`.
enum ContextField<'a> {
    One(Cow<'a, str>),
    Many(List<String, 1, 32>),
}

impl<'a> Required<'a> {
    /// Steps 2 and 3.
    fn of(fields: &Fields<'a>) -> Result<Self, RuleViolation> {
        let required = [
            ("@context", fields.context),
            ("type", fields.name),
            ("event_id", fields.event_id),
            ("session_id", fields.session_id),
            ("timestamp", fields.timestamp),
            ("producer", fields.producer),
        ];
        if let Some((name, _)) = required.iter().find(|(_, value)| value.is_none()) {
            return Err(RuleViolation::new(Rule::Required, name, "a value", "none"));
        }
        let [contexts, name, event_id, session_id, timestamp, producer] =
            required.map(|(_, value)| value.unwrap_or_default());
        let contexts = if contexts.starts_with('[') {
            ContextField::Many(value(Rule::FieldType, "@context", contexts)?)
        } else {
            ContextField::One(string("@context", contexts)?)
        };
        let name = string("type", name)?;
        if name.is_empty() {
            return Err(RuleViolation::new(Rule::FieldType, "type", "a text", "an empty one"));
        }
        for (name, text) in [("event_id", event_id), ("session_id", session_id), ("timestamp", timestamp)] {
            if !text.starts_with('"') {
                return Err(RuleViolation::new(Rule::FieldType, name, "a text", text));
            }
        }
        Ok(Self { contexts, name, producer: value(Rule::FieldType, "producer", producer)? })
    }
}

/// Returns a string; one without escapes is not copied.
fn string<'a>(field: &str, text: &'a str) -> Result<Cow<'a, str>, RuleViolation> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inner {
        None => Err(RuleViolation::new(Rule::FieldType, field, "a text", text)),
        Some(inner) if !inner.contains('\\') => Ok(Cow::Borrowed(inner)),
        Some(_) => value(Rule::FieldType, field, text).map(Cow::Owned),
    }
}

/// Step 4.
fn check_contexts(found: &ContextField<'_>) -> Result<Contexts, RuleViolation> {
    let (first, others): (&str, &[String]) = match found {
        ContextField::One(context) => (context, &[]),
        ContextField::Many(contexts) => {
            contexts.split_first().map_or(("", &[]), |(first, others)| (first, others))
        }
    };
    if first != CORE_CONTEXT {
        return Err(RuleViolation::new(Rule::CoreContext, "@context", CORE_CONTEXT, first));
    }
    let uri = |text: &String| {
        text.parse::<Uri>()
            .map_err(|error| RuleViolation::new(Rule::FieldType, "@context", error.expected, error.found))
    };
    let others = others.iter().map(uri).collect::<Result<Vec<_>, _>>()?;
    let others = List::try_from(others)
        .map_err(|error| RuleViolation::new(Rule::FieldType, "@context", error, "more"))?;
    Ok(Contexts::from(others))
}

/// The first half of step 5: what kind of event it is.
fn known_type(text: &str, strictness: Strictness) -> Result<EventName, RuleViolation> {
    let found = match strictness {
        Strictness::Exact => EventName::of(text),
        Strictness::Tolerant => EventName::of_any(text),
    };
    found.ok_or_else(|| {
        let expected = "one of the twelve types of the core, or one of a declared extension";
        RuleViolation::new(Rule::KnownType, "type", expected, text)
    })
}

/// Step 6, and the optional fields.
fn envelope(fields: &Fields<'_>, producer: Producer, contexts: Contexts) -> Result<Envelope, RuleViolation> {
    Ok(Envelope {
        event_id: formed("event_id", fields.event_id)?,
        session_id: formed("session_id", fields.session_id)?,
        timestamp: formed("timestamp", fields.timestamp)?,
        aaep_version: optional("aaep_version", fields.aaep_version)?,
        sequence_number: optional("sequence_number", fields.sequence_number)?,
        verbosity: optional("verbosity", fields.verbosity)?,
        urgency: optional("urgency", fields.urgency)?,
        localization_hints: optional("localization_hints", fields.localization_hints)?,
        correlation_id: optional("correlation_id", fields.correlation_id)?,
        extensions: fields.extensions.map(extension::read_fields).transpose()?,
        producer,
        contexts,
    })
}

fn formed<'a, T: Deserialize<'a>>(name: &str, text: Option<&'a str>) -> Result<T, RuleViolation> {
    value(Rule::FieldForm, name, text.unwrap_or_default())
}

fn optional<'a, T: Deserialize<'a>>(name: &str, text: Option<&'a str>) -> Result<Option<T>, RuleViolation> {
    text.map(|text| value(Rule::OptionalField, name, text)).transpose()
}

fn check_version(version: Option<&AaepVersion>, strictness: Strictness) -> Result<(), RuleViolation> {
    let is_known = |version: &AaepVersion| match strictness {
        Strictness::Exact => version.is_current(),
        Strictness::Tolerant => version.is_compatible(),
    };
    match version {
        Some(version) if !is_known(version) => {
            Err(RuleViolation::new(Rule::Version, "aaep_version", AaepVersion::current(), version))
        }
        _ => Ok(()),
    }
}

fn check_names(members: &[Member<'_>]) -> Result<(), RuleViolation> {
    match members.iter().find(|member| is_reserved_field(&member.name)) {
        Some(member) => {
            Err(RuleViolation::new(Rule::ReservedField, &member.name, "a name that is not reserved", "it"))
        }
        None => Ok(()),
    }
}

/// Step 7: the shape.
fn payload(
    name: &EventName,
    members: &[Member<'_>],
    strictness: Strictness,
) -> Result<Payload, RuleViolation> {
    /// Reads the payload of each type of the core.
    macro_rules! read {
        ($core:expr, $($type:ident)*) => {
            match $core {
                $(CoreType::$type => Payload::$type(object(members, is_envelope_field, strictness, Rule::Payload)?),)*
            }
        };
    }
    let core = match name {
        EventName::Core(core) => core,
        EventName::Extension(name) => return extension_payload(name.clone(), members),
    };
    Ok(read! {
        core,
        SessionStarted SessionCompleted SessionErrored SessionCancelled StateChanged ProgressUpdated ToolInvoked
        ToolCompleted OutputStreaming AwaitingConfirmation AwaitingClarification HandoffRequested
    })
}

fn extension_payload(name: ExtensionType, members: &[Member<'_>]) -> Result<Payload, RuleViolation> {
    let text = |name| members.iter().find(|member| member.name == name).map(|member| member.value);
    let summary = |name| text(name).map(|text| value(Rule::Payload, name, text)).transpose();
    Ok(Payload::Extension(ExtensionPayload {
        name,
        summary_terse: text("summary_terse")
            .map(|text| value(Rule::Payload, "summary_terse", text))
            .transpose()?,
        summary_normal: summary("summary_normal")?,
        summary_detailed: summary("summary_detailed")?,
    }))
}

/// The schema lets critical events come without their urgency; then it is critical. They do not say another.
fn check_urgency(name: &EventName, urgency: Option<Urgency>) -> Result<(), RuleViolation> {
    match (name, urgency) {
        (EventName::Core(core), Some(found)) if core.is_always_critical() && found != Urgency::Critical => {
            Err(RuleViolation::new(Rule::Urgency, "urgency", "critical", format!("{found:?}").to_lowercase()))
        }
        _ => Ok(()),
    }
}

/// How many fields an envelope should have.
const MAX_SOFT_FIELDS: usize = 32;

/// The soft limits of an event.
const SOFT_LIMITS: Limits = Limits { bytes: 64 << 10, depth: 8, members: 1024, text: 16 << 10 };

/// The most that is read.
pub(crate) const HARD_LIMITS: Limits = Limits { bytes: 1 << 20, depth: 32, members: 4096, text: 256 << 10 };
