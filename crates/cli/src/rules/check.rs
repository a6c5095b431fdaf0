//! `demur rules check`: whether packs can be used, and what is in them.

use demur_core::{hash::Digest, visible::visible};
use demur_rules::PackName;
use serde::Serialize;

use super::{
    load,
    tables::{Count, Tables},
};
use crate::{
    arguments::CheckRules,
    context::Context,
    failure::Failure,
    output::{Paint, Reply, Table, counted},
};

/// Checks packs.
pub(super) fn run(context: &mut Context<'_>, arguments: &CheckRules) -> Result<(), Failure> {
    let rules = load(&arguments.folders, arguments.only)?;
    let tables = Tables::of(&rules)?.counts();
    context.output.reply(&CheckReply { hash: rules.hash(), packs: rules.packs().to_vec(), tables })
}

#[derive(Serialize)]
struct CheckReply {
    /// What a decision by these rules records.
    hash: Digest,
    /// The lowest first.
    packs: Vec<PackName>,
    tables: Vec<Count>,
}

impl Reply for CheckReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let rows: usize = self.tables.iter().map(|count| count.rows).sum();
        let good = paint.good("Good:");
        let mut lines = vec![
            format!("{good} {} from {}.", counted(rows, "row"), packs(&self.packs)),
            format!("  hash  {}", self.hash),
            String::new(),
        ];
        let mut table = Table::new(["TABLE", "ROWS", "FROM"]);
        for count in &self.tables {
            let from = count.packs.iter().map(|(pack, rows)| format!("{} {rows}", visible(pack)));
            table.add([count.table.to_owned(), count.rows.to_string(), from.collect::<Vec<_>>().join(", ")]);
        }
        lines.extend(table.lines(paint));
        lines
    }
}

/// Returns packs in words, the lowest first.
pub(super) fn packs(packs: &[PackName]) -> String {
    let word = if packs.len() == 1 { "pack" } else { "packs" };
    let named = packs
        .iter()
        .map(|pack| format!("{} (version {})", visible(pack.name.as_str()), visible(pack.version.as_str())));
    format!("{word} {}", named.collect::<Vec<_>>().join(", "))
}
