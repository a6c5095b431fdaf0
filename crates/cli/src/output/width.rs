//! How wide the terminal is, for what is laid out to fit.

use rustix::termios::tcgetwinsize;

/// Returns how many columns the terminal at standard output has; nothing where there is none, or where it does not say.
pub(crate) fn columns() -> Option<usize> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
