//! The outputs of an attestation: every file with its hash, under the root of a tree as in RFC 6962, so that one
//! file can be shown to belong to it without the others.

use demur_core::{
    canonical,
    hash::Digest,
    limit::{List, Text, Whole},
    merkle::{self, Scheme},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expect;
use crate::{Error, error::FieldError, gap::repeated, name::FilePath, read::present, seal::Sha256};

/// Every file of an attestation.
pub type FileHashes = List<FileHash, 0, 10_000>;

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// How many files.
    pub total_files: Whole<0, 10_000>,
    /// How many of them are new.
    pub files_created: Whole<0, 10_000>,
    /// How many of them were there before.
    pub files_updated: Whole<0, 10_000>,
    /// How many libraries for compliance are among them.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub compliance_libraries: Option<Whole<0, 10_000>>,
    /// How many files with translations are among them.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub locale_files: Option<Whole<0, 10_000>>,
    /// The file that says what was checked.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub audit_file: Option<FilePath>,
    /// The folder.
    pub output_path: Text<1, 1024>,
    /// The files; no path stands here twice.
    pub file_hashes: FileHashes,
    /// The root over the files.
    pub output_hash: Sha256,
    /// What the build said, where there was one.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub build_result: Option<BuildResult>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileHash {
    /// Where it is, below the output folder.
    pub path: FilePath,
    /// SHA-256 over its bytes.
    pub sha256: Sha256,
    /// What was done to it.
    pub action: FileAction,
    /// Whether a standard says something about it.
    pub compliance_relevant: bool,
    /// Which standards were applied.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub standards_applied: Option<List<Text<1, 64>, 0, 64>>,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// It is new.
    Created,
    /// It was there before.
    Updated,
}

/// What the build said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildResult {
    /// The exit code of its process.
    pub exit_code: Whole<0, 255>,
    /// How many errors.
    pub errors: Whole<0, 1_000_000>,
    /// How many warnings.
    pub warnings: Whole<0, 1_000_000>,
    /// SHA-256 over its log.
    pub build_log_hash: Sha256,
}

impl FileHash {
    /// Returns a file that no standard says anything about.
    pub const fn new(path: FilePath, sha256: Sha256, action: FileAction) -> Self {
        Self { path, sha256, action, compliance_relevant: false, standards_applied: None }
    }

    /// Returns the file with the standards that were applied to it.
    #[must_use]
    pub fn with_standards(mut self, standards: List<Text<1, 64>, 0, 64>) -> Self {
        self.compliance_relevant = true;
        self.standards_applied = Some(standards);
        self
    }
}

impl Outputs {
    /// Returns the outputs with these files; counts and root follow from them.
    pub fn new(output_path: Text<1, 1024>, file_hashes: FileHashes) -> Result<Self, Error> {
        let counted = |action| {
            let count = counted(&file_hashes, action);
            Whole::try_from(count).map_err(|error| FieldError::new("outputs.file_hashes", error, count))
        };
        Ok(Self {
            total_files: counted(None)?,
            files_created: counted(Some(FileAction::Created))?,
            files_updated: counted(Some(FileAction::Updated))?,
            compliance_libraries: None,
            locale_files: None,
            audit_file: None,
            output_path,
            output_hash: Tree::of(&file_hashes)?.root(),
            file_hashes,
            build_result: None,
        })
    }

    pub(super) fn verify(&self) -> Result<(), Error> {
        for (field, action, found) in [
            ("outputs.total_files", None, self.total_files),
            ("outputs.files_created", Some(FileAction::Created), self.files_created),
            ("outputs.files_updated", Some(FileAction::Updated), self.files_updated),
        ] {
            expect(field, &counted(&self.file_hashes, action), &found.as_u64())?;
        }
        expect("outputs.output_hash", &Tree::of(&self.file_hashes)?.root(), &self.output_hash)?;
        Ok(())
    }
}

