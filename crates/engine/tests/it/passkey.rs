//! What a passkey signs: accepted where all of it holds, refused at the door and found in a file where any of it does not.

use demur_core::{commitment::Salt, hash::Digest, key::Signature};
use demur_engine::Reply;
use demur_ledger::{
    author::{Draft, Prepared},
    envelope::{Body, Stamp},
    event_type::Facts,
    facts::{
        Assurance, PasskeyRemoved, PasskeyRooted, PersonAdded, PersonRole, Question, QuestionAnswered,
        SessionAborted,
    },
    name::{PersonId, Position},
    passkey::Assertion,
    role::Role,
    statement::{Statement, Submission},
    verify::{Code, Verdict},
};
use demur_testing::authenticator::{Authenticator, Touch};

use crate::{
    asking::{answer, question},
    words::{list, text},
    world::{Sent, To, World, position, refusal},
};

impl World {
    /// Has the desk add a person.
    pub(crate) fn person(&mut self, role: PersonRole) -> PersonId {
        let person = PersonId::new(self.now, &mut self.random);
        position(&self.desk_says(PersonAdded { person, role }));
        person
    }

    /// Returns a store with an operator whose passkey is the root, and an agent that has asked this.
    pub(crate) fn rooted(passkey: &Authenticator, question: Question) -> (Self, PersonId, Position) {
        let (mut world, asked) = Self::asked(question);
        let person = world.person(PersonRole::Operator);
        position(&world.root(passkey, person));
        (world, person, asked)
    }

    /// Has a passkey become the root.
    pub(crate) fn root(&mut self, passkey: &Authenticator, person: PersonId) -> Reply {
        self.touch(To::Registry, passkey, Role::Person, PasskeyRooted(passkey.enrolment(person)))
    }

    /// Has a passkey sign this with a touch of its own.
    pub(crate) fn touch(
        &mut self,
        to: To,
        passkey: &Authenticator,
        role: Role,
        facts: impl Into<Facts>,
    ) -> Reply {
        let prepared = self.prepare(to, role, facts);
        self.send(to, &sent(passkey.approve_one(prepared)))
    }

    /// Returns a statement that waits for a touch.
    pub(crate) fn prepare(&mut self, to: To, role: Role, facts: impl Into<Facts>) -> Prepared {
        let draft: Draft = self.draft(to, role, facts);
        draft.prepare(Salt::draw(&mut self.random)).unwrap()
    }

    /// Records a statement whatever its proof is, as a desk that lies would.
    pub(crate) fn forge(&mut self, to: To, submission: Submission, person: PersonId) {
        let Submission { statement, proof, opening } = submission;
        let statement = Statement::parse(&statement).unwrap();
        let registry = self.known_registry();
        let head = registry.head();
        let stamp = Stamp { store: Some(self.store()), epoch: 1, registry: Some(head), now: self.now };
        let body = Body::Statement(statement.into(), proof);
        let event = self.log(to).state.tip().envelop(&stamp, person.principal(), body).unwrap();
        self.keep(to, event, opening);
    }

    /// Returns the codes of what the verifier finds to fail.
    pub(crate) fn failures(&self) -> Vec<Code> {
        let report = self.verified();
        let failed = report.findings.iter();
        let failed =
            failed.filter(|finding| finding.severity == demur_ledger::verify::FindingSeverity::Failure);
        failed.map(|finding| finding.code).collect()
    }
}

pub(crate) fn sent(submission: Submission) -> Sent {
    Sent { submission, artifact: None }
}

pub(crate) fn approved(asked: Position) -> QuestionAnswered {
    QuestionAnswered { assurance: Assurance::Passkey, ..answer(asked) }
}

fn demanding() -> Question {
    Question { assurance: Assurance::Passkey, ..question() }
}

fn passkeys() -> [Authenticator; 4] {
    [
        Authenticator::es256(1),
        Authenticator::ed25519(2),
        Authenticator::es256(3).synced(),
        Authenticator::ed25519(4).synced().at("https://demur.example"),
    ]
}

/// ONE-10
#[test]
fn both_algorithms_answer_at_passkey_synced_or_not() {
    for passkey in passkeys() {
        let (mut world, _, asked) = World::rooted(&passkey, demanding());
        assert_eq!(refusal(&world.told(Role::Person, typed(asked))).code, "ASSURANCE_TOO_LOW");
        position(&world.touch(To::Run, &passkey, Role::Person, approved(asked)));
        let report = world.verified();
        assert_eq!(report.code(), None, "{}", report.to_text());
        assert_eq!(report.questions[0].assurance, Some(Assurance::Passkey));
    }
}

