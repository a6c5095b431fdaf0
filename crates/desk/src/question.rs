//! Questions at the desk, the same for every interface: asked, listed, looked at, answered, answered anew, declined, passed on,
//! extended, cancelled (design: one question, many doors; ONE-01, ONE-02, CLR-03, CLR-04). The engine decides what counts; here
//! requests become commands.

mod act;
mod ask;
mod cache;
mod change;
mod deliver;
mod expire;
mod handle;
mod history;
mod in_person;
mod kept;
mod list;
mod once;
mod search;
mod secret;
mod showing;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod view;

use demur_api::question::{
    Act, Answer, Answering, Ask, Delivered, Done, Ending, Extension, Listed, Passing, QuestionId,
    QuestionView, Replacement, RevokeParameters, Whom, needed, way,
};

pub(crate) use act::answering;
pub use act::{accept, answer, cancel, decline, extend, has_answering_key, pass_on};
pub use ask::{Asked, ask};
use ask::{asking, recorded_under};
pub(crate) use cache::QuestionCache;
pub use change::{replace, revoke};
pub use deliver::deliver;
pub(crate) use deliver::{forget_delivery, record_deliveries};
pub(crate) use expire::expire;
pub(crate) use handle::{asker_name, is_run, patience};
pub use in_person::PersonalAct;
pub(crate) use in_person::do_in_person;
pub(crate) use kept::Kept;
pub(crate) use list::cursor;
pub use list::{list, list_of};
use list::{list_in_turns, list_seen};
pub use once::{Once, ask_once, note_heard};
use once::{asked_before, asking_once};
pub use search::{FoundQuestions, QuestionSearch};
pub(crate) use secret::forget_erased;
pub use secret::{forget_secret, secret};
pub(crate) use showing::Showings;
pub use view::view;
pub(crate) use view::{answering_keys, named};
