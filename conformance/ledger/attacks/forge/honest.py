"""Longer honest stories, for the valid cases and for attacks on them."""

from typing import Any

from forge.asking import Dialogue
from forge.encode import Json
from forge.export import Export
from forge.stories import EVERYBODY, TRIO, Cast, Run


def challenged() -> Run:
    """Returns a passed run with a challenge that was resolved; events 10 to 17 deal with it."""
    run = Cast("challenged", EVERYBODY).run().work(challenged=True)
    run.intend(2)
    run.execute(11, b"5 words.txt\n")
    run.revise(9, [7, 14], [8, 15])
    run.resolve(10)
    return run.close(16)


def fallback() -> Export:
    """Returns a passed run with a retry, and with a fallback to another call."""
    run = Cast("fallback", [*TRIO, "auditor"]).run()
    run.propose()
    run.review(2, "conditionally_approved", 1)
    run.store_input()
    run.intend(2, meets=[0])
    run.show(5, [4])
    run.start(5, 4)
    run.fail(7)
    run.intend(2, retries=5, meets=[0], risk="high")
    run.show(9, [4])
    run.judge(9)
    run.start(9, 4)
    run.fail(12)
    run.propose(fallback_for=9)
    run.review(14)
    run.intend(14, data=b"{}")
    run.store_input(b"{}")
    run.start(16, 17)
    run.store_bytes()
    run.complete(18, [19])
    run.claim([19], [20])
    return run.close(21).export()


def race() -> Export:
    """Returns a run in which events 2 and 3 were both signed against event 1."""
    run = Cast("race", [*TRIO, "auditor"]).run()
    run.propose()
    run.propose(seen=1)
    run.review(2)
    run.review(3, seen=3)
    return run.export()


def revoked() -> Export:
    """Returns a piece of work whose agent's key is revoked later, with an inclusion proof."""
    cast = Cast("revoked", ["agent"])
    for name in ("other", "another"):
        Dialogue(cast, name, None).ask()
    work = Dialogue(cast, "work", None)
    work.ask()
    work.answer(0, "person")
    return _revoked(work, "agent")


def revoked_early() -> Export:
    """Returns a run of two events whose planner's key is revoked later, with an inclusion proof."""
    cast = Cast("revoked early", TRIO)
    cast.run("other").abort()
    cast.run("another").abort()
    run = cast.run()
    run.abort()
    return _revoked(run, "planner")


def _revoked(run: Run, role: str) -> Export:
    store = run.cast.store
    proof: Json = store.inclusion(run.trace, len(store.registry.entries))
    store.revoke(run.cast[role])
    return run.export(inclusions=[proof])


def standing_still() -> Export:
    """Returns a run during which the clock stood still."""
    cast = Cast("standing", TRIO).gathered()
    at: dict[str, Any] = {"at": cast.store.now}
    run = Run(cast, "run", {}, **at)
    run.propose(**at)
    run.review(2, **at)
    run.intend(2, **at)
    return run.export()