fn typed(asked: Position) -> QuestionAnswered {
    crate::asking::typed(asked)
}

/// ONE-10
#[test]
fn one_touch_carries_a_list_that_a_person_reviewed() {
    let passkey = Authenticator::es256(1);
    let (mut world, _, first) = World::rooted(&passkey, demanding());
    let mut asked = vec![first];
    for _ in 1..20 {
        let next = world.ask(demanding());
        asked.push(next);
    }
    let prepared = asked.iter().map(|asked| world.prepare(To::Run, Role::Person, approved(*asked))).collect();
    for submission in passkey.approve(prepared) {
        position(&world.send(To::Run, &sent(submission)));
    }
    let report = world.verified();
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    let own = &report.passkeys[0];
    assert_eq!((own.statements, own.touches, own.most_at_once), (20, 1, 20));
    let how = report.questions[0].how.as_deref().unwrap();
    assert!(how.ends_with("signed exactly this answer; that the page showed it is recorded by demur; with one touch for 20 statements"), "{how}");
}

/// What a browser and an authenticator add is theirs: extensions, further members.
///
/// ONE-10
#[test]
fn what_others_add_to_a_touch_is_free() {
    let passkey = Authenticator::ed25519(1);
    let (mut world, _, asked) = World::rooted(&passkey, demanding());
    let prepared = world.prepare(To::Run, Role::Person, approved(asked));
    let mut touch = passkey.touch(&[prepared.leaf()]);
    touch.authenticator[32] |= 0x80;
    touch.authenticator.push(0xa0);
    touch.client = touch.client.replace(
        "\"crossOrigin\":false",
        "\"other_keys_can_be_added_here\":\"do not compare clientDataJSON against a template\", \"n\":[1.50]",
    );
    let assertion = passkey.sign(touch);
    position(&world.send(To::Run, &sent(prepared.assert(assertion))));
    assert_eq!(world.failures(), []);
}

