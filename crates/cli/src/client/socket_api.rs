//! Every operation over the socket, for callers that have a runtime of their own.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use demur_api::{
    call::{self, ApiReply, ApiRequest},
    code::Code,
    operation::{ApiDocument as _, Operation},
    refusal::Refusal,
};
use demur_desk::{data::DataFolder, error, visible::shell_word};
use demur_server::{credentials::socket::PROTOCOL_HEADER, socket};
use http_body_util::BodyExt as _;
use hyper::{Method, Response, StatusCode, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustix::process::geteuid;
use tokio::{net::UnixStream, task, time};

use super::{FolderUser, RETRY_INTERVAL, SocketRequest, Unanswered, check_protocol, lost, start, whole};

/// The operations of the server of a data folder, over its socket.
#[derive(Clone)]
pub(crate) struct SocketApi {
    data: DataFolder,
    /// Whether a server may be started.
    starts: bool,
    /// After how long without a reply it is looked whether the server still lives.
    answer_timeout: Duration,
}

impl SocketApi {
    /// Returns the operations of the server of this folder.
    pub(crate) const fn new(data: DataFolder, starts: bool) -> Self {
        Self { data, starts, answer_timeout: ANSWER_TIMEOUT }
    }

    /// Returns where the folder is.
    pub(crate) fn folder(&self) -> &Path {
        self.data.path()
    }

    /// Sends a request and returns the bytes that come back, if they are no more than this.
    pub(crate) async fn send_within(
        &self,
        call: &SocketRequest,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let mut body = self.opened(call).await?.into_body();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| lost(&error.to_string()))?;
            bytes.extend(frame.data_ref().into_iter().flatten());
            if bytes.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    /// Sends the request for an operation, and returns its reply.
    pub(crate) async fn perform<O: Operation>(
        &self,
        call: &SocketRequest,
    ) -> Result<ApiReply<O::Output>, Refusal> {
        let response = self.send(call).await?;
        let text: &[u8] = if O::Output::is_nothing() { b"{}" } else { response.body() };
        let document = serde_json::from_slice(text).map_err(|error| Refusal::bug(&error))?;
        // An operation with two statuses answers 201 the first time, and 200 when it was done before.
        let repeated = O::ABOUT.statuses.len() > 1 && response.status() != StatusCode::CREATED;
        Ok(ApiReply { document, repeated })
    }

    /// Sends a request, and returns the whole response. A server that ends meanwhile is replaced, and the request is sent again
    /// unless it says that it is sent once.
    pub(crate) async fn send(&self, call: &SocketRequest) -> Result<Response<Bytes>, Refusal> {
        let begun = Instant::now();
        loop {
            let exchanged = async {
                let response = self.open(call).await?;
                whole(response).await.map_err(Unanswered::Lost)
            };
            match self.while_alive(call, exchanged).await? {
                Ok(exchanged) => return Ok(exchanged),
                Err(unanswered) => self.before_retry(call, unanswered, begun).await?,
            }
        }
    }

    /// Sends a request, and returns a response of which nothing was read yet.
    pub(super) async fn opened(&self, call: &SocketRequest) -> Result<Response<Incoming>, Refusal> {
        let begun = Instant::now();
        loop {
            match self.while_alive(call, self.open(call)).await? {
                Ok(response) => return Ok(response),
                Err(unanswered) => self.before_retry(call, unanswered, begun).await?,
            }
        }
    }

    /// Waits for a reply, however long the work for it takes, unless the server does not even say that it lives. A reply that
    /// comes when something happens is waited for in any case.
    async fn while_alive<T>(
        &self,
        call: &SocketRequest,
        reply: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        let mut reply = std::pin::pin!(reply);
        loop {
            if let Ok(reply) = time::timeout(self.answer_timeout, &mut reply).await {
                return Ok(reply);
            }
            if !call.waits && !self.is_alive().await {
                return Err(self.silent(call));
            }
        }
    }

    /// Returns whether the server says that it lives. It needs no thread and no disk for that.
    async fn is_alive(&self) -> bool {
        let Ok(call) = SocketRequest::get("/healthz") else { return true };
        let call = call.of_any_version();
        // One that is gone breaks the connection on which the reply is waited for.
        time::timeout(LIFE_TIMEOUT, self.open(&call)).await.is_ok()
    }

    /// Returns once a request can be sent again, with a server started where none runs, or says why it cannot.
    async fn before_retry(
        &self,
        call: &SocketRequest,
        unanswered: Unanswered,
        begun: Instant,
    ) -> Result<(), Refusal> {
        let problem = match unanswered {
            Unanswered::Refused(refusal) if refusal.code.is_away() => refusal,
            Unanswered::Refused(refusal) => return Err(refusal),
            Unanswered::NoServer if !self.starts => match self.server_without_socket() {
                Some(error) if begun.elapsed() < SOCKET_RETURN_TIMEOUT => error,
                Some(error) => return Err(error),
                None => return Err(self.no_server()),
            },
            Unanswered::NoServer => {
                self.start().await?;
                lost("it ended as soon as it began")
            }
            Unanswered::Lost(error) if call.again => lost(&error),
            Unanswered::Lost(error) => return Err(lost(&error)),
        };
        if begun.elapsed() > call.patience {
            return Err(problem);
        }
        time::sleep(RETRY_INTERVAL).await;
        Ok(())
    }

    /// Makes sure that a server answers. One is started only where nobody else uses the data folder.
    pub(super) async fn reach(&self) -> Result<(), Refusal> {
        match self.connect() {
            Ok(_) => Ok(()),
            Err(Unanswered::NoServer) => {
                let data = self.data.clone();
                let started = task::spawn_blocking(move || start::start_if_free(&data)).await;
                started.map_err(|error| Refusal::bug(&error))?
            }
            Err(Unanswered::Refused(refusal)) => Err(refusal),
            Err(Unanswered::Lost(error)) => Err(lost(&error)),
        }
    }

    /// Starts a server and waits until it answers.
    pub(super) async fn start(&self) -> Result<(), Refusal> {
        let data = self.data.clone();
        task::spawn_blocking(move || start::start(&data)).await.map_err(|error| Refusal::bug(&error))?
    }

    /// Sends a request over a connection of its own, and returns a response of which nothing was read yet. A refusal comes as a
    /// response only where a server of any version was asked.
    pub(super) async fn open(&self, call: &SocketRequest) -> Result<Response<Incoming>, Unanswered> {
        let stream = self.connect()?;
        let lost = |error: hyper::Error| Unanswered::Lost(error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        tokio::spawn(async move {
            // An error of the connection shows in the response.
            let _ = connection.await;
        });
        let response = sender.send_request(call.request.clone()).await.map_err(lost)?;
        if !call.request.headers().contains_key(PROTOCOL_HEADER) {
            return Ok(response);
        }
        check_protocol(&response)?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(Unanswered::of(&whole(response).await.map_err(Unanswered::Lost)?))
    }

    fn connect(&self) -> Result<UnixStream, Unanswered> {
        let stream = socket::connect(self.data.path()).map_err(|error| self.unreachable(&error))?;
        let connected = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
        let stream = connected.map_err(|error| Unanswered::Lost(error.to_string()))?;
        // It would not listen to this user, and this user has no reason to believe it.
        if stream.peer_cred().is_ok_and(|server| server.uid() != geteuid().as_raw()) {
            let folder = demur_desk::visible::visible_path(self.data.path());
            let message = format!("expected a server of your own for {folder}, found one of another user");
            let refusal = Refusal::new(Code::Forbidden, message);
            return Err(Unanswered::Refused(refusal.with_cure("--data names another data folder")));
        }
        Ok(stream)
    }

    fn unreachable(&self, error: &io::Error) -> Unanswered {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Unanswered::NoServer,
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory => {
                let error = error::file("use", self.data.path(), error);
                Unanswered::Refused(
                    error.with_cure("name another data folder with --data; `demur doctor` looks at it"),
                )
            }
            _ => Unanswered::Lost(error.to_string()),
        }
    }

    /// Returns what to say about a server that runs and that nobody reaches, if there is one.
    fn server_without_socket(&self) -> Option<Refusal> {
        let server = FolderUser::server(self.data.path())?;
        Some(unreachable_server(self.data.path(), server.process))
    }

    /// Returns what to say about a server that does not answer.
    fn silent(&self, call: &SocketRequest) -> Refusal {
        let Some(refusal) = self.server_without_socket() else { return self.no_server() };
        if call.request.method() == Method::GET {
            return refusal;
        }
        let message = format!("{}; whether this was recorded is not known", refusal.message);
        Refusal { message, ..refusal }
    }

    pub(super) fn no_server(&self) -> Refusal {
        let folder = demur_desk::visible::visible_path(self.data.path());
        Refusal::new(Code::NoServer, format!("no server runs for {folder}"))
            .with_cure("--data names another data folder")
    }
}

impl<O: Operation> call::Call<O> for SocketApi {
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        self.perform::<O>(&SocketRequest::of(&request)?).await
    }
}

