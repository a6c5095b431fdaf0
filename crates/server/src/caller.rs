//! Who calls, and what they may do. Closed by default: over TCP nobody is anybody without a token; over the Unix socket
//! the kernel says which user it is.

use std::{fmt, str::FromStr, sync::Arc};

use demur_core::{limit::Text, time::Timestamp};
use demur_desk::{error::CommandError, marks, owner::Owner, question::Whom, run, session::Speaker};
use demur_ledger::{author::Author, facts::Assurance, name::PrincipalId, role::Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whoever sent a request.
#[derive(Clone, Debug)]
pub enum Caller {
    /// The user who runs the server, over the Unix socket.
    Local {
        /// The user's name.
        name: Text<1, 256>,
        /// The client that passes on what its own user says, where one does.
        client: Option<Text<1, 64>>,
    },
    /// Somebody with a token.
    Token(Arc<Token>),
    /// Nobody known.
    Stranger,
}

/// What a token is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its public name, the first part of the token.
    pub id: String,
    /// Whose it is.
    pub name: Text<1, 64>,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// The holder of the key that speaks for it, if one does.
    pub principal: Option<PrincipalId>,
    /// What the person may do whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<PersonRole>,
}

/// What a person may do in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    /// See and answer, read every trace, and call questions off.
    Operator,
    /// See and answer, read every trace.
    Answerer,
    /// Read everything, change nothing.
    Auditor,
}

impl PersonRole {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Answerer => "answerer",
            Self::Auditor => "auditor",
        }
    }
}

/// What a token can allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Ask, submit plans, and see what came of both.
    Ask,
    /// See questions and answer them with a key of its own.
    Answer,
    /// See questions and pass on what a person said through its own interface.
    Relay,
    /// Read every trace.
    Read,
    /// Read the metrics.
    Metrics,
    /// What a person may do who signed in with a browser: see and answer, read every trace.
    Person,
    /// What only the user of this machine may do: tokens, the server itself.
    Local,
}

impl Scope {
    /// What can be given to a token.
    pub const GRANTED: [Self; 5] = [Self::Ask, Self::Answer, Self::Relay, Self::Read, Self::Metrics];

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Relay => "relay",
            Self::Read => "read",
            Self::Metrics => "metrics",
            Self::Person => "person",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        Self::GRANTED
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| NotAScope(text.chars().take(64).collect()))
    }
}

/// A word that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected ask, answer, relay, read or metrics, found {0:?}")]
pub struct NotAScope(String);

impl Caller {
    /// Returns whether one of these is allowed.
    pub fn may(&self, any: &[Scope]) -> bool {
        match self {
            Self::Local { .. } => true,
            // A person may whatever people may, so no operation has to say so.
            Self::Token(token) if token.scopes.contains(&Scope::Person) => match token.role {
                Some(PersonRole::Auditor) => any.contains(&Scope::Read),
                _ => any.iter().any(|scope| matches!(scope, Scope::Answer | Scope::Relay | Scope::Read)),
            },
            Self::Token(token) => token.scopes.iter().any(|scope| any.contains(scope)),
            Self::Stranger => false,
        }
    }

