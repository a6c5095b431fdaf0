//! `demur audit` and `demur handoff`: documents of a session for others.

use demur_api::{
    call::ApiRequest,
    operation::{self, AuditPlan, Nothing, OfPlan},
    plan::HandOffPlan,
};
use demur_clarify::audit::AuditRecord;
use demur_core::{canonical, visible::visible};
use demur_ledger::attribution::assurance_of;
use serde::Serialize;

use super::verify;
use crate::{
    arguments::{Audit, AuditCommand, HandOff, HandOffCommand},
    client::SocketRequest,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup,
    output::{Paint, Reply, counted_as},
    reader::Reader,
};

/// Prints the audit record of a session.
pub(crate) fn audit(context: &mut Context<'_>, arguments: &Audit) -> Result<Exit, Failure> {
    if let Some(AuditCommand::Verify(arguments)) = &arguments.command {
        return verify::audit(context, arguments);
    }
    let Some(session) = &arguments.session else { return Err(Failure::bug(&"a session is required")) };
    let reader = Reader::open(context.data()?)?;
    let path = OfPlan { session: lookup::session(&reader, session)? };
    let record = reader.call(ApiRequest::<AuditPlan>::get(path, Nothing {}))?;
    context.output.reply(&Record(record))?;
    Ok(Exit::Success)
}

/// Prints the package for whoever goes on.
pub(crate) fn hand_off(context: &mut Context<'_>, arguments: &HandOff) -> Result<Exit, Failure> {
    if let Some(HandOffCommand::Verify(arguments)) = &arguments.command {
        return verify::hand_off(context, arguments);
    }
    let (Some(session), Some(task)) = (&arguments.session, &arguments.task) else {
        return Err(Failure::bug(&"a session and a task are required"));
    };
    let (client, session) = super::of_session(context, session)?;
    let given = HandOffPlan { task: task.clone() };
    let request = ApiRequest::<operation::HandOffPlan>::send(OfPlan { session }, given);
    let package = client.call_with(&request, SocketRequest::once)?;
    let mut line = canonical::to_vec(&package)?;
    line.push(b'\n');
    context.output.write(&line)?;
    Ok(Exit::Success)
}

/// Returns whether everything is settled, and what nobody settled and nobody asks about any more.
pub(super) fn settled(record: &AuditRecord) -> String {
    let gone = record.withdrawn_gaps.as_ref().map(|gaps| {
        let names: Vec<_> = gaps.iter().map(ToString::to_string).collect();
        format!("; no longer asked and not settled: {}", names.join(", "))
    });
    match (record.all_resolved, gone) {
        (true, None) => "every gap is settled".to_owned(),
        (true, Some(gone)) => format!("no gap is open{gone}"),
        (false, gone) => format!("gaps are open{}", gone.unwrap_or_default()),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Record(AuditRecord);

impl Reply for Record {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let record = &self.0;
        let settled = settled(record);
        let verdict = if record.all_resolved { paint.good(&settled) } else { paint.bad(&settled) };
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
            if let Some(by) = round.answered_for() {
                let (name, assurance) = (visible(&by.name), visible(assurance_of(&by.assurance)));
                lines.push(format!("   by        {name} ({assurance}), as demur recorded it"));
            }
        }
        lines
    }
}
