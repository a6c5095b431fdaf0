//! `demur store check`: the files of a store, then every trace as the verifier sees its export. The server looks; a store
//! that no server can open is looked at here.

use std::{path::Path, sync::Arc, time::Duration};

use demur_api::{
    call::{ApiRequest, Call as _},
    operation::{CheckStore, NoArguments, Nothing, ShowStoreCheck},
    refusal::Refusal,
    store::{StoreCheck, StoreCheckPart, StoreCheckProgress},
};
use demur_core::visible::visible;
use demur_desk::{
    data::DataFolder,
    kept_head, kept_root,
    keyring::FolderKeyring,
    store_check::{self, UNREADABLE, is_newer, of_files, of_opening, progress_of},
};
use demur_ledger::name::TraceId;
use demur_store::contract::{Store, StoreError};
use serde::Serialize;
use tokio::time;

use super::words;
use crate::{
    client::{Client, SocketRequest},
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Progress, Reply, counted, percent},
};

/// Checks the store.
pub(super) fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let data = context.data()?;
    if !data.has_store()? {
        return Err(data.no_keys().into());
    }
    let mut progress = Progress::new(context.output.is_watched());
    let checked = match Client::reaching(data.clone()) {
        Ok(client) => through(&client, &mut progress),
        Err(_) => alone(&data, &mut progress),
    };
    progress.clear();
    let check = checked?;
    let exit = match &check.problems[..] {
        [] => Exit::Success,
        // Nothing is known to be wrong.
        problems if problems.iter().all(is_newer) => Exit::Refused,
        _ => Exit::VerificationFailed,
    };
    let data = data.path().to_string_lossy().into_owned();
    context.output.reply(&CheckReply { data, check })?;
    Ok(exit)
}

/// Has the server look at its store, and tells meanwhile how far it is.
fn through(client: &Client, progress: &mut Progress) -> Result<StoreCheck, Failure> {
    client.block_on(async {
        let api = client.api();
        let mut check = Box::pin(api.call(ApiRequest::<CheckStore>::get(NoArguments {}, Nothing {})));
        loop {
            if let Ok(checked) = time::timeout(LOOK_INTERVAL, &mut check).await {
                return Ok(checked?.document);
            }
            let asked = ApiRequest::<ShowStoreCheck>::get(NoArguments {}, Nothing {});
            let asked = api.perform::<ShowStoreCheck>(&SocketRequest::of(&asked)?.in_passing()).await;
            // That nobody says how far it is is no reason to stop.
            if let Ok(step) = asked {
                tell(progress, step.document);
            }
        }
    })
}

/// Looks at a store that no server has opened.
fn alone(data: &DataFolder, progress: &mut Progress) -> Result<StoreCheck, Failure> {
    let store: Arc<dyn Store> = match data.own_store() {
        // So damaged that it does not open: that is what was asked. No trace is judged by what can be read of it.
        Err(error @ StoreError::Corrupt { .. }) => return Ok(damage(data, error, progress)),
        opened => Arc::new(opened?),
    };
    let marks = Arc::clone(&store);
    let mark = |trace: TraceId, failure: &_| Ok(marks.mark_failed(trace, failure)?);
    let (keyring, tell) = (FolderKeyring::shared(data), &mut |step| tell(progress, step));
    let kept = compare_kept(data.path(), &*store);
    let mut check = store_check::check(store, &keyring, &mark, tell, &|| false)?;
    check.problems.extend(kept.err().map(|error| of_opening(&error)));
    Ok(check)
}

/// Compares what is kept beside the database with it.
fn compare_kept(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    kept_head::compare(folder, store)?;
    kept_root::compare_store(folder, store)
}

/// Returns what is wrong with a store that does not open.
fn damage(data: &DataFolder, error: StoreError, progress: &mut Progress) -> StoreCheck {
    let found =
        data.mend_store().and_then(|store| store.check(&mut |step| tell(progress, progress_of(step))));
    let mut problems = of_files(&found.unwrap_or_default());
    if problems.is_empty() {
        problems.push(of_opening(&Refusal::from(error).with_cure(UNREADABLE)));
    }
    StoreCheck { problems, ..StoreCheck::default() }
}

fn tell(progress: &mut Progress, step: StoreCheckProgress) {
    let Some(part) = step.part else { return };
    let part = match part {
        StoreCheckPart::Structure => "looking at the structure of the database",
        StoreCheckPart::Events => "looking at events",
        StoreCheckPart::Traces => "verifying traces",
    };
    progress.tell(|| format!("{part}, {} %", percent(step.done, step.total)));
}

#[derive(Serialize)]
struct CheckReply {
    data: String,
    #[serde(flatten)]
    check: StoreCheck,
}

impl Reply for CheckReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        for problem in &self.check.problems {
            lines.push(format!("{} {}", paint.bad(&problem.code), visible(&problem.cause)));
            lines.push(format!("    cure: {}", visible(&problem.cure)));
        }
        for trace in &self.check.marked {
            lines.push(format!("Trace {trace} is marked as failed: nothing is added to it any more."));
        }
        let words = words(self.check.size);
        lines.push(match self.check.problems.len() {
            0 => format!("{} {words}, files and signatures.", paint.good("All of it holds:")),
            count => format!("{} among {words}.", counted(count, "problem")),
        });
        lines
    }
}

/// How often it is looked how far the server is.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
