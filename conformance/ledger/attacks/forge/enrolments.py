"""How people and passkeys come into the registry and go (docs/format.md, 7): every guard broken once, and honest files."""

from typing import Any

from forge.case import Corpus, Family
from forge.clients import bind, token, untoken
from forge.curve import ORDER_EIGHT, Key, encode, mixed_order
from forge.encode import Json, ulid
from forge.export import Export
from forge.passkeys import ADA, BOB
from forge.people import (
    add_passkey,
    add_person,
    bent,
    change_person,
    checkpoint,
    operator,
    possession,
    remove_passkey,
    remove_person,
    reset,
    root,
    somebody,
    store_of,
    with_root,
)
from forge.stories import Cast
from forge.touch import Passkey, off_curve
from forge.writer import Agent, Store

EVE = somebody("eve", Passkey("eve"))
AGAIN = somebody("ada", Passkey("ada again"))


def add(corpus: Corpus) -> None:
    """Adds to the families of enrolments and of honest files."""
    family = corpus.family("enrolment")
    _people(family)
    _roots(family)
    _vouched(family)
    _possessions(family)
    _checkpoints(family)
    _removals(family)
    _resets(family)
    _keys(family)
    _late(family, corpus.family("valid"))
    _honest(corpus.family("valid"))


def _case(family: Family) -> Any:
    def case(name: str, about: str, store: Store, code: str = "REGISTRY_INVALID", **rest: Any) -> None:
        family.fails(name, about, Export(store), code, len(store.registry.entries) - 1, **rest)

    return case


def _store(label: str, *others: Agent, **rest: Any) -> Store:
    return store_of(f"enrolments {label}", ADA, *others, **rest)


def _bare(label: str, recovery: bool = False) -> Store:
    """Returns a store in which ada is an operator and nobody has a passkey."""
    store = Store(f"enrolments {label}", recovery)
    add_person(store, "ada", "operator")
    return store


def _people(family: Family) -> None:
    case = _case(family)
    store = _bare("twice")
    add_person(store, "ada")
    case("person-twice", "A person is added twice.", store)
    cast = Cast("enrolments principal", ["agent"])
    add_person(cast.store, "bob", facts={"person": cast["agent"].principal})
    case("person-principal", "A person is the principal of a key.", cast.store)
    store = _store("by answerer as operator", BOB)
    add_person(store, "eve", by=operator(BOB))
    case("person-by-answerer-as-operator", "An answerer adds a person as if he were an operator.", store)
    for name, about, say in (
        ("client", "An answerer binds a key as if he were an operator.", lambda cast: bind(cast, "planner", "z", by=operator(BOB))),
        ("made", "An answerer makes a token as if he were an operator.", lambda cast: token(cast, "own", operator(BOB))),
        ("token", "An answerer takes a token back as if he were an operator.", lambda cast: untoken(cast, by=operator(BOB))),
    ):
        cast = Cast(f"enrolments {name} by answerer", ["planner"], before=with_root(ADA, BOB))
        token(cast)
        say(cast)
        case(f"{name}-by-answerer", about, cast.store)
    store = _store("operator by desk")
    add_person(store, "eve", "operator")
    case("operator-by-desk", "The desk makes an operator though there is a passkey.", store)
    store = _store("from operator by desk")
    add_person(store, "eve", "operator", operator(ADA))
    change_person(store, "eve", "answerer")
    case("operator-unmade-by-desk", "The desk unmakes an operator though there is a passkey.", store)
    store = _store("changed by desk", BOB)
    change_person(store, "bob", "auditor")
    case("person-changed-by-desk", "The desk changes somebody who has a passkey.", store)
    store = _bare("changed nobody")
    change_person(store, "bob", "auditor")
    case("person-unknown-changed", "Somebody is changed who was never added.", store)
    store = _store("gone changed", BOB)
    remove_person(store, "bob", operator(ADA))
    checkpoint(store)
    change_person(store, "bob", "auditor", operator(ADA))
    case("person-gone-changed", "Somebody is changed who was removed.", store)
    store = _store("in the desk's name")
    add_person(store, "eve", by=operator(ADA), envelope={"actor": store.desk.principal})
    case("person-in-the-desks-name", "An operator's passkey adds a person, and the desk says that it did.", store)
    store = _store("raised", BOB)
    add_person(store, "eve", "operator", operator(ADA))
    change_person(store, "bob", "operator", operator(ADA))
    change_person(store, "eve", "answerer", operator(ADA))
    change_person(store, "bob", "answerer", operator(ADA))
    change_person(store, "eve", "auditor", operator(BOB))
    case("person-by-former-operator", "Somebody who was an operator for a while changes a person as one.", store)
    store = _store("last changed")
    change_person(store, "ada", "answerer", operator(ADA))
    case("operator-last-changed", "The last operator with a passkey becomes an answerer.", store)


