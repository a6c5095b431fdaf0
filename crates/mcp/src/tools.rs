//! The table of tools: name, set, what models read, what goes in and out, and what a client may expect. Descriptions are
//! paid for in every conversation: a test bounds them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    arguments::{AskHuman, CancelQuestion, CheckQuestion},
    reply::Told,
};

/// Which tools are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// Plans: clarification, scaffolding, attestation.
    pub wwa: bool,
    /// Accountable runs.
    pub session: bool,
}

impl Sets {
    /// Returns every set.
    pub const fn all() -> Self {
        Self { wwa: true, session: true }
    }
}

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

/// Returns the tools of these sets, in the order of the table.
pub fn list(sets: Sets) -> Vec<Tool> {
    TABLE.iter().filter(|entry| entry.job.is_in(sets)).map(Entry::tool).collect()
}

/// Returns the tool with this name, if it is in these sets.
pub(crate) fn find(sets: Sets, name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name && entry.job.is_in(sets))
}

impl Job {
    const fn is_in(self, _sets: Sets) -> bool {
        match self {
            Self::AskHuman | Self::CheckQuestion | Self::CancelQuestion => true,
        }
    }
}

impl Entry {
    /// Returns the tool as clients see it.
    pub(crate) fn tool(&self) -> Tool {
        let mut tool = Tool::new(self.name, self.description, Arc::new((self.input)()));
        tool.output_schema = Some(Arc::new((self.output)()));
        tool.annotations = Some(self.hints.annotations());
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
            (!reads).then_some(once),
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

fn shorten(value: &mut Value, root: bool) {
    match value {
        Value::Object(object) => {
            for word in ["title", "format", "default"] {
                if object.get(word).is_some_and(|found| !found.is_object()) {
                    object.remove(word);
                }
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

static TABLE: &[Entry] = &[
    Entry {
        job: Job::AskHuman,
        name: "ask_human",
        description: "Ask a person instead of guessing. Returns within 45 s: the answer, or \"Not answered\" with what \
                      to call next.",
        input: schema::<AskHuman>,
        output: schema::<Told>,
        hints: Hints::Adds,
    },
    Entry {
        job: Job::CheckQuestion,
        name: "check_question",
        description: "Wait up to 45 s for the answer to a question you asked.",
        input: schema::<CheckQuestion>,
        output: schema::<Told>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::CancelQuestion,
        name: "cancel_question",
        description: "Say that you need no answer any more.",
        input: schema::<CancelQuestion>,
        output: schema::<Told>,
        hints: Hints::AddsOnce,
    },
];
