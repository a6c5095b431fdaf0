"""What people approve with passkeys (docs/format.md, 4): each check of an assertion violated once, and honest files."""

from collections.abc import Callable
from typing import Any

from forge.case import Corpus, Family
from forge.confirmations import Desk
from forge.encode import Json, digest, ulid
from forge.export import Export
from forge.people import (
    add_passkey,
    add_person,
    batch,
    bent,
    change_person,
    checkpoint,
    desk_of,
    leaf_of,
    operator,
    remove_passkey,
    remove_person,
    reset,
    root,
    somebody,
    store_of,
    with_root,
)
from forge.stories import Cast, Run
from forge.touch import N, Passkey, agrees_with_vector
from forge.writer import Agent, Entry, Store, Trace, way

ADA = somebody("ada", Passkey("ada"))
AGAIN = somebody("ada", Passkey("ada again"))
BOB = somebody("bob", Passkey("bob", "es256"))
PROVEN: dict[str, Json] = {"assurance": "passkey"}


def add(corpus: Corpus) -> None:
    """Adds to the families of passkeys and of honest files."""
    if not agrees_with_vector():
        raise ValueError("expected the leaf and the challenge of the vector in docs/format.md, found others")
    family = corpus.family("passkey")
    _speakers(family)
    _leaves(family)
    _client(family)
    _authenticator(family)
    _signatures(family)
    _moved(family)
    _alone(family)
    _words(family)
    _honest(corpus.family("valid"))


def _asked(label: str, *others: Agent, ada: Agent = ADA, **rest: Any) -> Desk:
    """Returns a question, event 0, in a store with people."""
    dialogue = desk_of(label, ada, *others, **rest)
    dialogue.ask()
    return dialogue


def _speakers(family: Family) -> None:
    def case(name: str, about: str, code: str, store: Store, who: Agent = ADA, **rest: Any) -> None:
        trace = journal(store)
        signed_in(trace, who, **rest)
        family.fails(name, about, Export(store, trace), code, 1)

    case("unknown", "A passkey signs in that never came in.", "KEY_UNKNOWN", store_of("unknown passkey", ADA), AGAIN)
    store = store_of("early passkey", ADA)
    add_passkey(store, AGAIN, ADA)
    about = "A passkey signs in at a position of the registry before it came in."
    early = journal(store)
    early.entries[0].envelope["registry"] = store.registry.entries[2].position
    signed_in(early, AGAIN, pin=2)
    family.fails("early", about, Export(store, early), "KEY_UNKNOWN", 1)
    store = store_of("removed passkey", ADA)
    add_passkey(store, AGAIN, ADA)
    remove_passkey(store, AGAIN.key, ADA)
    checkpoint(store)
    case("removed", "A passkey signs in after it was removed.", "KEY_REVOKED", store, AGAIN)
    store = store_of("reset passkey", ADA, recovery=True)
    reset(store, AGAIN)
    checkpoint(store)
    case("reset", "A lost passkey signs in after the recovery key ended it.", "KEY_REVOKED", store)
    store = store_of("actor", ADA)
    desk: Json = {"actor": store.desk.principal}
    case("actor", "A passkey signs in, and the desk says that it did.", "ACTOR_MISMATCH", store, envelope=desk)
    store = store_of("session of another", ADA)
    other: Json = {"person": ulid("person bob")}
    case("session-other", "Ada's passkey opens a session of Bob's.", "ACTOR_MISMATCH", store, facts=other)
    dialogue = _asked("auditor", BOB, role="auditor")
    dialogue.answer(0, BOB, **PROVEN)
    family.fails_last("auditor", "An auditor's passkey, which only signs in, answers.", dialogue, "KEY_ROLE_MISMATCH")
    store = store_of("key for passkey", ADA)
    named: Json = {"key": store.desk.key.fingerprint}
    desks: Json = {"actor": store.desk.principal}
    who = bent(ADA, assertion=named)
    case("key-as-passkey", "The desk's key is named in an assertion.", "KEY_UNKNOWN", store, who, envelope=desks)
    store = store_of("before its pin", ADA)
    trace, moment = journal(store), store.now
    add_person(store, "bob")
    signed_in(trace, ADA, at=moment + 5)
    about = "A touch is dated before the registry event that it pins."
    family.fails("before-pin", about, Export(store, trace), "PASSKEY_INVALID", 1)


