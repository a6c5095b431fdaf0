//! Who calls, and what they may do. Nothing is done without [`Admitted`], and only this module makes one.

mod caller;
mod exported;
mod question;
mod quota;
mod sight;
mod trace;

use std::sync::{Arc, Weak};

use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_core::limit::Text;
use tokio::sync::watch;

pub(crate) use caller::LOCAL_ASKER;
pub use caller::{Browser, Caller, LOCAL_AGENT, LinkOrigin, RelayedPerson, Token};
pub(crate) use exported::ShownNames;
pub(crate) use question::{asker_for, asker_of, seen_question};
pub use quota::exceeded;
pub(crate) use quota::{AskShare, Quotas, WaitShare};
pub(crate) use sight::{AnsweringKeys, Part, Sight};
pub(crate) use trace::{check_trace, may_read, player_in};

use crate::desk::Desk;

/// A caller whose scopes allow an operation. What it may see, the operation checks.
#[derive(Clone, Debug)]
pub struct Admitted {
    caller: Caller,
    /// What the caller's request holds for as long as somebody waits for its reply; none where that is not known.
    request: Option<Weak<()>>,
}

impl Admitted {
    /// Returns who it is.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Notes what is held for as long as somebody waits for the reply.
    pub(crate) fn while_held(&mut self, request: &Arc<()>) {
        self.request = Some(Arc::downgrade(request));
    }

    /// Returns whether nobody waits for the reply any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.strong_count() == 0)
    }
}

/// Returns why an operator does something, with who says so where that is not the user at the terminal: the record has no other
/// place for it.
pub(crate) fn named<const MIN: usize, const MAX: usize>(
    caller: &Caller,
    reason: &str,
) -> Result<Text<MIN, MAX>, Refusal> {
    let by = match caller {
        Caller::Local { client: None, .. } | Caller::Stranger => return Ok(Text::try_from(reason)?),
        Caller::Local { client: Some(client), .. } => format!("through {client}"),
        Caller::Token(token) if token.scopes.contains(&Scope::Person) => format!("{}, signed in", token.name),
        Caller::Token(token) => format!("with the token of {}", token.name),
    };
    Ok(Text::try_from(format!("{reason} ({by})"))?)
}

/// Lets a caller do something that any of these scopes may; everybody may where there is none. Whether its credential is still
/// good is for `Desk::admit` to say.
pub fn admit(caller: &Caller, scopes: &[Scope]) -> Result<Admitted, Refusal> {
    if scopes.is_empty() || caller.may(scopes) {
        return Ok(Admitted { caller: caller.clone(), request: None });
    }
    Err(refusal(caller, scopes))
}

impl Desk {
    /// Lets a caller do something that any of these scopes may, if its credential is good now: since the request began it may
    /// have been taken back. May block.
    pub(crate) fn admit(&self, caller: &Caller, scopes: &[Scope]) -> Result<Admitted, Refusal> {
        if self.must_look_up(caller)? {
            self.load_tokens()?;
        }
        self.admit_known(caller, scopes)
    }

    /// Lets a caller do something as [`Self::admit`] does, on a thread that must not wait.
    pub(crate) async fn admit_now(
        self: &Arc<Self>,
        caller: &Caller,
        scopes: &[Scope],
    ) -> Result<Admitted, Refusal> {
        if self.must_look_up(caller)? {
            self.on_worker(Self::load_tokens).await?;
        }
        self.admit_known(caller, scopes)
    }

    fn admit_known(&self, caller: &Caller, scopes: &[Scope]) -> Result<Admitted, Refusal> {
        match caller {
            Caller::Token(_) if !self.is_good(caller) => Err(stranger()),
            // Beside the user of this machine nobody is needed, and a browser here is no more than a program of that user.
            Caller::Token(_) if scopes.contains(&Scope::Administer) && !self.is_public() => {
                let message =
                    "expected the user of this machine, found somebody who signed in with a browser";
                Err(Refusal::new(Code::Forbidden, message)
                    .with_cure("operators who signed in do this on a server with --public-url only"))
            }
            Caller::Local { id: Some(id), .. } if self.here().is_some_and(|owner| owner.is_desk(**id)) => {
                let message = "expected the id of a client, found that of the server, which is none";
                Err(Refusal::new(Code::Forbidden, message).with_cure("name the program that speaks, or none"))
            }
            Caller::Token(_) | Caller::Local { .. } | Caller::Stranger => admit(caller, scopes),
        }
    }

    /// Returns whether tokens have to be read before it is known if a caller has a good one.
    fn must_look_up(&self, caller: &Caller) -> Result<bool, Refusal> {
        match caller {
            Caller::Token(_) => Ok(!self.tokens().is_loaded(self.now()?)),
            Caller::Local { .. } | Caller::Stranger => Ok(false),
        }
    }

    /// Returns what is told whenever credentials ended.
    pub fn ended_credentials(&self) -> watch::Receiver<u64> {
        self.tokens().ended()
    }

    /// Returns once the credential of a caller is good no longer.
    pub async fn ended_credential(&self, caller: &Caller) {
        let mut ended = self.tokens().ended();
        while self.is_good(caller) {
            // Without a sender there is no desk.
            if ended.changed().await.is_err() {
                return;
            }
        }
    }
}

fn refusal(caller: &Caller, scopes: &[Scope]) -> Refusal {
    if caller.is_stranger() {
        return stranger();
    }
    if let Some(role) = caller.role() {
        let message = format!("expected a role that may do this, found {}", role.as_str());
        return Refusal::new(Code::Forbidden, message)
            .with_cure("nothing was changed; ask the user who runs this server for another role");
    }
    let words: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
    let message = format!("expected a token with the scope {}, found one without", words.join(" or "));
    Refusal::new(Code::Forbidden, message).with_cure("`demur token new NAME --scope SCOPE` makes one")
}

/// Who looks at everything, page by page.
pub(crate) const LOOKING: &[Scope] = &[Scope::Read];

/// Returns the refusal of a caller without credentials, the same for everything that is closed.
pub fn stranger() -> Refusal {
    Refusal::new(Code::Unauthenticated, "expected a token, found none that is good")
        .with_cure("send `Authorization: Bearer TOKEN`; `demur token new` makes one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_gone_once_nobody_holds_it() {
        let mut admitted = admit(&Caller::Stranger, &[]).unwrap();
        assert!(!admitted.is_gone(), "nobody said that it ends");
        let held = Arc::new(());
        admitted.while_held(&held);
        assert!(!admitted.is_gone());
        drop(held);
        assert!(admitted.is_gone());
    }
}
