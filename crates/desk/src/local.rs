//! The operations that the user of this machine alone may have done: keys, plans by the word of a key of the data folder, the
//! store itself. Each is a function over the folder in use.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation::{self as op, Operation},
    refusal::Refusal,
};

use crate::{access::Admitted, desk::Desk, entry::Handle, find, key, plan, request_state, store_check};

/// Does operations by a function of the folder in use and of what was asked.
macro_rules! handle {
    ($($operation:ident = |$owner:ident, $request:ident $(, $by:ident)?| $done:expr;)+) => {$(
        impl Handle<op::$operation> for Desk {
            fn handle(
                &self,
                _by: &Admitted,
                $request: ApiRequest<op::$operation>,
            ) -> Result<ApiReply<<op::$operation as Operation>::Output>, Refusal> {
                let $owner = &*self.owner()?;
                $(let $by = _by;)?
                $done.map(ApiReply::new)
            }
        }
    )+};
}

handle! {
    ListKeys = |owner, _request| Ok(key::list(&*owner.key_directory()?, owner.keyring()));
    RegisterKey = |owner, request| key::register(owner, &request.body);
    RotateKey = |owner, request| key::rotate(owner, request.path.fingerprint, &request.body);
    RevokeKey = |owner, request| key::revoke(owner, request.path.fingerprint, request.body);

    ListPlans = |owner, request| plan::list(owner.sequencer(), &request.query);
    ShowPlanHere = |owner, request| plan::show(owner.sequencer(), request.path.session);
    CheckPlanUnder = |owner, request| plan::check_under(owner.sequencer(), owner.keyring(), request.body);
    SubmitPlanAs = |owner, request| plan::submit_as(owner, request.body);
    ResolveGapAs = |owner, request, by| plan::resolve_as(owner, by.caller(), request.path, request.body);
    BeginOperationAs = |owner, request| plan::begin_as(owner, request.path.session, &request.body);
    ConfirmPlanAs = |owner, request| plan::confirm_as(owner, request.path.session, &request.body);
    AttestPlanAs = |owner, request| plan::attest_as(owner, request.path.session, &request.body);

    FindIds = |owner, request| find::find(owner.sequencer().store(), &request.query);
    ShowRequestStateKey = |owner, _request, by| request_state::key_of(owner, by.caller());
    MakeCheckpoint = |owner, _request| store_check::checkpoint(owner);
    CheckStore = |owner, _request, by| store_check::check_owned(owner, &|| by.is_gone());
    ShowStoreCheck = |owner, _request| Ok(store_check::progress(owner));
}
