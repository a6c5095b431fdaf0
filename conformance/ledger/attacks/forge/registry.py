"""Registries that break their own rules (docs/format.md, 7). Most files are exports of the registry itself."""

from typing import Any

from forge.case import Corpus, Family
from forge.curve import NEUTRAL, ORDER_EIGHT, CrookedKey, Key, P, encode, mixed_order, on_curve
from forge.encode import seeded, ulid
from forge.export import Export
from forge.stories import TRIO, Cast, mini
from forge.writer import Agent, Store, agent, public, successor


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("registry")
    _registrations(family)
    _crooked(family)
    _rotations(family)
    _retirements(family)
    _desk_only(family)
    _openings(family)
    _frames(family)
    _gaps(family)


def _registrations(family: Family) -> None:
    def case(name: str, about: str, code: str = "REGISTRY_INVALID", newcomer: Agent | None = None, **rest: Any) -> None:
        cast = Cast("registrations", ["planner"], recovery=True)
        cast.store.register(newcomer or agent("registrations", "critic"), **rest)
        family.fails(name, about, Export(cast.store), code, 2)

    planner = agent("registrations", "planner", recovery=True)
    critic = agent("registrations", "critic")
    case(
        "key-twice",
        "A registered key is registered again for somebody else.",
        newcomer=Agent("critic", "critic", planner.key, critic.principal, None, ["critic"]),
    )
    case(
        "key-is-recovery",
        "The planner's recovery key is registered as a key.",
        facts={"key": public(planner.recovery)},
        newcomer=Agent("critic", "critic", planner.recovery or planner.key, critic.principal, None, ["critic"]),
    )
    case(
        "principal-desk",
        "An agent registers its key under the desk's principal, to sign heads with it.",
        newcomer=Agent("critic", "critic", critic.key, agent("registrations", "desk").principal, None, ["critic"]),
    )
    case("recovery-is-key", "A key is its own recovery key.", facts={"recovery": critic.key.public})
    case("recovery-taken", "The planner's key is named as recovery key.", facts={"recovery": planner.key.public})
    case("roles-unordered", "The roles do not ascend.", facts={"roles": ["critic", "planner"]})
    case("roles-twice", "A role stands twice.", facts={"roles": ["critic", "critic"]})
    case("roles-desk", "An agent is registered as desk.", facts={"roles": ["desk"]})
    case("roles-holder", "An agent is registered as holder.", facts={"roles": ["critic", "holder"]})
    case("roles-none", "A key is registered for no role.", "SCHEMA_INVALID", facts={"roles": []})
    case("roles-unknown", "A key is registered for a role that is not.", "SCHEMA_INVALID", facts={"roles": ["admin"]})
    case(
        "no-possession",
        "The desk registers a key it does not hold and signs with another.",
        facts={"key": Key("somebody's").public},
    )
    case("actor-other", "A registration is booked under another principal.", envelope={"actor": planner.principal})
    case("role-planner", "A registration is signed in the role of a planner.", statement={"role": "planner"})
    cast = Cast("registrations", ["planner"])
    entry = cast.store.register(critic)
    entry.statement["facts"]["roles"] = ["planner", "critic"]
    about = "The desk gives a key one more role than its holder signed for."
    family.fails("roles-added", about, Export(cast.store), "SIG_INVALID", 2)
    entry.statement["facts"]["roles"] = ["critic"]
    entry.statement["facts"]["recovery"] = Key("desk's own spare").public
    about = "The desk names a recovery key of its own for somebody else's key."
    family.fails("recovery-added", about, Export(cast.store), "SIG_INVALID", 2)


def _crooked(family: Family) -> None:
    planner = Key("crooked")
    off_curve = next(
        seeded(f"point {n}")[:31] + b"\0" for n in range(99) if not _decodes(seeded(f"point {n}")[:31] + b"\0")
    )
    for name, what, raw, small in (
        ("neutral", "the neutral point, for which anybody can sign", encode(NEUTRAL), True),
        ("order-eight", "a point of order eight, for which anybody can sign", encode(ORDER_EIGHT), True),
        ("mixed-order", "a point of mixed order", mixed_order(planner), False),
        ("not-canonical", "the neutral point in an encoding beyond the prime", (P + 1).to_bytes(32, "little"), True),
        ("off-curve", "bytes that are no point", off_curve, True),
    ):
        key = CrookedKey("crooked", raw, small)
        for field in ("key", "recovery"):
            cast = Cast("crooked", ["planner"])
            newcomer = agent("crooked", "critic")
            if field == "key":
                newcomer.key = key
            else:
                newcomer.recovery = key
            cast.store.register(newcomer)
            about = f"Somebody registers as {field} {what}."
            family.fails(f"{field}-{name}", about, Export(cast.store), "SCHEMA_INVALID", 2)


