"""A writer of stores, traces and exports that obeys whoever calls it (docs/format.md, 3 to 9).

It refuses nothing: every field can be overridden, before the author signs (`statement`) or after (`envelope`).
"""

import base64
from dataclasses import dataclass, field
from typing import Any

from forge.curve import Key
from forge.encode import Json, canonical, commitment, digest, moment, seeded, tree_head, tree_path, ulid


ATTRIBUTED = [
    "answer_revoked",
    "answer_superseded",
    "confirmation_given",
    "confirmation_refused",
    "gap_accepted",
    "question_answered",
    "plan_withdrawn",
    "question_declined",
    "question_passed_on",
    "session_aborted",
    "session_opened",
]


def way(door: str = "socket", root: str = "same_user", **rest: Json) -> dict[str, Json]:
    """Returns an attribution: the way that an act of a person came."""
    nothing: dict[str, Json] = {"client": None, "own": False, "person": None, "session": None, "token": None}
    return nothing | {"door": door, "root": root} | rest


def signed_in(root: str = "link", **rest: Json) -> dict[str, Json]:
    """Returns the way of somebody who signed in: by a link from an operator, or with a passkey."""
    session = {"person": ulid("person ada"), "session": digest("envelope", b"a session")}
    return way("page", root) | session | rest


def attributed(kind: str, facts: dict[str, Json], role: str | None) -> dict[str, Json]:
    """Returns facts with the way that a recorded act came, and null beside a key, unless they say something already."""
    if kind == "answer_superseded" and isinstance(facts.get("answer"), dict):
        return facts | {"answer": attributed("", facts["answer"], role)}
    if kind and kind not in ATTRIBUTED:
        return dict(facts)
    sure = facts.get("assurance") in ("signed_in", "passkey")
    usual = signed_in() if sure else way()
    return {"attribution": usual if role in ("person", "operator") else None} | facts


@dataclass
class Agent:
    """Somebody with a key and a part to play."""

    name: str
    role: str
    key: Key
    principal: str
    recovery: Key | None = None
    roles: list[str] = field(default_factory=list)


@dataclass
class Entry:
    """An event with what travels beside it."""

    envelope: dict[str, Json]
    content: Json = None
    salt: str | None = None
    disclosure: str = "absent"
    artifact: dict[str, Json] | None = None
    pin: int = 0
    heads: list[Json] = field(default_factory=list)
    # Envelope fields that a repair leaves as they are.
    keep: set[str] = field(default_factory=set)

    @property
    def hash(self) -> str:
        """The event hash."""
        return digest("envelope", canonical(self.envelope))

    @property
    def position(self) -> dict[str, Json]:
        """The event by number and hash."""
        return {"hash": self.hash, "sequence": self.envelope["sequence"]}

    @property
    def statement(self) -> dict[str, Json]:
        """The statement, which must be there."""
        statement: dict[str, Json] = self.envelope["statement"]
        return statement

    def lines(self) -> list[Json]:
        """Returns the event line and what follows it."""
        body = {"content": self.content, "disclosure": self.disclosure, "event": self.envelope, "salt": self.salt}
        artifact = [] if self.artifact is None else [{"artifact": self.artifact}]
        return [{"event": body}, *artifact, *({"head": head} for head in self.heads)]

    def hide(self, disclosure: str) -> None:
        """Takes content and salt away."""
        self.content, self.salt, self.disclosure = None, None, disclosure

    def hide_artifact(self, disclosure: str) -> None:
        """Takes the artifact's bytes and salt away."""
        assert self.artifact is not None
        self.artifact.update(bytes=None, salt=None, disclosure=disclosure)


