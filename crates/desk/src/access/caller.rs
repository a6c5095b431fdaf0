//! Who calls, and what they may do. Closed by default: over TCP a caller without a token is a stranger; over the Unix socket
//! the kernel says which user it is.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    person::PersonRole,
    question::Whom,
    refusal::Refusal,
    scope::Scope,
};
use demur_core::{hash::Digest, limit::Text, time::Timestamp, visible::visible};
use demur_ledger::{
    author::Author,
    facts::{Attribution, Door, Root},
    name::{ClientId, PersonId, PrincipalId},
    role::Role,
};
use serde::{Deserialize, Serialize};

use super::stranger;
use crate::{
    client::{KnownClient, MadeFor},
    lookup::Lookup,
    marks, name,
    owner::Owner,
    run,
    session::Speaker,
};

/// The sender of a request.
#[derive(Clone, Debug)]
pub enum Caller {
    /// The user who runs the server, over the Unix socket.
    Local {
        /// The user's name.
        name: Text<1, 256>,
        /// The client that passes on what its own user says, where one does.
        client: Option<Text<1, 64>>,
        /// Which client that is, where its connection tells. Apart, because callers are kept by everybody who watches.
        id: Option<Box<ClientId>>,
    },
    /// The holder of a token.
    Token(Arc<Token>),
    /// A sender without credentials.
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
    /// The client that holds it; none for the session of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
    /// Whether an MCP client speaks with it: a matter of the request, and of no record.
    #[serde(skip)]
    pub by_mcp: bool,
    /// The people whose words it passes on, whoever asked; none for one that passes on what anybody says, about questions of
    /// its own program alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<Vec<RelayedPerson>>,
    /// What the person may do whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<PersonRole>,
    /// Who that is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    /// The hash of the event in the journal that opened the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Digest>,
    /// What the session rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<LinkOrigin>,
    /// Whose browser it is the session of, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Box<Browser>>,
}

/// What is known about a browser that signed in. Both texts are its own word, shown to people and compared with nothing: addresses
/// and versions change, and whoever takes a cookie can say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Browser {
    /// What it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text<1, 256>>,
    /// Where it came from when it signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Text<1, 64>>,
    /// The digest of the key that the script of its pages keeps: whoever has the cookie alone changes nothing. None without a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Digest>,
}

/// A person whose words a token passes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayedPerson {
    /// Who it is on record.
    pub id: PersonId,
    /// The name under which the words are recorded.
    pub name: Text<1, 64>,
}

/// What a session rests on: it is worth no more than whatever made the link that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkOrigin {
    /// The program that had the link made, where one is known.
    pub client: Option<ClientId>,
    /// What that program or person had to show.
    pub root: Root,
    /// The person who had it made, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonId>,
}

impl LinkOrigin {
    /// Returns what a link is worth that this caller has made: no more than the caller's own credential.
    pub(crate) fn of(caller: &Caller) -> Self {
        let way = caller.attribution();
        let root = match way.root {
            // The link proves the operator, and not who has it.
            Root::Passkey | Root::Link => Root::Link,
            root @ (Root::Client | Root::Mail | Root::SameUser) => root,
        };
        Self { client: way.client, root, by: way.person }
    }
}

impl Caller {
    /// Returns the user of this machine, whose words a client passes on. A client that is called like the user gets a name
    /// of its own: what it asks is no question of the user.
    pub fn through(user: Text<1, 256>, client: Text<1, 64>, id: Option<ClientId>) -> Result<Self, Refusal> {
        let client =
            if name::same(&user, &client) { Text::cut(&format!("{RENAMED}{client}"))? } else { client };
        Ok(Self::Local { name: user, client: Some(client), id: id.map(Box::new) })
    }

