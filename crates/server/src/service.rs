//! What every request works with.

use std::sync::Arc;

use demur_api::refusal::Refusal;
use demur_desk::desk::Desk;
use tokio::sync::watch;

use crate::{
    body_room::BodyRoom, limits::Limits, metrics::Metrics, peer_timeouts::PeerTimeouts, problem::Problem,
    socket::OwnSocket,
};

/// The server, as its routes see it.
pub struct Service {
    pub(crate) desk: Arc<Desk>,
    pub(crate) limits: Limits,
    /// What others send.
    pub(crate) bodies: Arc<BodyRoom>,
    /// What the user of this machine sends.
    pub(crate) own_bodies: Arc<BodyRoom>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) socket: Arc<OwnSocket>,
    timeouts: PeerTimeouts,
}

/// What routes are given.
pub type Shared = Arc<Service>;

impl Service {
    /// Returns the service of a desk.
    pub fn new(
        desk: Arc<Desk>,
        metrics: Arc<Metrics>,
        socket: Arc<OwnSocket>,
        timeouts: PeerTimeouts,
    ) -> Self {
        let room = || BodyRoom::new((desk.limits().body_mebibytes as usize) << 20);
        let (bodies, own_bodies) = (room(), room());
        Self { desk, limits: Limits::default(), bodies, own_bodies, metrics, socket, timeouts }
    }

    /// Does work in the data folder, on a thread that may wait for the disk.
    pub async fn work<T, F>(&self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Desk) -> Result<T, Refusal> + Send + 'static,
    {
        Ok(self.desk.on_worker(work).await?)
    }

    /// Returns how long the other side of a connection may take.
    pub const fn timeouts(&self) -> PeerTimeouts {
        self.timeouts
    }

    /// Returns where the server listens on TCP, if it does.
    pub fn address(&self) -> Option<String> {
        self.desk.address()
    }

    /// Returns where its pages are, if there are any.
    pub fn pages(&self) -> Option<String> {
        self.desk.pages()
    }

    /// Returns the port that it waits for, if it does.
    pub fn waits_for_port(&self) -> Option<u16> {
        self.desk.waits_for_port()
    }
}

/// Waits until the server ends.
pub async fn over(ending: &mut watch::Receiver<bool>) {
    // Without a sender there is no server.
    let _ = ending.wait_for(|ending| *ending).await;
}
