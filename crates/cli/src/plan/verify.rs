//! `demur audit verify` and `demur handoff verify`: a record or a package that somebody gave us, checked without a server and
//! without a data folder (CLR-53).

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
};

use demur_api::code::Code;
use demur_clarify::{
    Error,
    audit::{AuditRecord, Known, Verified},
    handoff::Handoff,
    keys::KeyHistory,
    name::AgentId,
    read,
    seal::AgentKey,
    time::Time,
    uuid::Uuid,
};
use demur_core::visible::visible;
use demur_desk::{keyring::AGENT_ID, operating_system::OperatingSystem};
use demur_ledger::{name::Sequence, role::Role, verify};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    paper::settled,
    recorded::{self, Part, Recorded},
};
use crate::{
    arguments::VerifyPaper,
    context::Context,
    exit::Exit,
    failure::Failure,
    input::Input,
    output::{Paint, Reply, counted_as},
};

/// Checks an audit record.
pub(crate) fn audit(context: &mut Context<'_>, arguments: &VerifyPaper) -> Result<Exit, Failure> {
    let record = document::<AuditRecord>(arguments)?;
    let keys = keys(arguments, || name_in_export(arguments, record.session_id))?;
    let checked = record.verify(&keys, &known(arguments));
    let recorded = beside(arguments, record.session_id, Part::Record, &record)?;
    told(context, "record", (&record, &keys), (checked, recorded))
}

/// Checks a package, as its receiver.
pub(crate) fn hand_off(context: &mut Context<'_>, arguments: &VerifyPaper) -> Result<Exit, Failure> {
    let package = document::<Handoff>(arguments)?;
    let keys = keys(arguments, || Ok(Some(package.sender.agent_id.clone())))?;
    let now = Time::from(OperatingSystem::open()?.now()?);
    let checked = package.verify(&keys, &keys, now, &known(arguments));
    let record = &package.context.clarification_chain;
    let recorded = beside(arguments, record.session_id, Part::Package, &package)?;
    told(context, "package", (record, &keys), (checked, recorded))
}

fn told(
    context: &mut Context<'_>,
    what: &'static str,
    (record, keys): (&AuditRecord, &KeyHistory),
    (checked, recorded): (Result<Verified, Error>, Recorded),
) -> Result<Exit, Failure> {
    let (verified, problem) = match (checked, &recorded) {
        (Err(error), _) => (None, Some(error.to_string())),
        (Ok(_), Recorded::Not(why)) => (None, Some(why.clone())),
        (Ok(verified), _) => (Some(verified), None),
    };
    let later = matches!(recorded, Recorded::Later);
    let event = match recorded {
        Recorded::At(event) => Some(event),
        Recorded::Elsewhere | Recorded::Later | Recorded::Not(_) => None,
    };
    let valid = verified.is_some();
    let checked = CheckedPaper {
        what,
        valid,
        session_id: record.session_id.to_string(),
        agent_id: keys.agent_id().to_string(),
        rounds: record.total_rounds.as_u64(),
        all_resolved: record.all_resolved,
        settled: settled(record),
        recorded: verified.as_ref().map(|verified| verified.recorded() as u64),
        head: verified.and_then(|verified| verified.head()).map(|head| head.to_string()),
        event,
        later,
        problem,
    };
    context.output.reply(&checked)?;
    Ok(if valid { Exit::Success } else { Exit::VerificationFailed })
}

/// Looks for the document in the export that was given, if it is of the same session.
fn beside(
    arguments: &VerifyPaper,
    session: Uuid,
    part: Part,
    document: &impl Serialize,
) -> Result<Recorded, Failure> {
    let Some(path) = &arguments.registry else { return Ok(Recorded::Elsewhere) };
    recorded::find(path, session, part, document)
}

fn document<T: DeserializeOwned + Serialize>(arguments: &VerifyPaper) -> Result<T, Failure> {
    let Input { shown, bytes } = Input::read(&arguments.file, MAX_PAPER_BYTES)?;
    read::from_slice(&bytes).map_err(|error| {
        Failure::of(Code::DocumentInvalid, format!("{shown}: {error}"))
            .with_hint("`demur audit SESSION --json` and `demur handoff SESSION` print them; docs/clarify.md has their form")
    })
}

