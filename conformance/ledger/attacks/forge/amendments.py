"""Plans that are amended and withdrawn: by whom, when, and over whose answers."""

from collections.abc import Callable

from forge.asking import Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.confirmations import Desk
from forge.dialogues import confirmed_plan, planned, planned_of, stranger
from forge.encode import Json
from forge.papers import asked_plan
from forge.plans import case_of_plan


def add(corpus: Corpus) -> None:
    """Adds the families, and honest files."""
    _amended(corpus.family("amended"))
    _answered(corpus.family("amended"))
    _withdrawn(corpus.family("withdrawn"))
    _gaps(corpus.family("withdrawn"))
    _papers(corpus.family("withdrawn"))
    _honest(corpus.family("valid"))


def _amended(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, name, about, fill, code)

    role = "ROLE_POLICY_VIOLATION"
    case("by-other", "Another agent amends a plan.", lambda d: d.amend(RED, stranger(d, "agent")), role)
    case("by-answerer", "An answerer amends a plan.", lambda d: d.amend(RED, "answerer"), role)
    case("by-desk", "The desk amends a plan.", lambda d: d.amend(RED, "desk"), "SIG_MISSING")
    case(
        "by-person",
        "The desk records that a person amends a plan.",
        lambda d: d.amend(RED, "person"), "SIG_MISSING",
    )
    case("confirmed", "A plan is amended after its confirmation.", lambda d: (d.confirm(), d.amend(RED)))
    case("withdrawn", "A plan is amended after its withdrawal.", lambda d: (d.give_up(), d.amend(RED)))
    case("list", "A plan is amended to a list.", lambda d: d.amend([]), "CONTENT_INVALID")
    case("fact", "An amended plan is open as facts.", lambda d: _open(d), "SCHEMA_INVALID")
    plan = work("openings")
    plan.submit()
    plan.amend(RED)
    family.fails("no-rules", "A plan is amended before any rules saw it.", plan.export(), "ORDER_VIOLATION", 1)


def _answered(family: Family) -> None:
    def answered(name: str, about: str, fill: Fill) -> None:
        case_of_plan(family, f"answered-{name}", about, fill, "FIELD_ANSWERED")

    def case(name: str, about: str, plan: Json, value: Json = "blue", **facts: Json) -> None:
        kind = {"kind": facts["kinds"][0]} if "kinds" in facts else {}
        answered(name, about, lambda d: (d.find(**facts), d.answer(2, "person", value, **kind), d.amend(plan)))

    case("other", "An agent changes what a person answered.", RED)
    case("gone", "An agent leaves out what a person answered.", {"size": 3})
    case("null", "An agent takes out what a person answered.", {"colour": None})
    case("list", "An agent adds to what a person answered.", {"colour": ["blue", "red"]})
    case("fewer", "An agent takes an entry out of a list that a person answered.", {"colour": ["blue"]}, "blue, red")
    case("deep", "An agent hides what a person answered.", {"colour": {"inner": {"colour": "blue"}}})
    case("case", "An agent writes what a person answered in other letters.", {"colour": "Blue"})
    case("no", "An agent makes a yes of a no.", {"colour": True}, False, kinds=["yes_no"])
    case("one", "An agent makes a number of a yes.", {"colour": 1}, True, kinds=["yes_no"])
    case("number", "An agent adds a zero.", {"colour": 100}, 10, kinds=["numeric"])

    answered(
        "before",
        "An agent goes back to the answer that was replaced.",
        lambda d: (d.find(), d.answer(2, "person"), d.supersede(3, 2, "person", "red"), d.amend(BLUE)),
    )
    answered(
        "second",
        "An agent changes one of two answers.",
        lambda d: (
            d.find(),
            d.find(words={"field": "size"}),
            d.answer(2, "person"),
            d.answer(3, "person", "small"),
            d.amend(BLUE | {"size": "large"}),
        ),
    )

    def meeting(name: str, about: str, fields: tuple[str, str], answers: tuple[str, str], plan: Json) -> None:
        dialogue = _meeting(fields, answers)
        dialogue.amend(plan)
        family.fails(f"answered-{name}", about, dialogue.export(), "FIELD_ANSWERED", 6)

    entry, both = ("colour", "colour.0"), ("blue, red", "green")
    about = "An agent changes an entry of a list beside the one that a later answer replaced."
    meeting("beside", about, entry, both, {"colour": ["green", "black"]})
    about = "An agent changes the entry of a list that a later answer replaced."
    meeting("entry", about, entry, both, {"colour": ["black", "red"]})
    meeting("entry-back", "An agent brings an entry back that was replaced.", entry, both, {"colour": ["blue", "red"]})
    meeting("shorter", "An agent drops the end of a list.", entry, both, {"colour": ["green"]})
    about = "An agent adds to a list of which a later answer replaced an entry."
    meeting("longer", about, entry, both, {"colour": ["green", "red", "black"]})
    about = "An agent goes back to the earlier of two answers to one field."
    meeting("earlier", about, ("colour", "colour"), ("blue", "red"), BLUE)


