//! The picture of a run: all of the table, what happened in numbers, and nothing that could run or load.

use demur_ledger::{
    event_type::Content,
    facts::{ProposalDecision, SessionAborted, VerificationStatus},
    graph::Graph,
    role::Role,
    state::{Phase, TRANSITIONS},
    verify::{Options, Report, verify},
};

use crate::{
    export::{eventful, export},
    timeline::{entries, say_with},
    world::{World, text, usual_policy},
};

fn graph(file: &[u8]) -> Graph {
    let mut graph = Graph::new();
    for entry in &entries(file) {
        graph.take(entry);
    }
    graph
}

fn report(file: &[u8]) -> Report {
    verify(file, &Options::default(), &mut |_| ()).unwrap()
}

fn picture(file: &[u8]) -> String {
    graph(file).to_svg(&report(file))
}

fn drawn(world: &World) -> String {
    picture(&export(world, &[]))
}

/// Returns what is drawn for a state or an arrow.
#[track_caller]
fn group<'a>(picture: &'a str, id: &str) -> &'a str {
    let (_, rest) = picture
        .split_once(&format!("<g id=\"{id}\">"))
        .unwrap_or_else(|| panic!("{id} is not drawn in\n{picture}"));
    rest.split_once("</g>").unwrap().0
}

/// LED-03 LED-04
#[test]
fn every_state_and_every_transition_of_the_table_is_drawn() {
    let picture = drawn(&World::opened());
    for phase in Phase::ALL {
        assert!(group(&picture, phase.as_str()).contains(&format!(">{phase}</text>")));
    }
    for row in TRANSITIONS {
        for from in row.from {
            let place = match row.to.filter(|to| to != from) {
                Some(to) => format!("{from}-{to}"),
                None => from.to_string(),
            };
            let drawn = group(&picture, &place);
            assert!(drawn.contains(row.event.as_str()), "{} is not drawn at {place}", row.event);
            let leads_on = place.contains('-');
            assert!(!leads_on || drawn.contains(row.when.as_str()), "{:?} is not drawn at {place}", row.when);
        }
    }
}

#[test]
fn what_happened_has_whole_lines_and_numbers() {
    let (world, artifacts) = eventful();
    let picture = picture(&export(&world, &artifacts));
    let taken = group(&picture, "planning-reviewing");
    assert!(taken.contains("class=\"line on\"") && taken.contains(">proposal_created 1\u{d7} #2</text>"));
    let not_taken = group(&picture, "reviewing-planning");
    assert!(not_taken.contains("class=\"line off\"") && not_taken.contains("which did not happen"));
    let executing = group(&picture, "executing");
    assert!(executing.contains(">artifact_recorded 3\u{d7} #5\u{2013}#8</text>"), "{executing}");
    assert!(executing.contains(">entered 1\u{d7} #3</text>"), "{executing}");
    assert!(group(&picture, "aborted").contains(">not reached</text>"));
}

#[test]
fn the_state_in_which_the_run_stands_is_marked_and_no_other() {
    let (mut world, artifacts) = eventful();
    let mut marked = Vec::new();
    while !world.events.is_empty() {
        let picture = picture(&export(&world, &artifacts));
        let marks = |phase: &Phase| {
            let drawn = group(&picture, phase.as_str());
            assert_eq!(drawn.matches("<rect").count() == 2, drawn.contains(" here<"));
            drawn.contains(if phase.is_final() { "ended here" } else { "stands here" })
        };
        let stands: Vec<_> = Phase::ALL.into_iter().filter(marks).collect();
        let [stands] = stands.as_slice() else { panic!("expected one mark, found {stands:?}") };
        marked.push(*stands);
        world.events.pop();
    }
    marked.reverse();
    marked.dedup();
    assert_eq!(marked, Phase::ALL[1..7]);
}

#[test]
fn aborted_and_failed_runs_end_where_they_ended() {
    let mut world = World::opened();
    world.propose();
    world.say_as(Role::Operator, SessionAborted { attribution: None }).unwrap();
    let picture = drawn(&world);
    assert!(group(&picture, "aborted").contains("ended here"));
    assert!(group(&picture, "reviewing-aborted").contains("line on"));
    let mut world = World::auditing();
    world.verify(VerificationStatus::Fail).unwrap();
    assert!(group(&drawn(&world), "failed").contains("ended here"));
}

