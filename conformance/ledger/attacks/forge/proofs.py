"""Proofs that are missing, of the wrong kind, by the wrong key, or hold under one equation only."""

from collections.abc import Callable
from functools import partial

from forge.case import Corpus, Family
from forge.curve import NEUTRAL, ORDER_EIGHT, Key, L, P, encode, multiply
from forge.encode import Json, canonical, digest, prefix
from forge.export import Export, signed
from forge.stories import TRIO, Cast, Run, bare, mini
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("proof")
    _none(family)
    _kinds(family)
    _signatures(family)
    _odd(family)
    _malleable(family)


def _none(family: Family) -> None:
    for name, kind, role, facts, content in (
        ("proposal", "proposal_created", "planner", {"fallback_for": None, "replaces": None}, None),
        (
            "review",
            "proposal_reviewed",
            "critic",
            {"conditions": 0, "decision": "approved", "proposal": 2},
            {"conditions": [], "rationale": "fine"},
        ),
        (
            "claim",
            "claim_issued",
            "executor",
            {"about_failure": False, "evidence": [], "executions": [1]},
            {"confidence": 1, "text": "so it is"},
        ),
        ("verdict", "verification_run_started", "auditor", {"profile": "default"}, None),
    ):
        run = _proposed()
        if name == "proposal":
            content = run.trace.entries[2].content
        run.trace.record(kind, facts, content, role=role)
        about = f"The desk records a {kind} on its own word."
        family.fails(f"none-{name}", about, run.export(), "SIG_MISSING", 3)
    cast = Cast("none", TRIO)
    cast.store.registry.record(
        "key_revoked", {"key": cast["critic"].key.fingerprint, "reason": "lost"} | cast.store.root(), {"note": "lost"}
    )
    about = "The desk records a revocation without signing it."
    family.fails("none-revocation", about, Export(cast.store), "SIG_MISSING", 3)


def _kinds(family: Family) -> None:
    run = _proposed()
    facts = {
        "code": "ROLE_FORBIDDEN",
        "command": "01M7E81W0000000000000000AB",
        "principal": run.cast["executor"].principal,
    }
    run.say("desk", "command_refused", facts, {"field": None, "message": "no"})
    about = "The desk signs a refusal with its key, which the type does not take."
    family.fails("key-on-desk-type", about, run.export(), "STATEMENT_MISMATCH", 3)
    fingerprint = run.cast["planner"].key.fingerprint
    entry = {"key": fingerprint, "signature": "0" * 128}
    for name, what, proof in (
        (
            "webauthn",
            "of a passkey with members of its own",
            {"webauthn": {"authenticator_data": "", "client_data": "", "key": fingerprint, "signature": ""}},
        ),
        ("two", "of two kinds at once", {"ed25519": entry, "webauthn": entry}),
        ("empty", "of no kind", {}),
        ("null", "that is null", None),
        ("short", "with a short signature", {"ed25519": entry | {"signature": "0" * 126}}),
    ):
        export = bare()
        export.registry[1].envelope["proof"] = proof
        family.fails(f"kind-{name}", f"The desk writes a proof {what}.", export.repair().seal(), "SCHEMA_INVALID", 1)
    later: dict[str, Json] = {"finds": ["PROOF_UNKNOWN"]}
    for name, what, proof in (("unknown", "of a kind", {"ed448": entry}), ("word", "that is a word", "desk")):
        export = bare()
        export.registry[1].envelope["proof"] = proof
        about = f"A proof {what} of a later version stands in the registry."
        family.holds(f"kind-{name}", about, export.repair().seal(), "not_established", **later)
    run = _proposed()
    run.trace.entries[-1].envelope["proof"] = {"ed448": entry}
    run.refuse()
    about = "A proof of a later version stands in a run."
    family.holds("kind-run", about, run.export(), "not_established", **later)
    forged = run.export()
    forged.run[3].envelope["time"] = forged.run[0].envelope["time"]
    about = "After a proof of a later version an event is dated back."
    family.fails("kind-run-forged", about, forged.repair().seal(), "TIME_BACKWARDS", 3)


def _signatures(family: Family) -> None:
    planner, desk = Key("bare/planner"), Key("bare/desk")

    def case(name: str, about: str, sign: Callable[[bytes], str]) -> None:
        export = _signed(bare(), sign)
        family.fails(name, about, export, "SIG_INVALID", 1)

    case(
        "other-key",
        "The desk signs a statement that names the planner's key.",
        lambda data: desk.sign("statement", data),
    )
    case("no-prefix", "The planner signs the bare statement without a purpose.", planner.sign_bare)
    case(
        "purpose-head",
        "The planner signs a statement with the purpose of a head.",
        lambda data: planner.sign("head", data),
    )
    case(
        "purpose-possession",
        "The planner signs a statement with the purpose of a possession.",
        lambda data: planner.sign("possession", data),
    )
    case(
        "over-hash",
        "The planner signs the hash of a statement.",
        lambda data: planner.sign("statement", bytes.fromhex(digest("statement", data))),
    )
    case(
        "over-line-feed",
        "The planner signs a statement with a line feed after it.",
        lambda data: planner.sign("statement", data + b"\n"),
    )
    case(
        "prefix-v2",
        "The planner signs a statement with the prefix of another version.",
        lambda data: planner.sign_bare(b"demur/v2/statement\0" + data),
    )