    /// Returns the name under which the user of this machine asks where nobody chooses another.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Local { client, .. } => client.as_deref(),
            Self::Token(_) | Self::Stranger => None,
        }
    }

    /// Returns whether this is the user of this machine.
    pub const fn is_local(&self) -> bool {
        matches!(self, Self::Local { .. })
    }

    /// Returns the role of a person who signed in.
    pub fn role(&self) -> Option<PersonRole> {
        match self {
            Self::Token(token) => token.role,
            Self::Local { .. } | Self::Stranger => None,
        }
    }

    /// Returns whether nobody knows who this is.
    pub const fn is_stranger(&self) -> bool {
        matches!(self, Self::Stranger)
    }

    /// Returns the name for logs.
    pub fn label(&self) -> &str {
        match self {
            Self::Local { .. } => "local",
            Self::Token(token) => &token.id,
            Self::Stranger => "stranger",
        }
    }

    /// Returns whether this caller may see what this principal asked.
    pub fn sees_questions_of(&self, asker: PrincipalId) -> bool {
        self.may(&[Scope::Read, Scope::Answer, Scope::Relay]) || self.is(asker)
    }

    /// Returns whether this caller speaks for this principal.
    pub fn is(&self, principal: PrincipalId) -> bool {
        matches!(self, Self::Token(token) if token.principal == Some(principal))
    }

    /// Returns whether whoever asked waits in this caller. `demur ask` and `demur wait` wait for every asker of this
    /// machine; a client waits for itself, under its name or in a role of a run.
    pub fn waits_as(&self, asker: &Whom) -> bool {
        match self {
            Self::Local { client: None, .. } => true,
            Self::Local { client: Some(client), .. } => marks::is_of(&asker.name, client),
            Self::Token(_) | Self::Stranger => self.is(asker.principal),
        }
    }

    /// Returns the one who asks and submits plans in the caller's name. The user of this machine asks under a name of
    /// choice; a key is made where there is none yet.
    pub fn asker(&self, owner: &Owner, name: Option<&str>) -> Result<Arc<Author>, CommandError> {
        let name = match (self, name) {
            (Self::Local { client, .. }, name) => name.or(client.as_deref()).unwrap_or(LOCAL_ASKER),
            (Self::Token(token), None) => token.name.as_str(),
            (Self::Token(token), Some(name)) if name == token.name.as_str() => name,
            (Self::Token(_), Some(_)) => {
                let message = "expected no other name than that of the token, found one";
                return Err(CommandError::refused("FORBIDDEN", message).with_hint("leave the name out"));
            }
            (Self::Stranger, _) => return Err(nobody()),
        };
        match owner.find_author(name, Role::Agent)? {
            Some(author) if self.is_local() || self.is(author.principal()) => Ok(author),
            None if self.is_local() => owner.find_or_enrol(name, Role::Agent),
            // Another key may have the same name by now: a token speaks for its own holder only.
            _ => Err(CommandError::refused("KEY_UNKNOWN", "the key of this token is gone")
                .with_hint("make a new token with `demur token new`")),
        }
    }

    /// Returns the name under which the caller takes part in runs. The user of this machine chooses one.
    pub fn player(&self, owner: &Owner, name: Option<&str>) -> Result<String, CommandError> {
        match self {
            Self::Local { client, .. } => Ok(name.or(client.as_deref()).unwrap_or(LOCAL_AGENT).to_owned()),
            // Only if the token still speaks for its own holder.
            Self::Token(token) => self.asker(owner, name).map(|_| token.name.to_string()),
            Self::Stranger => Err(nobody()),
        }
    }

    /// Returns everybody as whom the caller takes part in runs, by role.
    pub fn seats(&self, owner: &Owner) -> Result<Vec<(Role, PrincipalId)>, CommandError> {
        match self.player(owner, None) {
            Ok(name) => run::seats(owner, &name),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Returns everybody as whom the caller asks: under its own name, and in the roles it has in runs.
    pub fn askers(&self, owner: &Owner) -> Result<Vec<PrincipalId>, CommandError> {
        let own = match self {
            Self::Local { client, .. } => {
                let author = owner.find_author(client.as_deref().unwrap_or(LOCAL_ASKER), Role::Agent)?;
                author.map(|author| author.principal())
            }
            Self::Token(token) => token.principal,
            Self::Stranger => None,
        };
        let mut askers: Vec<_> = own.into_iter().collect();
        askers.extend(self.seats(owner)?.into_iter().map(|(_, principal)| principal));
        askers.sort_unstable();
        askers.dedup();
        Ok(askers)
    }

    /// Returns the one who answers in the caller's name. `by` is the person whose words a relay passes on.
    pub fn answerer(&self, owner: &Owner, by: Option<Text<1, 256>>) -> Result<Speaker, CommandError> {
        match self {
            Self::Local { name, client } => Ok(Speaker::Person {
                name: by.unwrap_or_else(|| name.clone()),
                // What comes through a client is the client's word.
                assurance: if client.is_some() { Assurance::Relayed } else { Assurance::Terminal },
            }),
            Self::Token(token) if token.scopes.contains(&Scope::Person) => {
                let name = Text::try_from(token.name.as_str())?;
                Ok(Speaker::Person { name, assurance: Assurance::SignedIn })
            }
            Self::Token(token) if token.scopes.contains(&Scope::Relay) => {
                let name = by.ok_or_else(|| {
                    CommandError::input("NAME_MISSING", "expected the name of whoever said it, found none")
                        .about(Some("by"))
                        .with_hint("a relay passes on what a person said: say who it was")
                })?;
                Ok(Speaker::Person { name, assurance: Assurance::Relayed })
            }
            Self::Token(token) => {
                if by.is_some() {
                    let message = "expected no name beside a key, found one";
                    return Err(CommandError::refused("FORBIDDEN", message).about(Some("by")));
                }
                let author = owner.find_author(&token.name, Role::Answerer)?;
                let author = author.filter(|author| self.is(author.principal()));
                author.map(Speaker::Key).ok_or_else(|| {
                    CommandError::refused("KEY_UNKNOWN", "the key of this token is gone")
                        .with_hint("make a new token with `demur token new`")
                })
            }
            Self::Stranger => Err(nobody()),
        }
    }
}

fn nobody() -> CommandError {
    CommandError::refused("UNAUTHENTICATED", "expected a token, found none").with_hint(TOKEN_HINT)
}

/// What somebody without a token can do.
pub const TOKEN_HINT: &str = "send `Authorization: Bearer TOKEN`; `demur token new` makes one";

/// The name under which the user of this machine submits plans and takes part in runs.
pub(crate) const LOCAL_AGENT: &str = "agent";
/// The name under which the user of this machine asks.
const LOCAL_ASKER: &str = "ask";
