//! Which session of a client asked what: a folder for each session beside the store, with an empty file for every question
//! (confirmation or plan) of which the session has not seen the answer. The bridge of the session writes it; its hooks read it, each in a
//! process of its own; the server puts a file back when an answer that was seen is replaced or taken back. The record of a
//! question says nothing of this.

use std::{
    any::{Any, TypeId},
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use demur_api::{
    confirmation::ConfirmationView,
    operation::{AskConfirmation, Operation, SubmitPlan},
    plan::PlanStanding,
    question::{AskedView, Done, QuestionId, QuestionView},
};
use demur_clarify::uuid::Uuid;
use demur_desk::{
    durable,
    marks::{self, SESSIONS},
};
use demur_ledger::question::OutcomeKind;
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    process::{Flock, FlockType, fcntl_getlk},
};

/// The name of a session, as the client gives it to its hooks and to the programs that it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionId(String);

impl SessionId {
    /// Returns the name, if it can be that of a folder.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        ((1..=64).contains(&name.len()) && name.bytes().all(fits)).then(|| Self(name.to_owned()))
    }

    /// Returns the session that started this process, where its client says so.
    pub(crate) fn of_process() -> Option<Self> {
        given_name().and_then(|name| Self::new(&name))
    }
}

/// Returns what the client that started this process calls the session, whether a folder can have that name or not.
pub(crate) fn given_name() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|name| !name.is_empty())
}

/// What a session asked, as its bridge notes it.
#[derive(Debug)]
pub(crate) struct Session {
    folder: PathBuf,
    /// Locked for as long as this process lives.
    _alive: File,
}

impl Session {
    /// Returns the session that started this process; none where its client does not say which it is, or nothing can be kept.
    pub(crate) fn begin(data: &Path) -> Option<Self> {
        let folder = data.join(SESSIONS).join(SessionId::of_process()?.0);
        forget_old(data);
        // Without it a question stops every session of its asker.
        durable::create_folder(&folder).ok()?;
        let alive = options().open(folder.join(BRIDGE)).ok()?;
        // A lock that can be looked at without being taken, and that several bridges of one session share.
        fcntl_lock(&alive, FlockOperation::NonBlockingLockShared).ok()?;
        Some(Self { folder, _alive: alive })
    }

    /// Takes note of what came back from an operation of the session.
    pub(crate) fn note<O: Operation>(&self, reply: &O::Output) {
        let (operation, reply) = (TypeId::of::<O>(), reply as &dyn Any);
        if operation == TypeId::of::<SubmitPlan>()
            && let Some(plan) = reply.downcast_ref::<PlanStanding>().and_then(|plan| plan.session_id)
        {
            self.keep(&plan.to_string());
        }
        if let Some(confirmation) = reply.downcast_ref::<ConfirmationView>() {
            match confirmation.is_open() {
                true if operation == TypeId::of::<AskConfirmation>() => {
                    self.keep(&confirmation.id.to_string());
                }
                true => {}
                // Whoever waited for this reply knows what became of it.
                false => drop(marks::see(&self.folder, confirmation.id.0)),
            }
            return;
        }
        let asked = reply.downcast_ref::<AskedView>().map(|asked| &asked.question);
        let done = || reply.downcast_ref::<Done>().map(|done| &done.question);
        let Some(question) = asked.or_else(done).or_else(|| reply.downcast_ref::<QuestionView>()) else {
            return;
        };
        match question.state {
            OutcomeKind::Open if asked.is_some() => self.keep(&question.id.to_string()),
            OutcomeKind::Open => {}
            // Whoever waited for this reply has the answer.
            _ => drop(marks::see(&self.folder, question.id)),
        }
    }

    fn keep(&self, name: &str) {
        // What cannot be kept belongs to every session of its asker.
        let _ = options().open(self.folder.join(name));
    }
}

/// Returns whether a question stops this session: every question of its asker does, but one that is surely another session's.
pub(super) fn stops(data: &Path, session: Option<&SessionId>, question: QuestionId) -> bool {
    !session.is_some_and(|session| is_of_another(data, session, question, has_bridge))
}

/// Returns whether another session noted a question, and both have a bridge now. A client keeps its bridge when it goes on with
/// another session (`/clear`, `/resume`), and the bridge keeps the name it was started with: only two bridges are two sessions.
fn is_of_another(
    data: &Path,
    session: &SessionId,
    question: QuestionId,
    has_bridge: impl Fn(&Path) -> bool,
) -> bool {
    let sessions = data.join(SESSIONS);
    let own = sessions.join(&session.0);
    let plan = Uuid::try_from(question.trace.as_ulid().as_u128()).map(|plan| plan.to_string()).ok();
    let names: Vec<String> = plan.into_iter().chain([question.to_string()]).collect();
    let noted = |folder: &Path| names.iter().any(|name| folder.join(name).exists());
    if noted(&own) || !has_bridge(&own) {
        return false;
    }
    let others = fs::read_dir(&sessions).into_iter().flatten().flatten();
    others.map(|other| other.path()).any(|other| noted(&other) && has_bridge(&other))
}

/// Returns whether a bridge of the session with this folder runs now.
fn has_bridge(folder: &Path) -> bool {
    let lock = Flock::from(FlockType::WriteLock);
    let file = OpenOptions::new().write(true).open(folder.join(BRIDGE));
    file.is_ok_and(|file| fcntl_getlk(&file, &lock).is_ok_and(|held| held.is_some()))
}

