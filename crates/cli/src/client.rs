//! The client of the server of a data folder, over its Unix socket. A server is started where none runs. One that goes away
//! meanwhile is replaced, and a command that waits goes on waiting.

mod download;
mod folder_user;
mod socket_api;
mod start;
mod stop;
mod stream;

use std::time::Duration;

use bytes::Bytes;
use demur_api::{
    call::{ApiRequest, Call as _},
    code::Code,
    operation::{self, ApiDocument as _, Operation, WaitForConfirmation, WaitForQuestion},
    problem::ProblemDetails,
    refusal::Refusal,
    server::PROTOCOL,
};
use demur_desk::data::DataFolder;
use demur_ledger::name::ClientId;
use demur_server::credentials::socket::{CLIENT_HEADER, PROTOCOL_HEADER, RELAY_HEADER};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response,
    body::Incoming,
    header::{self, HeaderValue},
};
use tokio::runtime::Runtime;
use zeroize::Zeroizing;

pub(crate) use download::Broken;
pub(crate) use folder_user::{FolderUser, process_with};
pub(crate) use socket_api::{SocketApi, how_to_kill, typed_for};
pub(crate) use start::log_file;
pub(crate) use stop::Ended;
pub(crate) use stream::Follow;

use crate::{context::Context, failure::Failure};

/// A client of the server of a data folder.
pub(crate) struct Client {
    api: SocketApi,
    runtime: Runtime,
}

/// An HTTP request to the server, and how it is sent.
pub(crate) struct SocketRequest {
    request: Request<Full<Bytes>>,
    /// Whether it may be sent again when nobody knows what became of it.
    again: bool,
    /// How long a server that is away is waited for.
    patience: Duration,
    /// Whether the reply comes when something happens, and so perhaps not for long.
    waits: bool,
}

impl SocketRequest {
    /// Returns the request for an operation.
    pub(crate) fn of<O: Operation>(request: &ApiRequest<O>) -> Result<Self, Refusal> {
        let method = match O::ABOUT.method {
            operation::Method::Get => Method::GET,
            operation::Method::Post => Method::POST,
            operation::Method::Put => Method::PUT,
            operation::Method::Delete => Method::DELETE,
        };
        let address = request.address().map_err(|error| Refusal::bug(&error))?;
        let mut body = Vec::with_capacity(USUAL_BODY_BYTES);
        if !O::Body::is_nothing() {
            serde_json::to_writer(&mut body, &request.body).map_err(|error| Refusal::bug(&error))?;
        }
        let mut sent = Self::new(method, &address, body, "application/json")?;
        sent.waits = [WaitForQuestion::ABOUT.id, WaitForConfirmation::ABOUT.id].contains(&O::ABOUT.id);
        match &request.key {
            Some(key) => sent.with_header("idempotency-key", key.to_string()),
            None => Ok(sent),
        }
    }

    /// Returns a request that reads.
    pub(crate) fn get(path: &str) -> Result<Self, Refusal> {
        Self::new(Method::GET, path, Vec::new(), "application/json")
    }

    /// Returns a request that sends bytes of a media type.
    pub(crate) fn post_bytes(path: &str, bytes: Vec<u8>, media: &'static str) -> Result<Self, Refusal> {
        Self::new(Method::POST, path, bytes, media)
    }

    fn new(method: Method, path: &str, body: Vec<u8>, media: &'static str) -> Result<Self, Refusal> {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header(header::HOST, "localhost").header(PROTOCOL_HEADER, PROTOCOL);
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, media);
        }
        // It may carry a secret.
        let body = Bytes::from_owner(Zeroizing::new(body));
        let request = request.body(Full::from(body)).map_err(|error| Refusal::bug(&error))?;
        Ok(Self { request, again: true, patience: SERVER_PATIENCE, waits: false })
    }

    fn with_header(mut self, name: &'static str, value: String) -> Result<Self, Refusal> {
        let value = HeaderValue::try_from(value).map_err(|error| Refusal::bug(&error))?;
        self.request.headers_mut().insert(name, value);
        Ok(self)
    }

    /// Returns the request as one that a server of any version is asked: its response is taken as it comes.
    fn of_any_version(mut self) -> Self {
        self.request.headers_mut().remove(PROTOCOL_HEADER);
        self
    }

    /// Returns the request as one that is given up while the server is away.
    pub(crate) const fn in_passing(self) -> Self {
        self.within(Duration::ZERO)
    }

    /// Returns the request as one that waits so long for a server that is away.
    pub(crate) const fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the request in the name of a client that passes on what its user says.
    pub(crate) fn for_client(self, client: String, id: Option<ClientId>) -> Result<Self, Refusal> {
        let named = self.with_header(RELAY_HEADER, client)?;
        match id {
            Some(id) => named.with_header(CLIENT_HEADER, id.to_string()),
            None => Ok(named),
        }
    }

    /// Returns the request as one that is sent once.
    pub(crate) const fn once(mut self) -> Self {
        self.again = false;
        self
    }
}

