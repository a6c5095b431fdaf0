//! Two answers to one question at the same moment: how often one of them wins and the other is told, beside the same
//! race with LangGraph, where two threads resume one interrupted thread.

pub(crate) mod langgraph;
mod ours;

use std::io::Write;

use anyhow::Result;
use demur_bench::table::{Table, whole};
use serde::Deserialize;

/// Runs the races of both.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    eprintln!("race: {RACES} of ours");
    let mut sides = vec![ours::race(RACES)?];
    match langgraph::interpreter() {
        Some(interpreter) => {
            eprintln!("race: {RACES} of LangGraph with each of its checkpointers");
            sides.extend(langgraph::race(&interpreter, RACES)?);
        }
        None => {
            eprintln!(
                "LangGraph was not measured: `cargo xtask bench race` fetches it with pip, if there is one"
            );
        }
    }
    let headings =
        ["two answers at once", "races", "both ran", "one ran", "none", "loser told", "both think"];
    let [name, races, both, once, never, told, think] = headings;
    let mut table = Table::new([name, races, both, once, never, told, think, "per s"]);
    for side in &sides {
        table.row(side.row());
    }
    table.write(out)?;
    for (side, error) in sides.iter().flat_map(|side| side.errors.iter().map(move |error| (side, error))) {
        eprintln!("{} told: {error}", side.name);
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
    fn row(&self) -> [String; 8] {
        let rate = f64::from(self.races) / self.seconds;
        let counts = [self.races, self.both, self.once, self.never, self.told, self.both_think];
        let [races, both, once, never, told, think] = counts.map(|count| count.to_string());
        [self.name.clone(), races, both, once, never, told, think, whole(rate)]
    }
}

const RACES: u32 = 200;
