//! `demur plan attest`: the hash of every file that was made, under the plan and its clarification.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, OfPlan},
    plan::{AttestPlanAs, MAX_MADE_FILES, MadeFile},
};
use demur_clarify::{attestation::Attestation, seal::Sha256};
use demur_core::{hash::sha256, limit::Text};
use demur_desk::visible::visible_path;
use demur_ledger::name::TraceId;
use serde::Serialize;

use super::{keep_receipt, named, of_session};
use crate::{
    arguments::AttestPlan,
    client::SocketRequest,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Reply, counted_as},
};

/// Attests what was made of a confirmed plan.
pub(crate) fn attest(context: &mut Context<'_>, arguments: &AttestPlan) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let (author, version) = (named(&arguments.author)?, arguments.program_version.clone());
    let given = attestation_of(&arguments.output, author, version)?;
    let request = ApiRequest::<operation::AttestPlanAs>::send(OfPlan { session }, given);
    let attested = client.call_with(&request, SocketRequest::once)?;
    keep_receipt(
        &client,
        TraceId::of_session(session.as_u128()),
        attested.event,
        arguments.receipt.as_deref(),
    )?;
    let files = attested.attestation.outputs.file_hashes.len() as u64;
    context.output.reply(&Attested { attestation: attested.attestation, files })?;
    Ok(Exit::Success)
}

/// Returns what is sent to attest the files in a folder.
pub(crate) fn attestation_of(
    folder: &Path,
    author: Text<1, 256>,
    program_version: Text<1, 64>,
) -> Result<AttestPlanAs, Failure> {
    let (output_path, files) = (Text::cut(&folder.to_string_lossy())?, hashes(folder)?.try_into()?);
    Ok(AttestPlanAs { author, output_path, files, program_version })
}

/// Returns the hash of every file below a folder, by its path in it. What is neither a file nor a folder is refused:
/// a link would attest something else tomorrow.
fn hashes(folder: &Path) -> Result<Vec<MadeFile>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).map_err(|error| Failure::unreadable(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Failure::unreadable(&next, &error))?;
            let kind = entry.file_type().map_err(|error| Failure::unreadable(&next, &error))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && found.len() < MAX_MADE_FILES {
                found.push(hash(folder, &entry.path())?);
            } else {
                let shown = visible_path(&entry.path());
                let message = format!(
                    "expected up to {MAX_MADE_FILES} plain files, found one more or something else: {shown}"
                );
                return Err(Failure::of(Code::OutputInvalid, message));
            }
        }
    }
    if found.is_empty() {
        let message = format!("expected files to attest, found none in {}", visible_path(folder));
        return Err(Failure::of(Code::OutputInvalid, message).with_hint("attest after the files are made"));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn hash(folder: &Path, path: &Path) -> Result<MadeFile, Failure> {
    let mut bytes = Vec::new();
    let unreadable = |error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let name = path.strip_prefix(folder).ok().and_then(Path::to_str).and_then(|name| name.parse().ok());
    match name {
        Some(name) if bytes.len() as u64 <= MAX_FILE_BYTES => {
            Ok(MadeFile { path: name, sha256: Sha256::from(sha256(&bytes)) })
        }
        _ => {
            let shown = visible_path(path);
            let message = format!(
                "expected a file of up to {} MiB with a plain name, found {shown}",
                MAX_FILE_BYTES >> 20
            );
            Err(Failure::of(Code::OutputInvalid, message))
        }
    }
}

#[derive(Serialize)]
struct Attested {
    attestation: Attestation,
    files: u64,
}

impl Reply for Attested {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let attestation = &self.attestation;
        vec![
            format!(
                "{} {} after {} of clarification",
                paint.good("Attested:"),
                counted_as(self.files, "file", "files"),
                counted_as(attestation.inputs.clarification_rounds(), "round", "rounds")
            ),
            format!("  root of the files  {}", attestation.outputs.output_hash),
            format!("  attestation        {}", attestation.attestation_id),
        ]
    }
}

/// How large one of them may be.
const MAX_FILE_BYTES: u64 = 256 << 20;
