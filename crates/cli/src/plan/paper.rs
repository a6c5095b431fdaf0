//! `demur audit` and `demur handoff`: documents of a session for others.

use demur_api::{
    call::ApiRequest,
    operation::{self, AuditPlan, Nothing, OfPlan},
    plan::HandOffPlan,
};
use demur_clarify::audit::AuditRecord;
use demur_core::{canonical, visible::visible};
use serde::Serialize;

use crate::{
    arguments::{Audit, HandOff},
    client::SocketRequest,
    context::Context,
    failure::Failure,
    lookup,
    output::{Paint, Reply, counted_as},
    reader::Reader,
};

/// Prints the audit record of a session.
pub(crate) fn audit(context: &mut Context<'_>, arguments: &Audit) -> Result<(), Failure> {
    let reader = Reader::open(context.data()?)?;
    let path = OfPlan { session: lookup::session(&reader, &arguments.session)? };
    let record = reader.call(ApiRequest::<AuditPlan>::get(path, Nothing {}))?;
    context.output.reply(&Record(record))
}

/// Prints the package for whoever goes on.
pub(crate) fn hand_off(context: &mut Context<'_>, arguments: &HandOff) -> Result<(), Failure> {
    let (client, session) = super::of_session(context, &arguments.session)?;
    let given = HandOffPlan { task: arguments.task.clone() };
    let request = ApiRequest::<operation::HandOffPlan>::send(OfPlan { session }, given);
    let package = client.call_with(&request, SocketRequest::once)?;
    let mut line = canonical::to_vec(&package)?;
    line.push(b'\n');
    context.output.write(&line)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Record(AuditRecord);

impl Reply for Record {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let record = &self.0;
        let verdict =
            if record.all_resolved { paint.good("every gap is settled") } else { paint.bad("gaps are open") };
        let mut lines = vec![format!(
            "Session {}: {}, {verdict}",
            record.session_id,
            counted_as(record.total_rounds.as_u64(), "round", "rounds")
        )];
        for round in &record.chain {
            let gap = round.gap();
            lines.push(String::new());
            lines.push(format!("{}. {} {}", round.number().as_u64(), gap.id(), gap.field()));
            lines.push(format!("   asked     {} {}", round.ask_timestamp(), visible(gap.question())));
            let settled = if round.is_resolved() { "" } else { " (does not settle it)" };
            let (when, answer) = (round.answer_timestamp(), visible(round.answer()));
            lines.push(format!("   answered  {when} {answer}{settled}"));
        }
        lines
    }
}
