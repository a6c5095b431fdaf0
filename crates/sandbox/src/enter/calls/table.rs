//! Which calls of the kernel are refused, and with which arguments. What stands here besides sockets is what neither Landlock nor
//! file modes hold back, and no tool that builds, checks or counts needs.

use libc::{
    AF_INET, AF_INET6, AF_UNIX, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID,
    CLONE_NEWUSER, CLONE_NEWUTS, IPPROTO_UDP, MSG_FASTOPEN, O_ACCMODE, O_TRUNC, SOCK_DGRAM, SOCK_RAW, c_int,
    c_long,
};
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

/// A call and the arguments with which it is refused; none means always.
pub(super) type Refused = (c_long, Vec<SeccompRule>);

/// Refused to every tool, whatever the arguments.
pub(super) const ALWAYS: &[c_long] = &[
    // Without `bind` the kernel chooses a port.
    libc::SYS_listen,
    // Opens and connects sockets without a call that a filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Namespaces and mounts: other views of files and rights than those that were limited.
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_by_handle_at,
    // Memory, files and rights of other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Ways into the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Memory, locks and messages that outlive the tool, are not counted, or are shared with whoever knows their number or name.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // These tell names and changes of files that the tool may not read.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
];

/// Change a file by its path, or by a descriptor that was opened for nothing: neither needs the right to open it.
pub(super) const ATTRIBUTES: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchownat,
    // Access lists are attributes, too.
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Calls that do not exist, as far as a tool can tell: the C library then makes them in a way that can be judged by its arguments.
pub(super) const UNKNOWN: &[c_long] = &[libc::SYS_clone3];

/// As [`UNKNOWN`], where truncation is judged by arguments.
pub(super) const UNKNOWN_BEFORE_TRUNCATION: &[c_long] = &[libc::SYS_openat2];

/// Returns the calls that are refused to every tool with some arguments.
pub(super) fn some() -> Result<Vec<Refused>, BackendError> {
    let namespaces = namespaces()?;
    let mut unshared = namespaces.clone();
    unshared.push(argument_has(0, CLONE_NEWTIME, CLONE_NEWTIME)?);
    Ok(vec![
        (libc::SYS_clone, namespaces),
        (libc::SYS_unshare, unshared),
        // Ends of such a pair can be connected anew, by path.
        (
            libc::SYS_socketpair,
            vec![
                argument_is_not(0, &[AF_UNIX])?,
                argument_has(1, KIND, SOCK_DGRAM)?,
                argument_has(1, KIND, SOCK_RAW)?,
            ],
        ),
        // These connect and send at once.
        (libc::SYS_sendto, vec![argument_has(3, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        (libc::SYS_sendmsg, vec![argument_has(2, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        (libc::SYS_sendmmsg, vec![argument_has(3, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        // Limits and turns of another process of the same user: of the one that watches this tool, or of demur's server.
        (libc::SYS_prlimit64, vec![SeccompRule::new(vec![is_not_zero(0)?, is_not_zero(2)?])?]),
        (libc::SYS_sched_setaffinity, vec![of_another(0)?]),
        (libc::SYS_sched_setattr, vec![of_another(0)?]),
        (libc::SYS_sched_setparam, vec![of_another(0)?]),
        (libc::SYS_sched_setscheduler, vec![of_another(0)?]),
        (libc::SYS_setpriority, vec![of_another(0)?, of_another(1)?]),
        // Its first argument says that the second is a process.
        (libc::SYS_ioprio_set, vec![of_another(1)?]),
        (libc::SYS_migrate_pages, vec![of_another(0)?]),
        (libc::SYS_move_pages, vec![of_another(0)?]),
    ])
}

/// Returns which sockets are refused: all, or all but those for UDP.
pub(super) fn sockets(udp: bool) -> Result<Refused, BackendError> {
    let mut rules = Vec::new();
    if udp {
        rules.push(argument_is_not(0, &[AF_INET, AF_INET6])?);
        for kind in (0..=KIND).filter(|kind| *kind != SOCK_DGRAM) {
            rules.push(argument_has(1, KIND, kind)?);
        }
        rules.push(argument_is_not(2, &[0, IPPROTO_UDP])?);
    }
    Ok((libc::SYS_socket, rules))
}

/// Returns the change of times by path. By an open file, that is without a path, it stays.
pub(super) fn times() -> Result<Vec<Refused>, BackendError> {
    Ok(vec![
        (libc::SYS_utimensat, vec![SeccompRule::new(vec![is_not_zero(1)?])?]),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_futimesat, vec![SeccompRule::new(vec![is_not_zero(1)?])?]),
    ])
}

/// Returns the ways to cut a file off that Landlock did not know before Linux 6.2: by its path, and by opening it to read.
pub(super) fn truncation() -> Result<Vec<Refused>, BackendError> {
    let by_opening = |flags| {
        let only = |access| argument_has(flags, O_ACCMODE | O_TRUNC, access | O_TRUNC);
        Ok::<_, BackendError>(vec![only(libc::O_RDONLY)?, only(O_ACCMODE)?])
    };
    Ok(vec![
        (libc::SYS_truncate, Vec::new()),
        (libc::SYS_openat, by_opening(2)?),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, by_opening(1)?),
    ])
}

/// Returns the signal to every process of the user, which Landlock did not know before Linux 6.12.
pub(super) fn signals() -> Result<Refused, BackendError> {
    Ok((libc::SYS_kill, vec![argument_has(0, -1, -1)?]))
}

/// Returns rules for the flags that make namespaces.
fn namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    [CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS]
        .map(|flag| argument_has(0, flag, flag))
        .into_iter()
        .collect()
}

/// Returns a rule for calls that name another process than the caller's, by this argument.
fn of_another(number: u8) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![is_not_zero(number)?])
}

fn is_not_zero(number: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(number, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

/// Returns a rule for calls whose argument is none of these values.
fn argument_is_not(number: u8, values: &[c_int]) -> Result<SeccompRule, BackendError> {
    let other = |value: &c_int| {
        SeccompCondition::new(number, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, bits(*value))
    };
    SeccompRule::new(values.iter().map(other).collect::<Result<_, _>>()?)
}

/// Returns a rule for calls whose argument has this value under the mask, whatever else is in it.
fn argument_has(number: u8, mask: c_int, value: c_int) -> Result<SeccompRule, BackendError> {
    let compare = SeccompCmpOp::MaskedEq(bits(mask));
    let condition = SeccompCondition::new(number, SeccompCmpArgLen::Dword, compare, bits(value))?;
    SeccompRule::new(vec![condition])
}

fn bits(number: c_int) -> u64 {
    u64::from(number.cast_unsigned())
}

/// The part of a socket's type that is no flag.
const KIND: c_int = 0xf;
/// Of `unshare` alone: in the flags of `clone` these bits are a signal.
const CLONE_NEWTIME: c_int = 0x80;

// Newer calls have one number on every architecture.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;
