//! Ends the tool of a run that is over: an operator aborted the run while the tool worked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use demur_sandbox::Stopper;

/// What ends the tool that works, from the thread that hears of the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Halt(Arc<Mutex<Halted>>);

#[derive(Debug, Default)]
struct Halted {
    is_over: bool,
    tool: Option<Stopper>,
}

impl Halt {
    /// Ends the tool that works, and each that begins after this.
    pub(super) fn halt(&self) {
        let mut halted = self.lock();
        halted.is_over = true;
        if let Some(tool) = halted.tool.take() {
            tool.stop();
        }
    }

    /// Notes the tool that works now.
    pub(super) fn watch(&self, tool: Stopper) {
        let mut halted = self.lock();
        if halted.is_over {
            tool.stop();
        } else {
            halted.tool = Some(tool);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Halted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
