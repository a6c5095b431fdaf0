//! signet-core: a folder of receipts chained by hash, checked with the two calls behind `signet audit --verify`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use ed25519_dalek::VerifyingKey;
use serde_json::json;
use signet_core::audit::{
    AuditFilter, AuditRecord, AuditVerifyOptions, compute_record_hash, verify_chain,
    verify_signatures_with_options,
};
use signet_core::{Action, Receipt, generate_keypair, sign};

/// An audit folder.
pub(crate) struct Audit {
    folder: PathBuf,
    key: VerifyingKey,
    receipts: Vec<Receipt>,
    pub(crate) bytes: u64,
}

impl Audit {
    /// Writes a folder with this many receipts. `audit::append` reads the whole file each time, so the records
    /// are put together here, with the hashes that it would compute.
    pub(crate) fn create(folder: &Path, count: u64) -> Result<Self> {
        fs::create_dir_all(folder.join("audit"))?;
        let path = folder.join("audit/2026-11-15.jsonl");
        let (secret, key) = generate_keypair();
        let mut file = BufWriter::new(File::create(&path)?);
        let mut prev_hash = format!("sha256:{}", "0".repeat(64));
        let mut receipts = Vec::new();
        for number in 0..count {
            let signed = sign(&secret, &action(number), "executor", "operator")?;
            let receipt = serde_json::to_value(&signed)?;
            let record_hash = compute_record_hash(&receipt, &prev_hash)?;
            let record = AuditRecord { receipt, prev_hash, record_hash };
            serde_json::to_writer(&mut file, &record)?;
            file.write_all(b"\n")?;
            prev_hash = record.record_hash;
            receipts.push(signed);
        }
        file.flush()?;
        Ok(Self { folder: folder.to_owned(), key, receipts, bytes: fs::metadata(&path)?.len() })
    }

    /// Checks the chain and every signature, by a key known beforehand.
    pub(crate) fn verify(&self) -> Result<()> {
        let chain = verify_chain(&self.folder)?;
        ensure!(chain.valid && chain.total_records == self.receipts.len(), "the chain does not hold");
        let options = AuditVerifyOptions { trusted_agent_pubkeys: vec![self.key], ..Default::default() };
        let checked = verify_signatures_with_options(&self.folder, &AuditFilter::default(), &options)?;
        ensure!(checked.valid == self.receipts.len(), "{} of the signatures hold", checked.valid);
        Ok(())
    }

    /// Checks every signature of receipts that lie in memory as Rust values: no file, no parsing, no chain.
    pub(crate) fn verify_parsed(&self) -> Result<()> {
        Ok(self.receipts.iter().try_for_each(|receipt| signet_core::verify(receipt, &self.key))?)
    }
}

/// A tool call with about as many words as a content of ours.
fn action(number: u64) -> Action {
    Action {
        tool: "query-table".to_owned(),
        params: json!({"call": number, "query": "the sum of each quarter is checked before the report of 2026 is made"}),
        params_hash: String::new(),
        target: "mcp://tables.local".to_owned(),
        transport: "stdio".to_owned(),
        session: None,
        call_id: None,
        response_hash: None,
        trace_id: None,
        parent_receipt_id: None,
    }
}
