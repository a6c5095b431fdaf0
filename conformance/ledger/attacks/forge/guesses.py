"""Plans in which somebody guessed: the file holds, and the rules in it, asked again, say otherwise (`--no-guess`)."""

from collections.abc import Callable
from typing import Any

from forge.case import Corpus, Family
from forge.clients import bind
from forge.dialogues import asker
from forge.encode import Json, moment, ulid
from forge.ruled import COLOUR, PAY, TEN, WARNED, Rule, Ruled
from forge.stories import mini
from forge.writer import Agent, way


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("guess")
    _settled(family)
    _relayed(family)
    _consents(family)
    _assurances(family)
    _below(family)
    _gaps(family)
    _papers(family)
    _values(family)
    _rules(family)


def _case(
    family: Family, name: str, about: str, plan: Ruled, guesses: list[str], verdict: str = "", *options: str
) -> None:
    """Adds a case with what the rules must be found to say; a verdict that is not given follows from that."""
    rest: dict[str, Any] = {"options": ["--no-guess", *options], "guesses": guesses, "integrity": False}
    if verdict == "fail" or not verdict and guesses:
        family.fails(name, about, plan.d.export(), "GUESSED", **rest)
    else:
        family.holds(name, about, plan.d.export(), verdict or "pass", **rest)


def _strict(family: Family, name: str, plan: Ruled, guesses: list[str], verdict: str) -> None:
    _case(family, f"{name}-strict", "The same file under the strict profile.", plan, guesses, verdict, "--strict")


def _coloured(who: Callable[[Ruled], str | Agent], rule: Rule = COLOUR, **settings: Json) -> Ruled:
    """Returns a plan whose one gap somebody answers, finished."""
    plan = Ruled({}, rule, **settings)
    gap = plan.begin(rule)
    by = who(plan)
    plan.settle(gap, "blue", by, assurance="signed_in" if by == "person" else "agent")
    return plan.finish()


def _bound(*clients: str) -> Callable[[Ruled], Agent]:
    """Returns how an answerer's key comes to be whose key it is: the agent's client, then the answerer's."""

    def answerer(plan: Ruled) -> Agent:
        somebody = plan.d.someone("answerer")
        for who, client in zip(("agent", "answerer"), clients, strict=False):
            bind(plan.d.cast, who, client)
        return somebody

    return answerer


def _settled(family: Family) -> None:
    about = "A person who signed in answers, and every value has its source."
    _case(family, "signed-in", about, _coloured(lambda _: "person"), [])
    plan = Ruled({}, COLOUR)
    plan.settle(plan.begin(COLOUR), "blue")
    plan.finish()
    about = "A process of the desk's user answers, as the asker's may be."
    _case(family, "same-user", about, plan, ["remark SAME_USER"], "pass")
    _strict(family, "same-user", plan, ["remark SAME_USER"], "pass_with_warnings")

    _case(family, "other-key", "Another's key answers, which is bound to no client.", _coloured(_bound()), [])
    _case(family, "other-client", "A key of another client answers.", _coloured(_bound("a", "b")), [])
    about = "A second key of the client that submitted the plan answers, under another name."
    _case(family, "self-settled", about, _coloured(_bound("a", "a")), ["SELF_SETTLED"])
    own = _coloured(_bound("a", "a"), own_answers="all")
    about = "The same under rules that let whoever submits a plan answer."
    _case(family, "self-settled-allowed", about, own, ["warning SELF_SETTLED"], "pass_with_warnings")
    _strict(family, "self-settled-allowed", own, ["warning SELF_SETTLED"], "fail")
    own = _coloured(lambda plan: asker(plan.d), own_answers="all")
    about = "Under such rules the principal that submitted the plan answers with a second key."
    _case(family, "self-settled-itself", about, own, ["warning SELF_SETTLED"], "pass_with_warnings")
    _strict(family, "self-settled-itself", own, ["warning SELF_SETTLED"], "fail")


def _relayed(family: Family) -> None:
    def relayed(*clients: str, own: bool) -> Ruled:
        plan = Ruled({}, COLOUR)
        gap = plan.begin(COLOUR)
        bind(plan.d.cast, "agent", clients[0])
        came = way("mcp", "client", client=ulid(f"client {clients[-1]}"), own=own)
        plan.settle(gap, "blue", assurance="relayed", attribution=came)
        return plan.finish()

    plan = relayed("a", own=True)
    about = "The client that submitted the plan says that a person answered."
    _case(family, "self-relayed", about, plan, ["remark SELF_RELAYED"], "pass")
    _strict(family, "self-relayed", plan, ["remark SELF_RELAYED"], "pass_with_warnings")
    about = "Another client says that a person answered."
    _case(family, "relayed", about, relayed("a", "b", own=False), [])
    _strict(family, "relayed", relayed("a", "b", own=False), [], "pass")


