//! What a caller sees of questions and confirmations. A token sees what its program asked, what it may answer, and what people
//! may answer whose words it passes on; nothing else is there for it, in lists as little as by name (ONE-15).

use std::{collections::BTreeSet, sync::Arc};

use demur_api::{refusal::Refusal, scope::Scope};
use demur_ledger::{
    name::{ClientId, PrincipalId},
    registry::Registry,
};
use demur_store::contract::{ConfirmationSummary, Cursor, QuestionSummary};

use super::{Caller, Token};

/// What a caller sees.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// Everything.
    All,
    /// What it is entitled to.
    Entitled(Entitlement),
}

/// To what a token is entitled.
#[derive(Clone, Debug)]
pub(crate) struct Entitlement {
    /// What this one asked.
    principal: Option<PrincipalId>,
    /// What is asked with the keys of this one.
    client: Option<ClientId>,
    /// Which keys that are.
    registry: Arc<Registry>,
    /// Whether it passes on the words of people whom it names: then it sees what people may answer.
    people: bool,
    /// What may be answered with this one's key.
    answers: Option<PrincipalId>,
}

/// The keys that may answer: these, or none for every key for answering.
pub(crate) type AnsweringKeys = Option<Vec<PrincipalId>>;

impl Sight {
    /// Returns what a caller sees, by what the registry says of its program.
    pub(crate) fn of(caller: &Caller, registry: Arc<Registry>) -> Self {
        match caller {
            Caller::Local { .. } => Self::All,
            caller if caller.may(&[Scope::Read, Scope::Operate]) => Self::All,
            Caller::Token(token) => Self::Entitled(Entitlement::of(token, registry)),
            Caller::Stranger => {
                let (principal, client, answers) = (None, None, None);
                Self::Entitled(Entitlement { principal, client, registry, people: false, answers })
            }
        }
    }

    /// Returns whether the caller sees what this one asked, which people may answer or may not. Which keys may is looked up
    /// where it matters.
    pub(crate) fn sees(
        &self,
        asker: PrincipalId,
        people: bool,
        keys: impl FnOnce() -> Result<AnsweringKeys, Refusal>,
    ) -> Result<bool, Refusal> {
        let Self::Entitled(entitled) = self else { return Ok(true) };
        if entitled.asks_as(asker) || (people && entitled.people) {
            return Ok(true);
        }
        let Some(own) = entitled.answers else { return Ok(false) };
        Ok(keys()?.is_none_or(|keys| keys.contains(&own)))
    }

    /// Returns whether the caller sees everything.
    pub(crate) const fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Returns whether the caller may know whose key this is.
    pub(crate) fn sees_key_of(&self, principal: PrincipalId) -> bool {
        match self {
            Self::All => true,
            // The desk signs everything that the caller gets.
            Self::Entitled(entitled) => entitled.asks_as(principal) || entitled.registry.desk() == principal,
        }
    }

    /// Returns a page of what the caller sees of a list, with the place after which it goes on where the list was not read to
    /// its end. One page reads a bounded part of the list, however little of it the caller may see.
    pub(crate) fn page<R: Row>(
        &self,
        (is_newest_first, after, limit): (bool, Option<Cursor>, usize),
        read: impl Fn(Part, Option<Cursor>, usize) -> Result<Vec<R>, Refusal>,
        keys: impl Fn(&R) -> Result<AnsweringKeys, Refusal>,
    ) -> Result<(Vec<R>, Option<Cursor>), Refusal> {
        let entitled = match self {
            Self::All => return Ok((read(Part::All, after, limit)?, None)),
            Self::Entitled(entitled) => entitled,
        };
        if entitled.answers.is_some() {
            return self.looked_through(after, limit, read, keys);
        }
        let mut rows = Vec::new();
        for asker in entitled.askers() {
            rows.extend(read(Part::AskedBy(asker), after, limit)?);
        }
        if entitled.people {
            rows.extend(read(Part::ForPeople, after, limit)?);
        }
        rows.sort_unstable_by_key(Row::cursor);
        rows.dedup_by_key(|row| row.cursor());
        if is_newest_first {
            rows.reverse();
        }
        rows.truncate(limit);
        Ok((rows, None))
    }

    /// Looks through a list row by row: which keys may answer, no row tells.
    fn looked_through<R: Row>(
        &self,
        mut after: Option<Cursor>,
        limit: usize,
        read: impl Fn(Part, Option<Cursor>, usize) -> Result<Vec<R>, Refusal>,
        keys: impl Fn(&R) -> Result<AnsweringKeys, Refusal>,
    ) -> Result<(Vec<R>, Option<Cursor>), Refusal> {
        let (mut seen, mut looked) = (Vec::new(), 0);
        while looked < MAX_ROWS_PER_PAGE {
            let batch = read(Part::All, after, ROWS_PER_READ)?;
            let is_end = batch.len() < ROWS_PER_READ;
            for row in batch {
                (looked, after) = (looked + 1, Some(row.cursor()));
                let (asker, people) = row.terms();
                if self.sees(asker, people, || keys(&row))? {
                    seen.push(row);
                }
                if seen.len() == limit {
                    return Ok((seen, None));
                }
            }
            if is_end {
                return Ok((seen, None));
            }
        }
        Ok((seen, after))
    }
}

impl Entitlement {
    fn of(token: &Token, registry: Arc<Registry>) -> Self {
        let has = |scope| token.scopes.contains(&scope);
        Self {
            principal: token.principal,
            client: token.client,
            registry,
            people: has(Scope::Relay) && token.people.as_ref().is_some_and(|people| !people.is_empty()),
            answers: token.principal.filter(|_| has(Scope::Answer)),
        }
    }

    /// Returns whether this is the token's own holder, or somebody with whose key its program speaks.
    fn asks_as(&self, asker: PrincipalId) -> bool {
        let is_own = |client| self.registry.clients_of(asker).any(|known| known == client);
        self.principal == Some(asker) || self.client.is_some_and(is_own)
    }

    fn askers(&self) -> BTreeSet<PrincipalId> {
        let own = self.client.into_iter().flat_map(|client| self.registry.principals_of(client));
        own.chain(self.principal).collect()
    }
}

/// A part of a list that can be read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole list.
    All,
    /// What one holder of keys asked.
    AskedBy(PrincipalId),
    /// What people may answer.
    ForPeople,
}

/// Something in a list.
pub(crate) trait Row {
    /// Returns its place.
    fn cursor(&self) -> Cursor;

    /// Returns who asked, and whether people may answer.
    fn terms(&self) -> (PrincipalId, bool);
}

impl Row for QuestionSummary {
    fn cursor(&self) -> Cursor {
        self.cursor
    }

    fn terms(&self) -> (PrincipalId, bool) {
        (self.row.asker, self.row.people)
    }
}

impl Row for ConfirmationSummary {
    fn cursor(&self) -> Cursor {
        self.cursor
    }

    fn terms(&self) -> (PrincipalId, bool) {
        (self.row.asker, self.row.people)
    }
}

/// How much of a list is looked through for one page.
const MAX_ROWS_PER_PAGE: usize = 2000;
/// How much of it is read at a time.
const ROWS_PER_READ: usize = 200;
