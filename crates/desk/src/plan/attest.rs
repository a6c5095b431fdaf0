//! The attestation of what an agent made of its plan, the same for every door: each path once, a list that fits into an event, and
//! the same attestation again is told and not recorded (CLR-50).

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    plan::{AttestedPlan, MadeFile, MadeFiles},
    refusal::Refusal,
};
use demur_clarify::{
    attestation::{Attestation, FileAction, FileHash, FileHashes, Outputs, Particulars},
    status::PlanStatus,
    time::Time,
    uuid::Uuid,
};
use demur_core::{
    canonical,
    limit::{List, Text},
};
use demur_ledger::{author::Author, name::TraceId};
use demur_plan::{Error, Session};

use super::{attested, new_uuid};
use crate::{
    operating_system::OperatingSystem,
    owner::Owner,
    session::{self, Speaker},
};

/// What was made of a plan.
#[derive(Clone, Copy, Debug)]
pub struct MadeOutput<'a> {
    /// The folder.
    pub path: &'a Text<1, 1024>,
    /// Every file in it.
    pub files: &'a MadeFiles,
    /// The version of the program that made them.
    pub version: &'a Text<1, 64>,
}

/// Records and returns the attestation of what an agent made of its plan; one that says the same is returned as it is on record.
pub fn attest(
    owner: &Owner,
    author: Arc<Author>,
    session: Uuid,
    made: MadeOutput<'_>,
) -> Result<AttestedPlan, Refusal> {
    let (files, agent) = (hashes(made.files)?, author.principal());
    let repeated = || -> Result<Option<AttestedPlan>, Refusal> {
        let found = session::read(owner.sequencer(), session)?;
        let earlier = if found.work().agent() == Some(agent) { earlier(&found, made, &files)? } else { None };
        Ok(earlier.map(|attestation| AttestedPlan { attestation, event: None }))
    };
    if let Some(earlier) = repeated()? {
        return Ok(earlier);
    }
    let (trace, speaker) = (TraceId::of_session(session.as_u128()), Speaker::Key(author));
    let attested = session::perform(owner, trace, &speaker, || {
        let session = session::read(owner.sequencer(), session)?;
        let confirmed = session.confirmed().ok_or_else(|| not_confirmed(&session))?;
        let signer = session::signer_of(owner, &session)?;
        let outputs = Outputs::new(made.path.clone(), files.clone()).map_err(Error::from)?;
        let attestation = session.attest(particulars(made.version)?, outputs, &signer)?;
        Ok((session.attesting(confirmed, &attestation)?, attestation))
    });
    match attested {
        Ok((at, attestation)) => Ok(AttestedPlan { attestation, event: Some(at.sequence) }),
        // The same request may have been faster elsewhere.
        Err(refusal) => repeated()?.ok_or(refusal),
    }
}

fn particulars(version: &Text<1, 64>) -> Result<Particulars, Refusal> {
    Ok(Particulars {
        attestation_id: new_uuid()?,
        agent_version: version.clone(),
        timestamp: Time::from(OperatingSystem::open()?.now()?),
        compliance_claims: List::default(),
        deterministic: None,
    })
}

fn not_confirmed(session: &Session) -> Refusal {
    if session.standing() == PlanStatus::Attested {
        return attested(session);
    }
    let message = format!("expected a confirmed plan, found one that is {}", session.standing().as_str());
    Refusal::new(Code::Rule(RuleCode::OUT_OF_PLAN), message)
        .with_cure("settle every question, then confirm the plan")
}

/// Returns the attestation that is on record, if it says the same.
fn earlier(
    session: &Session,
    made: MadeOutput<'_>,
    files: &FileHashes,
) -> Result<Option<Attestation>, Refusal> {
    if session.standing() != PlanStatus::Attested {
        return Ok(None);
    }
    let same = |attestation: &Attestation| {
        attestation.outputs.file_hashes == *files
            && attestation.outputs.output_path == *made.path
            && attestation.agent_version == *made.version
    };
    Ok(session.attestation()?.filter(same))
}

/// Returns the files as they stand in an attestation, each path once.
fn hashes(made: &MadeFiles) -> Result<FileHashes, Refusal> {
    let file = |file: &MadeFile| FileHash::new(file.path.clone(), file.sha256, FileAction::Created);
    let mut files: Vec<_> = made.iter().map(file).collect();
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

/// How long the list of files may be: it stands in one event, beside the plan.
const FILE_LIST_BYTES: usize = 640 << 10;
