//! Where tools may read and write.

use std::{fs, os::unix::fs::PermissionsExt as _};

use demur_sandbox::{Limit, ToolEnding};

use super::{Bench, is_limited, text};

#[test]
fn tool_writes_in_its_folder() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.shell(
        "mkdir -p a/b && echo 1 > a/one && mv a/one a/b/two && ln -s b/two a/three && rm a/three && \
         echo $(mktemp) > name && cat a/b/two",
    ));
    assert_eq!((outcome.ending, text(&outcome.stdout)), (ToolEnding::Exit(0), "1\n"), "{:?}", outcome.stderr);
    let name = fs::read_to_string(bench.path("name")).unwrap();
    assert!(
        name.starts_with(bench.folder.path().to_str().unwrap()),
        "temporary files are in the folder: {name}"
    );
    let mode = fs::metadata(bench.path("a/b/two")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "files are for their owner only");
}

#[test]
fn tool_does_not_write_elsewhere() {
    let (bench, other) = (Bench::new(), Bench::new());
    fs::write(other.path("kept"), "as it was").unwrap();
    let (kept, new) = (other.path("kept"), other.path("new"));
    let (kept_name, new_name) = (kept.display(), new.display());
    let outcome = bench.run(&bench.shell(&format!(
        "echo x > {new_name}; mkdir {new_name}; rm {kept_name}; echo x >> {kept_name}; truncate -s 0 {kept_name}; \
         ln -s {kept_name} way && echo x > way; mv {kept_name} here; exec true"
    )));
    assert_eq!(outcome.ending, ToolEnding::Exit(0));
    if is_limited(&outcome, "files") {
        assert!(!new.exists());
        assert_eq!(fs::read_to_string(kept).unwrap(), "as it was");
        assert!(!bench.path("here").exists());
    } else {
        assert!(new.exists());
    }
}

#[test]
fn tool_does_not_read_secrets() {
    let (bench, other) = (Bench::new(), Bench::new());
    let secret = other.path("secret");
    fs::write(&secret, "the secret").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let outcome = bench.run(&bench.shell(&format!(
        "cat {0}; ln -s {0} way; cat way; ls {1}; cat /etc/shadow",
        secret.display(),
        other.folder.path().display(),
    )));
    let is_hidden = !text(&outcome.stdout).contains("secret") && !text(&outcome.stdout).contains("root");
    assert_eq!(is_hidden, is_limited(&outcome, "files"), "{}", text(&outcome.stdout));
}

#[test]
fn readable_paths_are_read_and_not_written() {
    let (bench, other) = (Bench::new(), Bench::new());
    fs::write(other.path("table"), "rows").unwrap();
    let mut request =
        bench.shell(&format!("cat {0}; echo x > {0}; exec true", other.path("table").display()));
    request.readable = vec![other.folder.path().to_owned()];
    let outcome = bench.run(&request);
    assert_eq!(text(&outcome.stdout), "rows");
    let is_kept = fs::read_to_string(other.path("table")).unwrap() == "rows";
    assert_eq!(is_kept, is_limited(&outcome, "files"));
    request.readable = vec![other.path("table")];
    fs::write(other.path("table"), "rows").unwrap();
    assert_eq!(text(&bench.run(&request).stdout), "rows", "a single file will do");
}

#[test]
fn temporary_directory_of_everybody_is_not_writable() {
    let bench = Bench::new();
    let name = format!("/tmp/demur-{}", bench.mark);
    let outcome = bench.run(&bench.shell(&format!("echo x > {name}")));
    let is_written = fs::remove_file(&name).is_ok();
    assert_ne!(is_written, is_limited(&outcome, "files"));
}

#[test]
fn devices_that_hold_nothing_are_usable() {
    let bench = Bench::new();
    let outcome = bench
        .run(&bench.shell("echo x > /dev/null && head -c 8 /dev/urandom | wc -c && head -c 1 /dev/zero"));
    assert_eq!(
        (outcome.ending, text(&outcome.stdout)),
        (ToolEnding::Exit(0), "8\n\0"),
        "{:?}",
        outcome.stderr
    );
}

#[test]
fn file_that_grows_too_large_ends_the_tool() {
    let bench = Bench::new();
    let mut request = bench.request(&["dd", "if=/dev/zero", "of=large", "bs=1000", "count=1000"]);
    request.limits.file_size = 10_000;
    assert_eq!(bench.run(&request).ending, ToolEnding::Limit(Limit::FileSize));
    assert_eq!(fs::metadata(bench.path("large")).unwrap().len(), 10_000);
}

#[test]
fn open_files_are_limited() {
    let bench = Bench::new();
    let mut request = bench.python("files = [open('/dev/null') for _ in range(60)]");
    assert_eq!(bench.run(&request).ending, ToolEnding::Exit(0));
    request.limits.open_files = 40;
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(1));
    assert!(text(&outcome.stderr).contains("Too many open files"), "{}", text(&outcome.stderr));
}
