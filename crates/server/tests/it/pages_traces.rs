//! Traces as pages: what is recorded can be read event by event, each with what holds of it.

use std::{
    env, fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{browser::Browser, recorded::Recorded, server::Server};

/// Text that would like to be more.
const NOTES: &str = "first <script>alert(1)</script>\nsecond\u{202e}";

/// Returns a folder with a run that has text, bytes that are no text, and a long text beside it.
fn run(folder: &Path) -> String {
    let mut run = Recorded::open(folder, "count <b>words</b>\u{202e}");
    run.propose("count once");
    run.store("notes.txt", "text/plain", NOTES.as_bytes());
    run.store("image.bin", "application/octet-stream", &[0, 159, 146, 150]);
    run.store("long.txt", "text/plain", "long ".repeat(20_000).as_bytes());
    run.close()
}

#[test]
fn a_timeline_says_who_did_what_and_what_holds_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let page = browser.page(&format!("/traces/{trace}"));
    for words in [
        "the planner</bdi> (planner)",
        "opens the run for 3 participants",
        &format!("records notes.txt (text/plain, {} bytes)", NOTES.len()),
        "signature good",
        "chained",
        "content here",
        "artifact here",
        "no artifact",
        &format!("/v1/traces/{trace}/export"),
        &format!("/traces/{trace}/run"),
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("badge failed") && !page.contains("badge missing"), "{page}");
    let list = browser.page("/traces");
    assert!(
        list.contains("count &#60;b&#62;words&#60;/b&#62;") || list.contains("count &lt;b&gt;words"),
        "{list}"
    );
    assert!(list.contains("U+202E"), "hidden characters are shown: {list}");
}

#[test]
fn events_lead_to_their_neighbours_and_show_everything_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let path = |number: u32| format!("/traces/{trace}/events/{number}");
    let middle = browser.page(&path(4));
    for words in [&path(3), &path(5), "artifact_recorded", "notes.txt", "commitment", "Signed with the key"] {
        assert!(middle.contains(words), "{words}: {middle}");
    }
    let (first, last) = (browser.page(&path(0)), browser.page(&path(6)));
    assert!(!first.contains("rel=\"prev\"") && first.contains("rel=\"next\""), "{first}");
    assert!(last.contains("rel=\"prev\"") && !last.contains("rel=\"next\""), "{last}");
    let unknown = browser.call("GET", &path(7)).send();
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains("There is nothing here"), "{}", unknown.text());
    for rubbish in ["/traces/none", "/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/traces?after=1", "/traces?x=1"] {
        let reply = browser.call("GET", rubbish).send();
        assert!(matches!(reply.status, 400 | 404), "{rubbish}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{rubbish}");
    }
}

#[test]
fn an_artifact_is_shown_inert_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let page = |number: u32| browser.page(&format!("/traces/{trace}/artifacts/{number}"));
    let text = page(4);
    assert!(text.contains("alert(1)") && !text.contains("<script>alert"), "{text}");
    assert!(text.contains("U+202E") && text.contains("Written by an agent"), "{text}");
    assert!(page(5).contains("are not text"));
    let long = page(6);
    assert!(long.contains("longer than what is shown") && !long.contains("long long"), "{long}");
    assert!(long.contains(&format!("/v1/traces/{trace}/artifacts/6")), "{long}");
    assert!(page(0).contains("no artifact"));
}

#[test]
fn what_is_missing_reads_differently_from_what_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let files: Vec<_> = (0..=u8::MAX)
        .flat_map(|shard| fs::read_dir(folder.path().join(format!("artifacts/{shard:02x}"))).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    let of_length = |length| files.iter().find(|file| file.metadata().unwrap().len() == length).unwrap();
    let (gone, other) = (of_length(NOTES.len() as u64), of_length(4));
    fs::remove_file(gone).unwrap();
    fs::write(other, [1, 2, 3, 4]).unwrap();
    change(folder.path(), b"count once", b"count twic");
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let page = browser.page(&format!("/traces/{trace}"));
    let badge = |class: &str, sign: &str, words: &str| {
        format!("<li class=\"badge {class}\"><span aria-hidden=\"true\">{sign}</span> {words}</li>")
    };
    for badge in [
        badge("missing", "?", "artifact missing"),
        badge("failed", "\u{2715}", "artifact is not what was recorded"),
        badge("failed", "\u{2715}", "content is not what was recorded"),
    ] {
        assert_eq!(page.matches(&badge).count(), 1, "{badge}: {page}");
    }
    let event = browser.page(&format!("/traces/{trace}/events/2"));
    assert!(event.contains("COMMITMENT_MISMATCH"), "{event}");
    let report = browser.page(&format!("/traces/{trace}/verification"));
    assert!(report.contains("cannot be exported") && report.contains("holds other bytes"), "{report}");
}

/// LED-18
#[test]
fn a_trace_that_was_marked_as_failed_says_so_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    change(folder.path(), b"count once", b"count twic");
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let state = |page: &str| page.contains("<td>failed <span") || page.contains("<dd>failed</dd>");
    assert!(!state(&browser.page("/traces")), "nobody has looked yet");
    assert_eq!(server.local("POST", "/v1/store/check").send().status, 200);
    for path in ["/traces".to_owned(), format!("/traces/{trace}")] {
        let page = browser.page(&path);
        assert!(state(&page), "{path}: {page}");
    }
    let listed = server.local("GET", "/v1/traces").send().json();
    // The newest is the journal: somebody has signed in.
    assert_eq!(listed["traces"][1]["phase"], "failed", "{listed}");
}

