//! Runs one tool: no shell, with an end. It is no sandbox: the tool may do whatever its user may.

use std::{
    error::Error,
    fs::File,
    io::{Read as _, Seek as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use demur_ledger::facts::FailureKind;

/// How a tool ended.
pub(crate) struct Outcome {
    /// How it failed, and why in words; none if it did not.
    pub(crate) failure: Option<(FailureKind, String)>,
    /// Its exit status, where it has one.
    pub(crate) exit_status: Option<u8>,
    /// How long it took, in milliseconds.
    pub(crate) duration: u64,
    /// The beginning of what it wrote to standard output.
    pub(crate) stdout: Vec<u8>,
    /// The beginning of what it wrote to standard error.
    pub(crate) stderr: Vec<u8>,
}

/// The limits of a tool in words, for the record.
pub(crate) const LIMITS: [&str; 3] =
    ["ended after 10 seconds", "ended after 1 MiB of output", "no sandbox: it may do whatever its user may"];

/// Runs a command and returns how it ended.
pub(crate) fn run(command: &[String], stdin: &str) -> Result<Outcome, Box<dyn Error>> {
    let began = Instant::now();
    // Files instead of pipes: nobody has to read and write at the same time, and nobody waits for the other.
    let (mut input, output, errors) = (tempfile::tempfile()?, tempfile::tempfile()?, tempfile::tempfile()?);
    input.write_all(stdin.as_bytes())?;
    input.rewind()?;
    let (program, arguments) = command.split_first().ok_or("expected a program, found an empty command")?;
    let mut prepared = Command::new(program);
    prepared.args(arguments).stdin(input).stdout(output.try_clone()?).stderr(errors.try_clone()?);
    let (failure, exit_status) = match prepared.spawn() {
        Err(error) => (Some((FailureKind::NotStarted, error.to_string())), None),
        Ok(child) => watch(child, [&output, &errors], began)?,
    };
    let duration = u64::try_from(began.elapsed().as_millis())?;
    let (stdout, stderr) = (written(output)?, written(errors)?);
    Ok(Outcome { failure, exit_status, duration, stdout, stderr })
}

/// Returns the beginning of what was written into a file.
fn written(mut file: File) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(OUTPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A failure with its words, and the exit status where there is one.
type Ending = (Option<(FailureKind, String)>, Option<u8>);

fn watch(mut child: Child, outputs: [&File; 2], began: Instant) -> Result<Ending, Box<dyn Error>> {
    loop {
        if let Some(status) = child.try_wait()? {
            let exit_status = status.code().and_then(|code| u8::try_from(code).ok());
            let kind = if status.signal().is_some() { FailureKind::Signal } else { FailureKind::Exit };
            let failure = (!status.success()).then(|| (kind, status.to_string()));
            return Ok((failure, exit_status));
        }
        let [output, errors] = outputs;
        let failure = if began.elapsed() > TIME {
            (FailureKind::Timeout, "it took more than 10 seconds".to_owned())
        } else if output.metadata()?.len().max(errors.metadata()?.len()) > OUTPUT {
            (FailureKind::Limit, "it wrote more than 1 MiB".to_owned())
        } else {
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        child.kill()?;
        child.wait()?;
        return Ok((Some(failure), None));
    }
}

const TIME: Duration = Duration::from_secs(10);
const OUTPUT: u64 = 1 << 20;