class Trace:
    """A trace that a store is writing."""

    def __init__(self, store: "Store", name: str) -> None:
        self.store = store
        self.label = f"{store.label}/{name}"
        self.id = ulid("trace " + self.label)
        self.entries: list[Entry] = []

    def say(
        self,
        agent: Agent,
        kind: str,
        facts: dict[str, Json],
        content: Json = None,
        *,
        seen: int | None = -1,
        artifact: bytes | None = None,
        not_after: int | None = None,
        statement: dict[str, Json] | None = None,
        possession: Key | None = None,
        **rest: Any,
    ) -> Entry:
        """Returns a new event that carries the agent's statement; `seen` is an index, or null for nothing."""
        serial = f"{self.label} {len(self.entries)} {kind} {agent.name}"
        at = self.store.now + 10
        known = self.entries[seen].position if self.entries and seen is not None else None
        said: dict[str, Json] = {
            "command": ulid("command " + serial),
            "content": None,
            "facts": attributed(kind, facts, None),
            "not_after": moment(at + 290_000 if not_after is None else not_after),
            "role": agent.role,
            "seen": known,
            "store": self.store.id,
            "trace": self.id,
            "type": kind,
        }
        salt = seeded("salt " + serial)
        if artifact is not None:
            bare = seeded("artifact salt " + serial)
            said["facts"]["commitment"] = commitment("artifact", bare, artifact)
        if content is not None:
            said["content"] = commitment("content", salt, canonical(content))
        said |= statement or {}
        if possession is not None:
            said["facts"]["possession"] = self._possession(said, possession)
        entry = self._append(agent.principal, said["content"], agent.key.prove(canonical(said)), said, None, content, salt, **rest)
        if artifact is not None:
            encoded = base64.b64encode(artifact).decode()
            number = entry.envelope["sequence"]
            entry.artifact = {"bytes": encoded, "disclosure": "disclosed", "event": number, "salt": bare.hex()}
        return entry

    def record(
        self,
        kind: str,
        facts: dict[str, Json],
        content: Json,
        *,
        role: str = "desk",
        cause: int | None = None,
        **rest: Any,
    ) -> Entry:
        """Returns a new event that is the desk's word."""
        salt = seeded(f"salt {self.label} {len(self.entries)} {kind} record")
        facts = attributed(kind, facts, role)
        record = {"cause": cause, "facts": facts, "role": role, "type": kind}
        sealed = None if content is None else commitment("content", salt, canonical(content))
        return self._append(self.store.desk.principal, sealed, "none", None, record, content, salt, **rest)

    def place(self, entry: Entry, **rest: Any) -> Entry:
        """Returns a new event around a statement that was signed elsewhere, with its content."""
        old = entry.envelope
        salt = bytes.fromhex(entry.salt or "")
        new = self._append(
            old["actor"], old["content"], old["proof"], old["statement"], None, entry.content, salt, **rest
        )
        new.artifact = None if entry.artifact is None else entry.artifact | {"event": new.envelope["sequence"]}
        return new

    def _possession(self, said: dict[str, Json], key: Key) -> str:
        facts = said["facts"]
        document = {"command": said["command"], "key": facts["key"], "old": facts["old"], "store": said["store"]}
        return key.sign("possession", canonical(document))

    def _append(
        self,
        actor: str,
        sealed: str | None,
        proof: Json,
        statement: Json,
        record: Json,
        content: Json,
        salt: bytes,
        *,
        at: int | None = None,
        pin: int | None = None,
        epoch: int | None = None,
        envelope: dict[str, Json] | None = None,
    ) -> Entry:
        store, registry = self.store, self.store.registry.entries
        store.now = store.now + 10 if at is None else at
        pinned = len(registry) - 1 if pin is None else pin
        fields = {
            "actor": actor,
            "content": sealed,
            "epoch": store.epoch if epoch is None else epoch,
            "format": 1,
            "previous": self.entries[-1].hash if self.entries else None,
            "proof": proof,
            "record": record,
            "registry": registry[pinned].position if registry else None,
            "sequence": len(self.entries),
            "statement": statement,
            "store": store.id,
            "time": moment(store.now),
            "trace": self.id,
        }
        entry = Entry(fields | (envelope or {}), pin=pinned)
        if content is not None:
            entry.content, entry.salt, entry.disclosure = content, salt.hex(), "disclosed"
        self.entries.append(entry)
        return entry