def _consents(family: Family) -> None:
    """A consent is given for the values that its rule names, and for no others."""

    def accepted() -> Ruled:
        plan = Ruled(TEN, WARNED)
        plan.accept(plan.begin(WARNED), assurance="signed_in")
        return plan

    def answered() -> Ruled:
        plan = Ruled(TEN, PAY)
        plan.settle(plan.begin(PAY), True, assurance="signed_in")
        return plan

    def moved(name: str, about: str, plan: Ruled, **members: Json) -> None:
        at = plan.amend(**members)
        plan.keep("document", at, plan.document())
        _case(family, f"consent-{name}", about, plan.finish(), ["CONSENT_MOVED", "GAP_NOT_ASKED"])

    moved("moved", "A person accepts 10, the agent makes it 1,000,000.", accepted(), amount=1_000_000)
    moved("moved-yes", "A person says yes to 10, the agent makes it 1,000,000.", answered(), amount=1_000_000)
    about = "A person says yes, the agent changes the payee, whom the words of the question did not show."
    moved("moved-unshown", about, answered(), to="mallory")

    for name, plan in (("accepted", accepted()), ("answered", answered())):
        at = plan.amend(note="as agreed")
        plan.keep("document", at, plan.document())
        about = f"A value that no rule names changes after something was {name}."
        _case(family, f"consent-{name}-kept", about, plan.finish(), [])

    plan = accepted()
    at = plan.amend(amount=1_000_000)
    again = plan.put(WARNED, repeats=2)
    plan.keep("document", at, plan.document())
    plan.accept(again, assurance="signed_in")
    about = "The amount changes, so the warning is put again, and somebody accepts it again."
    _case(family, "consent-asked-again", about, plan.finish(), [])


def _assurances(family: Family) -> None:
    """A value for which the rules want somebody who is known well enough."""
    stated, own = PAY.but(assurance="terminal"), TEN | {"approved": True}

    def quiet(rule: Rule) -> Ruled:
        plan = Ruled(own, rule)
        plan.keep("document", 0, plan.document())
        return plan.finish()

    about = "The agent writes the approval into its plan, and the desk asks nobody."
    _case(family, "assurance-below", about, quiet(stated), ["ASSURANCE_BELOW", "GAP_NOT_ASKED"])
    about = "Under rules that state no assurance the agent's own word is as good as any."
    _case(family, "assurance-unstated", about, quiet(PAY), [])
    plan = Ruled(own, stated)
    why = "What approved has now does not count: it did not come in as an answer with at least the assurance terminal."
    plan.settle(plan.begin(stated, why=why), True, assurance="signed_in")
    about = "The agent writes the approval into its plan; somebody is asked all the same, and says yes."
    _case(family, "assurance-asked", about, plan.finish(), [])


def _below(family: Family) -> None:
    """Two rules ask for one field, and one of them wants more."""
    more = PAY.but(id="pay-more", assurance="terminal")

    def asked() -> tuple[Ruled, list[int]]:
        plan = Ruled(TEN, PAY, more)
        gaps = [plan.put(PAY), plan.put(more, "gap-002")]
        plan.keep("document", 0, plan.document())
        return plan, gaps

    plan, gaps = asked()
    plan.settle(gaps[0], True, assurance="relayed", attribution=way("mcp", "client"))
    plan.settle(gaps[1], True, assurance="signed_in")
    about = "Somebody answers around the rule that wants more, at the same field."
    _case(family, "answered-below", about, plan.finish(), ["ANSWERED_BELOW"])
    plan, gaps = asked()
    plan.settle(gaps[1], True, assurance="signed_in", withdraws=gaps[0])
    about = "Somebody answers the rule that wants more, and the other one asks no longer."
    _case(family, "answered-enough", about, plan.finish(), [])


