//! The port of this machine: `localhost` and `demur.localhost` lead to two addresses, and browsers try `::1` first. Another user
//! who had the port at one of them would be demur for those who come there, so a server has it at both or at none.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use rustix::io::Errno;
use tokio::net::TcpListener;

/// The addresses of this machine.
pub const ADDRESSES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// A port at every address that this machine has.
pub(crate) struct Bound {
    pub(crate) port: u16,
    pub(crate) listeners: Vec<TcpListener>,
}

/// Binds this port, or a free one for 0, at every address of this machine.
pub(crate) async fn bind(port: u16) -> io::Result<Bound> {
    let mut tries = 1;
    loop {
        match bind_everywhere(port).await {
            // What is free at one address is not always so at the other.
            Err(error) if port == 0 && error.kind() == ErrorKind::AddrInUse && tries < MAX_TRIES => {
                tries += 1;
            }
            done => return done,
        }
    }
}

async fn bind_everywhere(wanted: u16) -> io::Result<Bound> {
    let [first, second] = ADDRESSES;
    let mut listeners = vec![TcpListener::bind((first, wanted)).await?];
    let port = listeners[0].local_addr()?.port();
    match TcpListener::bind((second, port)).await {
        Ok(listener) => listeners.push(listener),
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(Bound { port, listeners })
}

/// Returns whether an address could not be bound because this machine has none of that kind: nobody else has it either.
pub fn is_absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error())
}

/// How often a port is sought that is free at every address.
const MAX_TRIES: u32 = 16;
