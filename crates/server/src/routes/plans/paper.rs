//! The papers of a plan: the attestation of what was made of it, the record of every round, the package for whoever goes
//! on (CLR-50, CLR-61, CLR-70, CLR-71).

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    code::Code,
    operation,
    plan::{AttestPlan, AttestedPlan, HandOffPlan, MadeFile},
    refusal::Refusal,
};
use demur_clarify::{
    attestation::{Attestation, FileAction, FileHash, FileHashes},
    audit::AuditRecord,
    handoff::Handoff,
    status::PlanStatus,
    uuid::Uuid,
};
use demur_core::canonical;
use demur_desk::{plan, session};
use demur_plan::Session;
use hyper::StatusCode;

use super::{own, seen};
use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::AttestPlan>(), attest)
        .with(Operation::of::<operation::AuditPlan>(), audit)
        .with(Operation::of::<operation::HandOffPlan>(), hand_off)
}

async fn attest(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
    Document(given): Document<AttestPlan>,
) -> Result<Response, Problem> {
    let attested = service.work(move |_, owner| {
        let (found, author) = own(owner, &caller, session, given.agent.as_deref())?;
        let files = hashes(&given)?;
        if let Some(attestation) = earlier(&found, &given, &files)? {
            return Ok(AttestedPlan { attestation, event: None });
        }
        let version = &given.program_version;
        let (at, attestation) = plan::attest(owner, author, session, &given.output_path, &files, version)?;
        Ok(AttestedPlan { attestation, event: Some(at) })
    });
    let attested = attested.await?;
    let status = if attested.event.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(attested)).into_response())
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
    if length > LONGEST {
        let message = format!("expected a list of files that takes at most {LONGEST} bytes, found {length}");
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

async fn audit(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
) -> Result<Json<AuditRecord>, Problem> {
    let record = service.work(move |_, owner| {
        let found = seen(owner, &caller, session)?;
        Ok(found.audit(&session::signer(owner.ledger(), owner.keystore())?)?)
    });
    Ok(Json(record.await?))
}

async fn hand_off(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
    Document(given): Document<HandOffPlan>,
) -> Result<Json<Handoff>, Problem> {
    let package = service.work(move |_, owner| {
        let found = seen(owner, &caller, session)?;
        let signer = session::signer(owner.ledger(), owner.keystore())?;
        Ok(found.handoff(plan::new_uuid()?, &given.task, &signer)?)
    });
    Ok(Json(package.await?))
}

/// How long the list of files may be: it stands in one event, beside the plan.
const LONGEST: usize = 640 << 10;
