//! Questions at the desk, the same for every door: asked, listed, looked at, answered, declined, passed on, extended,
//! cancelled (design: one question, many doors; ONE-01, ONE-02, CLR-03, CLR-04). Whether something counts, the engine
//! decides; here it is put into events.

mod act;
mod alike;
mod ask;
mod assured;
mod deliver;
mod expire;
mod id;
mod kind;
mod list;
mod once;
mod recent;
mod secret;
mod text;
mod typed;
mod view;

pub use act::{
    Act, Answer, Done, Extension, Passing, Said, accept, answer, answer_shown, answering, cancel, decline,
    extend, has_answering_key, pass_on,
};
pub use ask::{Answering, Ask, Asked, ask, asking};
pub use assured::{needed, way};
pub use deliver::{deliver, deliver_shown};
pub use expire::expire;
pub use id::QuestionId;
pub use kind::{Kind, UnknownKind};
pub use list::{Listed, list, list_of};
pub use once::{Once, ask_once, note_heard};
pub(crate) use recent::Recent;
pub use secret::{Delivered, forget_secret, secret};
pub use text::{NoQuestion, QuestionText};
pub use typed::typed;
pub use view::{Ending, QuestionView, Whom, recent, view};