def _roots(family: Family) -> None:
    case = _case(family)
    store = _store("root twice")
    root(store, AGAIN)
    case("root-twice", "There is a second first passkey.", store)
    store = Store("enrolments answerer's root")
    add_person(store, "ada")
    root(store, ADA)
    case("root-answerer", "The first passkey is an answerer's.", store)
    store = Store("enrolments nobody's root")
    root(store, ADA)
    case("root-nobody", "The first passkey is that of somebody who was never added.", store)
    store = _bare("root by another")
    root(store, somebody("ada", _as(ADA, EVE)))
    case("root-by-another", "Another passkey than the one that comes in signs the first passkey.", store)
    store = _bare("root in another's name")
    root(store, ADA, envelope={"actor": store.desk.principal})
    case("root-in-the-desks-name", "The first passkey signs for itself, and the desk says that it did.", store)
    store = _bare("root by desk")
    store.registry.say(store.desk, "passkey_rooted", ADA.key.enrolment(ADA.principal), {"label": "x"})  # type: ignore[attr-defined]
    case("root-by-desk", "The desk's key signs the first passkey.", store)
    for name, about, facts in (
        ("eligible", "The first passkey can be copied, by what the desk says.", {"eligible": True}),
        ("rp", "The host name of the first passkey is not that of its page.", {"rp": "localhost"}),
    ):
        store = _bare(f"root {name}")
        who = bent(ADA, rp="localhost") if name == "rp" else ADA
        root(store, who, facts)
        case(f"root-{name}", about, store)
    small = encode(ORDER_EIGHT).hex()
    for name, text in (
        ("off-curve", off_curve()),
        ("small-order", f"ed25519:{small}"),
        ("mixed-order", f"ed25519:{mixed_order(ADA.key).hex()}"),
        ("not-canonical", "ed25519:" + (2**255 - 19 + 3).to_bytes(32, "little").hex()),
    ):
        store = _bare(f"key {name}")
        root(store, ADA, {"key": text})
        case(f"key-{name}", f"The key of the first passkey is no point of the curve: {name}.", store, "SCHEMA_INVALID")


def _as(who: Agent, other: Agent) -> Passkey:
    """Returns the first one's passkey, whose assertions the other's makes."""
    mine, theirs = who.key, other.key
    assert isinstance(mine, Passkey) and isinstance(theirs, Passkey), "people speak with passkeys"
    return mine.bent(signature=theirs.answered, assertion={"key": theirs.fingerprint})


def _vouched(family: Family) -> None:
    case = _case(family)
    store = _store("added by desk")
    add_passkey(store, AGAIN, store.desk)
    case("added-by-desk", "The desk's key adds a passkey.", store)
    store = _bare("added by itself")
    add_passkey(store, ADA, ADA)
    case("added-by-itself", "A passkey vouches for itself.", store)
    store = _store("added by answerer", BOB)
    add_person(store, "eve")
    add_passkey(store, EVE, BOB)
    case("added-by-answerer", "An answerer vouches for another person's first passkey.", store)
    store = _store("added for nobody")
    add_person(store, "eve", by=operator(ADA))
    remove_person(store, "eve", operator(ADA))
    add_passkey(store, EVE, operator(ADA))
    case("added-for-nobody", "An operator vouches for a passkey of somebody who was removed.", store)
    store = _store("added by auditor", BOB, role="auditor")
    add_person(store, "eve", "auditor", operator(ADA))
    add_passkey(store, EVE, BOB)
    case("added-by-auditor", "An auditor vouches for another auditor's first passkey.", store)
    second = somebody("bob", Passkey("bob again"))
    store = _store("added by operator", BOB)
    add_passkey(store, second, operator(ADA))
    case("added-by-operator", "An operator vouches for somebody who has a passkey to do it with.", store)


