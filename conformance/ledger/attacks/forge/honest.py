"""Longer honest stories, for the valid cases and for attacks on them."""

from collections.abc import Callable
from typing import Any

from forge.encode import Json
from forge.export import Export
from forge.stories import EVERYBODY, TRIO, Cast, Run


def challenged() -> Run:
    """Returns a passed run with a challenge that was resolved; events 9 to 13 deal with it."""
    run = Cast("challenged", EVERYBODY).run().work(challenged=True)
    run.store_bytes(b"one two three four five\n")
    run.revise(8, [6, 10], [7])
    run.resolve(9)
    return run.close(11)


def fallback() -> Export:
    """Returns a passed run with a retry and a fallback."""
    run = Cast("fallback", [*TRIO, "auditor"]).run()
    run.propose()
    run.review(1, "conditionally_approved", 1)
    run.store_bytes()
    run.intend(1, meets=[0])
    run.start(4, 3)
    run.fail(5)
    run.intend(1, retries=4, meets=[0], risk="high")
    run.judge(7)
    run.start(7, 3)
    run.fail(9)
    run.propose(fallback_for=7)
    run.review(11)
    run.intend(11)
    run.start(13, 3)
    run.complete(14)
    run.claim([3], [15])
    return run.close(16).export()


def race() -> Export:
    """Returns a passed run in which events 1 and 2 were both signed against event 0."""
    run = Cast("race", [*TRIO, "auditor"]).run()
    run.propose()
    run.propose(seen=0)
    run.review(1)
    run.review(2, seen=2)
    run.intend(1)
    run.store_bytes()
    run.start(5, 6)
    run.complete(7)
    run.claim([6], [8])
    return run.close(9).export()


def revoked() -> Export:
    """Returns a passed run whose planner's key is revoked later, with an inclusion proof."""
    return _revoked(Cast("revoked", [*TRIO, "auditor"]), lambda run: run.work().close())


def revoked_early() -> Export:
    """Returns a run of two events whose planner's key is revoked later, with an inclusion proof."""
    return _revoked(Cast("revoked early", TRIO), lambda run: run.abort())


def _revoked(cast: Cast, fill: Callable[[Run], object]) -> Export:
    cast.run("other").abort()
    cast.run("another").abort()
    run = cast.run()
    fill(run)
    proof: Json = cast.store.inclusion(run.trace, len(cast.store.registry.entries))
    cast.store.revoke(cast["planner"])
    return run.export(inclusions=[proof])


def texted(content: Json) -> Export:
    """Returns a passed run whose claim has the given content."""
    run = Cast("texted", [*TRIO, "auditor"]).run()
    run.propose()
    run.review(1)
    run.intend(1)
    run.store_bytes()
    run.start(3, 4)
    run.complete(5)
    run.claim([4], [6], content=content)
    return run.close(7).export()


def standing_still() -> Export:
    """Returns a passed run during which the clock stood still."""
    cast = Cast("standing", [*TRIO, "auditor"])
    run = Run(cast, "run", {}, at=cast.store.now)
    at: dict[str, Any] = {"at": cast.store.now}
    run.propose(**at)
    run.review(1, **at)
    run.intend(1, **at)
    run.store_bytes(**at)
    run.start(3, 4, **at)
    run.complete(5, **at)
    run.claim([4], [6], **at)
    run.conclude([7], **at)
    run.audit(**at)
    run.verdict(**at)
    return run.export()
