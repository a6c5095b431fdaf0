"""Conditions of an approval that nobody has shown to hold, and checks on the bytes of artifacts that do not."""

from forge.asking import Dialogue, Fill
from forge.case import Corpus, Family
from forge.encode import Json
from forge.evidence import claiming
from forge.meanings import approved, proposing
from forge.stories import INPUT, crew


def add(corpus: Corpus) -> None:
    """Adds to the families of meaning and of honest files."""
    family = corpus.family("meaning")
    _conditions(family)
    _judges(family)
    _false(family)
    _disputes(family)
    _forms(family)
    _honest(corpus.family("valid"))


def _conditions(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        run = _conditional()
        fill(run)
        run.start(5, 4)
        family.fails_last(f"condition-{name}", about, run, "CONDITION_UNSHOWN")

    case("unshown", "A tool starts though nobody judged its conditions.", lambda d: None)
    case("one-of-two", "Of two conditions one is judged to hold.", lambda d: d.show(5, [4]))
    case(
        "does-not-hold",
        "The critic judges that one of two conditions does not hold.",
        lambda d: (d.show(5, [4]), d.show(5, [4], 1, holds=False)),
    )
    case(
        "of-other-intent",
        "The conditions are judged to hold for another intent with the same call.",
        lambda d: (d.intend(2, meets=[0, 1]), d.show(6, [4]), d.show(6, [4], 1)),
    )
    case(
        "answer-replaced",
        "A condition is judged to hold on a yes, which is replaced by a no.",
        lambda d: (_answered(d), d.supersede(8, 7, "person", False, kind="yes_no")),
    )
    case(
        "answer-taken-back",
        "A condition is judged to hold on a yes, which is taken back.",
        lambda d: (_answered(d), d.revoke(8, 7, "person")),
    )
    case(
        "answered-again",
        "A condition is judged to hold on a yes, which is taken back; then the answer is no.",
        lambda d: (_answered(d), d.revoke(8, 7, "person"), d.answer(7, "person", False, kind="yes_no")),
    )
    case(
        "own-check",
        "The executor's own check of a condition is true; the critic has judged the other one only.",
        lambda d: (d.show(5, [4]), d.check(5, 4, SIZE, "eq", len(INPUT), condition=1, who="executor")),
    )
    case(
        "check-false",
        "The critic's check of a condition is false.",
        lambda d: (d.show(5, [4]), d.check(5, 4, {"pointer": "/file"}, "eq", "other.txt", condition=1)),
    )


def _answered(run: Dialogue) -> None:
    """Has both conditions judged, the second on the yes, event 8, to question 7."""
    run.show(5, [4])
    run.ask("critic", kinds=["yes_no"])
    run.answer(7, "person", True, kind="yes_no")
    run.show(5, [7], 1)


def _judges(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str) -> None:
        run = _conditional()
        fill(run)
        family.fails_last(f"condition-{name}", about, run, code)

    role, order = "ROLE_POLICY_VIOLATION", "ORDER_VIOLATION"
    case("by-executor", "The executor judges a condition.", lambda d: d.show(5, [4], who="executor"), role)
    case("beyond", "The critic judges a third condition of two.", lambda d: d.show(5, [4], 2), order)
    case("of-proposal", "The critic judges a condition for a proposal.", lambda d: d.show(2, [4]), order)
    unshown = "CONDITION_UNSHOWN"
    about = "A condition is judged to hold on a question that nobody has answered."
    case("open-question", about, lambda d: (d.ask("critic"), d.show(5, [6])), unshown)
    about = "A condition is judged to hold on a question that its asker no longer needs."
    case("cancelled-question", about, lambda d: (d.ask("critic"), d.cancel(6, "critic"), d.show(5, [6])), unshown)
    about = "A condition is judged to hold on a question that a person declined."
    case("declined-question", about, lambda d: (d.ask("critic"), d.decline(6, "person"), d.show(5, [6])), unshown)
    about = "A condition is judged on evidence that its critic had not seen."
    case("unseen", about, lambda d: d.show(5, [6]), "CITES_UNSEEN")


def _false(family: Family) -> None:
    def case(name: str, about: str, at: Json, is_: str, value: Json, output: bytes = OUTPUT) -> None:
        run = _claimed(output)
        run.check(9, 7, at, is_, value, who="executor")
        family.fails(f"check-{name}", about, run.export(), "CHECK_FAILED", 10)

    case("value", "The executor's check of its claim finds another value.", {"pointer": "/words"}, "eq", 6)
    case("missing", "A check points at what is not there.", {"pointer": "/lines"}, "ne", 6)
    case("not-json", "A check points into what is no JSON.", {"pointer": ""}, "ne", 5, b"5 words\n")
    case("duplicate", "A check points into JSON with a key twice.", {"pointer": "/a"}, "eq", 1, b'{"a":1,"a":1}')
    case("twice", "A check looks after words that stand there twice.", _cut("a", "."), "eq", "", b"a. a.")
    case("overlapping", "A check looks after words that overlap themselves.", _cut("aa", "."), "eq", "", b"aaa.")
    case("endless", "A check looks for an end that is not there.", _cut("words: ", "!"), "ne", 6, b"words: 5\n")
    case("order-of-texts", "A check orders texts.", {"pointer": "/file"}, "gt", "a")
    case("not-a-number", "A check reads a number where there is none.", _cut("words: ", "\n"), "ne", 6, b"words: x\n")
    case("size", "A check gives another size than the bytes have.", SIZE, "lt", len(OUTPUT))


def _disputes(family: Family) -> None:
    def case(name: str, about: str, run: Dialogue, claim: int) -> None:
        family.holds(name, about, run.export(), "pass_with_warnings", integrity=False)
        strict = "The same file under the strict profile, where a dispute fails."
        options = ["--strict"]
        family.fails(f"{name}-strict", strict, run.export(), "CLAIM_DISPUTED", claim, options=options)

    run = _claimed()
    run.check(9, 7, {"pointer": "/words"}, "eq", 6)
    case("check-of-critic", "The critic's check of a claim is false.", run, 9)
    run = approved("checks", ["wc"])
    run.intend(2)
    run.intend(2)
    run.store_input()
    run.start(4, 6)
    run.store_bytes()
    run.complete(7, [8])
    run.start(5, 6)
    run.fail(10)
    run.claim([8], [9])
    about = "A call completes, then fails; the claim cites only what completed."
    case("failed-later", about, run, 12)


def _forms(family: Family) -> None:
    def case(name: str, about: str, at: Json, is_: str = "eq", value: Json = 5) -> None:
        run = _claimed()
        run.check(9, 7, at, is_, value)
        family.fails(f"check-{name}", about, run.export(), "CONTENT_INVALID", 10)

    case("two-places", "A check looks in two ways at once.", {"pointer": "", "after": "a", "before": "b"})
    case("matches", "A check compares in a way that there is not.", SIZE, "matches", "5.*")
    case("object", "A check compares with an object.", {"pointer": ""}, "eq", {"words": 5})


def _honest(family: Family) -> None:
    run = _conditional("honest conditions", 3)
    run.show(5, [4])
    run.ask("critic")
    run.answer(7, "person")
    run.show(5, [7], 1)
    run.check(5, 4, {"pointer": "/file"}, "eq", "words.txt", condition=2)
    run.start(5, 4)
    about = "Three conditions hold: on the input, on an answered question, and by the critic's check."
    family.holds("conditions-shown", about, run.export(), "pass_with_warnings", integrity=False)
    run = _conditional("conditions on answers that go", 1)
    run.ask("critic", kinds=["yes_no"])
    run.answer(6, "person", True, kind="yes_no")
    run.show(5, [6])
    run.start(5, 4)
    run.supersede(7, 6, "person", False, kind="yes_no")
    about = "A tool starts on a condition that a yes shows; later the yes is replaced by a no."
    rest: Json = {"finds": ["ANSWER_CHANGED"], "integrity": False}
    family.holds("condition-answer-changed", about, run.export(), "pass_with_warnings", **rest)
    text = b'{"a/b":[1.50,"5","caf\\u00e9"],"n":1e2,"no":null,"~":true}'
    run = _claimed(text, b"  words: 5.0 \r\n\t lines: 07 ; bytes: 12.")
    for place, at, is_, value in (
        (7, {"pointer": "/a~1b/0"}, "eq", 1.5),
        (7, {"pointer": "/a~1b/1"}, "eq", "5"),
        (7, {"pointer": "/a~1b/2"}, "eq", "caf\u00e9"),
        (7, {"pointer": "/n"}, "ge", 100),
        (7, {"pointer": "/no"}, "eq", None),
        (7, {"pointer": "/~0"}, "ne", False),
        (7, "size", "eq", len(text)),
        (8, _cut("words: ", "\r"), "eq", 5),
        (8, _cut("words:", "\n"), "eq", "5.0"),
        (8, _cut("bytes:", "."), "lt", 12.5),
        (8, _cut("lines:", ";"), "eq", "07"),
    ):
        run.check(10, place, at, is_, value, who="executor")
    about = "Checks of every kind, all true, by the author of a claim."
    family.holds("checks", about, run.export(), "pass_with_warnings", integrity=False)


def _conditional(label: str = "conditions", conditions: int = 2) -> Dialogue:
    """Returns a run whose proposal was approved on conditions; the input is event 4, the intent that meets all 5."""
    run = Dialogue(crew(label), "run", {})
    run.policy(tools=None)
    run.propose(content=proposing("wc"))
    run.review(2, "conditionally_approved", conditions)
    run.store_input()
    run.intend(2, meets=[*range(conditions)])
    return run


def _claimed(*outputs: bytes) -> Dialogue:
    """Returns a run with a claim on an execution whose first output is event 7; after one output it is event 9."""
    run = approved("checks", ["wc"])
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    for output in outputs or (OUTPUT,):
        run.store_bytes(output)
    made = len(outputs or (OUTPUT,))
    run.complete(6, [*range(7, 7 + made)])
    run.claim([*range(7, 7 + made)], [7 + made], content=claiming("five words"))
    return run


def _cut(after: str, before: str) -> Json:
    return {"after": after, "before": before}


SIZE = "size"
OUTPUT = b'{"file":"words.txt","words":5}'