#[test]
fn long_runs_make_no_larger_pictures() {
    let (mut world, proposal) = World::executing();
    world.call_tool(proposal);
    let short = drawn(&world);
    for _ in 0..100 {
        world.call_tool(proposal);
    }
    let long = drawn(&world);
    assert!(long.contains("tool_execution_completed 101\u{d7} #8\u{2013}#508"), "{long}");
    assert_eq!(long.matches('<').count(), short.matches('<').count());
    assert!(long.len() < short.len() + 200);
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    assert_eq!(picture(&file), picture(&file));
}

#[test]
fn text_from_the_trace_is_text_and_nothing_is_loaded_or_run() {
    let mut world = World::new();
    let facts = world.opening(usual_policy());
    say_with(&mut world, Role::Planner, facts, |content| {
        let Content::SessionInitialized(content) = content else { panic!("expected an opening") };
        content.task = text("</text><script>alert(1)</script>&\u{202e}\"'\u{1}\u{ffff}");
    });
    let picture = drawn(&world);
    assert!(picture.contains("&lt;/text&gt;&lt;script&gt;alert(1)"), "{picture}");
    assert!(picture.contains("&amp;\\u{202e}&quot;&#39;\\u{1}\\u{ffff}"), "{picture}");
    let lower = picture.to_lowercase();
    for word in ["<script", "href", "url(", "@import", "<image", "<foreignobject", "onload"] {
        assert!(!lower.contains(word), "{word} is in the picture");
    }
    // The name of the language is no address that anybody looks up.
    assert_eq!(lower.matches("http").count(), 1);
}

#[test]
fn long_text_is_clipped() {
    let mut world = World::new();
    let facts = world.opening(usual_policy());
    say_with(&mut world, Role::Planner, facts, |content| {
        let Content::SessionInitialized(content) = content else { panic!("expected an opening") };
        content.task = text(&"w".repeat(256));
    });
    let picture = drawn(&world);
    assert!(picture.contains("www\u{2026}</text>") && !picture.contains(&"w".repeat(200)), "{picture}");
}

#[test]
fn picture_says_itself_in_words() {
    let (world, artifacts) = eventful();
    let picture = picture(&export(&world, &artifacts));
    let trace = world.run.chain().trace();
    let title = format!("<title id=\"title\">Trace {trace}: 18 events, completed after event 17</title>");
    assert!(picture.contains(&title), "{picture}");
    let words = picture.split_once("<desc id=\"desc\">").unwrap().1.split_once("</desc>").unwrap().0;
    for part in [
        "initialized: where the run began.",
        "completed: entered 1\u{d7} #17, where the run stands.",
        "failed: not reached.",
        "claiming to auditing: final_statement_signed 1\u{d7} #14.",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
}

#[test]
fn caution_stands_in_the_picture_of_a_damaged_file() {
    let (world, artifacts) = eventful();
    let file = String::from_utf8(export(&world, &artifacts)).unwrap();
    let file = file.replacen("\"decision\":\"approved\"", "\"decision\":\"rejected\"", 1);
    let picture = picture(file.as_bytes());
    assert!(picture.contains("Do not rely on anything after event #"), "{picture}");
    assert!(picture.contains("From event #4 on the state could not be followed."), "{picture}");
    assert!(group(&picture, "planning").contains("stands here"));
}

#[test]
fn what_leads_back_is_counted_again() {
    let mut world = World::opened();
    for _ in 0..3 {
        let proposal = world.propose();
        world.review(proposal, ProposalDecision::Rejected);
    }
    let picture = drawn(&world);
    assert!(group(&picture, "reviewing-planning").contains("proposal_reviewed 3\u{d7} #3\u{2013}#7"));
    assert!(group(&picture, "planning").contains("entered 4\u{d7} #0\u{2013}#7, stands here"));
}

#[test]
fn graph_of_nothing_is_empty_and_still_draws_the_machine() {
    let (world, artifacts) = eventful();
    let graph = Graph::new();
    assert!(graph.is_empty());
    let picture = graph.to_svg(&report(&export(&world, &artifacts)));
    assert!(picture.contains("no state could be followed") && !picture.contains(" here<"), "{picture}");
    assert!(!graph.to_svg(&report(&export(&world, &artifacts))).contains("the beginning"));
}
