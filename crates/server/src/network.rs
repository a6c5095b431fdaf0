//! Proxies that are believed when they say for whom they speak: addresses, and networks of them.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use hyper::HeaderMap;

/// An address, or all addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    bits: u8,
}

impl Network {
    /// Returns whether an address is one of it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                same_start(base.to_bits().into(), address.to_bits().into(), self.bits, 32)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                same_start(base.to_bits(), address.to_bits(), self.bits, 128)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Returns whether the first bits of two addresses of this width are equal.
fn same_start(one: u128, other: u128, bits: u8, width: u8) -> bool {
    // All bits may differ: a shift by the whole width is none.
    (one ^ other).checked_shr(u32::from(width - bits)).unwrap_or(0) == 0
}

/// Returns for whom a connection speaks: its own address, unless that is a proxy that is trusted. Then the header is read from
/// its end: whatever stands before the first address that is no trusted proxy anybody may have written.
pub(crate) fn behind(address: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address| trusted.iter().any(|network| network.contains(address));
    let mut found = address.to_canonical();
    let lines: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
    let named = lines.iter().rev().flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    for name in named.take(MAX_PROXIES) {
        if !is_trusted(found) {
            break;
        }
        // What is no address says nothing, and so does everything before it.
        let Some(next) = read(name.trim()) else { break };
        found = next;
    }
    found
}

/// Reads an address, with or without a port.
fn read(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    let address = bare.parse().or_else(|_| name.parse::<SocketAddr>().map(|found| found.ip()));
    address.ok().map(|found: IpAddr| found.to_canonical())
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let base: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        let plain = |bits: &&str| bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits = match bits {
            Some(bits) => {
                bits.parse().ok().filter(|found| *found <= width && plain(&bits)).ok_or(NotANetwork)?
            }
            None => width,
        };
        Ok(Self { base, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.base, self.bits)
    }
}

/// Text that is no address and no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address or a network, such as 127.0.0.1 or 10.0.0.0/8")]
pub struct NotANetwork;

/// Nobody stands behind more proxies.
const MAX_PROXIES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(texts: &[&str]) -> Vec<Network> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn found(from: &str, lines: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        behind(from.parse().unwrap(), &headers, &networks(trusted)).to_string()
    }

    #[test]
    fn networks_hold_what_begins_with_the_same_bits() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("2001:db8::/32", "2001:db8:9::1", "2001:db9::1"),
            ("127.0.0.1", "::ffff:127.0.0.1", "::1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{network} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{network} {outside}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("203.0.113.9".parse().unwrap()) && !all.contains("::1".parse().unwrap()));
        for text in ["", "proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "10.0.0/8"] {
            assert_eq!(text.parse::<Network>(), Err(NotANetwork), "{text}");
        }
    }

    /// ONE-15
    #[test]
    fn only_a_named_proxy_says_for_whom_it_speaks() {
        let one = &["10.0.0.1"][..];
        assert_eq!(found("10.0.0.1", &[], one), "10.0.0.1");
        assert_eq!(found("10.0.0.1", &["203.0.113.9, 192.0.2.7"], one), "192.0.2.7", "the last one it wrote");
        assert_eq!(found("10.0.0.2", &["192.0.2.7"], one), "10.0.0.2", "nobody named this one");
        assert_eq!(found("10.0.0.1", &["192.0.2.7"], &[]), "10.0.0.1", "nobody named any");
        assert_eq!(found("10.0.0.1", &["192.0.2.7, rubbish"], one), "10.0.0.1");
        let two = &["10.0.0.0/8"][..];
        assert_eq!(
            found("10.0.0.1", &["6.6.6.6, 192.0.2.7, 10.1.1.1"], two),
            "192.0.2.7",
            "through a second one"
        );
        assert_eq!(
            found("10.0.0.1", &["6.6.6.6", "192.0.2.7", "10.1.1.1"], two),
            "192.0.2.7",
            "in lines of its own"
        );
        assert_eq!(found("10.0.0.1", &["10.1.1.1, 10.2.2.2"], two), "10.1.1.1", "nobody else is named");
        for (name, address) in [
            ("192.0.2.7:4711", "192.0.2.7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
        ] {
            assert_eq!(found("10.0.0.1", &[name], one), address);
        }
    }
}
