"""Keys that speak where they may not: rewritten histories, wrong roles, revoked, retired, early and made-up keys."""

from forge.case import Corpus, Family
from forge.curve import Key
from forge.export import Export
from forge.stories import TRIO, Cast, Run, tiny
from forge.writer import Agent, agent, as_holder, successor


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("keys")
    _rewrites(family)
    _roles(family)
    _revoked(family)
    _rotated(family)
    _pins(family)
    _epochs(family)
    _desk_keys(family)


def _rewrites(family: Family) -> None:
    run = Cast("tiny", TRIO, keys="attacker").run()
    run.propose()
    run.review(2, "rejected")
    known = tiny()
    about = "Somebody makes the whole history again with new keys; the file alone cannot show it."
    family.holds("rewrite", about, run.export(), "pass_with_warnings", integrity=False)
    about = "A history is made again with new keys, but the reader knows the desk's key."
    family.fails(
        "rewrite-pin", about, run.export(), "PIN_MISMATCH", options=["--pin", f"desk={known.desk.key.fingerprint}"]
    )
    about = "A history is made again with new keys, but the critic kept a receipt."
    family.fails("rewrite-receipt", about, run.export(), "RECEIPT_MISMATCH", receipt=known.receipt(3))
    about = "A history is made again with new keys, but the reader noted a head."
    family.fails(
        "rewrite-against", about, run.export(), "AGAINST_MISMATCH", options=["--against", f"3:{known.run[3].hash}"]
    )


def _roles(family: Family) -> None:
    run = Cast("made up", TRIO).run()
    run.propose()
    double = successor(run.cast["critic"], "made up/critic/2")
    run.cast.store.register(double)
    run.review(2, who=double)
    about = "The desk registers a key of its own as the critic's and approves: by the rules the desk's word."
    family.holds("manufactured-author", about, run.export(), "pass_with_warnings", integrity=False)
    run = _proposed("wrong role")
    executor = run.cast["executor"]
    run.review(2, who=Agent("executor", "critic", executor.key, executor.principal))
    family.fails("wrong-role", "The executor's key signs an approval as critic.", run.export(), "KEY_ROLE_MISMATCH", 3)
    run = _proposed("wrong role")
    executor = run.cast["executor"]
    run.review(2, who=Agent("executor", "critic", executor.key, run.cast["critic"].principal))
    about = "The executor's key signs an approval as critic, and the desk names the critic as actor."
    family.fails("wrong-role-actor", about, run.export(), "KEY_ROLE_MISMATCH", 3)
    run = _proposed("wrong actor")
    critic = run.cast["critic"]
    run.review(2, who=Agent("critic", "critic", critic.key, run.cast["planner"].principal))
    about = "The desk books the critic's approval under the planner's principal."
    family.fails("wrong-actor", about, run.export(), "ACTOR_MISMATCH", 3)
    run = _proposed("desk speaks")
    desk = run.cast.store.desk
    run.review(2, who=Agent("desk", "critic", desk.key, run.cast["critic"].principal))
    family.fails(
        "desk-as-critic", "The desk's own key signs an approval as critic.", run.export(), "KEY_ROLE_MISMATCH", 3
    )
    run = _proposed("holder speaks")
    run.review(2, who=as_holder(run.cast["critic"]))
    family.fails(
        "holder-role", "The critic signs an approval in the role of a holder.", run.export(), "KEY_ROLE_MISMATCH", 3
    )
    run = Cast("recovery speaks", TRIO, recovery=True).run()
    run.propose()
    critic = run.cast["critic"]
    assert critic.recovery is not None
    run.review(2, who=Agent("critic", "critic", critic.recovery, critic.principal))
    family.fails("recovery-speaks", "The critic's recovery key signs an approval.", run.export(), "KEY_UNKNOWN", 3)


def _revoked(family: Family) -> None:
    run = _proposed("revoked")
    run.cast.store.revoke(run.cast["critic"])
    run.review(2)
    family.fails("revoked-speaks", "A revoked key signs an approval.", run.export(), "KEY_REVOKED", 3)
    run = _proposed("revoked")
    proof = run.cast.store.inclusion(run.trace, 3)
    run.cast.store.revoke(run.cast["critic"])
    run.review(2, pin=2)
    about = "The desk lets a revoked key speak by pinning the registry before the revocation."
    family.holds("revoked-backdated", about, run.export(), "pass_with_warnings")
    about = "The same with a proof of what the run held at the revocation: the approval is not under it."
    family.holds("revoked-backdated-proven", about, run.export(inclusions=[proof]), "pass_with_warnings")
    run = _proposed("revoked")
    run.cast.store.revoke(run.cast["critic"])
    run.refuse()
    run.review(2, pin=2)
    about = "The desk pins the revocation once, then goes back behind it for a revoked key."
    family.fails("revoked-pin-back", about, run.export(), "REGISTRY_PIN", 4)
    run = _proposed("revoked")
    run.cast.store.revoke(run.cast["critic"])
    run.refuse()
    export = run.export()
    export.registry.pop()
    about = "The desk drops the revocation from the registry, but an event pins it."
    family.fails("revocation-dropped", about, export.seal(), "REGISTRY_PIN", 3)


