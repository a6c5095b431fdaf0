//! HTTP by hand: one request, one connection, over TCP or the Unix socket.

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A way to the server.
#[derive(Clone)]
pub(crate) enum Wire {
    Tcp {
        address: String,
        token: String,
    },
    Socket(PathBuf),
    /// Over the socket, as the bridge of an MCP client does.
    Bridge(PathBuf),
}

impl Wire {
    pub(crate) fn tcp(address: &str, token: String) -> Self {
        Self::Tcp { address: address.replace("localhost", "127.0.0.1"), token }
    }

    pub(crate) fn socket(data: &Path) -> Self {
        Self::Socket(data.join("socket"))
    }

    pub(crate) fn bridge(data: &Path) -> Self {
        Self::Bridge(data.join("socket"))
    }

    /// Returns the document of a request that goes well.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.call("GET", path, &[]).unwrap_or_else(|problem| panic!("{path}: {problem}"))
    }

    /// Returns the document that comes back, or the problem.
    pub(crate) fn post(&self, path: &str, document: &Value) -> Result<Value, Value> {
        self.call("POST", path, document.to_string().as_bytes())
    }

    fn call(&self, method: &str, path: &str, body: &[u8]) -> Result<Value, Value> {
        let (mut stream, host, token): (Box<dyn Stream>, &str, String) = match self {
            Self::Tcp { address, token } => {
                let stream = TcpStream::connect(address).unwrap();
                (Box::new(stream), address, format!("Authorization: Bearer {token}\r\n"))
            }
            Self::Socket(path) => (Box::new(UnixStream::connect(path).unwrap()), "localhost", String::new()),
            Self::Bridge(path) => {
                let stream = UnixStream::connect(path).unwrap();
                (Box::new(stream), "localhost", "demur-relay: desktop\r\n".to_owned())
            }
        };
        let kind = if body.is_empty() { "" } else { ACCEPT };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{token}{kind}Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let reply = String::from_utf8(reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {reply:?}"));
        let document = if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap() };
        let is_good = head.starts_with("HTTP/1.1 2");
        if is_good { Ok(document) } else { Err(document) }
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// What comes with a document; MCP clients want both kinds of replies.
const ACCEPT: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
     Mcp-Method: tools/call\r\nMcp-Name: ask_human\r\n";
