"""Acts that the desk says came by a session with a passkey behind it (docs/format.md, 11), and sign-ins in the journal."""

from typing import Any

from forge.asking import Dialogue, work
from forge.case import Corpus, Family
from forge.encode import Json, ulid
from forge.export import Export
from forge.passkeys import ADA, BOB, journal
from forge.passkeys import signed_in as touched_in
from forge.people import add_passkey, add_person, checkpoint, desk_of, remove_passkey, store_of
from forge.writer import signed_in

SURE: dict[str, Json] = {"assurance": "signed_in"}


def add(corpus: Corpus) -> None:
    """Adds to the families of attributions and of honest files."""
    family = corpus.family("attribution")
    _persons(family)
    _ways(family)
    _journal(family)
    _honest(corpus.family("valid"))


def _answered(dialogue: Dialogue, root: str, **rest: Any) -> Dialogue:
    """Returns a question, event 0, and the answer of somebody who the desk says signed in, event 1."""
    dialogue.ask()
    dialogue.answer(0, "person", **SURE, attribution=signed_in(root, **rest))
    return dialogue


def _persons(family: Family) -> None:
    def case(name: str, about: str, dialogue: Dialogue, root: str = "passkey", **rest: Any) -> None:
        _answered(dialogue, root, **rest)
        family.fails(name, about, dialogue.export(), "ASSURANCE_OVERSTATED", 1)

    bob = {"person": BOB.principal}
    dialogue = desk_of("no passkey", ADA)
    add_person(dialogue.cast.store, "bob")
    about = "The desk says that somebody without a passkey signed in with one."
    case("passkey-none", about, dialogue, **bob)
    dialogue = desk_of("passkey removed", ADA, BOB)
    remove_passkey(dialogue.cast.store, BOB.key, BOB)
    checkpoint(dialogue.cast.store)
    about = "The desk says that somebody signed in with a passkey, after the only one was removed."
    case("passkey-removed", about, dialogue, **bob)
    dialogue = desk_of("passkey later", ADA)
    add_person(dialogue.cast.store, "bob")
    _answered(dialogue, "passkey", **bob)
    add_passkey(dialogue.cast.store, BOB, ADA)
    about = "The desk says that somebody signed in with a passkey that came in only later."
    family.fails("passkey-later", about, dialogue.export(), "ASSURANCE_OVERSTATED", 1)
    about = "The desk says that somebody signed in by an operator's link in a store without a passkey."
    case("link-none", about, work("no root"), "link")


def _ways(family: Family) -> None:
    for root in ("passkey", "link"):
        for name, about, rest in (
            ("nobody", "of whom it does not say who it was", {"person": None}),
            ("no-session", "of whom it does not say by which session", {"session": None}),
            ("socket", "over the socket", {"door": "socket"}),
            ("mcp", "through a client's form", {"door": "mcp"}),
        ):
            dialogue = _answered(desk_of(f"{root} {name}", ADA), root, **rest)
            about = f"The desk records the answer of somebody who signed in ({root}), {about}."
            family.fails(f"{root}-{name}", about, dialogue.export(), "ASSURANCE_OVERSTATED", 1)


def _journal(family: Family) -> None:
    def case(name: str, about: str, root: str, **facts: Json) -> None:
        trace = journal(store_of(f"journal {name}", ADA))
        way = signed_in(root, session=None)
        said = {"attribution": way, "by": ADA.principal, "person": ADA.principal, "session": ulid("session")}
        trace.record("session_opened", said | facts, None, role="person")
        family.fails(name, about, Export(trace.store, trace), "ASSURANCE_OVERSTATED", 1)

    case("sign-in-unsigned", "The desk records a sign-in with a passkey that no passkey signed.", "passkey", by=None)
    case("sign-in-by-nobody", "The desk records a sign-in by a link, and not who made the link.", "link", by=None)
    about = "The desk records somebody's sign-in as that of somebody else."
    case("sign-in-other", about, "link", person=ulid("person bob"))


def _honest(family: Family) -> None:
    for root, who in (("passkey", "Somebody with a passkey"), ("link", "Somebody with a link of an operator's")):
        store = store_of(f"signs in, {root}", ADA)
        trace = journal(store)
        if root == "passkey":
            opened = touched_in(trace, ADA)
        else:
            said = {"attribution": signed_in(root, session=None), "by": ADA.principal, "person": ADA.principal}
            opened = trace.record("session_opened", said | {"session": ulid("session")}, None, role="person")
        family.holds(f"sign-in-{root}", f"{who} signs in.", Export(store, trace))
        dialogue = desk_of(f"answers, {root}", ADA)
        _answered(dialogue, root, session=opened.hash)
        family.holds(f"attribution-{root}", f"{who} answers without a touch.", dialogue.export())
