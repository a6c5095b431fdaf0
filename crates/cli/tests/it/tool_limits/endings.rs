//! How tools end, what they are given and what they write.

use std::os::unix::fs::PermissionsExt as _;

use demur_sandbox::{Limit, Request, SandboxError, ToolEnding, prepare, run};

use super::{Bench, demur, text};

#[test]
fn tool_that_ends_well_is_heard() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.shell("echo out; echo err >&2"));
    assert_eq!(outcome.ending, ToolEnding::Exit(0));
    assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), ("out\n", "err\n"));
}

#[test]
fn code_and_signal_are_told() {
    let bench = Bench::new();
    assert_eq!(bench.run(&bench.shell("exit 7")).ending, ToolEnding::Exit(7));
    assert_eq!(bench.run(&bench.shell("exit 255")).ending, ToolEnding::Exit(255));
    assert_eq!(bench.run(&bench.shell("kill -TERM $$")).ending, ToolEnding::Signal(15));
    assert_eq!(bench.run(&bench.shell("kill -KILL $$")).ending, ToolEnding::Signal(9));
}

#[test]
fn tool_that_hangs_is_ended() {
    let bench = Bench::new();
    let mut request = bench.shell("echo before; trap '' TERM INT HUP; sleep 600; sleep 600");
    request.limits.time_ms = 300;
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Timeout);
    assert_eq!(text(&outcome.stdout), "before\n");
    assert!((300..30_000).contains(&outcome.duration_ms), "{}", outcome.duration_ms);
}

#[test]
fn flood_is_cut_at_the_limit() {
    let bench = Bench::new();
    for script in ["yes", "yes >&2"] {
        let mut request = bench.shell(script);
        request.limits.output = 100_000;
        let outcome = bench.run(&request);
        assert_eq!(outcome.ending, ToolEnding::Limit(Limit::Output));
        assert_eq!(outcome.stdout.len() + outcome.stderr.len(), 100_000);
    }
}

#[test]
fn output_up_to_the_limit_is_allowed_and_one_byte_more_is_not() {
    let bench = Bench::new();
    let mut request = bench.shell("head -c 30000 /dev/zero; head -c 30000 /dev/zero >&2");
    request.limits.output = 60_000;
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(0));
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (30_000, 30_000));
    request.limits.output = 59_999;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::Output));
}

#[test]
fn bytes_come_and_go_as_they_are() {
    let bench = Bench::new();
    let mut request = bench.request(&["cat"]);
    request.stdin = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    request.limits.output = 4_000_000;
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(0));
    assert!(outcome.stdout == request.stdin, "the bytes differ");
}

#[test]
fn tool_that_never_reads_its_input_blocks_nobody() {
    let bench = Bench::new();
    let mut request = bench.request(&["true"]);
    request.stdin = vec![b'x'; Request::MOST_INPUT];
    assert_eq!(bench.run(&request).ending, ToolEnding::Exit(0));
}

#[test]
fn input_cannot_be_changed_by_the_tool() {
    let bench = Bench::new();
    let mut request = bench.shell("echo y > /proc/self/fd/0; cat");
    request.stdin = b"x".to_vec();
    let outcome = bench.run(&request);
    assert_eq!(text(&outcome.stdout), "x", "{}", text(&outcome.stderr));
}

#[test]
fn environment_is_ours_alone() {
    let bench = Bench::new();
    let mut request = bench.request(&["env"]);
    request.environment.insert("GREETING".into(), "good morning".into());
    let outcome = bench.run(&request);
    let mut found: Vec<&str> = text(&outcome.stdout).lines().collect();
    found.sort_unstable();
    let folder = bench.folder.path().display();
    let expected = [
        format!("DEMUR_TEST_MARK={}", bench.mark),
        "GREETING=good morning".to_owned(),
        format!("HOME={folder}"),
        "LANG=C.UTF-8".to_owned(),
        "PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
        format!("TMPDIR={folder}"),
    ];
    assert_eq!(found, expected);
}

fn reason(request: &Request) -> String {
    match run(demur(), request).unwrap().ending {
        ToolEnding::NotStarted(why) => why,
        other => panic!("it {other}"),
    }
}

#[test]
fn tool_that_cannot_start_says_why() {
    let bench = Bench::new();
    assert_eq!(
        reason(&bench.request(&["no-such-tool"])),
        "no such program: no-such-tool, looked for in /usr/local/bin:/usr/bin:/bin"
    );
    assert_eq!(
        reason(&bench.request(&["./no-such-tool"])),
        "no such program, or no interpreter for it: ./no-such-tool"
    );
    std::fs::write(bench.path("notes"), "no program").unwrap();
    assert!(reason(&bench.request(&["./notes"])).starts_with("./notes may not be executed"));
    let mut request = bench.request(&["true"]);
    request.readable = vec![bench.path("absent")];
    assert!(reason(&request).ends_with("absent cannot be used: No such file or directory (os error 2)"));
    request.folder = bench.path("absent");
    assert!(reason(&request).ends_with("absent cannot be used: No such file or directory (os error 2)"));
    let word = "x".repeat(200_000);
    assert_eq!(reason(&bench.request(&["true", &word])), "its arguments and environment are too long");
}

#[test]
fn own_programs_of_the_folder_run_there() {
    let bench = Bench::new();
    let program = bench.path("greet");
    std::fs::write(&program, "#!/bin/sh\npwd\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let outcome = bench.run(&bench.request(&["./greet"]));
    let folder = bench.folder.path().canonicalize().unwrap();
    assert_eq!(text(&outcome.stdout).trim_end(), folder.to_str().unwrap());
}

#[test]
fn limits_are_known_before_the_tool_runs() {
    let bench = Bench::new();
    let request = bench.shell("echo > begun");
    let prepared = prepare(demur(), &request).unwrap();
    let limits = prepared.limits().to_vec();
    assert!(limits.contains(&"time: at most 60000 ms".to_owned()), "{limits:?}");
    drop(prepared);
    assert!(!bench.path("begun").exists());
    let outcome = bench.run(&request);
    assert_eq!(outcome.limits, limits);
    assert!(bench.path("begun").exists());
}

#[test]
fn record_has_room_for_every_sentence() {
    let bench = Bench::new();
    let mut request = bench.request(&["true"]);
    request.readable = vec!["/var/../usr".into(); Request::MOST_READABLE];
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(0));
    assert!(outcome.limits.len() <= 32, "{:?}", outcome.limits);
    assert!(outcome.limits.iter().all(|words| (1..=1024).contains(&words.chars().count())));
    request.folder = format!("/{}", "a/".repeat(1500)).into();
    assert_eq!(reason(&request).chars().count(), 1024);
}

#[test]
fn request_that_can_never_run_is_refused_by_us() {
    let bench = Bench::new();
    let error = run(demur(), &bench.request(&[])).unwrap_err();
    assert!(matches!(error, SandboxError::Request { what: "command", .. }), "{error}");
    let error = run(&bench.path("absent"), &bench.request(&["true"])).unwrap_err();
    assert!(matches!(error, SandboxError::Start { .. }), "{error}");
    let error = run("/bin/true".as_ref(), &bench.request(&["true"])).unwrap_err();
    assert!(matches!(error, SandboxError::Lost { .. }), "{error}");
}
