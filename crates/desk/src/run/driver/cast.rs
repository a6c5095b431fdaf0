//! Who plays which role of a run that is driven: the server with a key of its keyring, or an agent that signs for itself.

use std::sync::Arc;

use demur_api::{
    code::Code,
    key::{KeyEntry, Status},
    refusal::Refusal,
};
use demur_core::visible::visible;
use demur_ledger::{author::Author, facts::Participant, name::PrincipalId, role::Role};
use demur_run::task::{Player, Task};

use crate::{client::MadeFor, owner::Owner};

/// The players of a run, in the order of the roles.
#[derive(Debug)]
pub(super) struct Cast {
    players: Vec<(Role, Playing)>,
}

/// How a role is played.
#[derive(Debug)]
pub(super) enum Playing {
    /// By the server, which signs with this author's key.
    Here(Arc<Author>),
    /// By a process of its own.
    Separate(PrincipalId),
}

impl Cast {
    /// Returns who plays in a task. Roles that the task names nobody for are played by keys named after them, which are
    /// made when they are first needed.
    pub(super) fn gather(owner: &Owner, task: &Task) -> Result<Self, Refusal> {
        let mut players = Vec::new();
        for role in Role::OF_A_RUN {
            players.push((role, playing(owner, role, task.agents.get(&role))?));
        }
        Ok(Self { players })
    }

    /// Returns who plays on in a run that was opened before: those it was opened with, with the keys they have now.
    pub(super) fn recall(owner: &Owner, task: &Task, recorded: &[Participant]) -> Result<Self, Refusal> {
        let entries = owner.entries()?;
        let mut players = Vec::new();
        for part in recorded {
            let speaks = |entry: &&KeyEntry| {
                entry.principal == part.principal
                    && entry.status == Status::Active
                    && entry.roles.contains(&part.role)
            };
            let entry = entries.iter().find(speaks).ok_or_else(|| {
                let message = format!(
                    "expected the {} that the run was opened with to have a key, found none",
                    part.role
                );
                Refusal::new(Code::KeyGone, message)
                    .with_cure("nobody else can take its place: end the run with `demur run abort`")
            })?;
            let separate = task.agents.get(&part.role).is_some_and(Player::is_separate);
            let playing =
                if separate { Playing::Separate(part.principal) } else { here(owner, entry, part.role)? };
            players.push((part.role, playing));
        }
        Ok(Self { players })
    }

    /// Returns how a role is played.
    pub(super) fn playing(&self, role: Role) -> Option<&Playing> {
        self.players.iter().find(|(player, _)| *player == role).map(|(_, playing)| playing)
    }

    /// Returns who takes part as what, in the order the format asks for.
    pub(super) fn participants(&self) -> Vec<Participant> {
        let participant =
            |(role, playing): &(Role, Playing)| Participant { principal: playing.principal(), role: *role };
        let mut participants: Vec<Participant> = self.players.iter().map(participant).collect();
        participants.sort_unstable();
        participants
    }
}

impl Playing {
    fn principal(&self) -> PrincipalId {
        match self {
            Self::Here(author) => author.principal(),
            Self::Separate(principal) => *principal,
        }
    }
}

/// Returns the author who plays a role that nobody else plays. A client may have taken the name of the role: it keeps no run from
/// beginning.
fn own_author(owner: &Owner, role: Role) -> Result<Arc<Author>, Refusal> {
    let client = played_here(role)?;
    match owner.find_or_enrol_for(role.as_str(), role, &client) {
        Err(refusal) if refusal.code == Code::NameTaken => {
            owner.find_or_enrol_for(&format!("demur.{role}"), role, &client)
        }
        found => found,
    }
}

fn playing(owner: &Owner, role: Role, player: Option<&Player>) -> Result<Playing, Refusal> {
    let name = player.map_or(role.as_str(), |player| player.name.as_str()).to_owned();
    let entries = owner.entries()?;
    let speaks = |entry: &&KeyEntry| {
        entry.name == name && entry.status == Status::Active && entry.roles.contains(&role)
    };
    let entry = entries.iter().find(speaks);
    match (entry, player) {
        (Some(entry), Some(player)) if player.is_separate() => {
            owner.bind(entry.fingerprint, &MadeFor::program(player)?)?;
            Ok(Playing::Separate(entry.principal))
        }
        (Some(entry), _) => here(owner, entry, role),
        (None, None) => Ok(Playing::Here(own_author(owner, role)?)),
        (None, Some(_)) => {
            let message = format!("expected a key of {:?} that speaks as {role}, found none", visible(&name));
            let hint = format!("make it with `demur keys new NAME --role {role}`");
            Err(Refusal::new(Code::KeyUnknown, message).with_cure(hint))
        }
    }
}

/// Returns who plays a role that no program of its own plays: the server plans, reviews and audits itself; what tools printed is the
/// word of the command line that ran them.
fn played_here(role: Role) -> Result<MadeFor, Refusal> {
    Ok(if role == Role::Executor { MadeFor::command_line()? } else { MadeFor::Desk })
}

/// Lets the server play a role with a key of its keyring.
fn here(owner: &Owner, entry: &KeyEntry, role: Role) -> Result<Playing, Refusal> {
    if !entry.has_secret() {
        let message =
            format!("expected the secret key of {:?} in the data folder, found none", visible(&entry.name));
        let hint =
            "its holder has it elsewhere: name the holder's program in the task file with command = [...]";
        return Err(Refusal::new(Code::SecretElsewhere, message).with_cure(hint));
    }
    owner.bind(entry.fingerprint, &played_here(role)?)?;
    let key = owner.keyring().load(&entry.fingerprint)?;
    Ok(Playing::Here(Arc::new(Author::new(key.secret, key.principal, role))))
}
