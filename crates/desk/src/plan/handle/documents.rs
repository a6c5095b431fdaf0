//! The documents of a plan: the attestation of what was made of it, the record of every round, the package for whoever goes
//! on (CLR-50, CLR-61, CLR-70, CLR-71).

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
};

use super::{own, seen};
use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
    plan::{self, MadeOutput},
};

impl Handle<op::AttestPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AttestPlan>) -> Handled<op::AttestPlan> {
        let (owner, session, given) = (&*self.owner()?, request.path.session, request.body);
        let (_, author) = own(owner, by.caller(), session, given.agent.as_deref())?;
        let made =
            MadeOutput { path: &given.output_path, files: &given.files, version: &given.program_version };
        let attested = plan::attest(owner, author, session, made)?;
        Ok(ApiReply { repeated: attested.event.is_none(), document: attested })
    }
}

impl Handle<op::AuditPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AuditPlan>) -> Handled<op::AuditPlan> {
        let found = seen(&*self.owner()?, by.caller(), request.path.session)?;
        Ok(ApiReply::new(found.audit()?))
    }
}

impl Handle<op::HandOffPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::HandOffPlan>) -> Handled<op::HandOffPlan> {
        let owner = &*self.owner()?;
        let found = seen(owner, by.caller(), request.path.session)?;
        plan::hand_off(owner, found.uuid(), &request.body.task).map(ApiReply::new)
    }
}
