//! Messages over a pair of pipes, one a line. Whatever comes in that is no message gets its error, and the connection goes
//! on: the library's own transport drops such lines without a word, and the client waits for ever.

use std::{io, time::Duration};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, ServerJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc::{self, Receiver, Sender},
    task::JoinHandle,
    time,
};

use super::{
    line::{Line, Lines, MAX_MESSAGE_BYTES},
    load::{UnderWay, Unread, Unwritten},
};
use crate::fault::{self, Fault};

/// A pair of pipes.
pub(super) struct Pipes<R> {
    lines: Lines<R>,
    out: Option<Sender<Unwritten>>,
    writer: JoinHandle<()>,
    /// An error that is still to be sent: a wait that is broken off must not lose it.
    owed: Option<Unwritten>,
    under_way: UnderWay,
    unread: Unread,
    /// Whether a request has come that opens the connection.
    is_open: bool,
    versions: Vec<ProtocolVersion>,
}

impl<R: AsyncRead + Send + Unpin> Pipes<R> {
    /// Returns the transport over these pipes, for a server that speaks these versions of the protocol.
    pub(super) fn new<W>(reader: R, writer: W, versions: Vec<ProtocolVersion>) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (out, lines) = mpsc::channel(MAX_WAITING_LINES);
        let writer = tokio::spawn(write(writer, lines));
        Self {
            lines: Lines::new(reader),
            out: Some(out),
            writer,
            owed: None,
            under_way: UnderWay::default(),
            unread: Unread::new(),
            is_open: false,
            versions,
        }
    }

    /// Returns the message on a line, if it has one for the server. What is wrong with it is owed to the client.
    fn read(&mut self, line: &Line) -> Option<ClientJsonRpcMessage> {
        self.take(line).unwrap_or_else(|fault| {
            tracing::debug!(%fault, "a line of the client is not taken");
            self.owed = Some(self.unread.add(encode(&fault.reply()), None));
            None
        })
    }

    fn take(&mut self, line: &Line) -> Result<Option<ClientJsonRpcMessage>, Fault> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(beginning) => return Err(Fault::too_long(beginning, MAX_MESSAGE_BYTES)),
        };
        let mut message = fault::read(line)?.filter(|message| self.is_expected(message));
        message.iter_mut().try_for_each(|message| self.under_way.receive(message, line.len()))?;
        Ok(message)
    }

    /// Returns whether the library takes a message: until a request has opened the connection, anything else would end it.
    fn is_expected(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let ClientJsonRpcMessage::Request(request) = message else { return self.is_open };
        self.is_open |= match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => {
                let meta = other.get_meta();
                meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                    && meta.protocol_version().is_some_and(|version| self.versions.contains(&version))
            }
        };
        true
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Pipes<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let writer = self.under_way.send(&message);
        let line = self.unread.add(encode(&message), writer);
        let out = self.out.clone();
        async move {
            let sent = match out {
                Some(out) => out.send(line).await.is_ok(),
                None => false,
            };
            if sent { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Where nobody reads, nothing more is read either.
            self.unread.room().await;
            if self.owed.is_some() {
                let room = self.out.as_ref()?.reserve().await.ok()?;
                if let Some(owed) = self.owed.take() {
                    room.send(owed);
                }
            }
            let line = self.lines.next().await?;
            if let Some(message) = self.read(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.out = None;
        // A client that is gone may have left its pipe open without reading from it.
        if time::timeout(LAST_LINES_TIMEOUT, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
        Ok(())
    }
}

/// Writes one line after another, until there are no more or nobody reads them.
async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut lines: Receiver<Unwritten>) {
    while let Some(line) = lines.recv().await {
        let written = match writer.write_all(line.as_bytes()).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::debug!(%error, "the client does not read");
            return;
        }
        line.finish();
    }
}

fn encode(message: &impl Serialize) -> Vec<u8> {
    // Unwrap safety: messages are documents with texts as keys, and memory does not fail.
    let mut line = serde_json::to_vec(message).expect("a message is JSON");
    line.push(b'\n');
    line
}

/// How many lines wait for a client that is slow to read.
const MAX_WAITING_LINES: usize = 4096;
/// How long the last lines may take.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(2);
