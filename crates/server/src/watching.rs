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
    next: Pin<Box<dyn Future<Output = Step<T>> + Send>>,
    write: Write<T>,
}

/// The next thing to send, and the watch that the one after it comes from; none at the end.
type Step<T> = Option<(T, Watch)>;

/// Writes what a watch says; what it writes nothing for is passed over.
type Write<T> = fn(&Watch, News) -> Option<T>;

impl<T: Send + 'static> Watching<T> {
    /// Returns what a watch brings, as `write` writes it.
    pub(crate) fn new(watch: Watch, write: Write<T>) -> Self {
        Self { next: Box::pin(step(watch, write)), write }
    }
}

async fn step<T>(mut watch: Watch, write: Write<T>) -> Step<T> {
    loop {
        let news = watch.next().await.ok()?;
        if let Some(written) = write(&watch, news) {
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
