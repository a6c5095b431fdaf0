"""Honest questions and plans: what a verifier must not reject."""

from forge.asking import PEOPLE, D, Dialogue, Fill, run, work, work_of
from forge.case import Corpus, Family
from forge.encode import Json, moment
from forge.export import Export
from forge.stories import EVERYBODY
from forge.writer import Agent, agent


def add(corpus: Corpus) -> None:
    """Adds the honest dialogues to the family of honest files."""
    family = corpus.family("valid")
    _plans(family)
    _answers(family)
    _deadlines(family)
    _runs(family)
    _unfinished(family)
    pending = work("pending")
    pending.ask()
    about = "An agent asks, and nobody has answered yet."
    family.holds("question-pending", about, pending.export(), "pass_with_warnings", integrity=False)
    about = "The same file under the strict profile, where an unsettled question fails."
    strict: dict[str, Json] = {"options": ["--strict"], "integrity": False}
    family.fails("question-pending-strict", about, pending.export(), "FINALIZATION_INCOMPLETE", **strict)


def _plans(family: Family) -> None:
    plan = work("clarified plan")
    plan.submit()
    plan.rules()
    plan.find(blocks=["deploy"])
    plan.find(severity="warn", kinds=["freetext", "multiple_choice"], choices=2)
    plan.find(kinds=["yes_no"], assurance="terminal", answerers=PEOPLE)
    plan.deliver(2, plan.someone("answerer").principal)
    plan.operate("build")
    plan.answer(2)
    plan.answer(4, "person", True, kind="yes_no")
    plan.accept(3, "person")
    plan.operate("deploy")
    plan.confirm()
    plan.deliver(2)
    plan.operate("deploy")
    plan.attest(11)
    about = "A plan with three gaps: a key answers one, a person another and accepts the third; confirmed and attested."
    family.holds("plan", about, plan.export())
    plan = planned("plan without gaps")
    plan.trace.record("recovery_recorded", {"through": plan.trace.entries[-1].position}, {"note": "after a crash"})
    plan.confirm()
    plan.attest(3)
    family.holds("plan-complete", "A plan without gaps is confirmed and attested, over a crash.", plan.export())
    plan = planned("repeated gap")
    plan.find()
    plan.answer(2)
    plan.find(repeats=2)
    plan.answer(4)
    plan.confirm()
    plan.attest(6)
    family.holds("plan-gap-repeated", "An answer does not fill the gap; the desk asks again.", plan.export())
    plan = planned("plan and question")
    plan.find()
    plan.ask(blocks=["deploy"])
    plan.guess(3)
    plan.answer(2)
    plan.answer(3)
    plan.operate()
    plan.confirm()
    plan.attest(8)
    about = "In a plan, the agent asks a question of its own, says what it thinks, and waits."
    family.holds("plan-question", about, plan.export())
    plan = planned("gap for the agent")
    plan.find(answerers=alone(plan), asker_settles=True)
    plan.answer(2, asker(plan))
    plan.confirm()
    about = "The rules let whoever submitted the plan settle its gaps; it answers with its second key."
    family.holds("plan-gap-for-agent", about, plan.export())
    plan = planned("suggestion")
    plan.find()
    plan.guess(2)
    plan.answer(2, "person")
    plan.confirm()
    about = "Whoever submitted the plan says what it thinks of a gap; a person settles it."
    family.holds("plan-gap-suggested", about, plan.export())


