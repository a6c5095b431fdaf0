//! Accountable runs at the desk (seed 002): opened, spoken in, driven, audited, looked at. For callers whose keys the desk keeps;
//! what holds before the ledger is asked holds for every door.

mod audit;
mod check;
mod door;
pub mod driver;
pub(crate) use end::abort_signed;
mod end;
mod handle;
mod next;
mod open;
mod read;
mod say;
mod seat;
mod standing;

pub use audit::{Audited, Found, audit, verdict};
pub use check::{check_record, unfounded};
pub(crate) use handle::speaks;
pub use open::{Opened, RunOpening, open};
pub use read::{bytes_in, check_run, is_over, read_on};
pub use say::{Recorded, Saying, say};
pub use seat::{author, seat_name, seats};
pub use standing::standing;
