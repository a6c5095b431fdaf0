//! The way that acts of people came: said exactly where the desk speaks for them, never claimed above what it rests on, and
//! told where the program that asked answered.

use demur_core::{random::Seeded, time::Timestamp};
use demur_ledger::{
    event_type::Facts,
    facts::{
        AnswerRevoked, AnswerSuperseded, Assurance, Attribution, Door, PasskeyRemoved, PersonRole, Question,
        QuestionAnswered, QuestionDeclined, Root,
    },
    name::{ClientId, TokenId},
    role::Role,
};

use demur_testing::authenticator::Authenticator;

use crate::{
    asking::{answer, question, typed},
    words::signed_in,
    world::{To, World, position, refusal},
};

/// Returns the code with which an answer of a person is refused that came this way; empty where it is recorded.
fn outcome(least: Assurance, claimed: Assurance, mut way: Attribution) -> String {
    let (mut world, ada, asked) =
        World::rooted(&Authenticator::es256(1), Question { assurance: least, ..question() });
    // Whoever signed in is the one who has a passkey.
    way.person = way.person.map(|_| ada);
    let facts = QuestionAnswered { assurance: claimed, attribution: Some(Box::new(way)), ..typed(asked) };
    match world.told(Role::Person, facts) {
        demur_engine::Reply::Refused(refusal) => refusal.code.to_owned(),
        _ => String::new(),
    }
}

/// ONE-11
#[test]
fn no_word_is_above_what_the_credential_rests_on() {
    for root in Root::ALL {
        for claimed in [Assurance::Relayed, Assurance::Terminal, Assurance::SignedIn] {
            let expected = if claimed > root.bears() { "ASSURANCE_OVERSTATED" } else { "" };
            let way = if root.bears() == Assurance::SignedIn {
                signed_in(root)
            } else {
                Attribution::new(Door::Page, root)
            };
            let found = outcome(Assurance::Agent, claimed, way);
            assert_eq!(found, expected, "{root:?} as {claimed:?}");
        }
    }
}

/// ONE-10 ONE-11: `signed_in` without a passkey behind it is nobody's word.
#[test]
fn an_act_that_rests_on_a_sign_in_shows_whose_it_is_and_by_which_session() {
    let overstated = |way| outcome(Assurance::Agent, Assurance::SignedIn, way);
    for root in [Root::Passkey, Root::Link] {
        assert_eq!(overstated(signed_in(root)), "");
        assert_eq!(overstated(Attribution { door: Door::Http, ..signed_in(root) }), "");
        for way in [
            Attribution { person: None, ..signed_in(root) },
            Attribution { session: None, ..signed_in(root) },
            Attribution { door: Door::Socket, ..signed_in(root) },
            Attribution { door: Door::Mcp, ..signed_in(root) },
        ] {
            assert_eq!(overstated(way.clone()), "ASSURANCE_OVERSTATED", "{way:?}");
        }
    }
}

/// ONE-10 ONE-11
#[test]
fn nobody_signed_in_with_a_passkey_who_had_none_then() {
    let (root, own) = (Authenticator::es256(1), Authenticator::ed25519(2));
    let (mut world, asked) = World::asked(question());
    let said = |way: Attribution| QuestionAnswered {
        assurance: Assurance::SignedIn,
        attribution: Some(Box::new(way)),
        ..typed(asked)
    };
    let by_link = refusal(&world.told(Role::Person, said(signed_in(Root::Link))));
    assert_eq!((by_link.code, by_link.field), ("ASSURANCE_OVERSTATED", Some("facts.attribution.root")));
    let ada = world.person(PersonRole::Operator);
    position(&world.root(&root, ada));
    let bob = world.person(PersonRole::Answerer);
    let bobs = || said(Attribution { person: Some(bob), ..signed_in(Root::Passkey) });
    assert_eq!(refusal(&world.told(Role::Person, bobs())).code, "ASSURANCE_OVERSTATED");
    let added = own.added(bob, world.store());
    position(&world.touch(To::Registry, &root, Role::Operator, added));
    let mut signed = world.clone();
    position(&signed.told(Role::Person, bobs()));
    assert_eq!(signed.failures(), []);
    let removed = PasskeyRemoved { key: own.fingerprint() };
    position(&world.touch(To::Registry, &root, Role::Operator, removed));
    assert_eq!(refusal(&world.told(Role::Person, bobs())).code, "ASSURANCE_OVERSTATED");
}

/// ONE-11
#[test]
fn way_stands_beside_records_only() {
    let (mut world, asked) = World::asked(question());
    let mut facts = Facts::from(answer(asked));
    facts.attribute(Attribution::new(Door::Socket, Root::SameUser));
    assert_eq!(world.refused_answer(facts).code, "ASSURANCE_OVERSTATED");
}

