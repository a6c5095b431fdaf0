//! Accountable runs (seed 002): what a task and a policy file say, what each of the four roles does next, and the lines
//! that a desk and an agent in a process of its own exchange. Pure: no files, no clock, no processes.

pub mod agent;
mod file;
pub mod history;
pub mod key_file;
pub mod line;
mod orders;
mod plan;
pub mod policy;
pub mod quantity;
pub mod role;
pub mod task;
mod template;

pub use file::FileError;
pub use orders::{ConditionError, Orders, OrdersError};
pub use plan::TaskPlan;
pub use template::Template;
