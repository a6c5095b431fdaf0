"""Lies that a whole record can still tell: words erased from under a yes, and words of somebody else in a person's name."""

from collections.abc import Callable

from forge.asking import Dialogue, work
from forge.case import Corpus, Family
from forge.clients import bind, token, untoken
from forge.confirmations import Desk, call, desk, intended, sha
from forge.dialogues import planned
from forge.encode import Json, ulid
from forge.export import Export
from forge.stories import crew
from forge.writer import way


def add(corpus: Corpus) -> None:
    """Adds the family, and honest files."""
    family, honest = corpus.family("liar"), corpus.family("valid")
    _erased(family, honest)
    _unsettled(family, honest)
    _asked_first(family, honest)
    _changed(family, honest)
    _ended(family, honest)
    _tokens(family, honest)


def _erase(dialogue: Desk, *events: int) -> None:
    for event in events:
        dialogue.act("desk", "content_erased", {"event": event}, {"why": "asked to"})


def _without(dialogue: Desk, *events: int) -> Export:
    """Returns the file without the words of these events."""
    export = dialogue.export()
    for event in events:
        export.run[event].hide("erased")
    return export.seal()


def _erased(family: Family, honest: Family) -> None:
    more: Json = {"amount": 1000000, "to": "mallory"}

    def case(name: str, about: str, code: str, fill: Callable[[Desk], object], *gone: int, **rest: Json) -> None:
        dialogue = desk(f"erased {name}")
        dialogue.want()
        fill(dialogue)
        family.fails(f"erased-{name}", about, _without(dialogue, *gone), code, len(dialogue.trace.entries) - 1, **rest)

    unconfirmed = "OPERATION_UNCONFIRMED"
    case(
        "ask",
        "10 is confirmed, what was asked is erased, and 1,000,000 starts on the yes.",
        "CONFIRMATION_MISMATCH",
        lambda d: (d.yes(0), _erase(d, 0), d.begin(0, more)),
        0,
    )
    case(
        "ask-first",
        "What is asked is erased before the yes to 10, on which 1,000,000 starts.",
        "CONFIRMATION_MISMATCH",
        lambda d: (_erase(d, 0), d.yes(0), d.begin(0, more)),
        0,
    )
    case(
        "both",
        "What was asked and the yes are erased; then something starts, and nobody can tell whether it was confirmed.",
        unconfirmed,
        lambda d: (d.yes(0), _erase(d, 0, 1), d.begin(0, more)),
        0,
        1,
        integrity=False,
    )
    case(
        "refused",
        "10 is refused, what was asked is erased, and 10 starts as if nobody had been asked.",
        unconfirmed,
        lambda d: (d.no(0), _erase(d, 0), d.begin(None)),
        0,
    )
    dialogue = desk("erased and done")
    dialogue.want()
    dialogue.yes(0)
    dialogue.begin(0)
    dialogue.end(2, sha({"amount": 10, "to": "mallory"}))
    _erase(dialogue, 0, 1)
    about = "What was confirmed and done is erased afterwards."
    honest.holds("erased-done", about, _without(dialogue, 0, 1), "not_established")


def _refused(value: bool = False) -> Dialogue:
    """Returns a plan with a gap, event 2, that a person's no did not settle, so that it was put again as event 4."""
    dialogue = planned("unsettled")
    dialogue.find(kinds=["yes_no"])
    dialogue.answer(2, "person", value, kind="yes_no")
    dialogue.find(kinds=["yes_no"], repeats=2)
    return dialogue


def _unsettled(family: Family, honest: Family) -> None:
    def case(name: str, about: str, dialogue: Dialogue, *steps: Callable[[Dialogue], object]) -> None:
        for step in steps:
            step(dialogue)
        family.fails(f"no-{name}", about, dialogue.export(), "FIELD_ANSWERED", len(dialogue.trace.entries) - 1)

    yes: Json = {"colour": True}
    about = "A person says no, the gap is put again, and the agent writes its own yes into the plan."
    case("amended", about, _refused(), lambda d: d.amend(yes))
    about = "The agent changes something else first, so that the gap is put once more."
    again = [lambda d: d.amend({"size": 3}), lambda d: d.find(kinds=["yes_no"], repeats=4), lambda d: d.amend(yes)]
    case("amended-later", about, _refused(), *again)
    about = "The rules ask nothing for a while, and then the agent writes its own yes."
    case("amended-withdrawn", about, _refused(), lambda d: d.withdraw(4), lambda d: d.amend(yes))
    about = "A person says yes, which does not settle the gap, and the agent writes a no."
    case("amended-yes", about, _refused(True), lambda d: d.amend({"colour": False}))
    dialogue = _refused()
    dialogue.amend({"size": 3})
    dialogue.answer(4, "person", True, kind="yes_no")
    dialogue.amend(yes | {"size": 4})
    about = "A person says no and then yes, and the plan has the yes."
    honest.holds("no-then-yes", about, dialogue.export(), "pass_with_warnings", integrity=False)


