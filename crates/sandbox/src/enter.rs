//! The stage that becomes the tool: it takes rights away from itself, says which, and executes the tool.
//!
//! What std offers between fork and exec is `unsafe`; a process of its own needs nothing of the kind.

mod calls;
mod descriptors;
mod files;
mod privileges;
mod resources;

use std::{
    convert::Infallible,
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read as _, Seek as _, Write as _},
    os::{
        fd::AsFd as _,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Command, Stdio},
};

use rustix::{
    fs::{MemfdFlags, Mode, SealFlags, fcntl_add_seals, memfd_create},
    process::{Signal, set_parent_process_death_signal, setsid, umask},
};

use self::files::Confined;
use crate::{
    Request, SandboxError, SandboxPolicy,
    outcome::sentence,
    wire::{self, Note},
};

/// Becomes the tool that the supervisor asks for. Returns only if that fails, after it told the supervisor why.
pub fn enter() -> Result<Infallible, SandboxError> {
    let stage = |source| SandboxError::Stage { expected: "a request", source };
    // Standard input becomes the tool's own; this copy is closed when the tool is executed.
    let control = io::stdin().as_fd().try_clone_to_owned().map_err(stage)?;
    let control = UnixStream::from(control);
    let request = wire::read_request(&mut BufReader::new(&control)).map_err(stage)?;
    let failure = match prepare(&request) {
        Ok((limits, command)) => execute(&control, limits, command)
            .map(|error| describe(&error, &request))
            .map_err(SandboxError::system("talk to the supervisor"))?,
        Err(why) => why,
    };
    wire::write_note(&mut &control, &Note::Failure(sentence(failure)))
        .map_err(SandboxError::system("talk to the supervisor"))?;
    Err(SandboxError::System { action: "become the tool", source: ErrorKind::Other.into() })
}

/// Tells the supervisor the limits, waits for the start and executes the tool. Returns why the tool cannot be
/// executed. A supervisor that is not there any more cannot be told the limits: then nothing is executed.
fn execute(mut control: &UnixStream, limits: Vec<String>, mut command: Command) -> io::Result<io::Error> {
    wire::write_note(&mut control, &Note::Limits(limits))?;
    control.read_exact(&mut [0; wire::START.len()])?;
    Ok(command.exec())
}

/// Puts every limit in force that can be; returns them in words, and the tool, ready to be executed.
fn prepare(request: &Request) -> Result<(Vec<String>, Command), String> {
    setsid().map_err(|error| format!("it cannot have a session of its own: {error}"))?;
    std::env::set_current_dir(&request.folder)
        .map_err(|error| format!("the folder {} cannot be used: {error}", request.folder.display()))?;
    umask(Mode::RWXG | Mode::RWXO);
    let input = input(&request.stdin).map_err(|error| format!("its input cannot be kept: {error}"))?;
    // When memory runs out, the kernel shall take the tool and nobody else. It may say no.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let inherited = descriptors::inherited();
    let no_rights = privileges::gain_none()?;
    let confined = files::confine(request)?;
    let dropped = privileges::drop_all();
    let mut sentences = vec![String::new()];
    sentences.extend(inherited);
    sentences.push(no_rights);
    sentences.extend(dropped);
    let (words, missing) = enforce(confined, request.policy);
    sentences.extend(words);
    sentences[0] = in_force(&missing, request.policy)?;
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("it cannot be bound to the life of its supervisor: {error}"))?;
    let mut command = Command::new(&request.command[0]);
    command.args(&request.command[1..]).env_clear().envs(request.full_environment());
    command.stdin(Stdio::from(input));
    sentences.extend(resources::limit(&request.limits));
    Ok((sentences.into_iter().map(sentence).collect(), command))
}

/// Returns what of the sandbox this thread cannot enforce on itself, and why.
pub(crate) fn missing(policy: SandboxPolicy) -> Vec<String> {
    match privileges::gain_none() {
        Ok(_) => enforce(files::confine_from_everything(), policy).1,
        Err(why) => vec![why],
    }
}

/// Refuses the calls that Landlock does not know. Returns what is in force, in words, and what is not and why.
fn enforce(confined: Confined, policy: SandboxPolicy) -> (Vec<String>, Vec<String>) {
    let Confined { mut sentences, version, missing } = confined;
    let mut missing: Vec<String> = missing.into_iter().collect();
    match calls::refuse(policy, version) {
        Ok(words) => sentences.extend(words),
        Err(why) => {
            sentences.extend(calls::unlimited(&why, version));
            missing.push(format!("sockets and other calls of the kernel: {why}"));
        }
    }
    (sentences, missing)
}

/// Returns whether the tool is held to everything that it must be held to, in words, or why it does not start.
fn in_force(missing: &[String], policy: SandboxPolicy) -> Result<String, String> {
    match (missing, policy.best_effort) {
        ([], false) => Ok(format!("{IN_FORCE}enforced")),
        ([], true) => Ok(format!("{IN_FORCE}best effort, and all of it is enforced")),
        (_, true) => Ok(format!("{IN_FORCE}best effort; not enforced: {}", missing.join("; "))),
        (_, false) => Err(format!(
            "this system does not enforce what the tool must be held to: {}; the policy could say \
             sandbox = \"best-effort\"",
            missing.join("; ")
        )),
    }
}

/// Returns the bytes as a file in memory that nobody can change: a tool that does not read it blocks nobody.
fn input(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

/// Returns why the tool could not be executed.
fn describe(error: &io::Error, request: &Request) -> String {
    let program = &request.command[0];
    match error.kind() {
        ErrorKind::NotFound if program.contains('/') => {
            format!("no such program, or no interpreter for it: {program}")
        }
        ErrorKind::NotFound => {
            format!("no such program: {program}, looked for in {}", request.full_environment()["PATH"])
        }
        ErrorKind::PermissionDenied => format!(
            "{program} may not be executed: it is not executable, or not in a folder that the tool may read"
        ),
        ErrorKind::ArgumentListTooLong => "its arguments and environment are too long".to_owned(),
        _ => format!("{program} cannot be executed: {error}"),
    }
}

/// How the sentence begins that says whether all of the sandbox is in force. Reports look for it.
const IN_FORCE: &str = "sandbox: ";
