//! The documents of a plan: the attestation of what was made of it, the record of every round, the package for whoever goes
//! on (CLR-50, CLR-61, CLR-70, CLR-71).

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    plan::{AttestPlan, AttestedPlan, MadeFile},
    refusal::Refusal,
};
use demur_clarify::{
    attestation::{Attestation, FileAction, FileHash, FileHashes},
    status::PlanStatus,
};
use demur_core::canonical;
use demur_plan::Session;

use super::{own, seen};
use crate::{
    access::Admitted,
    desk::Desk,
    entry::{Handle, Handled},
    plan, session,
};

impl Handle<op::AttestPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AttestPlan>) -> Handled<op::AttestPlan> {
        let (owner, session, given) = (&*self.owner()?, request.path.session, request.body);
        let (found, author) = own(owner, by.caller(), session, given.agent.as_deref())?;
        let files = hashes(&given)?;
        if let Some(attestation) = earlier(&found, &given, &files)? {
            return Ok(ApiReply { document: AttestedPlan { attestation, event: None }, repeated: true });
        }
        let version = &given.program_version;
        let (at, attestation) = plan::attest(owner, author, session, &given.output_path, &files, version)?;
        Ok(ApiReply::new(AttestedPlan { attestation, event: Some(at) }))
    }
}

fn hashes(given: &AttestPlan) -> Result<FileHashes, Refusal> {
    let file = |file: &MadeFile| FileHash::new(file.path.clone(), file.sha256, FileAction::Created);
    let mut files: Vec<_> = given.files.iter().map(file).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    if files.windows(2).any(|pair| pair[0].path == pair[1].path) {
        let message = "expected each path once, found one twice";
        return Err(Refusal::new(Code::OutputInvalid, message).about("files"));
    }
    let files: FileHashes = files.try_into()?;
    let length = canonical::to_vec(&files)?.len();
    if length > FILE_LIST_BYTES {
        let message =
            format!("expected a list of files that takes at most {FILE_LIST_BYTES} bytes, found {length}");
        return Err(Refusal::new(Code::OutputInvalid, message)
            .about("files")
            .with_cure("attest an archive of them instead"));
    }
    Ok(files)
}

/// Returns the attestation that is on record, if it says the same.
fn earlier(
    session: &Session,
    given: &AttestPlan,
    files: &FileHashes,
) -> Result<Option<Attestation>, Refusal> {
    if session.standing() != PlanStatus::Attested {
        return Ok(None);
    }
    let same = |attestation: &Attestation| {
        attestation.outputs.file_hashes == *files
            && attestation.outputs.output_path == given.output_path
            && attestation.agent_version == given.program_version
    };
    Ok(session.attestation()?.filter(same))
}

impl Handle<op::AuditPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::AuditPlan>) -> Handled<op::AuditPlan> {
        let owner = &*self.owner()?;
        let found = seen(owner, by.caller(), request.path.session)?;
        Ok(ApiReply::new(found.audit(&session::signer(owner.sequencer(), owner.keyring())?)?))
    }
}

impl Handle<op::HandOffPlan> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::HandOffPlan>) -> Handled<op::HandOffPlan> {
        let owner = &*self.owner()?;
        let found = seen(owner, by.caller(), request.path.session)?;
        let signer = session::signer(owner.sequencer(), owner.keyring())?;
        Ok(ApiReply::new(found.handoff(plan::new_uuid()?, &request.body.task, &signer)?))
    }
}

/// How long the list of files may be: it stands in one event, beside the plan.
const FILE_LIST_BYTES: usize = 640 << 10;
