"""Secret answers: the record holds a commitment to them and nothing else, and a commitment stands for nothing else."""

from forge.asking import Dialogue, Fill, asked, wording, work
from forge.case import Corpus, Family
from forge.dialogues import planned
from forge.encode import Json, commitment, moment, seeded


def add(corpus: Corpus) -> None:
    """Adds to the families of honest files, questions and answers."""
    _honest(corpus.family("valid"))
    _shapes(corpus.family("question"))
    _offers(corpus.family("question"))
    _answers(corpus.family("answer"))
    _guesses(corpus.family("answer"))


def _honest(family: Family) -> None:
    dialogue = asked("secrets", **SECRET)
    dialogue.answer(0, "person", sealed("first"), kind="secret")
    dialogue.supersede(1, 0, "person", sealed("second"), kind="secret")
    family.holds("question-secret", "A person answers in secret, and answers again.", dialogue.export())
    dialogue = planned("secrets")
    dialogue.ask(**SECRET)
    dialogue.answer(2, value=sealed("third"), kind="secret")
    dialogue.confirm()
    about = "In a plan without gaps the agent asks for a secret of its own, and a key answers."
    family.holds("plan-question-secret", about, dialogue.export())


def _shapes(family: Family) -> None:
    def case(name: str, about: str, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        family.fails_last(f"secret-{name}", about, asked("secrets", **facts), code)

    case("or-text", "A question takes a secret or a text.", kinds=["freetext", "secret"])
    case("or-choice", "A question takes a secret or a choice.", kinds=["multiple_choice", "secret"], choices=2)
    case("choices", "A question for a secret has choices.", choices=2, **SECRET)
    kinds: Json = ["freetext", "yes_no", "multiple_choice", "numeric", "secret"]
    case("and-all", "A question takes answers of all five kinds.", "SCHEMA_INVALID", kinds=kinds, choices=2)
    dialogue = planned("secrets")
    dialogue.find(**SECRET)
    about = "A gap is filled in secret, though what fills it goes into the plan."
    family.fails_last("secret-gap", about, dialogue, "ORDER_VIOLATION")


def _offers(family: Family) -> None:
    def case(name: str, about: str, words: Json, **facts: Json) -> Dialogue:
        dialogue = work("secrets")
        facts["deadline"] = moment(dialogue.in_time(1000)) if facts.get("default") else None
        dialogue.ask(words=wording({}) | words, **facts)
        family.fails(name, about, dialogue.export(), "CONTENT_INVALID", 0)
        return dialogue

    default: dict[str, Json] = {"default": True, **SECRET}
    hidden = case("secret-default", "A question for a secret has a default.", {"default": "blue"}, **default).export()
    hidden.run[0].hide("withheld")
    about = "A question for a secret has a default; its words are withheld."
    family.fails("secret-default-withheld", about, hidden.seal(), "ORDER_VIOLATION", 0)
    secret = {"default": sealed("default")}
    case("secret-default-sealed", "A question for a secret has a default, which is sealed.", secret, **default)
    case("default-sealed", "A question for a text has a sealed default.", secret, default=True)
    case("secret-recommended", "An asker recommends a secret.", {"recommendation": "blue"}, **SECRET)
    sealed_advice = {"recommendation": sealed("advice")}
    case("secret-recommended-sealed", "An asker recommends a sealed secret.", sealed_advice, **SECRET)
    case("recommended-sealed", "An asker recommends something sealed where a text is asked for.", sealed_advice)
    case("secret-suggested", "An asker suggests a secret.", {"suggestions": ["blue"]}, **SECRET)


def _answers(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "CONTENT_INVALID", **facts: Json) -> None:
        dialogue = asked("secrets", **facts)
        fill(dialogue)
        family.fails_last(name, about, dialogue, code)

    def secret(name: str, about: str, value: Json, **rest: Json) -> None:
        case(f"secret-{name}", about, lambda d: d.answer(0, "person", value, kind="secret", **rest), **SECRET)

    one = sealed("one")
    secret("told", "The desk writes a secret down.", "correct horse")
    secret("as-digest", "A secret is the bare digest.", one["commitment"])
    secret("with-salt", "A sealed answer brings its salt.", one | {"salt": seeded("one").hex()})
    secret("without-commitment", "A sealed answer is sealed by nothing.", {})
    secret("in-list", "A sealed answer is a list of one commitment.", [one["commitment"]])
    secret("signed", "A sealed answer comes with a signed one, which tells it.", one, words={"signed": {"answer": "x"}})
    case("sealed", "A question for a text gets a sealed answer.", lambda d: d.answer(0, "person", one))
    case(
        "sealed-choice",
        "A choice is sealed.",
        lambda d: d.answer(0, "person", one, kind="multiple_choice", choice=0),
        kinds=["multiple_choice"],
        choices=2,
    )
    case(
        "secret-superseded",
        "A second answer writes the secret down.",
        lambda d: (d.answer(0, value=one, kind="secret"), d.supersede(1, 0, value="correct horse", kind="secret")),
        **SECRET,
    )
    order = "ORDER_VIOLATION"
    kind: dict[str, Json] = {"kind": "secret"}
    case("secret-unasked", "A secret answers a question for a text.", lambda d: d.answer(0, value=one, **kind), order)
    case("secret-as-text", "A text answers a question for a secret.", lambda d: d.answer(0), order, **SECRET)
    chosen: dict[str, Json] = {"choice": 0, **kind}
    case("secret-chosen", "A secret is the first choice.", lambda d: d.answer(0, value=one, **chosen), order, **SECRET)


def _guesses(family: Family) -> None:
    def case(name: str, about: str, value: Json, code: str, **facts: Json) -> None:
        dialogue = asked("secrets", **facts)
        dialogue.guess(0, content={"answer": value, "note": None})
        family.fails(name, about, dialogue.export(), code, 1)

    case("guess-secret", "An asker writes down what it thinks the secret is.", "blue", "ORDER_VIOLATION", **SECRET)
    case("guess-sealed", "An asker seals what it thinks the answer is.", sealed("guess"), "CONTENT_INVALID")
    dialogue = work("secrets")
    dialogue.ask(deadline=moment(dialogue.in_time(1010)), default=True)
    dialogue.default(0, dialogue.in_time(2000), sealed("default"))
    export = dialogue.export()
    export.run[0].hide("withheld")
    about = "A sealed default takes effect; the words of the question are withheld."
    family.fails("default-sealed", about, export.seal(), "CONTENT_INVALID", 1)


def sealed(label: str) -> dict[str, Json]:
    """Returns what stands for a secret of this name."""
    return {"commitment": commitment("secret", seeded(label), label.encode())}


SECRET: dict[str, Json] = {"kinds": ["secret"]}