/// Returns how a file is opened that is there for its name or its lock.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).read(true).create(true).truncate(false).mode(0o600);
    options
}

/// Returns the questions and confirmations of which the session has not seen what became of them.
pub(super) fn unseen(data: &Path, session: &SessionId) -> Vec<QuestionId> {
    let there = fs::read_dir(data.join(SESSIONS).join(&session.0));
    let names = there.into_iter().flatten().flatten().map(|file| file.file_name());
    let mut ids: Vec<QuestionId> =
        names.filter_map(|name| name.to_str().filter(|name| name.contains('.'))?.parse().ok()).collect();
    ids.sort_unstable();
    ids
}

/// Takes the answer to a question as seen. Returns whether it was not before: of several hooks one tells it.
pub(super) fn see(data: &Path, session: &SessionId, question: QuestionId) -> bool {
    marks::see(&data.join(SESSIONS).join(&session.0), question)
}

/// Returns whether the session is to hear that an answer it has seen was taken back: of several hooks one tells it.
pub(super) fn hear_revoked(data: &Path, session: &SessionId, question: QuestionId) -> bool {
    marks::discard_revoked(&data.join(SESSIONS).join(&session.0), question)
}

/// Returns the right to wait for answers of a session, for as long as the file is open; none where another process has it.
pub(super) fn alone(data: &Path, session: &SessionId) -> Option<File> {
    let path = data.join(SESSIONS).join(&session.0).join(WAITING);
    let file = options().open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Forgets sessions in which nothing was asked or answered for long.
fn forget_old(data: &Path) {
    let is_old = |entry: &fs::DirEntry| -> io::Result<bool> {
        let age = SystemTime::now().duration_since(entry.metadata()?.modified()?);
        Ok(age.is_ok_and(|age| age > SESSION_LIFETIME))
    };
    let there = fs::read_dir(data.join(SESSIONS)).into_iter().flatten().flatten();
    for entry in there.filter(|entry| is_old(entry).unwrap_or(false)) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Where Claude Code says which session it is.
const VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";
/// The file of whoever waits for answers of a session.
const WAITING: &str = ".waiting";
/// The file that each bridge of a session holds a lock on.
const BRIDGE: &str = ".bridge";
const SESSION_LIFETIME: Duration = Duration::from_hours(30 * 24);

#[cfg(test)]
mod tests {
    use demur_api::operation::{Ask, WaitForQuestion};
    use serde_json::json;

    use super::*;

    const ID: &str = "01M7XQ5V8E3T2N9K4B6C7D8F9G.0";

    fn noted(folder: &Path, session: &str) -> Session {
        let folder = folder.join(SESSIONS).join(session);
        fs::create_dir_all(&folder).unwrap();
        let alive = options().open(folder.join(BRIDGE)).unwrap();
        Session { folder, _alive: alive }
    }

    fn question(state: &str) -> QuestionView {
        let view = json!({
            "id": ID, "trace": &ID[..26], "hash": "0".repeat(64), "state": state, "question": "Which?",
            "severity": "block", "kinds": ["freetext"], "choices": [], "suggestions": [], "blocks": [],
            "asked": "2026-11-15T00:00:00.000Z", "asker": {"name": "agent", "principal": &ID[..26]},
            "people": true, "assurance": "relayed",
        });
        serde_json::from_value(view).unwrap()
    }

    fn asked(session: &Session) {
        session.note::<Ask>(&AskedView { question: question("open"), repeated: None });
    }

    #[test]
    fn question_is_of_another_session_only_while_both_have_a_bridge() {
        let folder = tempfile::tempdir().unwrap();
        let (data, id) = (folder.path(), ID.parse().unwrap());
        let of_another = |session: &str, bridges: &[&str]| {
            let has_bridge = |folder: &Path| bridges.iter().any(|bridge| folder.ends_with(bridge));
            is_of_another(data, &SessionId::new(session).unwrap(), id, has_bridge)
        };
        assert!(!of_another("one", &["one", "two"]), "nobody knows whose it is");
        let first = noted(data, "one");
        noted(data, "two");
        assert!(!of_another("two", &["one", "two"]), "nobody noted it");
        asked(&first);
        assert!(of_another("two", &["one", "two"]));
        assert!(!of_another("one", &["one", "two"]));
        for bridges in [&[][..], &["one"], &["two"]] {
            assert!(!of_another("two", bridges), "{bridges:?}");
        }
        assert!(!of_another("third", &["one", "two"]), "a session without a bridge of its own");
        assert!(stops(data, SessionId::new("two").as_ref(), id) && stops(data, None, id), "no bridge runs");
    }

    #[test]
    fn answer_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let (data, id) = (folder.path(), ID.parse().unwrap());
        let session = noted(data, "one");
        let name = SessionId::new("one").unwrap();
        asked(&session);
        session.note::<WaitForQuestion>(&question("open"));
        assert_eq!(unseen(data, &name), [id]);
        session.note::<WaitForQuestion>(&question("answered"));
        assert_eq!(unseen(data, &name), []);
        asked(&session);
        assert!(see(data, &name, id) && !see(data, &name, id));
    }

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for name in ["", ".", "..", "a/b", "a.b", "é", &"a".repeat(65)] {
            assert_eq!(SessionId::new(name), None, "{name}");
        }
        assert!(SessionId::new("3f1c0a52-1d0c-4e0e-9b1e-0a1b2c3d4e5f").is_some());
    }
}
