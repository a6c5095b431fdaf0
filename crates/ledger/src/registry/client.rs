//! Clients in the registry: the key that the desk made for each, the tokens they were given. The desk's word, on record.

use super::{Registry, RegistryError, Standing, TokenStanding};
use crate::{
    envelope::{Event, Said},
    facts::{ClientBound, TokenMade, TokenRevoked},
};

impl Registry {
    pub(super) fn bind(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &ClientBound,
    ) -> Result<(), RegistryError> {
        self.check_desk(event, said)?;
        let sequence = event.envelope().sequence;
        if self.active(&facts.key, sequence)?.client.is_some() {
            return Err(RegistryError::KeyBound);
        }
        let record = self.keys.get_mut(&facts.key).ok_or(RegistryError::Subject(Standing::Unknown))?;
        record.client = Some(facts.client);
        self.clients.entry(record.principal).or_default().entry(facts.client).or_insert(sequence);
        Ok(())
    }

    pub(super) fn note_token(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &TokenMade,
    ) -> Result<(), RegistryError> {
        self.check_desk(event, said)?;
        let people = facts.people.as_ref().map_or(&[][..], |people| people.as_slice());
        if !facts.scopes.is_sorted_by(|left, right| left < right) {
            return Err(RegistryError::TokenScopes);
        }
        if !people.is_sorted_by(|left, right| left < right) {
            return Err(RegistryError::TokenPeople);
        }
        if self.tokens.contains_key(&facts.token) {
            return Err(RegistryError::TokenKnown);
        }
        self.tokens.insert(facts.token, TokenStanding::Made);
        Ok(())
    }

    pub(super) fn revoke_token(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: TokenRevoked,
    ) -> Result<(), RegistryError> {
        self.check_desk(event, said)?;
        match self.tokens.get_mut(&facts.token) {
            Some(standing @ TokenStanding::Made) => *standing = TokenStanding::Revoked,
            Some(TokenStanding::Revoked) => return Err(RegistryError::TokenSpent),
            None => return Err(RegistryError::TokenUnknown),
        }
        Ok(())
    }
}
