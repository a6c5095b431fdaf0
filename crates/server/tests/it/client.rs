//! A client of HTTP/1.1 as plain as can be: what goes over the wire is what a test writes.

use std::{
    fmt::Write as _,
    io::{self, BufRead as _, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

/// A request in the making.
#[derive(Clone)]
pub(crate) struct Call {
    way: Way,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

#[derive(Clone)]
enum Way {
    Tcp(SocketAddr),
    Socket(PathBuf),
}

/// A stream of either kind.
pub(crate) trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Call {
    pub(crate) fn tcp(port: u16, method: &str, path: &str) -> Self {
        let headers = vec![("Host".to_owned(), format!("localhost:{port}"))];
        let way = Way::Tcp((Ipv4Addr::LOCALHOST, port).into());
        Self { way, method: method.to_owned(), path: path.to_owned(), headers, body: None }
    }

    pub(crate) fn socket(folder: &Path, method: &str, path: &str) -> Self {
        let headers = vec![("Host".to_owned(), "demur".to_owned())];
        let way = Way::Socket(folder.to_owned());
        Self { way, method: method.to_owned(), path: path.to_owned(), headers, body: None }
    }

    /// Goes to another address of this machine; the names stay.
    pub(crate) fn to(mut self, address: IpAddr) -> Self {
        if let Way::Tcp(to) = &mut self.way {
            to.set_ip(address);
        }
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Sets a header; one that is there already is replaced.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set_path(&mut self, path: &str) {
        path.clone_into(&mut self.path);
    }

    pub(crate) fn set_method(&mut self, method: &str) {
        method.clone_into(&mut self.method);
    }

    pub(crate) fn json(self, document: &Value) -> Self {
        self.header("Content-Type", "application/json").body(document.to_string().as_bytes())
    }

    pub(crate) fn body(mut self, bytes: &[u8]) -> Self {
        self.body = Some(bytes.to_owned());
        self
    }

    /// Sends the request and reads the whole response.
    pub(crate) fn send(&self) -> Reply {
        self.try_send().unwrap_or_else(|error| panic!("{} {}: {error}", self.method, self.path))
    }

    pub(crate) fn try_send(&self) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        // Whoever refuses a long body may close before it has read everything.
        let written = stream.write_all(&self.bytes(true));
        match Reply::read(&mut BufReader::new(stream)) {
            Ok(reply) => Ok(reply),
            Err(error) => Err(written.err().unwrap_or(error)),
        }
    }

    /// Sends the request and returns the stream with the response still on it.
    pub(crate) fn open(&self) -> BufReader<Box<dyn Stream>> {
        let mut stream = self.connect().unwrap();
        stream.write_all(&self.bytes(true)).unwrap();
        BufReader::new(stream)
    }

    /// Returns the request as it goes over the wire.
    pub(crate) fn bytes(&self, close: bool) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if close {
            head.push_str("Connection: close\r\n");
        }
        let has_length = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if let Some(body) = self.body.as_ref().filter(|_| !has_length) {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(self.body.iter().flatten());
        bytes
    }

    pub(crate) fn connect(&self) -> io::Result<Box<dyn Stream>> {
        match &self.way {
            Way::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(LIMIT))?;
                stream.set_write_timeout(Some(LIMIT))?;
                Ok(Box::new(stream))
            }
            Way::Socket(folder) => {
                let stream = demur_server::socket::connect(folder)?;
                stream.set_read_timeout(Some(LIMIT))?;
                Ok(Box::new(stream))
            }
        }
    }
}

impl Reply {
    /// Reads one response.
    pub(crate) fn read(stream: &mut BufReader<impl Read>) -> io::Result<Self> {
        let (status, headers) = head(stream)?;
        let value = |name: &str| {
            let found = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        let mut body = Vec::new();
        if let Some(length) = value("content-length") {
            let length = length.parse::<u64>().map_err(io::Error::other)?;
            stream.take(length).read_to_end(&mut body)?;
            if (body.len() as u64) < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        } else if value("transfer-encoding").as_deref() == Some("chunked") {
            while let Some(part) = chunk(stream)? {
                body.extend(part);
            }
        }
        Ok(Self { status, headers, body })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the stable code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{problem}");
        problem["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Reads status and headers.
pub(crate) fn head(stream: &mut BufReader<impl Read>) -> io::Result<(u16, Vec<(String, String)>)> {
    let line = line(stream)?;
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status: {line:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = self::line(stream)?;
        match line.split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None if line.is_empty() => return Ok((status, headers)),
            None => return Err(io::Error::other(format!("no header: {line:?}"))),
        }
    }
}

/// Reads one part of a body in parts; none at its end.
pub(crate) fn chunk(stream: &mut BufReader<impl Read>) -> io::Result<Option<Vec<u8>>> {
    let length = usize::from_str_radix(&line(stream)?, 16).map_err(io::Error::other)?;
    let mut part = vec![0; length + 2];
    stream.read_exact(&mut part)?;
    part.truncate(length);
    Ok((length > 0).then_some(part))
}

fn line(stream: &mut BufReader<impl Read>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// No test waits longer for one byte.
const LIMIT: Duration = Duration::from_secs(30);

/// A body in parts, as it comes.
pub(crate) struct Body {
    stream: BufReader<Box<dyn Stream>>,
    part: Vec<u8>,
}

impl Body {
    pub(crate) const fn new(stream: BufReader<Box<dyn Stream>>) -> Self {
        Self { stream, part: Vec::new() }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.part.is_empty() {
            self.part = chunk(&mut self.stream)?.unwrap_or_default();
        }
        let length = self.part.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.part[..length]);
        self.part.drain(..length);
        Ok(length)
    }
}
