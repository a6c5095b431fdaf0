//! A reply that says when its last byte went to the connection. One that is dropped before was not written.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use demur_mcp::written::ReplyWriter;
use hyper::body::{Frame, SizeHint};

/// The body of a reply.
pub(super) struct WatchedBody {
    body: Body,
    /// None once it was told.
    writer: Option<ReplyWriter>,
}

impl WatchedBody {
    pub(super) const fn new(body: Body, writer: ReplyWriter) -> Self {
        Self { body, writer: Some(writer) }
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let is_over = match &polled {
            Poll::Ready(None) => true,
            // The connection asks for nothing after a frame that is known to be the last.
            Poll::Ready(Some(Ok(_))) => self.body.is_end_stream(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_over && let Some(writer) = self.writer.take() {
            writer.finish();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn reply_is_written_with_its_last_byte_and_not_before() {
        let (writer, written) = ReplyWriter::new();
        let body = WatchedBody::new(Body::from("the secret"), writer);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "the secret");
        assert!(written.is_written().await);
        let (writer, written) = ReplyWriter::new();
        drop(WatchedBody::new(Body::from("the secret"), writer));
        assert!(!written.is_written().await, "nobody took a byte");
    }
}
