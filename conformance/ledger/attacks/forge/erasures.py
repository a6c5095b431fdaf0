"""Erasure: words that are said to be gone and are not, or are gone and nobody said so, and who says it."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.encode import Json
from forge.export import Export
from forge.papers import Plan, confirmed
from forge.stories import TRIO, Cast, Run
from forge.writer import Trace


def add(corpus: Corpus) -> None:
    """Adds to the honest files, and the family."""
    _honest(corpus.family("valid"))
    family = corpus.family("erasure")
    _kept(family)
    _unrecorded(family)
    _speakers(family)
    _places(family)


def _run(label: str = "erased") -> Run:
    """Returns a run with a proposal, event 2, and an artifact, event 4."""
    run = Cast(label, [*TRIO, "operator"]).run()
    run.propose()
    run.review(2)
    run.store_bytes()
    return run


def _erase(trace: Trace, event: int, **rest: Json) -> None:
    trace.record("content_erased", {"event": event}, {"why": "asked to"}, **rest)


def _file(run: Run, *events: int) -> Export:
    """Returns the export of a run with nothing left of these events."""
    export = run.export()
    for event in events:
        if export.run[event].content is not None:
            export.run[event].hide("erased")
        if export.run[event].artifact is not None:
            export.run[event].hide_artifact("erased")
    return export.seal()


def _plan(erased: int) -> tuple[Plan, list[int]]:
    """Returns a plan with every paper, of which an event is erased, and the papers after it."""
    plan = confirmed()
    plan.keep("acceptance", 7, plan.acceptance())
    plan.keep("handoff", 8, plan.handoff())
    plan.d.act("agent", "plan_attested", {"confirmed": 7}, {"attestation": plan.acceptance()["attestation"]})
    _erase(plan.d.trace, erased)
    return plan, [paper for paper in (3, 5, 6, 8, 9, 10) if paper > erased]


def _papers(plan: Plan, *events: int) -> Export:
    export = plan.d.export()
    for event in events:
        export.run[event].hide("erased")
    return export.seal()


def _honest(family: Family) -> None:
    def case(name: str, about: str, file: Export, verdict: str = "not_established") -> None:
        family.holds(name, about, file, verdict)

    run = _run()
    _erase(run.trace, 2)
    case("content-erased", "The content of a proposal is erased, which the desk records.", _file(run, 2))
    run = _run()
    run.say("operator", "content_erased", {"event": 4}, {"why": "asked to"})
    case("artifact-erased", "The bytes of an artifact are erased, which an operator signs.", _file(run, 4))
    run = _run()
    run.abort()
    _erase(run.trace, 0)
    _erase(run.trace, 6)
    case("erased-after-the-end", "Words are erased after a run has ended, and then why.", _file(run, 0, 6))
    plan, papers = _plan(4)
    case("papers-erased", "An answer is erased, and with it every paper since.", _papers(plan, 4, *papers))
    plan, _ = _plan(1)
    case("rules-erased", "Rules are erased; no paper quotes them.", _papers(plan, 1))
    cast = Cast("erased-name", ["agent", "operator"]).gathered()
    _erase(cast.store.registry, 1)
    cast.store.registry.say(cast["operator"], "content_erased", {"event": 2}, {"why": "asked to"})
    export = Export(cast.store)
    for event in (1, 2):
        export.registry[event].hide("erased")
    case("registry-erased", "Names in the registry are erased, by the desk and by an operator.", export.seal(), "pass")


def _kept(family: Family) -> None:
    run = _run()
    _erase(run.trace, 2)
    about = "The desk records that a proposal was erased, and exports it all the same."
    family.fails("content-kept", about, _file(run), "NOT_ERASED", 5)
    run = _run()
    _erase(run.trace, 4)
    export = _file(run, 4)
    export.run[4].artifact = run.trace.entries[4].artifact
    about = "The desk erases what was said of an artifact, and keeps its bytes."
    family.fails("artifact-kept", about, export.seal(), "NOT_ERASED", 5)
    for name, erased in (("answer", 4), ("gap", 2), ("plan", 0)):
        plan, papers = _plan(erased)
        about = f"The {name} of a plan is erased, and the newest paper that quotes it is kept."
        family.fails(f"paper-kept-{name}", about, _papers(plan, erased, *papers[:-1]), "NOT_ERASED", 11)
        about = f"The {name} of a plan is erased, and the oldest paper that quotes it is kept."
        family.fails(f"paper-kept-{name}-first", about, _papers(plan, erased, *papers[1:]), "NOT_ERASED", 11)
    cast = Cast("kept-name", ["agent"])
    _erase(cast.store.registry, 1)
    about = "The desk records that a name was erased, and exports it all the same."
    family.fails("name-kept", about, Export(cast.store), "NOT_ERASED", 2)


def _unrecorded(family: Family) -> None:
    code = "ERASURE_UNRECORDED"
    about = "Somebody removed the words of a proposal from the store, and no event says so."
    family.fails("unrecorded", about, _file(_run(), 2), code)
    about = "Somebody removed the bytes of an artifact from the store, and no event says so."
    export = _run().export()
    export.run[4].hide_artifact("erased")
    family.fails("unrecorded-artifact", about, export.seal(), code)
    run = _run()
    _erase(run.trace, 2)
    about = "One erasure is recorded, and the words of another event are gone too."
    family.fails("unrecorded-other", about, _file(run, 2, 3), code)
    plan, papers = _plan(1)
    about = "The rules of a plan are erased, and papers that do not quote them are gone too."
    family.fails("unrecorded-papers", about, _papers(plan, 1, papers[-1]), code)
    export = Export(Cast("no-name", ["agent"]).store)
    export.registry[1].hide("erased")
    family.fails("unrecorded-name", "Somebody removed a name, and no event says so.", export.seal(), code)


def _speakers(family: Family) -> None:
    def case(name: str, about: str, code: str, say: Callable[[Run], Json], **rest: Json) -> None:
        run = _run()
        say(run)
        family.fails(name, about, _file(run, 2), code, 5, **rest)

    facts, why = {"event": 2}, {"why": "asked to"}
    about = "The executor erases what was proposed, in its own role."
    role = "ROLE_POLICY_VIOLATION"
    case("by-executor", about, role, lambda r: r.say("executor", "content_erased", facts, why))
    about = "The executor erases what was proposed, as an operator."
    forged = {"role": "operator"}
    case(
        "as-operator",
        about,
        "KEY_ROLE_MISMATCH",
        lambda r: r.say("executor", "content_erased", facts, why, statement=forged),
    )
    about = "The desk erases in the operator's name."
    case("in-its-name", about, role, lambda r: _erase(r.trace, 2, role="operator"))
    about = "The desk erases in the name of a person."
    case("as-person", about, role, lambda r: _erase(r.trace, 2, role="person"))
    for name, about, who in (
        ("by-agent", "An agent erases a name, as an operator.", "agent"),
        ("by-desk", "The desk erases a name with its key, as an operator.", "desk"),
    ):
        cast = Cast("registry-erasers", ["agent"])
        cast.store.registry.say(cast[who], "content_erased", {"event": 1}, why, statement=forged)
        export = Export(cast.store)
        export.registry[1].hide("erased")
        family.fails(f"registry-{name}", about, export.seal(), "REGISTRY_INVALID", 2)
    for role_, about in (("operator", "The desk erases a name in the operator's name."), ("desk", "")):
        cast = Cast("registry-roles", ["agent"])
        if about:
            _erase(cast.store.registry, 1, role=role_)
        else:
            about = "The desk records in the name of an agent that a name was erased."
            _erase(cast.store.registry, 1, envelope={"actor": cast["agent"].principal})
        export = Export(cast.store)
        export.registry[1].hide("erased")
        family.fails(f"registry-role-{role_}", about, export.seal(), "REGISTRY_INVALID", 2)


def _places(family: Family) -> None:
    def case(name: str, about: str, code: str, *events: int) -> None:
        run = _run()
        for event in events:
            _erase(run.trace, event)
        family.fails(name, about, _file(run, *(event for event in events if event < 5)), code, 4 + len(events))

    case("later", "The desk erases what is not said yet.", "CITES_UNSEEN", 6)
    case("itself", "The desk erases the erasure with itself.", "CITES_UNSEEN", 5)
    case("twice", "The desk erases the same words twice.", "ORDER_VIOLATION", 2, 2)
    run = Cast("bare-event", [*TRIO, "auditor"]).run().work()
    run.conclude([9])
    run.audit()
    _erase(run.trace, 11)
    about = "The desk erases what an event without words said."
    family.fails("nothing", about, run.export(), "ORDER_VIOLATION", 12)
    plan, papers = _plan(4)
    _erase(plan.d.trace, 5)
    about = "A paper is erased that went with what it quotes."
    family.fails("paper-twice", about, _papers(plan, 4, *papers), "ORDER_VIOLATION", 12)
    cast = Cast("registry-twice", ["agent"])
    _erase(cast.store.registry, 1)
    _erase(cast.store.registry, 1)
    export = Export(cast.store)
    export.registry[1].hide("erased")
    about = "The desk erases the same name twice."
    family.fails("registry-again", about, export.seal(), "REGISTRY_INVALID", 3, integrity=False)
