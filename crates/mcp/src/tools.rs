//! The table of tools: name, set, what models read, what goes in and out, and what a client may expect. Descriptions are
//! paid for in every conversation: a test bounds them.

use std::{str::FromStr, sync::Arc};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    arguments::{
        AskHuman, CancelQuestion, CheckQuestion,
        plan::{GivenAttestation, GivenPlan, GivenSession, Made, ResolveGap},
        session::{ListSessions, ShowSession, VerifySession},
    },
    plan::{Attested, Audited, Resolved, Standing, Verified},
    reply::Told,
    sessions::{Proven, Shown, Traces},
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

impl FromStr for Sets {
    type Err = NotASet;

    fn from_str(words: &str) -> Result<Self, NotASet> {
        let mut sets = Self::default();
        for word in words.split(',') {
            match word {
                "wwa" => sets.wwa = true,
                "session" => sets.session = true,
                "all" => sets = Self::all(),
                _ => return Err(NotASet),
            }
        }
        Ok(sets)
    }
}

/// A word that is no set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected wwa, session or all, with commas between them")]
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
    CheckPlan,
    ResolveGap,
    AuditPlan,
    ScaffoldPlan,
    ConfirmPlan,
    Attest,
    SignAttestation,
    VerifyAttestation,
    AuditAttestation,
    ListSessions,
    ShowSession,
    VerifySession,
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
    const fn is_in(self, sets: Sets) -> bool {
        match self {
            Self::AskHuman | Self::CheckQuestion | Self::CancelQuestion => true,
            Self::ListSessions | Self::ShowSession | Self::VerifySession => sets.session,
            _ => sets.wwa,
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
            // A member of this name is an object.
            object.retain(|word, found| found.is_object() || !SPARED.contains(&word.as_str()));
            if object.get("required").is_some_and(|required| required == &Value::Array(Vec::new())) {
                object.remove("required");
            }
            if object.get("items") == Some(&Value::Bool(true)) {
                object.remove("items");
            }
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

/// What models need not know of a schema: whoever breaks a limit is told so.
const SPARED: &[&str] =
    &["title", "format", "default", "minimum", "minLength", "maxLength", "minItems", "maxItems", "pattern"];

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
    Entry {
        job: Job::CheckPlan,
        name: "wwa_clarify_check",
        description: "Hold a plan against the rules. What it lacks comes back as gaps, or is asked through your client.",
        input: schema::<GivenPlan>,
        output: schema::<Standing>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::ResolveGap,
        name: "wwa_clarify_resolve",
        description: "Answer a gap with what you know for certain; it is recorded as your word. Never guess.",
        input: schema::<ResolveGap>,
        output: schema::<Resolved>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::AuditPlan,
        name: "wwa_clarify_audit",
        description: "The signed record of every question and answer of a session.",
        input: schema::<GivenSession>,
        output: schema::<Audited>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::ScaffoldPlan,
        name: "wwa_scaffold_plan",
        description: "Like wwa_clarify_check; once nothing is missing, the whole plan with every answer in it.",
        input: schema::<GivenPlan>,
        output: schema::<Standing>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::ConfirmPlan,
        name: "wwa_confirm_plan",
        description: "Confirm a plan without open gaps.",
        input: schema::<GivenSession>,
        output: schema::<Standing>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::Attest,
        name: "wwa_scaffold_attest",
        description: "Confirm a plan and attest the files made of it; refused while a gap is open.",
        input: schema::<Made>,
        output: schema::<Attested>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::SignAttestation,
        name: "wwa_attest_sign",
        description: "Attest the files made of a confirmed plan.",
        input: schema::<Made>,
        output: schema::<Attested>,
        hints: Hints::AddsOnce,
    },
    Entry {
        job: Job::VerifyAttestation,
        name: "wwa_attest_verify",
        description: "Say whether an attestation holds.",
        input: schema::<GivenAttestation>,
        output: schema::<Verified>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::AuditAttestation,
        name: "wwa_attest_audit",
        description: "An attestation with every round before it and all signatures.",
        input: schema::<GivenSession>,
        output: schema::<Attested>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::ListSessions,
        name: "session_list",
        description: "List accountable runs and other traces, the newest first.",
        input: schema::<ListSessions>,
        output: schema::<Traces>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::ShowSession,
        name: "session_show",
        description: "Show the events of a trace.",
        input: schema::<ShowSession>,
        output: schema::<Shown>,
        hints: Hints::Reads,
    },
    Entry {
        job: Job::VerifySession,
        name: "session_verify",
        description: "Say what the record of a trace proves.",
        input: schema::<VerifySession>,
        output: schema::<Proven>,
        hints: Hints::Reads,
    },
];
