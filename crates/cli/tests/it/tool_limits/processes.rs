//! Tools that multiply, hide, eat memory or outlive whoever asked for them.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use demur_sandbox::{Limit, Request, SandboxError, ToolEnding, prepare};

use super::{Bench, demur, wait_until};
use crate::sandbox::count;

/// A bomb that ends by itself, should nobody end it.
#[test]
fn tool_that_forks_is_ended() {
    let bench = Bench::new();
    let mut request = bench.python(
        "import os, time\n\
         for _ in range(200):\n\
         \x20   if os.fork() == 0:\n\
         \x20       time.sleep(20)\n\
         \x20       os._exit(0)\n\
         time.sleep(20)",
    );
    request.limits.processes = 16;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::Processes));
}

#[test]
fn threads_count_as_processes() {
    let bench = Bench::new();
    let mut request = bench.python(
        "import threading, time\n\
         for _ in range(50): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\n\
         time.sleep(20)",
    );
    request.limits.processes = 16;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::Processes));
}

#[test]
fn processes_up_to_the_limit_are_allowed() {
    let bench = Bench::new();
    let mut request = bench.shell("for i in 1 2 3; do sleep 0.1 & done; wait");
    request.limits.processes = 4;
    assert_eq!(bench.run(&request).ending, ToolEnding::Exit(0));
}

#[test]
fn what_a_tool_leaves_behind_is_ended() {
    let bench = Bench::new();
    // Twice removed, in a session of its own; once with our pipes still open, once without.
    for script in ["(setsid sleep 600 &)", "(setsid sleep 600 > /dev/null 2>&1 &)"] {
        let outcome = bench.run(&bench.shell(script));
        assert_eq!(outcome.ending, ToolEnding::Exit(0));
        assert!(outcome.duration_ms < 30_000);
    }
}

/// Every process starts its successor in a new session and is gone: there is hardly anybody to end.
#[test]
fn tool_that_runs_away_is_caught() {
    let bench = Bench::new();
    let request = bench.python(
        "import os\n\
         for _ in range(20000):\n\
         \x20   if os.fork() != 0: os._exit(0)\n\
         \x20   os.setsid()",
    );
    assert_eq!(bench.run(&request).ending, ToolEnding::Exit(0));
}

#[test]
fn memory_of_one_process_is_limited() {
    let bench = Bench::new();
    let mut request = bench.python("import time; x = bytearray(160 << 20); time.sleep(20)");
    request.limits.memory = 100 << 20;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::Memory));
}

#[test]
fn memory_of_several_processes_is_added_up() {
    let bench = Bench::new();
    let mut request = bench.python(
        "import os, time\n\
         for _ in range(4):\n\
         \x20   if os.fork() == 0: break\n\
         x = bytearray(40 << 20)\n\
         time.sleep(20)",
    );
    request.limits.memory = 100 << 20;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::Memory));
}

#[test]
fn memory_that_processes_share_counts_once() {
    let bench = Bench::new();
    let mut request = bench.python(
        "import os, time\n\
         x = b'x' * (60 << 20)\n\
         children = [os.fork() for _ in range(3)]\n\
         time.sleep(0.3)\n\
         if 0 not in children: [os.wait() for _ in range(3)]",
    );
    request.limits.memory = 150 << 20;
    assert_eq!(bench.run(&request).ending, ToolEnding::Exit(0));
}

#[test]
fn tool_is_stopped_from_another_thread() {
    let bench = Bench::new();
    let prepared = prepare(demur(), &hider(&bench)).unwrap();
    let stopper = prepared.stopper();
    let running = prepared.start().unwrap();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the tool runs", || bench.path("begun").exists());
            stopper.stop();
        });
        running.wait().unwrap_err()
    });
    assert!(matches!(error, SandboxError::Stopped), "{error}");
    assert_eq!(bench.survivors(), [0; 0]);
}

#[test]
fn tool_whose_caller_lets_go_is_ended() {
    let bench = Bench::new();
    let running = prepare(demur(), &hider(&bench)).unwrap().start().unwrap();
    wait_until("the tool runs", || bench.path("begun").exists());
    drop(running);
    assert_eq!(bench.survivors(), [0; 0]);
}

/// Nothing survives `kill -9` of the caller, whenever it comes.
#[test]
fn proof_killed_callers_leave_nothing_behind() {
    let rounds = count(8, 200);
    for round in 0..rounds {
        let bench = Bench::new();
        let mut caller = caller(&hider(&bench));
        let moment = Duration::from_micros(u64::try_from(round * 7919 % 60_000).unwrap());
        let start = Instant::now();
        while start.elapsed() < moment {
            std::hint::spin_loop();
        }
        if round % 2 == 0 {
            wait_until("the tool runs", || bench.path("begun").exists());
        }
        caller.kill().unwrap();
        caller.wait().unwrap();
        wait_until("all is over", || bench.survivors().is_empty() && inhabitants(&bench).is_empty());
    }
}

#[test]
fn tool_ends_with_its_supervisor() {
    let bench = Bench::new();
    let mut request = bench.shell("echo > begun; exec sleep 600");
    request.limits.time_ms = 60_000;
    let mut supervisor = supervisor(&request);
    // The file is there before the shell becomes `sleep`, and meanwhile its environment reads as empty.
    wait_until("the tool runs", || bench.path("begun").exists() && bench.survivors().len() == 1);
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    wait_until("the tool has ended", || bench.survivors().is_empty());
}

/// Returns a tool that says when it has hidden a process, and then hangs.
fn hider(bench: &Bench) -> Request {
    bench.shell("(setsid sleep 600 &); echo > begun; sleep 600")
}

/// Starts a supervisor and hands it the request and the start.
fn supervisor(request: &Request) -> Child {
    let mut command = Command::new(demur());
    command.arg(demur_sandbox::SUPERVISE).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut supervisor = command.spawn().unwrap();
    supervisor.stdin.as_mut().unwrap().write_all(line(request).as_bytes()).unwrap();
    let mut limits = String::new();
    BufReader::new(supervisor.stdout.as_mut().unwrap()).read_line(&mut limits).unwrap();
    supervisor.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    supervisor
}

/// Starts a process that has a supervisor run the tool, as `demur run` does, and waits.
fn caller(request: &Request) -> Child {
    let script = "import subprocess, sys\n\
        child = subprocess.Popen(sys.argv[1:3], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n\
        child.stdin.write(sys.argv[3].encode())\n\
        child.stdin.flush()\n\
        child.stdout.readline()\n\
        child.stdin.write(b'\\n')\n\
        child.stdin.flush()\n\
        child.wait()";
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(demur()).arg(demur_sandbox::SUPERVISE).arg(line(request));
    command.current_dir(&request.folder).stdin(Stdio::null()).spawn().unwrap()
}

/// Returns the request as supervisors are asked.
fn line(request: &Request) -> String {
    format!("{}\n", serde_json::json!({ "request": request, "stdin": 0 }))
}

/// Returns the processes whose working directory is the folder: also supervisors whose caller was there.
fn inhabitants(bench: &Bench) -> Vec<u32> {
    let folder = bench.folder.path().canonicalize().unwrap();
    let is_there =
        |number: &u32| fs::read_link(format!("/proc/{number}/cwd")).is_ok_and(|path| path == folder);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_there).collect()
}
