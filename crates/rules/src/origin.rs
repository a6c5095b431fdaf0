//! Whether rules that call themselves the built-in ones are those. A document of rules names its packs; whoever writes one
//! can name any.

use serde_json::Value;

use crate::{PackError, Rules};

impl Rules {
    /// Returns in words where these rules differ from the packs they name, as far as this program knows those: nothing
    /// where they do not, or name none of them.
    pub fn differences(&self) -> Result<Vec<String>, PackError> {
        let builtin = Self::builtin()?;
        let mut found = Vec::new();
        let names: Vec<&str> = self.packs().iter().map(|pack| pack.name.as_str()).collect();
        let (rows, known) = (rows(self.document()), rows(builtin.document()));
        for (table, id, entry) in &rows {
            let label = entry["pack"].as_str().unwrap_or_default();
            if !names.contains(&label) {
                found.push(format!("row {id} of {table} is of a pack that the rules do not name"));
            }
        }
        for pack in builtin.packs() {
            let Some(found_pack) = self.packs().iter().find(|one| one.name == pack.name) else { continue };
            let name = pack.name.as_str();
            if found_pack.version != pack.version {
                let (theirs, ours) = (found_pack.version.as_str(), pack.version.as_str());
                found.push(format!("pack {name} is of version {theirs}; this program has version {ours}"));
            } else if self.packs() == builtin.packs() && self.hash() != builtin.hash() {
                found
                    .push(format!("pack {name} was changed: it is not the one that comes with this program"));
            } else if self.packs() != builtin.packs() {
                let is_changed = |(table, id, entry): &&(String, String, Value)| {
                    let same = known.iter().any(|(its, one, row)| its == table && one == id && row == entry);
                    entry["pack"] == name && !same
                };
                let changed = rows.iter().filter(is_changed);
                found.extend(changed.map(|(table, id, _)| {
                    format!("row {id} of {table} was changed: it is not that of pack {name}")
                }));
                let is_left_out = |(table, id, entry): &&(String, String, Value)| {
                    entry["pack"] == name && !rows.iter().any(|(its, one, _)| its == table && one == id)
                };
                found.extend(
                    known
                        .iter()
                        .filter(is_left_out)
                        .map(|(table, id, _)| format!("row {id} of {table} of pack {name} is left out")),
                );
            }
        }
        found.truncate(MAX_DIFFERENCES);
        Ok(found)
    }
}

/// Returns every row of a document with its table and id.
fn rows(document: &[u8]) -> Vec<(String, String, Value)> {
    let Ok(Value::Object(tables)) = serde_json::from_slice(document) else { return Vec::new() };
    let table = |(table, rows): (String, Value)| {
        let rows = match rows {
            Value::Object(rows) => rows,
            _ => serde_json::Map::new(),
        };
        let entries = rows.into_iter().filter(|(_, entry)| entry.get("pack").is_some());
        entries.map(move |(id, entry)| (table.clone(), id, entry)).collect::<Vec<_>>()
    };
    tables.into_iter().flat_map(table).collect()
}

/// How many differences are told.
const MAX_DIFFERENCES: usize = 16;