/// One way to spoil an assertion, and the code that says so.
type Spoiled = (&'static str, fn(&Authenticator, Digest) -> Assertion, Code);

fn change(passkey: &Authenticator, leaf: Digest, change: impl FnOnce(&mut Touch)) -> Assertion {
    let mut touch = passkey.touch(&[leaf]);
    change(&mut touch);
    passkey.sign(touch)
}

fn says(passkey: &Authenticator, leaf: Digest, one: &str, other: &str) -> Assertion {
    change(passkey, leaf, |touch| {
        assert!(touch.client.contains(one), "{}", touch.client);
        touch.client = touch.client.replace(one, other);
    })
}

const INVALID: Code = Code::PasskeyInvalid;

const SPOILED: &[Spoiled] = &[
    ("the leaf of another statement", |passkey, _| passkey.assert(&[other_leaf()]), INVALID),
    ("a leaf twice", |passkey, leaf| passkey.assert(&[leaf, leaf]), INVALID),
    (
        "leaves of another batch",
        |passkey, leaf| Assertion {
            leaves: list([leaf, other_leaf()]),
            ..passkey.assert(&[other_leaf(), leaf])
        },
        INVALID,
    ),
    (
        "leaves that are left out",
        |passkey, leaf| Assertion { leaves: list([leaf]), ..passkey.assert(&[leaf, other_leaf()]) },
        INVALID,
    ),
    (
        "the challenge of another statement",
        |passkey, leaf| {
            change(passkey, leaf, |touch| {
                let other = passkey.touch(&[other_leaf()]);
                touch.client = other.client;
            })
        },
        INVALID,
    ),
    ("a new credential", |passkey, leaf| says(passkey, leaf, "webauthn.get", "webauthn.create"), INVALID),
    ("a challenge with padding", |passkey, leaf| says(passkey, leaf, "\",\"origin", "=\",\"origin"), INVALID),
    ("another port", |passkey, leaf| says(passkey, leaf, ":40181", ":40182"), INVALID),
    ("another scheme", |passkey, leaf| says(passkey, leaf, "http://", "https://"), INVALID),
    ("another host", |passkey, leaf| says(passkey, leaf, "localhost:", "demur.localhost:"), INVALID),
    ("a page in another", |passkey, leaf| says(passkey, leaf, "Origin\":false", "Origin\":true"), INVALID),
    ("an unclear page", |passkey, leaf| says(passkey, leaf, "Origin\":false", "Origin\":null"), INVALID),
    (
        "a page around it",
        |passkey, leaf| says(passkey, leaf, "\"crossOrigin\":false", "\"topOrigin\":null"),
        INVALID,
    ),
    (
        "a member twice",
        |passkey, leaf| says(passkey, leaf, "\"crossOrigin\":false", "\"type\":\"webauthn.get\""),
        INVALID,
    ),
    ("no object", |passkey, leaf| change(passkey, leaf, |touch| "[]".clone_into(&mut touch.client)), INVALID),
    (
        "too much of it",
        |passkey, leaf| says(passkey, leaf, "{", &format!("{{\"x\":\"{}\",", "\u{e9}".repeat(2100))),
        INVALID,
    ),
    (
        "another host name",
        |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[0] ^= 1),
        INVALID,
    ),
    (
        "nobody present",
        |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[32] ^= 0x01),
        INVALID,
    ),
    (
        "nobody verified",
        |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[32] ^= 0x04),
        INVALID,
    ),
    ("BE otherwise", |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[32] ^= 0x08), INVALID),
    (
        "BS without BE",
        |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[32] ^= 0x10),
        INVALID,
    ),
    ("AT", |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator[32] ^= 0x40), INVALID),
    ("too little", |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator.truncate(36)), INVALID),
    ("nothing", |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator.clear()), INVALID),
    ("more without ED", |passkey, leaf| change(passkey, leaf, |touch| touch.authenticator.push(0)), INVALID),
    (
        "another signature",
        |passkey, leaf| {
            let signature = passkey.assert(&[other_leaf()]).signature;
            Assertion { signature, ..passkey.assert(&[leaf]) }
        },
        Code::SigInvalid,
    ),
    (
        "a signature of nothing",
        |passkey, leaf| Assertion { signature: Signature::from_bytes([0; 64]), ..passkey.assert(&[leaf]) },
        Code::SigInvalid,
    ),
    (
        "authenticator data that were not signed",
        |passkey, leaf| {
            let mut other = passkey.touch(&[leaf]).authenticator;
            other[36] = 9;
            Assertion { authenticator: other.try_into().unwrap(), ..passkey.assert(&[leaf]) }
        },
        Code::SigInvalid,
    ),
    (
        "client data that were not signed",
        |passkey, leaf| {
            let client = format!("{} ", passkey.touch(&[leaf]).client);
            Assertion { client: text(&client), ..passkey.assert(&[leaf]) }
        },
        Code::SigInvalid,
    ),
];

fn other_leaf() -> Digest {
    Assertion::leaf(b"{\"another\":\"statement\"}")
}

/// ONE-10
#[test]
fn each_check_that_fails_is_refused_at_the_door_and_found_in_a_file() {
    for (passkey, (spoiled, make, code)) in [Authenticator::es256(1), Authenticator::ed25519(2)]
        .iter()
        .flat_map(|passkey| SPOILED.iter().map(move |row| (passkey, row)))
    {
        let (mut world, person, asked) = World::rooted(passkey, demanding());
        let prepared = world.prepare(To::Run, Role::Person, approved(asked));
        let assertion = make(passkey, prepared.leaf());
        let submission = prepared.assert(assertion);
        let refused = refusal(&world.send(To::Run, &sent(submission.clone())));
        assert_eq!(refused.code, code.as_str(), "{spoiled}");
        assert_eq!(world.failures(), [], "{spoiled}: something was recorded");
        world.forge(To::Run, submission, person);
        assert_eq!(world.failures(), [*code], "{spoiled}");
    }
}

/// ONE-10
#[test]
fn the_same_touch_serves_one_store_and_one_person() {
    let passkey = Authenticator::es256(1);
    let (mut world, person, asked) = World::rooted(&passkey, demanding());
    let stranger = Authenticator::es256(2);
    let prepared = world.prepare(To::Run, Role::Person, approved(asked));
    let submission = stranger.approve_one(prepared.clone());
    assert_eq!(refusal(&world.send(To::Run, &sent(submission.clone()))).code, "KEY_UNKNOWN");
    let mut forged = world.clone();
    forged.forge(To::Run, submission, person);
    assert_eq!(forged.failures(), [Code::KeyUnknown]);
    let other = world.person(PersonRole::Answerer);
    let mut forged = world.clone();
    forged.forge(To::Run, passkey.approve_one(prepared.clone()), other);
    assert_eq!(forged.failures(), [Code::ActorMismatch]);
    position(&world.send(To::Run, &sent(passkey.approve_one(prepared))));
}

