//! Who may sign in and which programs may call, for operators who look after that from a browser. Without a public address they do
//! there what a passkey signs, and nothing else.

use std::collections::BTreeSet;

use askama::Template;
use demur_api::{
    passkey::ListedPasskeys,
    person::{PersonRole, ShownPerson},
    scope::Scope,
    token::ShownToken,
};
use demur_core::time::Timestamp;

use crate::{
    frame::{Frame, Here, Visitor},
    sessions::SessionRow,
    when::clock,
    words::Words,
};

/// The page.
#[derive(Template)]
#[template(path = "people.html")]
pub struct PeoplePage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// Whoever looks.
    pub visitor: &'a Visitor,
    /// Everybody who was added.
    pub people: Vec<ShownPerson>,
    /// What is said about people with a passkey only.
    pub signing: PeopleSigning,
    /// What is done here without a passkey; none where the terminal is the place for it.
    pub administration: Option<Administration>,
}

/// What operators look after without a passkey, on a server with a public address.
pub struct Administration {
    /// Something that is shown once.
    pub made: Option<MadeOnce>,
    /// Every browser that is signed in.
    pub sessions: Vec<SessionRow>,
    /// Every token.
    pub tokens: Vec<ShownToken>,
}

/// What is said about people with a passkey only: who is an operator, once one of them has a passkey, and whoever has one.
#[derive(Clone, Debug)]
pub struct PeopleSigning {
    has_root: bool,
    holders: BTreeSet<String>,
    waits: bool,
}

impl PeopleSigning {
    /// Returns what follows from the passkeys of a server.
    pub fn of(listed: &ListedPasskeys) -> Self {
        let active = listed.passkeys.iter().filter(|passkey| passkey.active);
        Self {
            has_root: !listed.needs_setup_code,
            holders: active.map(|passkey| passkey.person.clone()).collect(),
            waits: listed.waiting.iter().any(|waiting| waiting.vouches),
        }
    }

    fn is_needed(&self, person: &ShownPerson) -> bool {
        self.has_root && person.role == PersonRole::Operator || self.holders.contains(person.name.as_str())
    }
}

/// A code or a token: nothing keeps it.
#[derive(Clone, Debug)]
pub struct MadeOnce {
    /// What it is, and for whom.
    pub about: String,
    /// Where it is typed, if anywhere.
    pub place: Option<String>,
    /// The code or token.
    pub secret: String,
}

impl PeoplePage<'_> {
    const fn roles() -> [PersonRole; 3] {
        [PersonRole::Operator, PersonRole::Answerer, PersonRole::Auditor]
    }

    const fn scopes() -> [Scope; 6] {
        Scope::GRANTED
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn clock_of(time: &Timestamp) -> String {
    clock(*time)
}

fn joined(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
}

impl Words {
    const fn role_meaning(&self, role: PersonRole) -> &'static str {
        match role {
            PersonRole::Operator => self.role_operator,
            PersonRole::Answerer => self.role_answerer,
            PersonRole::Auditor => self.role_auditor,
        }
    }
}
