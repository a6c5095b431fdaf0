//! Links that sign a browser in, once.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use demur_api::refusal::Refusal;
use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
};

use super::same;
use crate::world::World;

/// Links that nobody has used yet. They do not outlive the process: whoever comes later asks for a new one.
#[derive(Default)]
pub struct Links(Mutex<Vec<WaitingLink>>);

/// A link that waits.
#[derive(Clone)]
pub struct WaitingLink {
    /// The digest of its code.
    code: Digest,
    until: Instant,
    /// Who signs in with it; otherwise the user of this machine.
    pub person: Option<Text<1, 64>>,
}

impl Links {
    fn open(&self) -> MutexGuard<'_, Vec<WaitingLink>> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| Instant::now() < link.until);
        links
    }

    /// Makes a link and returns its code.
    pub fn make(&self, person: Option<Text<1, 64>>) -> Result<String, Refusal> {
        let mut bytes = [0; 32];
        World::open()?.fill(&mut bytes);
        let code = sha256(&bytes).to_string();
        self.keep(WaitingLink {
            code: sha256(code.as_bytes()),
            until: Instant::now() + LINK_TIMEOUT,
            person,
        });
        Ok(code)
    }

    /// Puts a link back that brought nothing.
    pub fn keep(&self, link: WaitingLink) {
        let mut links = self.open();
        if links.len() >= MAX_LINKS {
            links.remove(0);
        }
        links.push(link);
    }

    /// Returns whether a code is good.
    pub fn knows(&self, code: &str) -> bool {
        let digest = sha256(code.as_bytes());
        self.open().iter().any(|link| link.code == digest)
    }

    /// Takes the link of a code, which is good once.
    pub fn spend(&self, code: &str) -> Option<WaitingLink> {
        let digest = sha256(code.as_bytes());
        let mut links = self.open();
        let at = links.iter().position(|link| link.code == digest)?;
        Some(links.remove(at))
    }

    /// Forgets the links of somebody.
    pub fn forget(&self, name: &str) {
        self.open().retain(|link| link.person.as_deref().is_none_or(|person| !same(person, name)));
    }
}

/// How long a link is good.
pub const LINK_TIMEOUT: Duration = Duration::from_mins(5);
/// How many links wait at once.
const MAX_LINKS: usize = 16;