/// The tree over files, in the order of the bytes of their paths.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    files: Vec<(&'a FilePath, Digest)>,
}

impl<'a> Tree<'a> {
    /// Returns the tree over all these files; no path may stand in it twice.
    pub fn of(files: &'a FileHashes) -> Result<Self, Error> {
        Self::over(files.iter())
    }

    /// Returns the tree over those files that this standard was applied to.
    pub fn of_standard(files: &'a FileHashes, standard: &Text<1, 64>) -> Result<Self, Error> {
        let names =
            |file: &&FileHash| file.standards_applied.as_ref().is_some_and(|all| all.contains(standard));
        Self::over(files.iter().filter(names))
    }

    fn over(files: impl Iterator<Item = &'a FileHash>) -> Result<Self, Error> {
        let mut leaves = Vec::new();
        for FileHash { path, sha256, .. } in files {
            leaves.push((path, leaf(path, sha256)?));
        }
        leaves.sort_unstable();
        let paths: Vec<_> = leaves.iter().map(|(path, _)| *path).collect();
        if let Some(twice) = repeated(&paths) {
            return Err(
                FieldError::new("outputs.file_hashes", "each path once", format!("{twice} twice")).into()
            );
        }
        Ok(Self { files: leaves })
    }

    /// Returns how many files there are.
    pub fn len(&self) -> u64 {
        self.files.len() as u64
    }

    /// Returns whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the root; SHA-256 of nothing where there is no file.
    pub fn root(&self) -> Sha256 {
        merkle::root(Scheme::RFC6962, &self.leaves()).into()
    }

    /// Returns the proof that this file is in the tree, if it is.
    pub fn inclusion(&self, path: &FilePath) -> Option<Inclusion> {
        let index = self.files.binary_search_by_key(&path, |(path, _)| *path).ok()?;
        let siblings = merkle::inclusion(Scheme::RFC6962, &self.leaves(), index);
        let siblings = siblings.into_iter().map(Sha256::from).collect::<Vec<_>>();
        Some(Inclusion {
            leaf_index: Whole::try_from(index as u64).ok()?,
            tree_size: Whole::try_from(self.len()).ok()?,
            siblings: List::try_from(siblings).ok()?,
        })
    }

    fn leaves(&self) -> Vec<Digest> {
        self.files.iter().map(|(_, leaf)| *leaf).collect()
    }
}

/// The proof that one file is in the tree: the hashes beside its path to the root, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inclusion {
    /// The place of the file in the order of paths.
    pub leaf_index: Whole<0, 9_999>,
    /// How many files there are.
    pub tree_size: Whole<1, 10_000>,
    /// The hashes.
    pub siblings: List<Sha256, 0, 14>,
}

impl Inclusion {
    /// Returns whether it shows a file with this path and hash in the tree with this root.
    pub fn shows(&self, path: &FilePath, sha256: &Sha256, root: &Sha256) -> Result<bool, Error> {
        let siblings: Vec<Digest> = self.siblings.iter().map(|hash| *hash.bare()).collect();
        let (leaf, index) = (leaf(path, sha256)?, self.leaf_index.as_u64());
        let size = self.tree_size.as_u64();
        Ok(merkle::verify_inclusion(Scheme::RFC6962, &leaf, index, size, &siblings, root.bare()))
    }
}

/// Returns the leaf of a file: the canonical form of its path and hash, under the prefix of RFC 6962.
fn leaf(path: &FilePath, sha256: &Sha256) -> Result<Digest, Error> {
    #[derive(Serialize)]
    struct Leaf<'a> {
        path: &'a FilePath,
        sha256: &'a Sha256,
    }
    Ok(merkle::leaf_hash(Scheme::RFC6962, &canonical::to_vec(&Leaf { path, sha256 })?))
}

fn counted(files: &FileHashes, action: Option<FileAction>) -> u64 {
    files.iter().filter(|file| action.is_none_or(|action| file.action == action)).count() as u64
}
