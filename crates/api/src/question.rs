//! Questions: asked, listed, looked at, answered, answered anew, declined, passed on, extended, cancelled.

mod act;
mod ask;
mod assured;
mod change;
mod history;
mod id;
mod kind;
mod list;
mod parameters;
mod secret;
mod text;
mod told;
mod typed;
mod view;

pub use act::{Act, Answer, Done, Extension, Passing, Said};
pub use ask::{Answering, Ask};
pub use assured::{needed, way};
pub use change::{Replacement, RevokeParameters};
pub use history::{QuestionEvent, QuestionHistory};
pub use id::{NotAQuestion, QuestionId};
pub use kind::{Kind, UnknownKind};
pub use list::Listed;
pub use parameters::{AskParameters, QuestionListParameters, WaitParameters};
pub use secret::Delivered;
pub use text::{NoQuestion, QuestionText};
pub use told::{Deliveries, Heard};
pub use typed::{NoAnswer, typed};
pub use view::{AskedView, Ending, QuestionPlan, QuestionView, Whom};
