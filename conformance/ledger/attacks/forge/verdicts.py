"""What a verdict may say: files about which a hasty verifier says more than it checked, or less than it found."""

from forge.case import Corpus, Family
from forge.curve import Key
from forge.encode import Json, canonical
from forge.export import Export
from forge.stories import TRIO, Cast, Run, tiny
from forge.writer import Agent, Store


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("verdict")
    _heads(family)
    _later_types(family)
    _registries(family)
    _contents(family)


def _heads(family: Family) -> None:
    export = tiny()
    export.run[2].heads.append(export.signed_head(export.run[:1]))
    about = "A head that the desk signed for an earlier event stands after a later one."
    family.fails("head-moved", about, export.seal_checkpoint(), "HEAD_INVALID")


def _later(label: str) -> Run:
    """Returns a run whose registry has an event of a later version before the run begins."""
    cast = Cast(label, TRIO).gathered()
    cast.store.registry.say(cast.store.desk, "passkey_retired", {}, {"note": "later"})
    return cast.run()


def _later_types(family: Family) -> None:
    """An event that nobody knows keeps the verdict open and excuses nothing else in the file."""
    run = _later("later forged")
    run.abort()
    forged = run.export()
    signature = forged.run[0].envelope["proof"]["ed25519"]
    signature["signature"] = "0" * 128
    about = "After a registry event of a later version a signature is forged."
    family.fails("later-forged", about, forged.repair().seal(), "SIG_INVALID", 0)
    run = _later("later broken")
    run.propose()
    broken = run.export()
    del broken.run[1]
    about = "After a registry event of a later version an event of the run is missing."
    family.fails("later-broken", about, broken.seal(), "SEEN_INVALID", 1)
    run = _later("later registry")
    critic = run.cast["critic"]
    run.cast.store.register(Agent("twin", "critic", critic.key, critic.principal, None, ["critic"]))
    run.abort()
    about = "After a registry event of a later version a registered key is registered again."
    family.fails("later-registry", about, run.export(), "REGISTRY_INVALID", 5)
    run = _later("later revoked")
    run.cast.store.revoke(run.cast["planner"])
    run.propose()
    about = "After a registry event of a later version a revoked key speaks."
    family.fails("later-revoked", about, run.export(), "KEY_REVOKED", 2)
    run = _later("later key")
    stranger = Agent("stranger", "critic", Key("later stranger"), run.cast["critic"].principal)
    run.propose()
    facts: Json = {"conditions": 0, "decision": "approved", "proposal": 2}
    run.say(stranger, "proposal_reviewed", facts, {"conditions": [], "rationale": "fine"})
    about = "A key speaks that came in with a registry event of a later version, or not at all."
    family.holds("later-key", about, run.export(), "not_established")


def _registries(family: Family) -> None:
    store = Store("run first")
    first = store.registry.entries[0]
    statement = first.statement | {"facts": {}, "type": "session_aborted"}
    first.envelope["statement"] = statement
    first.envelope["proof"]["ed25519"]["signature"] = store.desk.key.sign("statement", canonical(statement))
    export = Export(store)
    export.header["store"] = export.registry[0].hash
    about = "The desk opens its registry with an event of a run."
    family.fails("run-event-first", about, export.seal(), "REGISTRY_INVALID", 0)


def _contents(family: Family) -> None:
    run = Cast("large", TRIO).run()
    run.say("critic", "consent_asked", {}, {"text": "x" * (1 << 20)})
    about = "An author commits to content of more than 1 MiB."
    family.fails("content-too-long", about, run.export(), "CONTENT_INVALID", 1)

