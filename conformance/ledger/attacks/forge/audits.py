"""Verdicts that are not those of the auditor's report, and questions of others after the final statement."""

from typing import Any

from forge.asking import Dialogue, Fill
from forge.case import Corpus, Family
from forge.export import Lines
from forge.meanings import approved
from forge.stories import reporting


def add(corpus: Corpus) -> None:
    """Adds to the families of meaning and of honest files."""
    family = corpus.family("meaning")
    _reports(family)
    _places(family)
    _lines(family)
    _questions(family)
    _honest(corpus.family("valid"))


def _reports(family: Family) -> None:
    def case(name: str, about: str, recorded: bytes | None, named: bytes, status: str = "pass") -> None:
        run = _audited()
        if recorded is not None:
            run.report(recorded)
        run.verdict(10, status, named)
        last = run.newest
        family.fails(f"report-{name}", about, run.export(), "REPORT_MISMATCH", last)

    good, bad, fair, vague = reporting("pass"), reporting("fail"), reporting("pass_with_warnings"), b"all is well\n"
    case("missing", "A verdict names a report that nobody recorded.", None, good)
    case("other", "A verdict names other bytes than those of the recorded report.", good, good + b"\n")
    case("failed", "The auditor's report says fail, its verdict pass.", bad, bad)
    case("warned", "The report says pass with warnings, the verdict pass.", fair, fair)
    case("passed", "The auditor's report says pass, its verdict fail.", good, good, "fail")
    case("wordless", "The auditor's report is a sentence, which bears no verdict.", vague, vague)


def _places(family: Family) -> None:
    def case(name: str, about: str, run: Dialogue, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        fill(run)
        family.fails_last(f"report-{name}", about, run, code)

    case("early", "The auditor records a report before the final statement.", _claimed(), lambda d: d.report())
    case(
        "by-critic",
        "The critic records a report.",
        _concluded(),
        lambda d: d.say("critic", "report_recorded", {}, artifact=reporting("pass")),
        "ROLE_POLICY_VIOLATION",
    )


def _lines(family: Family) -> None:
    run = _concluded()
    run.report()
    export = run.export()
    artifact = export.run[10].artifact
    assert artifact is not None
    artifact.update(bytes="e30=")
    about = "The desk exchanges the auditor's report."
    family.fails("report-exchanged", about, export.seal_checkpoint(), "ARTIFACT_HASH_MISMATCH", 10)

    def without(lines: Lines) -> Lines:
        return [line for line in lines if not line.startswith(b'{"artifact"') or b'"event":10' not in line]

    about = "The desk leaves out the line with the auditor's report."
    family.fails("report-left-out", about, run.export().edited(without), "FILE_MALFORMED")
    run.audit()
    run.verdict(11, data=reporting("fail"))
    hidden = run.export()
    hidden.run[10].hide_artifact("withheld")
    about = "A verdict names another report than the recorded one, which is withheld."
    family.holds("report-withheld", about, hidden.seal(), "not_established")


def _questions(family: Family) -> None:
    def case(name: str, about: str, who: str, **rest: Any) -> None:
        run = _concluded()
        run.ask(who, **rest)
        family.fails(f"spoke-{name}", about, run.export(), "SPOKE_AFTER_FINAL", 10)

    case("executor", "The executor asks after its final statement.", "executor")
    case("critic", "The critic asks after the final statement, and blocks nothing.", "critic", severity="warn")
    run = _audited()
    run.ask("auditor", severity="warn")
    run.verdict(10)
    about = "The auditor gives its verdict while its own question is open."
    family.fails("verdict-question-open", about, run.export(), "ORDER_VIOLATION", 13)


def _honest(family: Family) -> None:
    run = _audited("honest audit")
    run.ask("auditor", blocks=["claim"])
    run.answer(11, "person")
    run.ask("auditor", severity="warn")
    run.cancel(13, "auditor")
    run.report(reporting("fail"))
    run.report()
    run.verdict(10, data=reporting("pass"))
    about = "The auditor asks, is answered, cancels a question, and records two reports; its verdict names the second."
    family.holds("audit-asks", about, run.export())


def _claimed(label: str = "audits") -> Dialogue:
    """Returns a run with an execution that failed, and a claim about that, event 8."""
    run = approved(label, ["wc"], others=("auditor",))
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    run.fail(6)
    run.claim([5], [7], True)
    return run


def _concluded(label: str = "audits") -> Dialogue:
    """Returns the run after the final statement, event 9."""
    run = _claimed(label)
    run.conclude([8])
    return run


def _audited(label: str = "audits") -> Dialogue:
    """Returns the run after a verification has begun, event 10."""
    run = _concluded(label)
    run.audit()
    return run
