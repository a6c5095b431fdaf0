//! Two answers to one question at the same moment: how often one of them wins and the other is told, beside the same
//! race with LangGraph, where two threads resume one interrupted thread.

pub(crate) mod langgraph;
mod ours;

use std::io::Write;

use anyhow::Result;
use serde::Deserialize;

/// Runs the races of both.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    eprintln!("race: {RACES} of ours");
    let mut sides = vec![ours::race(RACES)?];
    let missing = match langgraph::interpreter() {
        Some(interpreter) => {
            eprintln!("race: {RACES} of LangGraph with each of its checkpointers");
            sides.extend(langgraph::race(&interpreter, RACES)?);
            None
        }
        None => {
            Some("LangGraph was not measured: `cargo xtask bench race` fetches it with pip, if there is one")
        }
    };
    writeln!(out)?;
    writeln!(
        out,
        "{:<36} {:>6} {:>9} {:>8} {:>6} {:>11} {:>11} {:>7}",
        "two answers at once", "races", "both ran", "one ran", "none", "loser told", "both think", "per s"
    )?;
    for side in &sides {
        side.write(out)?;
    }
    if let Some(missing) = missing {
        writeln!(out, "{missing}")?;
    }
    Ok(())
}

/// What came of the races of one side.
#[derive(Debug, Default, Deserialize)]
struct Side {
    name: String,
    races: u32,
    /// Both answers took effect.
    both: u32,
    /// One took effect.
    once: u32,
    /// None did.
    never: u32,
    /// Somebody was told no.
    told: u32,
    /// Both callers were told that it is their answer that counts.
    both_think: u32,
    seconds: f64,
    /// Different words with which somebody was told no.
    #[serde(default)]
    errors: Vec<String>,
}

impl Side {
    fn write(&self, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "{:<36} {:>6} {:>9} {:>8} {:>6} {:>11} {:>11} {:>7.0}",
            self.name,
            self.races,
            self.both,
            self.once,
            self.never,
            self.told,
            self.both_think,
            f64::from(self.races) / self.seconds
        )?;
        for error in &self.errors {
            writeln!(out, "    told: {error}")?;
        }
        Ok(())
    }
}

const RACES: u32 = 200;
