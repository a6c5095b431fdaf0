//! The server: does one run, does it understand us, and can it be reached?

use std::{
    fs,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::fs::FileTypeExt as _,
    path::Path,
    sync::mpsc::sync_channel,
    thread,
    time::Duration,
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{NoArguments, Nothing, ShowServer},
    server::ServerStatus,
    server_limits::ServerLimits,
};
use demur_desk::{data::DataFolder, visible::visible_path};
use demur_server::{loopback, socket};
use demur_store::folder::Folder;

use super::{Check, files::private};
use crate::{
    client::{Client, FolderUser, how_to_kill, typed_for},
    failure::Failure,
};

/// Looks at the socket, the server and its port: the one that was named, or the one that this folder's server tries first.
pub(super) fn check(data: &DataFolder, named: Option<u16>) -> Result<Vec<Check>, Failure> {
    let user = FolderUser::find(data.path());
    // Before the server is asked: one that lost its socket file puts it back meanwhile.
    let gone = user.as_ref().is_some_and(|user| user.serves) && !socket::path(data.path()).exists();
    let status = status(data)?;
    let runs = !matches!(&status, Err(error) if error.code() == "NO_SERVER");
    let mut checks = vec![server(&status)];
    checks.extend(user.as_ref().and_then(|user| lock_file(data.path(), user)));
    checks.extend(socket_file(data.path(), runs, user.filter(|_| gone).as_ref()));
    checks.extend(status.as_ref().ok().map(|status| limits(status.limits)));
    checks.extend(status.as_ref().ok().and_then(|status| files(data.path(), status)));
    let status = status.ok();
    let address = status.as_ref().and_then(|status| status.address.as_deref());
    let port = address.and_then(|address| address.rsplit(':').next()?.parse().ok());
    checks.extend(port.map(reachable));
    checks.extend(status.as_ref().and_then(|status| status.waits_for_port).map(taken));
    checks.extend(named.filter(|named| port != Some(*named)).map(other));
    checks.extend(status.and_then(|status| status.pages).map(|pages| Check::ok("pages", pages)));
    Ok(checks)
}

/// A folder keeps its port: browsers know its pages by it.
fn taken(port: u16) -> Check {
    let found = format!("{port} is this folder's, and another program has it: nothing comes over TCP");
    let hint =
        format!("end that program (`ss -ltnp 'sport = :{port}'` names it); the socket works meanwhile");
    Check::problem("port", found, hint)
}

/// Whoever names a port gets that one or none.
fn other(port: u16) -> Check {
    let trouble = loopback::ADDRESSES.into_iter().find_map(|address| {
        let error = TcpListener::bind((address, port)).err()?;
        (!loopback::is_absent(&error)).then(|| error.kind())
    });
    match trouble {
        Some(ErrorKind::AddrInUse) => {
            let found = format!("{port} is taken by another program");
            let hint =
                format!("`ss -ltnp 'sport = :{port}'` says by which; or serve at another one, with `--port`");
            Check::problem("port", found, hint)
        }
        Some(ErrorKind::PermissionDenied) => {
            let found = format!("{port} is not open to this user");
            Check::problem("port", found, "serve at a port from 1024 on, behind a proxy")
        }
        _ => Check::ok("port", format!("{port} is free")),
    }
}

/// Returns what the server says about itself; one that says nothing is not waited for.
fn status(data: &DataFolder) -> Result<Result<ServerStatus, Failure>, Failure> {
    let client = Client::to_running(data.clone())?;
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        // An answer that comes too late has nobody who waits for it.
        let _ = sender.send(client.call(ApiRequest::<ShowServer>::get(NoArguments {}, Nothing {})));
    });
    Ok(receiver.recv_timeout(REPLY_TIMEOUT).unwrap_or_else(|_| {
        let message = format!("the server did not answer within {} seconds", REPLY_TIMEOUT.as_secs());
        Err(Failure::of(Code::ServerSilent, message).with_hint(how_to_kill(data.path())))
    }))
}

fn server(status: &Result<ServerStatus, Failure>) -> Check {
    match status {
        Ok(status) if status.version != env!("CARGO_PKG_VERSION") => Check::warning(
            "server",
            format!("demur {}, but this is {}", status.version, env!("CARGO_PKG_VERSION")),
            "`demur stop`: the next command starts the right one",
        ),
        Ok(status) => Check::ok(
            "server",
            format!("demur {}, protocol {}, process {}", status.version, status.protocol, status.process),
        ),
        Err(error) if error.is(Code::NoServer) => {
            Check::note("server", "none runs; the next command that needs one starts it")
        }
        Err(error) => Check::failed("server", error.clone()),
    }
}

/// The folder itself is locked too, so that nobody gets in on this machine. A network drive knows only the file.
fn lock_file(folder: &Path, user: &FolderUser) -> Option<Check> {
    let path = Folder::at(folder).lock_file();
    let found = format!("{} is gone while process {} uses the folder", visible_path(&path), user.process);
    let hint = format!("`{}`: the next command makes it anew", typed_for(folder, "stop"));
    user.lost_its_lock.then(|| Check::warning("lock", found, hint))
}

/// Looks at the socket file; `lost` is the server that had none when it was looked at first.
fn socket_file(folder: &Path, runs: bool, lost: Option<&FolderUser>) -> Option<Check> {
    let path = socket::path(folder);
    if let Some(FolderUser { process, .. }) = lost {
        let found = format!("{} is gone while the server runs, process {process}", visible_path(&path));
        return Some(if path.exists() {
            let found =
                format!("{} was gone; the server, process {process}, has put it back", visible_path(&path));
            Check::note("socket", found)
        } else {
            Check::problem("socket", found, how_to_kill(folder))
        });
    }
    let metadata = match fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(_) if runs => {
            let found = format!("{} is gone while the server runs", visible_path(&path));
            return Some(Check::problem("socket", found, how_to_kill(folder)));
        }
        Err(_) => return None,
    };
    if !metadata.file_type().is_socket() {
        let found = format!("{} is no socket", visible_path(&path));
        return Some(Check::problem("socket", found, "move it away: the server needs its place"));
    }
    if !runs {
        let found = "left by a server that was killed; the next one replaces it";
        return Some(Check::note("socket", found));
    }
    Some(private("socket", &path, &metadata, (0o600, 0o600)))
}

fn limits(limits: ServerLimits) -> Check {
    let ServerLimits { connections, local_connections, tokens, people, .. } = limits;
    let of_connections =
        format!("{connections} connections over TCP, {local_connections} of your own commands");
    Check::ok("limits", format!("at most {of_connections}, {tokens} tokens, {people} people"))
}

/// What the server has open is lost once it ends, and not before.
fn files(folder: &Path, status: &ServerStatus) -> Option<Check> {
    let trouble = status.trouble.as_ref()?;
    let (open, stop) = (format!("/proc/{}/fd", status.process), typed_for(folder, "stop"));
    let hint = format!(
        "first copy what the server has open: `ls -l {open}` names ledger.db and ledger.db-wal, `cp {open}/NUMBER` puts \
         each back under its name; then `{stop}`. Without them restore a backup"
    );
    Some(Check::problem("files", trouble, hint))
}

fn reachable(port: u16) -> Check {
    if answers(port) {
        return Check::ok("address", format!("http://localhost:{port} answers"));
    }
    let found = format!("nothing answers at port {port}, where the server says it listens");
    Check::problem("address", found, "a firewall on this machine may be in the way")
}

fn answers(port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), REPLY_TIMEOUT).is_ok()
}

/// How long somebody may take to answer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);
