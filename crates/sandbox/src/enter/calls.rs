//! Calls that Landlock does not know: sockets, of which demur's own lets the user of this machine answer questions; attributes of
//! files by path; namespaces, tracing and shared memory; limits and turns of other processes.

mod table;

use std::collections::BTreeMap;

use landlock::ABI;
use libc::{ENOSYS, EPERM, c_int, c_long};
use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use self::table::Refused;
use crate::SandboxPolicy;

/// Makes sure that neither the tool nor what it starts makes calls that it may not make; returns what that means, in words, or
/// why it cannot be enforced. What this version of Landlock does not hold back is refused here, as far as arguments tell.
///
/// Programs of another architecture than demur's own number their calls in another way: the kernel ends them with their first call.
pub(super) fn refuse(policy: SandboxPolicy, landlock: Option<ABI>) -> Result<Vec<String>, String> {
    let [denied, unknown] = filters(policy, landlock).map_err(|error| error.to_string())?;
    apply_filter(&denied).map_err(|error| error.to_string())?;
    apply_filter(&unknown).map_err(|error| error.to_string())?;
    Ok(describe(policy, landlock))
}

fn filters(policy: SandboxPolicy, landlock: Option<ABI>) -> Result<[BpfProgram; 2], BackendError> {
    let always = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect::<Vec<_>>();
    let (mut denied, mut unknown) = (always(table::ALWAYS), always(table::UNKNOWN));
    denied.extend(table::some()?);
    denied.push(table::sockets(policy.udp)?);
    if !policy.chmod {
        denied.extend(always(table::ATTRIBUTES));
        denied.extend(table::times()?);
    }
    if misses_truncation(landlock) {
        denied.extend(table::truncation()?);
        unknown.extend(always(table::UNKNOWN_BEFORE_TRUNCATION));
    }
    if landlock.is_none_or(|version| version < ABI::V6) {
        denied.push(table::signals()?);
    }
    Ok([filter(denied, EPERM)?, filter(unknown, ENOSYS)?])
}

/// Returns the filter that answers these calls with an error, and lets all others pass.
fn filter(calls: Vec<Refused>, error: c_int) -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for (call, its_rules) in calls {
        for number in numbers(call) {
            rules.insert(number, its_rules.clone());
        }
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let answer = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture)?.try_into()
}

/// Returns the numbers of a call: on x86-64 each has a second one, for programs with short pointers.
fn numbers(call: c_long) -> Vec<i64> {
    const SHORT_POINTERS: i64 = 0x4000_0000;
    const OWN: [(c_long, i64); 6] = [
        (libc::SYS_sendmsg, 518),
        (libc::SYS_ptrace, 521),
        (libc::SYS_move_pages, 533),
        (libc::SYS_sendmmsg, 538),
        (libc::SYS_process_vm_readv, 539),
        (libc::SYS_process_vm_writev, 540),
    ];
    if !cfg!(target_arch = "x86_64") {
        return vec![call];
    }
    let own = OWN.iter().find(|(long, _)| *long == call).map(|(_, short)| *short);
    [Some(call), Some(call | SHORT_POINTERS), own.map(|short| short | SHORT_POINTERS)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns whether this version of Landlock lets files be cut off that may not be written.
fn misses_truncation(landlock: Option<ABI>) -> bool {
    landlock.is_none_or(|version| version < ABI::V3)
}

fn describe(policy: SandboxPolicy, landlock: Option<ABI>) -> Vec<String> {
    let sockets = if policy.udp {
        "sockets: only those for UDP can be opened, which the policy allows; none is listened on; connected pairs can be made"
    } else {
        "sockets: none can be opened, for the network or on this machine; connected pairs can be made"
    };
    let attributes = if policy.chmod {
        "attributes: modes, owners and times of files can be changed by their path, which the policy allows"
    } else {
        "attributes: modes, owners and times of files cannot be changed by their path"
    };
    let truncation = misses_truncation(landlock).then_some(TRUNCATION);
    [sockets, attributes, KERNEL].into_iter().chain(truncation).map(str::to_owned).collect()
}

/// Returns the sentences of a tool that is kept from none of these calls.
pub(super) fn unlimited(why: &str, landlock: Option<ABI>) -> Vec<String> {
    let truncation = misses_truncation(landlock).then_some("files: truncation");
    let sentence = |what: &str| format!("{what}: not limited: {why}");
    ["sockets", "attributes", "kernel"].into_iter().chain(truncation).map(sentence).collect()
}

const TRUNCATION: &str = "files: truncation: no file is cut off by its path, or by opening it to read";

const KERNEL: &str = "kernel: no namespaces, mounts, tracing, memory or limits of other processes, keyrings, shared memory and messages \
                      by number or name, watches of files, BPF, counters and io_uring";

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File, OpenOptions},
        os::unix::fs::OpenOptionsExt as _,
        thread,
    };

    use super::*;

    /// As on Linux 6.1: there a file that may only be read could be emptied all the same.
    #[test]
    fn where_landlock_knows_no_truncation_no_file_is_cut_off_by_opening_it_to_read() {
        let path = std::env::temp_dir().join(format!("demur-truncation-{}", std::process::id()));
        fs::write(&path, "kept").unwrap();
        let inside = path.clone();
        let refused = thread::spawn(move || {
            let words = refuse(SandboxPolicy::default(), Some(ABI::V2)).unwrap();
            assert!(words.iter().any(|words| words == TRUNCATION));
            let cut = OpenOptions::new().read(true).custom_flags(libc::O_TRUNC).open(&inside);
            assert!(File::open(&inside).is_ok() && OpenOptions::new().append(true).open(&inside).is_ok());
            cut.unwrap_err().raw_os_error()
        });
        assert_eq!(refused.join().unwrap(), Some(EPERM));
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn every_policy_has_a_filter_on_every_kernel() {
        for landlock in [None, Some(ABI::V1), Some(ABI::V7)] {
            for (chmod, udp) in [(false, false), (true, false), (false, true), (true, true)] {
                filters(SandboxPolicy { best_effort: false, chmod, udp }, landlock).unwrap();
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_of_programs_with_short_pointers_are_refused_under_both_their_numbers() {
        assert_eq!(numbers(libc::SYS_socket), [41, 0x4000_0029]);
        assert_eq!(numbers(libc::SYS_ptrace), [101, 0x4000_0065, 0x4000_0209]);
        assert_eq!(numbers(libc::SYS_move_pages), [279, 0x4000_0117, 0x4000_0215]);
    }
}
