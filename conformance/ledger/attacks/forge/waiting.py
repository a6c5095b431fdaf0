"""Work that goes on though an unsettled question blocks it."""

from forge.asking import Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.encode import Json, moment
from forge.stories import crew


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("wait")
    _executions(family)
    _others(family)
    _endings(family)
    _operations(family)


def _run() -> Dialogue:
    return Dialogue(crew("waiting"), "run", {})


def _intended() -> Dialogue:
    """Returns a run with two intents, events 4 and 5, on one proposal, event 2, and an input for both, event 6."""
    dialogue = _run()
    dialogue.propose()
    dialogue.review(2)
    dialogue.intend(2)
    dialogue.intend(2)
    dialogue.store_input()
    return dialogue


def _executions(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, /, **facts: Json) -> None:
        dialogue = _intended()
        dialogue.ask("critic", **facts | {"blocks": ["execute"]})
        fill(dialogue)
        family.fails_last(name, about, dialogue, "ORDER_VIOLATION")

    case("execute-anything", "A tool starts while a question blocks all tools.", lambda d: d.start(4, 6))
    case("execute-proposal", "A tool starts while a question blocks its proposal.", lambda d: d.start(4, 6), about=2)
    case("execute-intent", "A tool starts while a question blocks its intent.", lambda d: d.start(4, 6), about=4)
    case(
        "execute-second",
        "One intent goes on as it may, then the blocked one starts too.",
        lambda d: (d.start(5, 6), d.start(4, 6)),
        about=4,
    )
    case("execute-declined", "A tool starts after the question was declined.", lambda d: (d.decline(7), d.start(4, 6)))
    case(
        "execute-expired",
        "A tool starts after the question expired.",
        lambda d: (d.expire(7, d.in_time(900)), d.start(4, 6)),
        deadline=moment(_intended().in_time(500)),
    )
    case("execute-guessed", "A tool starts on the asker's guess.", lambda d: (d.guess(7, "critic"), d.start(4, 6)))
    case(
        "execute-revoked",
        "A tool starts after the answer was taken back.",
        lambda d: (d.answer(7), d.revoke(8, 7), d.start(4, 6)),
    )
    case(
        "execute-other-answered",
        "Of two questions that block a tool one is answered.",
        lambda d: (d.ask("executor", about=4, blocks=["execute"]), d.answer(7), d.start(4, 6)),
    )
    dialogue = _intended()
    dialogue.ask("critic", about=4, blocks=["execute"])
    dialogue.start(5, 6)
    about = "A question blocks one intent; another starts."
    family.holds("execute-other", about, dialogue.export(), "pass_with_warnings", integrity=False)
    dialogue = _run()
    dialogue.propose()
    dialogue.propose()
    dialogue.review(2)
    dialogue.review(3)
    dialogue.ask("critic", about=2, blocks=["execute"])
    dialogue.intend(3)
    dialogue.store_input()
    dialogue.start(7, 8)
    about = "A question blocks the tools of one proposal; a tool of another starts."
    family.holds("execute-other-proposal", about, dialogue.export(), "pass_with_warnings", integrity=False)
    dialogue = _intended()
    dialogue.ask("critic", blocks=["claim", "propose"])
    dialogue.start(4, 6)
    about = "A question blocks other things than tools; a tool starts."
    family.holds("execute-unblocked", about, dialogue.export(), "pass_with_warnings", integrity=False)


def _others(family: Family) -> None:
    dialogue = _run()
    dialogue.ask("critic", blocks=["propose"])
    dialogue.propose()
    about = "The planner proposes while a question blocks that."
    family.fails("propose", about, dialogue.export(), "ORDER_VIOLATION", 3)
    dialogue = _run()
    dialogue.propose()
    dialogue.ask("critic", about=2, blocks=["propose"])
    dialogue.propose()
    about = "The planner proposes something else while a question about one proposal blocks proposing."
    family.fails("propose-aside", about, dialogue.export(), "ORDER_VIOLATION", 4)
    dialogue = _executed()
    dialogue.ask("critic", blocks=["claim"])
    dialogue.claim([8], [9])
    about = "The executor claims while a question blocks that."
    family.fails("claim", about, dialogue.export(), "ORDER_VIOLATION", 11)
    dialogue = _executed(lambda d: d.ask("critic", about=2, blocks=["claim"]))
    dialogue.claim([9], [10])
    about = "The executor claims while a question about a proposal blocks claims."
    family.fails("claim-aside", about, dialogue.export(), "ORDER_VIOLATION", 11)
    _revisions(family)


