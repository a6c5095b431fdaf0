//! witness-log-core: a dossier in a file, checked as its documentation describes: every leaf valid in its place,
//! the Merkle root built again, the signed tree head. One signature for the whole file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use demur_core::hash::Digest;
use serde::{Deserialize, Serialize};
use witness_log_core::leaf::validate_sequence;
use witness_log_core::merkle::leaf_hash;
use witness_log_core::{Leaf, MerkleTree, SignedTreeHead, WitnessLog};

/// A dossier on disk.
pub(crate) struct Dossier {
    path: PathBuf,
    pub(crate) bytes: u64,
}

/// The parts of it that these checks need. Written without white space, which is less to read than the
/// indented form.
#[derive(Serialize, Deserialize)]
struct Parts {
    identity_pubkey: String,
    leaves: Vec<Leaf>,
    checkpoint: SignedTreeHead,
}

impl Dossier {
    /// Writes a dossier with this many leaves.
    pub(crate) fn create(path: &Path, count: u64) -> Result<Self> {
        let mut log = WitnessLog::new();
        for number in 0..count {
            let payload = format!(r#"{{"call":{number},"query":"the sum of each quarter"}}"#);
            if number % 2 == 0 {
                log.append_intent(payload.as_bytes());
            } else {
                log.append_result(payload.as_bytes());
            }
        }
        let parts = Parts {
            identity_pubkey: log.identity_pubkey_hex(),
            leaves: log.leaves().to_vec(),
            checkpoint: log.checkpoint_self(),
        };
        fs::write(path, serde_json::to_vec(&parts)?)?;
        Ok(Self { path: path.to_owned(), bytes: fs::metadata(path)?.len() })
    }

    /// Reads the file and checks it.
    pub(crate) fn verify(&self) -> Result<()> {
        let parts: Parts = serde_json::from_slice(&fs::read(&self.path)?)?;
        validate_sequence(&parts.leaves)?;
        parts.checkpoint.verify()?;
        let mut tree = MerkleTree::new();
        for leaf in &parts.leaves {
            tree.append(leaf_hash(&leaf.canonical_bytes()));
        }
        let root = Digest::from_bytes(tree.root()).to_string();
        ensure!(tree.size() == parts.checkpoint.tree_size, "the tree head is of another size");
        ensure!(root == parts.checkpoint.root_hash, "the leaves are not those of the tree head");
        Ok(())
    }
}