    /// Returns whether one of these is allowed.
    pub fn may(&self, any: &[Scope]) -> bool {
        match self {
            Self::Local { .. } => true,
            // A person may answer and read.
            Self::Token(token) if token.scopes.contains(&Scope::Person) => match token.role {
                // Everybody looks after the own sessions.
                Some(_) if any.contains(&Scope::Person) => true,
                Some(PersonRole::Auditor) => any.contains(&Scope::Read),
                Some(PersonRole::Operator)
                    if any.iter().any(|scope| matches!(scope, Scope::Operate | Scope::Administer)) =>
                {
                    true
                }
                Some(PersonRole::Operator | PersonRole::Answerer) => {
                    any.iter().any(|scope| matches!(scope, Scope::Answer | Scope::Relay | Scope::Read))
                }
                // Every session has a role.
                None => false,
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

    /// Returns which client speaks, where that is known.
    pub fn client_id(&self) -> Option<ClientId> {
        match self {
            Self::Local { id, .. } => id.as_deref().copied(),
            Self::Token(token) => token.client,
            Self::Stranger => None,
        }
    }

    /// Returns whom the desk makes keys for when this caller speaks.
    pub fn made_for(&self) -> MadeFor {
        let known = match self {
            Self::Local { client: Some(client), id: Some(id), .. } => Some((**id, client)),
            Self::Token(token) => token.client.map(|client| (client, &token.name)),
            Self::Local { .. } | Self::Stranger => None,
        };
        let known = known.and_then(|(id, name)| Some(KnownClient { id, name: Text::cut(name).ok()? }));
        known.map_or(MadeFor::Nobody, MadeFor::Client)
    }

    /// Returns whom the desk makes keys of runs for when this caller speaks under a name.
    pub fn playing_as(&self, name: &str) -> Result<MadeFor, Refusal> {
        match self.made_for() {
            MadeFor::Nobody if self.is_local() => Ok(MadeFor::named_on_the_socket(name)?),
            made_for => Ok(made_for),
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

    /// Returns the token of a person who signed in.
    pub fn person(&self) -> Option<&Token> {
        match self {
            Self::Token(token) => Some(&**token).filter(|token| token.scopes.contains(&Scope::Person)),
            Self::Local { .. } | Self::Stranger => None,
        }
    }

    /// Returns the name of the program or user who says something about others: its word, not demur's.
    pub(crate) fn program(&self) -> Option<Text<1, 256>> {
        match self {
            Self::Local { name, client, .. } => {
                client.as_deref().map_or_else(|| Some(name.clone()), |client| Text::cut(client).ok())
            }
            Self::Token(token) => Text::cut(&token.name).ok(),
            Self::Stranger => None,
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

    /// Returns whether this caller speaks for this principal.
    pub fn is(&self, principal: PrincipalId) -> bool {
        matches!(self, Self::Token(token) if token.principal == Some(principal))
    }

    /// Returns whether an asker counts as waiting while this caller waits. `demur ask` and `demur wait` wait for every asker of
    /// this machine; a client waits for itself, under its name or in a role of a run.
    pub fn waits_as(&self, asker: &Whom) -> bool {
        match self {
            Self::Local { client: None, .. } => true,
            Self::Local { client: Some(client), .. } => marks::is_of(&asker.name, client),
            Self::Token(_) | Self::Stranger => self.is(asker.principal),
        }
    }

    /// Returns the one who asks and submits plans in the caller's name. The user of this machine asks under a name of
    /// choice; a key is made where there is none yet.
    pub fn asker(&self, owner: &Owner, name: Option<&str>) -> Result<Arc<Author>, Refusal> {
        let name = self.asker_name(name)?;
        match owner.find_author(name, Role::Agent)? {
            Some(author) if self.is_local() => {
                owner.bind(author.public().fingerprint(), &self.made_for())?;
                Ok(author)
            }
            Some(author) if self.is(author.principal()) => Ok(author),
            None if self.is_local() => owner.find_or_enrol_for(name, Role::Agent, &self.made_for()),
            // Another key may have the same name by now: a token speaks for its own holder only.
            _ => Err(key_gone()),
        }
    }

    /// Returns the same one, if its key was read already. Reads nothing.
    pub(crate) fn known_asker(
        &self,
        at: &Lookup,
        name: Option<&str>,
    ) -> Result<Option<Arc<Author>>, Refusal> {
        let author = at.author(self.asker_name(name)?, Role::Agent);
        Ok(author.filter(|author| match self.made_for() {
            // That another client speaks with a key is recorded first.
            MadeFor::Client(client) if self.is_local() => {
                let registry = at.registry();
                let record = registry.key(&author.public().fingerprint());
                record.is_some_and(|record| record.clients.contains(&client.id))
            }
            _ => self.is_local() || self.is(author.principal()),
        }))
    }

    fn asker_name<'a>(&'a self, name: Option<&'a str>) -> Result<&'a str, Refusal> {
        match (self, name) {
            (Self::Local { client, .. }, name) => Ok(name.or(client.as_deref()).unwrap_or(LOCAL_ASKER)),
            (Self::Token(token), None) => Ok(token.name.as_str()),
            (Self::Token(token), Some(name)) if name == token.name.as_str() => Ok(name),
            (Self::Token(_), Some(_)) => {
                let message = "expected no other name than that of the token, found one";
                Err(Refusal::new(Code::Forbidden, message).with_cure("leave the name out"))
            }
            (Self::Stranger, _) => Err(stranger()),
        }
    }

    /// Returns the name under which the caller takes part in runs. The user of this machine chooses one.
    pub fn player(&self, owner: &Owner, name: Option<&str>) -> Result<String, Refusal> {
        match self {
            Self::Local { client, .. } => Ok(name.or(client.as_deref()).unwrap_or(LOCAL_AGENT).to_owned()),
            // Only if the token still speaks for its own holder.
            Self::Token(token) => self.asker(owner, name).map(|_| token.name.to_string()),
            Self::Stranger => Err(stranger()),
        }
    }

    /// Returns everybody as whom the caller takes part in runs, by role.
    pub fn seats(&self, owner: &Owner) -> Result<Vec<(Role, PrincipalId)>, Refusal> {
        match self.player(owner, None) {
            Ok(name) => run::seats(owner, &name),
            // Nobody, or a token whose key is gone.
            Err(refusal) if matches!(refusal.code, Code::Unauthenticated | Code::KeyGone) => Ok(Vec::new()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns everybody as whom the caller asks: under its own name, and in the roles it has in runs.
    pub fn askers(&self, owner: &Owner) -> Result<Vec<PrincipalId>, Refusal> {
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

    /// Returns the way by which an act comes that this caller brings. Whether it is the asker's own, the ledger tells.
    pub fn attribution(&self) -> Attribution {
        match self {
            Self::Local { client: None, .. } => Attribution::new(Door::Socket, Root::SameUser),
            // Nobody lets one speak; if somebody did, nothing would vouch for it.
            Self::Stranger => Attribution::new(Door::Http, Root::Client),
            // A client vouches for the words it passes on, not the terminal.
            Self::Local { client: Some(_), id, .. } => {
                Attribution { client: id.as_deref().copied(), ..Attribution::new(Door::Mcp, Root::Client) }
            }
            // A session is worth what made its link; one that does not tell was made over the socket.
            Self::Token(token) if token.scopes.contains(&Scope::Person) => {
                let unknown = LinkOrigin { client: None, root: Root::SameUser, by: None };
                let LinkOrigin { client, root, .. } = token.rests_on.unwrap_or(unknown);
                // Whose name a program of the same user takes is its own word; the event that opened the session has it.
                let person = token.person.filter(|_| root > Root::SameUser);
                let session = token.opened;
                Attribution { client, person, session, ..Attribution::new(Door::Page, root) }
            }
            Self::Token(token) => {
                let door = if token.by_mcp { Door::Mcp } else { Door::Http };
                let (client, id) = (token.client, token.id.parse().ok());
                Attribution { client, token: id, ..Attribution::new(door, Root::Client) }
            }
        }
    }

    /// Returns the one who answers in the caller's name. `by` is the person whose words a relay passes on.
    pub fn answerer(&self, owner: &Owner, by: Option<Text<1, 256>>) -> Result<Speaker, Refusal> {
        let find = |name: &str| owner.find_author(name, Role::Answerer);
        self.answerer_with(find, by)?.ok_or_else(key_gone)
    }

    /// Returns the same one, if its key was read already or a person speaks. Reads nothing.
    pub(crate) fn known_answerer(
        &self,
        at: &Lookup,
        by: Option<Text<1, 256>>,
    ) -> Result<Option<Speaker>, Refusal> {
        self.answerer_with(|name| Ok(at.author(name, Role::Answerer)), by)
    }

    fn answerer_with(
        &self,
        find: impl FnOnce(&str) -> Result<Option<Arc<Author>>, Refusal>,
        by: Option<Text<1, 256>>,
    ) -> Result<Option<Speaker>, Refusal> {
        match self {
            Self::Local { name, client, .. } => {
                let name = match client {
                    Some(client) => Text::cut(&format!("{client} user"))?,
                    None => name.clone(),
                };
                expect_own_name(&name, by.as_deref())?;
                Ok(Some(Speaker::person(name, self.attribution())))
            }
            Self::Token(token) if token.scopes.contains(&Scope::Person) => {
                Ok(Some(Speaker::person(Text::try_from(token.name.as_str())?, self.attribution())))
            }
            Self::Token(token) if token.scopes.contains(&Scope::Relay) => {
                let name = by.ok_or_else(|| {
                    Refusal::new(Code::NameMissing, "expected the name of the person who said it, found none")
                        .about("by")
                        .with_cure("a relay passes on what a person said: say who it was")
                })?;
                name::check(&name).map_err(|refusal| refusal.about("by"))?;
                token.relayed(name, self.attribution()).map(Some)
            }
            Self::Token(token) => {
                if by.is_some() {
                    let message = "expected no name beside a key, found one";
                    return Err(Refusal::new(Code::Forbidden, message).about("by"));
                }
                let author = find(&token.name)?.filter(|author| self.is(author.principal()));
                Ok(author.map(Speaker::Key))
            }
            Self::Stranger => Err(stranger()),
        }
    }
}

/// Refuses another name than that under which what comes over the socket is recorded: whoever it is, demur knows no more than that
/// a program of this user said it.
fn expect_own_name(name: &str, by: Option<&str>) -> Result<(), Refusal> {
    // A client that is called like the user has another name here, and knows nothing of it.
    let bare = name.strip_prefix(RENAMED).unwrap_or(name);
    let Some(other) = by.filter(|by| !name::same(by, name) && !name::same(by, bare)) else { return Ok(()) };
    let message = format!(
        "expected no name or \"{}\" from a program of this user, found \"{}\"",
        visible(name),
        visible(other)
    );
    Err(Refusal::new(Code::Forbidden, message).about("by").with_cure(
        "leave the name out; what somebody else said passes a token on: `demur token new NAME --scope relay --for PERSON`",
    ))
}

impl Token {
    /// Returns a person whose words this passes on.
    fn relayed(&self, by: Text<1, 256>, way: Attribution) -> Result<Speaker, Refusal> {
        // Then only what its own program asked: of anything else it knows nothing, and the engine refuses it.
        let Some(people) = &self.people else { return Ok(Speaker::person(by, way)) };
        let Some(person) = people.iter().find(|person| name::same(&person.name, &by)) else {
            let names: Vec<_> = people.iter().map(|person| visible(&person.name)).collect();
            let message = format!(
                "expected somebody whose words this token passes on ({}), found \"{}\"",
                names.join(", "),
                visible(&by)
            );
            return Err(Refusal::new(Code::Rule(RuleCode::ASSURANCE_OVERSTATED), message)
                .about("by")
                .with_cure("`demur token new NAME --scope relay --for PERSON` names the people"));
        };
        let name = Text::try_from(person.name.as_str())?;
        Ok(Speaker::person(name, Attribution { person: Some(person.id), ..way }))
    }
}

/// Returns the refusal of a token whose own key may speak no longer.
fn key_gone() -> Refusal {
    let message = "expected the key of this token to speak for its holder, found that it may not any more";
    Refusal::new(Code::KeyGone, message).with_cure("make a new token with `demur token new`")
}

/// The name under which the user of this machine submits plans and takes part in runs.
pub const LOCAL_AGENT: &str = "agent";
/// What the name of a client begins with here that calls itself like the user.
const RENAMED: &str = "mcp-";
/// The name under which the user of this machine asks.
pub(crate) const LOCAL_ASKER: &str = "ask";
