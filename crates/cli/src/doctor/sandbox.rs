//! The limits of tools: can this machine put them in force? A tool that does nothing is run under them.

use std::env;

use demur_sandbox::{Request, SandboxError, ToolEnding, prepare};

use super::Check;

/// Runs `true` under the limits of `demur run`, in the temporary folder, where it writes nothing.
pub(super) fn check() -> Check {
    match tried() {
        Ok((_, ToolEnding::Exit(0), limits)) if is_confined(&limits) => {
            Check::ok("sandbox", in_force(&limits))
        }
        Ok((_, ToolEnding::Exit(0), limits)) => {
            let open = limits.iter().find(|limit| limit.starts_with(FILES_OPEN));
            let found = open.map_or("the files of tools are not limited", String::as_str);
            Check::warning("sandbox", found, LANDLOCK)
        }
        Ok((program, ending, _)) => {
            let found = format!("no tool of `demur run` starts: {program} {ending}");
            Check::problem("sandbox", found, PROFILE)
        }
        Err(error) => Check::problem("sandbox", format!("no tool of `demur run` starts: {error}"), PROFILE),
    }
}

/// Returns which program was run, how it ended, and under which limits.
fn tried() -> Result<(&'static str, ToolEnding, Vec<String>), SandboxError> {
    let lost = |source| SandboxError::System { action: "find this program and the temporary folder", source };
    let program = env::current_exe().map_err(lost)?;
    let folder = env::temp_dir().canonicalize().map_err(lost)?;
    let prepared = prepare(&program, &Request::new([TOOL], folder))?;
    let limits = prepared.limits().to_vec();
    Ok((TOOL, prepared.start()?.wait()?.ending, limits))
}

fn is_confined(limits: &[String]) -> bool {
    let about_files = |limit: &&String| limit.starts_with("files:");
    limits.iter().any(|limit| about_files(&limit))
        && !limits.iter().any(|limit| limit.starts_with(FILES_OPEN))
}

/// Returns what is in force, and what this kernel is too old for.
fn in_force(limits: &[String]) -> String {
    let old: Vec<_> = limits.iter().filter(|limit| limit.contains(TOO_OLD)).collect();
    let what = |limit: &&String| limit.split(NOT_LIMITED).next().unwrap_or_default().to_owned();
    match old.as_slice() {
        [] => "tools run under limits: files, TCP, signals, Unix sockets".to_owned(),
        old => {
            let open: Vec<String> = old.iter().map(what).collect();
            format!("tools run under limits; this kernel is too old for {}", open.join(", "))
        }
    }
}

/// A tool that does nothing.
const TOOL: &str = "true";
/// With these words the sandbox says what it could not put in force.
const NOT_LIMITED: &str = ": not limited";
const FILES_OPEN: &str = "files: not limited";
const TOO_OLD: &str = "of Landlock, ";
const LANDLOCK: &str = "boot Linux 5.13 or newer with Landlock (`cat /sys/kernel/security/lsm` names it where it is on), or \
                        run tools that you trust only";
const PROFILE: &str = "if this is a container, let its seccomp profile allow `landlock_*` and `seccomp`; `docs/sandbox.md` says \
                       what tools are held to";
