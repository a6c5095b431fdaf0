//! What the registry says of tokens: to whom one was given, to do what, until when; and that it was taken back. It changes with
//! the token itself, or not at all.

use demur_api::{refusal::Refusal, scope::Scope};
use demur_core::limit::{List, Text};
use demur_ledger::{
    content::NameContent,
    event_type::{Content, Facts},
    facts::{TokenMade, TokenRevoked, TokenScope},
    name::TokenId,
    registry::TokenStanding,
};
use demur_sequencer::SequencerError;
use demur_store::contract::Swap;

use crate::{access::Token, owner::Owner};

/// Returns what the registry says when a token is made; nothing of the session of a person.
pub(super) fn made(id: TokenId, token: &Token) -> Result<Option<(TokenMade, Content)>, Refusal> {
    let Some(client) = token.client else { return Ok(None) };
    let mut scopes: Vec<_> = token.scopes.iter().filter_map(|scope| granted(*scope)).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let people = match &token.people {
        Some(people) => Some(people.iter().map(|person| person.id).collect::<Vec<_>>().try_into()?),
        // Then it passes on what anybody says, about what its own program asked.
        None if scopes.contains(&TokenScope::Relay) => None,
        None => Some(List::default()),
    };
    let facts = TokenMade {
        client,
        expires: token.expires,
        people,
        principal: token.principal,
        scopes: scopes.try_into()?,
        token: id,
    };
    let name = Text::try_from(token.name.as_str())?;
    Ok(Some((facts, Content::TokenMade(NameContent { name }))))
}

/// Returns what the registry says when a token is taken back; nothing of one that it does not know.
pub(super) fn revoked(owner: &Owner, id: &str) -> Option<TokenRevoked> {
    let token = id.parse().ok()?;
    let is_good = owner.sequencer().registry().token(token) == Some(TokenStanding::Made);
    is_good.then_some(TokenRevoked { token })
}

/// Records it together with the change of the token; returns whether that was what it was taken for.
pub(super) fn state(
    owner: &Owner,
    facts: impl Into<Facts>,
    content: Option<Content>,
    swaps: &[Swap],
) -> Result<bool, Refusal> {
    match owner.sequencer().state_with(facts, content, swaps) {
        Ok(_) => Ok(true),
        Err(SequencerError::RecordChanged) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

const fn granted(scope: Scope) -> Option<TokenScope> {
    match scope {
        Scope::Ask => Some(TokenScope::Ask),
        Scope::Answer => Some(TokenScope::Answer),
        Scope::Relay => Some(TokenScope::Relay),
        Scope::Read => Some(TokenScope::Read),
        Scope::Operate => Some(TokenScope::Operate),
        Scope::Metrics => Some(TokenScope::Metrics),
        Scope::Person | Scope::Administer | Scope::Local => None,
    }
}