def _meeting(fields: tuple[str, str], answers: tuple[str, str]) -> Dialogue:
    """Returns a plan with an answer to the first field, and then one to the second."""
    dialogue = planned("plans")
    dialogue.find(words={"field": fields[0]})
    dialogue.answer(2, "person", answers[0])
    dialogue.find(words={"field": fields[1]})
    dialogue.answer(4, "person", answers[1])
    return dialogue


def _withdrawn(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, name, about, fill, code)

    role = "ROLE_POLICY_VIOLATION"
    case("by-other", "Another agent withdraws a plan.", lambda d: d.give_up(stranger(d, "agent")), role)
    case("by-answerer", "An answerer's key withdraws a plan.", lambda d: d.give_up("answerer"), role)
    case("by-desk", "The desk withdraws a plan as itself.", lambda d: d.give_up("desk"), role)
    case("twice", "A plan is withdrawn twice.", lambda d: (d.give_up(), d.give_up()))
    case("confirmed", "A plan is withdrawn after its confirmation.", lambda d: (d.confirm(), d.give_up()))
    case(
        "answered",
        "A gap is answered after the withdrawal.",
        lambda d: (d.find(), d.give_up(), d.answer(2, "person")),
    )
    case(
        "answered-closed",
        "A gap is answered that was closed with its plan.",
        lambda d: (d.find(), d.give_up(), d.withdraw(2), d.answer(2, "person")),
    )
    case(
        "accepted",
        "A warning is accepted after the withdrawal.",
        lambda d: (d.find(severity="warn"), d.give_up(), d.accept(2, "person")),
    )
    case("operation", "An operation begins after the withdrawal.", lambda d: (d.give_up(), d.operate()))
    case("gap", "A gap is found after the withdrawal.", lambda d: (d.give_up(), d.find()))
    case("asked", "The agent asks after the withdrawal.", lambda d: (d.give_up(), d.ask()))
    case("put-again", "A gap is put again after the withdrawal.", lambda d: (d.find(), d.give_up(), d.escalate(2)))
    case(
        "closed-confirmed",
        "A withdrawn plan is confirmed.",
        lambda d: (d.find(), d.give_up(), d.withdraw(2), d.confirm()),
    )
    case("attested", "A withdrawn plan is attested.", lambda d: (d.give_up(), d.attest(2)))
    case(
        "settled",
        "A settled gap is closed with its plan.",
        lambda d: (d.find(), d.answer(2, "person"), d.give_up(), d.withdraw(2)),
    )

    def confirming(name: str, about: str, fill: Callable[[Desk], object]) -> None:
        case_of_plan(family, name, about, fill, kind=Desk)

    confirming("wanted", "A confirmation is asked for after the withdrawal.", lambda d: (d.give_up(), d.want()))
    confirming("given", "A yes comes after the withdrawal.", lambda d: (d.want(), d.give_up(), d.yes(2)))
    confirming("lapsed-early", "A confirmation ends before its time and its plan.", lambda d: (d.want(), d.lapse(2)))


def _gaps(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, f"gap-{name}", about, fill, code)

    case("by-other", "Another agent takes a gap back.", lambda d: (d.find(), d.decline(2, stranger(d, "agent"))))
    case(
        "own",
        "An agent declines its own question, which it could cancel.",
        lambda d: (d.ask(), d.decline(2, "agent")),
    )
    case(
        "twice",
        "An agent takes a gap back twice.",
        lambda d: (d.find(), d.decline(2, "agent"), d.decline(2, "agent")),
    )
    case(
        "confirmed",
        "A plan is confirmed over a gap that its agent took back.",
        lambda d: (d.find(), d.decline(2, "agent"), d.confirm()),
    )
    case(
        "blocked",
        "An operation begins that waits for a gap which its agent took back.",
        lambda d: (d.find(blocks=["deploy"]), d.decline(2, "agent"), d.operate()),
    )
    case(
        "answered",
        "A gap is answered that its agent took back.",
        lambda d: (d.find(), d.decline(2, "agent"), d.answer(2, "person")),
    )
    case(
        "settled",
        "An agent takes a settled gap back.",
        lambda d: (d.find(), d.answer(2, "person"), d.decline(2, "agent")),
    )


