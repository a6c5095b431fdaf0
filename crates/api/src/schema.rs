//! The JSON Schemas of every document of the protocols, by the paths they are served under.

use std::collections::BTreeMap;

use schemars::Schema;

/// Returns every schema by its path.
pub fn all() -> BTreeMap<String, Schema> {
    let clarify =
        demur_clarify::schema::all().into_iter().map(|(name, schema)| (format!("clarify/{name}"), schema));
    let ledger =
        demur_ledger::schema::all().into_iter().map(|(name, schema)| (format!("ledger/{name}"), schema));
    clarify.chain(ledger).map(|(name, schema)| (format!("/schemas/{name}.json"), schema)).collect()
}
