//! What a hook of a client asks: which questions stop an agent now. Whoever asks so is stopped from then on: marks are kept
//! for it, and it cannot call off its own questions.

use demur_api::{
    call::{ApiReply, ApiRequest},
    hook::Stopped,
    operation as op,
};
use demur_core::limit::Text;

use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
    marks,
};

impl Handle<op::SetHook> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::SetHook>) -> Handled<op::SetHook> {
        let names: Vec<&str> = request.body.askers.iter().map(Text::as_str).collect();
        let (questions, confirmations) = marks::name(&*self.owner()?, &names, !request.body.off)?;
        Ok(ApiReply::new(Stopped { questions, confirmations, address: self.address() }))
    }
}
