//! Colour, as decoration only: every word that is painted says the same without paint.

/// Whether to paint, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Returns paint that is on or off.
    pub(crate) const fn new(on: bool) -> Self {
        Self { on }
    }

    /// Returns whether anything is painted.
    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    /// Returns the text in bold.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Returns the text as something that holds.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("1;32", text)
    }

    /// Returns the text as something that does not hold.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
