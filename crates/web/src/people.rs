//! Who may sign in and which programs may call, for operators who look after that from a browser.

use askama::Template;
use demur_api::{
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
    /// Something that is shown once.
    pub made: Option<MadeOnce>,
    /// Everybody who was added.
    pub people: Vec<ShownPerson>,
    /// Every browser that is signed in.
    pub sessions: Vec<SessionRow>,
    /// Every token.
    pub tokens: Vec<ShownToken>,
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
