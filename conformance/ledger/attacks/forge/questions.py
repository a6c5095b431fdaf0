"""Questions that are signed and chained correctly but crooked, or asked by the wrong people in the wrong place."""

from forge.asking import QUESTION, Dialogue, Fill, run, wording, work
from forge.case import Corpus, Family
from forge.dialogues import alone, planned, stranger
from forge.encode import Json, moment
from forge.stories import POLICY, TRIO
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("question")
    _shapes(family)
    _contents(family)
    _schemas(family)
    _askers(family)
    _places(family)
    _abouts(family)


def _shapes(family: Family) -> None:
    def case(name: str, about: str, **facts: Json) -> None:
        dialogue = work("shapes of questions")
        dialogue.ask(**facts)
        family.fails(name, about, dialogue.export(), "ORDER_VIOLATION", 0)

    cast = work("shapes of questions").cast
    named = sorted([cast["agent"].principal, "01M7E81W0000000000000000AB"])
    chosen: dict[str, Json] = {"kinds": ["multiple_choice"]}
    case("kinds-unordered", "A question lists its kinds out of order.", kinds=["yes_no", "freetext"])
    case("kinds-twice", "A question lists a kind twice.", kinds=["freetext", "freetext"])
    case("blocks-twice", "A question blocks one operation twice.", blocks=["a", "a"])
    case("blocks-twice-apart", "A question blocks one operation twice, and another between.", blocks=["a", "b", "a"])
    case("blocks-twice-by-letter", "A question blocks one operation twice, once in capitals.", blocks=["a", "A"])
    case("answerers-unordered", "A question names its answerers out of order.", answerers=_named(named[::-1]))
    case("answerers-twice", "A question names an answerer twice.", answerers=_named([named[0]] * 2))
    case("answerers-none", "A question leaves nobody who may answer.", answerers=_named([]))
    case("answerers-asker", "A question leaves only its asker.", answerers=_named([cast["agent"].principal]))
    case("choice-single", "A question with choices has one.", choices=1, **chosen)
    case("choice-missing", "A question with choices has none.", **chosen)
    case("choice-for-text", "A question for a text has choices.", choices=2)
    case("warn-blocks", "A question of severity warn blocks an operation.", severity="warn", blocks=["deploy"])
    case("default-without-deadline", "A question has a default and no deadline.", default=True)
    past: dict[str, Json] = {"deadline": moment(cast.store.now - 1000)}
    case("deadline-past", "A question's deadline has passed when it is asked.", **past)
    case("deadline-now", "A question's deadline is the moment it is asked.", deadline=moment(cast.store.now + 10))


def _contents(family: Family) -> None:
    def case(name: str, about: str, words: Json, **facts: Json) -> None:
        dialogue = work("contents of questions")
        dialogue.ask(words=words, deadline=moment(dialogue.in_time(1000)), **facts)
        family.fails(name, about, dialogue.export(), "CONTENT_INVALID", 0)

    chosen: dict[str, Json] = {"kinds": ["multiple_choice"], "choices": 2}
    three, two = wording({"choices": 3}), wording({"choices": 2})
    case("more-choices", "A question has more choices than its facts count.", {"choices": three["choices"]}, **chosen)
    case("fewer-choices", "A question has no choices, though its facts count two.", {"choices": []}, **chosen)
    case("same-choices", "Two choices have one value.", {"choices": [two["choices"][0]] * 2}, **chosen)
    case("default-hidden", "A question has a default that its facts do not tell of.", {"default": "blue"})
    case("default-absent", "A question has no default, though its facts say so.", {"default": None}, default=True)
    case("default-other-kind", "The default of a question for a number is a text.", {}, default=True, kinds=["numeric"])
    case("default-yes", "The default of a question for a text is yes.", {"default": True}, default=True)
    case("default-no-choice", "The default is none of the choices.", {"default": "green"}, default=True, **chosen)
    case("empty-wording", "A question says nothing.", {"wording": two["wording"] | {"normal": ""}})
    dialogue = planned("contents of questions")
    dialogue.find(words={"choices": three["choices"]}, **chosen)
    about = "A gap has more choices than its facts count."
    family.fails("gap-more-choices", about, dialogue.export(), "CONTENT_INVALID", 2)
    dialogue = work("contents of questions")
    dialogue.trace.say(dialogue.cast["agent"], "question_asked", QUESTION)
    family.fails("wordless", "A question has no content.", dialogue.export(), "COMMITMENT_MISMATCH", 0)


