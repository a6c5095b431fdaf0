//! Operations that only read, done in this process over the files of a data folder. The owner of the folder goes on meanwhile.

use demur_api::{
    call::ApiRequest,
    operation::{
        AuditPlan, CheckPlanUnder, FindIds, ListEvents, ListKeys, ListPlans, ListTraces, Operation,
        ShowPlanHere, ShowTrace,
    },
    refusal::Refusal,
};
use demur_desk::{find, plan, read_only::ReadOnlyFolder, session, trace};

/// An operation that can be done here, because it only reads.
pub(crate) trait ReadHere: Operation + Sized {
    /// Does it.
    fn read(files: &ReadOnlyFolder, request: ApiRequest<Self>) -> Result<Self::Output, Refusal>;
}

/// Does operations by what they need of the files.
macro_rules! read_here {
    ($($operation:ty, |$files:ident, $request:ident| $read:expr;)+) => {$(
        impl ReadHere for $operation {
            fn read($files: &ReadOnlyFolder, $request: ApiRequest<Self>) -> Result<Self::Output, Refusal> {
                $read
            }
        }
    )+};
}

read_here! {
    FindIds, |files, request| find::find(files.store(), &request.query);
    ListTraces, |files, request| trace::list(files.store(), &request.query);
    ShowTrace, |files, request| trace::show(files.store(), request.path.trace);
    ListEvents, |files, request| trace::events(files.store(), request.path.trace, &request.query);
    ListKeys, |files, _request| files.keys();
    ListPlans, |files, request| plan::list(files.sequencer()?, &request.query);
    ShowPlanHere, |files, request| plan::show(files.sequencer()?, request.path.session);
    CheckPlanUnder, |files, request| plan::check_under(files.sequencer()?, &*files.keyring(), request.body);
    AuditPlan, |files, request| {
        Ok(session::read(files.sequencer()?, request.path.session)?.audit()?)
    };
}
