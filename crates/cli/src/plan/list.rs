//! `demur plan list`: the plans of a data folder, the newest first, and how each stands.

use demur_api::{
    call::ApiRequest,
    operation::{self, NoArguments},
    plan::{ListedPlan, ListedPlans, PlanListParameters},
};
use demur_clarify::status::PlanStatus;
use demur_core::visible::visible;
use demur_ledger::name::TraceId;
use serde::Serialize;

use crate::{
    arguments::ListPlans,
    context::Context,
    failure::Failure,
    keys::clock,
    lookup,
    output::{Paint, Reply, Table, counted},
    reader::Reader,
    trace::short,
};

/// Lists plans.
pub(super) fn run(context: &mut Context<'_>, arguments: &ListPlans) -> Result<(), Failure> {
    let data = context.data()?;
    if !data.has_store()? {
        let nowhere = Context::nowhere(&data, "plans");
        return context.output.reply(&PlanList { next: None, nowhere, plans: Vec::new() });
    }
    let reader = Reader::open(data)?;
    let after = arguments.after.as_ref().map(|typed| lookup::trace(&reader, typed)).transpose()?;
    let query = PlanListParameters { after, limit: Some(usize::from(arguments.limit)) };
    let ListedPlans { next, plans } =
        reader.call(ApiRequest::<operation::ListPlans>::get(NoArguments {}, query))?;
    context.output.reply(&PlanList { next, nowhere: None, plans })
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

fn state(plan: &ListedPlan) -> String {
    match (plan.status, plan.open) {
        (Some(PlanStatus::NeedsClarification), Some(1)) => "1 question open".to_owned(),
        (Some(PlanStatus::NeedsClarification), open) => {
            format!("{} open", counted(open.unwrap_or(0), "question"))
        }
        (Some(PlanStatus::ReadyToProceed), _) => "ready to confirm".to_owned(),
        (Some(PlanStatus::Confirmed), _) => "confirmed".to_owned(),
        (Some(PlanStatus::Attested), _) => "attested".to_owned(),
        (Some(PlanStatus::Withdrawn), _) => "withdrawn".to_owned(),
        (None, _) => "cannot be read".to_owned(),
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
                    state(plan),
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