def _schemas(family: Family) -> None:
    def case(name: str, about: str, **facts: Json) -> None:
        dialogue = work("schemas of questions")
        dialogue.ask(words=wording({}), **facts)
        family.fails(name, about, dialogue.export(), "SCHEMA_INVALID", 0)

    case("kinds-empty", "A question takes no kind of answer.", kinds=[])
    case("assurance-unknown", "A question wants an oath.", assurance="oath")
    case("severity-unknown", "A question is of no known severity.", severity="info")
    case("blocks-spaced", "A question blocks an operation with a space in its name.", blocks=["de ploy"])
    case("many-choices", "A question counts 33 choices.", kinds=["multiple_choice"], choices=33)
    case("unknown-fact", "A question has a fact that the type does not have.", answered=True)
    case("deadline-date", "A question's deadline is a day.", deadline="2026-11-16")
    case("answerers-named", "A question names its answerer by name.", answerers=_named(["ada"]))


def _askers(family: Family) -> None:
    def case(name: str, about: str, code: str, fill: Fill, **rest: Json) -> None:
        dialogue = work("askers")
        fill(dialogue)
        family.fails(name, about, dialogue.export(), code, 0, **rest)

    role = "ROLE_POLICY_VIOLATION"
    case("by-desk", "The desk puts a question into an agent's mouth.", "SIG_MISSING", lambda d: d.ask("desk"))
    case("by-answerer", "An answerer opens work with a question.", role, lambda d: d.ask("answerer"))
    case("by-person", "The desk records a person's question.", "SIG_MISSING", lambda d: d.ask("person"))
    case(
        "as-planner",
        "An agent asks as planner, for which its key is not registered.",
        "KEY_ROLE_MISMATCH",
        lambda d: d.act("agent", "question_asked", QUESTION, wording({}), statement={"role": "planner"}),
    )
    case(
        "gap-first",
        "Work begins with a gap.",
        role,
        lambda d: d.find(),
    )
    dialogue = work("askers")
    dialogue.ask()
    dialogue.ask(stranger(dialogue, "agent"))
    about = "Another agent asks in the work of the one who opened it."
    family.fails("by-other-agent", about, dialogue.export(), role, 1)
    dialogue = work("askers")
    dialogue.ask()
    dialogue.answer(0)
    dialogue.ask(repeats=0)
    family.fails("repeats", "An agent's question repeats another.", dialogue.export(), "ORDER_VIOLATION", 2)
    dialogue = run("askers")
    dialogue.ask(stranger(dialogue, "planner"))
    about = "A planner who takes no part asks in a run."
    family.fails("by-outsider", about, dialogue.export(), role, 1)
    dialogue = run("askers")
    dialogue.ask()
    about = "An agent, which takes no part, asks in a run."
    family.fails("run-by-agent", about, dialogue.export(), role, 1)
    dialogue = run("askers")
    spare = stranger(dialogue, "agent", "planner")
    dialogue.ask(spare)
    about = "The planner of a run asks as agent, with a second key."
    family.fails("run-as-agent", about, dialogue.export(), role, 1)
    dialogue = planned("askers")
    dialogue.find(answerers=alone(dialogue, "desk"))
    about = "A gap leaves only the desk, which asks."
    family.fails("gap-answerers-desk", about, dialogue.export(), "ORDER_VIOLATION", 2)