/// ONE-10
#[test]
fn a_removed_passkey_says_nothing_more() {
    let (first, second) = (Authenticator::es256(1), Authenticator::ed25519(2));
    let (mut world, person, asked) = World::rooted(&first, demanding());
    let added = second.added(person, world.store());
    position(&world.touch(To::Registry, &first, Role::Person, added));
    let prepared = world.prepare(To::Run, Role::Person, approved(asked));
    position(&world.touch(To::Registry, &second, Role::Person, PasskeyRemoved { key: first.fingerprint() }));
    world.checkpoint();
    let submission = first.approve_one(prepared);
    assert_eq!(refusal(&world.send(To::Run, &sent(submission.clone()))).code, "KEY_REVOKED");
    world.forge(To::Run, submission, person);
    assert_eq!(world.failures(), [Code::KeyRevoked]);
}

/// ONE-10
#[test]
fn what_a_person_may_not_say_no_passkey_says() {
    let (root, own) = (Authenticator::es256(1), Authenticator::ed25519(2));
    let (mut world, _, asked) = World::rooted(&root, demanding());
    for (role, spoken) in [(PersonRole::Auditor, Role::Person), (PersonRole::Answerer, Role::Operator)] {
        let mut world = world.clone();
        let person = world.person(role);
        let added = own.added(person, world.store());
        position(&world.touch(To::Registry, &root, Role::Operator, added));
        let prepared = world.prepare(To::Run, spoken, approved(asked));
        let submission = own.approve_one(prepared);
        assert_eq!(
            refusal(&world.send(To::Run, &sent(submission.clone()))).code,
            if spoken == Role::Person { "KEY_ROLE_MISMATCH" } else { "ROLE_FORBIDDEN" }
        );
        if spoken == Role::Person {
            world.forge(To::Run, submission, person);
            assert_eq!(world.failures(), [Code::KeyRoleMismatch]);
        }
    }
    let claimed = QuestionAnswered { assurance: Assurance::SignedIn, ..approved(asked) };
    assert_eq!(refusal(&world.touch(To::Run, &root, Role::Person, claimed)).code, "ASSURANCE_FORGED");
    assert_eq!(refusal(&world.told(Role::Person, approved(asked))).code, "ASSURANCE_FORGED");
}

/// ONE-10
#[test]
fn an_act_that_stands_alone_is_signed_with_a_touch_of_its_own() {
    let passkey = Authenticator::es256(1);
    let mut world = World::opened();
    let person = world.person(PersonRole::Operator);
    position(&world.root(&passkey, person));
    let prepared = world.prepare(To::Run, Role::Operator, SessionAborted { attribution: None });
    let assertion = passkey.assert(&[prepared.leaf(), other_leaf()]);
    let submission = prepared.assert(assertion);
    assert_eq!(refusal(&world.send(To::Run, &sent(submission.clone()))).code, "PASSKEY_INVALID");
    let mut forged = world.clone();
    forged.forge(To::Run, submission, person);
    assert_eq!(forged.failures(), [Code::PasskeyInvalid]);
    position(&world.touch(To::Run, &passkey, Role::Operator, SessionAborted { attribution: None }));
    assert_eq!(world.failures(), []);
}

/// ONE-10
#[test]
fn no_touch_comes_before_its_passkey() {
    let passkey = Authenticator::es256(1);
    let (mut world, asked) = World::asked(demanding());
    let before = world.now;
    world.now = before.plus_millis(60_000);
    let person = world.person(PersonRole::Operator);
    position(&world.root(&passkey, person));
    world.now = before;
    let prepared = world.prepare(To::Run, Role::Person, approved(asked));
    let submission = passkey.approve_one(prepared);
    assert_eq!(refusal(&world.send(To::Run, &sent(submission.clone()))).code, "PASSKEY_INVALID");
    world.forge(To::Run, submission, person);
    assert_eq!(world.failures(), [Code::PasskeyInvalid]);
}
