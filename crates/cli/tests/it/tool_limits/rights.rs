//! What tools may do to others: network, signals, processes, rights.

use std::net::TcpListener;

use demur_sandbox::Ending;

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
    let expected = if is_limited(&outcome, "network: TCP") { "refused\n" } else { "connected\n" };
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
}

#[test]
fn tool_does_not_listen() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.python(
        "import socket\n\
         try: socket.socket().bind(('127.0.0.1', 0)); print('bound')\n\
         except PermissionError: print('refused')",
    ));
    let expected = if is_limited(&outcome, "network: TCP") { "refused\n" } else { "bound\n" };
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
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

#[test]
fn tool_signals_its_own() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.shell("sleep 600 & kill $!; wait $!; echo $?"));
    assert_eq!((outcome.ending, text(&outcome.stdout)), (Ending::Exit(0), "143\n"));
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
    assert_eq!((outcome.ending, text(&outcome.stdout)), (Ending::Exit(0), ""), "{:?}", outcome.stderr);
}