/// Returns the keys that may have signed: those that were given, and the desk's in the registry of an export. A key that was
/// revoked proves nothing here: only the order of the trace says what it signed before. The name comes from anywhere: it is part of
/// what those keys signed, so a wrong one does not hold.
fn keys(
    arguments: &VerifyPaper,
    found: impl FnOnce() -> Result<Option<AgentId>, Failure>,
) -> Result<KeyHistory, Failure> {
    let mut keys = arguments.key.clone();
    if let Some(path) = &arguments.registry {
        keys.extend(desk_keys(path)?);
    }
    let named = arguments.agent_id.clone().map_or_else(found, |given| Ok(Some(given)))?;
    let usual = || AGENT_ID.parse().map_err(|error| Failure::bug(&error));
    Ok(KeyHistory::known(named.map_or_else(usual, Ok)?, keys))
}

/// Returns the name under which the first question of a session is signed in an export, if it is there: a record has none.
fn name_in_export(arguments: &VerifyPaper, session: Uuid) -> Result<Option<AgentId>, Failure> {
    let Some(path) = &arguments.registry else { return Ok(None) };
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let session = session.to_string();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| Failure::unreadable(path, &error))?;
        let found: Value = serde_json::from_str(&line).unwrap_or_default();
        let ask = &found["event"]["content"]["ask"];
        if ask["session_id"] == session.as_str() {
            return Ok(ask["agent_id"].as_str().and_then(|name| name.parse().ok()));
        }
    }
    Ok(None)
}

fn desk_keys(path: &Path) -> Result<Vec<AgentKey>, Failure> {
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let registry = verify::read_registry(BufReader::new(file)).map_err(|error| {
        let message = format!("--registry: {error}");
        Failure::of(Code::FileUnreadable, message)
            .with_hint("`demur verify EXPORT` says what is wrong with it")
    })?;
    let desk = registry.keys().filter(|(_, key)| key.roles.contains(&Role::Desk) && key.revoked.is_none());
    Ok(desk.map(|(_, key)| key.public.into()).collect())
}

fn known(arguments: &VerifyPaper) -> Vec<Known> {
    arguments.round.iter().map(|known| known.0).collect()
}

/// What a check of a record or a package found.
#[derive(Serialize)]
struct CheckedPaper {
    #[serde(skip)]
    what: &'static str,
    valid: bool,
    session_id: String,
    /// The name under which it is signed.
    agent_id: String,
    rounds: u64,
    all_resolved: bool,
    /// The same in words.
    #[serde(skip)]
    settled: String,
    /// How many answers only the recorder signed; none where the document does not hold.
    recorded: Option<u64>,
    /// The event of the session in which it is kept, where the export is of that session.
    event: Option<Sequence>,
    /// Whether it was made after the export of its session, and goes on from what that has.
    later: bool,
    /// The hash of the last round, to be kept.
    head: Option<String>,
    problem: Option<String>,
}

impl Reply for CheckedPaper {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (what, session) = (self.what, &self.session_id);
        if let Some(problem) = &self.problem {
            return vec![
                format!("{} the {what} of session {session}", paint.bad("Does not hold:")),
                format!("  problem  {}", visible(problem)),
            ];
        }
        let rounds = counted_as(self.rounds, "round", "rounds");
        let again = if self.all_resolved { "" } else { ": ask them again" };
        let settled = format!("{}{again}", self.settled);
        let mut lines = vec![
            format!("{} the {what} of session {session}", paint.good("Holds:")),
            format!("  signed   as {}", visible(&self.agent_id)),
            format!("  rounds   {rounds}, {settled}"),
        ];
        if let Some(event) = self.event {
            lines.push(format!("  kept     word for word in event {event} of its session"));
        }
        if self.later {
            lines.push("  kept     after the export was made: it goes on from what that has".to_owned());
        }
        if let Some(recorded) = self.recorded.filter(|recorded| *recorded > 0) {
            let answers = counted_as(recorded, "answer is", "answers are");
            lines.push(format!("  answers  {answers} demur's word: it wrote down what it was told"));
        }
        if let Some(head) = &self.head {
            lines.push(format!(
                "  last     {}:{head} (keep it: --round finds a record that was cut off later)",
                self.rounds
            ));
        }
        lines
    }
}

/// How long a record or a package is at most, in bytes.
const MAX_PAPER_BYTES: usize = 16 << 20;