def _places(family: Family) -> None:
    """Events in traces of the wrong kind."""

    def in_run(name: str, about: str, fill: Fill, code: str = "ROLE_POLICY_VIOLATION") -> None:
        dialogue = run("places")
        fill(dialogue)
        family.fails_last(f"run-{name}", about, dialogue, code)

    def in_work(name: str, about: str, fill: Fill, code: str = "ROLE_POLICY_VIOLATION") -> None:
        dialogue = work("places")
        dialogue.ask()
        fill(dialogue)
        family.fails_last(f"work-{name}", about, dialogue, code)

    in_run("plan", "An agent submits a plan in a run.", lambda d: d.submit())
    in_run("rules", "The desk records rules in a run.", lambda d: d.rules())
    in_run("gap", "The desk finds a gap in a run.", lambda d: d.find())
    in_run("withdrawn", "The desk withdraws a question in a run.", lambda d: (d.ask("planner"), d.withdraw(1)))
    in_run("accepted", "An answerer accepts a warning in a run.", lambda d: (_warning(d), d.accept(1)))
    in_run("operation", "An agent begins an operation in a run.", lambda d: d.operate())
    in_run("confirmed", "An agent confirms a plan in a run.", lambda d: d.confirm())
    in_run("attested", "An agent attests a plan in a run.", lambda d: d.attest(0))
    in_run(
        "after-end",
        "A question is answered after the run was aborted.",
        lambda d: (d.ask("planner"), d.abort(), d.answer(1)),
        "ORDER_VIOLATION",
    )
    in_run(
        "asked-after-end",
        "A question is asked after the end.",
        lambda d: (d.abort(), d.ask("planner")),
        "ORDER_VIOLATION",
    )
    in_work("proposal", "A planner proposes in a piece of work.", lambda d: d.propose())
    in_work("abort", "The operator aborts a piece of work.", lambda d: d.abort())
    in_work(
        "opened-as-run",
        "A planner opens a run in a trace that began with a question.",
        lambda d: d.say("planner", "session_initialized", {"participants": trio(d), "policy": POLICY}),
    )
    in_work(
        "plan", "An agent submits a plan in work that began with a question.", lambda d: d.submit(), "ORDER_VIOLATION"
    )
    in_work("rules", "The desk records rules where there is no plan.", lambda d: d.rules(), "ORDER_VIOLATION")
    in_work("gap", "The desk finds a gap where there is no plan.", lambda d: d.find(), "ORDER_VIOLATION")
    in_work(
        "confirmed",
        "An agent confirms a plan where there is none.",
        lambda d: (d.answer(0), d.confirm()),
        "ORDER_VIOLATION",
    )


def _abouts(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        dialogue = run("abouts")
        dialogue.propose()
        fill(dialogue)
        family.fails_last(name, about, dialogue, "ORDER_VIOLATION")

    case("about-opening", "A question is about the opening of the run.", lambda d: d.ask("critic", about=0))
    case("about-review", "A question is about a review.", lambda d: (d.review(2), d.ask("critic", about=3)))
    case(
        "about-replaced",
        "A question is about a proposal that was replaced.",
        lambda d: (d.review(2, "rejected"), d.propose(replaces=2), d.ask("critic", about=2)),
    )
    case(
        "about-completed",
        "A question is about an intent that was completed.",
        lambda d: (
            d.review(2),
            d.store_input(),
            d.intend(2),
            d.start(5, 4),
            d.complete(6),
            d.ask("executor", about=5),
        ),
    )

    def elsewhere(name: str, about: str, dialogue: Dialogue, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        fill(dialogue)
        family.fails_last(name, about, dialogue, code)

    about = "In work a question is about "
    elsewhere("about-question", about + "another.", work("abouts"), lambda d: (d.ask(), d.ask(about=0)))
    elsewhere("about-itself", about + "itself.", work("abouts"), lambda d: d.ask(about=0), "CITES_UNSEEN")
    elsewhere("about-plan", about + "the plan.", planned("abouts"), lambda d: d.ask(about=0))
    elsewhere("gap-about-plan", "A gap is about the plan.", planned("abouts"), lambda d: d.find(about=0))


def _named(principals: list[str]) -> Json:
    return {"people": False, "principals": principals}


def trio(dialogue: Dialogue) -> list[Json]:
    """Returns planner, executor and critic as a run lists them."""
    for role in TRIO:
        dialogue.someone(role)
    return dialogue.cast.participants()


def _warning(dialogue: Dialogue) -> Entry:
    return dialogue.ask("planner", severity="warn")
