//! The agent's end of the lines against a desk in memory: one that keeps to the protocol, and many that do not.

use std::{
    io::{BufReader, Cursor, PipeReader, PipeWriter, pipe, sink},
    thread,
};

use demur_core::{random::Seeded, time::Timestamp};
use demur_ledger::{
    content::ProposalReviewContent,
    event_type::{Content, EventType, Facts},
    facts::{ProposalDecision, ProposalReviewed},
    name::{Position, Sequence},
    role::Role,
    state::Phase,
};
use demur_run::{
    agent::{Agent, AgentError, Heard, TrailError},
    line::{End, FromDesk, Turn},
};

use crate::office::{Line, Office, list, text, whole};

type Connected = Agent<BufReader<PipeReader>, PipeWriter, Seeded, fn() -> Timestamp>;
type Desk = Line<BufReader<PipeReader>, PipeWriter>;

/// Runs an agent of a role on a thread of its own, and the desk's end of its lines here.
fn between(
    office: &mut Office,
    role: Role,
    agent: impl FnOnce(Connected) + Send,
    desk: impl FnOnce(Desk, &mut Office),
) {
    let ((from_desk, to_agent), (from_agent, to_desk)) = (pipe().unwrap(), pipe().unwrap());
    let author = office.author(role);
    thread::scope(|scope| {
        scope.spawn(move || {
            // This clock is far behind the desk's.
            let clock: fn() -> Timestamp = || Timestamp::MIN;
            let random = Seeded::from_number(99);
            agent(Agent::connect(BufReader::new(from_desk), to_desk, author, random, clock).unwrap());
        });
        desk(Line::greet(BufReader::new(from_agent), to_agent, office, role), office);
    });
}

fn approve(agent: &mut Connected, proposal: Sequence) -> Result<Position, AgentError> {
    let content = ProposalReviewContent { conditions: list([]), rationale: text("it may be done") };
    let facts = ProposalReviewed { conditions: whole(0), decision: ProposalDecision::Approved, proposal };
    agent.say(facts, Content::ProposalReviewed(content))
}

/// Hears up to the next turn.
fn wait_for_turn(agent: &mut Connected) -> Turn {
    loop {
        if let Heard::Turn(turn) = agent.hear().unwrap() {
            return turn;
        }
    }
}

/// Hears up to the end; returns what was heard, in short.
fn hear_out(agent: &mut Connected) -> Vec<String> {
    let mut heard = Vec::new();
    loop {
        match agent.hear().unwrap() {
            Heard::Event(shown) => {
                heard.push(format!(
                    "{} {}",
                    shown.event.position().sequence,
                    shown.event.said().unwrap().kind
                ));
            }
            Heard::Artifact(shown) => heard.push(format!("{} artifact", shown.event)),
            Heard::Turn(_) => panic!("an unexpected turn"),
            Heard::End(end) => {
                heard.push(end.phase.to_string());
                return heard;
            }
        }
    }
}

#[test]
fn hears_everything_once_and_in_order_its_own_words_too() {
    let critic = |mut agent: Connected| {
        let turn = wait_for_turn(&mut agent);
        assert_eq!((turn.phase, turn.head), (Phase::Reviewing, agent.head()));
        let recorded = approve(&mut agent, 2.into()).unwrap();
        assert_eq!(agent.head(), Some(recorded));
        agent.done().unwrap();
        let rest = ["3 proposal_reviewed", "4 artifact_recorded", "4 artifact", "executing"];
        assert_eq!(hear_out(&mut agent), rest);
        assert!(matches!(agent.hear(), Err(AgentError::Ended)));
    };
    between(&mut Office::with_proposal(), Role::Critic, critic, |mut line, office| {
        assert_eq!(line.turn(office), [Ok(3.into())]);
        office.store("count.input.json", b"{}");
        line.end(office);
    });
}

#[test]
fn what_came_while_it_spoke_can_be_taken_in_without_waiting() {
    let critic = |mut agent: Connected| {
        wait_for_turn(&mut agent);
        assert_eq!(agent.pending(), None);
        let recorded = approve(&mut agent, 2.into()).unwrap();
        let Some(Heard::Event(own)) = agent.pending() else { panic!("its own event waits to be heard") };
        assert_eq!(own.event.position(), recorded);
        let Some(Content::ProposalReviewed(content)) = own.content().unwrap() else { panic!("no content") };
        assert_eq!(content.rationale.as_str(), "it may be done");
        agent.done().unwrap();
        assert_eq!(hear_out(&mut agent), ["executing"]);
    };
    between(&mut Office::with_proposal(), Role::Critic, critic, |mut line, office| {
        line.turn(office);
        line.end(office);
    });
}

#[test]
fn refusal_leaves_the_turn_open() {
    let critic = |mut agent: Connected| {
        wait_for_turn(&mut agent);
        let Err(AgentError::Refused(refused)) = approve(&mut agent, 0.into()) else { panic!("recorded") };
        assert_eq!((refused.code.as_str(), refused.field.as_deref()), ("REFERENCE", Some("facts.proposal")));
        approve(&mut agent, 2.into()).unwrap();
        agent.done().unwrap();
        assert_eq!(hear_out(&mut agent), ["3 command_refused", "4 proposal_reviewed", "executing"]);
    };
    between(&mut Office::with_proposal(), Role::Critic, critic, |mut line, office| {
        assert_eq!(line.turn(office), [Err("REFERENCE".to_owned()), Ok(4.into())]);
        line.end(office);
    });
}

