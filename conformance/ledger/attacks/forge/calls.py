"""Calls that start again though they were blocked or failed too often, and tools that a question blocks by name."""

from forge.asking import Dialogue, Fill
from forge.case import Corpus, Family
from forge.encode import Json, moment
from forge.meanings import approved, proposing
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds to the families of meaning and of honest files."""
    family = corpus.family("meaning")
    _blocked(family)
    _retried(family)
    _questioned(family)
    _honest(corpus.family("valid"))


def _blocked(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        run = approved("blocked calls", ["wc"])
        run.store_input()
        fill(run)
        last = run.newest
        family.fails(f"blocked-{name}", about, run.export(), "BLOCKED_AGAIN", last)

    case(
        "again",
        "The critic blocks a call; the executor justifies it otherwise, stores its input again, and starts.",
        lambda d: (_block(d), d.intend(2, why="to be sure"), d.store_input(), d.start(7, 8)),
    )
    case(
        "lower",
        "A call is blocked at high risk; the executor calls it low, for which nobody is asked.",
        lambda d: (_block(d, "high"), d.intend(2), d.start(7, 4)),
    )
    case(
        "lower-approved",
        "A call is blocked at critical risk; as one of high risk the critic approves it.",
        lambda d: (_block(d, "critical"), d.intend(2, "high"), d.judge(7), d.start(7, 4)),
    )
    case(
        "approved-before",
        "Of two intents for one call one is approved, then the other is blocked; the first starts.",
        lambda d: (d.intend(2), d.judge(5), d.intend(2), d.judge(7, "blocked"), d.start(5, 4)),
    )
    case(
        "after-approval",
        "A blocked call is approved and completed; the executor starts it once more without asking.",
        lambda d: (
            _block(d),
            d.intend(2),
            d.judge(7),
            d.start(7, 4),
            d.complete(9),
            d.intend(2),
            d.start(11, 4),
        ),
    )
    run = Dialogue(approved("blocked calls", ["wc"]).cast, "other run", {})
    run.propose()
    run.propose()
    run.review(2)
    run.review(3)
    run.store_input()
    run.intend(2)
    run.judge(7, "blocked")
    run.intend(3)
    run.start(9, 6)
    about = "A call is blocked under one proposal; the executor starts it under another."
    family.fails("blocked-other-proposal", about, run.export(), "BLOCKED_AGAIN", 10)


def _retried(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, limit: int = 0) -> None:
        run = approved("retries", ["wc"], retry_limit=limit)
        run.store_input()
        run.intend(2)
        run.start(5, 4)
        run.fail(6)
        fill(run)
        last = run.newest
        family.fails(f"retry-{name}", about, run.export(), "RETRY_LIMIT", last)

    about = "A call fails and may not be tried again; an intent that retries nothing is approved, and starts it."
    case("unnamed", about, lambda d: (d.intend(2), d.judge(8), d.start(8, 4)))
    case(
        "fallback",
        "A call fails and may not be tried again; the fallback is the same call.",
        lambda d: (d.propose(fallback_for=5), d.review(8), d.intend(8), d.start(10, 4)),
    )
    case(
        "chain-left",
        "A call fails, fails as a retry, and starts as if it were the first.",
        lambda d: (d.intend(2, retries=5), d.start(8, 4), d.fail(9), d.intend(2), d.start(11, 4)),
        1,
    )


def _questioned(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, /, **facts: Json) -> None:
        dialogue = _intended()
        usual: dict[str, Json] = {"blocks": ["wc"]}
        dialogue.ask("critic", **usual | facts)
        fill(dialogue)
        dialogue.start(4, 6)
        family.fails_last(f"question-{name}", about, dialogue, "TOOL_BLOCKED")

    case("tool", "The tool wc starts while a question blocks wc.", lambda d: None)
    case("tool-case", "The tool wc starts while a question blocks rm and WC.", lambda d: None, blocks=["rm", "WC"])
    case("tool-proposal", "A tool starts while a question about its proposal blocks it.", lambda d: None, about=2)
    case("tool-intent", "A tool starts while a question about its intent blocks it.", lambda d: None, about=4)
    about = "A tool starts after the question that blocks it was declined."
    case("tool-declined", about, lambda d: d.decline(7, "person"))
    case(
        "tool-late",
        "A tool starts after the deadline of the question that blocks it.",
        lambda d: d.expire(7, d.in_time(900)),
        deadline=moment(_intended().in_time(500)),
    )


def _honest(family: Family) -> None:
    run = approved("honest calls", ["wc"], retry_limit=1)
    run.store_input()
    _block(run, "high")
    run.intend(2, "high")
    run.judge(7)
    run.intend(2, data=b"{}")
    run.store_input(b"{}")
    run.start(7, 4)
    run.start(9, 10)
    run.complete(11)
    run.fail(12)
    run.intend(2, data=b"{}")
    run.start(15, 10)
    run.complete(16)
    run.intend(2, data=b"{}")
    run.start(18, 10)
    run.fail(19)
    run.intend(2, data=b"{}", retries=18)
    run.start(21, 10)
    about = (
        "A blocked call is approved at the same risk; a call with another input fails, completes, fails, is retried."
    )
    family.holds("calls-again", about, run.export(), "pass_with_warnings", integrity=False)
    run = _intended()
    run.ask("critic", about=5, blocks=["wc"])
    run.ask("critic", blocks=["rm", "w", "wcc", "claim"])
    run.ask("critic", blocks=["WC"])
    run.answer(9, "person")
    run.ask("critic", blocks=["wc"], severity="block")
    run.cancel(11, "critic")
    run.start(4, 6)
    about = "Questions about another intent, about other names, answered and cancelled ones block no tool."
    family.holds("calls-unblocked", about, run.export(), "pass_with_warnings", integrity=False)
    run = approved("calls renamed", ["wc", "WC"], retry_limit=0)
    run.store_input()
    _block(run)
    run.intend(2, tool="WC")
    run.start(7, 4)
    run.fail(8)
    run.propose(fallback_for=7, content=proposing("cat"))
    run.review(10)
    run.intend(10, tool="cat")
    run.start(12, 4)
    about = "Another tool with the same input is another call, as is one whose name differs by case."
    family.holds("calls-renamed", about, run.export(), "pass_with_warnings", integrity=False)


def _intended() -> Dialogue:
    """Returns a run with two intents for wc, events 4 and 5, and their input, event 6."""
    run = approved("questioned tools", ["wc"])
    run.intend(2)
    run.intend(2)
    run.store_input()
    return run


def _block(run: Dialogue, risk: str = "low") -> Entry:
    """Returns the critic's block of an intent, event 5."""
    run.intend(2, risk)
    return run.judge(5, "blocked")
