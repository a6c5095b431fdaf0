"""What happens to a question at the wrong time or by the wrong hand: deadlines, defaults, refusals, escalations."""

from collections.abc import Callable
from typing import Any

from forge.asking import PEOPLE, Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.dialogues import asker, stranger
from forge.encode import Json, moment
from forge.writer import Agent, Entry


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("deadline")
    _answered(family)
    _backdated(family)
    _expired(family)
    _extended(family)
    _handed_over(family)
    _escalated(family)
    _cancelled(family)
    _delivered(family)


def _timed(default: bool = False, **facts: Json) -> Dialogue:
    """Returns work with a question that ends after a second."""
    dialogue = work("moments")
    dialogue.ask(deadline=moment(dialogue.in_time(1010)), default=default, **facts)
    return dialogue


def _case(family: Family, name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
    dialogue = _timed(**facts)
    fill(dialogue)
    family.fails_last(name, about, dialogue, code)


def _endless(family: Family, name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
    dialogue = work("moments")
    dialogue.ask()
    fill(dialogue)
    family.fails_last(name, about, dialogue, code)


def _answered(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, **facts: Json) -> None:
        _case(family, f"answer-{name}", about, fill, **facts)

    case("late", "An answer comes after the deadline.", lambda d: d.answer(0, at=d.in_time(2000)))
    case("just-late", "An answer comes at the very deadline.", lambda d: d.answer(0, at=d.in_time(1000)))
    case("person-late", "A person answers after the deadline.", lambda d: d.answer(0, "person", at=d.in_time(2000)))
    case(
        "expired", "An answer to an expired question.", lambda d: (d.expire(0, d.in_time(2000)), d.answer(0, "person"))
    )
    case(
        "defaulted",
        "An answer after the default took effect.",
        lambda d: (d.default(0, d.in_time(2000)), d.answer(0, "person")),
        default=True,
    )
    case(
        "default-superseded",
        "An answer supersedes the default.",
        lambda d: (d.default(0, d.in_time(2000)), d.supersede(1, 0, "person")),
        default=True,
    )
    case(
        "after-revocation",
        "An answer is taken back after the deadline and given again.",
        lambda d: (d.answer(0, "person"), d.revoke(1, 0, "person", at=d.in_time(2000)), d.answer(0, "person")),
    )
    case(
        "accepted-late",
        "A warning is accepted after the deadline.",
        lambda d: d.accept(0, "person", at=d.in_time(2000)),
        severity="warn",
    )
    case(
        "old-deadline",
        "An answer comes after the deadline of an escalation, and the first deadline is no longer of use.",
        lambda d: (d.escalate(0, deadline=d.in_time(100)), d.answer(0, "person", at=d.in_time(500))),
    )


def _backdated(family: Family) -> None:
    """The desk takes an answer that came too late and sets its clock back."""
    late = _timed()
    late.answer(0, at=late.in_time(2000))
    honest = late.export()
    forged = honest.copy()
    forged.run[1].envelope["time"] = moment(late.in_time(-1500))
    forged.repair().seal()
    about = (
        "The desk back-dates a late answer; nothing was recorded since the deadline, so only the desk's word is here."
    )
    family.holds("backdated", about, forged)
    about = "The same file with the receipt that the answerer got at the true time."
    family.fails("backdated-receipt", about, forged, "RECEIPT_MISMATCH", receipt=honest.receipt(1))
    late = _timed()
    late.deliver(0, at=late.in_time(2000))
    late.answer(0)
    forged = late.export()
    forged.run[2].envelope["time"] = moment(late.in_time(-1500))
    about = "The desk back-dates a late answer behind an event after the deadline."
    family.fails("backdated-behind", about, forged.repair().seal(), "TIME_BACKWARDS", 2)
    forged = late.export()
    forged.run[1:] = [forged.run[2], forged.run[1]]
    forged.run[1].envelope["time"] = moment(late.in_time(-1500))
    about = "The desk back-dates a late answer and moves it before an event that its author had seen."
    family.fails("backdated-moved", about, forged.repair().seal(), "STATEMENT_MISMATCH", 1)
    forged = late.export()
    for place in (1, 2):
        forged.run[place].envelope["time"] = moment(late.in_time(-1500))
    about = "The desk back-dates a late answer and the event before it, which the answerer had seen."
    family.fails("backdated-both", about, forged.repair().seal(), "SEEN_INVALID", 2)
    late = _timed()
    late.answer(0, at=late.in_time(900), not_after=late.in_time(500))
    about = "The desk keeps an answer until it suits, past the end of its statement."
    family.fails("held-back", about, late.export(), "STATEMENT_EXPIRED", 1)


def _expired(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        _case(family, name, about, fill, code, **facts)

    default: dict[str, Json] = {"default": True}
    case("expired-early", "The desk lets a question expire before its deadline.", lambda d: d.expire(0))
    case("expired-twice", "A question expires twice.", lambda d: (d.expire(0, d.in_time(2000)), d.expire(0)))
    case(
        "expired-answered",
        "An answered question expires.",
        lambda d: (d.answer(0, "person"), d.expire(0, d.in_time(2000))),
    )
    case(
        "expired-declined",
        "A declined question expires.",
        lambda d: (d.decline(0, "person"), d.expire(0, d.in_time(2000))),
    )
    case("expired-default", "A question with a default expires.", lambda d: d.expire(0, d.in_time(2000)), **default)
    case(
        "expired-extended",
        "A question expires at a deadline that was extended.",
        lambda d: (d.extend(0, d.in_time(5000)), d.expire(0, d.in_time(2000))),
    )
    _endless(family, "expired-endless", "A question without a deadline expires.", lambda d: d.expire(0))
    case("defaulted-early", "The default takes effect before the deadline.", lambda d: d.default(0), **default)
    case(
        "defaulted-undeclared", "A default takes effect that was not declared.", lambda d: d.default(0, d.in_time(2000))
    )
    case(
        "defaulted-answered",
        "The default takes effect over an answer.",
        lambda d: (d.answer(0, "person"), d.default(0, d.in_time(2000))),
        **default,
    )
    case(
        "defaulted-twice",
        "A default takes effect twice.",
        lambda d: (d.default(0, d.in_time(2000)), d.default(0)),
        **default,
    )
    case(
        "defaulted-escalated",
        "A declined question is escalated; its default, which is gone, takes effect.",
        lambda d: (d.decline(0, "person"), d.escalate(0, deadline=d.in_time(2000)), d.default(0, d.in_time(3000))),
        **default,
    )
    case(
        "defaulted-endless",
        "A question is escalated without a deadline; its default, which is gone, takes effect.",
        lambda d: (d.escalate(0), d.default(0, d.in_time(3000))),
        **default,
    )
    case(
        "expired-by-agent",
        "An agent lets its question expire with its own key.",
        lambda d: d.say("agent", "question_expired", {"question": 0}, at=d.in_time(2000)),
        "STATEMENT_MISMATCH",
    )
    case(
        "expired-by-person",
        "The desk records that a person let a question expire.",
        lambda d: d.act("person", "question_expired", {"question": 0}, at=d.in_time(2000)),
        "ROLE_POLICY_VIOLATION",
    )
    case(
        "expired-with-words",
        "The desk adds words to an expiry.",
        lambda d: d.act("desk", "question_expired", {"question": 0}, {"note": "late"}, at=d.in_time(2000)),
        "COMMITMENT_MISMATCH",
    )


def _extended(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        _case(family, f"extended-{name}", about, fill, code)

    case("back", "The asker moves the deadline back.", lambda d: d.extend(0, d.in_time(500)))
    case("not-at-all", "The asker extends to the same deadline.", lambda d: d.extend(0, d.in_time(1000)))
    case("late", "The asker extends after the deadline.", lambda d: d.extend(0, d.in_time(5000), at=d.in_time(2000)))
    case("by-other", "Another agent extends.", lambda d: d.extend(0, d.in_time(5000), stranger(d, "agent")))
    case("by-desk", "The desk extends.", lambda d: d.extend(0, d.in_time(5000), "desk"), "SIG_MISSING")
    case(
        "by-answerer",
        "An answerer extends.",
        lambda d: d.extend(0, d.in_time(5000), "answerer"),
        "ROLE_POLICY_VIOLATION",
    )
    case(
        "answered", "An answered question is extended.", lambda d: (d.answer(0, "person"), d.extend(0, d.in_time(5000)))
    )
    _endless(
        family, "extended-endless", "A question without deadline gets one.", lambda d: d.extend(0, d.in_time(5000))
    )


def _handed_over(family: Family) -> None:
    def decline(dialogue: Dialogue, who: str | Agent = "answerer", **rest: Any) -> Entry:
        return dialogue.decline(0, who, **rest)

    def pass_on(dialogue: Dialogue, who: str | Agent = "answerer", **rest: Any) -> Entry:
        return dialogue.pass_on(0, PEOPLE, who, **rest)

    _handed_over_by(family, "declined", "declines", decline)
    _handed_over_by(family, "passed-on", "passes on", pass_on)
    nobody = {"people": False, "principals": []}
    _case(family, "passed-on-nobody", "A question is passed on to nobody.", lambda d: d.pass_on(0, nobody))
    _case(
        family,
        "passed-on-kept",
        "An answerer passes a question on to people, and answers.",
        lambda d: (d.pass_on(0, PEOPLE), d.answer(0)),
    )

    keys: dict[str, Json] = {"answerers": {"people": False, "principals": None}}
    _case(
        family, "declined-person", "A person declines where keys may answer.", lambda d: d.decline(0, "person"), **keys
    )
    _case(
        family,
        "passed-on-person",
        "A person takes to people what keys may answer.",
        lambda d: d.pass_on(0, PEOPLE, "person"),
        **keys,
    )
    _case(
        family,
        "passed-on-unordered",
        "A question is passed on to people out of order.",
        lambda d: d.pass_on(0, {"people": True, "principals": _two(d)[::-1]}),
    )


def _two(dialogue: Dialogue) -> list[str]:
    return sorted(one.principal for one in (dialogue.someone("answerer"), stranger(dialogue)))


def _handed_over_by(family: Family, kind: str, what: str, act: Callable[..., Entry]) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        _case(family, f"{kind}-{name}", about, fill, code, **facts)

    case("late", f"Somebody {what} after the deadline.", lambda d: act(d, at=d.in_time(2000)))
    case("unnamed", f"A key {what} what people are asked.", lambda d: act(d), answerers=PEOPLE)
    case("answered", f"Somebody {what} an answered question.", lambda d: (d.answer(0), act(d)))
    case("by-desk", f"The desk {what}.", lambda d: act(d, "desk"), "ROLE_POLICY_VIOLATION")
    case("by-self", f"The asker {what} with a second key, which may not answer.", lambda d: act(d, asker(d)))
    code = "ORDER_VIOLATION" if kind == "declined" else "ROLE_POLICY_VIOLATION"
    case("by-agent", f"The asker {what}.", lambda d: act(d, "agent"), code)


def _escalated(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        _case(family, f"escalated-{name}", about, fill, code, **facts)

    case("lower", "An escalation lowers the assurance.", lambda d: d.escalate(0), assurance="terminal")
    case("past", "An escalation sets a deadline in the past.", lambda d: d.escalate(0, deadline=d.in_time(-5)))
    case("answered", "An answered question is escalated.", lambda d: (d.answer(0, "person"), d.escalate(0)))
    case("cancelled", "A cancelled question is escalated.", lambda d: (d.cancel(0), d.escalate(0)))
    case(
        "defaulted",
        "A defaulted question is escalated.",
        lambda d: (d.default(0, d.in_time(2000)), d.escalate(0)),
        default=True,
    )
    nobody = {"people": False, "principals": []}
    case(
        "unordered",
        "A question is escalated to keys out of order.",
        lambda d: d.escalate(0, answerers={"people": True, "principals": _two(d)[::-1]}),
    )
    case("nobody", "A question is escalated to nobody.", lambda d: d.escalate(0, answerers=nobody))
    case(
        "old-answerer",
        "A question is escalated to people, and a key answers.",
        lambda d: (d.escalate(0, answerers=PEOPLE), d.answer(0)),
    )
    case(
        "old-assurance",
        "An escalation raises the assurance, and the answer has the old one.",
        lambda d: (d.escalate(0, assurance="signed_in"), d.answer(0, "person")),
    )
    facts: dict[str, Json] = {"answerers": PEOPLE, "assurance": "agent", "deadline": None, "question": 0}
    case(
        "by-agent",
        "An agent escalates its question with its own key.",
        lambda d: d.act("agent", "question_escalated", facts),
        "STATEMENT_MISMATCH",
    )
    case(
        "by-person",
        "The desk records that a person escalated.",
        lambda d: d.act("person", "question_escalated", facts),
        "ROLE_POLICY_VIOLATION",
    )


def _cancelled(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        _case(family, f"cancelled-{name}", about, fill, code)

    case("by-other", "Another agent cancels a question.", lambda d: d.cancel(0, stranger(d, "agent")))
    case("by-answerer", "An answerer cancels a question.", lambda d: d.cancel(0, "answerer"), "ROLE_POLICY_VIOLATION")
    case("by-desk", "The desk cancels a question.", lambda d: d.cancel(0, "desk"), "SIG_MISSING")
    case("answered", "An answered question is cancelled.", lambda d: (d.answer(0, "person"), d.cancel(0)))
    case("twice", "A question is cancelled twice.", lambda d: (d.cancel(0), d.cancel(0)))
    case("nothing", "An agent cancels what is no question.", lambda d: (d.answer(0, "person"), d.cancel(1)))


def _delivered(family: Family) -> None:
    about = "The desk delivers what is no question."
    _case(family, "delivered-nothing", about, lambda d: (d.answer(0, "person"), d.deliver(1)))
    _case(
        family,
        "delivered-by-agent",
        "An agent says with its key that its question was delivered.",
        lambda d: d.act("agent", "question_delivered", {"question": 0, "to": None}),
        "STATEMENT_MISMATCH",
    )
