//! `demur serve`, `demur status` and `demur stop`: the server of a data folder.

use std::{env, net::SocketAddr, os::unix::net::UnixDatagram, process, time::Duration};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{NoArguments, Nothing, ShowServer},
    server::ServerStatus,
    server_limits::ServerLimits,
};
use demur_desk::{
    data::DataFolder,
    settings::{FolderSettings, PageHost},
    token::SessionTimeouts,
};
use demur_server::serve::{self, Config, Listen};
use serde::Serialize;

use crate::{
    arguments::{Serve, Stop},
    client::{Client, Ended},
    context::Context,
    failure::Failure,
    log,
    output::{Paint, Reply, counted},
    user::user_name,
};

/// Serves the data folder until told to end.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Serve) -> Result<(), Failure> {
    let data = context.data_made()?;
    if arguments.detached {
        // Whoever started this may be gone before it is: a terminal that closes must not take it along. It fails only
        // where it is not needed: this process leads its group already.
        let _ = rustix::process::setsid();
    }
    let _log = log::begin();
    let settings = data.settings()?;
    let config = Config {
        listen: listen(&data, arguments),
        pages: arguments.page_host.map(PageHost::from).or(settings.page_host).unwrap_or_default(),
        sessions: sessions(&settings, arguments),
        rules: arguments.rules.source(),
        idle: arguments.idle.or_else(|| arguments.detached.then_some(IDLE)),
        user: user_name()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: ServerLimits {
            connections: arguments.max_connections,
            local_connections: arguments.max_local_connections,
            tokens: arguments.max_tokens,
            people: arguments.max_people,
            stranger_connections: arguments.max_stranger_connections,
            body_mebibytes: arguments.max_body_memory,
            quotas: arguments.quotas.over(settings.quotas.unwrap_or_default()),
            aaep: settings.aaep.unwrap_or_default(),
        },
        data,
    };
    let shown = !arguments.detached;
    let output = &mut *context.output;
    let ended = serve::run(config, |service| {
        if shown {
            tell_service_manager();
            let address = service.address();
            let (pages, waits_for_port) = (service.pages(), service.waits_for_port());
            let warns = arguments.public_url.is_some() && arguments.trusted_proxies.is_empty();
            let reply = Serving { address, pages, waits_for_port, warns, process: process::id() };
            // Whoever started it without reading what it says still has a server.
            let _ = output.reply(&reply);
        }
    });
    match ended.map_err(Failure::from) {
        // Its starter knows by that end. A line from each server that was not the first would fill the log.
        Err(error) if arguments.detached && error.is(Code::FolderInUse) => Ok(()),
        ended => ended,
    }
}

/// Tells systemd, where it started this with `Type=notify`, that commands find a server from now on: one that came earlier would
/// start another, and take the folder. Nobody else hears it, and a server runs also where nobody listens.
fn tell_service_manager() {
    if let Some(socket) = env::var_os("NOTIFY_SOCKET") {
        let _ = UnixDatagram::unbound().and_then(|sender| sender.send_to(b"READY=1\n", socket));
    }
}

fn listen(data: &DataFolder, arguments: &Serve) -> Listen {
    if arguments.no_tcp {
        return Listen::Nowhere;
    }
    if let Some(url) = arguments.public_url.clone() {
        // A proxy has to know the port: no other is taken instead.
        let here = SocketAddr::from(([127, 0, 0, 1], arguments.port.unwrap_or(PORT)));
        let trusted = arguments.trusted_proxies.clone();
        return Listen::Proxied { address: arguments.listen.unwrap_or(here), url, trusted };
    }
    if let Some(port) = arguments.port {
        return Listen::Port(port);
    }
    let usual = DataFolder::usual().is_some_and(|usual| usual.path() == data.path());
    Listen::Loopback(usual.then_some(PORT))
}

