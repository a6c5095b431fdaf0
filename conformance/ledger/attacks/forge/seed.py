"""The attacks that the seed's own implementation let pass, carried over to this format (A1 to A7, B1, B2, B5)."""

from forge.case import Corpus, Family
from forge.stories import EVERYBODY, TRIO, Cast, Run, stored, tiny
from forge.writer import Agent


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("seed")
    _a1(family)
    _a2_to_a4(family)
    _a5_to_a7(family)
    _b(family)


def _a1(family: Family) -> None:
    run = Cast("seed", EVERYBODY).run().work()
    run.conclude([9])
    run.audit()
    run.verdict(status="fail")
    export = run.export()
    export.run[13].statement["facts"]["status"] = "pass"
    about = "A1: an outsider turns the last event's verdict from fail to pass and recomputes every hash."
    family.fails("a1-verdict", about, export, "SIG_INVALID", 13)
    export = tiny()
    export.run[3].content["rationale"] = "not fine"
    about = "A1: an outsider changes the last event's content only."
    family.fails("a1-content", about, export.redigest(), "COMMITMENT_MISMATCH", 3)


def _a2_to_a4(family: Family) -> None:
    run = _proposed()
    forged = run.review(2)
    forged.envelope["proof"]["ed25519"]["signature"] = "ab" * 64
    about = "A2: an outsider appends a critic's approval with a garbage signature."
    export, honest = run.export(), _proposed().export()
    export.heads, export.checkpoint = honest.heads, honest.checkpoint
    family.fails("a2-forged-approval", about, export, "SIG_INVALID", 3)
    export = Cast("seed", TRIO).run().work(challenged=True).export()
    export.run.pop()
    about = "A3: an outsider deletes the challenge at the end of a run."
    family.fails("a3-challenge-deleted", about, export, "HEAD_INVALID")
    about = "A3: the desk deletes the challenge at the end of a run, and the critic has its receipt."
    receipt = Cast("seed", TRIO).run().work(challenged=True).export().receipt(10)
    family.fails("a3-challenge-deleted-desk", about, export.copy().seal(), "RECEIPT_MISMATCH", receipt=receipt)
    rewritten = Cast("tiny", TRIO, keys="new keys").run()
    rewritten.propose(
        content={"assumptions": [], "expected_evidence": [], "objective": "count no words", "required_tools": []}
    )
    rewritten.review(2)
    export = rewritten.export()
    pin = ["--pin", f"desk={tiny().desk.key.fingerprint}"]
    about = "A4: somebody makes new keys, changes a proposal and signs the whole history again."
    family.fails("a4-rewritten", about, export, "PIN_MISMATCH", options=pin)
    stale = export.copy()
    stale.header, stale.checkpoint = tiny().header, tiny().checkpoint
    about = "A4: the same with header and checkpoint left as they were."
    family.fails("a4-rewritten-stale", about, stale, "STATEMENT_MISMATCH")


def _a5_to_a7(family: Family) -> None:
    run = _proposed()
    executor = run.cast["executor"]
    run.review(2, who=Agent("executor", "critic", executor.key, executor.principal))
    family.fails(
        "a5-executor-as-critic", "A5: the executor's key signs as critic.", run.export(), "KEY_ROLE_MISMATCH", 3
    )
    run = Cast("seed", [*TRIO, "auditor"]).run()
    run.audit()
    run.propose()
    run.review(3, "rejected")
    about = "A6: a run in nonsense order, under the strict profile."
    family.fails("a6-order", about, run.export(), "ORDER_VIOLATION", 1, options=["--strict"])
    for name, place in (("content", "content"), ("facts", "facts")):
        run = Cast("seed", TRIO).run()
        run.propose()
        run.review(2)
        run.intend(2)
        run.execute(4)
        content = {"confidence": 90, "text": "five words"}
        facts = {"about_failure": False, "evidence": [7], "executions": [8]}
        (content if place == "content" else facts)["resolved"] = True
        run.say("executor", "claim_issued", facts, content)
        code = "CONTENT_INVALID" if place == "content" else "SCHEMA_INVALID"
        about = f"A7: a claim is born resolved, by a field in its {place}."
        family.fails(f"a7-born-resolved-{name}", about, run.export(), code, 9)


def _b(family: Family) -> None:
    run = _proposed()
    run.propose(seen=1, envelope={"sequence": 2, "previous": run.trace.entries[1].hash})
    family.fails(
        "b1-fork", "B1: after a crash the chain forks: two events have one place.", run.export(), "CHAIN_BREAK", 3
    )
    lines = stored().lines()
    glued = lines[6][:-1] + lines[7]
    about = "B2: the line feed of an event is lost and the next event is glued to it."
    family.fails("b2-glued", about, b"".join([*lines[:6], glued, *lines[8:]]), "FILE_MALFORMED")
    torn = b"".join(lines[:7]) + lines[7][:300]
    family.fails("b2-torn", "B2: the last event is torn in the middle.", torn, "FILE_TRUNCATED")
    about = "B2: an event in the middle is torn and the file goes on."
    family.fails("b2-torn-middle", about, b"".join([*lines[:7], lines[7][:300] + b"\n", *lines[8:]]), "FILE_MALFORMED")
    for name in ("actor", "proof"):
        export = tiny()
        del export.run[2].envelope[name]
        about = f"B5: an event has no `{name}`."
        family.fails(f"b5-no-{name}", about, export.repair().seal(), "SCHEMA_INVALID", 2)


def _proposed() -> Run:
    run = Cast("seed", TRIO).gathered().run()
    run.propose()
    return run
