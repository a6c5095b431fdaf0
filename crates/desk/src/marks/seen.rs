//! Answers that the sessions of a client have seen: an empty file each, in a folder of the session. When such an answer is
//! replaced or taken back, what became of the question is news to the session once more.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use demur_api::question::QuestionId;
use demur_ledger::{entry::Entry, event_type::Facts, name::TraceId};

use crate::durable;

/// Takes the answer to a question as seen by the session of a folder. Returns whether it was not before.
pub fn see(session: &Path, question: QuestionId) -> bool {
    let (name, seen) = (question.to_string(), session.join(SEEN));
    discard_revoked(session, question);
    let unseen = session.join(&name);
    match durable::create_folder(&seen).and_then(|()| fs::rename(&unseen, seen.join(&name))) {
        Ok(()) => true,
        // One that cannot be kept is not told again when it is replaced.
        Err(_) => fs::remove_file(&unseen).is_ok(),
    }
}

/// Returns whether the session of a folder is to hear that an answer it has seen was taken back: of several who look, one.
pub fn discard_revoked(session: &Path, question: QuestionId) -> bool {
    fs::remove_file(session.join(REVOKED).join(question.to_string())).is_ok()
}

/// Makes what became of a question news for every session that has seen an answer to it, where an event replaces that answer or
/// takes it back.
pub(super) fn renew(data: &Path, trace: TraceId, entry: &Entry) {
    let (sequence, is_revoked) = match entry.event.said().map(|said| said.facts) {
        Ok(Facts::AnswerSuperseded(facts)) => (facts.answer.question.sequence, false),
        Ok(Facts::AnswerRevoked(facts)) => (facts.question, true),
        _ => return,
    };
    let name = QuestionId { trace, sequence }.to_string();
    for session in fs::read_dir(data.join(SESSIONS)).into_iter().flatten().flatten() {
        let session = session.path();
        let is_news = fs::rename(session.join(SEEN).join(&name), session.join(&name)).is_ok();
        if is_news && is_revoked {
            let revoked = session.join(REVOKED);
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            // A session that is not told so is refused its next call all the same.
            let _ = durable::create_folder(&revoked).and_then(|()| options.open(revoked.join(&name)));
        }
    }
}

/// The folder of the sessions, in the data folder.
pub const SESSIONS: &str = "sessions";
/// In the folder of a session: the questions whose answer it has seen.
const SEEN: &str = "seen";
/// In the folder of a session: the questions whose answer was taken back after it was seen.
const REVOKED: &str = "revoked";

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01M7XQ5V8E3T2N9K4B6C7D8F9G.0";

    #[test]
    fn answer_is_seen_once_and_leaves_no_word_of_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let (session, id) = (folder.path(), ID.parse().unwrap());
        assert!(!see(session, id), "nobody asked");
        fs::write(session.join(ID), "").unwrap();
        fs::create_dir(session.join(REVOKED)).unwrap();
        fs::write(session.join(REVOKED).join(ID), "").unwrap();
        assert!(see(session, id) && !see(session, id));
        assert!(!discard_revoked(session, id), "another answer counts by now");
        assert!(session.join(SEEN).join(ID).exists());
    }
}