fn sessions(settings: &FolderSettings, arguments: &Serve) -> SessionTimeouts {
    let usual = SessionTimeouts::default();
    let idle = settings.session_idle_seconds.map(|seconds| Duration::from_secs(seconds.as_u64()));
    let absolute = settings.session_seconds.map(|seconds| Duration::from_secs(seconds.as_u64()));
    SessionTimeouts {
        idle: arguments.session_idle.or(idle).unwrap_or(usual.idle),
        absolute: arguments.session_timeout.or(absolute).unwrap_or(usual.absolute),
    }
}

/// Says which server runs for the data folder.
pub(crate) fn status(context: &mut Context<'_>) -> Result<(), Failure> {
    let client = Client::to_running(context.data()?)?;
    let status = client.call(ApiRequest::<ShowServer>::get(NoArguments {}, Nothing {})).map_err(|error| {
        let [serve, ask] = ["serve", "ask"].map(|command| context.typed(command));
        if error.is(Code::NoServer) {
            error.with_hint(format!("`{serve}` starts one; `{ask}` and `inbox` do so themselves"))
        } else {
            error
        }
    })?;
    context.output.reply(&Status(status))
}

/// Ends the server of the data folder.
pub(crate) fn stop(context: &mut Context<'_>, arguments: &Stop) -> Result<(), Failure> {
    let client = Client::to_running(context.data()?)?;
    let ended = client.stop(arguments.timeout.unwrap_or(STOP_TIMEOUT), arguments.force)?;
    context.output.reply(&Stopped { stopped: true, killed: ended == Ended::Killed })
}

#[derive(Serialize)]
struct Serving {
    address: Option<String>,
    pages: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for_port: Option<u16>,
    /// Whether nobody is named who says for whom it speaks.
    #[serde(skip)]
    warns: bool,
    process: u32,
}

impl Reply for Serving {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![format!("{} process {}", paint.good("Serving:"), self.process)];
        lines.extend(
            self.address
                .as_ref()
                .map(|address| format!("  over TCP  {address} (with a token: `demur token new`)")),
        );
        lines.extend(self.pages.as_ref().map(|pages| format!("  pages     {pages} (`demur open`)")));
        lines.extend(self.waits_for_port.map(|port| waiting(port, paint)));
        if self.warns {
            lines.push(
                "  proxy     none is trusted: everybody behind it counts as one (`--trusted-proxy ADDRESS`)"
                    .to_owned(),
            );
        }
        lines.push("  Ctrl-C ends it; nothing that is open is lost.".to_owned());
        lines
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Status(ServerStatus);

impl Reply for Status {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let ServerStatus {
            version,
            process,
            folder,
            address,
            open,
            waiting,
            trouble,
            pages,
            waits_for_port,
            ..
        } = &self.0;
        let address = address.as_deref().unwrap_or("not over TCP");
        let mut lines = vec![
            format!("{} demur {version}, process {process}", paint.good("Running:")),
            format!("  folder   {}", demur_core::visible::visible(folder)),
            format!("  address  {address}"),
        ];
        lines.extend(pages.as_ref().map(|pages| format!("  pages    {pages}")));
        lines.extend(waits_for_port.map(|port| self::waiting(port, paint)));
        lines.push(format!("  open     {}", questions(*open, *waiting)));
        let told = |trouble| format!("  {}  {}", paint.bad("trouble"), demur_core::visible::visible(trouble));
        lines.extend(trouble.as_deref().map(told));
        lines
    }
}

fn waiting(port: u16, paint: Paint) -> String {
    let taken = paint.bad("taken");
    format!(
        "  port     {port} is {taken} by another program: nothing comes over TCP until it is free; the socket works"
    )
}

fn questions(open: u64, waiting: u64) -> String {
    format!("{}, {waiting} waited for right now", counted(open, "question"))
}

#[derive(Serialize)]
struct Stopped {
    stopped: bool,
    /// It did not end by itself.
    killed: bool,
}

impl Reply for Stopped {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let ended = if self.killed { "Killed: it did not end by itself." } else { "Stopped." };
        vec![format!("{} The next command that needs a server starts one.", paint.good(ended))]
    }
}

/// The port of the default data folder.
const PORT: u16 = 7373;
/// How long a server that was started by a command stays without callers and open questions.
const IDLE: Duration = Duration::from_mins(5);
/// How long a server may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
