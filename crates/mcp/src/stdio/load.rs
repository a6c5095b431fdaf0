//! How much a client makes the server keep: requests without a reply, and replies that it has not read. Both have a
//! bound, or a client that only writes would fill the memory.

use std::{collections::HashMap, sync::Arc};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use tokio::sync::watch;

use crate::{fault::Fault, written::ReplyWriter};

/// The requests that have no reply yet.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<RequestId, Unanswered>);

/// A request that has no reply yet.
#[derive(Debug)]
struct Unanswered {
    bytes: usize,
    writer: ReplyWriter,
}

impl UnderWay {
    /// Notes what a client sends: a request is under way, and one that is taken back gets no reply.
    pub(super) fn receive(&mut self, message: &mut ClientJsonRpcMessage, bytes: usize) -> Result<(), Fault> {
        match message {
            JsonRpcMessage::Request(request) => {
                let (writer, written) = ReplyWriter::new();
                self.begin(&request.id, Unanswered { bytes, writer })?;
                request.request.extensions_mut().insert(written);
                Ok(())
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    cancelled.params.request_id.iter().for_each(|id| drop(self.end(id)));
                }
                Ok(())
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(()),
        }
    }

    /// Notes what the server sends: a request with a reply is over. Returns what wants to know when it is written.
    pub(super) fn send(&mut self, message: &ServerJsonRpcMessage) -> Option<ReplyWriter> {
        match message {
            JsonRpcMessage::Response(response) => self.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| self.end(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        }
    }

    fn begin(&mut self, id: &RequestId, request: Unanswered) -> Result<(), Fault> {
        if self.0.contains_key(id) {
            return Err(Fault::under_way(id));
        }
        let bytes = self.0.values().map(|other| other.bytes).sum::<usize>() + request.bytes;
        let is_full = self.0.len() >= MAX_REQUESTS || bytes > MAX_REQUEST_BYTES;
        if is_full {
            return Err(Fault::too_many(id, MAX_REQUESTS, MAX_REQUEST_BYTES));
        }
        self.0.insert(id.clone(), request);
        Ok(())
    }

    fn end(&mut self, id: &RequestId) -> Option<ReplyWriter> {
        self.0.remove(id).map(|request| request.writer)
    }
}

/// How many bytes wait for the client to read them.
#[derive(Clone, Debug)]
pub(super) struct Unread(Arc<watch::Sender<usize>>);

impl Unread {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Adds a line, which counts until it is dropped: written, or not to be written any more.
    /// Whoever waits for it is told once it is written.
    pub(super) fn add(&self, bytes: Vec<u8>, writer: Option<ReplyWriter>) -> Unwritten {
        self.0.send_modify(|unread| *unread += bytes.len());
        Unwritten { bytes, unread: self.clone(), writer }
    }

    /// Waits until the client has read enough that more may be asked of the server.
    pub(super) async fn room(&self) {
        // The sender is here, so that it cannot be gone.
        let _ = self.0.subscribe().wait_for(|unread| *unread <= MAX_UNREAD_BYTES).await;
    }
}

/// A line that is to be written.
#[derive(Debug)]
pub(super) struct Unwritten {
    bytes: Vec<u8>,
    unread: Unread,
    writer: Option<ReplyWriter>,
}

impl Unwritten {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Says that it was written.
    pub(super) fn finish(mut self) {
        if let Some(writer) = self.writer.take() {
            writer.finish();
        }
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.unread.0.send_modify(|unread| *unread -= self.bytes.len());
    }
}

/// How many requests are under way at once: more than there may be calls of tools.
const MAX_REQUESTS: usize = 1024;
/// How long they are, all together.
const MAX_REQUEST_BYTES: usize = 64 << 20;
/// How many bytes wait for the client before nothing more is read from it.
const MAX_UNREAD_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn code(under_way: &mut UnderWay, message: Value, bytes: usize) -> Option<Value> {
        let mut message = serde_json::from_value(message).unwrap();
        under_way.receive(&mut message, bytes).err().map(|fault| fault.reply()["error"]["code"].clone())
    }

    fn ping(id: usize) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    #[test]
    fn request_over_the_bound_is_refused_until_another_is_replied_to_or_taken_back() {
        let mut under_way = UnderWay::default();
        for id in 0..MAX_REQUESTS {
            assert_eq!(code(&mut under_way, ping(id), 50), None);
        }
        assert_eq!(code(&mut under_way, ping(MAX_REQUESTS), 50), Some(json!(-32000)));
        let reply = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
        assert!(under_way.send(&serde_json::from_value(reply).unwrap()).is_some());
        assert_eq!(code(&mut under_way, ping(MAX_REQUESTS), 50), None);
        let params = json!({"requestId": 8});
        let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(code(&mut under_way, back, 50), None);
        assert_eq!(code(&mut under_way, ping(MAX_REQUESTS + 1), 50), None);
        assert_eq!(code(&mut under_way, ping(MAX_REQUESTS + 2), 50), Some(json!(-32000)));
    }

    #[test]
    fn long_requests_are_bounded_together() {
        let mut under_way = UnderWay::default();
        assert_eq!(code(&mut under_way, ping(1), MAX_REQUEST_BYTES), None);
        assert_eq!(code(&mut under_way, ping(2), 1), Some(json!(-32000)));
    }
}
