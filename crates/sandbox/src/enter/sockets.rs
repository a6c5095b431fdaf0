//! Calls that Landlock does not know. Sockets: those with a path, of which demur's own lets the user of this machine answer
//! questions, and the ways to a TCP port around `connect` and `bind`. Limits and turns of other processes.

use std::collections::BTreeMap;

use libc::{
    AF_UNIX, EPERM, IPPROTO_MPTCP, MSG_FASTOPEN, SOCK_DGRAM, SOCK_RAW, SYS_io_uring_setup, SYS_ioprio_set,
    SYS_listen, SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam,
    SYS_sched_setscheduler, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_setpriority, SYS_socket,
    SYS_socketpair, c_int, c_long,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Makes sure that neither the tool nor what it starts opens a Unix socket or changes limits of another process. Programs of another architecture than
/// demur's own number their calls in another way: the kernel ends them with their first call.
pub(super) fn open_none() -> Result<String, String> {
    let program = filter().map_err(|error| refused(&error))?;
    apply_filter(&program).map_err(|error| refused(&error))?;
    Ok("sockets: no Unix socket can be opened, and none of any kind listened on; connected pairs can be made"
        .to_owned())
}

fn refused(error: &dyn std::error::Error) -> String {
    format!("it cannot be kept from opening Unix sockets: {error}")
}

fn filter() -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for (call, its_rules) in [
        // TCP over several paths is another protocol to Landlock.
        (SYS_socket, vec![argument_is(0, AF_UNIX)?, argument_is(2, IPPROTO_MPTCP)?]),
        // Ends of such a pair can be connected anew, by path.
        (SYS_socketpair, vec![argument_has(1, KIND, SOCK_DGRAM)?, argument_has(1, KIND, SOCK_RAW)?]),
        // Without `bind` the kernel chooses a port.
        (SYS_listen, Vec::new()),
        // These connect and send at once.
        (SYS_sendto, vec![argument_has(3, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        (SYS_sendmsg, vec![argument_has(2, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        (SYS_sendmmsg, vec![argument_has(3, MSG_FASTOPEN, MSG_FASTOPEN)?]),
        // Opens and connects sockets without a call that a filter sees.
        (SYS_io_uring_setup, Vec::new()),
        // Limits and turns of another process of the same user: of the one that watches this tool, or of demur's server.
        (SYS_prlimit64, vec![SeccompRule::new(vec![is_not_zero(0)?, is_not_zero(2)?])?]),
        (SYS_sched_setaffinity, vec![of_another(0)?]),
        (SYS_sched_setattr, vec![of_another(0)?]),
        (SYS_sched_setparam, vec![of_another(0)?]),
        (SYS_sched_setscheduler, vec![of_another(0)?]),
        (SYS_setpriority, vec![of_another(0)?, of_another(1)?]),
        // Its first argument says that the second is a process.
        (SYS_ioprio_set, vec![of_another(1)?]),
    ] {
        for number in numbers(call) {
            rules.insert(number, its_rules.clone());
        }
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let denied = SeccompAction::Errno(EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture)?.try_into()
}

/// Returns the numbers of a call: on x86-64 each has a second one, for programs with short pointers.
fn numbers(call: c_long) -> Vec<i64> {
    const SHORT_POINTERS: i64 = 0x4000_0000;
    let own = [(SYS_sendmsg, 518), (SYS_sendmmsg, 538)];
    let short = own.iter().find(|(long, _)| *long == call).map_or(call, |(_, short)| *short);
    if cfg!(target_arch = "x86_64") { vec![call, short | SHORT_POINTERS] } else { vec![call] }
}

/// Returns a rule for calls that name another process than the caller's, by this argument.
fn of_another(number: u8) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![is_not_zero(number)?])
}

fn is_not_zero(number: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(number, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

/// Returns a rule for calls with this argument.
fn argument_is(number: u8, value: c_int) -> Result<SeccompRule, BackendError> {
    argument_has(number, -1, value)
}

/// Returns a rule for calls whose argument has this value under the mask, whatever else is in it.
fn argument_has(number: u8, mask: c_int, value: c_int) -> Result<SeccompRule, BackendError> {
    let bits = |number: c_int| u64::from(number.cast_unsigned());
    let compare = SeccompCmpOp::MaskedEq(bits(mask));
    let condition = SeccompCondition::new(number, SeccompCmpArgLen::Dword, compare, bits(value))?;
    SeccompRule::new(vec![condition])
}

/// The part of a socket's type that is no flag.
const KIND: c_int = 0xf;
