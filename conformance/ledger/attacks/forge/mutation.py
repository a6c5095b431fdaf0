"""Mutation of every field of statements, facts and proofs, by an outsider and by the desk."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.curve import Key
from forge.encode import Json, canonical, commitment, moment, seeded, ulid
from forge.export import Export
from forge.stories import TRIO, Cast, short, stored, tiny
from forge.writer import Entry

Change = Callable[[Entry], object]


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("mutation")
    _statements(family)
    _seen(family)
    _facts(family)
    _proofs(family)


def _statements(family: Family) -> None:
    mismatch = "STATEMENT_MISMATCH"
    for who, name, what, change, code in (
        ("outsider", "command", "the author's command id", said(command=ulid("forged")), "SIG_INVALID"),
        ("both", "content", "commitment, content and salt together", _recommit, "SIG_INVALID"),
        ("desk", "content-alone", "the statement's commitment only", said(content="0" * 64), mismatch),
        ("desk", "content-null", "the statement's commitment to null", said(content=None), mismatch),
        (
            "outsider",
            "not-after-later",
            "the time limit to a later one",
            said(not_after=moment(999_000)),
            "SIG_INVALID",
        ),
        (
            "desk",
            "not-after-earlier",
            "the time limit to an earlier one",
            said(not_after=moment(0)),
            "STATEMENT_EXPIRED",
        ),
        ("outsider", "role", "the role to one the key does not have", said(role="executor"), "KEY_ROLE_MISMATCH"),
        ("outsider", "store", "the statement's store", said(store="0" * 64), mismatch),
        ("outsider", "trace", "the statement's trace", said(trace=ulid("elsewhere")), mismatch),
    ):
        mutate(family, who, f"statement-{name}", what, opened(), 2, change, code)
    retract = said(type="claim_retracted")
    challenge = Cast("mutated challenge", TRIO).run().work(challenged=True).export()
    mutate(family, "outsider", "statement-type", "a challenge into a retraction", challenge, 10, retract, "SIG_INVALID")


def _seen(family: Family) -> None:
    what = "what the author had seen to"
    mismatch = "STATEMENT_MISMATCH"
    earlier = said(seen=stored().run[2].position)
    mutate(family, "outsider", "seen-earlier", f"{what} an earlier event", stored(), 4, earlier, "SIG_INVALID")
    other = _see(hash="0" * 64)
    mutate(family, "outsider", "seen-hash", "the hash the author had seen", opened(), 2, other, "SEEN_INVALID")
    mutate(family, "desk", "seen-itself", f"{what} the event's own place", opened(), 2, _see(sequence=2), mismatch)
    mutate(family, "desk", "seen-null", f"{what} nothing", opened(), 2, said(seen=None), mismatch)
    first = said(seen={"hash": "0" * 64, "sequence": 0})
    mutate(family, "desk", "seen-first", "what the opener had seen to some event", opened(), 0, first, mismatch)


def _facts(family: Family) -> None:
    loose = {"approval_from": "critical", "evidence_minimum": 1, "fallback": True, "retry_limit": 16}
    intended = Cast("mutated intent", TRIO).run()
    intended.propose()
    intended.review(2)
    intended.intend(2)
    for who, name, what, base, place, change, code in (
        ("outsider", "policy", "the policy of a run", opened(), 0, facts(policy=loose), "SIG_INVALID"),
        ("both", "decision", "the decision of a review", tiny(), 3, facts(decision="rejected"), "SIG_INVALID"),
        ("outsider", "cite-unseen", "a cited event to an unseen one", tiny(), 3, facts(proposal=3), "CITES_UNSEEN"),
        ("outsider", "risk", "the risk of an intent", intended.export(), 4, facts(risk="critical"), "SIG_INVALID"),
        ("outsider", "commitment", "an artifact and its commitment", stored(), 4, _reartifact, "SIG_INVALID"),
        ("outsider", "outputs", "the outputs of an execution", short(), 7, facts(outputs=[5]), "SIG_INVALID"),
    ):
        mutate(family, who, f"facts-{name}", what, base, place, change, code)


def _proofs(family: Family) -> None:
    desk = Key("tiny/desk").fingerprint
    for who, name, what, change, code in (
        ("outsider", "key-other", "the proof's key to another registered one", proof(key=desk), "KEY_ROLE_MISMATCH"),
        ("outsider", "key-unknown", "the proof's key to an unknown one", proof(key="0" * 64), "KEY_UNKNOWN"),
        ("outsider", "signature", "one bit of the signature", _flip, "SIG_INVALID"),
        ("desk", "signature-zero", "the signature to zeros", proof(signature="0" * 128), "SIG_INVALID"),
        ("desk", "none", "the proof to none and leaves the statement", field(proof="none"), "STATEMENT_MISMATCH"),
        ("outsider", "stranger", "the proof to one by a key of their own", _resign, "KEY_UNKNOWN"),
    ):
        mutate(family, who, f"proof-{name}", what, opened(), 2, change, code)


def mutate(
    family: Family,
    who: str,
    name: str,
    what: str,
    base: Export,
    place: int,
    change: Change,
    code: str,
    at: int | None = None,
) -> None:
    """Adds a mutation: by an outsider, who repairs the chain, by the desk, which also signs again, or by both.

    Where one of the two is left out, its file would be rejected for the very same reason.
    """
    at = place if at is None else at
    change(base.run[place])
    base.repair()
    if who != "desk":
        about = f"An outsider changes {what} and repairs the chain."
        family.fails(f"{name}-outsider", about, base, code, at)
    if who != "outsider":
        about = f"The desk changes {what}, repairs the chain and signs heads and checkpoint again."
        family.fails(f"{name}-desk", about, base.copy().seal(), code, at)


def opened() -> Export:
    """Returns a run with an opening, the policy and a proposal, event 2."""
    run = Cast("tiny", TRIO).run()
    run.propose()
    return run.export()


def said(**fields: Json) -> Change:
    """Returns the change of fields of a statement."""
    return lambda entry: entry.statement.update(fields)


def facts(**fields: Json) -> Change:
    """Returns the change of facts of a statement."""
    return lambda entry: entry.statement["facts"].update(fields)


def proof(**fields: Json) -> Change:
    """Returns the change of a key proof."""
    return lambda entry: entry.envelope["proof"]["ed25519"].update(fields)


def field(**fields: Json) -> Change:
    """Returns the change of fields of an envelope, which a repair leaves alone."""

    def change(entry: Entry) -> None:
        entry.keep.update(fields)
        entry.envelope.update(fields)

    return change


def _see(**fields: Json) -> Change:
    return lambda entry: entry.statement["seen"].update(fields)


def _recommit(entry: Entry) -> None:
    salt = seeded("forged salt")
    entry.content = entry.content | {"objective": "count twice"}
    entry.salt = salt.hex()
    entry.envelope["content"] = entry.statement["content"] = commitment("content", salt, canonical(entry.content))


def _reartifact(entry: Entry) -> None:
    assert entry.artifact is not None
    salt = bytes.fromhex(entry.artifact["salt"])
    entry.artifact["bytes"] = "Ngo="
    entry.statement["facts"]["commitment"] = commitment("artifact", salt, b"6\n")


def _flip(entry: Entry) -> None:
    signed = entry.envelope["proof"]["ed25519"]
    raw = bytearray.fromhex(signed["signature"])
    raw[40] ^= 1
    signed["signature"] = raw.hex()


def _resign(entry: Entry) -> None:
    stranger = Key("stranger")
    signature = stranger.sign("statement", canonical(entry.statement))
    entry.envelope["proof"] = {"ed25519": {"key": stranger.fingerprint, "signature": signature}}
