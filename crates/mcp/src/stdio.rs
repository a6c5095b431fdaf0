//! The door on standard input and output, or on any other pair of pipes.

mod line;
mod load;
mod pipes;

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rmcp::{
    ServerHandler as _, serve_server,
    service::{QuitReason, ServerInitializeError},
    transport::io::stdio_pipes,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    time,
};

use self::pipes::Pipes;
use crate::{
    door::Door, door_settings::DoorSettings, era::Announced, host::Host, ids::FromOne,
    pass::COURTESY_TIMEOUT, state::States,
};

/// Serves a client on standard input and output until it hangs up.
pub async fn serve(host: Arc<impl Host>, states: Arc<States>, settings: DoorSettings) -> io::Result<()> {
    let (reader, writer) = stdio_pipes();
    let (ending, ended) = watch::channel(false);
    let door = Door::new(host, states, DoorSettings { lasting: true, ..settings }, Arc::default(), ended);
    Box::pin(serve_pipes(door, ending, reader, writer)).await
}

/// Serves a client on a pair of pipes until it hangs up. `ending` is told as soon as it does, so that nothing waits for
/// an answer that nobody hears.
pub async fn serve_pipes<R, W>(
    door: Door<impl Host>,
    ending: watch::Sender<bool>,
    reader: R,
    writer: W,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let reader = Watched { reader, ending };
    let (versions, secrets) = (door.supported_protocol_versions().into_owned(), door.secrets());
    let transport = Pipes::new(reader, writer, versions);
    let running = match serve_server(Announced(door), FromOne(transport)).await {
        Ok(running) => running,
        // A client that goes before it said anything wants nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let ended = running.waiting().await;
    // Every reply is written by now, or never will be.
    let _ = time::timeout(COURTESY_TIMEOUT, secrets.settle()).await;
    match ended {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
        Ok(_) => Ok(()),
    }
}

/// A pipe that tells when its other side has hung up.
struct Watched<R> {
    reader: R,
    ending: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        let ended = match &polled {
            Poll::Ready(Ok(())) => buffer.remaining() > 0 && buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            self.ending.send_replace(true);
        }
        polled
    }
}
