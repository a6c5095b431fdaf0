"""Runs that are signed and chained correctly but break guards of execution, claims and endings."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.encode import Json
from forge.stories import TRIO, Cast, Run


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("claim")
    _executions(family)
    _claims(family)
    _ends(family)


def _executions(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object]) -> None:
        run = _approved("executions")
        fill(run)
        family.fails(name, about, run.export(), "ORDER_VIOLATION", event)

    case("start-without-intent", "The executor starts a tool without an intent.", 3, lambda r: r.start(1))
    case("start-twice", "The executor starts one intent twice.", 5, lambda r: (r.intend(1), r.start(3), r.start(3)))
    case(
        "nothing-in-or-out",
        "An execution has neither input nor output.",
        5,
        lambda r: (r.intend(1), r.start(3), r.complete(4)),
    )


def _claims(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object]) -> None:
        run = _approved("claims")
        fill(run)
        family.fails(name, about, run.export(), "ORDER_VIOLATION", event)

    case(
        "claim-before-end",
        "The executor claims while a tool is running.",
        6,
        lambda r: (r.store_bytes(), r.intend(1), r.start(4, 3), r.claim([3], [5])),
    )
    case(
        "claim-without-evidence", "The executor claims without evidence.", 7, lambda r: (_executed(r), r.claim([], [6]))
    )
    case(
        "claim-no-artifact",
        "The executor cites a proposal as evidence.",
        7,
        lambda r: (_executed(r), r.claim([1], [6])),
    )
    case(
        "claim-on-failure",
        "The executor claims on a failed execution without saying so.",
        7,
        lambda r: (_executed(r, "fail"), r.claim([3], [6])),
    )
    case("challenge-nothing", "The critic challenges what is no claim.", 8, lambda r: (_claimed(r), r.challenge(6)))
    case(
        "resolve-twice",
        "The critic resolves a challenge twice.",
        10,
        lambda r: (_claimed(r), r.challenge(7), r.resolve(8), r.resolve(8)),
    )
    case(
        "intent-unchallenged",
        "The executor signs a new intent after its claim, though nothing is challenged.",
        8,
        lambda r: (_claimed(r), r.intend(1)),
    )
    case(
        "final-omits-disputed",
        "The final statement leaves out a disputed claim.",
        10,
        lambda r: (_claimed(r), r.claim([3], [6]), r.challenge(7), r.conclude([8])),
    )
    case(
        "after-final",
        "The executor claims again after the final statement.",
        9,
        lambda r: (_claimed(r), r.conclude([7]), r.claim([3], [6])),
    )


def _ends(family: Family) -> None:
    run = _concluded("unverified")
    about = "A run is concluded and never verified."
    family.holds("unverified", about, run.export(), "pass_with_warnings", integrity=False)
    run = _concluded("verdict")
    run.verdict()
    family.fails(
        "verdict-without-start",
        "The auditor gives a verdict on the final statement itself.",
        run.export(),
        "ORDER_VIOLATION",
        9,
    )
    run = _concluded("verdict")
    run.audit()
    run.say("auditor", "verification_run_completed", {"status": "pass", "through": {"hash": "5" * 64, "sequence": 9}})
    family.fails(
        "verdict-other-run", "The auditor's verdict is about another run.", run.export(), "ORDER_VIOLATION", 10
    )
    run = _concluded("verdict")
    run.audit()
    run.audit()
    family.fails(
        "audit-twice", "The auditor starts a second verification beside the first.", run.export(), "ORDER_VIOLATION", 10
    )
    run = _concluded("verdict")
    run.audit()
    run.verdict()
    run.abort()
    family.fails("abort-completed", "The operator aborts a completed run.", run.export(), "ORDER_VIOLATION", 11)
    run = Cast("aborted", TRIO).run()
    run.abort()
    run.propose()
    family.fails("after-abort", "The planner goes on after the abort.", run.export(), "ORDER_VIOLATION", 2)
    run = Cast("aborted", TRIO).run()
    run.propose()
    run.trace.record("recovery_recorded", {"through": run.trace.entries[0].position}, {"note": "after a crash"})
    family.fails(
        "recovery-elsewhere",
        "The desk's recovery names another event than the one before.",
        run.export(),
        "ORDER_VIOLATION",
        2,
    )


def _approved(label: str, roles: list[str] = TRIO, **policy: Json) -> Run:
    run = Cast(label, roles).run("run", **policy)
    run.propose()
    run.review(1)
    return run


def _executed(run: Run, end: str = "complete") -> Run:
    """Returns the run after events 3 to 6: artifact, intent, start and end of an execution."""
    run.store_bytes()
    run.intend(1)
    run.start(4, 3)
    run.complete(5) if end == "complete" else run.fail(5)
    return run


def _claimed(run: Run) -> Run:
    """Returns the run after events 3 to 7: an execution and a claim on it."""
    _executed(run)
    run.claim([3], [6])
    return run


def _concluded(label: str) -> Run:
    run = _claimed(_approved(label, [*TRIO, "auditor"]))
    run.conclude([7])
    return run
