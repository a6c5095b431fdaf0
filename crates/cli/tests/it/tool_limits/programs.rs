//! Programs that people want tools to run: they work inside the sandbox, with what their policy must say for it.

use std::{path::PathBuf, process::Command, time::Duration};

use demur_sandbox::{Request, ToolEnding};

use super::{Bench, text};

/// Returns what a script prints that ends well.
fn works(bench: &Bench, script: &str, change: impl FnOnce(&mut Request)) -> String {
    let mut request = bench.shell(&format!("set -e\n{script}"));
    request.limits.processes = 256;
    change(&mut request);
    let outcome = bench.run(&request);
    let said = format!("{}{}", text(&outcome.stdout), text(&outcome.stderr));
    assert_eq!(outcome.ending, ToolEnding::Exit(0), "{said}");
    text(&outcome.stdout).to_owned()
}

/// ONE-14: the linker makes what it writes executable by its path.
#[test]
fn compiler_compiles_and_what_it_made_runs() {
    let bench = Bench::new();
    let script = "printf '#include <stdio.h>\\nint main(void) { puts(\"compiled\"); return 0; }\\n' > a.c\n\
                  cc -O1 -Wall a.c -o a\n./a";
    assert_eq!(works(&bench, script, |request| request.policy.chmod = true), "compiled\n");
}

/// ONE-14: `git config`, which `git init` and `git clone` call, gives its file a mode by its path.
#[test]
fn git_keeps_a_history_and_clones_it() {
    let bench = Bench::new();
    let script = "git init -q one && cd one\n\
                  git config user.name ada && git config user.email ada@example.org\n\
                  echo text > file && git add file && git commit -q -m first\n\
                  echo more >> file && git status --short\n\
                  cd .. && git clone -q one two && cat two/file && git -C two log --format=%s";
    assert_eq!(works(&bench, script, |request| request.policy.chmod = true), " M file\ntext\nfirst\n");
}

/// Returns where the toolchain is that builds this test.
fn toolchain() -> PathBuf {
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    PathBuf::from(text(&rustc.stdout).trim())
}

/// ONE-14: with nothing but the toolchain to read, whether or not attributes can be changed by path.
#[test]
fn cargo_builds_a_small_crate_and_runs_it() {
    let toolchain = toolchain();
    for chmod in [false, true] {
        let bench = Bench::new();
        let script = "mkdir src\n\
                      printf '[package]\\nname = \"small\"\\nversion = \"0.1.0\"\\nedition = \"2024\"\\n' > Cargo.toml\n\
                      printf 'fn main() { println!(\"built\"); }\\n#[test]\\nfn holds() {}\\n' > src/main.rs\n\
                      cargo build --offline --quiet && target/debug/small";
        let printed = works(&bench, script, |request| {
            request.policy.chmod = chmod;
            request.readable = vec![toolchain.clone()];
            let path = format!("{}/bin:/usr/bin:/bin", toolchain.display());
            request.environment.insert("PATH".into(), path);
            request.limits.memory = 4 << 30;
            request.limits.time_ms = u64::try_from(Duration::from_mins(5).as_millis()).unwrap();
        });
        assert_eq!(printed, "built\n", "chmod = {chmod}");
    }
}

/// ONE-14: watches of files are refused; what would use them looks again and again.
#[test]
fn follower_of_a_file_sees_what_is_added() {
    let script = "echo one > log; (tail -n +1 -s 0.05 -f log 2>/dev/null & echo $! > tail) | { read first; echo two >> log; \
                  read second; kill $(cat tail); echo $first $second; }";
    assert_eq!(works(&Bench::new(), script, |_| ()), "one two\n");
}

/// ONE-14: threads and processes are made by the older call where the newer one is not there.
#[test]
fn threads_and_processes_are_made() {
    let script = "python3 -c 'import subprocess, threading\n\
                  done = []\n\
                  workers = [threading.Thread(target=done.append, args=(1,)) for _ in range(4)]\n\
                  [worker.start() for worker in workers]; [worker.join() for worker in workers]\n\
                  print(len(done), subprocess.run([\"echo\", \"run\"], capture_output=True, text=True).stdout.strip())'";
    assert_eq!(works(&Bench::new(), script, |_| ()), "4 run\n");
}