#[test]
fn stored_bytes_open_the_commitment_and_can_be_cited() {
    let mut office = Office::approved();
    let executor = |mut agent: Connected| {
        wait_for_turn(&mut agent);
        agent.store("numbers", "application/octet-stream", vec![0, 255, 10]).unwrap();
        agent.done().unwrap();
        assert_eq!(hear_out(&mut agent), ["4 artifact_recorded", "4 artifact", "executing"]);
    };
    between(&mut office, Role::Executor, executor, |mut line, office| {
        assert_eq!(line.turn(office), [Ok(4.into())]);
        line.end(office);
    });
    let Some(FromDesk::Artifact(shown)) = office.lines().last() else { panic!("no artifact") };
    assert_eq!(shown.artifact.as_ref().unwrap().bytes, [0, 255, 10]);
}

#[test]
fn too_long_a_name_is_refused_before_anything_is_sent() {
    let mut office = Office::approved();
    let executor = |mut agent: Connected| {
        wait_for_turn(&mut agent);
        assert!(matches!(agent.store(&"n".repeat(1025), "text/plain", vec![]), Err(AgentError::Limit(_))));
        agent.done().unwrap();
    };
    between(&mut office, Role::Executor, executor, |mut line, office| {
        assert_eq!(line.turn(office), []);
    });
}

#[test]
fn nothing_is_said_outside_the_turn() {
    let critic = |mut agent: Connected| {
        assert!(matches!(approve(&mut agent, 2.into()), Err(AgentError::NotMyTurn)));
        assert!(matches!(agent.done(), Err(AgentError::NotMyTurn)));
        wait_for_turn(&mut agent);
        agent.done().unwrap();
        assert!(matches!(approve(&mut agent, 2.into()), Err(AgentError::NotMyTurn)));
        assert!(matches!(agent.done(), Err(AgentError::NotMyTurn)));
    };
    between(&mut Office::with_proposal(), Role::Critic, critic, |mut line, office| {
        assert_eq!(line.turn(office), []);
    });
}

#[test]
fn clock_behind_the_desk_does_not_make_statements_too_old() {
    let mut office = Office::with_proposal();
    let critic = |mut agent: Connected| {
        wait_for_turn(&mut agent);
        approve(&mut agent, 2.into()).unwrap();
        agent.done().unwrap();
    };
    between(&mut office, Role::Critic, critic, |mut line, office| {
        line.turn(office);
    });
    let Some(FromDesk::Event(shown)) = office.lines().last() else { panic!("no event") };
    let envelope = shown.event.envelope();
    assert!(envelope.statement.as_ref().unwrap().not_after >= envelope.time);
}

/// Connects the critic to a desk that says these lines; returns what it heard before it gave up, and why it did.
fn give_up(office: &Office, lines: &[FromDesk]) -> (usize, AgentError) {
    let bytes: Vec<u8> = lines.iter().flat_map(|line| line.to_line().unwrap()).collect();
    let (reader, author) = (Cursor::new(bytes), office.author(Role::Critic));
    let mut agent = match Agent::connect(reader, sink(), author, Seeded::from_number(1), || Timestamp::MIN) {
        Ok(agent) => agent,
        Err(error) => return (0, error),
    };
    for heard in 0.. {
        if let Err(error) = agent.hear() {
            return (heard, error);
        }
    }
    unreachable!("every desk of these tests hangs up")
}

/// Returns an office with an artifact, and what it says to the critic.
fn office_with_artifact() -> (Office, Vec<FromDesk>) {
    let mut office = Office::approved();
    office.store("count.input.json", b"{}");
    let hello = FromDesk::Hello(office.hello(Role::Critic));
    let lines = [hello].into_iter().chain(office.lines().iter().cloned()).collect();
    (office, lines)
}

#[test]
fn desk_must_greet_the_holder_of_the_key_and_nobody_else() {
    let (office, lines) = office_with_artifact();
    assert!(matches!(give_up(&office, &[]), (0, AgentError::Ended)));
    assert!(matches!(give_up(&office, &lines[1..]), (0, AgentError::Unexpected { found: "event", .. })));
    let other = [FromDesk::Hello(office.hello(Role::Executor))];
    assert!(matches!(give_up(&office, &other), (0, AgentError::OtherAgent { role: Role::Executor, .. })));
    let twice = [lines[0].clone(), lines[0].clone()];
    assert!(matches!(give_up(&office, &twice), (0, AgentError::Unexpected { found: "hello", .. })));
}

