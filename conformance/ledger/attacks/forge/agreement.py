"""Answers and defaults whose words are not those of their question, which shows only where both are disclosed."""

from forge.asking import Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.dialogues import planned
from forge.encode import Json, moment


def add(corpus: Corpus) -> None:
    """Adds to the families of answers and deadlines."""
    family = corpus.family("answer")
    _choices(family)
    _requests(family)
    _gaps(family)
    _defaults(corpus.family("deadline"))


def _case(family: Family, name: str, about: str, dialogue: Dialogue) -> None:
    """Adds a dialogue whose last event disagrees with the question, and for some the same where that cannot be told."""
    last = dialogue.newest
    export = dialogue.export()
    family.fails(name, about, export, "CONTENT_INVALID", last)
    for place, what in HIDDEN.get(f"{family.name}-{name}", {}).items():
        hidden = export.copy()
        hidden.run[place].hide("withheld")
        unknown = f"{about} The words of the {what} are withheld."
        family.holds(f"{name}-{what}-withheld", unknown, hidden.seal(), "not_established")


def _choices(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, words: Json = None) -> None:
        dialogue = work("agreement")
        dialogue.ask(words=words, **CHOICES)
        fill(dialogue)
        _case(family, f"choice-{name}", about, dialogue)

    labels = {"choices": [{"label": "The blue one", "value": "blue"}, {"label": "The red one", "value": "red"}]}
    shown = {"choices": [1, 0], "language": "en", "recommendation": False, "wording": "normal"}
    case(
        "other-value", "A key chooses the first and says the second.", lambda d: d.answer(0, value="red", **_chosen(0))
    )
    case(
        "label",
        "An answer has the label of its choice in place of the value.",
        lambda d: d.answer(0, "person", "The blue one", **_chosen(0)),
        labels,
    )
    case(
        "as-shown",
        "An answer counts the choices as they stood on the screen.",
        lambda d: d.answer(0, "person", "red", words={"shown": shown}, **_chosen(0)),
    )
    case(
        "superseded",
        "A second answer chooses the second and says the first.",
        lambda d: (d.answer(0, "person", **_chosen(0)), d.supersede(1, 0, "person", "blue", **_chosen(1))),
    )


def _requests(family: Family) -> None:
    def case(name: str, about: str, asked: Json, fill: Fill) -> None:
        dialogue = work("agreement")
        dialogue.ask(words={"request": asked})
        fill(dialogue)
        _case(family, f"request-{name}", about, dialogue)

    ours, other = "5a" * 32, "a5" * 32
    case("missing", "A person answers for no request.", ours, lambda d: d.answer(0, "person"))
    case(
        "invented",
        "A person answers for a request where none waits.",
        None,
        lambda d: d.answer(0, "person", words={"request": other}),
    )
    case(
        "other",
        "The desk uses a person's answer for another request.",
        ours,
        lambda d: d.answer(0, "person", words={"request": other}),
    )
    case(
        "superseded",
        "A second answer is for another request.",
        ours,
        lambda d: (
            d.answer(0, "person", words={"request": ours}),
            d.supersede(1, 0, "person", words={"request": other}),
        ),
    )


def _gaps(family: Family) -> None:
    plan = planned("agreement")
    plan.find(**CHOICES)
    plan.answer(2, "person", "red", **_chosen(0))
    _case(family, "choice-gap", "A person fills a gap with the first choice; the words are those of the second.", plan)


def _defaults(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        dialogue = work("agreement")
        dialogue.ask(deadline=moment(dialogue.in_time(1010)), default=True)
        fill(dialogue)
        _case(family, f"defaulted-{name}", about, dialogue)

    case("other", "Another default than the declared one takes effect.", lambda d: d.default(0, d.in_time(2000), "red"))
    case(
        "other-escalated",
        "A question is escalated while open, and another default takes effect.",
        lambda d: (d.escalate(0, deadline=d.in_time(2000)), d.default(0, d.in_time(3000), "red")),
    )
    plan = planned("agreement")
    plan.find(deadline=moment(plan.in_time(1010)), default=True)
    plan.default(2, plan.in_time(2000), "red")
    _case(family, "defaulted-other-gap", "A gap is filled with another default than the declared one.", plan)


def _chosen(choice: int) -> dict[str, Json]:
    return {"kind": "multiple_choice", "choice": choice}


CHOICES: dict[str, Json] = {"kinds": ["multiple_choice"], "choices": 2}
# Where the words are withheld that would show it, by case and event.
HIDDEN: dict[str, dict[int, str]] = {
    "answer-choice-as-shown": {0: "question", 1: "answer"},
    "answer-choice-superseded": {0: "question"},
    "answer-request-other": {0: "question", 1: "answer"},
    "answer-request-superseded": {0: "question"},
    "deadline-defaulted-other": {0: "question", 1: "default"},
    "deadline-defaulted-other-gap": {2: "question"},
}
