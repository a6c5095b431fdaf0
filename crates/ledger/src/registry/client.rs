//! Clients in the registry: the keys that each speaks with, the tokens they were given. The desk's word, on record.

use super::{Binding, Registry, RegistryError, Standing, TokenRecord};
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
        self.check_administrator(event, said, false)?;
        let sequence = event.envelope().sequence;
        let bound = &self.active(&facts.key, sequence)?.clients;
        if bound.contains(&facts.client) {
            return Err(RegistryError::KeyBound);
        }
        let binding = Binding { since: sequence, is_first: bound.is_empty() };
        let record = self.keys.get_mut(&facts.key).ok_or(RegistryError::Subject(Standing::Unknown))?;
        record.clients.push(facts.client);
        self.clients.entry(record.principal).or_default().entry(facts.client).or_insert(binding);
        Ok(())
    }

    pub(super) fn note_token(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &TokenMade,
    ) -> Result<(), RegistryError> {
        self.check_administrator(event, said, false)?;
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
        let record = TokenRecord {
            client: facts.client,
            people: facts.people.as_ref().map(|people| people.to_vec()),
            principal: facts.principal,
            scopes: facts.scopes.to_vec(),
            expires: facts.expires,
            made: event.envelope().sequence,
            revoked: None,
        };
        self.tokens.insert(facts.token, record);
        Ok(())
    }

    pub(super) fn revoke_token(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: TokenRevoked,
    ) -> Result<(), RegistryError> {
        self.check_administrator(event, said, false)?;
        match self.tokens.get_mut(&facts.token) {
            Some(TokenRecord { revoked: Some(_), .. }) => Err(RegistryError::TokenSpent),
            Some(record) => {
                record.revoked = Some(event.envelope().sequence);
                Ok(())
            }
            None => Err(RegistryError::TokenUnknown),
        }
    }
}
