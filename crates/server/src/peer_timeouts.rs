//! How long the server waits for the other side of a connection.

use std::time::Duration;

/// How long the other side may take.
#[derive(Clone, Copy, Debug)]
pub struct PeerTimeouts {
    /// For the head of a request; an idle connection may stay as long.
    pub head: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// To take anything of a response.
    pub write: Duration,
}

impl Default for PeerTimeouts {
    fn default() -> Self {
        Self { head: PEER_TIMEOUT, body: PEER_TIMEOUT, write: PEER_TIMEOUT }
    }
}

const PEER_TIMEOUT: Duration = Duration::from_secs(30);
