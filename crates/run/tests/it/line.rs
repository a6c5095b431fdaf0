//! One line each: literal JSON, round trips, and everything that is not a line.

use std::io::{BufReader, Cursor, repeat};

use demur_core::{
    commitment::Salt,
    hash::sha256,
    key::SecretKey,
    limit::Limits,
    random::{Random as _, Seeded},
    time::Timestamp,
};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::ArtifactContent,
    event_type::Content,
    export::{self, Disclosure},
    facts::VerificationProfile,
    facts::VerificationRunStarted,
    name::{Position, StoreId},
    role::Role,
    state::Phase,
};
use demur_run::line::{
    End, FromAgent, FromDesk, LineError, Refused, ShownArtifact, ShownEvent, Submit, Turn, read_line,
};

use crate::office::{Office, rounds, text, whole};

/// Returns lines of every kind that the desk says.
fn from_desk() -> Vec<FromDesk> {
    let mut office = Office::approved();
    office.store("count.input.json", b"{}\n\0");
    let position = Position::new(3.into(), sha256(b"event"));
    let mut lines = office.lines().to_vec();
    let FromDesk::Event(shown) = lines[0].clone() else { panic!("no event") };
    let erased = ShownEvent { opening: None, disclosure: Disclosure::Erased, event: shown.event };
    let missing = ShownArtifact { event: 3.into(), artifact: None, disclosure: Disclosure::Missing };
    lines.extend([
        FromDesk::Hello(office.hello(Role::Critic)),
        FromDesk::Event(Box::new(erased)),
        FromDesk::Artifact(missing),
        FromDesk::Turn(Turn { head: Some(position), now: Timestamp::MAX, phase: Phase::Executing }),
        FromDesk::Turn(Turn { head: None, now: Timestamp::MIN, phase: Phase::Initialized }),
        FromDesk::Recorded(position),
        FromDesk::Refused(refused(Some("facts.proposal"))),
        FromDesk::Refused(refused(None)),
        FromDesk::End(End { phase: Phase::Completed }),
    ]);
    lines
}

/// Returns lines of every kind that an agent says.
fn from_agent() -> Vec<FromAgent> {
    let (office, mut random) = (Office::approved(), Seeded::from_number(5));
    let hello = office.hello(Role::Executor);
    let seen = Some(Position::new(2.into(), sha256(b"event")));
    let place = Place { store: hello.store, trace: hello.trace, seen, now: Timestamp::MIN };
    let artifact = Artifact::new(b"\xff\0bytes".to_vec(), &mut random);
    let content = ArtifactContent { media_type: text("text/plain"), name: text("\u{1f600}"), size: whole(7) };
    let content = Some(Content::ArtifactRecorded(content));
    let executor = office.author(Role::Executor);
    let stored = executor.say(&place, artifact.facts(), content, &mut random).unwrap();
    let facts = VerificationRunStarted { profile: VerificationProfile::Strict };
    let bare = office.author(Role::Auditor).say(&place, facts, None, &mut random).unwrap();
    vec![
        FromAgent::Submit(Box::new(Submit { submission: stored, artifact: Some(artifact) })),
        FromAgent::Submit(Box::new(Submit { submission: bare, artifact: None })),
        FromAgent::Done,
    ]
}

fn refused(field: Option<&str>) -> Refused {
    Refused {
        code: "REFERENCE".to_owned().try_into().unwrap(),
        cure: "refer to another".to_owned(),
        field: field.map(str::to_owned),
        message: "expected \"one\"\nfound another".to_owned(),
    }
}

fn written(line: &FromDesk) -> String {
    String::from_utf8(line.to_line().unwrap()).unwrap()
}

#[test]
fn every_line_is_read_as_it_was_written() {
    for line in from_desk() {
        let bytes = line.to_line().unwrap();
        assert_eq!(FromDesk::parse(bytes.strip_suffix(b"\n").unwrap()).unwrap(), line, "{}", line.kind());
    }
    for line in from_agent() {
        let bytes = line.to_line().unwrap();
        assert_eq!(FromAgent::parse(bytes.strip_suffix(b"\n").unwrap()).unwrap(), line);
    }
}

