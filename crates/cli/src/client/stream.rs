//! The live feed, followed line by line; after a broken connection from where it broke.

use std::time::Duration;

use demur_api::feed::Notice;
use demur_store::contract::Cursor;
use http_body_util::BodyExt as _;
use hyper::{Response, body::Incoming};

use super::{Client, SocketRequest, Unanswered};
use crate::failure::Failure;

/// A feed that is followed.
pub(crate) struct Follow<'a> {
    client: &'a Client,
    last: Option<Cursor>,
    response: Option<Response<Incoming>>,
    buffer: Vec<u8>,
}

impl<'a> Follow<'a> {
    /// Returns the feed after an event, or from now on.
    pub(crate) const fn new(client: &'a Client, after: Option<Cursor>) -> Self {
        Self { client, last: after, response: None, buffer: Vec::new() }
    }

    /// Makes sure that nothing from now on is missed.
    pub(crate) fn connect(&mut self) -> Result<(), Failure> {
        while self.response.is_none() {
            let path =
                self.last.map_or_else(|| "/v1/feed".to_owned(), |last| format!("/v1/feed?after={last}"));
            let call = SocketRequest::get(&path)?;
            match self.client.open_stream(&call) {
                Ok(response) => self.response = Some(response),
                Err(Unanswered::Lost(_)) => std::thread::sleep(RETRY_INTERVAL),
                Err(Unanswered::Refused(refusal)) if refusal.code.is_away() => {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                Err(Unanswered::NoServer) => self.client.runtime.block_on(self.client.api.start())?,
                Err(Unanswered::Refused(refusal)) => return Err(refusal.into()),
            }
        }
        Ok(())
    }

    /// Returns the next notice, however long that takes.
    pub(crate) fn next(&mut self) -> Result<Notice, Failure> {
        loop {
            if let Some(notice) = self.take() {
                return Ok(notice);
            }
            self.connect()?;
            let Some(response) = &mut self.response else { continue };
            let frame = self.client.runtime.block_on(response.body_mut().frame());
            if let Some(Ok(frame)) = frame {
                self.buffer.extend(frame.data_ref().into_iter().flatten());
            } else {
                // What was half told is told again.
                self.response = None;
                self.buffer.clear();
            }
        }
    }

    /// Takes the next whole event out of what has arrived.
    fn take(&mut self) -> Option<Notice> {
        while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let text = String::from_utf8_lossy(&event);
            let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if let Some(id) = field("id:").and_then(|id| id.parse().ok()) {
                self.last = Some(id);
            }
            if let Some(notice) = field("data:").and_then(|data| serde_json::from_str(data).ok()) {
                return Some(notice);
            }
        }
        None
    }
}

/// How long to wait for a server that is away.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
