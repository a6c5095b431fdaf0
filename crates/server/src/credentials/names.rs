//! Under which names a server is called, and from which page. Forged names and foreign pages get nothing.

use demur_api::code::Code;
use demur_desk::{person::SIGN_IN_PATH, settings::PageHost};
use hyper::{HeaderMap, Method, Uri, header, header::HeaderName};

use crate::{network::Network, problem::Problem, public_url::PublicUrl};

/// Under which names a server answers on TCP.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// `host:port` as browsers and programs send it.
    pub hosts: Vec<String>,
    /// `http://host:port` as browsers send it.
    pub origins: Vec<String>,
    /// The one host under which pages are: a cookie counts there only.
    pub page_host: String,
    /// The one origin whose forms count.
    pub page_origin: String,
    /// The name of the cookie of a browser that is signed in. Cookies belong to a host and not to a port, so the port is
    /// in the name.
    pub cookie: String,
    /// Whether browsers reach the server over TLS only.
    pub secure: bool,
    /// Whether browsers come from elsewhere.
    pub is_public: bool,
    /// The proxies that say for whom they speak.
    pub trusted: Vec<Network>,
}

impl Names {
    /// Returns the names of a server at this port of this machine, with its pages under one name of its own.
    pub fn here(port: u16, pages: PageHost) -> Self {
        let mut names = vec!["localhost", "127.0.0.1", "[::1]"];
        if !names.contains(&pages.as_str()) {
            names.push(pages.as_str());
        }
        let hosts: Vec<_> = names.iter().map(|name| format!("{name}:{port}")).collect();
        let page_host = format!("{}:{port}", pages.as_str());
        Self {
            origins: hosts.iter().map(|host| format!("http://{host}")).collect(),
            hosts,
            page_origin: format!("http://{page_host}"),
            page_host,
            cookie: format!("demur_session_{port}"),
            secure: false,
            is_public: false,
            trusted: Vec::new(),
        }
    }

    /// Returns the names of a server at this port behind a proxy that browsers reach under an address of its own.
    pub fn public(port: u16, url: &PublicUrl, trusted: Vec<Network>) -> Self {
        let secure = url.is_secure();
        // A browser takes a cookie of such a name from its own host over TLS only.
        let prefix = if secure { "__Host-" } else { "" };
        Self {
            hosts: vec![url.host().to_owned()],
            origins: vec![url.origin().to_owned()],
            page_host: url.host().to_owned(),
            page_origin: url.origin().to_owned(),
            cookie: format!("{prefix}demur_session_{port}"),
            secure,
            is_public: true,
            trusted,
        }
    }

    /// Returns whether a request came to the host of the pages.
    pub(crate) fn is_of_pages(&self, headers: &HeaderMap) -> bool {
        is(headers, &header::HOST, &self.page_host)
    }

    /// Returns whether a page of this server says that it sends this.
    pub(crate) fn is_from_page(&self, headers: &HeaderMap) -> bool {
        let site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
        site && is(headers, &header::ORIGIN, &self.page_origin)
    }

    /// Returns the header that sets a cookie for so many seconds.
    pub(crate) fn set_cookie(&self, name: &str, value: &str, seconds: u64) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

fn is(headers: &HeaderMap, name: &HeaderName, expected: &str) -> bool {
    let text = headers.get(name).and_then(|value| value.to_str().ok());
    text.is_some_and(|found| found.eq_ignore_ascii_case(expected))
}

/// A page of another site must not speak through somebody's browser, nor a name that leads here by a trick. Two headers of a name
/// mean one thing here and another at a proxy in front: neither counts.
pub(super) fn check_names(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    names: &Names,
) -> Result<(), Problem> {
    let found = once(headers, &header::HOST, Code::HostForbidden)?;
    let known = |list: &[String], found: &str| list.iter().any(|name| name.eq_ignore_ascii_case(found));
    let Some(host) = found.filter(|host| known(&names.hosts, host)) else {
        let detail = format!("expected the Host {}, found another", names.hosts.join(" or "));
        return Err(Problem::new(Code::HostForbidden, detail));
    };
    if uri.authority().is_some_and(|authority| !authority.as_str().eq_ignore_ascii_case(host)) {
        let detail = "expected an address that names the Host, found one that names another";
        return Err(Problem::new(Code::HostForbidden, detail));
    }
    let Some(origin) = once(headers, &header::ORIGIN, Code::OriginForbidden)? else { return Ok(()) };
    if known(&names.origins, origin) || is_handed_over(method, uri, origin) {
        return Ok(());
    }
    let detail = "expected no Origin or that of this server, found another";
    Err(Problem::new(Code::OriginForbidden, detail))
}

/// A file that `demur open` opens has no origin. What it sends signs nobody in: the page that comes back asks first.
fn is_handed_over(method: &Method, uri: &Uri, origin: &str) -> bool {
    origin == "null" && *method == Method::POST && uri.path() == SIGN_IN_PATH
}

/// Returns the one value of a header, if it is there.
fn once<'a>(headers: &'a HeaderMap, name: &HeaderName, code: Code) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(|value| value.to_str().unwrap_or_default());
    if values.next().is_some() {
        return Err(Problem::new(code, format!("expected one header {name}, found several")));
    }
    Ok(first)
}