#[test]
fn lines_of_the_desk_are_spelled_so() {
    let (hash, position) = (sha256(b"event"), Position::new(3.into(), sha256(b"event")));
    let turn = Turn { head: Some(position), now: Timestamp::MIN, phase: Phase::Executing };
    assert_eq!(
        written(&FromDesk::Turn(turn)),
        format!(
            "{{\"turn\":{{\"head\":{{\"hash\":\"{hash}\",\"sequence\":3}},\"now\":\"1970-01-01T00:00:00.000Z\",\
             \"phase\":\"executing\"}}}}\n"
        )
    );
    let recorded = format!("{{\"recorded\":{{\"hash\":\"{hash}\",\"sequence\":3}}}}\n");
    assert_eq!(written(&FromDesk::Recorded(position)), recorded);
    assert_eq!(
        written(&FromDesk::Refused(refused(None))),
        "{\"refused\":{\"code\":\"REFERENCE\",\"cure\":\"refer to another\",\"field\":null,\
         \"message\":\"expected \\\"one\\\"\\nfound another\"}}\n"
    );
    let end = FromDesk::End(End { phase: Phase::Completed });
    assert_eq!(written(&end), "{\"end\":{\"phase\":\"completed\"}}\n");
    assert_eq!(FromAgent::Done.to_line().unwrap(), b"{\"done\":{}}\n");
}

#[test]
fn hello_is_spelled_so() {
    let office = Office::new();
    let mut hello = office.hello(Role::Critic);
    hello.store = StoreId::new(sha256(b"store"));
    hello.trace = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let participants: Vec<String> = hello
        .participants
        .iter()
        .map(|one| format!("{{\"principal\":\"{}\",\"role\":\"{}\"}}", one.principal, one.role))
        .collect();
    assert_eq!(
        written(&FromDesk::Hello(hello.clone())),
        format!(
            "{{\"hello\":{{\"constraints\":[],\"participants\":[{}],\"policy\":{{\"approval_from\":\"low\",\"evidence_minimum\":1,\
             \"fallback\":false,\"retry_limit\":1}},\"principal\":\"{}\",\"protocol\":1,\"role\":\"critic\",\
             \"store\":\"{}\",\"trace\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}}}}\n",
            participants.join(","),
            hello.principal,
            hello.store,
        )
    );
}

