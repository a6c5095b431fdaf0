//! The program that started the bridge: two connections of one program are one client, under whatever names they ask. A hint
//! and no proof: a program that hides behind another is taken for that one.

use std::fs;

use demur_core::hash::sha256;
use demur_ledger::name::ClientId;
use rustix::process::{Pid, getppid};

/// Returns the client that the bridge serves; none where it was started from a login shell, or nothing tells which it is.
pub(super) fn client() -> Option<ClientId> {
    let parent = getppid().map(Pid::as_raw_nonzero)?;
    let words = fs::read(format!("/proc/{parent}/cmdline")).ok()?;
    // A login shell marks its name so.
    if words.starts_with(b"-") {
        return None;
    }
    let boot = fs::read_to_string(BOOT).ok()?;
    let stat = fs::read_to_string(format!("/proc/{parent}/stat")).ok()?;
    let begun = began(&stat)?;
    Some(ClientId::of_digest(&sha256(format!("process\0{boot}\0{parent}\0{begun}").as_bytes())))
}

/// Returns when a process began, as the kernel counts: its number alone is given again to another process.
fn began(stat: &str) -> Option<&str> {
    // The name of the program, in parentheses, may hold blanks and parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(BEGAN)
}

/// The place of the time after the name of the program.
const BEGAN: usize = 19;
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_with_a_name_that_looks_like_more_fields_began_when_it_did() {
        let fields: Vec<_> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("4711 (a) b (c) {}", fields.join(" "));
        assert_eq!(began(&stat), Some("22"));
    }

    #[test]
    fn same_program_is_the_same_client() {
        assert_eq!(client(), client());
    }
}
