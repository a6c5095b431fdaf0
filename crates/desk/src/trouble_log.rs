//! What is tried again and again says in the log what keeps it from being done: once, not every time.

use demur_api::{code::Code, refusal::Refusal};

/// The trouble that something had when it was last tried.
pub(crate) struct TroubleLog {
    what: &'static str,
    last: Option<Code>,
}

impl TroubleLog {
    /// Returns the log of something that had no trouble so far.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, last: None }
    }

    /// Returns what came of it, if it was done. Trouble is told where it is not what it was the last time.
    pub(crate) fn note<T>(&mut self, done: Result<T, Refusal>) -> Option<T> {
        let code = done.as_ref().err().map(|error| error.code);
        if let Err(error) = &done
            && self.is_news(error.code)
        {
            tracing::warn!(code = error.code.as_str(), %error, "{}", self.what);
        }
        self.last = code;
        done.ok()
    }

    /// A server that ends refuses everything with `STOPPING`: that is no trouble.
    fn is_news(&self, code: Code) -> bool {
        code != Code::Stopping && self.last != Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_told_when_it_begins_and_when_it_is_another() {
        let mut log = TroubleLog::new("nothing is done");
        let fails = |code| Err::<(), _>(Refusal::new(code, "trouble"));
        assert!(log.is_news(Code::DiskFull));
        assert_eq!(log.note(fails(Code::DiskFull)), None);
        assert!(!log.is_news(Code::DiskFull) && log.is_news(Code::StoreLocked));
        assert_eq!(log.note(Ok(())), Some(()));
        assert!(log.is_news(Code::DiskFull) && !log.is_news(Code::Stopping));
    }
}
