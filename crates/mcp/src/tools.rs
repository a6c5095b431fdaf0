//! The table of tools: name, set, what models read, what goes in and out, and what a client may expect. Descriptions are
//! paid for in every conversation: a test bounds them.

mod table;

use std::{
    str::FromStr,
    sync::{Arc, LazyLock},
};

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use self::table::TABLE;

/// Which tools are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// Plans: clarification, scaffolding, attestation.
    pub wwa: bool,
    /// Accountable runs.
    pub session: bool,
    /// Operations that a person confirms.
    pub confirm: bool,
}

impl Sets {
    /// Returns every set.
    pub const fn all() -> Self {
        Self { wwa: true, session: true, confirm: true }
    }
}

impl FromStr for Sets {
    type Err = NotASet;

    fn from_str(words: &str) -> Result<Self, NotASet> {
        let mut sets = Self::default();
        for word in words.split(',') {
            match word {
                "wwa" => sets.wwa = true,
                "session" => sets.session = true,
                "confirm" => sets.confirm = true,
                "all" => sets = Self::all(),
                _ => return Err(NotASet),
            }
        }
        Ok(sets)
    }
}

/// A word that is no set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected wwa, session, confirm or all, with commas between them")]
pub struct NotASet;

/// One tool.
pub(crate) struct Entry {
    pub(crate) job: Job,
    name: &'static str,
    description: &'static str,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    hints: Hints,
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    AskHuman,
    CheckQuestion,
    CancelQuestion,
    ListQuestions,
    AskConfirmation,
    CheckConfirmation,
    DecideConfirmation,
    StartOperation,
    EndOperation,
    CheckPlan,
    ResolveGap,
    AuditPlan,
    ScaffoldPlan,
    ChangePlan,
    ConfirmPlan,
    Attest,
    SignAttestation,
    VerifyAttestation,
    AuditAttestation,
    ListSessions,
    ShowSession,
    VerifySession,
    Play(RunJob),
}

/// What a tool of a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunJob {
    OpenRun,
    Propose,
    Review,
    Intend,
    Start,
    Report,
    Claim,
    Challenge,
    Conclude,
    AuditRun,
    AbortRun,
}

/// What a client may expect of a tool.
#[derive(Clone, Copy)]
enum Hints {
    /// It changes nothing.
    Reads,
    /// It adds something each time.
    Adds,
    /// It adds something once.
    AddsOnce,
}

/// The clarification protocol calls two tools so in its lifecycle (seed 000, 5). They are taken under these names too, but not
/// offered twice.
const SEED_NAMES: [(&str, &str); 2] =
    [("resolve_gap", "wwa_clarify_resolve"), ("confirm_plan", "wwa_confirm_plan")];

/// Returns the tools of these sets, in the order of the table.
pub fn list(sets: Sets) -> Vec<Tool> {
    let offered = TABLE.iter().zip(TOOLS.iter()).filter(|(entry, _)| entry.job.is_in(sets));
    offered.map(|(_, tool)| tool.clone()).collect()
}

/// Returns the tool with this name as clients see it, in whichever set it is.
pub(crate) fn named(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name == name).cloned()
}

/// Returns the name of the tool that does this.
pub(crate) fn name_of(job: Job) -> &'static str {
    TABLE.iter().find(|entry| entry.job == job).map_or("", |entry| entry.name)
}

/// Returns the tool with this name, if it is in these sets.
pub(crate) fn find(sets: Sets, name: &str) -> Option<&'static Entry> {
    let name = SEED_NAMES.iter().find(|(seed, _)| *seed == name).map_or(name, |(_, ours)| ours);
    TABLE.iter().find(|entry| entry.name == name && entry.job.is_in(sets))
}