/// ONE-07
#[test]
fn asking_program_counts_as_relayed_at_most() {
    let own = |root| Attribution { own: true, ..Attribution::new(Door::Mcp, root) };
    assert_eq!(outcome(Assurance::Agent, Assurance::Relayed, own(Root::Client)), "");
    assert_eq!(outcome(Assurance::Agent, Assurance::Terminal, own(Root::SameUser)), "OWN_CLIENT");
    assert_eq!(outcome(Assurance::Terminal, Assurance::Relayed, own(Root::Client)), "OWN_CLIENT");
    for door in Door::ALL.into_iter().filter(|door| *door != Door::Mcp) {
        let way = Attribution { own: true, ..Attribution::new(door, Root::Client) };
        assert_eq!(outcome(Assurance::Agent, Assurance::Relayed, way), "OWN_CLIENT", "{door:?}");
    }
    let (mut world, asked) = World::asked(Question { assurance: Assurance::Terminal, ..question() });
    let way = Some(Box::new(own(Root::Client)));
    let declined = QuestionDeclined { attribution: way, question: asked.sequence };
    assert_eq!(refusal(&world.told(Role::Person, declined)).code, "OWN_CLIENT");
}

/// CLR-33
#[test]
fn report_says_how_each_answer_came() {
    let client = ClientId::new(Timestamp::from_millis(1).unwrap(), &mut Seeded::from_number(4));
    let ways = [
        (
            Attribution::new(Door::Socket, Root::SameUser),
            Assurance::Terminal,
            "same user, recorded by demur".to_owned(),
        ),
        (
            Attribution { client: Some(client), ..Attribution::new(Door::Http, Root::Client) },
            Assurance::Relayed,
            format!("relayed by client {client}, over HTTP, recorded by demur"),
        ),
        (
            Attribution { own: true, ..Attribution::new(Door::Mcp, Root::Client) },
            Assurance::Relayed,
            "relayed by the asker's own client, over MCP, recorded by demur".to_owned(),
        ),
    ];
    for (way, assurance, expected) in ways {
        let (mut world, asked) = World::asked(Question { assurance: Assurance::Relayed, ..question() });
        let facts = QuestionAnswered { assurance, attribution: Some(Box::new(way.clone())), ..typed(asked) };
        position(&world.told(Role::Person, facts));
        let report = world.verified();
        let row = &report.questions[0];
        assert_eq!((row.how.as_deref(), &row.attribution), (Some(expected.as_str()), &Some(way)));
        assert!(report.to_text().contains(&format!("({expected})")), "{}", report.to_text());
        assert!(report.to_html().contains("recorded by demur"));
    }
}

/// ONE-11 CLR-04: what one program relayed, another one neither replaces nor takes back; somebody at the terminal may.
#[test]
fn relayed_answer_is_changed_by_the_same_program_or_by_somebody_surer() {
    let client = |number| ClientId::new(Timestamp::MIN, &mut Seeded::from_number(number));
    let through =
        |number| Attribution { client: Some(client(number)), ..Attribution::new(Door::Mcp, Root::Client) };
    let terminal = || Attribution::new(Door::Socket, Root::SameUser);
    for (by, claimed, expected) in [
        (through(2), Assurance::Relayed, "NOT_YOUR_ANSWER"),
        (Attribution::new(Door::Http, Root::Client), Assurance::Relayed, "NOT_YOUR_ANSWER"),
        (Attribution::new(Door::Page, Root::Mail), Assurance::Relayed, "NOT_YOUR_ANSWER"),
        (through(1), Assurance::Relayed, ""),
        (terminal(), Assurance::Terminal, ""),
    ] {
        for revokes in [false, true] {
            let (mut world, asked) = World::asked(question());
            let said = |way, assurance| QuestionAnswered {
                assurance,
                attribution: Some(Box::new(way)),
                ..typed(asked)
            };
            let given = position(&world.told(Role::Person, said(through(1), Assurance::Relayed))).sequence;
            let change = if revokes {
                let (attribution, question) = (Some(Box::new(by.clone())), asked.sequence);
                Facts::from(AnswerRevoked { attribution, answer: given, question })
            } else {
                Facts::from(AnswerSuperseded { answer: said(by.clone(), claimed), replaces: given })
            };
            let code = match world.told(Role::Person, change) {
                demur_engine::Reply::Refused(refusal) => refusal.code.to_owned(),
                _ => String::new(),
            };
            assert_eq!(code, expected, "{by:?}, revokes: {revokes}");
        }
    }
    // What somebody said at the terminal no program takes back.
    let (mut world, asked) = World::asked(question());
    let given = position(&world.told(Role::Person, typed(asked))).sequence;
    let (attribution, question) = (Some(Box::new(through(1))), asked.sequence);
    let revoked = world.told(Role::Person, AnswerRevoked { attribution, answer: given, question });
    assert_eq!(refusal(&revoked).code, "ASSURANCE_TOO_LOW");
}

/// ONE-11: a token that the registry does not know makes nobody's word.
#[test]
fn token_that_was_never_made_is_refused() {
    let token = Some(TokenId::new(Timestamp::MIN, &mut Seeded::from_number(1)));
    let way = Attribution { token, ..Attribution::new(Door::Http, Root::Client) };
    assert_eq!(outcome(Assurance::Agent, Assurance::Relayed, way), "ASSURANCE_OVERSTATED");
}
