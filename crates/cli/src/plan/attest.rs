//! `demur plan attest`: the hash of every file that was made, under the plan and its clarification.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
    sync::Arc,
};

use demur_api::code::Code;
use demur_clarify::{
    attestation::{Attestation, FileAction, FileHash, FileHashes},
    seal::Sha256,
    uuid::Uuid,
};
use demur_core::{hash::sha256, limit::Text};
use demur_desk::{plan as desk, session};
use demur_ledger::{author::Author, name::Sequence, role::Role};
use serde::Serialize;

use crate::{
    arguments::AttestPlan,
    borrow,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup,
    output::{Paint, Reply, counted_as},
    owner::Owner,
    visible::visible_path,
};

/// Attests what was made of a confirmed plan.
pub(crate) fn attest(context: &mut Context<'_>, arguments: &AttestPlan) -> Result<Exit, Failure> {
    let owner = borrow::open(&context.data()?)?;
    let author = session::author(&owner, &arguments.author, Role::Agent)?;
    let version = &arguments.program_version;
    let id = lookup::session(owner.ledger().store(), &arguments.session)?;
    let (at, attestation) = attest_folder(&owner, author, id, &arguments.output, version)?;
    let trace = session::trace_of(id);
    session::keep_receipt(&owner, trace, at, arguments.receipt.as_deref())?;
    let files = attestation.outputs.file_hashes.len() as u64;
    context.output.reply(&Attested { attestation, files })?;
    Ok(Exit::Success)
}

/// Records and returns the attestation of the files in a folder.
pub(crate) fn attest_folder(
    owner: &Owner,
    author: Arc<Author>,
    session: Uuid,
    folder: &Path,
    version: &Text<1, 64>,
) -> Result<(Sequence, Attestation), Failure> {
    Ok(desk::attest(owner, author, session, &folder.to_string_lossy(), &hashes(folder)?, version)?)
}

/// Returns the hash of every file below a folder, by its path in it. What is neither a file nor a folder is refused:
/// a link would attest something else tomorrow.
fn hashes(folder: &Path) -> Result<FileHashes, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).map_err(|error| Failure::unreadable(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Failure::unreadable(&next, &error))?;
            let kind = entry.file_type().map_err(|error| Failure::unreadable(&next, &error))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && found.len() < MOST {
                found.push(hash(folder, &entry.path())?);
            } else {
                let shown = visible_path(&entry.path());
                let message =
                    format!("expected up to {MOST} plain files, found one more or something else: {shown}");
                return Err(Failure::of(Code::OutputInvalid, message));
            }
        }
    }
    if found.is_empty() {
        let message = format!("expected files to attest, found none in {}", visible_path(folder));
        return Err(Failure::of(Code::OutputInvalid, message).with_hint("attest after the files are made"));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found.try_into()?)
}

fn hash(folder: &Path, path: &Path) -> Result<FileHash, Failure> {
    let mut bytes = Vec::new();
    let unreadable = |error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let name = path.strip_prefix(folder).ok().and_then(Path::to_str).and_then(|name| name.parse().ok());
    match name {
        Some(name) if bytes.len() as u64 <= LARGEST => {
            Ok(FileHash::new(name, Sha256::from(sha256(&bytes)), FileAction::Created))
        }
        _ => {
            let shown = visible_path(path);
            let message =
                format!("expected a file of up to {} MiB with a plain name, found {shown}", LARGEST >> 20);
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

/// How many files one attestation names.
const MOST: usize = 10_000;
/// How large one of them may be.
const LARGEST: u64 = 256 << 20;
