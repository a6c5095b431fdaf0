//! The operations of runs that are driven. For the user of this machine alone: the tools are the caller's. Operators end them.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation::{self as op, Nothing},
    refusal::Refusal,
};

use super::{abort, check_run, claim, drive, read_lines, submit};
use crate::{
    access::{Admitted, named},
    desk::Desk,
    entry::{Handle, Handled},
};

impl Handle<op::ClaimRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ClaimRun>) -> Handled<op::ClaimRun> {
        expect_driver(by)?;
        claim(&*self.owner()?, request.path.trace, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::DriveRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::DriveRun>) -> Handled<op::DriveRun> {
        expect_driver(by)?;
        drive(&*self.owner()?, request.path.trace, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::SubmitInRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::SubmitInRun>) -> Handled<op::SubmitInRun> {
        expect_driver(by)?;
        submit(&*self.owner()?, request.path.trace, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::ReadRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ReadRun>) -> Handled<op::ReadRun> {
        expect_driver(by)?;
        read_lines(&*self.owner()?, request.path.trace, &request.query).map(ApiReply::new)
    }
}

impl Handle<op::AbortRun> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AbortRun>) -> Handled<op::AbortRun> {
        let (owner, trace) = (&*self.owner()?, request.path.trace);
        check_run(owner.sequencer().store(), trace)?;
        let reason = named(by.caller(), request.body.reason.as_str())?;
        abort(owner, trace, by.caller().attribution(), reason)?;
        Ok(ApiReply::new(Nothing {}))
    }
}

/// A client that passes on what its own user says has no tools here.
fn expect_driver(by: &Admitted) -> Result<(), Refusal> {
    if by.caller().client().is_none() {
        return Ok(());
    }
    let message = "expected the user of this machine, found a client that speaks for its own user";
    Err(Refusal::new(Code::Forbidden, message).with_cure("start the run with `demur run` in a terminal"))
}
