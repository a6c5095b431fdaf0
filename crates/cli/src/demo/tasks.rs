//! Three example tasks that end differently, done by the same code as `demur run`, in a store of their own: one of them
//! loses an artifact on purpose.

use std::{
    fs,
    path::{Path, PathBuf},
};

use demur_core::hash::sha256;
use demur_desk::{data::DataFolder, durable};
use demur_ledger::{facts::VerificationStatus, name::TraceId, state::Phase};
use serde::Serialize;

use super::DemoDesk;
use crate::{
    failure::Failure,
    output::Output,
    run::{RunReply, quietly},
};

/// What came of one task.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    name: &'static str,
    phase: Phase,
    trace: TraceId,
    verdict: Option<VerificationStatus>,
}

/// Does the three tasks and tells how each ended.
pub(super) fn perform(folder: &Path, output: &mut Output) -> Result<Vec<Done>, Failure> {
    let (data, tools) = (DataFolder::at(folder.join("tasks")), folder.join("tools"));
    let desk = DemoDesk::open(&data)?;
    output.tell("\nThree more tasks, done by `demur run` with a policy and tools under limits:\n")?;
    let mut done = Vec::new();
    for example in EXAMPLES {
        let reply = example.perform(&desk, (&data, &tools))?;
        let state = format!("{}{}", reply.phase, reply.verdict_words());
        output.tell(&format!("  {:<14} {state}", example.name))?;
        output.tell(&format!("  {:<14} {}", "", example.words))?;
        let RunReply { phase, trace, verdict, .. } = reply;
        done.push(Done { name: example.name, phase, trace, verdict });
    }
    Ok(done)
}

struct Example {
    name: &'static str,
    /// What is special about it.
    words: &'static str,
    task: &'static str,
    policy: &'static str,
    text: &'static str,
    /// What is removed before the audit, on purpose.
    loses: Option<&'static str>,
}

impl Example {
    fn perform(&self, desk: &DemoDesk, at: (&DataFolder, &Path)) -> Result<RunReply, Failure> {
        let (data, _) = at;
        let folder = data.path().join(self.name);
        durable::create_folder(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
        for (name, text) in [("task.toml", self.task), ("policy.toml", self.policy), ("text.txt", self.text)]
        {
            let path = folder.join(name);
            durable::create(&path, text.as_bytes()).map_err(|error| Failure::file("write", &path, &error))?;
        }
        quietly(desk, at, &folder.join("task.toml"), || match self.loses {
            Some(bytes) => lose(data.path(), bytes.as_bytes()),
            None => Ok(()),
        })
    }
}

/// Removes the file of a stored artifact, as a careless person might.
fn lose(data: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = sha256(bytes).to_string();
    let (folder, file) = name.split_at(2);
    let path: PathBuf = data.join("artifacts").join(folder).join(file);
    fs::remove_file(&path).map_err(|error| Failure::file("remove", &path, &error))
}

const EXAMPLES: [Example; 3] = [
    Example {
        name: "passes",
        words: "the critic doubts, the executor counts another way, the doubt is settled",
        task: include_str!("../../../../examples/tasks/passes/task.toml"),
        policy: include_str!("../../../../examples/tasks/passes/policy.toml"),
        text: include_str!("../../../../examples/tasks/passes/text.txt"),
        loses: None,
    },
    Example {
        name: "disputed",
        words: "two ways to count differ, the claim says so, and the critic does not let it stand",
        task: include_str!("../../../../examples/tasks/disputed/task.toml"),
        policy: include_str!("../../../../examples/tasks/disputed/policy.toml"),
        text: include_str!("../../../../examples/tasks/disputed/text.txt"),
        loses: None,
    },
    Example {
        name: "lost-artifact",
        words: "what the claim rests on was removed on purpose before the audit",
        task: include_str!("../../../../examples/tasks/lost-artifact/task.toml"),
        policy: include_str!("../../../../examples/tasks/lost-artifact/policy.toml"),
        text: include_str!("../../../../examples/tasks/lost-artifact/text.txt"),
        loses: Some("words: 48\n"),
    },
];