def _assertion(family: Family) -> Callable[..., None]:
    """Returns what adds a case in which one thing is wrong about the assertion of the first passkey, or of its next touch."""

    def case(name: str, about: str, code: str = "PASSKEY_INVALID", ada: Agent = ADA, **wrong: Any) -> None:
        store = Store(f"assertion {name}")
        add_person(store, "ada", "operator")
        if wrong.pop("later", False):
            root(store, ada)
            add_person(store, "bob", by=bent(operator(ada), **wrong))
        else:
            root(store, bent(ada, **wrong))
        family.fails(name, about, Export(store), code, len(store.registry.entries) - 1)

    return case


def _leaves(family: Family) -> None:
    case = _assertion(family)
    other = digest("passkey", b"{}")
    case("leaf-other", "A touch was for something else.", batch=[other])
    case("leaf-statement", "What is signed is the hash that receipts have.", purpose="statement")
    case("challenge-other", "The challenge is of another statement.", challenge=bytes.fromhex(other))
    for name, about, wrong in (
        ("leaf-twice", "A leaf stands twice in a batch.", lambda own: {"batch": [own, other, other]}),
        ("batch-challenge", "The challenge of a batch is one of its leaves.", _own_challenge(other)),
    ):
        dialogue = _asked(f"batch {name}")
        own = leaf_of(dialogue, lambda story, who: story.answer(0, who, **PROVEN), ADA)
        dialogue.answer(0, bent(ADA, **wrong(own)), **PROVEN)
        family.fails_last(name, about, dialogue, "PASSKEY_INVALID")


def _own_challenge(other: str) -> Callable[[str], Json]:
    return lambda own: {"batch": [own, other], "challenge": bytes.fromhex(own)}


def _client(family: Family) -> None:
    case = _assertion(family)
    for name, about, client in (
        ("client-create", "What was touched was an enrolment elsewhere.", {"type": "webauthn.create"}),
        ("client-origin", "Another page asked for the touch.", {"origin": "http://demur.localhost:40182"}),
        ("client-cross", "Another site framed the page.", {"crossOrigin": True}),
        ("client-cross-number", "Whether another site framed it is a number.", {"crossOrigin": 0}),
        ("client-top", "The page stood in another one.", {"topOrigin": "http://demur.localhost:40181"}),
    ):
        case(name, about, client=client)
    case("client-top-null", "That the page stood in another one is null, and not left out.", client={"topOrigin": None})
    for name, about, more, code in (
        ("client-bytes", "The client data has fewer than 4,096 characters, and more bytes.", "\u00e9" * 2_000, "PASSKEY_INVALID"),
        ("client-characters", "The client data has more than 4,096 characters.", "e" * 4_000, "SCHEMA_INVALID"),
    ):
        case(name, about, code, text=_with(f'"{more}"'))
    case("client-deep", "The client data is nested deeper than an event.", text=_with("[" * 16 + "]" * 16))
    case("client-wide", "A list in the client data is longer than one in an event.", text=_with(f"[{'1,' * 1_024}1]"))
    case("client-padded", "The challenge is padded.", text=lambda text: text.replace('","origin', '=","origin'))
    case("client-no-json", "The client data is no JSON.", text=lambda text: text[:-1])
    case("client-twice", "A member stands twice.", text=lambda text: '{"type":"webauthn.create",' + text[1:])


def _with(more: str) -> Callable[[str], str]:
    """Returns what adds a member to client data."""
    return lambda text: f'{text[:-1]},"more":{more}}}'


def _authenticator(family: Family) -> None:
    case = _assertion(family)
    case("rp", "The touch was for another host name.", rp="localhost")
    case("absent", "Nobody was there.", flags=4)
    case("unverified", "Nobody was asked who they are.", flags=1)
    case("attested", "It brings a key along.", flags=5 | 64)
    case("eligible", "A passkey says that it can be copied, which it did not say when it came in.", later=True, flags=5 | 8)
    case("synced", "A passkey was copied that cannot be.", later=True, flags=5 | 16)
    case("long", "There is a byte too many, and no extension.", rest=b"\0\0\0\3\xa0")


def _signatures(family: Family) -> None:
    case = _assertion(family)
    bad = "SIG_INVALID"
    case("forged", "The signature is over something else.", bad, message=b"other")
    ada = somebody("ada", BOB.key)  # type: ignore[arg-type]
    sign = BOB.key.ecdsa  # type: ignore[attr-defined]
    high = lambda part: lambda message: _outside(sign(message), part)  # noqa: E731
    case("es256-s-outside", "s is as large as the order.", bad, ada=ada, signature=high(1))
    case("es256-r-outside", "r is as large as the order.", bad, ada=ada, signature=high(0))
    malleable = lambda message: _plus_order(ADA.key.sign_bare(message))  # noqa: E731
    case("ed25519-s-outside", "S is larger than the order.", bad, signature=malleable)


