"""Runs that are signed and chained correctly but break guards of execution, claims and endings."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.stories import TRIO, Cast, Run, crew


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

    case("start-without-intent", "The executor starts a tool without an intent.", 4, lambda r: r.start(2))
    case(
        "start-twice",
        "The executor starts one intent twice.",
        7,
        lambda r: (r.intend(2), r.store_input(), r.start(4, 5), r.start(4, 5)),
    )
    about = "The executor says that an intent failed which never started."
    case("fail-unstarted", about, 5, lambda r: (r.intend(2), r.fail(4)))
    case(
        "fail-completed",
        "The executor says that an execution failed which it had completed.",
        9,
        lambda r: (r.intend(2), r.execute(4), r.fail(6)),
    )


def _claims(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object]) -> None:
        run = _approved("claims")
        fill(run)
        family.fails(name, about, run.export(), "ORDER_VIOLATION", event)

    case(
        "claim-before-end",
        "The executor claims while a tool is running.",
        7,
        lambda r: (r.store_input(), r.intend(2), r.start(5, 4), r.claim([4], [6])),
    )
    case(
        "claim-without-evidence", "The executor claims without evidence.", 9, lambda r: (_executed(r), r.claim([], [8]))
    )
    case(
        "claim-no-artifact",
        "The executor cites a proposal as evidence.",
        9,
        lambda r: (_executed(r), r.claim([2], [8])),
    )
    case(
        "claim-on-failure",
        "The executor claims on a failed execution without saying so.",
        9,
        lambda r: (_executed(r, "fail"), r.claim([7], [8])),
    )
    case("challenge-nothing", "The critic challenges what is no claim.", 10, lambda r: (_claimed(r), r.challenge(8)))
    case(
        "resolve-twice",
        "The critic resolves a challenge twice.",
        12,
        lambda r: (_claimed(r), r.challenge(9), r.resolve(10), r.resolve(10)),
    )
    case(
        "intent-unchallenged",
        "The executor signs a new intent after its claim, though nothing is challenged.",
        10,
        lambda r: (_claimed(r), r.intend(2)),
    )
    case(
        "final-omits-disputed",
        "The final statement leaves out a disputed claim.",
        12,
        lambda r: (_claimed(r), r.claim([7], [8]), r.challenge(9), r.conclude([10])),
    )
    case(
        "after-final",
        "The executor claims again after the final statement.",
        11,
        lambda r: (_claimed(r), r.conclude([9]), r.claim([7], [8])),
    )


def _ends(family: Family) -> None:
    run = _concluded("unverified")
    about = "A run is concluded and never verified."
    family.holds("unverified", about, run.export(), "pass_with_warnings", integrity=False)
    run = _concluded("verdict")
    run.verdict(data=b"")
    family.fails(
        "verdict-without-start",
        "The auditor gives a verdict on the final statement itself.",
        run.export(),
        "ORDER_VIOLATION",
        11,
    )
    run = _concluded("verdict")
    run.audit()
    content = {"report": "84" * 32, "summary": "passed"}
    through = {"hash": "5" * 64, "sequence": 11}
    run.say("auditor", "verification_run_completed", {"status": "pass", "through": through}, content)
    family.fails(
        "verdict-other-run", "The auditor's verdict is about another run.", run.export(), "ORDER_VIOLATION", 12
    )
    run = _concluded("verdict")
    run.audit()
    run.audit()
    family.fails(
        "audit-twice", "The auditor starts a second verification beside the first.", run.export(), "ORDER_VIOLATION", 12
    )
    run = _concluded("verdict")
    run.audit()
    run.verdict()
    run.abort()
    family.fails("abort-completed", "The operator aborts a completed run.", run.export(), "ORDER_VIOLATION", 14)
    run = Cast("aborted", TRIO).run()
    run.policy()
    run.abort()
    run.propose()
    family.fails("after-abort", "The planner goes on after the abort.", run.export(), "ORDER_VIOLATION", 3)
    run = Cast("aborted", TRIO).run()
    run.propose()
    run.trace.record("recovery_recorded", {"through": run.trace.entries[0].position}, {"note": "after a crash"})
    family.fails(
        "recovery-elsewhere",
        "The desk's recovery names another event than the one before.",
        run.export(),
        "ORDER_VIOLATION",
        3,
    )


def _approved(label: str, *others: str) -> Run:
    run = crew(label, *others).run()
    run.propose()
    run.review(2)
    return run


def _executed(run: Run, end: str = "complete") -> Run:
    """Returns the run after events 4 to 8: intent, input, start, output and end of an execution."""
    run.intend(2)
    return run.execute(4, end=end)


def _claimed(run: Run) -> Run:
    """Returns the run after events 4 to 9: an execution and a claim on it."""
    _executed(run)
    run.claim([7], [8])
    return run


def _concluded(label: str) -> Run:
    run = _claimed(_approved(label, "auditor"))
    run.conclude([9])
    return run
