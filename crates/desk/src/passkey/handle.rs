//! The operations of passkeys and touches.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
    passkey::SetupCode,
};

use super::{list, reset, setup_code, touch::Signer};
use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
};

impl Handle<op::MakeSetupCode> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::MakeSetupCode>) -> Handled<op::MakeSetupCode> {
        let pages = self.pages().ok_or_else(|| self.no_pages())?;
        let code = setup_code::make(&*self.owner()?)?;
        let url = format!("{pages}{PASSKEYS_PATH}");
        Ok(ApiReply::new(SetupCode { code, seconds: setup_code::CODE_SECONDS, url }))
    }
}

impl Handle<op::ListPasskeys> for Desk {
    fn handle(&self, by: &Admitted, _: ApiRequest<op::ListPasskeys>) -> Handled<op::ListPasskeys> {
        list::list(&*self.owner()?, by.caller()).map(ApiReply::new)
    }
}

impl Handle<op::AddPasskey> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AddPasskey>) -> Handled<op::AddPasskey> {
        let owner = &*self.owner()?;
        self.enrol(&Signer::of(owner, by.caller())?, &request.body).map(ApiReply::new)
    }
}

impl Handle<op::ShowPasskeyToReset> for Desk {
    fn handle(
        &self,
        _: &Admitted,
        request: ApiRequest<op::ShowPasskeyToReset>,
    ) -> Handled<op::ShowPasskeyToReset> {
        reset::passkey_to_reset(&*self.owner()?, request.path.key).map(ApiReply::new)
    }
}

impl Handle<op::ResetPasskeys> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::ResetPasskeys>) -> Handled<op::ResetPasskeys> {
        let owner = &*self.owner()?;
        let shown = reset::reset_passkeys(owner, request.path.key, request.body)?;
        // What opened them has ended, whoever has it.
        self.end_sessions_by_passkey(owner, |_| true)?;
        Ok(ApiReply::new(shown))
    }
}

impl Handle<op::PrepareTouch> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::PrepareTouch>) -> Handled<op::PrepareTouch> {
        let owner = &*self.owner()?;
        let acts = request.body.acts.to_vec();
        self.prepare_touch(&Signer::of(owner, by.caller())?, acts).map(ApiReply::new)
    }
}

impl Handle<op::FinishTouch> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::FinishTouch>) -> Handled<op::FinishTouch> {
        let owner = &*self.owner()?;
        let signer = Signer::of(owner, by.caller())?;
        self.finish_touch(&signer, &request.path.touch, &request.body).map(ApiReply::new)
    }
}

/// The page on which passkeys are looked after.
pub const PASSKEYS_PATH: &str = "/passkeys";