def _rotations(family: Family) -> None:
    def case(
        name: str, about: str, by: Key | None = None, after: str = "", code: str = "REGISTRY_INVALID", **rest: Any
    ) -> None:
        cast = Cast("rotations", ["planner", "critic"], recovery=True).gathered()
        old = cast["critic"]
        new = rest.pop("new", successor(old, "rotations/critic/2"))
        if after == "rotated":
            cast.store.rotate(old, successor(old, "rotations/critic/3"), old.key)
        if after == "revoked":
            cast.store.revoke(old)
        cast.store.rotate(old, new, by or old.key, **rest)
        family.fails(name, about, Export(cast.store), code, 4 if after else 3)

    cast = Cast("rotations", ["planner", "critic"], recovery=True).gathered()
    old, desk, planner = cast["critic"], cast.store.desk, cast["planner"]
    case("rotation-no-possession", "The old key signs possession in the new key's place.", possession=old.key)
    case("rotation-stranger", "A stranger rotates the critic's key to its own.", Key("stranger"))
    case("rotation-by-desk", "The desk rotates the critic's key without the critic.", desk.key)
    case("rotation-by-other", "The planner rotates the critic's key.", planner.key)
    case("rotation-other-recovery", "The planner's recovery key rotates the critic's key.", planner.recovery)
    case("rotation-by-new", "The new key itself signs the rotation.", Key("rotations/critic/2"))
    case("rotation-twice", "A key that is rotated already rotates again.", after="rotated")
    case("rotation-revoked", "A revoked key rotates itself.", after="revoked")
    case(
        "rotation-to-known",
        "The critic's key is rotated to the planner's.",
        new=Agent("critic", "critic", planner.key, old.principal),
    )
    case("rotation-role", "A rotation of an agent's key is signed in the role of the desk.", statement={"role": "desk"})
    case("rotation-actor", "A rotation is booked under another principal.", envelope={"actor": planner.principal})
    case(
        "rotation-signature",
        "A rotation carries the signature of another statement.",
        code="SIG_INVALID",
        envelope={
            "proof": {
                "ed25519": {
                    "key": old.key.fingerprint,
                    "signature": cast.store.registry.entries[2].envelope["proof"]["ed25519"]["signature"],
                }
            }
        },
    )
    moved = cast.store.rotate(old, successor(old, "rotations/critic/2"), old.key)
    other = Cast("rotations", ["planner", "critic"], recovery=True).gathered()
    facts = moved.statement["facts"] | {"recovery": None}
    signer = Agent("critic", "holder", old.key, old.principal)
    other.store.registry.say(signer, "key_rotated", facts, statement={"command": ulid("another command")})
    about = "A proof of possession is taken from a rotation with another command."
    family.fails("rotation-possession-replayed", about, Export(other.store), "REGISTRY_INVALID", 3)
    cast = Cast("rotations", ["planner", "critic"]).gathered()
    signer = Agent("critic", "holder", cast["critic"].key, cast["critic"].principal)
    facts = {"key": Key("new").public, "old": Key("nobody").fingerprint, "recovery": None}
    cast.store.registry.say(signer, "key_rotated", facts, possession=Key("new"))
    family.fails(
        "rotation-unknown", "A key that was never registered is rotated.", Export(cast.store), "REGISTRY_INVALID", 3
    )


def _retirements(family: Family) -> None:
    cast = Cast("retirements", ["planner", "critic"]).gathered()
    cast.store.retire(cast["critic"], cast.store.registry.entries[2])
    about = "A key is retired that was not rotated."
    family.fails("retired-not-rotated", about, Export(cast.store), "REGISTRY_INVALID", 3)
    cast = Cast("retirements", ["planner", "critic"]).gathered()
    old = cast["critic"]
    cast.store.rotate(old, successor(old, "retirements/2"), old.key)
    cast.store.retire(old, cast.store.registry.entries[1])
    about = "A retirement cites an event that is no rotation of the key."
    family.fails("retired-other-rotation", about, Export(cast.store), "REGISTRY_INVALID", 4)
    cast = Cast("retirements", ["planner", "critic"]).gathered()
    rotation = cast.store.rotate(old, successor(old, "retirements/2"), old.key)
    cast.store.retire(old, rotation, seen=2)
    about = "A retirement cites a rotation that its author says it had not seen."
    family.fails("retired-unseen", about, Export(cast.store), "CITES_UNSEEN", 4)
    cast = Cast("retirements of the desk", ["planner"])
    desk = cast.store.desk
    newer = successor(desk, "retirements of the desk")
    rotation = cast.store.rotate(desk, newer, desk.key)
    cast.store.revoke(newer)
    cast.store.retire(desk, rotation)
    about = "The desk's old key is retired after the new one was revoked: nobody is left to sign for the desk."
    family.fails("retired-last-desk", about, Export(cast.store), "REGISTRY_INVALID", 4)
    cast = Cast("retirements", ["planner"])
    cast.store.revoke(cast.store.desk)
    family.fails("revoked-only-desk", "The desk revokes its only key.", Export(cast.store), "REGISTRY_INVALID", 2)
    cast = Cast("retirements", ["planner"])
    cast.store.revoke(agent("retirements", "critic", name="nobody"))
    family.fails(
        "revoked-unknown",
        "The desk revokes a key that was never registered.",
        Export(cast.store),
        "REGISTRY_INVALID",
        2,
    )


