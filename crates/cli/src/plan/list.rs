//! `demur plan list`: the plans of a data folder, the newest first, and how each stands.

use demur_clarify::status::PlanStatus;
use demur_clarify::uuid::Uuid;
use demur_core::{time::Timestamp, visible::visible};
use demur_desk::session;
use demur_ledger::name::TraceId;
use demur_plan::Session;
use demur_store::contract::TraceSummary;
use serde::Serialize;

use crate::{
    archive::Archive,
    arguments::ListPlans,
    context::Context,
    failure::Failure,
    keys::clock,
    lookup::{self, PlanPage},
    output::{Paint, Reply, Table},
    trace::{short, subject},
};

/// Lists plans.
pub(super) fn run(context: &mut Context<'_>, arguments: &ListPlans) -> Result<(), Failure> {
    let data = context.data()?;
    if !data.has_store()? {
        let nowhere = Context::nowhere(&data, "plans");
        return context.output.reply(&PlanList { next: None, nowhere, plans: Vec::new() });
    }
    let archive = Archive::open(data)?;
    let store = archive.ledger().store();
    let after = arguments.after.as_ref().map(|typed| lookup::trace(store, typed)).transpose()?;
    let PlanPage { plans, next } = lookup::plan_page(store, after, usize::from(arguments.limit))?;
    let plans = plans.iter().map(|(id, summary)| listed(&archive, *id, summary));
    let plans = plans.collect::<Result<_, _>>()?;
    context.output.reply(&PlanList { next, nowhere: None, plans })
}

fn listed(archive: &Archive, id: Uuid, summary: &TraceSummary) -> Result<ListedPlan, Failure> {
    let TraceSummary { trace, opened, changed, .. } = *summary;
    // One plan that cannot be read does not hide the others: `demur plan show` says what is wrong with it.
    let session = session::read(archive.ledger(), id).ok();
    Ok(ListedPlan {
        agent: session.as_ref().map(|session| session.agent().to_string()),
        changed,
        open: session.as_ref().map(|session| session.open_gaps().count() as u64),
        session: id,
        status: session.as_ref().map(Session::standing).map(PlanStatus::as_str),
        subject: subject(archive.ledger().store(), trace)?,
        submitted: opened,
        trace,
    })
}

#[derive(Serialize)]
struct PlanList {
    /// What to give to `--after` for the next page.
    next: Option<TraceId>,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
    plans: Vec<ListedPlan>,
}

#[derive(Serialize)]
struct ListedPlan {
    agent: Option<String>,
    changed: Timestamp,
    /// How many gaps are open.
    open: Option<u64>,
    session: Uuid,
    /// As `demur plan show` says it; none where the plan cannot be read.
    status: Option<&'static str>,
    subject: Option<String>,
    submitted: Timestamp,
    trace: TraceId,
}

impl ListedPlan {
    fn state(&self) -> String {
        match (self.status, self.open) {
            (Some("needs_clarification"), Some(1)) => "1 question open".to_owned(),
            (Some("needs_clarification"), Some(open)) => format!("{open} questions open"),
            (Some("ready_to_proceed"), _) => "ready to confirm".to_owned(),
            (Some("plan_accepted"), _) => "confirmed".to_owned(),
            (Some(other), _) => other.replace('_', " "),
            (None, _) => "cannot be read".to_owned(),
        }
    }
}

impl Reply for PlanList {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        if self.plans.is_empty() && self.next.is_some() {
            lines.push("No plans among the traces that were looked at.".to_owned());
        } else if self.plans.is_empty() {
            let none = self.nowhere.as_deref().unwrap_or("No plans here.");
            lines.push(format!("{none} `demur plan submit FILE` submits one."));
        } else {
            let mut table = Table::new(["SESSION", "STATE", "AGENT", "SUBMITTED", "SUBJECT"]);
            for plan in &self.plans {
                table.add([
                    plan.session.to_string(),
                    plan.state(),
                    plan.agent.as_deref().map_or_else(|| "-".to_owned(), |agent| visible(agent).into_owned()),
                    clock(plan.submitted),
                    plan.subject.as_deref().map_or_else(|| "-".to_owned(), short),
                ]);
            }
            lines.extend(table.lines(paint));
        }
        lines.extend(self.next.map(|next| format!("There may be more: demur plan list --after {next}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_plans_says_whether_there_may_be_more() {
        let lines = |next| PlanList { next, nowhere: None, plans: Vec::new() }.lines(Paint::new(false));
        assert_eq!(lines(None), ["No plans here. `demur plan submit FILE` submits one."]);
        let next = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(
            lines(Some(next.parse().unwrap())),
            [
                "No plans among the traces that were looked at.",
                &format!("There may be more: demur plan list --after {next}"),
            ]
        );
    }
}
