//! `demur completions`: the script of a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;
use serde::Serialize;

use crate::{
    arguments::Arguments,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Prints the script.
pub(crate) fn run(context: &mut Context<'_>, shell: Shell) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "demur", &mut bytes);
    let script = String::from_utf8(bytes).map_err(|error| Failure::bug(&error))?;
    context.output.reply(&CompletionsReply { script, shell: shell.to_string() })
}

#[derive(Serialize)]
struct CompletionsReply {
    script: String,
    shell: String,
}

impl Reply for CompletionsReply {
    fn lines(&self, _: Paint) -> Vec<String> {
        vec![self.script.trim_end().to_owned()]
    }
}
