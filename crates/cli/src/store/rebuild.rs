//! `demur store rebuild`: what follows from the events, their index among it, is thrown away and made again from them.

use std::collections::BTreeSet;

use demur_api::store::StoreSize;
use demur_desk::store_check::size_of;
use demur_ledger::name::TraceId;
use demur_store::contract::{Store as _, StoreProblem};
use serde::Serialize;

use super::{exclusive::exclusive, tell, words};
use crate::{
    context::Context,
    failure::Failure,
    output::{Paint, Progress, Reply, counted},
};

/// Rebuilds the derived tables.
pub(super) fn run(context: &mut Context<'_>) -> Result<(), Failure> {
    let data = context.data()?;
    if !data.has_store()? {
        return Err(data.no_keys().into());
    }
    let store = exclusive(&data, || Ok(data.mend_store()?))?;
    let mut progress = Progress::new(context.output.is_watched());
    let found = store.check(&mut |step| tell(&mut progress, step));
    progress.clear();
    let found = found?;
    store.rebuild()?;
    let repaired = found.iter().filter_map(Repaired::of).collect();
    let newer: BTreeSet<_> = found.iter().filter_map(newer).collect();
    let size = size_of(&store)?;
    context.output.reply(&RebuildReply { newer: newer.len() as u64, repaired, size })
}

/// Returns the trace of an event that a newer version wrote.
fn newer(problem: &StoreProblem) -> Option<TraceId> {
    if let StoreProblem::Newer { trace, .. } = problem { Some(*trace) } else { None }
}

#[derive(Serialize)]
struct RebuildReply {
    /// How many traces a newer version went on with: what follows from them is left as it is.
    newer: u64,
    repaired: Vec<Repaired>,
    size: StoreSize,
}

/// A table that was not as it should be.
#[derive(Serialize)]
struct Repaired {
    added: u64,
    removed: u64,
    table: &'static str,
}

impl Repaired {
    fn of(problem: &StoreProblem) -> Option<Self> {
        match *problem {
            StoreProblem::Derived { table, missing, extra } => {
                Some(Self { added: missing, removed: extra, table })
            }
            _ => None,
        }
    }
}

impl Reply for RebuildReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let made = "index, commands, changes of keys and phases of runs were made again from";
        let mut lines = vec![format!("{} {made} {}.", paint.good("Rebuilt:"), words(self.size))];
        for Repaired { added, removed, table } in &self.repaired {
            lines.push(format!("  {table}: rows added {added}, rows removed {removed}"));
        }
        if self.repaired.is_empty() {
            lines.push("Nothing in them had been wrong.".to_owned());
        }
        if self.newer > 0 {
            let traces = counted(self.newer, "trace");
            lines.push(format!("Left alone: {traces} with events of a newer version of demur."));
        }
        lines
    }
}
