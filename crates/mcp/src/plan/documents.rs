//! What the tools about plans say: documents with the members that the protocols name, and words for models.

mod rounds;

pub(crate) use rounds::{Attested, Audited, Verified};

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfPlan, ShowPlan},
    plan::{GapStatus, PlanStanding, ResolvedGap},
};
use demur_clarify::{
    attestation::Attestation,
    document::Document,
    gap::Gap,
    name::{FieldPath, GapId},
    status::PlanStatus,
    uuid::Uuid,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    host::CallerConnection,
    reply::{Stop, fenced},
    tool_call::ToolCall,
};

/// Where a plan stands (CLR-40).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Standing {
    session_id: String,
    /// needs_clarification, ready_to_proceed, plan_accepted, attested or withdrawn
    #[schemars(with = "String")]
    pub(crate) status: PlanStatus,
    #[schemars(with = "Vec<Value>")]
    gaps: Vec<Gap>,
    blocking_count: u64,
    warning_count: u64,
    /// Gaps that nobody is asked about now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unasked: Vec<String>,
    /// Fields of the plan that no rule reads: nobody checked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unread: Vec<String>,
    /// The signed refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    document: Option<Document>,
    /// The signed attestation of the confirmed plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(crate) attestation: Option<Attestation>,
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
    pub(crate) async fn read(
        call: &ToolCall<'_, impl CallerConnection>,
        session: Uuid,
    ) -> Result<Self, Stop> {
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
                "Do not guess. People answer the gaps at the inbox; wwa_clarify_resolve suggests an answer to them. Then call \
                 this tool again with session_id {session_id}."
            )),
            PlanStatus::ReadyToProceed => Some(format!("wwa_confirm_plan({session_id})")),
            PlanStatus::Confirmed => Some("Make what is planned, then call wwa_scaffold_attest.".to_owned()),
            PlanStatus::Attested => None,
            PlanStatus::Withdrawn => {
                Some("Stop: the plan was withdrawn. A new plan needs a new session.".to_owned())
            }
        };
        Self {
            session_id,
            status: found.status,
            gaps: found.gaps,
            blocking_count: found.blocking_count,
            warning_count: found.warning_count,
            unasked: found.unasked,
            unread: found.unread,
            document: found.document,
            attestation: found.attestation,
            plan: None,
            inbox: None,
            next,
        }
    }

    /// Returns whether a gap is open.
    pub(crate) fn is_open(&self) -> bool {
        self.status == PlanStatus::NeedsClarification
    }

    /// Returns whether there is a plan with every answer in it.
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.status, PlanStatus::NeedsClarification | PlanStatus::Withdrawn)
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let mut lines = vec![format!(
            "{}: {} must be answered, {} to confirm.",
            self.status, self.blocking_count, self.warning_count
        )];
        lines.extend(self.gaps.iter().filter_map(|gap| serde_json::to_string(&ShortGap::of(gap)).ok()));
        if !self.unasked.is_empty() {
            lines.push(format!(
                "Nobody is asked about {} now: wwa_change_plan with ask_again puts a gap again.",
                self.unasked.join(", ")
            ));
        }
        if !self.unread.is_empty() {
            lines.push(format!(
                "Named by no rule, so checked for vague words at most: {}",
                self.unread.join(", ")
            ));
        }
        lines.extend(self.plan.as_ref().map(|plan| fenced("The plan", Some(plan)).join("\n")));
        lines.extend(
            self.inbox.as_ref().map(|inbox| format!("People answer at {inbox} or with `demur inbox`.")),
        );
        lines.extend(self.next.clone());
        lines.join("\n")
    }
}

/// A gap as a model reads it.
#[derive(Serialize)]
struct ShortGap<'a> {
    field: &'a FieldPath,
    id: &'a GapId,
    question: &'a str,
}

impl<'a> ShortGap<'a> {
    fn of(gap: &'a Gap) -> Self {
        Self { field: gap.field(), id: gap.id(), question: gap.question() }
    }
}

/// What became of an answer (CLR-41).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Resolved {
    gap_id: String,
    /// resolved, escalated or revoked
    status: &'static str,
    /// Whether it settled the gap.
    accepted: bool,
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
        let accepted = status == GapStatus::Resolved;
        Self { gap_id, status: status.as_str(), accepted, accepted_answer, reason, open_gaps }
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let why =
            self.reason.as_deref().map_or_else(String::new, |why| format!(": {why}; the gap stays open"));
        format!("{} {}{why}. {} open.", self.gap_id, self.status, self.open_gaps)
    }
}

fn text_or_none(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"anyOf": [{"type": "string"}, {"type": "null"}]})
}