def _revisions(family: Family) -> None:
    def blocked() -> Dialogue:
        dialogue = _executed()
        dialogue.claim([8], [9])
        dialogue.ask("critic", blocks=["claim"])
        return dialogue

    dialogue = blocked()
    dialogue.revise(10, [8], [9])
    about = "The executor revises a claim while a question blocks that."
    family.fails("revise", about, dialogue.export(), "ORDER_VIOLATION", 12)
    dialogue = blocked()
    dialogue.say("executor", "claim_retracted", {"claim": 10})
    about = "A question blocks claims; to take one back is no claim."
    family.holds("retract", about, dialogue.export(), "pass_with_warnings", integrity=False)


def _endings(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, **facts: Json) -> None:
        dialogue = _executed()
        dialogue.claim([8], [9])
        dialogue.ask("critic", **facts)
        fill(dialogue)
        dialogue.conclude([10])
        family.fails_last(name, about, dialogue, "ORDER_VIOLATION")

    case("final", "The final statement comes while a question is open.", lambda d: None)
    case("final-warn", "The final statement comes while a warning is open.", lambda d: None, severity="warn")
    case("final-declined", "The final statement comes after a question was declined.", lambda d: d.decline(11))
    case(
        "final-expired",
        "The final statement comes after a question expired.",
        lambda d: d.expire(11, d.in_time(900)),
        deadline=moment(_executed().in_time(500)),
    )


def _operations(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        dialogue = work("waiting work")
        dialogue.ask(blocks=["deploy"], deadline=moment(dialogue.in_time(500)))
        fill(dialogue)
        family.fails_last(f"operation-{name}", about, dialogue, code)

    case("blocked", "An agent begins what its question blocks.", lambda d: d.operate())
    case("declined", "An agent begins what a declined question blocks.", lambda d: (d.decline(0), d.operate()))
    case(
        "expired",
        "An agent begins what an expired question blocks.",
        lambda d: (d.expire(0, d.in_time(900)), d.operate()),
    )
    case("late", "An agent begins what a question past its deadline blocks.", lambda d: d.operate(at=d.in_time(900)))
    case(
        "escalated",
        "An agent begins what an escalated question blocks.",
        lambda d: (d.escalate(0), d.operate()),
    )
    case("capital", "An agent begins Deploy while deploy is blocked.", lambda d: d.operate("Deploy"))
    case("by-desk", "The desk begins an operation.", lambda d: d.operate("build", "desk"), "SIG_MISSING")
    case("by-answerer", "An answerer begins one.", lambda d: d.operate("build", "answerer"), "ROLE_POLICY_VIOLATION")
    case("spaced", "An operation has a space in its name.", lambda d: d.operate("de ploy"), "SCHEMA_INVALID")
    dialogue = work("waiting work", ["planner"])
    dialogue.ask("planner")
    dialogue.operate()
    about = "An agent begins an operation in the work of a planner."
    family.fails("operation-by-other", about, dialogue.export(), "ROLE_POLICY_VIOLATION", 1)
    dialogue = work("waiting work")
    dialogue.ask(blocks=["deploy"])
    dialogue.operate("build")
    about = "An agent begins what no question blocks."
    family.holds("operation-other", about, dialogue.export(), "pass_with_warnings", integrity=False)
    _names(family)


def _names(family: Family) -> None:
    """One question blocks several operations, in the asker's order and spelling."""

    def case(name: str, operation: str) -> None:
        dialogue = work("waiting work")
        dialogue.ask(blocks=["Test.all", "deploy", "Build", "a/Z"])
        dialogue.operate(operation)
        about = f"A question blocks Test.all, deploy, Build and a/Z; an agent begins {operation}."
        if name == "unblocked":
            family.holds("names-unblocked", about, dialogue.export(), "pass_with_warnings", integrity=False)
        else:
            family.fails(f"names-{name}", about, dialogue.export(), "ORDER_VIOLATION", 1)

    case("first", "Test.all")
    case("third", "Build")
    case("last", "a/Z")
    case("small", "build")
    case("swapped", "A/z")
    case("unblocked", "test_all")
    dialogue = _intended()
    dialogue.ask("critic", blocks=["Execute"])
    dialogue.start(4, 6)
    about = "A tool starts in a run while a question blocks Execute, with a capital."
    family.fails("execute-capital", about, dialogue.export(), "ORDER_VIOLATION", 8)
    dialogue = _run()
    dialogue.ask("critic", blocks=["PROPOSE"])
    dialogue.propose()
    about = "The planner proposes while a question blocks PROPOSE, in capitals."
    family.fails("propose-capitals", about, dialogue.export(), "ORDER_VIOLATION", 3)


def _executed(before: Fill | None = None) -> Dialogue:
    """Returns the run after an execution with an output, events 7 to 9; what comes before its end counts too."""
    dialogue = _intended()
    started = dialogue.start(4, 6).envelope["sequence"]
    if before is not None:
        before(dialogue)
    output = dialogue.store_bytes().envelope["sequence"]
    dialogue.complete(started, [output])
    return dialogue
