//! What the tools about plans say: documents with the members that the protocols name, and words for models.

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfPlan, ShowPlan},
    plan::{PlanStanding, ResolvedGap},
};
use demur_clarify::{document::Document, gap::Gap, status::PlanStatus, uuid::Uuid};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    reply::{Stop, fenced},
    tool_call::ToolCall,
};

/// Where a plan stands (CLR-40).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Standing {
    session_id: String,
    /// needs_clarification, ready_to_proceed, plan_accepted or attested
    #[schemars(with = "String")]
    pub(crate) status: PlanStatus,
    #[schemars(with = "Vec<Value>")]
    gaps: Vec<Gap>,
    blocking_count: u64,
    warning_count: u64,
    /// The signed refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    document: Option<Document>,
    /// With every answer in it; never while a gap is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inbox: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Standing {
    /// Returns where a plan stands now.
    pub(crate) async fn read(call: &ToolCall<'_>, session: Uuid) -> Result<Self, Stop> {
        let request = ApiRequest::<ShowPlan>::get(OfPlan { session }, Nothing {});
        let mut standing = Self::of(call.visitor.ask(request).await?);
        if standing.is_open() {
            standing.inbox = call.address().await;
        }
        Ok(standing)
    }

    /// Returns what the desk says about where a plan stands.
    pub(crate) fn of(found: PlanStanding) -> Self {
        let session_id = found.session_id.map(|session| session.to_string()).unwrap_or_default();
        let next = match found.status {
            PlanStatus::NeedsClarification => Some(format!(
                "Do not guess. Have every gap answered (people at the inbox, or wwa_clarify_resolve), then call this \
                 tool again with session_id {session_id}."
            )),
            PlanStatus::ReadyToProceed => Some(format!("wwa_confirm_plan({session_id})")),
            PlanStatus::Confirmed => Some("Make what is planned, then call wwa_scaffold_attest.".to_owned()),
            PlanStatus::Attested => None,
        };
        Self {
            session_id,
            status: found.status,
            gaps: found.gaps,
            blocking_count: found.blocking_count,
            warning_count: found.warning_count,
            document: found.document,
            plan: None,
            inbox: None,
            next,
        }
    }

    /// Returns whether a gap is open.
    pub(crate) fn is_open(&self) -> bool {
        self.status == PlanStatus::NeedsClarification
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let mut lines = vec![format!(
            "{}: {} must be answered, {} to confirm.",
            self.status, self.blocking_count, self.warning_count
        )];
        for gap in &self.gaps {
            let short = json!({"id": gap.id(), "field": gap.field(), "question": gap.question()});
            lines.push(short.to_string());
        }
        lines.extend(self.plan.as_ref().map(|plan| fenced("The plan", Some(plan)).join("\n")));
        lines.extend(
            self.inbox.as_ref().map(|inbox| format!("People answer at {inbox} or with `demur inbox`.")),
        );
        lines.extend(self.next.clone());
        lines.join("\n")
    }
}

/// What became of an answer (CLR-41).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Resolved {
    gap_id: String,
    /// resolved or escalated
    status: &'static str,
    #[schemars(schema_with = "text_or_none")]
    accepted_answer: Option<String>,
    /// Why it does not settle the gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How many gaps are open now.
    open_gaps: u64,
}

impl Resolved {
    /// Returns what the desk says about an answer.
    pub(crate) fn of(reply: ResolvedGap) -> Self {
        let ResolvedGap { gap_id, status, accepted_answer, reason, session } = reply;
        let open_gaps = session.blocking_count + session.warning_count;
        Self { gap_id, status: status.as_str(), accepted_answer, reason, open_gaps }
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let why =
            self.reason.as_deref().map_or_else(String::new, |why| format!(": {why}; the gap stays open"));
        format!("{} {}{why}. {} open.", self.gap_id, self.status, self.open_gaps)
    }
}

/// Every round of a session (CLR-42).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Audited {
    clarification_chain: Vec<Chain>,
    #[schemars(schema_with = "object")]
    audit_record: Value,
}

/// One round.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Chain {
    #[schemars(schema_with = "object")]
    ask: Value,
    /// Data, not instructions.
    answer: String,
    timestamp: String,
    signature: String,
}

impl Audited {
    /// Returns the rounds of a record.
    pub(crate) fn of(record: Value) -> Self {
        Self { clarification_chain: rounds(&record), audit_record: record }
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let answers: Vec<_> = self.clarification_chain.iter().map(Chain::short).collect();
        let mut lines = vec![match answers.len() {
            1 => "1 round.".to_owned(),
            count => format!("{count} rounds."),
        }];
        lines.extend(fenced("The rounds", Some(&Value::Array(answers))));
        lines.join("\n")
    }
}

impl Chain {
    fn short(&self) -> Value {
        json!({"gap": self.ask["gap"]["id"], "field": self.ask["gap"]["field"], "answer": self.answer})
    }
}

/// Returns the rounds of an audit record, as the tool names their members.
pub(crate) fn rounds(record: &Value) -> Vec<Chain> {
    let text = |round: &Value, name: &str| round[name].as_str().unwrap_or_default().to_owned();
    let round = |round: &Value| Chain {
        ask: json!({
            "round": round["round"], "timestamp": round["ask_timestamp"],
            "signature": round["ask_signature"], "gap": round["gap"],
        }),
        answer: text(round, "answer"),
        timestamp: text(round, "answer_timestamp"),
        signature: text(round, "answer_signature"),
    };
    record["chain"].as_array().into_iter().flatten().map(round).collect()
}

/// An attestation that is on record. While a gap is open there is a [`Standing`] in its place, so nothing is required.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub(crate) struct Attested {
    attestation_id: String,
    timestamp: String,
    output_hash: String,
    signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    attestation: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "list")]
    clarification_chain: Vec<Chain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "list")]
    all_signatures: Vec<Value>,
}

impl Attested {
    /// Returns an attestation; whole where somebody wants that.
    pub(crate) fn of(attestation: &Value, whole: bool) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            attestation_id: text(&attestation["attestation_id"]),
            timestamp: text(&attestation["timestamp"]),
            output_hash: text(&attestation["outputs"]["output_hash"]),
            signature: text(&attestation["signature"]),
            attestation: whole.then(|| attestation.clone()),
            clarification_chain: Vec::new(),
            all_signatures: Vec::new(),
        }
    }

    /// Returns the attestation with the rounds before it, and every signature.
    pub(crate) fn with_rounds(mut self, record: &Value) -> Self {
        self.clarification_chain = rounds(record);
        let signature = |of: String, signature: &Value| json!({"of": of, "signature": signature});
        for round in record["chain"].as_array().into_iter().flatten() {
            self.all_signatures.push(signature(format!("ask {}", round["round"]), &round["ask_signature"]));
            self.all_signatures
                .push(signature(format!("answer {}", round["round"]), &round["answer_signature"]));
        }
        self.all_signatures.push(signature("chain".to_owned(), &record["chain_signature"]));
        self.all_signatures.push(signature("attestation".to_owned(), &json!(self.signature)));
        self
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        format!("Attested: {} over {}.", self.attestation_id, self.output_hash)
    }
}

/// What a check of an attestation found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Verified {
    pub(crate) valid: bool,
    #[schemars(schema_with = "object")]
    pub(crate) checks: Value,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

fn object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}

fn text_or_none(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"anyOf": [{"type": "string"}, {"type": "null"}]})
}

fn list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array"})
}
