//! Whether the reply to a request was written. Only the transport knows: what a client is told once is forgotten only then.

use tokio::sync::watch;

/// The transport's end. Dropped without a word, it means that the reply was not written.
#[derive(Debug)]
pub struct ReplyWriter(watch::Sender<bool>);

impl ReplyWriter {
    /// Returns both ends, for one request.
    pub fn new() -> (Self, ReplyWritten) {
        let (writer, written) = watch::channel(false);
        (Self(writer), ReplyWritten(written))
    }

    /// Says that the reply was written.
    pub fn finish(self) {
        self.0.send_replace(true);
    }
}

/// The end of the one who replies.
#[derive(Clone, Debug)]
pub struct ReplyWritten(watch::Receiver<bool>);

impl ReplyWritten {
    /// Waits for the transport, and returns whether it wrote the reply.
    pub async fn is_written(mut self) -> bool {
        self.0.wait_for(|written| *written).await.is_ok()
    }
}