def _gaps(family: Family) -> None:
    """The desk asks something else than the rules find, or nothing."""
    plan = Ruled(SMALL, COLOUR)
    plan.keep("document", 0, plan.document())
    guesses = ["GAP_NOT_ASKED", "CONFIRMED_WITH_GAP"]
    _case(family, "gap-not-asked", "The desk keeps a gap to itself.", plan.finish(), guesses)

    def differs(name: str, about: str, rule: Rule = COLOUR, plan: Json = None, **other: Json) -> None:
        told = Ruled(plan or {}, rule)
        gap = told.begin(rule, **other)
        told.settle(gap, True if rule.kinds else "blue", assurance="signed_in")
        _case(family, f"gap-{name}", about, told.finish(), ["GAP_DIFFERS"])

    words = {"detailed": "Shall I go on?", "normal": "Shall I go on?", "terse": "Go on?"}
    differs("words", "The desk asks in other words than the rules.", words={"wording": words})
    about = "The desk shows a person a tenth of the amount."
    shown = {"detailed": "1 goes out. Go ahead?", "normal": "1 goes out. Go ahead?", "terse": "approved?"}
    differs("words-amount", about, PAY, TEN, words={"wording": shown})
    differs("request", "A gap says that it was asked about other values.", PAY, TEN, words={"request": "5a" * 32})
    differs("request-none", "A gap does not say about which values it was asked.", PAY, TEN, words={"request": None})
    differs("softer", "The desk makes a warning of what blocks.", severity="warn")
    differs("assurance", "The desk asks for less than the rules.", COLOUR.but(assurance="terminal"), assurance="agent")
    differs("asker", "The desk lets whoever submitted the plan answer.", asker_settles=True)
    plan = Ruled({}, COLOUR)
    plan.keep("document", 0, plan.document())
    about = "The desk keeps to itself the one gap of a plan that says nothing."
    _case(family, "gap-not-asked-empty", about, plan.finish(), guesses)
    plan = Ruled({})
    plan.keep("document", 0, plan.document())
    about = "A plan says nothing, and no rule wants it to."
    _case(family, "nothing", about, plan.finish(), [])
    plan = Ruled({"colour": "blue"}, COLOUR)
    plan.settle(plan.begin(COLOUR), "red", assurance="signed_in")
    about = "The desk asks for what the plan says, and has it changed."
    _case(family, "gap-unfounded", about, plan.finish(), ["GAP_UNFOUNDED"])

    plan = Ruled(SMALL, COLOUR)
    plan.settle(plan.begin(COLOUR), "???", assurance="signed_in")
    about = "An answer says nothing, and the desk takes it for one."
    guesses = ["GAP_NOT_ASKED", "PAPER_DIFFERS", "CONFIRMED_WITH_GAP"]
    _case(family, "gap-answer-empty", about, plan.finish(), guesses)

    plan = Ruled({"colour": "blue"}, COLOUR)
    plan.keep("document", 0, plan.document())
    asked = len(plan.d.trace.entries)
    plan.d.ask(deadline=moment(plan.d.in_time(1000)), default=True, words={"field": None})
    plan.d.default(asked, plan.d.in_time(2000))
    about = "The agent asks with a default and has nobody answer."
    _case(family, "defaulted", about, plan.finish(), ["DEFAULTED"])


def _papers(family: Family) -> None:
    """The desk did not sign what it must, when it must."""
    plan = Ruled({}, COLOUR)
    gap = plan.put(COLOUR)
    plan.settle(gap, "blue", assurance="signed_in")
    about = "The desk signs no document before the first answer."
    _case(family, "paper-document-missing", about, plan.finish(), ["PAPER_MISSING"])
    plan = Ruled({}, COLOUR)
    gap = plan.begin(COLOUR)
    at = plan.settle(gap, "blue", assurance="signed_in")
    plan.d.confirm(content={"plan": plan.plan(), "provenance": [_source("colour", at)]})
    about = "The desk does not sign the attestation of a confirmed plan."
    _case(family, "paper-acceptance-missing", about, plan, ["PAPER_MISSING"])


def _source(name: str, at: int) -> Json:
    return {"field": name, "pointer": "/answer", "source": at}


def _values(family: Family) -> None:
    """The confirmed plan is not what was submitted and answered."""

    def case(name: str, about: str, guesses: list[str], **rest: Json) -> None:
        plan = Ruled({"size": 3}, COLOUR)
        plan.settle(plan.begin(COLOUR), "blue", assurance="signed_in")
        _case(family, name, about, plan.finish(**rest), guesses)

    both = ["PLAN_DIFFERS", "VALUE_DIFFERS"]
    case("value-answered", "An agent confirms another value than was answered.", both, plan={"colour": "red", "size": 3})
    case("value-own", "An agent confirms another value than it submitted.", both, plan={"colour": "blue", "size": 4})
    case("value-more", "An agent confirms a value more.", both[:1], plan={"colour": "blue", "size": 3, "gloss": True})
    about = "An agent says that an answer came from its own plan."
    case("value-source", about, ["PROVENANCE_DIFFERS", "VALUE_DIFFERS"], sources={"colour": 0})


def _rules(family: Family) -> None:
    plan = _coloured(lambda _: "person")
    content = {"attestation": plan.acceptance(**plan.particulars())["attestation"]}
    plan.d.act("agent", "plan_attested", {"confirmed": 7}, content)
    _case(family, "attested", "A confirmed plan is attested.", plan, [])
    about = "Rules under the name of those that come with demur are others."
    changed = _coloured(lambda _: "person", pack="default")
    _case(family, "rules-changed", about, changed, ["changed"], "pass_with_warnings")
    plan = _coloured(lambda _: "person")
    about = "The rules in the file are those that the reader knows."
    _case(family, "rules-known", about, plan, [], "pass", "--rules-hash", plan.hash)
    about = "The rules in the file are not those that the reader knows."
    _case(family, "rules-other", about, plan, ["not established"], "not_established", "--rules-hash", "5a" * 32)
    unasked = Ruled({}, COLOUR)
    unasked.begin(COLOUR)
    about = "A plan that nobody has confirmed shows nothing yet."
    _case(family, "unconfirmed", about, unasked, [], "not_established")
    export = plan.d.export()
    export.run[4].hide("withheld")
    rest: dict[str, Any] = {"options": ["--no-guess"], "guesses": ["not established"], "integrity": False}
    family.holds("withheld", "An answer is withheld.", export.seal(), "not_established", **rest)
    about = "A run has no plan in which anything could be guessed."
    family.holds("no-plan", about, mini(), "not_established", **rest)


SMALL: dict[str, Json] = {"size": 3}