def _possessions(family: Family) -> None:
    case = _case(family)
    for name, about, who, facts, claim in (
        ("person", "A new passkey says that it is another person's.", AGAIN, {}, {"person": EVE.principal}),
        ("store", "A new passkey says that it is for another store.", AGAIN, {}, {"store": "5a" * 32}),
    ):
        store = _store(f"possession {name}")
        add_passkey(store, who, ADA, facts, claim)
        case(f"possession-{name}", about, store)
    store = _store("possession in a batch")
    own = possession(store, AGAIN)["leaves"]
    add_passkey(store, bent(AGAIN, batch=[*own, "5a" * 32]), ADA)
    case("possession-batch", "A new passkey is touched for something else, too.", store)
    store = _store("possession of another")
    named = {"key": EVE.key.fingerprint}
    add_passkey(store, AGAIN, ADA, {"possession": possession(store, bent(AGAIN, assertion=named))})
    case("possession-other", "The assertion of a new passkey names another one.", store)


def _checkpoints(family: Family) -> None:
    case = _case(family)
    store = _store("removed, no checkpoint", BOB)
    remove_passkey(store, BOB.key, operator(ADA))
    add_person(store, "eve")
    case("removed-unchecked", "A passkey ended, and the next event is no checkpoint.", store)
    store = _store("gone, no checkpoint", BOB)
    remove_person(store, "bob", operator(ADA))
    add_person(store, "eve")
    checkpoint(store)
    place = len(store.registry.entries) - 2
    about = "A person went with a passkey, and the checkpoint comes one event too late."
    family.fails("gone-checked-late", about, Export(store), "REGISTRY_INVALID", place)
    store = _store("reset, no checkpoint", recovery=True)
    reset(store, AGAIN)
    add_person(store, "bob")
    case("reset-unchecked", "The recovery key ended a passkey, and the next event is no checkpoint.", store)


def _removals(family: Family) -> None:
    case = _case(family)
    store = _store("removed by answerer", BOB)
    add_passkey(store, AGAIN, ADA)
    remove_passkey(store, AGAIN.key, BOB)
    case("removed-by-answerer", "An answerer removes another person's passkey.", store)
    store = _store("removed with the person", BOB)
    remove_person(store, "bob", operator(ADA))
    checkpoint(store)
    remove_passkey(store, BOB.key, operator(ADA))
    case("removed-with-person", "A passkey is removed that ended with its person.", store)
    store = _store("removed by desk")
    add_passkey(store, AGAIN, ADA)
    remove_passkey(store, AGAIN.key, store.desk)
    case("removed-by-desk", "The desk's key removes a passkey.", store)


def _resets(family: Family) -> None:
    case = _case(family)
    store = _store("reset by key", recovery=True)
    reset(store, AGAIN, store.desk.key)
    case("reset-by-key", "The desk's key resets the passkeys, which takes its recovery key.", store)
    for role in ("operator", "person", "holder"):
        store = _store(f"reset as {role}", recovery=True)
        reset(store, AGAIN, role=role)
        case(f"reset-as-{role}", f"The recovery key resets the passkeys in the role {role}.", store)
    store = _store("reset for an answerer", BOB, recovery=True)
    reset(store, somebody("bob", Passkey("bob again")))
    case("reset-answerer", "The recovery key brings in the passkey of an answerer.", store)
    store = _store("reset in her name", recovery=True)
    reset(store, AGAIN, envelope={"actor": ADA.principal})
    case("reset-in-her-name", "The recovery key resets the passkeys, and the desk says that Ada did.", store)
    store = _store("reset by older", recovery=True)
    desk = store.desk
    newer = Agent("desk", "desk", Key("enrolments newer desk"), desk.principal, Key("enrolments newer recovery"))
    store.rotate(desk, newer, desk.key)
    reset(store, AGAIN)
    case("reset-by-older", "The recovery key of an earlier key of the desk resets the passkeys.", store)