def _desk_only(family: Family) -> None:
    for kind in ("key_revoked", "checkpoint_recorded", "store_restored"):
        cast = Cast("desk only", ["planner", "critic"]).gathered()
        planner = Agent("planner", "desk", cast["planner"].key, cast["planner"].principal)
        if kind == "key_revoked":
            cast.store.revoke(cast["critic"], by=planner)
        elif kind == "checkpoint_recorded":
            cast.store.registry.say(planner, kind, cast.store.root())
        else:
            cast.store.epoch = 2
            cast.store.registry.say(planner, kind, {"epoch": 2}, {"note": "mine now"})
        about = f"The planner signs a {kind} in the role of the desk."
        family.fails(f"by-planner-{kind.replace('_', '-')}", about, Export(cast.store), "REGISTRY_INVALID", 3)
    cast = Cast("desk only", ["planner", "critic"]).gathered()
    old, new = cast.store.desk, successor(cast.store.desk, "desk only/desk/2")
    rotation = cast.store.rotate(old, new, old.key)
    cast.store.desk = new
    cast.store.retire(old, rotation)
    cast.store.revoke(cast["critic"], by=old)
    family.fails("by-retired-desk", "The desk's retired key revokes a key.", Export(cast.store), "REGISTRY_INVALID", 5)
    for name, about, epoch in (
        ("epoch-skipped", "A restoration goes from epoch 1 to epoch 3.", 3),
        ("epoch-huge", "A restoration goes from epoch 1 to the largest number there is.", 2**53 - 1),
    ):
        cast = Cast("desk only", ["planner"])
        cast.store.restore(epoch)
        family.fails(name, about, Export(cast.store), "REGISTRY_INVALID", 2)
    cast = Cast("desk only", ["planner"])
    cast.store.restore()
    cast.store.restore(2)
    family.fails(
        "epoch-repeated", "A second restoration has the epoch of the first.", Export(cast.store), "REGISTRY_INVALID", 3
    )


def _openings(family: Family) -> None:
    cast = Cast("openings", ["planner"])
    store = cast.store
    facts = {"desk": store.desk.principal, "key": Key("second desk").public, "recovery": None}
    usurper = Agent("desk", "desk", Key("second desk"), store.desk.principal)
    store.registry.say(usurper, "store_created", facts, {"name": "a store"})
    about = "A second store_created brings in another desk."
    family.fails("created-twice", about, Export(store), "REGISTRY_INVALID", 2)
    cast = Cast("openings", ["planner"])
    cast.store.registry.record(
        "command_refused",
        {"code": "X", "command": ulid("x"), "principal": cast["planner"].principal},
        {"field": None, "message": "no"},
    )
    family.fails("run-event", "A run event stands in the registry.", Export(cast.store), "ROLE_POLICY_VIOLATION", 2)
    for name, about, change in (
        ("created-actor", "A store is created under another principal than the desk's.", {"actor": ulid("somebody")}),
        ("created-epoch", "A store begins in epoch 2.", {"epoch": 2}),
    ):
        store = Store("openings")
        store.registry.entries[0].envelope.update(change)
        store.id = store.registry.entries[0].hash
        family.fails(name, about, Export(store), "REGISTRY_INVALID", 0)
    store = Store("openings")
    first = store.registry.entries[0]
    first.envelope["proof"]["ed25519"]["key"] = Key("other").fingerprint
    store.id = first.hash
    family.fails(
        "created-other-key",
        "A store is created with another key than the one it names.",
        Export(store),
        "REGISTRY_INVALID",
        0,
    )


def _frames(family: Family) -> None:
    for name, about, change in (
        ("pin-older", "A registry event pins an older one than its predecessor.", "older"),
        ("pin-hash", "A registry event pins a hash that is not its predecessor's.", "hash"),
        ("epoch-other", "A registry event is written in another epoch.", "epoch"),
    ):
        export = Export(Cast("frames", ["planner", "critic"]).gathered().store)
        last = export.registry[2].envelope
        if change == "older":
            last["registry"] = export.registry[0].position
        elif change == "hash":
            last["registry"] = {"hash": "0" * 64, "sequence": 1}
        else:
            last["epoch"] = 2
        family.fails(name, about, export.seal(), "REGISTRY_INVALID", 2)


def _gaps(family: Family) -> None:
    export = Export(Cast("gaps", TRIO).gathered().store)
    del export.registry[2]
    about = "The desk drops a registration from the middle of the registry and repairs the chain."
    family.fails("event-dropped", about, export.repair().seal(), "STATEMENT_MISMATCH", 2)
    export = mini()
    lines = export.body()
    lines[2] = b'{"event":{"content":null,"disclosure":"withheld","event":null,"salt":null}}\n'
    about = "The desk withholds a whole registry event."
    family.fails("event-withheld", about, export.edited(lambda _: lines), "SCHEMA_INVALID", 1)
    export = mini()
    export.registry.pop()
    about = "The desk drops the last registration; the run pins it."
    family.fails("last-dropped", about, export.seal(), "REGISTRY_PIN", 0)


def _decodes(raw: bytes) -> bool:
    return on_curve(int.from_bytes(raw, "little") % P) is not None