class Store:
    """A store: a desk, its registry and its runs."""

    def __init__(self, label: str, recovery: bool = False, keys: str | None = None) -> None:
        self.label = label
        self.id: str | None = None
        self.epoch = 1
        self.now = -10
        self.desk = agent(label, "desk", recovery=recovery, keys=keys)
        self.registry = Trace(self, "registry")
        self.traces: list[Trace] = [self.registry]
        # The fingerprints of all keys that came in.
        self.known = {self.desk.key.fingerprint}
        facts = {"desk": self.desk.principal, "key": self.desk.key.public, "recovery": public(self.desk.recovery)}
        self.id = self.registry.say(self.desk, "store_created", facts, {"name": "a store"}).hash

    def register(self, newcomer: Agent, facts: dict[str, Json] | None = None, **rest: Any) -> Entry:
        """Returns the registration of a key, signed with that key."""
        said = {
            "key": newcomer.key.public,
            "principal": newcomer.principal,
            "recovery": public(newcomer.recovery),
            "roles": newcomer.roles,
        }
        holder = as_holder(newcomer)
        self.known.add(newcomer.key.fingerprint)
        return self.registry.say(holder, "key_registered", said | (facts or {}), {"name": newcomer.name}, **rest)

    def rotate(self, old: Agent, new: Agent, by: Key, possession: Key | None = None, **rest: Any) -> Entry:
        """Returns the rotation of a key to another, signed by the given key."""
        facts = {"key": new.key.public, "old": old.key.fingerprint, "recovery": public(new.recovery)}
        self.known.add(new.key.fingerprint)
        signer = Agent(old.name, "desk" if old.role == "desk" else "holder", by, old.principal)
        return self.registry.say(signer, "key_rotated", facts, possession=possession or new.key, **rest)

    def retire(self, old: Agent, rotation: Entry, **rest: Any) -> Entry:
        """Returns the end of a rotation's overlap."""
        facts = {"key": old.key.fingerprint, "rotation": rotation.envelope["sequence"]}
        return self.registry.say(self.desk, "key_retired", facts, **rest)

    def revoke(self, old: Agent, by: Agent | None = None, **rest: Any) -> Entry:
        """Returns the revocation of a key with the root over all traces."""
        facts = {"key": old.key.fingerprint, "reason": "compromised"} | self.root()
        return self.registry.say(by or self.desk, "key_revoked", facts, rest.pop("content", {"note": "stolen"}), **rest)

    def restore(self, epoch: int | None = None, **rest: Any) -> Entry:
        """Returns the restoration from a backup; a new epoch begins."""
        self.epoch = self.epoch + 1 if epoch is None else epoch
        return self.registry.say(self.desk, "store_restored", {"epoch": self.epoch}, {"note": "from a backup"}, **rest)

    def run(self, name: str) -> Trace:
        """Returns a new empty run."""
        trace = Trace(self, name)
        self.traces.append(trace)
        return trace

    def leaves(self) -> list[dict[str, Json]]:
        """Returns the leaves of the tree over all traces that have an event."""
        traces = sorted((trace for trace in self.traces if trace.entries), key=lambda trace: trace.id)
        return [{"head": t.entries[-1].hash, "length": len(t.entries), "trace": t.id} for t in traces]

    def root(self) -> dict[str, Json]:
        """Returns the facts of a root over all traces as they are now."""
        leaves = [canonical(leaf) for leaf in self.leaves()]
        return {"root": tree_head(leaves), "traces": len(leaves)}

    def inclusion(self, trace: Trace, registry: int) -> dict[str, Json]:
        """Returns the proof that the trace stands under a root made right now for the given registry event."""
        leaves = self.leaves()
        index = next(i for i, leaf in enumerate(leaves) if leaf["trace"] == trace.id)
        path = tree_path(index, [canonical(leaf) for leaf in leaves])
        return {"index": index, "leaf": leaves[index], "path": path, "registry": registry}


def agent(
    label: str,
    role: str,
    *,
    name: str | None = None,
    recovery: bool = False,
    roles: list[str] | None = None,
    keys: str | None = None,
) -> Agent:
    """Returns an agent whose principal depends on its store and name, and whose key may be of another making."""
    name, keys = name or role, keys or label
    spare = Key(f"{keys}/{name}/recovery") if recovery else None
    return Agent(name, role, Key(f"{keys}/{name}"), ulid(f"principal {label}/{name}"), spare, roles or [role])


def successor(old: Agent, label: str, recovery: bool = False) -> Agent:
    """Returns the agent with another key."""
    spare = Key(label + "/recovery") if recovery else None
    return Agent(old.name, old.role, Key(label), old.principal, spare, old.roles)


def as_holder(agent: Agent) -> Agent:
    """Returns the agent speaking about its key."""
    return Agent(agent.name, "holder", agent.key, agent.principal)


def public(key: Key | None) -> str | None:
    """Returns the public key in hex, or null."""
    return None if key is None else key.public