def _asked_first(family: Family, honest: Family) -> None:
    def asked(label: str, who: str) -> Desk:
        run = intended(label, confirm=True)
        run.want(who, about=4, words={"action": "Run echo (harmless)", "operation": call()})
        return run

    for who in ("executor", "planner"):
        about = f"The policy wants a person's yes; the {who} asks for it first, in words of its own."
        family.fails(f"asked-by-{who}", about, asked("asked first", who).export(), "OPERATION_UNCONFIRMED", 6)
    run = intended("asked freely")
    run.want("executor", about=4, words={"operation": call()})
    about = "Where the policy wants nobody's yes, an executor may ask for one."
    honest.holds("asked-by-executor", about, run.export(), "pass_with_warnings", integrity=False)


def _relayed(client: str, **rest: Json) -> dict[str, Json]:
    """Returns the way through the form of a program."""
    return {"assurance": "relayed", "attribution": way("mcp", "client", client=ulid(f"client {client}"), **rest)}


def _at_terminal(person: str | None = None) -> dict[str, Json]:
    return {"assurance": "terminal", "attribution": way(person=person and ulid(f"person {person}"))}


def _answered(label: str, **given: Json) -> Dialogue:
    """Returns a question of client a's agent that somebody answered with no."""
    dialogue = work(label)
    bind(dialogue.cast, "agent", "a")
    dialogue.ask(assurance="relayed")
    dialogue.answer(0, "person", "no", **given)
    return dialogue


def _take_back(dialogue: Dialogue, answer: int, change: dict[str, Json]) -> None:
    facts = {"answer": answer, "attribution": change["attribution"], "question": 0}
    dialogue.act("person", "answer_revoked", facts)


def _changed(family: Family, honest: Family) -> None:
    own = _relayed("a", own=True)
    for name, about, given, change in (
        ("other-person", "Another person changes what Ada said at the terminal.", _at_terminal("ada"), _at_terminal("eve")),
        ("other-client", "Another program changes what a program relayed.", _relayed("b"), _relayed("c")),
        ("own-client", "The program that asked changes what another one relayed.", _relayed("b"), own),
        ("below", "A program changes what somebody said at the terminal.", _at_terminal(), _relayed("b")),
        ("own-below", "The program that asked changes what somebody said at the terminal.", _at_terminal(), own),
    ):
        dialogue = _answered(f"changed {name}", **given)
        dialogue.supersede(1, 0, "person", "yes", **change)
        family.fails(f"superseded-{name}", about, dialogue.export(), "ORDER_VIOLATION", 2)
        dialogue = _answered(f"revoked {name}", **given)
        _take_back(dialogue, 1, change)
        family.fails(f"revoked-{name}", about, dialogue.export(), "ORDER_VIOLATION", 2)
    for name, about, given, change in (
        ("same-client", "The program that relayed an answer relays another.", _relayed("b"), _relayed("b")),
        ("surer", "Somebody at the terminal corrects what a program relayed.", _relayed("b"), _at_terminal()),
        ("same-person", "Ada changes what she said.", _at_terminal("ada"), _at_terminal("ada")),
    ):
        dialogue = _answered(f"changed {name}", **given)
        dialogue.supersede(1, 0, "person", "yes", **change)
        _take_back(dialogue, 2, change)
        dialogue.answer(0, "person", "no", **change)
        honest.holds(f"changed-{name}", about, dialogue.export())


    dialogue = _answered("a no taken back", **_at_terminal("ada"))
    _take_back(dialogue, 1, _at_terminal("ada"))
    dialogue.cancel(0)
    dialogue.operate()
    about = "A no is taken back and its question cancelled; what begins then does not go against it."
    honest.holds("revoked-no", about, dialogue.export())


