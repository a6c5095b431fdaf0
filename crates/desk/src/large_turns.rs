//! Turns for requests that take a thread or much memory for as long as the other side likes. Nobody elsewhere takes them from
//! the user of this machine, and no one token takes them all.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{code::Code, refusal::Refusal};

use crate::access::Caller;

/// Who has how many turns.
#[derive(Clone, Default)]
pub(crate) struct LargeTurns(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    local: usize,
    /// By token, or what else tells callers apart.
    others: BTreeMap<String, usize>,
}

impl LargeTurns {
    /// Takes a turn for a caller, or says that there is none.
    pub(crate) fn take(&self, caller: &Caller) -> Result<LargeTurn, Refusal> {
        let holder = (!caller.is_local()).then(|| caller.label().to_owned());
        let mut taken = self.taken();
        let most = match &holder {
            None if taken.local < MAX_LARGE => {
                taken.local += 1;
                None
            }
            None => Some(MAX_LARGE),
            Some(holder) if taken.others.get(holder).is_some_and(|own| *own >= MAX_LARGE_PER_TOKEN) => {
                Some(MAX_LARGE_PER_TOKEN)
            }
            Some(_) if taken.others.values().sum::<usize>() >= MAX_LARGE => Some(MAX_LARGE),
            Some(holder) => {
                *taken.others.entry(holder.clone()).or_default() += 1;
                None
            }
        };
        drop(taken);
        match most {
            None => Ok(LargeTurn { turns: self.clone(), holder }),
            Some(most) => {
                let message = format!("expected at most {most} large requests at once, found more");
                Err(Refusal::new(Code::Overloaded, message).with_cure("try again in a moment"))
            }
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, which is given back when it goes away.
#[must_use = "the turn ends when this goes away"]
pub struct LargeTurn {
    turns: LargeTurns,
    /// None for the user of this machine.
    holder: Option<String>,
}

impl Drop for LargeTurn {
    fn drop(&mut self) {
        let mut taken = self.turns.taken();
        let Some(holder) = &self.holder else {
            taken.local = taken.local.saturating_sub(1);
            return;
        };
        match taken.others.get_mut(holder) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.others.remove(holder)),
        }
    }
}

/// How many large requests go on at once: for the user of this machine, and as many for all others.
const MAX_LARGE: usize = 8;
/// How many of these one token has.
const MAX_LARGE_PER_TOKEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Token;

    fn token(id: &str) -> Caller {
        Caller::Token(Arc::new(Token {
            id: id.to_owned(),
            name: "agent".try_into().unwrap(),
            scopes: Vec::new(),
            created: demur_core::time::Timestamp::MIN,
            expires: None,
            principal: None,
            client: None,
            by_mcp: false,
            people: None,
            role: None,
            person: None,
            opened: None,
            rests_on: None,
            browser: None,
        }))
    }

    #[test]
    fn one_token_leaves_turns_to_others_and_all_of_them_leave_turns_to_the_user() {
        let turns = LargeTurns::default();
        let take =
            |caller: &Caller, count| (0..count).map(|_| turns.take(caller).unwrap()).collect::<Vec<_>>();
        let of_one = take(&token("one"), MAX_LARGE_PER_TOKEN);
        assert_eq!(turns.take(&token("one")).err().unwrap().code, Code::Overloaded);
        let of_other = take(&token("other"), MAX_LARGE - MAX_LARGE_PER_TOKEN);
        assert_eq!(turns.take(&token("third")).err().unwrap().code, Code::Overloaded);
        let local = Caller::Local { name: "user".try_into().unwrap(), client: None, id: None };
        let of_user = take(&local, MAX_LARGE);
        assert!(turns.take(&local).is_err());
        drop((of_one, of_other, of_user));
        assert!(turns.take(&token("third")).is_ok() && turns.take(&local).is_ok());
        let taken = turns.taken();
        assert_eq!((taken.local, taken.others.len()), (0, 0), "nothing is left of those who are gone");
    }
}
