//! The transcript and the numbers in `docs/agents.md`: what a critic and a desk say to each other, word for word. Run the
//! tests with `DEMUR_BLESS=1` to write them anew, and read the difference before committing it.

use std::{
    fmt::Write as _,
    fs,
    io::{BufReader, pipe},
    path::Path,
    thread,
};

use demur_core::{hash::sha256, random::Seeded, time::Timestamp};
use demur_ledger::{
    content::{ProposalReviewContent, RationaleContent},
    event_type::Content,
    facts::{IntentDecision, ProposalDecision, ProposalReviewed, Risk, ToolIntentReviewed},
    name::Sequence,
    role::Role,
};
use demur_run::{
    agent::{Agent, AgentError, Heard},
    line::{FromAgent, FromDesk, Submit},
};

use crate::office::{Line, Office, list, text, whole};

type Spoken = Vec<(char, String)>;

/// Returns everything that is said in a short run between its desk and its critic.
fn transcript(office: &mut Office) -> Spoken {
    let ((from_desk, to_agent), (from_agent, to_desk)) = (pipe().unwrap(), pipe().unwrap());
    let author = office.author(Role::Critic);
    thread::scope(|scope| {
        scope.spawn(move || {
            let random = Seeded::from_number(3);
            let reader = BufReader::new(from_desk);
            let mut agent = Agent::connect(reader, to_desk, author, random, || Timestamp::MIN).unwrap();
            let review = |proposal: Sequence, agent: &mut Agent<_, _, _, _>| {
                let rationale = text("wc only reads");
                let content = ProposalReviewContent { conditions: list([]), rationale };
                let decision = ProposalDecision::Approved;
                let facts = ProposalReviewed { conditions: whole(0), decision, proposal };
                agent.say(facts, Content::ProposalReviewed(content))
            };
            wait_for_turn(&mut || agent.hear());
            assert!(matches!(review(0.into(), &mut agent), Err(AgentError::Refused(_))));
            review(2.into(), &mut agent).unwrap();
            agent.done().unwrap();
            wait_for_turn(&mut || agent.hear());
            let content = RationaleContent { rationale: text("rm is never let through") };
            let facts = ToolIntentReviewed { decision: IntentDecision::Blocked, intent: 6.into() };
            agent.say(facts, Content::ToolIntentReviewed(content)).unwrap();
            agent.done().unwrap();
            while !matches!(agent.hear().unwrap(), Heard::End(_)) {}
        });
        let mut line = Line::greet(BufReader::new(from_agent), to_agent, office, Role::Critic);
        line.turn(office);
        office.intend("clean up", &["rm", "-r", "scratch"], Risk::High);
        line.turn(office);
        office.abort("nobody can go on: intent 6 was blocked");
        line.end(office)
    })
}

fn wait_for_turn(hear: &mut dyn FnMut() -> Result<Heard, AgentError>) {
    while !matches!(hear().unwrap(), Heard::Turn(_)) {}
}

#[test]
fn page_shows_what_is_really_said() {
    let mut office = Office::with_proposal();
    let spoken = transcript(&mut office);
    let mut page = String::from("```text\n");
    for (number, (direction, line)) in spoken.iter().enumerate() {
        writeln!(page, "{:>2} {direction} {line}", number + 1).unwrap();
    }
    page += "```\n";
    check_page("transcript", &page);
    check_page("numbers", &numbers(&office, &spoken));
    for kind in ["hello", "event", "artifact", "turn", "recorded", "refused", "end", "submit", "done"] {
        let begin = format!("{{\"{kind}\":");
        assert!(spoken.iter().any(|(_, line)| line.starts_with(&begin)), "no line {kind}");
    }
}

/// Returns what has to be computed for the first statement that was recorded, and for the artifact.
fn numbers(office: &Office, spoken: &Spoken) -> String {
    let said = |index: usize| spoken.iter().filter(|(from, _)| *from == '<').nth(index).unwrap().1.as_bytes();
    let FromAgent::Submit(submit) = FromAgent::parse(said(1)).unwrap() else { panic!("not a submit") };
    let Submit { submission, .. } = *submit;
    let opening = submission.opening.unwrap();
    let key = office.author(Role::Critic).public();
    let file = office.key_file(Role::Critic);
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let artifact = office.lines().iter().find_map(|line| match line {
        FromDesk::Artifact(shown) => shown.artifact.clone(),
        _ => None,
    });
    let artifact = artifact.unwrap();
    let event = office.lines().iter().find_map(|line| match line {
        FromDesk::Event(shown) if shown.event.statement_bytes() == Some(&submission.statement) => {
            Some((utf8(shown.event.bytes()), shown.event.hash().to_string()))
        }
        _ => None,
    });
    let (event_bytes, event_hash) = event.unwrap();
    let rows = [
        ("key file", file.trim_end().to_owned()),
        ("public key", key.to_string()),
        ("fingerprint = H(key, \"ed25519\\0\" + public key)", key.fingerprint().to_string()),
        ("content bytes", utf8(&opening.bytes)),
        ("salt", opening.salt.to_string()),
        ("statement.content = H(content, salt + content bytes)", opening.commitment().to_string()),
        ("statement bytes", utf8(&submission.statement)),
        ("signature = sign(statement, statement bytes)", submission.proof.signature().to_string()),
        ("event bytes", event_bytes),
        ("event hash = H(envelope, event bytes)", event_hash),
        ("artifact bytes", utf8(&artifact.bytes)),
        ("input_hash = SHA-256(artifact bytes)", sha256(&artifact.bytes).to_string()),
        ("artifact salt", artifact.salt.to_string()),
        (
            "facts.commitment = H(artifact, artifact salt + artifact bytes)",
            artifact.facts().commitment.to_string(),
        ),
    ];
    rows.iter().fold("```text\n".to_owned(), |page, (name, value)| page + name + "\n    " + value + "\n")
        + "```\n"
}

/// Checks that the page holds this text between the two marks of a name.
fn check_page(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name}: generated -->\n"), format!("<!-- {name}: end -->\n"));
    let (before, rest) = page.split_once(&begin).expect("the page has the mark");
    let (found, after) = rest.split_once(&end).expect("the page has the mark");
    if std::env::var_os("DEMUR_BLESS").is_some() {
        bless(&path, &[before, &begin, made, &end, after].concat());
    } else {
        assert!(found == made, "docs/agents.md is stale: run the tests with DEMUR_BLESS=1 and look");
    }
}

#[expect(clippy::disallowed_methods, reason = "writes the page when it is told to")]
fn bless(path: &Path, page: &str) {
    fs::write(path, page).unwrap();
}
