"""Plans that are confirmed, attested or held against rules as they must not be."""

from collections.abc import Callable
from typing import Any

from forge.asking import PEOPLE, QUESTION, Dialogue, Fill, wording, work
from forge.case import Corpus, Family
from forge.dialogues import planned_of, stranger
from forge.encode import Json
from forge.questions import trio
from forge.stories import POLICY


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("plan")
    _openings(family)
    _gaps(family)
    _confirmations(family)
    _attestations(family)
    _contents(family)


def case_of_plan(
    family: Family,
    name: str,
    about: str,
    fill: Callable[[Any], object],
    code: str = "ORDER_VIOLATION",
    kind: type[Dialogue] = Dialogue,
) -> None:
    """Adds a plan with rules, events 0 and 1, whose last event fails."""
    plan = planned_of(kind, "plans")
    fill(plan)
    family.fails_last(name, about, plan, code)


def _openings(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        plan = work("openings")
        fill(plan)
        family.fails_last(name, about, plan, code)

    role = "ROLE_POLICY_VIOLATION"
    case("by-desk", "The desk submits a plan.", lambda d: d.submit("desk"), "SIG_MISSING")
    case("by-planner", "A planner submits a plan.", lambda d: d.submit("planner"), role)
    case("twice", "A plan is submitted twice.", lambda d: (d.submit(), d.submit()))
    case("gap-before-rules", "A gap is found before the rules are recorded.", lambda d: (d.submit(), d.find()))
    case("confirmed-before-rules", "A plan is confirmed that no rules saw.", lambda d: (d.submit(), d.confirm()))
    case("proposal", "A planner proposes in a plan.", lambda d: (d.submit(), d.propose()), role)
    case("abort", "The operator aborts a plan.", lambda d: (d.submit(), d.abort()), role)
    case(
        "run",
        "A planner opens a run in a plan.",
        lambda d: (
            d.submit(),
            d.say("planner", "session_initialized", {"participants": trio(d), "policy": POLICY}),
        ),
        role,
    )
    case(
        "rules-by-agent",
        "An agent signs its own rules.",
        lambda d: (d.submit(), d.rules("agent")),
        "STATEMENT_MISMATCH",
    )
    case("rules-by-person", "A person's rules are recorded.", lambda d: (d.submit(), d.rules("person")), role)
    case(
        "recovery-elsewhere",
        "The desk's recovery names another event than the one before.",
        lambda d: (
            d.submit(),
            d.rules(),
            d.trace.record("recovery_recorded", {"through": d.trace.entries[0].position}, {"note": "after a crash"}),
        ),
    )


def _gaps(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, name, about, fill, code)

    case("rules-twice", "The rules are recorded twice.", lambda d: d.rules())
    case(
        "gap-by-agent",
        "An agent finds a gap with its own key.",
        lambda d: d.act("agent", "gap_found", *_gap()),
        "STATEMENT_MISMATCH",
    )
    case(
        "gap-by-person",
        "The desk records a person's gap.",
        lambda d: d.act("person", "gap_found", *_gap()),
        "ROLE_POLICY_VIOLATION",
    )
    case("gap-unordered", "A gap lists its kinds out of order.", lambda d: d.find(kinds=["numeric", "freetext"]))
    case("gap-nobody", "A gap leaves nobody to answer.", lambda d: d.find(answerers=PEOPLE | {"people": False}))
    case("gap-warn-blocks", "A gap of severity warn blocks.", lambda d: d.find(severity="warn", blocks=["deploy"]))
    case("gap-blocks", "An agent begins what a gap blocks.", lambda d: (d.find(blocks=["deploy"]), d.operate()))
    case(
        "operation-by-other",
        "Another agent begins an operation.",
        lambda d: d.operate(who=stranger(d, "agent")),
        "ROLE_POLICY_VIOLATION",
    )
    case(
        "asked-by-other",
        "Another agent asks in a plan.",
        lambda d: d.ask(stranger(d, "agent")),
        "ROLE_POLICY_VIOLATION",
    )
    case("gap-cancelled", "An agent cancels the desk's question.", lambda d: (d.find(), d.cancel(2)))
    case(
        "gap-extended",
        "An agent extends the desk's question.",
        lambda d: (d.find(deadline="2026-11-15T00:10:00.000Z"), d.extend(2, 700_000)),
    )


def _confirmations(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, name, about, fill, code)

    case("confirmed-open", "A plan is confirmed with a gap.", lambda d: (d.find(), d.confirm()))
    case("confirmed-warn", "A plan is confirmed with a warning.", lambda d: (d.find(severity="warn"), d.confirm()))
    case("confirmed-asked", "A plan is confirmed with a question of the agent.", lambda d: (d.ask(), d.confirm()))
    case(
        "confirmed-declined",
        "A plan is confirmed after a refusal.",
        lambda d: (d.find(), d.decline(2, "person"), d.confirm()),
    )
    case(
        "confirmed-revoked",
        "A plan is confirmed after the answer was taken back.",
        lambda d: (d.find(), d.answer(2, "person"), d.revoke(3, 2, "person"), d.confirm()),
    )
    case("confirmed-twice", "A plan is confirmed twice.", lambda d: (d.confirm(), d.confirm()))
    case("confirmed-by-desk", "The desk confirms a plan.", lambda d: d.confirm("desk"), "SIG_MISSING")
    case(
        "confirmed-by-other",
        "Another agent confirms.",
        lambda d: d.confirm(stranger(d, "agent")),
        "ROLE_POLICY_VIOLATION",
    )
    case("confirmed-by-answerer", "An answerer confirms.", lambda d: d.confirm("answerer"), "ROLE_POLICY_VIOLATION")
    case("asked-after", "The agent asks after the confirmation.", lambda d: (d.confirm(), d.ask()))
    case("gap-after", "A gap is found after the confirmation.", lambda d: (d.confirm(), d.find()))
    case("rules-after", "Other rules come after the confirmation.", lambda d: (d.confirm(), d.rules()))
    case(
        "superseded-after",
        "An answer is superseded after the confirmation.",
        lambda d: (d.find(), d.answer(2, "person"), d.confirm(), d.supersede(3, 2, "person")),
    )
    case(
        "revoked-after",
        "An answer is taken back after the confirmation.",
        lambda d: (d.find(), d.answer(2, "person"), d.confirm(), d.revoke(3, 2, "person")),
    )


def _attestations(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        case_of_plan(family, f"attested-{name}", about, fill, code)

    case("unconfirmed", "A plan is attested that was not confirmed.", lambda d: d.attest(0))
    case("other", "An attestation names the rules.", lambda d: (d.confirm(), d.attest(1)))
    case("twice", "A plan is attested twice.", lambda d: (d.confirm(), d.attest(2), d.attest(2)))
    case(
        "by-other",
        "Another agent attests.",
        lambda d: (d.confirm(), d.attest(2, stranger(d, "agent"))),
        "ROLE_POLICY_VIOLATION",
    )
    case("by-desk", "The desk attests.", lambda d: (d.confirm(), d.attest(2, "desk")), "SIG_MISSING")
    case("itself", "An attestation names itself.", lambda d: (d.confirm(), d.attest(3)), "CITES_UNSEEN")


def _contents(family: Family) -> None:
    def case(
        name: str, about: str, kind: str, content: Json, facts: Json = None, code: str = "CONTENT_INVALID"
    ) -> None:
        who = "desk" if kind == "rules_recorded" else "agent"
        plan = work("contents of plans")
        if kind != "plan_submitted":
            plan.submit()
        plan.act(who, kind, facts or {}, content)
        family.fails_last(f"content-{name}", about, plan, code)

    submitted = {"agent": "painter", "plan": {}, "session": "6b1c2f5e-0d4a-4c3b-9e7f-1a2b3c4d5e6f"}
    case("session", "A session is no UUID.", "plan_submitted", submitted | {"session": "today"})
    case("list", "A plan is a list.", "plan_submitted", submitted | {"plan": []})
    case("fact", "A plan is open as facts.", "plan_submitted", submitted, {"plan": {}}, "SCHEMA_INVALID")
    case("packs", "Rules come from nowhere.", "rules_recorded", {"document": {}, "hash": "5" * 64, "packs": []})
    source = {"field": "colour", "pointer": "/answer", "source": -1}
    case("provenance", "A value comes from before the plan.", "plan_confirmed", {"plan": {}, "provenance": [source]})
    case("attestation", "An attestation says nothing.", "plan_attested", {"attestation": None}, {"confirmed": 0})


def _gap() -> tuple[Json, Json]:
    return QUESTION, wording({})
