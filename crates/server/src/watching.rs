//! A watch over the desk as the body of a response: what is heard is written down when whoever reads is ready to take it.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use demur_desk::watch::{News, Watch};
use futures_core::Stream;

/// Returns what one caller is sent; ends with the watch. What `write` writes nothing for is passed over.
pub(crate) fn watching<T: Send + 'static>(
    watch: Watch,
    write: fn(&Watch, News) -> Option<T>,
) -> impl Stream<Item = Result<T, Infallible>> + Send {
    Unfolded::new(watch, move |watch| step(watch, write))
}

async fn step<T>(mut watch: Watch, write: fn(&Watch, News) -> Option<T>) -> Option<(T, Watch)> {
    loop {
        let news = watch.next().await.ok()?;
        if let Some(written) = write(&watch, news) {
            return Some((written, watch));
        }
    }
}

/// One thing after another, each made when whoever reads is ready to take it; ends where there is none any more.
pub(crate) struct Unfolded<S, T, F> {
    next: Next<S, T>,
    step: F,
}

/// The next thing, and what the one after it comes from.
type Next<S, T> = Pin<Box<dyn Future<Output = Option<(T, S)>> + Send>>;

impl<S, T, F, N> Unfolded<S, T, F>
where
    F: Fn(S) -> N,
    N: Future<Output = Option<(T, S)>> + Send + 'static,
{
    /// Returns what `step` brings, from this beginning on.
    pub(crate) fn new(first: S, step: F) -> Self {
        Self { next: Box::pin(step(first)), step }
    }
}

impl<S, T, F, N> Stream for Unfolded<S, T, F>
where
    F: Fn(S) -> N + Unpin,
    N: Future<Output = Option<(T, S)>> + Send + 'static,
{
    type Item = Result<T, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let done = std::task::ready!(self.next.as_mut().poll(context));
        Poll::Ready(done.map(|(item, rest)| {
            self.next = Box::pin((self.step)(rest));
            Ok(item)
        }))
    }
}
