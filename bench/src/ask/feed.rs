//! The feed, as somebody hears it who answers.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;

use super::load::Connection;

/// An open feed.
pub(super) struct Feed {
    body: Incoming,
    text: String,
}

impl Feed {
    /// Follows the feed. Returns once the server has said where it begins: whatever is asked from then on is heard of, and
    /// before then it would not be.
    pub(super) async fn open(address: SocketAddr, token: String) -> Result<Self> {
        let body = Connection::open(address, Some(token)).await?.open_feed().await?;
        let mut feed = Self { body, text: String::new() };
        while let Some(line) = feed.line().await? {
            if line.trim_end() == "event: begin" {
                return Ok(feed);
            }
        }
        bail!("the feed ended before it began")
    }

    /// Returns the next question that is asked, or nothing once the feed has ended.
    pub(super) async fn question(&mut self) -> Result<Option<String>> {
        while let Some(line) = self.line().await? {
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let notice: Value = serde_json::from_str(data)?;
            if notice["type"] == "question_asked" {
                let question = notice["questions"][0].as_str().context("a question without an id")?;
                return Ok(Some(question.to_owned()));
            }
        }
        Ok(None)
    }

    async fn line(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(end) = self.text.find('\n') {
                return Ok(Some(self.text.drain(..=end).collect()));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            self.text.push_str(std::str::from_utf8(frame?.data_ref().map_or(&b""[..], |data| &data[..]))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::ask::load;

    /// Returns what is heard of a feed that sends this text: the questions, or why it did not open.
    fn heard(text: &'static str) -> Result<Vec<String>> {
        load::runtime()?.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await?;
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    asked.push(stream.read_u8().await?);
                }
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(text.as_bytes()).await
            });
            let mut feed = Feed::open(address, "token".to_owned()).await?;
            let mut questions = Vec::new();
            while let Some(question) = feed.question().await? {
                questions.push(question);
            }
            Ok(questions)
        })
    }

    #[test]
    fn feed_is_open_only_once_the_server_says_that_it_begins() {
        assert!(heard("").is_err());
        assert!(heard(": nothing yet\n\n").is_err());
        assert_eq!(heard("id: 7\nevent: begin\ndata: {}\n\n").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_question_after_the_beginning_is_heard_of() {
        let text = "event: begin\ndata: {}\n\n\
            event: question_asked\ndata: {\"type\":\"question_asked\",\"questions\":[\"a\"]}\n\n\
            event: answered\ndata: {\"type\":\"question_answered\",\"questions\":[\"a\"]}\n\n\
            event: question_asked\ndata: {\"type\":\"question_asked\",\"questions\":[\"b\"]}\n\n";
        assert_eq!(heard(text).unwrap(), ["a", "b"]);
    }
}
