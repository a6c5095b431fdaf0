//! The rows of the matrix: operations with what goes in, by what they are about. Within a file, rows that change nothing come
//! first; one that changes something has things of its own to change.

pub(super) mod aaep;
pub(super) mod access;
pub(super) mod local;
pub(super) mod pages;
pub(super) mod plans;
pub(super) mod questions;
pub(super) mod runs;
pub(super) mod server;
pub(super) mod tools;
pub(super) mod traces;

use demur_server::api::Route;
use serde_json::Value;

/// One way to call one operation.
pub(super) struct Row {
    /// Its id; of a page its method and path.
    pub(super) operation: &'static str,
    /// What is special about this call.
    pub(super) case: &'static str,
    /// What stands in the path where the operation has names.
    places: &'static [&'static str],
    pub(super) query: &'static str,
    pub(super) key: Option<&'static str>,
    pub(super) body: Body,
    pub(super) show: Show,
}

/// What goes in.
pub(super) enum Body {
    Nothing,
    Json(Value),
    Form(&'static [(&'static str, &'static str)]),
    /// The export of the seed.
    Export,
    /// The attestation of the seed.
    Attestation,
}

/// What is kept of what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// All of it.
    Whole,
    /// The names of its members: other files hold the document.
    Members,
    /// The names of its counters.
    Counters,
    /// So many events of a stream that has no end.
    Events(usize),
}

/// Makes the rows of a file.
type MakeRows = fn() -> Vec<Row>;

/// The files of the matrix.
pub(super) const FILES: [(&str, MakeRows); 9] = [
    ("questions", questions::rows),
    ("plans", plans::rows),
    ("runs", runs::rows),
    ("traces", traces::rows),
    ("aaep", aaep::rows),
    ("access", access::rows),
    ("local", local::rows),
    ("pages", pages::rows),
    ("server", server::rows),
];

/// Returns a call of an operation with these names in its path.
fn row(operation: &'static str, case: &'static str, places: &'static [&'static str]) -> Row {
    Row { operation, case, places, query: "", key: None, body: Body::Nothing, show: Show::Whole }
}

impl Row {
    fn query(mut self, query: &'static str) -> Self {
        self.query = query;
        self
    }

    fn json(mut self, document: Value) -> Self {
        self.body = Body::Json(document);
        self
    }

    fn form(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.body = Body::Form(fields);
        self
    }

    fn with(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    fn key(mut self, key: &'static str) -> Self {
        self.key = Some(key);
        self
    }

    fn show(mut self, show: Show) -> Self {
        self.show = show;
        self
    }

    /// Returns the path of this call, with the names of the seed in it.
    pub(super) fn path(&self, operation: &Route) -> String {
        let mut places = self.places.iter();
        let part = |part: &str| match part.strip_prefix('{') {
            Some(_) => {
                places.next().unwrap_or_else(|| panic!("{}: a name is missing", self.operation)).to_string()
            }
            None => part.to_owned(),
        };
        let path: Vec<_> = operation.path().split('/').map(part).collect();
        assert!(places.next().is_none(), "{}: a name too many", self.operation);
        format!("{}{}", path.join("/"), self.query)
    }
}

/// Returns how rows name an operation.
pub(super) fn name(operation: &Route) -> String {
    if operation.is_page() {
        return format!("{} {}", operation.method(), operation.path());
    }
    operation.id().to_owned()
}

/// SHA-256 of the operation of every confirmation of the seed.
pub(super) const DIGEST: &str = "a8b88b82fe90a16048eb8851fe382405395cd395dafaa7ca9be90ec00f82a72b";
/// SHA-256 of another operation.
const OTHER_DIGEST: &str = "9bc5595dbf0236b37c901f2c6fcc03a2d0bd112d7504bf1720052be47374500c";
/// A question that nobody asked.
const NO_QUESTION: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV.3";
/// A trace that nobody began.
const NO_TRACE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
/// A session that nobody opened.
const NO_SESSION: &str = "0196bb7c-0000-7000-8000-0000000000ff";
