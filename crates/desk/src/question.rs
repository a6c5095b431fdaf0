//! Questions at the desk, the same for every door: asked, listed, looked at, answered, declined, passed on, extended,
//! cancelled (design: one question, many doors; ONE-01, ONE-02, CLR-03, CLR-04). Whether something counts, the engine
//! decides; here it is put into events.

mod act;
mod alike;
mod ask;
mod deliver;
mod expire;
mod handle;
mod list;
mod once;
mod recent;
mod secret;
mod view;

use demur_api::question::{
    Act, Answer, Answering, Ask, Delivered, Done, Ending, Extension, Listed, Passing, QuestionId,
    QuestionView, Whom, needed, way,
};

pub(crate) use act::answering;
pub use act::{accept, answer, answer_shown, cancel, decline, extend, has_answering_key, pass_on};
pub(crate) use ask::asking;
pub use ask::{Asked, ask};
pub use deliver::{deliver, deliver_shown};
pub use expire::expire;
pub use handle::{note_answer, people_apart};
pub use list::{list, list_of};
pub use once::{Once, ask_once, note_heard};
pub(crate) use recent::Recent;
pub use secret::{forget_secret, secret};
pub(crate) use view::named;
pub use view::view;