impl Job {
    const fn is_in(self, sets: Sets) -> bool {
        match self {
            Self::AskHuman | Self::CheckQuestion | Self::CancelQuestion | Self::ListQuestions => true,
            Self::AskConfirmation
            | Self::CheckConfirmation
            | Self::DecideConfirmation
            | Self::StartOperation
            | Self::EndOperation => sets.confirm,
            Self::CheckPlan
            | Self::ResolveGap
            | Self::AuditPlan
            | Self::ScaffoldPlan
            | Self::ChangePlan
            | Self::ConfirmPlan
            | Self::Attest
            | Self::SignAttestation
            | Self::VerifyAttestation
            | Self::AuditAttestation => sets.wwa,
            Self::ListSessions | Self::ShowSession | Self::VerifySession | Self::Play(_) => sets.session,
        }
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        let mut tool = Tool::new(self.name, self.description, Arc::new((self.input)()));
        tool.output_schema = Some(Arc::new((self.output)()));
        tool.annotations = Some(self.hints.annotations());
        // Where a client looks tools up by what they are for, nobody looks for somebody to ask.
        if self.job == Job::AskHuman {
            let always = (ALWAYS_LOAD.to_owned(), Value::Bool(true));
            tool.meta = Some(MetaObject([always].into_iter().collect()));
        }
        tool
    }
}

impl Hints {
    fn annotations(self) -> ToolAnnotations {
        let (reads, once) = match self {
            Self::Reads => (true, true),
            Self::Adds => (false, false),
            Self::AddsOnce => (false, true),
        };
        // Nothing here takes anything away, and all of it happens at the desk.
        ToolAnnotations::from_raw(
            None,
            Some(reads),
            (!reads).then_some(false),
            // That it is not is what clients expect.
            (!reads && once).then_some(true),
            Some(false),
        )
    }
}

/// Returns the schema of a type, without what only costs room.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    shorten(&mut value, true);
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Returns of the schema of a type only what is always there: another tool of the same set has the whole of it.
fn brief<T: JsonSchema>() -> JsonObject {
    let mut schema = schema::<T>();
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    if let Some(Value::Object(members)) = schema.get_mut("properties") {
        members.retain(|name, _| is_required(name));
    }
    schema
}

fn shorten(value: &mut Value, root: bool) {
    match value {
        Value::Object(object) => {
            // A member of this name is an object.
            object.retain(|word, found| found.is_object() || !SPARED.contains(&word.as_str()));
            if object.get("required").is_some_and(|required| required == &Value::Array(Vec::new())) {
                object.remove("required");
            }
            if object.get("items") == Some(&Value::Bool(true)) {
                object.remove("items");
            }
            list_words(object);
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            if root {
                object.remove("description");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            object.values_mut().for_each(|inner| shorten(inner, false));
        }
        Value::Array(entries) => entries.iter_mut().for_each(|inner| shorten(inner, false)),
        _ => {}
    }
}

/// Lists the words of a choice, which the ledger's types explain one by one. That it may be left out goes without saying.
fn list_words(object: &mut JsonObject) {
    let choice = |value: &Value| value.get("oneOf").cloned();
    let inner = object.get("anyOf").and_then(|any| any.as_array()?.iter().find_map(choice));
    let Some(Value::Array(choices)) = inner.or_else(|| object.get("oneOf").cloned()) else { return };
    let words: Option<Vec<_>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
    if let Some(words) = words {
        object.retain(|member, _| member != "anyOf" && member != "oneOf");
        object.insert("type".to_owned(), Value::from("string"));
        object.insert("enum".to_owned(), Value::Array(words));
    }
}

/// The tools as clients see them. Their schemas are worked out from types, once: every call is held against them.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| TABLE.iter().map(Entry::tool).collect());

/// Says to Claude Code that its tool search leaves a tool in sight.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";
/// What models need not know of a schema: whoever breaks a limit is told so.
const SPARED: &[&str] =
    &["title", "format", "default", "minimum", "minLength", "maxLength", "minItems", "maxItems", "pattern"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_of_the_table_is_found_by_what_it_does() {
        for entry in TABLE {
            assert_eq!(name_of(entry.job), entry.name, "two tools do the same");
        }
    }
}