def _outside(signature: str, part: int) -> str:
    return signature[:64] + f"{N:064x}" if part else f"{N:064x}" + signature[64:]


def _plus_order(signature: str) -> str:
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(bytes.fromhex(signature[64:]), "little") + order
    return signature[:64] + s.to_bytes(32, "little").hex()


def _moved(family: Family) -> None:
    trace = journal(store_of("moved statement", ADA))
    proof = signed_in(trace, ADA).envelope["proof"]
    signed_in(trace, ADA, facts={"session": ulid("session again")}, envelope={"proof": proof})
    about = "The touch for one sign-in stands at another one."
    family.fails("moved-statement", about, Export(trace.store, trace), "PASSKEY_INVALID", 2)
    proof = signed_in(journal(store_of("moved store, another", ADA)), ADA).envelope["proof"]
    trace = journal(store_of("moved store", ADA))
    signed_in(trace, ADA, envelope={"proof": proof})
    about = "The touch was for the same sign-in in another store."
    family.fails("moved-store", about, Export(trace.store, trace), "PASSKEY_INVALID", 1)
    store = store_of("moved person", ADA, BOB)
    trace = journal(store)
    told = signed_in(trace, ADA, facts={"person": BOB.principal}).envelope
    told |= {"actor": BOB.principal}
    told["proof"]["webauthn"] |= {"key": BOB.key.fingerprint}
    about = "Ada's touch is said to be Bob's."
    family.fails("moved-person", about, Export(store, trace), "SIG_INVALID", 1)
    other = digest("passkey", b"{}")
    for name, about, leaves in (
        ("batch-shrunk", "The desk takes what else was touched out of the list.", lambda own: [own]),
    ):
        dialogue = _asked(f"moved {name}")
        own = leaf_of(dialogue, lambda story, who: story.answer(0, who, **PROVEN), ADA)
        told = dialogue.answer(0, bent(ADA, batch=[own, other]), **PROVEN).envelope
        told["proof"]["webauthn"]["leaves"] = leaves(own)
        family.fails_last(f"moved-{name}", about, dialogue, "PASSKEY_INVALID")


def _alone(family: Family) -> None:
    leaf = digest("passkey", b"{}")
    dialogue = desk_of("yes in a batch", ADA)
    dialogue.want()
    yes = lambda story, who: story.yes(0, who, **PROVEN)  # noqa: E731
    yes(dialogue, bent(ADA, batch=[leaf_of(dialogue, yes, ADA), leaf]))
    about = "A person confirms an operation with a touch that was for something else, too."
    family.fails_last("alone-yes", about, dialogue, "PASSKEY_INVALID")
    store = store_of("registry in a batch", ADA)
    more = lambda story, who: add_person(story, "bob", by=who)  # noqa: E731
    more(store, bent(operator(ADA), batch=[leaf, leaf_of(store, more, operator(ADA))]))
    about = "A person is added with a touch that was for something else, too."
    family.fails("alone-registry", about, Export(store), "PASSKEY_INVALID", 3)
    run = Run(Cast("abort in a batch", ["planner", "executor", "critic"], before=with_root(ADA)), "run", {})
    stop = lambda story, who: story.say(who, "session_aborted", {}, {"reason": "enough"})  # noqa: E731
    own = leaf_of(run, stop, operator(ADA))
    stop(run, bent(operator(ADA), batch=[own, leaf]))
    about = "A run is ended with a touch that was for something else, too."
    family.fails_last("alone-abort", about, run, "PASSKEY_INVALID")
    trace = journal(store_of("sign-in in a batch", ADA))
    own = leaf_of(trace, signed_in, ADA)
    signed_in(trace, bent(ADA, batch=[own, leaf]))
    about = "A person signs in with a touch that was for something else, too."
    family.fails("alone-session", about, Export(trace.store, trace), "PASSKEY_INVALID", 1)


def journal(store: Store) -> Trace:
    """Returns the journal of a store, opened."""
    trace = store.run("journal")
    trace.record("journal_opened", {}, None)
    return trace


def signed_in(trace: Trace, who: Agent, *, facts: Json = None, **rest: Any) -> Entry:
    """Returns a sign-in with a passkey."""
    said = {"by": None, "person": who.principal, "session": ulid("session")} | (facts or {})
    return trace.say(who, "session_opened", said, **rest)