def _odd(family: Family) -> None:
    """Signatures that only the cofactored equation accepts: valid in files (ZIP 215), refused at the door."""
    planner = Key("bare/planner")

    def case(name: str, about: str, sign: Callable[[bytes], str]) -> None:
        family.holds(name, about, _signed(bare(), sign))

    for torsion in (1, 4, 7):
        about = f"A signature's R has a small-order component ({torsion} times a point of order eight)."
        case(f"mixed-r-{torsion}", about, partial(planner.sign_oddly, "statement", torsion=torsion))
    small = {
        "r-neutral": ("the neutral point", encode(NEUTRAL)),
        "r-order-eight": ("a point of order eight", encode(multiply(3, ORDER_EIGHT))),
        "r-not-canonical": ("the neutral point in an encoding beyond the prime", (P + 1).to_bytes(32, "little")),
        "r-negative-zero": ("the neutral point with the sign bit set", encode(NEUTRAL)[:31] + b"\x80"),
        "r-not-canonical-zero": ("a point of order four whose y is the prime itself", P.to_bytes(32, "little")),
    }
    for name, (what, raw) in small.items():
        about = f"A signature's R is {what}."
        case(name, about, partial(_answered, planner, raw))
    run = Cast("odd", TRIO).run()
    run.propose()
    entry = run.trace.entries[2]
    entry.envelope["proof"]["ed25519"]["signature"] = run.cast["planner"].key.sign_oddly(
        "statement", canonical(entry.statement), 3
    )
    about = "The signature of a proposal has an R with a small-order component."
    family.holds("mixed-r-run", about, run.export(), "pass_with_warnings", integrity=False)
    export = mini()
    document = export.heads[1]["document"]
    export.heads[1]["proof"]["signature"] = export.desk.key.sign_oddly("head", canonical(document), 5)
    about = "The signature of a head has an R with a small-order component."
    family.holds("mixed-r-head", about, export.seal_checkpoint(), "pass_with_warnings", integrity=False)


def _malleable(family: Family) -> None:
    planner = Key("bare/planner")

    def case(name: str, about: str, change: Callable[[bytes], bytes]) -> None:
        export = _signed(bare(), lambda data: change(bytes.fromhex(planner.sign("statement", data))).hex())
        family.fails(name, about, export, "SIG_INVALID", 1)

    case("s-plus-l", "S of a good signature is raised by the group order.", lambda raw: raw[:32] + _raised(raw, L))
    case("s-high-bit", "The highest bit of S is set.", lambda raw: raw[:63] + bytes([raw[63] | 0x80]))
    case(
        "s-is-l",
        "S is the group order itself and R the neutral point.",
        lambda raw: encode(NEUTRAL) + L.to_bytes(32, "little"),
    )
    case("r-off-curve", "R is no point of the curve.", lambda raw: (2).to_bytes(32, "little") + raw[32:])
    case("r-negated", "R is negated.", lambda raw: raw[:31] + bytes([raw[31] ^ 0x80]) + raw[32:])
    case("halves-swapped", "R and S change places.", lambda raw: raw[32:] + raw[:32])
    export = mini()
    old = export.heads[1]
    export.heads[1] = {
        "document": old["document"],
        "proof": old["proof"] | {"signature": _raise_hex(old["proof"]["signature"])},
    }
    about = "S of a head's signature is raised by the group order."
    family.fails("s-plus-l-head", about, export.redigest(), "HEAD_INVALID")
    export = bare()
    export.checkpoint["proof"]["signature"] = _raise_hex(export.checkpoint["proof"]["signature"])
    about = "S of the checkpoint's signature is raised by the group order."
    family.fails("s-plus-l-checkpoint", about, export, "CHECKPOINT_INVALID")
    export = bare()
    export.checkpoint = signed("head", export.checkpoint["document"], export.desk.key)
    family.fails(
        "purpose-checkpoint", "The desk signs the checkpoint with the purpose of a head.", export, "CHECKPOINT_INVALID"
    )


def _signed(export: Export, sign: Callable[[bytes], str]) -> Export:
    entry: Entry = export.registry[1]
    proof: Json = entry.envelope["proof"]["ed25519"]
    proof["signature"] = sign(canonical(entry.statement))
    return export.repair().seal()


def _answered(key: Key, commitment: bytes, data: bytes) -> str:
    # The small-order R has no part in the group of the base point: its logarithm counts as zero.
    return key.answer(commitment, 0, prefix("statement") + data)


def _raised(raw: bytes, by: int) -> bytes:
    return (int.from_bytes(raw[32:], "little") + by).to_bytes(32, "little")


def _raise_hex(signature: str) -> str:
    raw = bytes.fromhex(signature)
    return (raw[:32] + _raised(raw, L)).hex()


def _proposed() -> Run:
    run = Cast("none", TRIO).run()
    run.propose()
    return run
