//! The address under which browsers reach a server behind a proxy: https, or this machine.

use std::{fmt, str::FromStr};

/// An origin: scheme, host and port, as browsers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    secure: bool,
}

impl PublicUrl {
    /// Returns the origin as browsers send it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns host and port as browsers send them.
    pub fn host(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, host)| host)
    }

    /// Returns whether browsers come over TLS.
    pub const fn is_secure(&self) -> bool {
        self.secure
    }
}

impl FromStr for PublicUrl {
    type Err = NotPublic;

    fn from_str(text: &str) -> Result<Self, NotPublic> {
        let lower = text.to_ascii_lowercase();
        let (scheme, rest) = lower.split_once("://").ok_or(NotPublic)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = split(authority).ok_or(NotPublic)?;
        let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let fits = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.len() <= 253 && host.bytes().all(named),
        };
        let (secure, usual) = match scheme {
            "https" => (true, 443),
            "http" if HERE.contains(&host) => (false, 80),
            _ => return Err(NotPublic),
        };
        if !fits {
            return Err(NotPublic);
        }
        // Browsers leave the usual port out.
        let port = port.filter(|port| *port != usual).map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self { origin: format!("{scheme}://{host}{port}"), secure })
    }
}

/// Returns host and port.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    match authority[end..].rfind(':').map(|colon| end + colon) {
        Some(colon) => {
            let port = &authority[colon + 1..];
            let plain = port.bytes().all(|byte| byte.is_ascii_digit());
            Some((&authority[..colon], Some(port.parse().ok().filter(|port| plain && *port > 0)?)))
        }
        None => Some((authority, None)),
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.origin)
    }
}

/// Text that is no address for browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected https:// and a name, such as https://demur.example; http:// only for this machine")]
pub struct NotPublic;

/// What this machine is called on itself.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_browsers_send() {
        for (text, origin, secure) in [
            ("https://demur.example", "https://demur.example", true),
            ("https://Demur.Example:443/", "https://demur.example", true),
            ("https://demur.example:8443", "https://demur.example:8443", true),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443", true),
            ("http://localhost:8080", "http://localhost:8080", false),
            ("http://[::1]:80", "http://[::1]", false),
        ] {
            let url: PublicUrl = text.parse().unwrap();
            assert_eq!((url.origin(), url.is_secure()), (origin, secure), "{text}");
            assert_eq!(origin.split_once("://").unwrap().1, url.host());
        }
    }

    #[test]
    fn rejects_plain_http_beyond_this_machine_and_whatever_is_no_origin() {
        for text in [
            "",
            "demur.example",
            "http://demur.example",
            "ftp://demur.example",
            "https://",
            "https:///",
            "https://demur.example/inbox",
            "https://user@demur.example",
            "https://demur.example?x",
            "https://demur.example:0",
            "https://demur.example:99999",
            "https://demur.example:+1",
            "https://demur.example:",
            "https://a b",
            "https://[::g]",
            "http://localhost.evil.example",
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(NotPublic), "{text}");
        }
    }
}
