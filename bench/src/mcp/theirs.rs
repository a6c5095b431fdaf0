//! Their side: a Python program with a tool as the SDK's manual has it.

use std::{
    env,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};

use crate::ask::load;

/// Their server, which ends with this value.
pub(super) struct Theirs {
    child: Child,
    pub(super) address: SocketAddr,
    pub(super) version: String,
}

impl Theirs {
    /// Starts it; none without an interpreter that has it.
    pub(super) fn start() -> Result<Option<Self>> {
        let Some(interpreter) = env::var_os(INTERPRETER_VARIABLE) else { return Ok(None) };
        let mut child = Command::new(interpreter)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp").join("server.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Python")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let (port, version) = line.trim().split_once(' ').context("it printed no port")?;
        let address = ([127, 0, 0, 1], port.parse()?).into();
        Ok(Some(Self { child, address, version: version.to_owned() }))
    }

    /// Returns the processor time that it has spent so far.
    pub(super) fn processor_time(&self) -> Result<Duration> {
        load::processor_time(self.child.id())
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The variable that `cargo xtask bench mcp` sets.
const INTERPRETER_VARIABLE: &str = "DEMUR_MCP_PYTHON";
