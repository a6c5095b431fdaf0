//! What this kernel lacks of what every tool is held to.

use std::thread;

use crate::{SandboxPolicy, enter};

/// Returns what of the sandbox cannot be enforced here and why, in words; nothing where all of it can.
///
/// A thread tries it on itself: what it takes away from itself is gone with it, and no other thread has less than before.
pub fn missing() -> Vec<String> {
    let tried = thread::Builder::new()
        .name("sandbox-probe".to_owned())
        .spawn(|| enter::missing(SandboxPolicy::default()))
        .map(thread::JoinHandle::join);
    match tried {
        Ok(Ok(missing)) => missing,
        Ok(Err(_)) => vec!["everything (the attempt to enforce it ended early)".to_owned()],
        Err(error) => vec![format!("everything (it cannot be tried: {error})")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_it_leaves_this_process_as_it_was() {
        let before = missing();
        std::os::unix::net::UnixDatagram::unbound().unwrap();
        assert_eq!(missing(), before);
    }
}
