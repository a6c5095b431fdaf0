//! Bytes of any length that the server sends, handed on part by part.

use std::io;

use demur_api::refusal::Refusal;
use http_body_util::BodyExt as _;

use super::{Client, SocketRequest, lost};

/// Why bytes did not come to their end.
pub(crate) enum Broken {
    /// Whoever takes them does not take them.
    Taker(io::Error),
    /// The server does not send them, or not all of them.
    Refused(Refusal),
}

impl Client {
    /// Gets what is at a path, and hands it on part by part.
    pub(crate) fn download(
        &self,
        path: &str,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), Broken> {
        let call = SocketRequest::get(path).map_err(Broken::Refused)?;
        self.runtime.block_on(async {
            let opened = self.api.opened(&call).await;
            let mut response = opened.map_err(Broken::Refused)?;
            while let Some(frame) = response.body_mut().frame().await {
                let frame = frame.map_err(|error| Broken::Refused(broken_off(&error)))?;
                if let Some(part) = frame.data_ref() {
                    take(part).map_err(Broken::Taker)?;
                }
            }
            Ok(())
        })
    }
}

/// Returns the refusal of a server that went away, or that met something in the store it could not send.
fn broken_off(error: &hyper::Error) -> Refusal {
    lost(&error.to_string()).with_cure("`demur store check` says whether something is wrong with the store")
}
