//! What a producer grants of what a subscriber asks for (5.4, 5.5): never more, and every departure is told.

use demur_core::limit::List;

use crate::{
    capability::{Capabilities, EventRate},
    envelope::Producer,
    error::{Rule, RuleViolation},
    event_type::{EventFilters, TypePattern},
    extension::{KnownExtension, Prefix, collision},
    form::{AaepVersion, Uri},
    handshake::{SubscriptionRejected, SubscriptionRequest},
    language::{self, LanguageTag},
    word::RejectionReason,
};

/// What a producer can do.
#[derive(Clone, Debug)]
pub struct ServiceOffer {
    /// Who it is.
    pub producer: Producer,
    /// The highest rate it grants; any where there is none.
    pub max_events_per_second: Option<EventRate>,
    /// The languages it has.
    pub languages: Vec<LanguageTag>,
    /// The extensions it knows.
    pub extensions: Vec<KnownExtension>,
    /// Where its manifest is.
    pub manifest_uri: Option<Uri>,
    /// Its manifest, signed.
    pub signed_manifest: Option<String>,
}

/// What holds, and in what it departs from what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HonoredTerms {
    /// What holds.
    pub capabilities: Capabilities,
    /// The departures, a sentence each.
    pub notes: Vec<String>,
}

/// Returns what holds for a new subscription, or why there will be none.
pub fn grant(
    request: &SubscriptionRequest,
    offer: &ServiceOffer,
) -> Result<HonoredTerms, SubscriptionRejected> {
    if !request.aaep_version.is_current() {
        let message =
            format!("this producer speaks version {}, not {}", AaepVersion::current(), request.aaep_version);
        return Err(rejected(RejectionReason::VersionUnsupported, &message, offer));
    }
    honor(&request.capabilities, offer)
}

/// Returns what holds of these capabilities, or why nothing does.
pub fn honor(asked: &Capabilities, offer: &ServiceOffer) -> Result<HonoredTerms, SubscriptionRejected> {
    if asked.accept_signed_manifests_only == Some(true) && offer.signed_manifest.is_none() {
        let message = "this producer has no signed manifest";
        return Err(rejected(RejectionReason::ManifestSignatureRequired, message, offer));
    }
    let supported = chosen(asked, offer);
    if let Some(prefix) = collision(&supported) {
        let message = format!("two of the extensions asked for share the prefix {prefix}");
        return Err(rejected(RejectionReason::CapabilitiesIncompatible, &message, offer));
    }
    let mut notes = Vec::new();
    let mut honored = asked.clone();
    honored.max_events_per_second = rate(asked, offer, &mut notes);
    honored.languages = languages(asked, offer, &mut notes);
    let contexts: Vec<Uri> = supported.iter().map(|extension| extension.context.clone()).collect();
    let asked_extensions = asked.supported_extensions.as_ref().map_or(0, |asked| asked.len());
    if contexts.len() < asked_extensions {
        notes.push(format!("{} of the extensions are not known here.", asked_extensions - contexts.len()));
    }
    honored.supported_extensions =
        List::try_from(contexts).ok().filter(|_| asked.supported_extensions.is_some());
    honored.extensions.retain(|prefix, _| is_chosen(&supported, prefix));
    if honored.pace_wpm.take().is_some() {
        notes.push("The pace is not used; output is cut at the boundaries alone.".to_owned());
    }
    Ok(HonoredTerms { capabilities: honored, notes })
}

/// Returns the violation, if the honoured capabilities are wider than the requested ones. For subscribers.
pub fn check_honored(honored: &Capabilities, asked: &Capabilities) -> Result<(), RuleViolation> {
    let wider = |field: &str, expected: &str| {
        Err(RuleViolation::new(Rule::Honored, &format!("honored_capabilities.{field}"), expected, "more"))
    };
    if asked
        .max_events_per_second
        .is_some_and(|asked| honored.max_events_per_second.is_none_or(|rate| rate > asked))
    {
        return wider("max_events_per_second", "at most the rate that was asked for");
    }
    let spoken = asked.spoken();
    if !honored.languages.iter().flatten().all(|language| spoken.iter().any(|asked| asked.is(language))) {
        return wider("languages", "languages that were asked for");
    }
    if !honored.coalesce_boundaries.iter().flatten().all(|boundary| is_asked_boundary(asked, *boundary)) {
        return wider("coalesce_boundaries", "boundaries that were asked for");
    }
    if (honored.supports_confirmation_reply == Some(true) && asked.supports_confirmation_reply != Some(true))
        || (honored.supports_clarification_reply == Some(true)
            && asked.supports_clarification_reply != Some(true))
    {
        return wider("supports_confirmation_reply", "replies that the subscriber can send");
    }
    let extensions = asked.supported_extensions.as_ref().map_or(&[][..], |asked| asked.as_slice());
    if !honored.supported_extensions.iter().flatten().all(|extension| extensions.contains(extension)) {
        return wider("supported_extensions", "extensions that were asked for");
    }
    if !is_as_narrow(honored.event_filters.as_ref(), asked.event_filters.as_ref()) {
        return wider("event_filters", "filters that let nothing else through");
    }
    Ok(())
}