def _ended(family: Family, honest: Family) -> None:
    for own in (False, True):
        mine = way("mcp", "client", client=ulid("client a"), own=own)
        plan = planned(f"ended {own}")
        bind(plan.cast, "agent", "a")
        plan.trace.record("plan_withdrawn", {"attribution": mine}, {"by": "ada", "reason": "enough"}, role="person")
        run = crew(f"ended {own}")
        bind(run, "critic", "a")
        run_ = run.run()
        run_.trace.record("session_aborted", {"attribution": mine}, {"reason": "enough"}, role="operator")
        for name, ended in (("plan", plan), ("run", run_)):
            place = len(ended.trace.entries) - 1
            if own:
                about = f"A {name} is ended through the program of one who takes part, and the record says so."
                honest.holds(f"ended-{name}-own", about, ended.export(), "pass_with_warnings", integrity=False)
            else:
                about = f"A {name} is ended through the program of one who takes part, as if a person had done it."
                family.fails(f"ended-{name}", about, ended.export(), "OWN_CLIENT", place, integrity=False)


def _tokens(family: Family, honest: Family) -> None:
    ada, eve = ulid("person ada"), ulid("person eve")
    relay: dict[str, Json] = {"client": ulid("client b"), "people": [ada], "scopes": ["relay"]}
    anyone: dict[str, Json] = relay | {"people": None}

    def asked(label: str, **made: Json) -> Dialogue:
        dialogue = work(label)
        bind(dialogue.cast, "agent", "a")
        dialogue.ask(assurance="relayed")
        if made:
            token(dialogue.cast, "relay", **made)
        return dialogue

    def case(name: str, about: str, dialogue: Dialogue, integrity: bool | None = None, **rest: Json) -> None:
        said = {"client": ulid("client b"), "person": ada, "token": ulid("token relay")} | rest
        dialogue.answer(0, "person", assurance="relayed", attribution=way("http", "client", **said))
        family.fails(f"token-{name}", about, dialogue.export(), "ASSURANCE_OVERSTATED", 1, integrity=integrity)

    case("unknown", "An answer came with a token that nobody made.", asked("no token"))
    case("client", "An answer came with the token of another client.", asked("other client", **relay), client=ulid("client z"))
    case("clientless", "An answer came with a token and no client.", asked("no client", **relay), client=None)
    case("scope", "An answer came with a token that relays nothing.", asked("no relay", **relay | {"people": [], "scopes": ["read"]}))
    reads = relay | {"scopes": ["read"]}
    case("scope-alone", "A token for Ada that reads brings an answer of hers.", asked("for ada, no relay", **reads))
    case("person", "A token relays for Ada; an answer of Eve came with it.", asked("for ada", **relay), person=eve)
    about = "A token relays for Ada; an answer came with it that does not say whose."
    case("nobody", about, asked("for ada, nobody", **relay), person=None)
    about = "A token relays for anyone about what its own client asked; an answer to another's question came with it."
    case("foreign", about, asked("for anyone", **anyone), person=None, integrity=False)
    case("foreign-person", about, asked("for anyone, ada", **anyone), integrity=False)
    expired = relay | {"expires": "2026-01-01T00:00:00.000Z"}
    case("expired", "An answer came with a token that had expired.", asked("expired token", **expired))
    dialogue = asked("revoked token", **relay)
    untoken(dialogue.cast, "relay")
    case("revoked", "An answer came with a token that had been taken back.", dialogue)
    plan = planned("ended by a token")
    token(plan.cast, "relay", client=ulid("client b"), scopes=["operate"])
    said = {"client": ulid("client b"), "token": ulid("token relay")}
    facts = {"attribution": way("http", "client", **said)}
    plan.trace.record("plan_withdrawn", facts, {"by": "ada", "reason": "enough"}, role="person")
    about = "A plan is ended with a token that relays nothing: nobody's word is passed on."
    honest.holds("token-ends", about, plan.export(), "pass_with_warnings")
    dialogue = asked("a token for anyone", **anyone | {"client": ulid("client a")})
    said = {"client": ulid("client a"), "own": True, "token": ulid("token relay")}
    dialogue.answer(0, "person", assurance="relayed", attribution=way("mcp", "client", **said))
    about = "A token for anyone relays what the user of its own client said, about what that client asked."
    honest.holds("token-own", about, dialogue.export())
    dialogue = asked("a token for ada", **relay | {"expires": "9999-01-01T00:00:00.000Z"})
    said = {"client": ulid("client b"), "person": ada, "token": ulid("token relay")}
    dialogue.answer(0, "person", assurance="relayed", attribution=way("http", "client", **said))
    untoken(dialogue.cast, "relay")
    about = "An answer came with a token that is good for it, and was taken back later."
    honest.holds("token-good", about, dialogue.export())