def _rotated(family: Family) -> None:
    run = _proposed("rotated")
    old = run.cast["critic"]
    rotation = run.cast.store.rotate(old, successor(old, "rotated critic"), old.key)
    run.cast.store.retire(old, rotation)
    run.review(2)
    family.fails("retired-speaks", "A rotated and retired key signs an approval.", run.export(), "KEY_RETIRED", 3)
    run = _proposed("rotated")
    new = successor(old, "rotated critic")
    run.cast.store.rotate(old, new, old.key)
    run.review(2, who=new, pin=2)
    about = "A new key speaks at a registry position before its rotation."
    family.fails("rotation-early", about, run.export(), "KEY_UNKNOWN", 3)


def _pins(family: Family) -> None:
    run = _proposed("early")
    late = agent("early", "critic", name="late")
    late.principal = run.cast["critic"].principal
    run.cast.store.register(late)
    run.review(2, who=late, pin=2)
    family.fails(
        "before-registration",
        "A key speaks at a registry position before its registration.",
        run.export(),
        "KEY_UNKNOWN",
        3,
    )
    run = Cast("early", TRIO).run("first")
    export = run.export()
    export.run[0].pin = 0
    about = "The desk pins the first event to a registry that did not know its author yet."
    family.fails("first-before-registration", about, export.repair().seal(), "KEY_UNKNOWN", 0)
    export = tiny()
    other = Cast("another store", TRIO).store.registry.entries[1].position
    export.run[3].envelope["registry"] = other
    about = "The desk pins an event of another store's registry."
    family.fails("pin-elsewhere", about, export.seal(), "REGISTRY_PIN", 3)
    export = tiny()
    export.run[3].envelope["registry"] = export.run[2].position
    about = "The desk pins an event of the run instead of the registry."
    family.fails("pin-to-run", about, export.seal(), "REGISTRY_PIN", 3)


def _epochs(family: Family) -> None:
    run = _proposed("epochs")
    run.cast.store.restore()
    run.review(2, epoch=1)
    family.fails(
        "epoch-rollback", "The desk goes on in epoch 1 after a restoration.", run.export(), "EPOCH_MISMATCH", 3
    )
    run = _proposed("epochs")
    run.cast.store.restore()
    run.review(2, pin=2)
    about = "The desk writes epoch 2 and pins the registry before the restoration."
    family.fails("epoch-early", about, run.export(), "EPOCH_MISMATCH", 3)
    run = _proposed("epochs")
    run.cast.store.restore()
    run.review(2, pin=2, epoch=1)
    about = "The desk goes on as if there had been no restoration; the pins do not go back, so the file is consistent."
    family.holds("epoch-ignored", about, run.export(), "pass_with_warnings", integrity=False)
    run = _proposed("epochs")
    run.cast.store.restore()
    export = run.export()
    export.heads[1] = export.signed_head(export.run, epoch=1)
    about = "The desk signs a head of epoch 1 at a registry position of epoch 2."
    family.fails("epoch-head", about, export.seal_checkpoint(), "HEAD_INVALID")


def _desk_keys(family: Family) -> None:
    cast = Cast("desk rotated", TRIO)
    run = cast.run()
    run.propose()
    before = cast.store.registry.entries[-1].position
    old, new = cast.store.desk, successor(cast.store.desk, "desk rotated/desk/2")
    rotation = cast.store.rotate(old, new, old.key)
    overlap = run.export()
    about = "The old key of the desk signs heads and checkpoint in the overlap of its rotation."
    family.holds("desk-overlap", about, overlap, "pass_with_warnings", integrity=False)
    early = overlap.copy()
    early.heads[1] = early.signed_head(early.run, new.key, registry=before)
    about = "The desk's new key signs a head at a registry position before its rotation."
    family.fails("desk-head-early", about, early.seal_checkpoint(new.key), "HEAD_INVALID")
    cast.store.retire(old, rotation)
    cast.store.desk = new
    about = "The desk's retired key signs the heads."
    family.fails("desk-head-retired", about, run.export().seal(old.key), "HEAD_INVALID")
    about = "The desk's retired key signs the checkpoint."
    family.fails("desk-checkpoint-retired", about, run.export().seal_checkpoint(old.key), "CHECKPOINT_INVALID")
    early = run.export().seal_checkpoint(old.key, registry=before)
    about = "The desk's retired key signs the checkpoint at a registry position before its retirement."
    family.fails("desk-checkpoint-back", about, early, "CHECKPOINT_INVALID")
    stranger: Export = run.export()
    stranger.heads[1] = stranger.signed_head(stranger.run, Key("stranger"))
    about = "A stranger signs the head of the trace."
    family.fails("desk-head-stranger", about, stranger.seal_checkpoint(), "HEAD_INVALID")


def _proposed(label: str) -> Run:
    """Returns a run with a proposal, event 2; the critic's key is event 2 of the registry."""
    run = Cast(label, TRIO).run()
    run.propose()
    run.cast["critic"]
    return run