def _papers(family: Family) -> None:
    plan = asked_plan()
    plan.d.give_up()
    plan.d.withdraw(2)
    plan.keep("document", 4, plan.document())
    plan.fails(family, "document", "A document asks for the gaps of a withdrawn plan.")

    plan = asked_plan()
    plan.d.amend(RED)
    plan.keep("document", 4, plan.document() | {"document": None})
    plan.fails(family, "amended-document", "After an amendment no document asks for the gap that is open.")


def _honest(family: Family) -> None:
    plan = asked_plan()
    plan.answer(2)
    plan.keep("round", 4, plan.round(2))
    plan.keep("document", 4, plan.document())
    plan.d.amend(BLUE | {"size": 3})
    plan.keep("document", 7, plan.document())
    content = {"plan": BLUE | {"size": 3}, "provenance": []}
    plan.d.confirm(content=content)
    plan.keep("acceptance", 9, plan.acceptance(content["plan"]))
    family.holds("amended", "A plan is amended beside what was answered, and confirmed.", plan.d.export())

    plan = asked_plan()
    plan.d.give_up("person")
    plan.d.withdraw(2)
    plan.keep("document", 4, {"document": None, "record": plan.seal()})
    about = "A person withdraws a plan, and what was asked about it ends."
    family.holds("withdrawn", about, plan.d.export(), "pass_with_warnings")

    dialogue = planned_of(Desk, "plans")
    dialogue.want()
    dialogue.give_up()
    dialogue.lapse(2)
    about = "With a plan ends what waited for a yes."
    family.holds("withdrawn-confirmation", about, dialogue.export(), "pass_with_warnings")

    def finished(name: str, about: str, fill: Fill) -> None:
        confirmed_plan(family, name, about, "plans", fill)

    finished(
        "gap-taken-back",
        "An agent takes a gap back, it is put again and answered.",
        lambda d: (d.find(), d.decline(2, "agent"), d.escalate(2), d.answer(2, "person")),
    )
    finished(
        "amended-list",
        "An answer stands in an amended plan as a list.",
        lambda d: (d.find(), d.answer(2, "person", " blue, red "), d.amend({"colour": ["blue", "red"]})),
    )
    finished(
        "amended-moved",
        "An answer made room for another, below its field.",
        lambda d: (d.find(), d.answer(2, "person"), d.amend({"colour": {"name": "blue", "gloss": True}})),
    )
    for name, about, fields, answers, plan in (
        (
            "entry",
            "A later answer replaced an entry of an answered list, and the plan is amended beside it.",
            ("colour", "colour.0"),
            ("blue, red", "green"),
            {"colour": ["green", "red"], "size": 3},
        ),
        (
            "added",
            "A later answer added an entry to an answered list.",
            ("colour", "colour.1"),
            ("blue", "green"),
            {"colour": ["blue", "green"]},
        ),
        (
            "above",
            "A later answer replaced what an answered field is part of.",
            ("colour.inner", "colour"),
            ("blue", "red"),
            RED,
        ),
        ("same", "A later answer to another gap replaced the answer.", ("colour", "colour"), ("blue", "red"), RED),
    ):
        dialogue = _meeting(fields, answers)
        dialogue.amend(plan)
        dialogue.confirm()
        family.holds(f"amended-{name}", about, dialogue.export())
    finished(
        "amended-revoked",
        "An answer was taken back, so its field is the agent's until it is asked again.",
        lambda d: (
            d.find(),
            d.answer(2, "person"),
            d.revoke(3, 2, "person"),
            d.amend(RED),
            d.withdraw(2),
        ),
    )
    finished(
        "repeats-withdrawn",
        "The rules find a gap again that they no longer found.",
        lambda d: (d.find(), d.withdraw(2), d.find(repeats=2), d.answer(4, "person")),
    )
    finished(
        "repeats-accepted",
        "The rules find a gap again that somebody had accepted.",
        lambda d: (
            d.find(severity="warn"),
            d.accept(2, "person"),
            d.find(severity="warn", repeats=2),
            d.accept(4, "person"),
        ),
    )


def _open(dialogue: Dialogue) -> object:
    return dialogue.act("agent", "plan_amended", {"plan": RED}, {"plan": RED})


BLUE: dict[str, Json] = {"colour": "blue"}
RED: dict[str, Json] = {"colour": "red"}