/// Returns the refusal of a subscription.
pub fn rejected(reason: RejectionReason, message: &str, offer: &ServiceOffer) -> SubscriptionRejected {
    SubscriptionRejected {
        reason_code: reason,
        reason_message: demur_core::limit::Text::cut(message).unwrap_or_else(|_| unsaid()),
        retry_after_seconds: None,
        alternative_manifest_uri: offer.manifest_uri.clone(),
    }
}

/// A refusal has to say something.
fn unsaid() -> demur_core::limit::Text<1, 4096> {
    demur_core::limit::Text::try_from("refused").expect("the word is within the limits")
}

fn chosen<'a>(asked: &Capabilities, offer: &'a ServiceOffer) -> Vec<&'a KnownExtension> {
    let asked = asked.supported_extensions.as_ref().map_or(&[][..], |asked| asked.as_slice());
    offer.extensions.iter().filter(|known| asked.contains(&known.context)).collect()
}

fn is_chosen(chosen: &[&KnownExtension], prefix: &Prefix) -> bool {
    chosen.iter().any(|extension| extension.prefix == *prefix)
}

fn rate(asked: &Capabilities, offer: &ServiceOffer, notes: &mut Vec<String>) -> Option<EventRate> {
    let (asked, most) = (asked.max_events_per_second, offer.max_events_per_second);
    let granted = [asked, most].into_iter().flatten().min();
    if granted != asked
        && let Some(granted) = granted
    {
        notes.push(format!("At most {granted:?} events a second."));
    }
    granted
}

/// Keeps what can be served. The schema allows no empty list, so where nothing can be served the field is left out, and said.
fn languages(
    asked: &Capabilities,
    offer: &ServiceOffer,
    notes: &mut Vec<String>,
) -> Option<List<LanguageTag, 1, 32>> {
    let asked = asked.languages.as_ref()?;
    let served: Vec<LanguageTag> =
        asked.iter().filter(|language| language::is_served(language, &offer.languages)).cloned().collect();
    if served.len() < asked.len() {
        let have: Vec<&str> = offer.languages.iter().map(LanguageTag::as_str).collect();
        notes.push(format!(
            "Texts of this producer are in {}; others keep their own language.",
            have.join(", ")
        ));
    }
    List::try_from(served).ok()
}

fn is_asked_boundary(asked: &Capabilities, boundary: crate::word::CoalesceBoundary) -> bool {
    use crate::word::CoalesceBoundary::{Completion, Sentence};
    match &asked.coalesce_boundaries {
        Some(asked) => asked.contains(&boundary),
        None => matches!(boundary, Sentence | Completion),
    }
}

/// Returns whether filters let nothing through that others hold back.
fn is_as_narrow(honored: Option<&EventFilters>, asked: Option<&EventFilters>) -> bool {
    let Some(asked) = asked else { return true };
    let patterns = |list: Option<&crate::event_type::Patterns>| -> Vec<TypePattern> {
        list.map_or_else(Vec::new, |list| list.as_slice().to_vec())
    };
    let honored_excludes = patterns(honored.and_then(|honored| honored.exclude.as_ref()));
    let excludes = patterns(asked.exclude.as_ref());
    let includes_fit = match (honored.and_then(|honored| honored.include.as_ref()), asked.include.as_ref()) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(honored), Some(asked)) => {
            honored.iter().all(|inner| asked.iter().any(|outer| covers(outer, inner)))
        }
    };
    includes_fit && excludes.iter().all(|inner| honored_excludes.iter().any(|outer| covers(outer, inner)))
}

/// Returns whether every type that fits one pattern fits another.
fn covers(outer: &TypePattern, inner: &TypePattern) -> bool {
    match (outer.as_str().strip_suffix('*'), inner.as_str().strip_suffix('*')) {
        (Some(outer), Some(inner)) => inner.starts_with(outer),
        (None, Some(_)) => false,
        (_, None) => outer.matches(inner.as_str()),
    }
}
