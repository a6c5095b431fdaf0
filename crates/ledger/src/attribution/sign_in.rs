//! What an act shows that rests on a sign-in with a passkey, or on a link from one: whose session it was, that it came in over a page
//! or HTTP, and that the registry knew a passkey by then. Whether that session was opened so, the journal shows.

use crate::{
    event_type::Facts,
    facts::{Attribution, Door, Root},
    meaning::MeaningError,
    name::Sequence,
    registry::Registry,
};

/// Checks that an act which rests on a passkey can do so, by the registry as of the event that it pins.
pub(super) fn check_sign_in(
    registry: &Registry,
    pinned: Sequence,
    facts: &Facts,
) -> Result<(), MeaningError> {
    let Some(way) = facts.attribution().flatten() else { return Ok(()) };
    if !matches!(way.root, Root::Passkey | Root::Link) {
        return Ok(());
    }
    let missing = missing_session(way, facts).or_else(|| missing_passkey(way, registry, pinned));
    missing.map_or(Ok(()), |expected| Err(MeaningError::SignInUnshown { root: way.root, expected }))
}

/// Returns what an act does not say of the session that it came by.
fn missing_session(way: &Attribution, facts: &Facts) -> Option<&'static str> {
    let opened = if let Facts::SessionOpened(opened) = facts { Some(opened) } else { None };
    // The assertion is the proof of a sign-in with a passkey; there is no such sign-in on the word of the desk.
    if opened.is_some() && way.root == Root::Passkey {
        return Some("the sign-in signed by that passkey");
    }
    if !matches!(way.door, Door::Page | Door::Http) {
        return Some("a page or HTTP as the door");
    }
    let is_whose = opened.map_or(way.person.is_some(), |opened| way.person == Some(opened.person));
    if !is_whose {
        return Some("the person who signed in");
    }
    let (is_told, what) = match opened {
        Some(opened) => (opened.by.is_some(), "the operator who made the link"),
        None => (way.session.is_some(), "the session"),
    };
    (!is_told).then_some(what)
}

/// Returns what the registry does not know that such a session rests on.
fn missing_passkey(way: &Attribution, registry: &Registry, pinned: Sequence) -> Option<&'static str> {
    let is_owned = match way.root {
        Root::Passkey => way.person.is_some_and(|person| registry.has_passkey_at(person, pinned)),
        // Sessions by a link outlive the passkey that it was made with.
        _ => registry.passkeys().any(|(_, record)| record.since <= pinned),
    };
    (!is_owned).then_some(match way.root {
        Root::Passkey => "an active passkey of that person",
        _ => "a passkey in the registry",
    })
}