def _answers(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        dialogue = work("answered")
        fill(dialogue)
        family.holds(f"question-{name}", about, dialogue.export())

    choose: dict[str, Json] = {"kinds": ["yes_no", "multiple_choice", "numeric"], "choices": 2}
    case("answered", "An agent asks, and a key answers.", lambda d: (d.ask(), d.answer(0)))
    case(
        "choice",
        "A person chooses the second of two.",
        lambda d: (d.ask(**choose), d.answer(0, "person", "red", kind="multiple_choice", choice=1)),
    )
    case(
        "number",
        "A person answers with a number that is no whole number.",
        lambda d: (d.ask(**choose), d.answer(0, "person", 1.5, kind="numeric", assurance="relayed")),
    )
    case(
        "superseded",
        "A key answers and answers again, after the deadline too.",
        lambda d: (
            d.ask(deadline=moment(d.in_time(100))),
            d.answer(0),
            d.supersede(1, 0),
            d.supersede(2, 0, at=d.in_time(500)),
        ),
    )
    case(
        "revoked",
        "A person takes the answer back and answers again.",
        lambda d: (d.ask(), d.answer(0, "person"), d.revoke(1, 0, "person"), d.answer(0, "person", "red")),
    )
    case(
        "named",
        "Only one of two answerers is named, and answers.",
        lambda d: (
            d.ask(answerers={"people": False, "principals": [d.someone("answerer").principal]}),
            stranger(d),
            d.answer(0),
        ),
    )
    case(
        "asker-settles",
        "The asker's own answer counts, because the question says so.",
        lambda d: (d.ask(asker_settles=True), d.answer(0, asker(d))),
    )
    settles: dict[str, Json] = {"asker_settles": True}
    case(
        "asker-alone",
        "A question that its asker settles is put to the asker alone.",
        lambda d: (d.ask(answerers=alone(d), **settles), d.answer(0, asker(d))),
    )
    case(
        "asker-passed-on",
        "A question that its asker settles is passed on to the asker alone.",
        lambda d: (d.ask(**settles), d.pass_on(0, alone(d), "person"), d.answer(0, asker(d))),
    )
    case(
        "asker-escalated",
        "A question that its asker settles is escalated to the asker alone.",
        lambda d: (d.ask(**settles), d.escalate(0, answerers=alone(d)), d.answer(0, asker(d))),
    )
    case(
        "person-passed-on",
        "A person passes on a question that demands a person at the terminal.",
        lambda d: (d.ask(assurance="terminal"), d.pass_on(0, PEOPLE, "person"), d.answer(0, "person")),
    )
    case(
        "blocks-any-order",
        "A question lists what it blocks in no order, with capitals; answered, all of it goes on.",
        lambda d: (d.ask(blocks=["b", "a", "B2", "A2"]), d.answer(0), d.operate("a"), d.operate("b2")),
    )
    request = {"request": "5a" * 32}
    case(
        "request",
        "An answer and the next one repeat the digest of the request that waits.",
        lambda d: (
            d.ask(words=request),
            d.answer(0, "person", words=request),
            d.supersede(1, 0, "person", words=request),
        ),
    )
    case(
        "warn-accepted",
        "Somebody accepts what a question of the agent points at.",
        lambda d: (d.ask(severity="warn"), d.accept(0, "person")),
    )


def _deadlines(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, verdict: str = "pass", *, default: bool = False) -> None:
        dialogue = work("deadlines")
        dialogue.ask(deadline=moment(dialogue.in_time(1000)), default=default, blocks=["deploy"])
        fill(dialogue)
        family.holds(f"question-{name}", about, dialogue.export(), verdict, integrity=verdict == "pass")

    case(
        "escalated",
        "A question is extended, declined, escalated to people, and a person answers.",
        lambda d: (
            d.deliver(0),
            d.extend(0, d.in_time(5000)),
            d.decline(0, at=d.in_time(2000)),
            d.escalate(0, answerers=PEOPLE, assurance="terminal", deadline=d.in_time(9000)),
            d.answer(0, "person", assurance="terminal", at=d.in_time(8000)),
            d.operate(),
        ),
    )
    case("expired", "A question expires.", lambda d: d.expire(0, d.in_time(2000)), "pass_with_warnings")
    very: dict[str, Json] = {"verdict": "pass_with_warnings"}
    case("expired-exactly", "A question expires at its very deadline.", lambda d: d.expire(0, d.in_time(990)), **very)
    case(
        "defaulted-exactly",
        "The default takes effect at the very deadline.",
        lambda d: d.default(0, d.in_time(990)),
        default=True,
    )
    case(
        "answered-just",
        "An answer comes a millisecond before the deadline.",
        lambda d: d.answer(0, "person", at=d.in_time(989)),
    )
    case(
        "declined-person",
        "A question is escalated to demand a signed-in person; a person declines.",
        lambda d: (d.escalate(0, assurance="signed_in"), d.decline(0, "person")),
        **very,
    )
    case(
        "expired-escalated",
        "A question expires, is escalated without a deadline, and answered.",
        lambda d: (d.expire(0, d.in_time(2000)), d.escalate(0), d.answer(0)),
    )
    case(
        "defaulted",
        "The declared default takes effect, and what waited goes on.",
        lambda d: (d.default(0, d.in_time(2000)), d.operate()),
        default=True,
    )
    case(
        "default-stays",
        "A question with a default is escalated while open; the default holds at the new deadline.",
        lambda d: (d.escalate(0, deadline=d.in_time(2000)), d.default(0, d.in_time(3000))),
        default=True,
    )
    case(
        "default-gone",
        "A question with a default is declined and escalated; the default is gone, so it expires.",
        lambda d: (d.decline(0), d.escalate(0, deadline=d.in_time(2000)), d.expire(0, d.in_time(3000))),
        "pass_with_warnings",
        default=True,
    )
    case("cancelled", "The agent cancels its question and goes on.", lambda d: (d.cancel(0), d.operate()))
    case(
        "passed-on",
        "An answerer passes the question on to people, and a person answers.",
        lambda d: (d.pass_on(0, PEOPLE), d.answer(0, "person")),
    )
    case(
        "reopened-late",
        "An answer is taken back after the deadline; the question is open, and expires.",
        lambda d: (d.answer(0), d.revoke(1, 0, at=d.in_time(2000)), d.expire(0)),
        "pass_with_warnings",
    )


def _runs(family: Family) -> None:
    whole = run("asking run", EVERYBODY)
    whole.ask("planner", blocks=["propose"])
    whole.answer(1)
    whole.propose()
    whole.review(4)
    whole.intend(4)
    whole.intend(4)
    whole.store_input()
    whole.ask("executor", about=6, blocks=["execute"])
    whole.start(7, 8)
    whole.answer(9, "person")
    whole.start(6, 8)
    whole.store_bytes()
    whole.complete(10, [13])
    whole.complete(12, [13])
    whole.ask("critic", blocks=["claim"])
    whole.cancel(16, "critic")
    whole.claim([13], [14, 15])
    whole.conclude([18])
    whole.audit()
    whole.ask("auditor")
    whole.answer(21)
    whole.verdict(20)
    about = "A run with questions of all four; one blocks one intent while another goes on."
    family.holds("run-questions", about, whole.export())
    aside = run("asking aside")
    aside.propose()
    aside.review(2)
    aside.intend(2)
    aside.intend(2)
    aside.ask("critic", about=4, blocks=["execute"])
    aside.execute(5)
    aside.claim([9], [10])
    about = "A question about one intent blocks its tool; another intent is executed, and a claim made of it."
    family.holds("run-question-aside", about, aside.export(), "pass_with_warnings", integrity=False)


def _unfinished(family: Family) -> None:
    def case(name: str, about: str, export: Export) -> None:
        family.holds(name, about, export, "pass_with_warnings", integrity=False)
        strict: dict[str, Json] = {"options": ["--strict"], "integrity": False}
        about = "The same file under the strict profile."
        family.fails(f"{name}-strict", about, export, "FINALIZATION_INCOMPLETE", **strict)

    plan = work("unfinished plan")
    plan.submit()
    case("plan-submitted", "A plan is submitted, and no rules have seen it.", plan.export())
    plan.rules()
    case("plan-unconfirmed", "A plan without gaps is not confirmed.", plan.export())
    plan.confirm()
    family.holds("plan-unattested", "A plan is confirmed and not attested.", plan.export())
    about = "The same file under the strict profile, which asks for no attestation."
    family.holds("plan-unattested-strict", about, plan.export(), options=["--strict"])


def alone(dialogue: Dialogue, who: str = "agent") -> Json:
    """Returns somebody of the cast, or the desk, as the only one who may answer."""
    return {"people": False, "principals": [dialogue.cast[who].principal]}


def planned_of(kind: type[D], label: str) -> D:
    """Returns a piece of work after plan and rules, events 0 and 1, with the steps of its kind of dialogue."""
    dialogue = work_of(kind, label)
    dialogue.submit()
    dialogue.rules()
    return dialogue


def planned(label: str) -> Dialogue:
    """Returns a piece of work after plan and rules, events 0 and 1."""
    return planned_of(Dialogue, label)


def confirmed_plan(family: Family, name: str, about: str, label: str, fill: Fill) -> None:
    """Adds an honest plan that is confirmed after what is filled in."""
    plan = planned(label)
    fill(plan)
    plan.confirm()
    family.holds(name, about, plan.export())


def asker(dialogue: Dialogue, who: str = "agent") -> Agent:
    """Returns somebody of the cast with a second key, which may answer."""
    label = dialogue.cast.store.label
    spare = agent(label, "answerer", name=f"{who} who answers")
    spare.principal = dialogue.cast[who].principal
    dialogue.cast.store.register(spare)
    return spare


def stranger(dialogue: Dialogue, role: str = "answerer", like: str | None = None) -> Agent:
    """Returns somebody else who is registered for the role, or somebody of the cast with a second key for it."""
    other = agent(dialogue.cast.store.label, role, name=f"other {role}")
    if like is not None:
        other.principal = dialogue.cast[like].principal
    dialogue.cast.store.register(other)
    return other
