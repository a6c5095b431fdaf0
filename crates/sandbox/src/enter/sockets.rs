//! Unix sockets: a tool opens none. Landlock knows files and TCP ports, not sockets with a path, and demur's own socket
//! lets the user of this machine answer questions.

use std::collections::BTreeMap;

use libc::{
    AF_UNIX, EPERM, SOCK_DGRAM, SOCK_RAW, SYS_io_uring_setup, SYS_socket, SYS_socketpair, c_int, c_long,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Makes sure that neither the tool nor what it starts opens a Unix socket. Programs of another architecture than
/// demur's own number their calls in another way: the kernel ends them with their first call.
pub(super) fn open_none() -> Result<String, String> {
    let program = filter().map_err(|error| refused(&error))?;
    apply_filter(&program).map_err(|error| refused(&error))?;
    Ok("sockets: no Unix socket can be opened; pairs of connected ones can".to_owned())
}

fn refused(error: &dyn std::error::Error) -> String {
    format!("it cannot be kept from opening Unix sockets: {error}")
}

fn filter() -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for (call, its_rules) in [
        (SYS_socket, vec![SeccompRule::new(vec![is(0, AF_UNIX)?])?]),
        // Ends of such a pair can be connected anew, by path.
        (SYS_socketpair, vec![rule_of_kind(SOCK_DGRAM)?, rule_of_kind(SOCK_RAW)?]),
        // Opens and connects sockets without a call that a filter sees.
        (SYS_io_uring_setup, Vec::new()),
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
    if cfg!(target_arch = "x86_64") { vec![call, call | SHORT_POINTERS] } else { vec![call] }
}

fn is(argument: u8, value: c_int) -> Result<SeccompCondition, BackendError> {
    let value = u64::from(value.unsigned_abs());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Returns a rule for one kind of socket, whatever flags come with it.
fn rule_of_kind(kind: c_int) -> Result<SeccompRule, BackendError> {
    const KIND: u64 = 0xf;
    let kind = u64::from(kind.unsigned_abs());
    let condition = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(KIND), kind)?;
    SeccompRule::new(vec![condition])
}