/// Returns the error of a server whose socket file is gone and does not come back.
pub(super) fn unreachable_server(folder: &Path, process: u32) -> Refusal {
    let socket = demur_desk::visible::visible_path(&socket::path(folder));
    let message = format!(
        "expected an answer of the server, process {process}, found none: nothing answers at {socket}"
    );
    Refusal::new(Code::ServerSilent, message).with_cure(how_to_kill(folder))
}

/// Returns what to do about a server that nobody reaches.
pub(crate) fn how_to_kill(folder: &Path) -> String {
    let stop = typed_for(folder, "stop --force");
    format!("`{stop}` ends it, and nothing that was recorded is lost; the next command starts another")
}

/// Returns a command of demur as it is typed for this folder.
pub(crate) fn typed_for(folder: &Path, command: &str) -> String {
    let unnamed = DataFolder::locate(None).is_ok_and(|usual| usual.path() == folder);
    if unnamed {
        format!("demur {command}")
    } else {
        format!("demur --data {} {command}", shell_word(folder))
    }
}

/// How long a server may take to put a socket file back that somebody deleted.
const SOCKET_RETURN_TIMEOUT: Duration = Duration::from_secs(5);

/// After how long without a reply it is looked whether the server still lives.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may take to say that it lives.
const LIFE_TIMEOUT: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        os::unix::net::UnixListener,
        thread,
    };

    use demur_api::{
        operation::{CheckStore, Connection, NoArguments, Nothing},
        server::PROTOCOL,
    };

    use super::*;

    #[test]
    fn socket_is_a_way_to_every_operation() {
        const fn is_connection<T: Connection>() {}
        is_connection::<SocketApi>();
    }

    /// A server that is asked twice whether it lives before it is done with its work.
    fn slow(listener: &UnixListener) {
        let reply = |body: &str| {
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\n{PROTOCOL_HEADER}: {PROTOCOL}\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        };
        let (mut working, _) = listener.accept().unwrap();
        for _ in 0..2 {
            let (mut asked, _) = listener.accept().unwrap();
            let mut head = [0; 512];
            let length = asked.read(&mut head).unwrap();
            assert!(head[..length].starts_with(b"GET /healthz "));
            asked.write_all(reply("{}").as_bytes()).unwrap();
        }
        let done = r#"{"size": {"events": 0, "traces": 0}, "problems": [], "marked": []}"#;
        working.write_all(reply(done).as_bytes()).unwrap();
    }

    #[tokio::test]
    async fn long_work_is_not_cut_while_the_server_lives() {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(socket::path(folder.path())).unwrap();
        let server = thread::spawn(move || slow(&listener));
        let data = DataFolder::at(folder.path().to_owned());
        let answer_timeout = Duration::from_millis(20);
        let way = SocketApi { answer_timeout, ..SocketApi::new(data, false) };
        let request = ApiRequest::<CheckStore>::get(NoArguments {}, Nothing {});
        let checked = call::Call::call(&way, request).await;
        server.join().unwrap();
        assert!(checked.unwrap().document.problems.is_empty());
    }
}
