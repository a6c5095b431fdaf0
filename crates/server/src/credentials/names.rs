//! Under which names a server is called, and from which page. Forged names and foreign pages get nothing.

use demur_api::code::Code;
use hyper::{HeaderMap, header};

use crate::{problem::Problem, public_url::PublicUrl};

/// Under which names a server answers on TCP.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// `host:port` as browsers send it.
    pub hosts: Vec<String>,
    /// `http://host:port` as browsers send it.
    pub origins: Vec<String>,
    /// The name of the cookie of a browser that is signed in. Cookies belong to a host and not to a port, so the port is
    /// in the name.
    pub cookie: String,
    /// Whether browsers reach the server over TLS only.
    pub secure: bool,
    /// Whether a proxy stands between, which says for whom it speaks.
    pub proxied: bool,
}

impl Names {
    /// Returns the names of a server at this port, behind a proxy if it has an address of its own.
    pub fn new(port: u16, public: Option<&PublicUrl>) -> Self {
        let Some(url) = public else {
            let here = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
            let origins = here.iter().map(|host| format!("http://{host}")).collect();
            let cookie = format!("demur_session_{port}");
            return Self { hosts: here.to_vec(), origins, cookie, secure: false, proxied: false };
        };
        let secure = url.is_secure();
        // A browser takes a cookie of such a name from its own host over TLS only.
        let prefix = if secure { "__Host-" } else { "" };
        Self {
            hosts: vec![url.host().to_owned()],
            origins: vec![url.origin().to_owned()],
            cookie: format!("{prefix}demur_session_{port}"),
            secure,
            proxied: true,
        }
    }

    /// Returns the header that sets a cookie for so many seconds.
    pub(crate) fn set_cookie(&self, name: &str, value: &str, seconds: u64) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

/// A page of another site must not speak through somebody's browser, nor a name that leads here by a trick.
pub(super) fn check_names(headers: &HeaderMap, names: &Names) -> Result<(), Problem> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let known = |list: &[String], found: &str| list.iter().any(|name| name.eq_ignore_ascii_case(found));
    if !text(header::HOST).is_some_and(|host| known(&names.hosts, host)) {
        let detail = format!("expected the Host {}, found another", names.hosts.join(" or "));
        return Err(Problem::new(Code::HostForbidden, detail));
    }
    match text(header::ORIGIN) {
        Some(origin) if !known(&names.origins, origin) => {
            let detail = "expected no Origin or that of this server, found another";
            Err(Problem::new(Code::OriginForbidden, detail))
        }
        _ => Ok(()),
    }
}
