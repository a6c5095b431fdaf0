//! Accessibility events (AAEP): the hub between producers, who publish sessions, and subscribers, who follow them and reply
//! (`docs/design/016`).
//!
//! | part | module |
//! |---|---|
//! | what is agreed and what is open: records; what is told: one stream | `kept`, `posted` |
//! | an event comes in; a prompt ends, by a reply, its time or its session | `publish`, `resolve` |
//! | a subscription begins, changes, ends; a reply comes | `subscribe`, `receive` |
//! | who sees a session, and who replies to its prompts | `audience` |
//! | the stream as this process reads it, once for everybody; what one subscriber gets of it | `log`, `delivery` |
//! | what becomes of prompts, as their producer hears it | `outcomes` |
//! | questions of this folder as prompts, replies as their answers | `bridge` |
//! | what is due | `timer` |
//! | what is offered to subscribers | `offer` |
//!
//! Nothing of a subscription, a prompt or a session is in the memory of one process alone: any other goes on with it.

mod audience;
mod bridge;
mod delivery;
mod kept;
mod log;
mod offer;
mod outcomes;
mod posted;
mod publish;
mod receive;
mod resolve;
mod subscribe;
mod timer;

use std::sync::Arc;

use demur_aaep::{error::RuleViolation, event::EventReader, extension::Strictness, resolved};
use demur_api::{code::Code, operation::SEEING, refusal::Refusal, scope::Scope};
use demur_store::contract::Store;

pub use demur_aaep::{handshake::SubscriptionRejected, manifest::Manifest, word::RejectionReason};

pub(crate) use self::log::EventLog;
pub use self::{
    delivery::{EventFrame, EventWatch},
    outcomes::{OutcomeParameters, PromptNotice, PromptOutcomes},
    publish::Published,
    receive::Received,
    subscribe::Subscribed,
};
use crate::desk::Desk;

/// Does what is due and reads what is told, until the desk ends.
pub async fn run(desk: Arc<Desk>) {
    tokio::select! {
        () = desk.stopping() => {}
        () = log::run(&desk) => {}
        () = timer::run(&desk) => {}
        () = bridge::run(&desk) => {}
    }
    desk.events().end();
}

/// Returns whether a prompt is open.
pub(crate) fn has_open_prompt(store: &dyn Store) -> Result<bool, Refusal> {
    Ok(!store.records(kept::PROMPTS, None, 1)?.is_empty())
}

/// Who publishes: whoever asks people.
pub const PUBLISHING: &[Scope] = &[Scope::Ask];

/// Who follows: whoever sees questions. What of it, `audience` says.
pub const FOLLOWING: &[Scope] = SEEING;

/// Returns what reads the events of producers.
fn reader() -> Result<EventReader, Refusal> {
    let extensions = vec![resolved::known().map_err(|error| Refusal::bug(&error))?];
    Ok(EventReader { extensions, strictness: Strictness::Exact })
}

/// Returns the refusal of a message that breaks a rule.
fn broken(violation: &RuleViolation) -> Refusal {
    let field = violation.field.clone();
    Refusal::new(Code::MessageMalformed, violation)
        .about(field)
        .with_cure("docs/aaep.md shows messages that hold; nothing was recorded")
}