def _keys(family: Family) -> None:
    case = _case(family)
    store = _store("known passkey")
    add_passkey(store, ADA, ADA)
    case("known-passkey", "A passkey comes in twice.", store)
    cast = Cast("enrolments bytes", ["agent"])
    twin = Passkey("bytes of a key")
    store = cast.store
    store.register(Agent("twin", "agent", Key("passkey bytes of a key"), ulid("principal twin"), None, ["agent"]))
    add_person(store, "eve", "operator")
    root(store, somebody("eve", twin))
    case("known-key", "A passkey has the bytes of a key.", store)
    store = Store("enrolments bytes of recovery")
    spare = Agent("twin", "agent", Key("x"), ulid("principal twin"), Key("passkey bytes of a key"), ["agent"])
    store.register(spare)
    add_person(store, "eve", "operator")
    root(store, somebody("eve", twin))
    case("known-recovery", "A passkey has the bytes of a recovery key.", store)
    store = _store("revoked like a key")
    store.revoke(ADA)
    case("revoked-as-key", "The desk revokes a passkey like a key.", store)


def _late(family: Family, honest: Family) -> None:
    late: dict[str, Json] = {"finds": ["ROOT_LATE"], "integrity": False}
    cast = Cast("enrolments late", ["agent"])
    add_person(cast.store, "ada", "operator")
    root(cast.store, ADA)
    export = Export(cast.store)
    about = "The first passkey came after an agent's key: perhaps the agent made it."
    honest.holds("root-late", about, export, "pass_with_warnings", **late)
    about = "The same file under the strict profile, where that fails."
    place = len(cast.store.registry.entries) - 1
    family.fails("root-late-strict", about, export, "ROOT_LATE", place, options=["--strict"], integrity=False)
    keys = {"desk": cast.store.desk.key, "agent": cast["agent"].key, "ada": ADA.key}
    pins = [part for name, key in keys.items() for part in ("--pin", f"{name}={key.fingerprint}")]
    about = "The reader knows the late passkey: then it is no agent's."
    honest.holds("root-late-pinned", about, export, options=["--strict", *pins], integrity=False)


def _honest(family: Family) -> None:
    store = _bare("everything", recovery=True)
    root(store, ADA)
    add_person(store, "bob")
    add_passkey(store, BOB, operator(ADA))
    elsewhere = Passkey("bob again", origin="https://demur.example", backed="synced")
    add_passkey(store, somebody("bob", elsewhere), BOB)
    remove_passkey(store, BOB.key, operator(ADA))
    checkpoint(store)
    remove_person(store, "bob", operator(ADA))
    checkpoint(store)
    reset(store, somebody("ada", Passkey("ada at last", "es256")))
    checkpoint(store)
    about = "People and passkeys come and go, one of them for another page, and the recovery key begins anew."
    family.holds("enrolment-lives", about, Export(store))
    store = _store("operator for a while", BOB)
    change_person(store, "bob", "operator", operator(ADA))
    change_person(store, "ada", "answerer", operator(BOB))
    add_person(store, "eve", "operator", operator(BOB))
    about = "An answerer becomes an operator, and takes that from the one before."
    family.holds("enrolment-handed-on", about, Export(store))
    store = _store("auditor's own", BOB, role="auditor")
    add_passkey(store, somebody("bob", elsewhere), BOB)
    remove_passkey(store, BOB.key, somebody("bob", elsewhere))
    checkpoint(store)
    family.holds("enrolment-auditor", "An auditor adds a passkey with the first one, and removes that.", Export(store))
    store = _store("removed at the end", BOB)
    remove_passkey(store, BOB.key, operator(ADA))
    about = "The registry ends with the end of a passkey: the checkpoint is the next event, and there is none yet."
    family.holds("enrolment-unchecked-yet", about, Export(store))
    store = Store("enrolments nothing ended", recovery=True)
    for name in ("ada", "bob"):
        add_person(store, name, "operator")
    remove_person(store, "bob")
    reset(store, ADA)
    add_person(store, "eve")
    about = "Nobody had a passkey: no checkpoint is due after a person goes, nor after a reset, which brings the first."
    family.holds("enrolment-nothing-ended", about, Export(store))
