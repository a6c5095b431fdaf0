//! A watch over the desk as the body of a response: what is heard is written down when whoever reads is ready to take it.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use demur_desk::watch::{News, Watch};
use futures_core::Stream;

/// What one caller is sent; ends with the watch.
pub(crate) struct Watching<T> {
    next: Pin<Box<dyn Future<Output = Option<(T, Watch)>> + Send>>,
    write: fn(News) -> Option<T>,
}

impl<T: Send + 'static> Watching<T> {
    /// Returns what a watch brings, written by `write`; what it writes nothing for is passed over.
    pub(crate) fn new(watch: Watch, write: fn(News) -> Option<T>) -> Self {
        Self { next: Box::pin(step(watch, write)), write }
    }
}

/// Returns the next thing to send, and the watch that the one after it comes from; none at the end.
async fn step<T>(mut watch: Watch, write: fn(News) -> Option<T>) -> Option<(T, Watch)> {
    loop {
        if let Some(written) = write(watch.next().await.ok()?) {
            return Some((written, watch));
        }
    }
}

impl<T: Send + 'static> Stream for Watching<T> {
    type Item = Result<T, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let done = std::task::ready!(self.next.as_mut().poll(context));
        Poll::Ready(done.map(|(written, watch)| {
            let write = self.write;
            self.next = Box::pin(step(watch, write));
            Ok(written)
        }))
    }
}
