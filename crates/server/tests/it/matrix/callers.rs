//! Every kind of caller.

use super::seed::Seed;
use crate::{browser::origin, client::Call, server::Server};

/// How a caller says who it is.
pub(super) enum Credential {
    /// The user of the machine, over the socket.
    Local,
    /// The same, through a client that says its name.
    Client,
    /// A token.
    Bearer(String),
    /// A browser that signed in, with what its forms carry.
    Cookie { secret: String, key: String },
    /// Nothing.
    Nothing,
}

/// The kinds, in the order in which the golden files name them. The owner asked, submitted and opened what the seed has; the
/// player is the executor of its runs.
pub(super) const KINDS: [&str; 17] = [
    "local",
    "local client",
    "ask, owner",
    "ask, other",
    "ask, player",
    "answer",
    "relay",
    "read",
    "metrics",
    "ask+relay, owner",
    "ask+relay, other",
    "operator",
    "answerer",
    "auditor",
    "expired",
    "revoked",
    "nobody",
];

/// The name of the client of the machine.
pub(super) const CLIENT: &str = "helper";

impl Credential {
    /// Returns a call of this caller.
    pub(super) fn call(&self, server: &Server, method: &str, path: &str) -> Call {
        match self {
            Self::Local => server.local(method, path),
            Self::Client => server.local(method, path).header("demur-relay", CLIENT),
            Self::Bearer(secret) => server.call(method, path).token(secret),
            Self::Cookie { secret, key } => {
                let cookie = format!("demur_session_{}={secret}", server.port());
                let call =
                    server.page(method, path).header("Cookie", &cookie).header("Origin", &origin(server));
                call.header("demur-form-key", key)
            }
            Self::Nothing => server.call(method, path),
        }
    }
}

/// Returns how many requests of a caller go to one server: whoever comes with bad credentials is held up after twenty.
pub(super) fn most_per_server(kind: &str) -> usize {
    if matches!(kind, "expired" | "revoked") { 18 } else { usize::MAX }
}

/// Returns the key that the forms of a caller carry.
pub(super) fn form_key(seed: &Seed, kind: &str) -> String {
    seed.form_keys.get(kind).cloned().unwrap_or_else(|| "0".repeat(32))
}
