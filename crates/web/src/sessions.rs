//! The browsers that are signed in, as a table with a button each.

use demur_api::person::ShownSession;
use demur_core::time::Timestamp;

use crate::when::When;

/// A browser that is signed in.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// Its name.
    pub id: String,
    /// Who signed in, and as what.
    pub person: String,
    /// As what.
    pub role: &'static str,
    /// Since when.
    pub begun: When,
    /// When it was used last.
    pub used: When,
    /// When it ends if nobody uses it.
    pub ends: When,
    /// What it calls itself, made inert.
    pub browser: String,
    /// Where it came from.
    pub address: String,
    /// Whether the script of its pages keeps a key.
    pub bound: bool,
    /// Whether it is this one.
    pub own: bool,
}

impl SessionRow {
    /// Returns the rows of a list.
    pub fn all(listed: Vec<ShownSession>, now: Timestamp) -> Vec<Self> {
        let row = |shown: ShownSession| Self {
            person: shown.person,
            role: shown.role.as_str(),
            begun: When::new(shown.begun, now),
            used: When::new(shown.used, now),
            ends: When::new(shown.ends, now),
            browser: demur_core::visible::visible(&shown.browser).into_owned(),
            address: demur_core::visible::visible(&shown.address).into_owned(),
            bound: shown.bound,
            own: shown.own,
            id: shown.id,
        };
        listed.into_iter().map(row).collect()
    }
}
