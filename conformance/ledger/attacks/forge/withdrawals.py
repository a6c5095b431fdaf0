"""Gaps that the rules no longer find: who may withdraw them and when, and what comes after."""

from forge.asking import PEOPLE, Dialogue, Fill
from forge.case import Corpus, Family
from forge.dialogues import confirmed_plan, planned
from forge.encode import Json, moment
from forge.plans import case_of_plan
from forge.repetitions import timed


def add(corpus: Corpus) -> None:
    """Adds to the families of honest files, plans and hearsay."""
    _honest(corpus.family("valid"))
    family = corpus.family("plan")
    _speakers(family)
    _states(family)
    _after(family)
    _forms(family)
    _hearsay(corpus.family("hearsay"))


def _honest(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        confirmed_plan(family, f"plan-withdrawn-{name}", about, "withdrawn", fill)

    case("open", "A gap is withdrawn, and the plan confirmed.", lambda d: (d.find(), d.withdraw(2)))
    case(
        "other-answer",
        "Of two gaps one is answered, which settles the other; that is withdrawn, with the answer as its cause.",
        lambda d: (d.find(), d.find(), d.answer(2, "person"), d.withdraw(3, cause=4)),
    )
    case("declined", "A gap is declined, then withdrawn.", lambda d: (d.find(), d.decline(2, "person"), d.withdraw(2)))
    case(
        "expired",
        "A gap expires, then is withdrawn.",
        lambda d: (timed(d), d.expire(2, d.in_time(2000)), d.withdraw(2)),
    )
    case(
        "overdue",
        "A gap past its deadline, which nobody has recorded as expired, is withdrawn.",
        lambda d: (timed(d), d.withdraw(2, at=d.in_time(2000))),
    )
    case("warn", "A warning is withdrawn.", lambda d: (d.find(severity="warn"), d.withdraw(2)))
    case(
        "revoked",
        "The answer to a gap is taken back; the gap is withdrawn.",
        lambda d: (d.find(), d.answer(2, "person"), d.revoke(3, 2, "person"), d.withdraw(2)),
    )
    case("repeated", "A gap that repeats another is withdrawn.", lambda d: (d.find(), d.find(repeats=2), d.withdraw(3)))
    case(
        "found-again",
        "A gap is withdrawn; the rules find it again, as a new one, and it is answered.",
        lambda d: (d.find(), d.withdraw(2), d.find(), d.answer(4, "person")),
    )
    case("delivered", "A gap is delivered after it was withdrawn.", lambda d: (d.find(), d.withdraw(2), d.deliver(2)))
    case(
        "operation",
        "What a gap blocked goes on after it was withdrawn.",
        lambda d: (d.find(blocks=["deploy"]), d.withdraw(2), d.operate(), d.operate("Deploy")),
    )


def _speakers(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ROLE_POLICY_VIOLATION") -> None:
        case_of_plan(family, f"withdrawn-{name}", about, lambda d: (d.find(), fill(d)), code)

    facts: dict[str, Json] = {"question": 2}
    words: Json = {"by": None, "reason": "because"}
    signed = "STATEMENT_MISMATCH"
    case("by-agent", "An agent withdraws a gap with its own key.", lambda d: d.withdraw(2, "agent"), signed)
    case("signed", "The desk signs the withdrawal of a gap.", lambda d: d.withdraw(2, d.someone("desk")), signed)
    case("by-person", "The desk records that a person withdrew a gap.", lambda d: d.withdraw(2, "person"))
    case(
        "as-operator",
        "The desk records that the operator withdrew a gap.",
        lambda d: d.trace.record("gap_withdrawn", facts, words, role="operator"),
    )
    case(
        "as-agent",
        "The desk records that the agent withdrew a gap.",
        lambda d: d.trace.record("gap_withdrawn", facts, words, role="agent"),
    )


def _states(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, f"withdrawn-{name}", about, fill, code)

    case("twice", "A gap is withdrawn twice.", lambda d: (d.find(), d.withdraw(2), d.withdraw(2)))
    case("answered", "An answered gap is withdrawn.", lambda d: (d.find(), d.answer(2, "person"), d.withdraw(2)))
    case(
        "accepted",
        "An accepted warning is withdrawn.",
        lambda d: (d.find(severity="warn"), d.accept(2, "person"), d.withdraw(2)),
    )
    case(
        "defaulted",
        "A gap whose default took effect is withdrawn.",
        lambda d: (timed(d, default=True), d.default(2, d.in_time(2000)), d.withdraw(2)),
    )
    case("asked", "A question of the agent is withdrawn.", lambda d: (d.ask(), d.withdraw(2)))
    case("rules", "The rules are withdrawn.", lambda d: d.withdraw(1))
    case("answer", "An answer is withdrawn.", lambda d: (d.find(), d.answer(2, "person"), d.withdraw(3)))
    case("itself", "A withdrawal withdraws itself.", lambda d: d.withdraw(2), "CITES_UNSEEN")
    case("ahead", "A gap is withdrawn before it is found.", lambda d: d.withdraw(3), "CITES_UNSEEN")
    case(
        "after",
        "A gap is withdrawn after the confirmation.",
        lambda d: (d.find(), d.answer(2, "person"), d.confirm(), d.withdraw(2)),
    )


def _after(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, **facts: Json) -> None:
        case_of_plan(family, f"withdrawn-{name}", about, lambda d: (d.find(**facts), d.withdraw(2), fill(d)))

    case("then-answered", "A key answers a gap that was withdrawn.", lambda d: d.answer(2))
    case("then-answered-person", "A person answers a gap that was withdrawn.", lambda d: d.answer(2, "person"))
    case("then-accepted", "A warning is accepted that was withdrawn.", lambda d: d.accept(2, "person"), severity="warn")
    case("then-declined", "A gap is declined that was withdrawn.", lambda d: d.decline(2, "person"))
    case("then-passed-on", "A gap is passed on that was withdrawn.", lambda d: d.pass_on(2, PEOPLE))
    case("then-escalated", "A gap is escalated that was withdrawn.", lambda d: d.escalate(2))
    late: dict[str, Json] = {"deadline": moment(planned("plans").in_time(1000))}
    case("then-expired", "A gap expires that was withdrawn.", lambda d: d.expire(2, d.in_time(2000)), **late)
    case(
        "then-defaulted",
        "The default of a gap takes effect that was withdrawn.",
        lambda d: d.default(2, d.in_time(2000)),
        default=True,
        **late,
    )

    def beside(name: str, about: str, fill: Fill) -> None:
        case_of_plan(family, f"withdrawn-{name}", about, fill)

    blocks: dict[str, Json] = {"blocks": ["deploy"]}
    beside(
        "then-superseded",
        "An answer that was taken back is superseded after the gap was withdrawn.",
        lambda d: (
            d.find(),
            d.answer(2, "person"),
            d.revoke(3, 2, "person"),
            d.withdraw(2),
            d.supersede(3, 2, "person"),
        ),
    )
    beside(
        "other-blocks",
        "Two gaps block an operation; one is withdrawn, and an agent begins it.",
        lambda d: (d.find(**blocks), d.find(**blocks), d.withdraw(2), d.operate()),
    )
    beside(
        "other-open",
        "Of two gaps one is withdrawn, and the plan is confirmed.",
        lambda d: (d.find(), d.find(), d.withdraw(2), d.confirm()),
    )
    beside(
        "old-one",
        "A gap in another's place stays open; the desk withdraws the one that was answered and replaced.",
        lambda d: (d.find(), d.answer(2, "person"), d.find(repeats=2), d.withdraw(2)),
    )


def _forms(family: Family) -> None:
    def case(name: str, about: str, code: str, facts: Json, content: Json) -> None:
        def fill(plan: Dialogue) -> None:
            plan.find()
            plan.trace.record("gap_withdrawn", facts, content)

        case_of_plan(family, f"withdrawn-{name}", about, fill, code)

    facts: Json = {"question": 2}
    words: Json = {"by": None, "reason": "because"}
    position: Json = planned("plans").find().position
    case("wordless", "A withdrawal has no content.", "COMMITMENT_MISMATCH", facts, None)
    case("unreasoned", "A withdrawal has an empty reason.", "CONTENT_INVALID", facts, words | {"reason": ""})
    case("content-more", "A withdrawal says more than it may.", "CONTENT_INVALID", facts, words | {"answer": "blue"})
    case("facts-more", "A withdrawal settles with a value.", "SCHEMA_INVALID", facts | {"answer": "blue"}, words)
    case("facts-less", "A withdrawal names no gap.", "SCHEMA_INVALID", {}, words)
    case("position", "A withdrawal names its gap with the hash.", "SCHEMA_INVALID", {"question": position}, words)


def _hearsay(family: Family) -> None:
    """The desk puts a withdrawal in the place of a person's answer, which was its word too."""

    def told(fill: Fill, *, confirmed: bool) -> Dialogue:
        plan = planned("hearsay")
        plan.find()
        fill(plan)
        if confirmed:
            plan.confirm()
        return plan

    honest = told(lambda d: d.answer(2, "person"), confirmed=False)
    forged = told(lambda d: d.withdraw(2), confirmed=False)
    about = "The desk withdraws a gap in the place of a person's answer, which nobody had seen."
    family.holds("withdrawn-last", about, forged.export(), "pass_with_warnings", integrity=False)
    known = honest.trace.entries[3].position
    about = "The same file held against the answer that somebody knows."
    against = ["--against", f"{known['sequence']}:{known['hash']}"]
    family.fails("withdrawn-against", about, forged.export(), "AGAINST_MISMATCH", options=against)
    exchanged = told(lambda d: d.answer(2, "person"), confirmed=True).export()
    exchanged.run[3] = forged.export().run[3]
    about = "The desk withdraws a gap in the place of a person's answer after the agent confirmed."
    family.fails("withdrawn-seen", about, exchanged.repair().seal(), "SEEN_INVALID", 4)
    dropped = told(lambda d: d.withdraw(2), confirmed=True).export()
    del dropped.run[3]
    about = "The desk drops a withdrawal that the agent had seen."
    family.fails("withdrawal-dropped", about, dropped.repair().seal(), "STATEMENT_MISMATCH", 3)
    renamed = planned("hearsay")
    renamed.find()
    renamed.find()
    renamed.withdraw(2)
    renamed.answer(3)
    renamed.confirm()
    moved = renamed.export()
    moved.run[4].envelope["record"]["facts"]["question"] = 3
    about = "The desk lets its withdrawal name the gap that a key answered after it had seen the other withdrawn."
    family.fails("withdrawn-renamed", about, moved.repair().seal(), "SEEN_INVALID", 5)
