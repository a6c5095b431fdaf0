//! What the suite prescribes, as data: `catalog.json`.

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolResult, Prompt, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use serde::Deserialize;
use serde_json::Value;

use crate::rounds::Rounds;

/// Everything that can be listed, called, read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Catalog {
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) tools: Vec<Tool>,
    /// Tools that always say the same.
    pub(crate) results: BTreeMap<String, CallToolResult>,
    /// Tools that need input first.
    pub(crate) rounds: BTreeMap<String, Rounds>,
    /// Tools that ask in the middle of a call, as before 2026-07-28.
    pub(crate) elicitations: BTreeMap<String, Elicitation>,
    pub(crate) prompts: Vec<Prompt>,
    /// What a prompt says; `{name}` stands for an argument.
    pub(crate) messages: BTreeMap<String, Value>,
    /// Prompts that need input first.
    pub(crate) prompt_rounds: BTreeMap<String, Rounds>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) contents: BTreeMap<String, ResourceContents>,
}

/// A tool that asks in the middle of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Elicitation {
    /// What stands before the answer.
    pub(crate) said: String,
    pub(crate) request: Value,
}

impl Catalog {
    /// Returns the catalog.
    pub(crate) fn read() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("catalog.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_does_something_is_listed() {
        let catalog = Catalog::read().unwrap();
        let listed: Vec<&str> = catalog.tools.iter().map(|tool| &*tool.name).collect();
        let names = catalog.results.keys().chain(catalog.rounds.keys()).chain(catalog.elicitations.keys());
        for name in names {
            assert!(listed.contains(&name.as_str()), "{name}");
        }
    }
}
