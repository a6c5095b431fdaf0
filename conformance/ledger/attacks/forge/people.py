"""Stores with people and their passkeys (docs/format.md, 7): the steps of their registry, and what people do with one touch."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from forge.confirmations import Desk
from forge.curve import Key
from forge.encode import Json, canonical, digest, ulid
from forge.stories import Cast
from forge.touch import Passkey
from forge.writer import Agent, Entry, Store


def somebody(name: str, passkey: Passkey, role: str = "person") -> Agent:
    """Returns a person who speaks with a passkey."""
    return Agent(name, role, passkey, ulid(f"person {name}"))


def operator(who: Agent) -> Agent:
    """Returns an operator who speaks as one."""
    return replace(who, role="operator")


def add_person(store: Store, name: str, role: str = "answerer", by: Agent | None = None, **rest: Any) -> Entry:
    """Returns the event that adds a person, by the desk or by somebody else."""
    facts = {"person": ulid(f"person {name}"), "role": role} | rest.pop("facts", {})
    return store.registry.say(by or store.desk, "person_added", facts, {"name": name}, **rest)


def change_person(store: Store, name: str, role: str, by: Agent | None = None) -> Entry:
    """Returns the event that gives a person another role."""
    facts = {"person": ulid(f"person {name}"), "role": role}
    return store.registry.say(by or store.desk, "person_changed", facts, {"name": name})


def remove_person(store: Store, name: str, by: Agent | None = None) -> Entry:
    """Returns the event that removes a person."""
    return store.registry.say(by or store.desk, "person_removed", {"person": ulid(f"person {name}")})


def root(store: Store, who: Agent, facts: Json = None, **rest: Any) -> Entry:
    """Returns the first passkey of a store."""
    said = _passkey(who).enrolment(who.principal) | (facts or {})
    return store.registry.say(who, "passkey_rooted", said, {"label": "first"}, **rest)


def add_passkey(store: Store, who: Agent, by: Agent, facts: Json = None, claim: Json = None) -> Entry:
    """Returns a passkey that somebody vouches for; a claim other than the honest one is what the new passkey signs."""
    said = _passkey(who).enrolment(who.principal) | {"possession": possession(store, who, claim)} | (facts or {})
    return store.registry.say(by, "passkey_added", said, {"label": "another"})


def reset(store: Store, who: Agent, by: Key | None = None, role: str = "desk", **rest: Any) -> Entry:
    """Returns a passkey that comes in by the recovery key, or by another one."""
    recovery = by or store.desk.recovery
    assert recovery is not None, "a reset needs a recovery key"
    desk = Agent("desk", role, recovery, store.desk.principal)
    said = _passkey(who).enrolment(who.principal) | {"possession": possession(store, who)}
    return store.registry.say(desk, "passkey_reset", said, {"label": "after the loss"}, **rest)


def remove_passkey(store: Store, passkey: Key, by: Agent) -> Entry:
    """Returns the end of a passkey."""
    return store.registry.say(by, "passkey_removed", {"key": passkey.fingerprint})


def checkpoint(store: Store) -> Entry:
    """Returns the checkpoint that the desk records after every removal."""
    return store.registry.say(store.desk, "checkpoint_recorded", store.root())


def possession(store: Store, who: Agent, other: Json = None) -> Json:
    """Returns a new passkey's assertion that it is this person's in this store."""
    passkey = _passkey(who)
    claim = {"key": passkey.text, "person": who.principal, "store": store.id} | (other or {})
    return passkey.touch([digest("enrolment", canonical(claim))])


def with_root(ada: Agent, *others: Agent, role: str = "answerer") -> Callable[[Store], None]:
    """Returns the steps after which ada is an operator with the first passkey, and the others have theirs by her."""

    def begin(store: Store) -> None:
        add_person(store, ada.name, "operator")
        root(store, ada)
        for other in others:
            add_person(store, other.name, role)
            add_passkey(store, other, ada)

    return begin


def store_of(label: str, ada: Agent, *others: Agent, recovery: bool = False, role: str = "answerer") -> Store:
    """Returns a store that has people and no agents."""
    store = Store(label, recovery)
    with_root(ada, *others, role=role)(store)
    return store


def desk_of(label: str, ada: Agent, *others: Agent, role: str = "answerer", recovery: bool = False) -> Desk:
    """Returns a piece of work without events in a store with people; its agent's key came in after the first passkey."""
    return Desk(Cast(label, ["agent"], before=with_root(ada, *others, role=role), recovery=recovery), "work", None)


def batch(story: Any, fill: Callable[[Any, Agent], object], who: Agent, count: int) -> list[str]:
    """Tells the steps of a person with one touch for all of them, and returns the leaves.

    What is signed is known once the steps were told to a copy: nothing in a statement depends on another's proof.
    """
    rehearsal = copy.deepcopy(story)
    fill(rehearsal, who)
    told = (rehearsal.trace if hasattr(rehearsal, "trace") else rehearsal.registry).entries[-count:]
    leaves = [digest("passkey", canonical(entry.statement)) for entry in told]
    fill(story, replace(who, key=_passkey(who).bent(batch=leaves)))
    return leaves


def leaf_of(story: Any, step: Callable[[Any, Agent], Entry], who: Agent) -> str:
    """Returns the leaf of what somebody would say next."""
    return digest("passkey", canonical(step(copy.deepcopy(story), who).statement))


def _passkey(who: Agent) -> Passkey:
    assert isinstance(who.key, Passkey), "a person speaks with a passkey"
    return who.key


def bent(who: Agent, **wrong: Any) -> Agent:
    """Returns somebody whose passkey asserts otherwise."""
    return replace(who, key=_passkey(who).bent(**wrong))
