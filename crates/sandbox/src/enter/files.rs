//! Files, and signals to other processes: Landlock, as far as this kernel has it. The network is closed by it, too, where it can.

use std::{io, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, PathFdError,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};

use crate::Request;

/// What Landlock holds this thread to from now on.
pub(super) struct Confined {
    /// In words: what is in force, and what is not.
    pub(super) sentences: Vec<String>,
    /// The version that this kernel has; none where nothing is in force.
    pub(super) version: Option<ABI>,
    /// What is not in force although every tool must be held to it, and why.
    pub(super) missing: Option<String>,
}

/// Confines this thread; returns what is in force and what is not, or why the tool cannot run.
pub(super) fn confine(request: &Request) -> Result<Confined, String> {
    let folder = open(&request.folder)?;
    let readable = request.readable.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    let restricted = restrict(Some(folder), readable);
    Ok(Confined::of(restricted, request.readable.len()))
}

/// Takes every file away from this thread, as far as this kernel can.
pub(super) fn confine_from_everything() -> Confined {
    Confined::of(restrict(None, Vec::new()), 0)
}

impl Confined {
    fn of(restricted: Result<RestrictionStatus, RulesetError>, readable: usize) -> Self {
        let (version, why) = match restricted {
            Ok(status) => (version(&status), NO_LANDLOCK.to_owned()),
            Err(error) => (None, error.to_string()),
        };
        let missing = version.is_none().then(|| format!("files: {why}"));
        let sentences = match version {
            Some(abi) => describe(abi, readable),
            None => unlimited(&why),
        };
        Self { sentences, version, missing }
    }
}

fn open(path: &Path) -> Result<PathFd, String> {
    PathFd::new(path).map_err(|error| match error {
        PathFdError::OpenCall { source, .. } => unusable(path, &source),
        other => other.to_string(),
    })
}

fn unusable(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be used: {error}", path.display())
}

fn restrict(folder: Option<PathFd>, readable: Vec<PathFd>) -> Result<RestrictionStatus, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(TESTED))?
        .handle_access(AccessNet::from_all(TESTED))?
        .scope(Scope::from_all(TESTED))?
        .create()?;
    let mut ruleset = allow_system(ruleset)?;
    for path in readable {
        ruleset = ruleset.add_rule(PathBeneath::new(path, AccessFs::from_read(TESTED)))?;
    }
    // Device files would be a way around everything else.
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    if let Some(folder) = folder {
        ruleset = ruleset.add_rule(PathBeneath::new(folder, AccessFs::from_all(TESTED) & !devices))?;
    }
    ruleset.restrict_self()
}

/// Allows what nearly every program needs. What is not there on this system is left out.
fn allow_system(ruleset: RulesetCreated) -> Result<RulesetCreated, RulesetError> {
    let read: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    let write: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
    ruleset
        .add_rules(path_beneath_rules(PROGRAMS, AccessFs::from_read(TESTED)))?
        .add_rules(path_beneath_rules(SETTINGS, read))?
        .add_rules(path_beneath_rules(SOURCES, read))?
        .add_rules(path_beneath_rules(SINKS, write))
}

/// Returns the version of Landlock that confines this process now.
fn version(status: &RestrictionStatus) -> Option<ABI> {
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            Some(effective_abi)
        }
        _ => None,
    }
}

/// Returns what this version of Landlock holds the tool to, and what it is too old for.
fn describe(abi: ABI, readable: usize) -> Vec<String> {
    let since = |needed: ABI, what: &str, words: &str| {
        if abi >= needed {
            format!("{what}: {words}")
        } else {
            format!("{what}: not limited: this kernel has version {abi} of Landlock, {needed} is needed")
        }
    };
    let mut sentences = vec![format!(
        "files: written only in the folder of the tool, read only there, in {readable} further paths and where \
         the system's programs are"
    )];
    // Newer kernels say this with the first sentence.
    if abi < ABI::V5 {
        sentences.push(since(ABI::V5, "files: commands to devices", ""));
    }
    sentences.push(since(ABI::V6, "processes: signals", "reach only those of the tool"));
    sentences
}

/// Returns the sentences of a tool that is not confined at all.
fn unlimited(why: &str) -> Vec<String> {
    EVERYTHING.iter().map(|what| format!("{what}: not limited: {why}")).collect()
}

const NO_LANDLOCK: &str = "this kernel has no Landlock";

/// The newest version that was tried; newer ones may forbid what tools need.
const TESTED: ABI = ABI::V7;

const EVERYTHING: [&str; 2] = ["files", "processes: signals"];

/// May be read and executed.
const PROGRAMS: [&str; 8] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sbin", "/usr"];

/// May be read: what programs look up, without the passwords and keys that also are in `/etc`.
const SETTINGS: [&str; 32] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];

/// May be read. In `/proc`, what belongs to processes outside stays closed except for their names, command lines and states:
/// Landlock keeps them from being traced.
const SOURCES: [&str; 3] = ["/dev/random", "/dev/urandom", "/proc"];

/// May be read and written.
const SINKS: [&str; 3] = ["/dev/full", "/dev/null", "/dev/zero"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is not limited.
    fn missing(version: ABI) -> Vec<String> {
        let sentences = describe(version, 2).into_iter().filter(|words| words.contains("not limited"));
        sentences.map(|words| words.split(": not limited").next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn what_the_kernel_is_too_old_for_is_said() {
        let old = ["files: commands to devices", "processes: signals"];
        assert_eq!(missing(ABI::V1), old);
        assert_eq!(missing(ABI::V4), old);
        assert_eq!(missing(ABI::V5), old[1..]);
        assert_eq!(missing(TESTED), [""; 0]);
    }

    #[test]
    fn passwords_and_keys_are_not_among_what_may_be_read() {
        let paths = PROGRAMS.iter().chain(&SETTINGS).chain(&SOURCES);
        for secret in
            ["/etc/shadow", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssl/private/key.pem", "/root/.ssh"]
        {
            assert!(!paths.clone().any(|path| Path::new(secret).starts_with(path)), "{secret}");
        }
    }
}
