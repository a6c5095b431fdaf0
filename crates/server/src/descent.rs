//! Whether a process was started by a tool that demur runs under limits (`docs/sandbox.md`). Such a tool is no person and no agent:
//! what it says at the socket would count as the word of the user.
//!
//! A hint against accidents. A tool opens no Unix socket in the first place; this finds one that does where nothing keeps it from
//! doing so. Its supervisor takes in every process that loses its parent, so that descent shows for as long as it lives. A process
//! that is gone, or that the system does not show, is no descendant.

use std::{fs, io::Read as _};

/// The argument of the process that supervises a tool.
pub const SUPERVISOR: &str = "sandbox-supervise";

/// Returns whether the process with this number descends from the supervisor of a tool.
pub(crate) fn is_of_tool(process: i32) -> bool {
    let mut next = Some(process);
    for _ in 0..MAX_ANCESTORS {
        let Some(process) = next.filter(|process| *process > 1) else { return false };
        if is_supervisor(process) {
            return true;
        }
        next = parent(process);
    }
    // Nobody has so many by accident.
    true
}

/// Returns whether a process is the supervisor of a tool: nobody but itself says what its arguments are.
fn is_supervisor(process: i32) -> bool {
    let Ok(file) = fs::File::open(format!("/proc/{process}/cmdline")) else { return false };
    let mut line = Vec::new();
    if file.take(MAX_COMMAND_BYTES).read_to_end(&mut line).is_err() {
        return false;
    }
    let mut words = line.split(|byte| *byte == 0).skip(1);
    words.next() == Some(SUPERVISOR.as_bytes()) && words.all(<[u8]>::is_empty)
}

fn parent(process: i32) -> Option<i32> {
    parent_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Returns the parent in what the system says of a process. Its name may hold anything, parentheses too.
fn parent_in(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

const MAX_ANCESTORS: usize = 256;
/// More than the path of a program has.
const MAX_COMMAND_BYTES: u64 = 8 << 10;

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::CommandExt as _,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn name_of_a_process_does_not_hide_its_parent() {
        assert_eq!(parent_in("17 (a) R 4 (b) S 23 17"), Some(23));
        assert_eq!(parent_in("17 (sh) S 23 17 17 0"), Some(23));
        assert_eq!(parent_in("17 sh"), None);
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(parent(own), i32::try_from(std::os::unix::process::parent_id()).ok());
        assert!(!is_of_tool(own) && !is_of_tool(0) && !is_of_tool(i32::MAX));
    }

    #[test]
    fn process_below_a_supervisor_is_found() {
        let folder = tempfile::tempdir().unwrap();
        // As a program reads a script from its first argument, this process looks like the supervisor.
        fs::write(folder.path().join(SUPERVISOR), "cat & echo $!; wait").unwrap();
        let mut supervisor = Command::new("sh")
            .arg0("demur")
            .arg(SUPERVISOR)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut told = std::io::BufReader::new(supervisor.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut told, &mut line).unwrap();
        assert!(is_of_tool(i32::try_from(supervisor.id()).unwrap()));
        assert!(is_of_tool(line.trim().parse().unwrap()));
        drop(supervisor.stdin.take());
        supervisor.wait().unwrap();
    }
}