impl Client {
    /// Returns the client of a server, which is started where none runs. The data folder is made where it is missing.
    pub(crate) fn open(context: &Context<'_>) -> Result<Self, Failure> {
        Self::starting(context.data_made()?)
    }

    /// Returns the same for a command that needs something that is there already: it makes no data folder.
    pub(crate) fn of_existing(context: &Context<'_>) -> Result<Self, Failure> {
        Self::starting(context.data_there()?)
    }

    /// Returns the client for a list, or none where nothing is recorded: a list of nothing is a list, and starts no server.
    pub(crate) fn for_list(context: &Context<'_>) -> Result<Option<Self>, Failure> {
        let data = context.data()?;
        if data.has_store()? { Self::starting(data).map(Some) } else { Ok(None) }
    }

    /// Returns the client of the server of this folder, which is started where none runs.
    pub(crate) fn starting(data: DataFolder) -> Result<Self, Failure> {
        Self::new(SocketApi::new(data, true))
    }

    /// Returns the client of a server that answers, or why none can be started.
    pub(crate) fn reaching(data: DataFolder) -> Result<Self, Failure> {
        let client = Self::starting(data)?;
        client.runtime.block_on(client.api.reach())?;
        Ok(client)
    }

    /// Returns the client of the server of a data folder that has a store.
    pub(crate) fn of_store(context: &Context<'_>) -> Result<Self, Failure> {
        let data = context.data()?;
        if data.has_store()? { Self::starting(data) } else { Err(data.no_keys().into()) }
    }

    /// Returns another client of the same server, for another thread.
    pub(crate) fn another(&self) -> Result<Self, Failure> {
        Self::new(self.api.clone())
    }

    /// Returns the client of a server that runs already.
    pub(crate) fn to_running(data: DataFolder) -> Result<Self, Failure> {
        Self::new(SocketApi::new(data, false))
    }

    fn new(api: SocketApi) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of(Code::ClientTrouble, error))?;
        Ok(Self { api, runtime })
    }

    /// Has an operation done that may be done twice: a server that ends meanwhile is replaced, and the request is sent again.
    /// For all others there is [`Self::call_with`] with [`SocketRequest::once`].
    pub(crate) fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure> {
        Ok(self.runtime.block_on(self.api.call(request))?.document)
    }

    /// Has an operation done, with a request that `adjust` sends in another manner than usual.
    pub(crate) fn call_with<O: Operation>(
        &self,
        request: &ApiRequest<O>,
        adjust: impl FnOnce(SocketRequest) -> SocketRequest,
    ) -> Result<O::Output, Failure> {
        let call = adjust(SocketRequest::of(request)?);
        Ok(self.runtime.block_on(self.api.perform::<O>(&call))?.document)
    }

    /// Returns the operations of the server, for work that waits for several of them at once.
    pub(crate) const fn api(&self) -> &SocketApi {
        &self.api
    }

    /// Runs such work to its end.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Sends a request, and returns a response of which nothing was read yet; never a refusal.
    fn open_stream(&self, call: &SocketRequest) -> Result<Response<Incoming>, Unanswered> {
        self.runtime.block_on(self.api.open(call))
    }
}

/// Reads a response to its end.
async fn whole(response: Response<Incoming>) -> Result<Response<Bytes>, String> {
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| error.to_string())?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// Why a request brought nothing back.
enum Unanswered {
    /// Nobody listens.
    NoServer,
    /// The connection broke; nobody knows what became of the request.
    Lost(String),
    /// The server said no, or this side could not send it.
    Refused(Refusal),
}

impl Unanswered {
    fn of(response: &Response<Bytes>) -> Self {
        Self::Refused(reason(response))
    }
}

/// Returns why the server said no.
fn reason(response: &Response<Bytes>) -> Refusal {
    let details: Result<ProblemDetails, _> = serde_json::from_slice(response.body());
    let silent = |_| Refusal::bug(&format!("the server answered {} without a reason", response.status()));
    details.map_or_else(silent, Refusal::from)
}

/// A server of another version would misunderstand what it is told.
fn check_protocol(response: &Response<Incoming>) -> Result<(), Unanswered> {
    let found = response.headers().get(PROTOCOL_HEADER).map(|value| value.to_str().unwrap_or_default());
    if found == Some(PROTOCOL.to_string().as_str()) {
        return Ok(());
    }
    let message = format!("expected a server that speaks version {PROTOCOL} of the socket, found another");
    Err(Unanswered::Refused(
        Refusal::new(Code::VersionMismatch, message)
            .with_cure("`demur stop` ends it; the next command starts the right one"),
    ))
}

fn lost(error: &str) -> Refusal {
    Refusal::new(Code::ConnectionLost, format!("the connection to the server broke: {error}"))
        .with_cure("whether it happened shows in `demur inbox --list` or `demur show`")
}

/// How long a server that is away is waited for.
const SERVER_PATIENCE: Duration = Duration::from_secs(30);
/// What most documents that are sent take: they are written without being moved.
const USUAL_BODY_BYTES: usize = 4096;
/// How often it is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
