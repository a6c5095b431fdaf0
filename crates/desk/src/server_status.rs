//! The operations about the server itself: what it is, how it is, and how it ends.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
    refusal::Refusal,
    server::{Health, PROTOCOL, SchemaList, ServerStatus},
};
use demur_ledger::question::OutcomeKind;

use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Begun, Handle, Handled, ReplyNotes},
    held_folder::closed,
    lookup::Lookup,
};

impl Handle<op::ShowServer> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ShowServer>) -> Handled<op::ShowServer> {
        let owner = self.owner()?;
        let trouble = self.store_trouble();
        // Files that are gone cannot be read; that they are gone can be said.
        let counts = match owner.sequencer().store().question_counts() {
            Err(_) if trouble.is_some() => Vec::new(),
            counted => counted?,
        };
        let open = counts.iter().find(|(kind, _)| *kind == OutcomeKind::Open).map_or(0, |(_, count)| *count);
        Ok(ApiReply::new(ServerStatus {
            version: self.version().to_owned(),
            protocol: PROTOCOL,
            process: std::process::id(),
            folder: self.data().path().to_string_lossy().into_owned(),
            store: owner.sequencer().registry().store().to_string(),
            address: self.address(),
            pages: self.pages(),
            waits_for_port: self.waits_for_port(),
            open,
            waiting: self.waiters().len() as u64,
            limits: self.limits(),
            trouble: trouble.map(|refusal| refusal.message),
        }))
    }
}

/// Begun without a thread: a server whose threads all wait for the disk can be told to end.
impl Handle<op::StopServer> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::StopServer>) -> Handled<op::StopServer> {
        Ok(ApiReply::new(op::Nothing {}))
    }

    fn begin(
        _: &Lookup,
        _: &Admitted,
        _: &ApiRequest<op::StopServer>,
    ) -> Result<Begun<op::Nothing>, Refusal> {
        Ok(Begun::Done(ApiReply::new(op::Nothing {})))
    }

    fn settled(notes: &ReplyNotes<'_>, _: &ApiReply<op::Nothing>) {
        notes.end();
    }
}

/// Begun without a thread: threads that wait do not mean that the server is ill.
impl Handle<op::CheckHealth> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::CheckHealth>) -> Handled<op::CheckHealth> {
        Ok(ApiReply::new(well()))
    }

    fn begin(_: &Lookup, _: &Admitted, _: &ApiRequest<op::CheckHealth>) -> Result<Begun<Health>, Refusal> {
        Ok(Begun::Done(ApiReply::new(well())))
    }
}

impl Handle<op::CheckReady> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::CheckReady>) -> Handled<op::CheckReady> {
        if self.is_open() { Ok(ApiReply::new(well())) } else { Err(closed()) }
    }

    /// Whoever is asked has the folder.
    fn begin(_: &Lookup, _: &Admitted, _: &ApiRequest<op::CheckReady>) -> Result<Begun<Health>, Refusal> {
        Ok(Begun::Done(ApiReply::new(well())))
    }
}

fn well() -> Health {
    Health { status: "ok".to_owned() }
}

impl Handle<op::ListSchemas> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ListSchemas>) -> Handled<op::ListSchemas> {
        let schemas = demur_api::schema::all().into_keys().collect();
        Ok(ApiReply::new(SchemaList { schemas }))
    }
}
