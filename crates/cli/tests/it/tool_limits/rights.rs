//! What tools may do to others: network, signals, processes, rights.

use std::{net::TcpListener, os::unix::net::UnixListener};

use demur_sandbox::ToolEnding;

use super::{Bench, is_limited, text};

#[test]
fn tool_does_not_connect() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = bench.run(&bench.python(&format!(
        "import socket\n\
         try: socket.create_connection(('127.0.0.1', {port}), 5); print('connected')\n\
         except PermissionError: print('refused')"
    )));
    assert_eq!(text(&outcome.stdout), "refused\n", "{}", text(&outcome.stderr));
}

#[test]
fn tool_does_not_listen() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import socket\n\
         try: socket.socket().bind(('127.0.0.1', 0)); print('bound')\n\
         except PermissionError: print('refused')",
    ));
    assert_eq!(text(&outcome.stdout), "refused\n", "{}", text(&outcome.stderr));
}

/// Ways to a port that go around `connect` and `bind`.
#[test]
fn tool_reaches_no_port_by_another_way() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = bench.run(&bench.python(&format!(
        "import socket\n\
         def tried(what):\n\
         \x20   try: what(); print('done')\n\
         \x20   except PermissionError: print('refused')\n\
         here = ('127.0.0.1', {port})\n\
         tried(lambda: socket.socket().sendto(b'x', 0x20000000, here))\n\
         tried(lambda: socket.socket().sendmsg([b'x'], [], 0x20000000, here))\n\
         tried(lambda: socket.socket(proto=262))\n\
         tried(lambda: socket.socket().listen())",
    )));
    assert_eq!(text(&outcome.stdout), "refused\n".repeat(4), "{}", text(&outcome.stderr));
}

/// ONE-14
#[test]
fn tool_reaches_no_unix_socket() {
    let bench = Bench::new();
    let path = bench.path("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let outcome = bench.run(&bench.python(&format!(
        "import ctypes, socket\n\
         for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET]:\n\
         \x20   try: socket.socket(socket.AF_UNIX, kind).connect('{}'); print('connected')\n\
         \x20   except PermissionError: print('refused')\n\
         for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:\n\
         \x20   try: socket.socketpair(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC); print('paired')\n\
         \x20   except PermissionError: print('refused')\n\
         call = ctypes.CDLL(None).syscall\n\
         print(call(0x40000029, 1, 1, 0), call(425, 8, ctypes.byref(ctypes.create_string_buffer(256))))",
        path.display()
    )));
    let expected = format!("{}-1 -1\n", "refused\n".repeat(5));
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
    assert!(is_limited(&outcome, "sockets"), "{outcome:?}");
}

/// Calls of another architecture have other numbers: 359 opens a socket through the door for 32-bit programs.
#[cfg(target_arch = "x86_64")]
#[test]
fn tool_opens_no_unix_socket_with_the_calls_of_another_architecture() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import ctypes, mmap\n\
         code = bytes.fromhex('53 b867010000 bb01000000 b901000000 31d2 cd80 5b c3')\n\
         page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n\
         page.write(code)\n\
         at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n\
         print('ready', flush=True)\n\
         print('opened', ctypes.CFUNCTYPE(ctypes.c_int)(at)())",
    ));
    assert_eq!(text(&outcome.stdout), "ready\n", "{outcome:?}");
    assert!(matches!(outcome.ending, ToolEnding::Signal(_)), "{outcome:?}");
}

#[test]
fn tool_talks_to_its_own_over_a_pair_of_sockets() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import socket\n\
         here, there = socket.socketpair()\n\
         here.sendall(b'heard'); print(there.recv(5).decode())",
    ));
    assert_eq!((outcome.ending, text(&outcome.stdout)), (ToolEnding::Exit(0), "heard\n"));
}

#[test]
fn tool_does_not_reach_other_processes() {
    let bench = Bench::new();
    let own = std::process::id();
    let outcome = bench.run(&bench.shell(&format!(
        "kill -0 {own} && echo signalled; kill -0 $PPID && echo signalled; head -c 1 /proc/{own}/environ"
    )));
    if is_limited(&outcome, "processes: signals") {
        assert_eq!(text(&outcome.stdout), "", "{}", text(&outcome.stderr));
    } else {
        assert!(text(&outcome.stdout).contains("signalled"), "{}", text(&outcome.stderr));
    }
}

/// A server without files takes no connections, and a supervisor without them ends nobody.
#[test]
fn tool_changes_limits_and_turns_of_no_other_process() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import os, resource\n\
         def tried(what):\n\
         \x20   try: what(); print('done')\n\
         \x20   except PermissionError: print('refused')\n\
         above, files = os.getppid(), resource.RLIMIT_NOFILE\n\
         limits, turns = resource.prlimit(above, files), os.sched_getaffinity(above)\n\
         tried(lambda: resource.prlimit(above, files, limits))\n\
         tried(lambda: os.sched_setaffinity(above, turns))\n\
         tried(lambda: os.sched_setscheduler(above, os.SCHED_OTHER, os.sched_param(0)))\n\
         tried(lambda: os.setpriority(os.PRIO_PROCESS, above, 5))\n\
         tried(lambda: os.setpriority(os.PRIO_USER, os.getuid(), 5))\n\
         tried(lambda: resource.setrlimit(files, (64, 64)))\n\
         tried(lambda: os.nice(1))",
    ));
    let expected = format!("{}done\ndone\n", "refused\n".repeat(5));
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
}

#[test]
fn tool_signals_its_own() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.shell("sleep 600 & kill $!; wait $!; echo $?"));
    assert_eq!((outcome.ending, text(&outcome.stdout)), (ToolEnding::Exit(0), "143\n"));
}

#[test]
fn tool_has_no_rights_of_an_administrator() {
    let bench = Bench::new();
    let outcome =
        bench
            .run(&bench.shell(
                "grep -E 'CapPrm|CapEff|NoNewPrivs' /proc/self/status; chroot / true && echo changed",
            ));
    let none = "0000000000000000";
    assert_eq!(text(&outcome.stdout), format!("CapPrm:\t{none}\nCapEff:\t{none}\nNoNewPrivs:\t1\n"));
}

#[test]
fn tool_does_not_raise_its_own_limits() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import resource as r\n\
         for limit in [r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_DATA, r.RLIMIT_CPU, r.RLIMIT_CORE]:\n\
         \x20   soft, hard = r.getrlimit(limit)\n\
         \x20   assert soft == hard != r.RLIM_INFINITY\n\
         \x20   try: r.setrlimit(limit, (hard + 1, hard + 1)); print('raised')\n\
         \x20   except ValueError: pass",
    ));
    assert_eq!((outcome.ending, text(&outcome.stdout)), (ToolEnding::Exit(0), ""), "{:?}", outcome.stderr);
}