#[test]
fn trace_that_does_not_hold_ends_the_agent() {
    let (office, lines) = office_with_artifact();
    let trail = |change: &dyn Fn(&mut Vec<FromDesk>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        match give_up(&office, &lines) {
            (heard, AgentError::Trail(error)) => (heard, error),
            other => panic!("{other:?}"),
        }
    };
    let chain =
        |expected: u32, found: u32| TrailError::Chain { expected: expected.into(), found: found.into() };
    assert_eq!(trail(&|lines| _ = lines.remove(3)), (2, chain(2, 3)));
    assert_eq!(trail(&|lines| lines.insert(3, lines[2].clone())), (2, chain(2, 1)));
    assert_eq!(trail(&|lines| lines.swap(3, 4)), (2, chain(2, 3)));
    let opening = |what, sequence: u32| TrailError::Opening { what, sequence: sequence.into() };
    assert_eq!(trail(&|lines| distort_content(&mut lines[3])), (2, opening("content", 2)));
    assert_eq!(trail(&|lines| distort_artifact(&mut lines[6])), (5, opening("artifact", 4)));
    assert_eq!(trail(&|lines| lines[6] = lines[1].clone()), (5, TrailError::ArtifactMissing));
    let misplaced = TrailError::ArtifactOutOfPlace { sequence: 4.into() };
    assert_eq!(trail(&|lines| lines.insert(4, lines[6].clone())), (3, misplaced.clone()));
    assert_eq!(trail(&|lines| lines.push(lines[6].clone())), (6, misplaced));
    let turn = Turn { head: None, now: Timestamp::MIN, phase: Phase::Executing };
    assert_eq!(trail(&|lines| lines.push(FromDesk::Turn(turn))), (6, TrailError::Head));
}

#[test]
fn event_of_another_trace_ends_the_agent() {
    let (office, lines) = office_with_artifact();
    let FromDesk::Hello(mut hello) = lines[0].clone() else { panic!("no hello") };
    hello.trace = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let error = TrailError::OtherTrace { sequence: 0.into() };
    match give_up(&office, &[FromDesk::Hello(hello), lines[1].clone()]) {
        (0, AgentError::Trail(found)) => assert_eq!(found, error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn answer_without_a_question_ends_the_agent() {
    let (office, lines) = office_with_artifact();
    let answer = FromDesk::Recorded(Position::new(4.into(), *office.lines().iter().find_map(hash).unwrap()));
    let answers = [lines[0].clone(), answer];
    assert!(matches!(give_up(&office, &answers), (0, AgentError::Unexpected { found: "recorded", .. })));
    let turn = FromDesk::Turn(Turn { head: None, now: Timestamp::MIN, phase: Phase::Initialized });
    let twice = [lines[0].clone(), turn.clone(), turn];
    assert!(matches!(give_up(&office, &twice), (1, AgentError::Unexpected { found: "turn", .. })));
}

#[test]
fn desk_that_says_recorded_must_have_shown_the_statement() {
    let (office, lines) = office_with_artifact();
    let head = Position::new(0.into(), *hash(&lines[1]).unwrap());
    let turn = FromDesk::Turn(Turn { head: Some(head), now: Timestamp::MIN, phase: Phase::Planning });
    let answers = [lines[0].clone(), lines[1].clone(), turn, lines[2].clone(), FromDesk::Recorded(head)];
    let bytes: Vec<u8> = answers.iter().flat_map(|line| line.to_line().unwrap()).collect();
    let (random, author) = (Seeded::from_number(1), office.author(Role::Critic));
    let mut agent = Agent::connect(Cursor::new(bytes), sink(), author, random, || Timestamp::MIN).unwrap();
    assert!(matches!(agent.hear().unwrap(), Heard::Event(_)));
    assert!(matches!(agent.hear().unwrap(), Heard::Turn(_)));
    let content = ProposalReviewContent { conditions: list([]), rationale: text("fine") };
    let facts =
        ProposalReviewed { conditions: whole(0), decision: ProposalDecision::Approved, proposal: 2.into() };
    let said = agent.say(facts, Content::ProposalReviewed(content));
    assert!(matches!(said, Err(AgentError::NotShown { position }) if position == head));
}

#[test]
fn the_end_is_heard() {
    let office = Office::new();
    let lines = [FromDesk::Hello(office.hello(Role::Critic)), FromDesk::End(End { phase: Phase::Aborted })];
    assert!(matches!(give_up(&office, &lines), (1, AgentError::Ended)));
    assert_eq!(office.count(EventType::SessionInitialized), 0);
}

fn hash(line: &FromDesk) -> Option<&demur_core::hash::Digest> {
    match line {
        FromDesk::Event(shown) => Some(shown.event.hash()),
        _ => None,
    }
}

fn distort_content(line: &mut FromDesk) {
    let FromDesk::Event(shown) = line else { panic!("no event") };
    assert!(matches!(shown.event.said().unwrap().facts, Facts::ProposalCreated(_)));
    let bytes = &mut shown.opening.as_mut().unwrap().bytes;
    *bytes = String::from_utf8(bytes.clone()).unwrap().replace("wc", "rm").into_bytes();
}

fn distort_artifact(line: &mut FromDesk) {
    let FromDesk::Artifact(shown) = line else { panic!("no artifact") };
    shown.artifact.as_mut().unwrap().bytes.push(b' ');
}
