//! The operations of traces.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    refusal::Refusal,
};

use super::{erase, event, read, seen};
use crate::{
    access::{Admitted, named},
    desk::Desk,
    entry::{Handle, Handled},
};

impl Handle<op::ListTraces> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::ListTraces>) -> Handled<op::ListTraces> {
        read::list(self.owner()?.sequencer().store(), &request.query).map(ApiReply::new)
    }
}

impl Handle<op::ShowTrace> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowTrace>) -> Handled<op::ShowTrace> {
        let (owner, trace) = (&*self.owner()?, request.path.trace);
        seen(owner, by.caller(), trace)?;
        read::show(owner.sequencer().store(), trace).map(ApiReply::new)
    }
}

impl Handle<op::ListEvents> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ListEvents>) -> Handled<op::ListEvents> {
        let (owner, trace) = (&*self.owner()?, request.path.trace);
        // What was asked for is looked at before who asks.
        read::check(&request.query)?;
        seen(owner, by.caller(), trace)?;
        read::events(owner.sequencer().store(), trace, &request.query).map(ApiReply::new)
    }
}

impl Handle<op::EraseEvent> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::EraseEvent>) -> Handled<op::EraseEvent> {
        let why = named(by.caller(), request.body.why.as_str())?;
        erase::erase(&*self.owner()?, &request.path, why).map(ApiReply::new)
    }
}

impl Handle<op::ShowReceipt> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::ShowReceipt>) -> Handled<op::ShowReceipt> {
        let (owner, op::OfEvent { trace, sequence }) = (self.owner()?, request.path);
        seen(&owner, by.caller(), trace)?;
        event(&owner, trace, sequence)?;
        let receipt = owner.sequencer().receipt(trace, sequence)?.ok_or_else(|| {
            let message = "expected a statement that a key signed, found what the desk itself recorded";
            Refusal::new(Code::ReceiptUnknown, message)
        })?;
        Ok(ApiReply::new(receipt))
    }
}
