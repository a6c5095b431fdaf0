//! The end of the demo: what the verifier found in the file, and where to look next.

use std::path::{Path, PathBuf};

use demur_core::hash::{Digest, sha256};
use demur_desk::{data::DataFolder, run::seat_name, visible::shell_word};
use demur_ledger::{
    name::{StoreId, TraceId},
    verify::Report,
};
use serde::Serialize;

use super::{
    asking::Asked,
    cast::{Agent, Cast},
    script::Outcome,
    session::Refusal,
    task::Count,
    tasks::Done,
};
use crate::output::{Paint, Reply};

/// The answer of `demur demo`.
#[derive(Debug, Serialize)]
pub(super) struct Ending {
    agents: [Agent; 4],
    /// The session in which an agent asked.
    pub(super) asked: Option<Asked>,
    export: String,
    folder: String,
    phase: &'static str,
    refused: Refusal,
    /// SHA-256 of the auditor's report, as in the record.
    report: Digest,
    result: Count,
    /// The example tasks.
    pub(super) runs: Vec<Done>,
    store: StoreId,
    trace: TraceId,
    /// The report over the file, as `demur verify` gives it.
    verification: Report,
}

impl Ending {
    /// Returns the answer.
    pub(super) fn new(data: &DataFolder, cast: &Cast, outcome: Outcome, verification: Report) -> Self {
        Self {
            agents: cast.agents().map(Clone::clone),
            asked: None,
            export: data.path().join("demo.jsonl").to_string_lossy().into_owned(),
            folder: data.path().to_string_lossy().into_owned(),
            phase: verification.scope.state.unwrap_or("none"),
            refused: outcome.refusal,
            report: sha256(&outcome.report),
            result: outcome.count,
            runs: Vec::new(),
            store: verification.scope.store,
            trace: verification.scope.trace,
            verification,
        }
    }

    fn proven(&self) -> Vec<String> {
        let keys = &self.verification.proven_by_key;
        let statements = |agent: &Agent| {
            let key = keys.iter().find(|key| key.fingerprint == agent.fingerprint);
            key.map_or(0, |key| key.statements)
        };
        let line = |agent: &Agent| {
            let (key, role, count) = (agent.fingerprint.short(), agent.role.as_str(), statements(agent));
            let name = seat_name(agent.name, agent.role);
            format!("  key {key} said {count} things as {role}; the desk calls it {name}")
        };
        self.agents.iter().map(line).collect()
    }

    fn desk_word(&self) -> Vec<String> {
        let word = &self.verification.desk_word;
        let records =
            word.records.iter().map(|(kind, count)| format!("  {count} x {kind}, which no key signed"));
        records.chain(word.besides.iter().map(|line| format!("  {line}"))).collect()
    }

    fn commands(&self) -> [String; 7] {
        let (export, data) = (shell_word(Path::new(&self.export)), shell_word(Path::new(&self.folder)));
        let demur = as_called();
        let plan = shell_word(&Path::new(&self.folder).join("plan.jsonl"));
        [
            format!("  {demur} verify {export}"),
            format!("  {demur} verify {plan} --no-guess"),
            format!("  {demur} verify {export} --html report.html"),
            format!("  {demur} trace show {export}"),
            format!("  {demur} trace list --data {data}"),
            format!("  {demur} trace show {export} --graph --out run.svg"),
            format!("  {demur} keys list --data {data}"),
        ]
    }
}

/// Returns how this program was called: somebody who tries it from a build folder has no `demur` on the path.
fn as_called() -> String {
    let program = std::env::args_os().next().map(PathBuf::from);
    program.filter(|path| path.components().count() > 1).map_or("demur".to_owned(), |path| shell_word(&path))
}

impl Reply for Ending {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![
            "\nNow the file of the first run, read back from the disk and trusting nothing in it:\n"
                .to_owned(),
        ];
        lines.push(format!("{} {}", paint.good("Verdict:"), self.verification.words));
        lines.push(format!("\n{}", paint.strong("Proven by a key:")));
        lines.extend(self.proven());
        lines.push(format!("\n{}", paint.strong("Only the desk's word:")));
        lines.extend(self.desk_word());
        lines.push("\nThat this file comes from the right desk takes a fingerprint or a receipt".to_owned());
        lines.push("that you got some other way.".to_owned());
        lines.push(format!("\n{}", paint.strong("Look further:")));
        lines.extend(self.commands());
        lines.push("\nDelete the folder when you are done:".to_owned());
        let (demur, folder) = (as_called(), shell_word(Path::new(&self.folder)));
        // Commands that looked into it have started a server there. Where none did, that is no error to show.
        lines.push(format!("  {demur} stop --data {folder} 2>/dev/null; rm -r {folder}"));
        lines
    }
}
