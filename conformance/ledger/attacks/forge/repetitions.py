"""Gaps that the desk puts again: what they may repeat, and what becomes of those that they replace."""

from forge.asking import Dialogue, Fill
from forge.case import Corpus, Family
from forge.dialogues import confirmed_plan
from forge.encode import Json, moment
from forge.plans import case_of_plan
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds to the families of honest files and of plans."""
    _honest(corpus.family("valid"))
    family = corpus.family("plan")
    _repeats(family)
    _others(family)
    _replaced(family)
    _waiting(family)


def _honest(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        confirmed_plan(family, f"plan-repeated-{name}", about, "repeated", fill)

    case(
        "open",
        "The rules ask otherwise while a gap is open; the second question is answered.",
        lambda d: (d.find(), d.find(repeats=2, kinds=["yes_no"]), d.answer(3, "person", True, kind="yes_no")),
    )
    case(
        "declined",
        "A gap is declined and put again.",
        lambda d: (d.find(), d.decline(2, "person"), d.find(repeats=2), d.answer(4, "person")),
    )
    case(
        "expired",
        "A gap expires and is put again.",
        lambda d: (timed(d), d.expire(2, d.in_time(2000)), d.find(repeats=2), d.answer(4, "person")),
    )
    case(
        "overdue",
        "A gap past its deadline, which nobody has recorded as expired, is put again.",
        lambda d: (timed(d), d.find(repeats=2, at=d.in_time(2000)), d.answer(3, "person")),
    )
    case(
        "revoked",
        "The answer to a gap is taken back; the gap is put again.",
        lambda d: (d.find(), d.answer(2, "person"), d.revoke(3, 2, "person"), d.find(repeats=2), d.answer(5, "person")),
    )
    case(
        "chain",
        "A gap is put three times, each in the place of the one before.",
        lambda d: (d.find(), d.find(repeats=2), d.find(repeats=3), d.answer(4, "person")),
    )
    case(
        "softer",
        "A gap that blocks is put again as a warning, and accepted.",
        lambda d: (d.find(blocks=["deploy"]), d.find(repeats=2, severity="warn"), d.accept(3, "person"), d.operate()),
    )
    case(
        "unblocks",
        "A gap that blocks an operation is put again and blocks another; the first goes on.",
        lambda d: (
            d.find(blocks=["deploy"]),
            d.find(repeats=2, blocks=["build"]),
            d.operate("deploy"),
            d.answer(3, "person"),
            d.operate("build"),
        ),
    )


def _repeats(family: Family) -> None:
    """Gaps that cannot be put again."""

    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, f"repeats-{name}", about, fill, code)

    case(
        "defaulted",
        "A gap repeats one whose default took effect.",
        lambda d: (timed(d, default=True), d.default(2, d.in_time(2000)), d.find(repeats=2)),
    )
    case(
        "twice",
        "Two gaps repeat one.",
        lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=2), d.answer(4, "person"), d.find(repeats=2)),
    )
    case(
        "open-twice",
        "Two gaps repeat one that was open.",
        lambda d: (d.find(), d.find(repeats=2), d.find(repeats=2)),
    )


def _others(family: Family) -> None:
    """What is no gap."""

    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, f"repeats-{name}", about, fill, code)

    case("rules", "A gap repeats the rules.", lambda d: d.find(repeats=1))
    case("answer", "A gap repeats an answer.", lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=3)))
    case("itself", "A gap repeats itself.", lambda d: d.find(repeats=2), "CITES_UNSEEN")
    case("asked", "A gap repeats a question of the agent that is open.", lambda d: (d.ask(), d.find(repeats=2)))
    case(
        "asked-answered",
        "A gap repeats a question of the agent that was answered.",
        lambda d: (d.ask(), d.answer(2, "person"), d.find(repeats=2)),
    )
    case(
        "asked-cancelled",
        "A gap repeats a question that the agent cancelled.",
        lambda d: (d.ask(), d.cancel(2), d.find(repeats=2)),
    )
    case(
        "by-agent",
        "A question of the agent repeats an open gap.",
        lambda d: (d.find(), d.ask(repeats=2)),
    )


def _replaced(family: Family) -> None:
    """What happens to a gap after another took its place."""

    def case(name: str, about: str, fill: Fill) -> None:
        case_of_plan(family, f"repeated-{name}", about, fill)

    def opened(name: str, about: str, fill: Fill, **facts: Json) -> None:
        case(name, about, lambda d: (d.find(**facts), d.find(repeats=2), fill(d)))

    case(
        "revoked",
        "The answer to a gap that was replaced is taken back.",
        lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=2), d.revoke(3, 2, "person")),
    )
    case(
        "superseded",
        "The answer to a gap that was replaced is superseded.",
        lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=2), d.supersede(3, 2, "person")),
    )
    opened("answered", "A key answers a gap that was replaced while open.", lambda d: d.answer(2))
    opened("answered-person", "A person answers a gap that was replaced while open.", lambda d: d.answer(2, "person"))
    opened(
        "answered-late",
        "A gap that was replaced while open is answered after the one in its place.",
        lambda d: (d.answer(3, "person"), d.answer(2, "person")),
    )
    opened(
        "accepted",
        "A warning that was replaced while open is accepted.",
        lambda d: d.accept(2, "person"),
        severity="warn",
    )
    opened("declined", "A gap that was replaced while open is declined.", lambda d: d.decline(2, "person"))
    opened("escalated", "A gap that was replaced while open is escalated.", lambda d: d.escalate(2))
    opened("withdrawn", "A gap that was replaced while open is withdrawn.", lambda d: d.withdraw(2))
    case(
        "expired",
        "A gap that was replaced while open expires.",
        lambda d: (timed(d), d.find(repeats=2), d.expire(2, d.in_time(2000))),
    )
    case(
        "defaulted",
        "The default of a gap that was replaced while open takes effect.",
        lambda d: (timed(d, default=True), d.find(repeats=2), d.default(2, d.in_time(2000))),
    )


def _waiting(family: Family) -> None:
    """What the gap in another's place holds up."""

    def case(name: str, about: str, fill: Fill) -> None:
        case_of_plan(family, name, about, fill)

    blocks: dict[str, Json] = {"blocks": ["deploy"]}
    case(
        "repeated-blocks",
        "An agent begins what a repeated gap blocks, on the first answer.",
        lambda d: (d.find(**blocks), d.answer(2, "person"), d.find(repeats=2, **blocks), d.operate()),
    )
    case(
        "repeated-open-blocks",
        "An agent begins what a gap in the place of an open one blocks.",
        lambda d: (d.find(**blocks), d.find(repeats=2, **blocks), d.operate()),
    )
    case(
        "repeated-blocks-more",
        "An agent begins what the gap blocks that took the place of one that blocked nothing.",
        lambda d: (d.find(), d.find(repeats=2, **blocks), d.operate()),
    )
    case(
        "confirmed-repeated",
        "A plan is confirmed while a repeated gap is open.",
        lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=2), d.confirm()),
    )
    case(
        "confirmed-repeated-open",
        "A plan is confirmed while a gap is open that took the place of an open one.",
        lambda d: (d.find(), d.find(repeats=2), d.confirm()),
    )


def timed(dialogue: Dialogue, **facts: Json) -> Entry:
    """Returns a gap that ends after a second."""
    return dialogue.find(deadline=moment(dialogue.in_time(1000)), **facts)
