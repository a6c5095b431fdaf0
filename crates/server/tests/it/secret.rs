//! Secret answers: for the asker alone, once, and nowhere else: not in the view, not in a log, not on the disk.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::json;

use crate::server::Server;

/// Returns whether a file below this folder holds these bytes.
pub(crate) fn is_on_disk(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            return is_on_disk(&entry.path(), bytes);
        }
        kind.is_file() && fs::read(entry.path()).unwrap().windows(bytes.len()).any(|part| part == bytes)
    })
}

/// Everything that the servers of this process log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_secret_reaches_its_asker_and_nothing_else() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let (asker, other) = (server.token("asker", &["ask"]), server.token("other", &["ask"]));
    let reader = server.token("reader", &["read"]);
    let id = server.ask(&asker, &json!({"question": "The password of the printer?", "kinds": ["secret"]}));
    let path = format!("/v1/questions/{id}/secret");
    assert_eq!(server.call("GET", &path).token(&asker).send().code(), "SECRET_GONE");
    let word = "correct-horse-battery-staple";
    let answered = server.answer(&id, &json!(word));
    assert_eq!(answered.status, 200, "{answered:?}");
    for shown in [
        answered.text(),
        server.call("GET", &format!("/v1/questions/{id}")).token(&asker).send().text(),
        server.call("GET", &format!("/v1/questions/{id}/wait")).token(&asker).send().text(),
        server.call("GET", "/v1/questions").token(&reader).send().text(),
        server.call("GET", &format!("/v1/traces/{}/events", &id[..26])).token(&reader).send().text(),
        server.call("GET", &format!("/v1/traces/{}/export", &id[..26])).token(&reader).send().text(),
    ] {
        assert!(shown.contains(&id[..26]) && !shown.contains(word), "{shown}");
    }
    assert_eq!(server.call("GET", &path).token(&other).send().status, 404);
    assert_eq!(server.call("GET", &path).token(&reader).send().status, 403);
    for _ in 0..2 {
        assert_eq!(server.call("GET", &path).token(&asker).send().json()["value"], word);
    }
    // It waits on the disk, sealed.
    assert!(!is_on_disk(folder.path(), word.as_bytes()), "while it waits");
    server.stop().unwrap();
    assert!(!is_on_disk(folder.path(), word.as_bytes()), "while nobody has the folder");
    server = Server::start_at(folder.path());
    assert_eq!(server.call("GET", &path).token(&asker).send().json()["value"], word);
    assert_eq!(server.call("DELETE", &path).token(&other).send().status, 404);
    assert_eq!(server.call("DELETE", &path).token(&asker).send().status, 204);
    assert_eq!(server.call("GET", &path).token(&asker).send().code(), "SECRET_GONE");
    assert!(!is_on_disk(folder.path(), word.as_bytes()), "while the server runs");
    server.stop().unwrap();
    assert!(!is_on_disk(folder.path(), word.as_bytes()), "after it has ended");
    let log = log.0.lock().unwrap_or_else(PoisonError::into_inner);
    let logged = |text: &str| log.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(logged("/secret") && !logged(word), "the log tells of requests, not of answers");
    assert!(!logged(&asker), "nor of tokens");
}

#[test]
fn before_an_answer_counts_nobody_gets_it_or_throws_it_away() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id =
        server.ask(&asker, &json!({"question": "Password?", "kinds": ["secret"], "assurance": "signed_in"}));
    let path = format!("/v1/questions/{id}/secret");
    let low = server.answer(&id, &json!("hunter2"));
    assert_eq!(low.code(), "ASSURANCE_TOO_LOW");
    for method in ["GET", "DELETE"] {
        let reply = server.call(method, &path).token(&asker).send();
        assert_eq!((reply.status, reply.code().as_str()), (404, "SECRET_GONE"), "{method}");
    }
    assert!(!is_on_disk(server.folder(), b"hunter2"));
}
