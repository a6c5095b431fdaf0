"""Claims on evidence that their executions did not produce, and final statements in other words than the claims'."""

from forge.asking import Dialogue, Fill
from forge.case import Corpus, Family
from forge.encode import Json
from forge.meanings import approved
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds to the families of meaning and of honest files."""
    family = corpus.family("meaning")
    _foreign(family)
    _earlier(family)
    _alike(family)
    _bundles(family)
    _honest(corpus.family("valid"))


def _foreign(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        run = _executed()
        fill(run)
        last = run.newest
        family.fails(f"evidence-{name}", about, run.export(), "EVIDENCE_WEAK", last)

    case("input", "The executor cites the input of its tool.", lambda d: d.claim([5], [8]))
    case("input-too", "The executor cites an output and the input of its tool.", lambda d: d.claim([5, 7], [8]))
    case(
        "unconnected",
        "The executor cites a file that no tool put out.",
        lambda d: (d.store_bytes(b"6\n"), d.claim([9], [8])),
    )
    case(
        "of-other",
        "The executor cites the output of an execution that its claim does not name.",
        lambda d: (_again(d, b"6\n"), d.claim([12], [8])),
    )
    case(
        "of-failed",
        "The executor cites what a failed execution put out for a claim on one that completed.",
        lambda d: (_again(d, b"6\n", "fail"), d.claim([12], [8])),
    )
    case(
        "revised",
        "A claim is revised to rest on a file that no tool put out.",
        lambda d: (d.store_bytes(b"6\n"), d.claim([7], [8]), d.revise(10, [9], [8])),
    )
    case(
        "failure-other-input",
        "A claim about a failure cites the input of an execution that it does not name.",
        lambda d: (_again(d, b"6\n", "fail", b"{}"), d.claim([5], [13], True)),
    )


def _earlier(family: Family) -> None:
    def case(name: str, about: str, end: Fill) -> None:
        run = approved("earlier outputs", ["wc"])
        run.intend(2)
        run.store_input()
        run.store_bytes(b"made up")
        run.start(4, 5)
        run.store_bytes()
        end(run)
        family.fails_last(f"output-{name}", about, run, "EVIDENCE_WEAK")

    case("input", "The executor names the input of its tool as what that put out.", lambda d: d.complete(7, [5]))
    case("input-too", "It names the input beside a true output.", lambda d: d.complete(7, [5, 8]))
    case("earlier", "It names a file that was there before the tool started.", lambda d: d.complete(7, [6]))
    case("failed-earlier", "A failed execution names such a file.", lambda d: d.fail(7, [6]))


def _alike(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        run = _executed(evidence_minimum=2)
        fill(run)
        last = run.newest
        family.fails(f"evidence-{name}", about, run.export(), "EVIDENCE_WEAK", last)

    run = approved("evidence", ["wc"], evidence_minimum=2)
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    run.store_bytes()
    run.store_bytes()
    run.complete(6, [7, 8])
    run.claim([7, 8], [9])
    about = "The policy wants two pieces of evidence; the executor records one output twice."
    family.fails("evidence-twice", about, run.export(), "EVIDENCE_WEAK", 10)
    case(
        "twice-run",
        "The policy wants two pieces of evidence; a second execution puts out the same bytes.",
        lambda d: (_again(d, b"5\n"), d.claim([7, 12], [8, 13])),
    )
    case(
        "failure-alike",
        "A claim about a failure cites input and output, which are the same bytes.",
        lambda d: (_again(d, b"{}", "fail", b"{}"), d.claim([10, 12], [13], True)),
    )


def _bundles(family: Family) -> None:
    def case(name: str, about: str, texts: dict[int, str], fill: Fill | None = None) -> None:
        run = _claimed()
        if fill is not None:
            fill(run)
        bundle = [{"claim": claim, "text": text} for claim, text in texts.items()]
        run.conclude([*texts], content={"claims": bundle, "verdict": "done"})
        last = run.newest
        family.fails(f"bundle-{name}", about, run.export(), "BUNDLE_DIFFERS", last)

    case("letter", "The final statement changes one letter of a claim.", {9: "Five words"})
    case(
        "crossed",
        "The final statement exchanges the texts of two claims.",
        {9: "no lines", 10: "five words"},
        lambda d: d.claim([7], [8], content=claiming("no lines")),
    )
    case(
        "revised",
        "The final statement has a claim in the words it had before it was revised.",
        {10: "five words"},
        lambda d: d.revise(9, [7], [8], content=claiming("about five words")),
    )
    run = _claimed()
    run.conclude([9], content={"claims": [{"claim": 9, "text": "six words"}], "verdict": "done"})
    hidden = run.export()
    hidden.run[9].hide("withheld")
    about = "The final statement has other words than a claim whose words are withheld."
    family.holds("bundle-withheld", about, hidden.seal(), "not_established")


def _honest(family: Family) -> None:
    run = _executed("two pieces of evidence", evidence_minimum=2)
    _again(run, b"6\n")
    _again(run, b"5\n")
    run.claim([7, 12], [8, 13])
    run.revise(19, [7, 12, 17], [8, 13, 18], content=claiming("five or six words"))
    run.claim([7, 12], [8, 13])
    run.conclude([20, 21])
    about = "Two outputs of two executions, and a third with the bytes of the first; a claim is revised and concluded."
    family.holds("evidence-distinct", about, run.export(), "pass_with_warnings", integrity=False)
    run = approved("evidence of failure", ["wc"], evidence_minimum=2)
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    run.store_bytes(b"no such file\n")
    run.fail(6, [7])
    run.claim([5, 7], [8], True)
    about = "A claim about a failure cites what the tool got and what it put out."
    family.holds("evidence-of-failure", about, run.export(), "pass_with_warnings", integrity=False)
    run = approved("evidence like its input", ["wc"])
    run.intend(2, data=b"5\n")
    run.store_input(b"5\n")
    run.start(4, 5)
    run.store_bytes(b"5\n")
    run.complete(6, [7])
    run.claim([7], [8])
    about = "A tool puts out the very bytes that it got."
    family.holds("evidence-like-input", about, run.export(), "pass_with_warnings", integrity=False)


def claiming(text: str) -> Json:
    """Returns the content of a claim."""
    return {"confidence": 90, "text": text}


def _executed(label: str = "evidence", **numbers: Json) -> Dialogue:
    """Returns a run with an execution, events 4 to 8: its input is 5, its output 7, its end 8."""
    run = approved(label, ["wc"], **numbers)
    run.intend(2)
    run.execute(4)
    return run


def _again(run: Dialogue, output: bytes, end: str = "complete", data: bytes | None = None) -> Entry:
    """Returns the end of another execution of five events: intent, input, start, output and end."""
    intent = run.intend(2, data=data).envelope["sequence"]
    run.store_input(data)
    run.start(intent, intent + 1)
    run.store_bytes(output)
    outputs = [intent + 3]
    return run.complete(intent + 2, outputs) if end == "complete" else run.fail(intent + 2, outputs)


def _claimed() -> Dialogue:
    run = _executed()
    run.claim([7], [8])
    return run