#[test]
fn what_was_changed_fails_its_verification() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    change(folder.path(), b"count once", b"count twic");
    let server = Server::start_at(folder.path());
    let report = Browser::sign_in(&server).page(&format!("/traces/{trace}/verification"));
    assert!(report.contains("FAIL") && report.contains("COMMITMENT_MISMATCH"), "{report}");
}

#[test]
fn a_changed_event_breaks_its_signature_and_the_chain_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let mut server = Server::start_at(folder.path());
    let events = server.local("GET", &format!("/v1/traces/{trace}/events")).send().json();
    server.stop().unwrap();
    // A name that stands nowhere else.
    let command = events["events"][1]["envelope"]["statement"]["command"].as_str().unwrap();
    let another = command.replacen("01", "02", 1);
    change(folder.path(), command.as_bytes(), another.as_bytes());
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let page = browser.page(&format!("/traces/{trace}"));
    let event = |number: usize| {
        let rest = page.split_once(&format!("id=\"e-{number}\"")).unwrap().1;
        rest.split("</li>\n</ul>").next().unwrap().to_owned()
    };
    assert!(event(0).contains("signature good") && event(0).contains("chained"), "{}", event(0));
    assert!(event(1).contains("signature bad") && event(1).contains("chain broken"), "{}", event(1));
    assert!(event(2).contains("signature good") && event(2).contains("chain broken"), "{}", event(2));
    assert!(event(3).contains("signature good") && event(3).contains("chained"), "{}", event(3));
    let page = browser.page(&format!("/traces/{trace}/events/1"));
    assert!(page.contains("SIG_INVALID") && page.contains("CHAIN_BREAK"), "{page}");
}

/// Changes what the store has on the disk.
fn change(folder: &Path, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut changed = 0;
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let Ok(mut bytes) = fs::read(&file) else { continue };
        while let Some(at) = bytes.windows(from.len()).position(|part| part == from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            changed += 1;
        }
        fs::write(&file, bytes).unwrap();
    }
    assert!(changed > 0, "nothing was found to change");
}

#[test]
fn a_verification_says_what_it_checked_and_never_more() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    assert_eq!(server.answer(&id, &json!("this")).status, 200);
    let browser = Browser::sign_in(&server);
    let page = browser.page(&format!("/traces/{}/verification", &id[..26]));
    for words in ["PASS", "origin and completeness not established", "Not proven by this report", "Checks"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let run = browser.page(&format!("/traces/{}/run", &id[..26]));
    assert!(run.contains("This trace is no run") && !run.contains("<svg"), "{run}");
    let timeline = browser.page(&format!("/traces/{}", &id[..26]));
    assert!(timeline.contains(&format!("href=\"/questions/{id}\"")), "{timeline}");
    assert!(timeline.contains("no signature needed"), "a person's answer is the desk's word: {timeline}");
}

#[test]
fn a_run_is_drawn_and_told_as_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let trace = run(folder.path());
    let server = Server::start_at(folder.path());
    let page = Browser::sign_in(&server).page(&format!("/traces/{trace}/run"));
    assert!(page.contains("<svg class=\"states\"") && !page.contains("<style"), "{page}");
    for words in ["artifact_recorded", "<th scope=\"row\">completed</th><td>not reached</td>", "the executor"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(page.contains("<td>3</td>"), "three artifacts: {page}");
}

#[test]
fn proof_a_long_trace_is_read_page_by_page() {
    let full = env::var("DEMUR_PROOF").is_ok_and(|word| word == "full");
    let count = if full { 100_000 } else { 450 };
    let folder = tempfile::tempdir().unwrap();
    let mut run = Recorded::open(folder.path(), "many");
    run.propose("record many");
    // Opening, policy, proposal and its approval are there.
    run.fill(count - 4);
    let trace = run.close();
    let server = Server::start_at(folder.path());
    let browser = Browser::sign_in(&server);
    let (mut path, mut seen) = (format!("/traces/{trace}"), 0);
    let mut slowest = Vec::new();
    loop {
        let begun = Instant::now();
        let page = browser.page(&path);
        slowest.push((begun.elapsed(), path.clone()));
        // With stylesheet and script under 100 kB.
        assert!(page.len() + 33_000 < 100_000, "{}", page.len());
        assert!(!page.contains("badge failed"), "{page}");
        seen += page.matches("<li class=\"event\"").count();
        let Some((_, rest)) = page.split_once("rel=\"next\"") else { break };
        assert!(rest.len() > 1);
        let before = page.split_once("\" rel=\"next\"").unwrap().0;
        path = before.rsplit_once("href=\"").unwrap().1.to_owned();
    }
    assert_eq!(seen, count);
    slowest.sort();
    let (usual, _) = &slowest[slowest.len() / 2];
    assert!(!full || *usual < Duration::from_millis(200), "{usual:?}, at worst {:?}", slowest.last());
    let newest = browser.page(&format!("/traces/{trace}?after={}", count - 10));
    assert_eq!(newest.matches("<li class=\"event\"").count(), 9);
    assert!(newest.contains("rel=\"prev\"") && !newest.contains("rel=\"next\""));
    assert!(browser.page(&format!("/traces/{trace}?after={count}")).contains("No later events"));
}
