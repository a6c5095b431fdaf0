//! The record: traces, their events, and what could be checked of them.

mod erase;
mod line;
mod view;

pub use erase::{EraseEvent, ErasedEvent};
pub use line::{Line, Standing};
pub use view::{
    EventParameters, EventView, KeptArtifact, ListedEvents, ListedTraces, TraceListParameters, TraceView,
    Violation,
};