#[test]
fn submit_is_spelled_so() {
    let key = SecretKey::from_seed(&[7; 32]);
    let author = Author::new(key, "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(), Role::Auditor);
    let mut random = Seeded::from_number(1);
    let office = Office::new().hello(Role::Auditor);
    let place = Place { store: office.store, trace: office.trace, seen: None, now: Timestamp::MIN };
    let facts = VerificationRunStarted { profile: VerificationProfile::Default };
    let submission = author.say(&place, facts, None, &mut random).unwrap();
    let (key, signature) = (submission.proof.key(), submission.proof.signature());
    let statement = String::from_utf8(submission.statement.clone()).unwrap();
    let artifact = Some(Artifact { bytes: b"ab".to_vec(), salt: Salt::from_bytes([0xa7; 32]) });
    let submit = FromAgent::Submit(Box::new(Submit { submission, artifact }));
    assert_eq!(
        String::from_utf8(submit.to_line().unwrap()).unwrap(),
        format!(
            "{{\"submit\":{{\"artifact\":{{\"bytes\":\"YWI=\",\"salt\":\"{}\"}},\"content\":null,\
             \"proof\":{{\"ed25519\":{{\"key\":\"{key}\",\"signature\":\"{signature}\"}}}},\"salt\":null,\
             \"statement\":{statement}}}}}\n",
            "a7".repeat(32),
        )
    );
}

#[test]
fn events_and_artifacts_are_the_lines_of_an_export() {
    let lines: Vec<FromDesk> =
        from_desk().into_iter().filter(|line| matches!(line.kind(), "event" | "artifact")).collect();
    assert!(lines.len() >= 6);
    for line in lines {
        let bytes = line.to_line().unwrap();
        match (export::Line::parse(bytes.strip_suffix(b"\n").unwrap()).unwrap(), line) {
            (export::Line::Event(read), FromDesk::Event(shown)) => {
                assert_eq!((read.event().unwrap(), read.disclosure), (shown.event, shown.disclosure));
                assert_eq!(read.content().unwrap(), shown.opening.as_ref().map(|opening| &opening.bytes[..]));
            }
            (export::Line::Artifact(read), FromDesk::Artifact(shown)) => {
                assert_eq!((read.event, read.disclosure), (shown.event, shown.disclosure));
                assert_eq!(read.bytes().unwrap(), shown.artifact.map(|artifact| artifact.bytes));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn refuses_lines_of_the_desk_that_are_none() {
    let refuses = |text: &str| FromDesk::parse(text.as_bytes()).expect_err(text);
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "\"end\"",
        "{\"bye\":{}}",
        "{\"end\":{}}",
        "{\"end\":{\"phase\":\"over\"}}",
        "{\"end\":{\"phase\":\"completed\",\"why\":1}}",
        "{\"end\": {\"phase\":\"completed\"}}",
        "{\"end\":{\"phase\":\"completed\"}}\n",
        "{\"end\":{\"phase\":\"completed\"},\"turn\":{}}",
        "{\"turn\":{\"now\":\"1970-01-01T00:00:00.000Z\",\"phase\":\"executing\"}}",
        "{\"header\":{\"format\":1}}",
        "{\"recorded\":{\"hash\":\"00\",\"sequence\":3}}",
        "{\"refused\":{\"code\":\"lower\",\"cure\":\"\",\"field\":null,\"message\":\"\"}}",
        "{\"refused\":{\"code\":\"CODE\",\"cure\":\"\",\"message\":\"\"}}",
        "{\"done\":{}}",
    ] {
        assert!(matches!(refuses(text), LineError::Read(_)), "{text}");
    }
    let hello = written(&FromDesk::Hello(Office::new().hello(Role::Critic)));
    let newer = hello.trim_end().replace("\"protocol\":1", "\"protocol\":2");
    assert!(matches!(refuses(&newer), LineError::Protocol { found: 2 }));
    let stranger = "{\"hello\":{\"protocol\":3,\"zeal\":true}}";
    assert!(matches!(refuses(stranger), LineError::Protocol { found: 3 }));
}

#[test]
fn refuses_events_and_artifacts_whose_halves_do_not_fit() {
    let office = from_desk();
    let change = |kind: &str, old: &str, new: &str| {
        let line = office.iter().find(|line| line.kind() == kind).map(written).unwrap();
        assert!(line.contains(old), "{line}");
        FromDesk::parse(line.trim_end().replacen(old, new, 1).as_bytes()).unwrap_err()
    };
    let error = change("event", "\"disclosed\"", "\"erased\"");
    assert!(matches!(error, LineError::Disclosure { what: "content" }), "{error}");
    let error = change("artifact", "\"disclosed\"", "\"missing\"");
    assert!(matches!(error, LineError::Disclosure { what: "bytes" }), "{error}");
    let error = change("artifact", "\"bytes\":\"e30KAA==\"", "\"bytes\":null");
    assert!(matches!(error, LineError::Halves { what: "bytes" }), "{error}");
    let error = change("artifact", "e30KAA==", "e30KAA=");
    assert!(matches!(error, LineError::Export(export::LineError::Base64)), "{error}");
}

#[test]
fn refuses_lines_of_an_agent_that_are_none() {
    let good: Vec<String> =
        from_agent().iter().map(|line| String::from_utf8(line.to_line().unwrap()).unwrap()).collect();
    let parse = |text: &str| FromAgent::parse(text.trim_end().as_bytes());
    for text in [
        "",
        "{}",
        "{\"done\":{\"now\":1}}",
        "{\"done\":null}",
        "{ \"done\":{}}",
        "{\"hello\":{}}",
        "{\"done\":{},\"submit\":{}}",
    ] {
        assert!(matches!(parse(text), Err(LineError::Read(_))), "{text}");
    }
    let change = |old: &str, new: &str| {
        assert!(good[0].contains(old), "{}", good[0]);
        parse(&good[0].replacen(old, new, 1)).unwrap_err()
    };
    assert!(matches!(change("{\"bytes\":\"/wBieXRlcw==\"", "{\"bytes\":\"/wBieXRlcw\""), LineError::Base64));
    assert!(matches!(change("\"artifact\":{", "\"artifac\":{"), LineError::Read(_)));
    assert!(matches!(change("{\"ed25519\":", "{\"ed25518\":"), LineError::Proof));
    assert!(matches!(change("\"/wBi", "null,\"z\":\"/wBi"), LineError::Read(_)));
    let (from, to) = (good[1].find("{\"ed25519\"").unwrap(), good[1].find(",\"salt\"").unwrap());
    let unsigned = format!("{}\"none\"{}", &good[1][..from], &good[1][to..]);
    assert!(matches!(parse(&unsigned).unwrap_err(), LineError::Proof));
    let salted = good[1].replace("\"salt\":null", &format!("\"salt\":\"{}\"", "00".repeat(32)));
    assert!(matches!(parse(&salted).unwrap_err(), LineError::Halves { what: "content" }));
}

#[test]
fn statement_and_content_are_cut_out_as_they_stand() {
    let line = format!(
        "{{\"submit\":{{\"artifact\":null,\"content\":[1.5,{{}}],\"proof\":{{\"ed25519\":{{\"key\":\"{}\",\
         \"signature\":\"{}\"}}}},\"salt\":\"{}\",\"statement\":{{\"any\":\"thing\"}}}}}}",
        "00".repeat(32),
        "00".repeat(64),
        "00".repeat(32),
    );
    let FromAgent::Submit(submit) = FromAgent::parse(line.as_bytes()).unwrap() else {
        panic!("not a submit")
    };
    assert_eq!(submit.submission.statement, b"{\"any\":\"thing\"}");
    assert_eq!(submit.submission.opening.unwrap().bytes, b"[1.5,{}]");
}

#[test]
fn lines_are_cut_at_line_feeds() {
    let mut reader = Cursor::new(b"one\n\ntwo\nhalf".to_vec());
    assert_eq!(read_line(&mut reader).unwrap().unwrap(), b"one");
    assert_eq!(read_line(&mut reader).unwrap().unwrap(), b"");
    assert_eq!(read_line(&mut reader).unwrap().unwrap(), b"two");
    assert!(matches!(read_line(&mut reader), Err(LineError::Unended)));
    assert!(read_line(&mut reader).unwrap().is_none());
}

#[test]
fn line_without_an_end_is_read_no_further_than_the_limit() {
    let mut endless = BufReader::new(repeat(b'a'));
    assert!(matches!(read_line(&mut endless), Err(LineError::TooLong)));
    let mut longest = vec![b'a'; Limits::LINE.bytes];
    longest.push(b'\n');
    let line = read_line(&mut Cursor::new(&longest)).unwrap().unwrap();
    assert_eq!(line.len(), Limits::LINE.bytes);
    longest.insert(0, b'a');
    assert!(matches!(read_line(&mut Cursor::new(&longest)), Err(LineError::TooLong)));
}

#[test]
fn fuzz_damaged_lines_are_read_only_as_they_would_be_written() {
    let desk: Vec<Vec<u8>> = from_desk().iter().map(|line| line.to_line().unwrap()).collect();
    let agent: Vec<Vec<u8>> = from_agent().iter().map(|line| line.to_line().unwrap()).collect();
    let mut random = Seeded::from_number(31);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..rounds(1_000_000, 10_000) {
        let mut draw = [0; 8];
        random.fill(&mut draw);
        let of = |lines: &[Vec<u8>]| damaged(&lines[usize::from(draw[0]) % lines.len()], &draw[1..]);
        let (line, read) = if draw[7] % 2 == 0 {
            let line = of(&desk);
            let read = FromDesk::parse(&line).and_then(|read| read.to_line());
            (line, read)
        } else {
            let line = of(&agent);
            let read = FromAgent::parse(&line).and_then(|read| read.to_line());
            (line, read)
        };
        match read {
            Ok(again) => {
                assert_eq!(again.strip_suffix(b"\n"), Some(line.as_slice()));
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} taken, {refused} refused: the damage tests nothing");
}

/// Returns a line, without its line feed, with one thing wrong.
fn damaged(line: &[u8], draw: &[u8]) -> Vec<u8> {
    let mut bytes = line.strip_suffix(b"\n").unwrap().to_vec();
    let at = usize::from(u16::from_le_bytes([draw[0], draw[1]])) % bytes.len();
    match draw[2] % 4 {
        0 => bytes[at] ^= 1 << (draw[3] % 8),
        1 => bytes[at] = b"0123456789abcdef{}[]\",:ABZ"[usize::from(draw[3]) % 26],
        2 => bytes.truncate(at),
        _ => bytes.insert(at, draw[3]),
    }
    bytes
}
