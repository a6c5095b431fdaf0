"""Questions handed to those who may not answer, by those who may not hand them over, or at the very deadline."""

from forge.asking import PEOPLE, Fill, work
from forge.case import Corpus, Family
from forge.dialogues import alone, planned
from forge.encode import Json, moment


def add(corpus: Corpus) -> None:
    """Adds to the family of deadlines."""
    family = corpus.family("deadline")
    _to_asker(family)
    _below(family)
    _at_deadline(family)


def _case(family: Family, name: str, about: str, fill: Fill, **facts: Json) -> None:
    """Adds work with a question that ends after a second, whose last event fails."""
    dialogue = work("handover")
    dialogue.ask(deadline=moment(dialogue.in_time(1010)), **facts)
    fill(dialogue)
    family.fails_last(name, about, dialogue, "ORDER_VIOLATION")


def _to_asker(family: Family) -> None:
    """Answerers that leave only the one who asked."""
    _case(
        family,
        "passed-on-asker",
        "An answerer passes a question on to its asker alone.",
        lambda d: d.pass_on(0, alone(d)),
    )
    _case(
        family,
        "passed-on-asker-person",
        "A person passes a question on to its asker alone.",
        lambda d: d.pass_on(0, alone(d), "person"),
    )
    _case(
        family,
        "escalated-asker",
        "The desk escalates a question to its asker alone.",
        lambda d: d.escalate(0, answerers=alone(d)),
    )
    plan = planned("handover")
    plan.find()
    plan.escalate(2, answerers=alone(plan, "desk"))
    about = "The desk escalates a gap to itself alone."
    family.fails("escalated-gap-desk", about, plan.export(), "ORDER_VIOLATION", 3)
    plan = planned("handover")
    plan.find()
    plan.pass_on(2, alone(plan, "desk"), "person")
    about = "A person passes a gap on to the desk alone, which asks."
    family.fails("passed-on-gap-desk", about, plan.export(), "ORDER_VIOLATION", 3)


def _below(family: Family) -> None:
    """Keys that decline or pass on what a key's answer could not settle."""
    _case(
        family,
        "declined-below",
        "A key declines a question that demands a person at the terminal.",
        lambda d: d.decline(0),
        assurance="terminal",
    )
    _case(
        family,
        "passed-on-below",
        "A key passes on a question whose answer a client must relay from a person at least.",
        lambda d: d.pass_on(0, PEOPLE),
        assurance="relayed",
    )
    _case(
        family,
        "declined-raised",
        "A key declines a question that was escalated to demand a person at the terminal.",
        lambda d: (d.escalate(0, assurance="terminal"), d.decline(0)),
    )


def _at_deadline(family: Family) -> None:
    """The question ends a second after it was asked; at that moment it is too late."""

    def case(name: str, about: str, fill: Fill, **facts: Json) -> None:
        _case(family, f"exactly-{name}", f"{about} at the very deadline.", fill, **facts)

    case("person", "A person answers", lambda d: d.answer(0, "person", at=d.in_time(1000)))
    case("accepted", "A warning is accepted", lambda d: d.accept(0, "person", at=d.in_time(1000)), severity="warn")
    case("declined", "A question is declined", lambda d: d.decline(0, "person", at=d.in_time(1000)))
    case("passed-on", "A question is passed on", lambda d: d.pass_on(0, PEOPLE, "person", at=d.in_time(1000)))
    case("extended", "A question is extended", lambda d: d.extend(0, d.in_time(5000), at=d.in_time(1000)))
    _case(
        family,
        "exactly-escalated-now",
        "An escalation sets the moment it happens as the deadline.",
        lambda d: d.escalate(0, deadline=d.in_time(10)),
    )
    _case(
        family,
        "expired-just-early",
        "A question expires a millisecond before its deadline.",
        lambda d: d.expire(0, d.in_time(999)),
    )
    _case(
        family,
        "defaulted-just-early",
        "A default takes effect a millisecond before the deadline.",
        lambda d: d.default(0, d.in_time(999)),
        default=True,
    )
