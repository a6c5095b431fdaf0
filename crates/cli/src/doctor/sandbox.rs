//! Whether this system can hold tools to what the policy of a run demands by itself.

use super::Check;

/// Tries it.
pub(super) fn check() -> Check {
    let missing = demur_sandbox::missing();
    if missing.is_empty() {
        return Check::ok(
            "sandbox",
            "tools of runs are kept from demur, from other files and from the network",
        );
    }
    Check::warning(
        "sandbox",
        format!("not enforced here: {}", missing.join("; ")),
        "Linux 5.13 or newer with Landlock and seccomp enforces it; elsewhere `demur run` starts no tool, unless its policy says \
         sandbox = \"best-effort\"",
    )
}