def _words(family: Family) -> None:
    dialogue = _asked("less than it is")
    dialogue.answer(0, ADA, assurance="terminal")
    about = "A passkey approves an answer that says it came from a terminal."
    family.fails_last("assurance-less", about, dialogue, "ORDER_VIOLATION", integrity=True)
    trace = journal(store_of("opened twice", ADA))
    trace.record("journal_opened", {}, None)
    about = "A journal is opened twice."
    family.fails("journal-twice", about, Export(trace.store, trace), "ORDER_VIOLATION", 1)
    trace = journal(store_of("said twice", ADA))
    signed_in(trace, ADA, facts={"attribution": way("page", "passkey")})
    about = "Beside the proof of a passkey the desk says how the sign-in came."
    family.fails("attributed", about, Export(trace.store, trace), "ASSURANCE_OVERSTATED", 1)
    store = store_of("opens the journal", ADA)
    trace = store.run("journal")
    trace.say(ADA, "journal_opened", {})
    about = "A passkey opens the journal, which only the desk records."
    family.fails("type", about, Export(store, trace), "STATEMENT_MISMATCH", 0)


def _honest(family: Family) -> None:
    es256 = somebody("ada", Passkey("ada es256", "es256"))
    loose: dict[str, Any] = {"flags": 5 | 128, "rest": b"\0\0\0\3\xa1\x63foo\xf5", "client": {"x": [1e300, "\u00e9"]}, "without": ["crossOrigin"]}
    loose["text"] = lambda text: text.replace(",", " , ")
    for name, about, who, wrong in (
        ("more", "Browser and authenticator say more than they must, and nothing of framing.", ADA, loose),
        ("high-s", "s is in the upper half.", es256, {"signature": lambda message: es256.key.ecdsa(message, high=True)}),  # type: ignore[attr-defined]
    ):
        store = store_of(f"assertion {name}", who)
        add_person(store, "bob", by=bent(operator(who), **wrong))
        family.holds(f"passkey-{name}", about, Export(store))
    dialogue = desk_of("confirms", ADA)
    dialogue.want(assurance="passkey")
    dialogue.yes(0, ADA, **PROVEN)
    dialogue.begin(0)
    dialogue.end(2)
    family.holds("passkey-confirmed", "A person confirms an operation with a passkey, and it starts.", dialogue.export())
    dialogue = _asked("three at once")
    dialogue.ask()
    dialogue.ask()
    three = lambda story, who: [story.answer(each, who, **PROVEN, seen=2) for each in range(3)]  # noqa: E731
    batch(dialogue, three, ADA, 3)
    family.holds("passkey-batch", "A person answers three questions with one touch.", dialogue.export())
    store = store_of("as long as can be", es256)
    longest = lambda text: _with('"' + "\u00e9" * ((4_085 - len(text)) // 2) + "e" * ((4_085 - len(text)) % 2) + '"')(text)  # noqa: E731
    add_person(store, "bob", by=bent(operator(es256), text=longest))
    family.holds("passkey-longest", "The client data has 4,096 bytes.", Export(store))
    dialogue = _asked("beside a yes")
    dialogue.want()
    answer = lambda story, who: story.answer(0, who, **PROVEN)  # noqa: E731
    both = [leaf_of(dialogue, answer, ADA), digest("passkey", b"{}")]
    answer(dialogue, bent(ADA, batch=both))
    about = "The touch for an answer was for a yes, too, which must be touched alone: of what is not in a file nobody can tell."
    family.holds("passkey-beside", about, dialogue.export(), "pass_with_warnings")
    run = Run(Cast("ended by passkey", ["planner", "executor", "critic"], before=with_root(ADA)), "run", {})
    run.say(operator(ADA), "session_aborted", {}, {"reason": "enough"})
    about = "An operator ends a run with a passkey."
    family.holds("passkey-abort", about, run.export(), "pass_with_warnings", integrity=False)
    trace = journal(store_of("signs in", ADA, BOB, role="auditor"))
    signed_in(trace, BOB)
    about = "An auditor signs in with a passkey."
    family.holds("passkey-journal", about, Export(trace.store, trace))
    store = store_of("administers", ADA)
    made = {"client": ulid("client a"), "expires": None, "people": [], "principal": None, "scopes": ["ask"]}
    store.registry.say(operator(ADA), "token_made", made | {"token": ulid("token a")}, {"name": "a"})
    store.registry.say(operator(ADA), "token_revoked", {"token": ulid("token a")})
    add_person(store, "eve", "operator", operator(ADA))
    change_person(store, "eve", "auditor", operator(ADA))
    remove_person(store, "eve", operator(ADA))
    checkpoint(store)
    about = "An operator makes a token, an operator and an auditor of her, with a passkey."
    family.holds("passkey-administers", about, Export(store))
    pins = ["--pin", f"ada={ADA.key.fingerprint}"]
    family.holds("passkey-pin", "The reader knows Ada's passkey.", Export(store), options=pins)
