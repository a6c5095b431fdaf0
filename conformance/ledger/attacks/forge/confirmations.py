"""Confirmations: an operation that starts on a yes to something else, of somebody else, twice, or on none at all."""

import hashlib
from typing import Any

from forge.asking import ANYBODY, Dialogue, Fill, work_of
from forge.case import Corpus, Family
from forge.clients import bind
from forge.dialogues import stranger
from forge.encode import Json, canonical, moment
from forge.stories import INPUT, crew
from forge.writer import Agent, Entry


def add(corpus: Corpus) -> None:
    """Adds the family, and honest files."""
    family = corpus.family("confirmation")
    _asked(family)
    _replies(family)
    _digests(family)
    _starts(family)
    _endings(family)
    _confused(family)
    _runs(family)
    _honest(corpus.family("valid"))


class Desk(Dialogue):
    """A dialogue with the steps of confirmations."""

    def want(self, who: str | Agent = "agent", *, words: Json = None, at: int | None = None, **facts: Json) -> Entry:
        """Returns a confirmation asked for; the facts given differ from the usual ones."""
        usual = {"about": None, "answerers": ANYBODY, "assurance": "relayed", "deadline": None}
        return self.act(who, "confirmation_asked", usual | facts, asking(words), at=at)

    def yes(self, asked: int, who: str | Agent = "person", *, words: Json = None, **rest: Any) -> Entry:
        """Returns a yes."""
        return self._reply("confirmation_given", asked, who, SAID | (words or {}), rest)

    def no(self, asked: int, who: str | Agent = "person", *, words: Json = None, **rest: Any) -> Entry:
        """Returns a no."""
        return self._reply("confirmation_refused", asked, who, SAID | {"instead": None} | (words or {}), rest)

    def lapse(self, asked: int, who: str = "desk", **rest: Any) -> Entry:
        """Returns the end of one that nobody gave in time."""
        return self.act(who, "confirmation_expired", {"confirmation": asked}, **rest)

    def begin(self, asked: int | None, operation: Json = None, **rest: Any) -> Entry:
        """Returns the beginning of the usual operation or of another one."""
        operation = operation or TRANSFER
        content = {"digest": sha(operation), "note": None, "operation": operation}
        return self.operate("transfer", confirmation=asked, content=rest.pop("words", content), **rest)

    def end(self, started: int, digest: Json = None, who: str | Agent = "agent", **facts: Json) -> Entry:
        """Returns the end of an operation."""
        usual: dict[str, Json] = {"failed": False, "started": started}
        return self.act(who, "operation_ended", usual | facts, {"digest": digest or sha(TRANSFER)})

    def _reply(self, kind: str, asked: int, who: str | Agent, content: Json, rest: dict[str, Any]) -> Entry:
        facts: dict[str, Json] = {
            "assurance": "terminal" if who == "person" else "agent",
            "confirmation": rest.pop("position", self.trace.entries[asked].position),
        }
        facts |= {name: rest.pop(name) for name in (facts.keys() | {"attribution"}) & rest.keys()}
        return self.act(who, kind, facts, content, **rest)


def sha(operation: Json) -> str:
    """Returns the digest that a confirmation binds."""
    return hashlib.sha256(canonical(operation)).hexdigest()


def asking(words: Json = None) -> dict[str, Json]:
    """Returns the words of a confirmation asked for; with another operation its digest is another."""
    words = words or {}
    operation = words.get("operation", TRANSFER)
    return ASKING | {"digest": sha(operation), "operation": operation} | words


def desk(label: str = "confirmations") -> Desk:
    """Returns a piece of work without events."""
    return work_of(Desk, label)


def _case(family: Family, code: str, *, asks: bool = True, **facts: Json) -> Any:
    def case(name: str, about: str, fill: Fill, found: str = code, /, **more: Json) -> None:
        dialogue = desk()
        if asks:
            dialogue.want(**facts | more)
        fill(dialogue)
        family.fails_last(name, about, dialogue, found)

    return case


def _without_words(
    family: Family, name: str, about: str, fill: Fill, code: str = "CONFIRMATION_MISMATCH", how: str = "withheld"
) -> None:
    """Adds a case in which only the yes or the no still says what was asked about."""
    dialogue = desk()
    dialogue.want()
    fill(dialogue)
    export = dialogue.export()
    export.run[0].hide(how)
    family.fails(name, about, export.seal(), code, len(dialogue.trace.entries) - 1)


def _asked(family: Family) -> None:
    case = _case(family, "ORDER_VIOLATION", asks=False)
    role, content = "ROLE_POLICY_VIOLATION", "CONTENT_INVALID"
    case("asked-by-desk-first", "The desk opens work with a confirmation of nobody's operation.", lambda d: d.want("desk"))
    case("asked-by-person", "A person asks for a confirmation.", lambda d: (d.ask(), d.want("person")), role)
    case("asked-as-agent", "The desk asks in the agent's name.", lambda d: (d.ask(), _as_agent(d)), role)
    case("asked-by-answerer", "An answerer asks.", lambda d: (d.ask(), d.want("answerer")), role)
    case("asked-about", "In a piece of work a confirmation is about an event.", lambda d: (d.ask(), d.want(about=0)))
    case("asked-late", "The deadline has passed when it is asked.", lambda d: d.want(deadline=moment(d.in_time(-9))))
    nobody: Json = {"people": False, "principals": []}
    case("asked-nobody", "Nobody may say yes.", lambda d: d.want(answerers=nobody))
    case("asked-asker", "Only the asker may say yes.", lambda d: d.want(answerers=_own(d), assurance="agent"))
    case("asked-default", "A default says yes.", lambda d: d.want(default=True), "SCHEMA_INVALID")
    case("asked-default-words", "The words name a default.", lambda d: d.want(words={"default": True}), content)
    case("asked-bare", "The words leave the operation out.", lambda d: d.want(words={"operation": None}), content)


def _own(dialogue: Desk) -> Json:
    return {"people": False, "principals": [dialogue.someone("agent").principal]}


def _as_agent(dialogue: Desk) -> Entry:
    facts = {"about": None, "answerers": ANYBODY, "assurance": "relayed", "deadline": None}
    return dialogue.trace.record("confirmation_asked", facts, asking(), role="agent")


def _replies(family: Family) -> None:
    case = _case(family, "ORDER_VIOLATION")
    agents: dict[str, Json] = {"assurance": "agent"}
    case("own-client", "The agent says yes to itself, with another key.", lambda d: d.yes(0, _second(d)), **agents)
    case("own-client-no", "The agent says no to itself.", lambda d: d.no(0, _second(d)), **agents)
    case("own-program", "The agent's program says yes under another name.", lambda d: d.yes(0, _program(d)), **agents)
    case("own-program-no", "The agent's program says no under another name.", lambda d: d.no(0, _program(d)), **agents)
    case("own-program-told", "Whose program it is the desk says after the yes.", _told_later, **agents)
    case("below-assurance", "A key says yes where a person is wanted.", lambda d: d.yes(0, "answerer"))
    case("overstated", "A key says that it is a person.", lambda d: d.yes(0, "answerer", assurance="terminal"))
    case("passkey-unproven", "The desk says that a passkey approved.", lambda d: d.yes(0, assurance="passkey"))
    keys: Json = {"people": False, "principals": None}
    case("not-for-people", "A person says yes where only keys may.", lambda d: d.yes(0), answerers=keys, **agents)
    case("not-entitled", "A key says yes that is not named.", lambda d: d.yes(0, "answerer"), **_named())
    case("twice", "Two people say yes.", lambda d: (d.yes(0), d.yes(0)))
    case("yes-after-no", "Somebody says yes after somebody else said no.", lambda d: (d.no(0), d.yes(0)))
    case("no-after-yes", "Somebody says no after somebody else said yes.", lambda d: (d.yes(0), d.no(0)))
    other = {"hash": "00" * 32, "sequence": 0}
    case("other-hash", "A yes names another event at that place.", lambda d: d.yes(0, position=other))
    case("by-desk", "The desk says yes itself.", lambda d: d.yes(0, "desk"), "ROLE_POLICY_VIOLATION")
    case("by-agent", "The agent says yes as an agent.", lambda d: d.yes(0, "agent"), "ROLE_POLICY_VIOLATION")
    ends: dict[str, Json] = {"deadline": moment(desk().in_time(500))}
    case("after-deadline", "Somebody says yes after the deadline.", lambda d: d.yes(0, at=d.in_time(900)), **ends)
    late: Fill = lambda d: (d.lapse(0, at=d.in_time(900)), d.yes(0))  # noqa: E731
    case("after-expiry", "Somebody says yes after it expired.", late, **ends)
    case("expired-early", "The desk ends it before its deadline.", lambda d: d.lapse(0), **ends)
    case("expired-never", "The desk ends one without a deadline.", lambda d: d.lapse(0))
    twice: Fill = lambda d: (d.lapse(0, at=d.in_time(900)), d.lapse(0))  # noqa: E731
    case("expired-twice", "It expires twice.", twice, **ends)
    case("expired-by-agent", "The agent ends it.", lambda d: d.lapse(0, "agent"), "STATEMENT_MISMATCH", **ends)


def _named() -> dict[str, Json]:
    return {"answerers": {"people": True, "principals": []}, "assurance": "agent"}


def _program(dialogue: Desk) -> Agent:
    """Returns somebody else by name who is the same client as the agent."""
    other = stranger(dialogue, "answerer")
    bind(dialogue.cast, "agent", "a")
    bind(dialogue.cast, other, "a")
    return other


def _told_later(dialogue: Desk) -> None:
    other = stranger(dialogue, "answerer")
    dialogue.yes(0, other)
    bind(dialogue.cast, "agent", "a")
    bind(dialogue.cast, other, "a")


def _second(dialogue: Desk) -> Agent:
    """Returns a key of the agent's own that may answer."""
    return stranger(dialogue, "answerer", like="agent")


def _digests(family: Family) -> None:
    case = _case(family, "CONFIRMATION_MISMATCH", asks=False)
    more = {"amount": 1000000, "to": "mallory"}
    lie = {"digest": sha(TRANSFER), "operation": more}
    case("asked-other-digest", "What is asked has the digest of something else.", lambda d: d.want(words=lie))
    words = {"digest": sha(more)}
    case("given-other-digest", "A yes has the digest of another operation.", lambda d: (d.want(), d.yes(0, words=words)))
    case("refused-other-digest", "A no has another digest.", lambda d: (d.want(), d.no(0, words=words)))
    about = "10 is confirmed; 1,000,000 is carried out."
    case("other-operation", about, lambda d: (d.want(), d.yes(0), d.begin(0, more)))
    shown = {"digest": sha(TRANSFER), "note": None, "operation": more}
    about = "10 is confirmed; 1,000,000 is carried out under the digest of 10."
    case("other-operation-hidden", about, lambda d: (d.want(), d.yes(0), d.begin(0, words=shown)))
    about = "An operation that nobody was asked about starts under the digest of one that is done."
    done: Fill = lambda d: (d.want(), d.yes(0), d.begin(0), d.begin(None, words=shown))  # noqa: E731
    case("started-other-digest", about, done, "CONFIRMATION_MISMATCH")
    about = "What ends is another operation than what began."
    case("ended-other", about, lambda d: (d.want(), d.yes(0), d.begin(0), d.end(2, sha(more))))
    about = "10 is confirmed and what asked is withheld; 1,000,000 is carried out."
    _without_words(family, "other-operation-withheld", about, lambda d: (d.yes(0), d.begin(0, more)))
    about = "10 is confirmed, what asked is erased, and then 1,000,000 is carried out."
    erased: Fill = lambda d: (d.yes(0), d.trace.record("content_erased", {"event": 0}, {"why": "asked to"}), d.begin(0, more))  # noqa: E731
    _without_words(family, "other-operation-erased", about, erased, how="erased")
    about = "What was refused is carried out unnamed; what asked is withheld."
    _without_words(family, "refused-operation-withheld", about, lambda d: (d.no(0), d.begin(None)), "OPERATION_UNCONFIRMED")
    case = _case(family, "CONTENT_INVALID")
    bare = {"digest": None, "note": None, "operation": None}
    case("started-bare", "A start spends a yes and does not say for what.", lambda d: (d.yes(0), d.begin(0, words=bare)))
    half = {"digest": sha(TRANSFER), "note": None, "operation": None}
    case("started-half", "A start names a digest and no operation.", lambda d: (d.yes(0), d.begin(0, words=half)))


def _starts(family: Family) -> None:
    case = _case(family, "OPERATION_UNCONFIRMED")
    ends: dict[str, Json] = {"deadline": moment(desk().in_time(500))}
    case("started-open", "An operation starts while nobody has said anything.", lambda d: d.begin(0))
    case("started-refused", "An operation starts after a no.", lambda d: (d.no(0), d.begin(0)))
    lapsed: Fill = lambda d: (d.lapse(0, at=d.in_time(900)), d.begin(0))  # noqa: E731
    case("started-expired", "An operation starts after nobody said yes in time.", lapsed, **ends)
    case("started-unnamed-open", "It starts and does not name what it waits for.", lambda d: d.begin(None))
    case("started-unnamed-refused", "After a no it starts as if nobody had been asked.", lambda d: (d.no(0), d.begin(None)))
    case("started-unnamed-given", "It starts beside its yes, which stays unspent.", lambda d: (d.yes(0), d.begin(None)))
    bare = {"digest": None, "note": None, "operation": None}
    untold: Fill = lambda d: (d.no(0), d.begin(None, words=bare))  # noqa: E731
    case("started-untold-refused", "After a no something starts that does not say what it is.", untold)
    case("started-untold-open", "Something starts untold while nobody has said anything.", lambda d: d.begin(None, words=bare))
    untold = lambda d: (d.yes(0), d.begin(0), d.begin(None, words=bare))  # noqa: E731
    case("started-untold-spent", "After the one start on a yes something starts untold.", untold)
    again: Fill = lambda d: (d.no(0), d.want(), d.begin(2))  # noqa: E731
    case("started-asked-again", "After a no it is asked again, and starts.", again)
    case = _case(family, "CONFIRMATION_SPENT")
    case("spent-twice", "Two operations start on one yes.", lambda d: (d.yes(0), d.begin(0), d.begin(0)))
    case("spent-unnamed", "The second start does not name the yes.", lambda d: (d.yes(0), d.begin(0), d.begin(None)))


def _endings(family: Family) -> None:
    case = _case(family, "ORDER_VIOLATION")
    done: Fill = lambda d: (d.yes(0), d.begin(0), d.end(2), d.end(2, failed=True))  # noqa: E731
    case("ended-twice", "An operation is done, and then it failed.", done)
    case("ended-unstarted", "Something ends that never began.", lambda d: (d.yes(0), d.end(1)))
    foreign: Fill = lambda d: (d.yes(0), d.begin(0), d.end(2, who=_stranger(d)))  # noqa: E731
    case("ended-by-stranger", "Another agent ends it.", foreign, "ROLE_POLICY_VIOLATION")
    case("asked-by-stranger", "Another agent asks.", lambda d: d.want(_stranger(d)), "ROLE_POLICY_VIOLATION")
    plan = desk("a plan")
    plan.submit()
    plan.rules()
    plan.want()
    plan.confirm()
    about = "An agent confirms its plan while an operation waits."
    family.fails("plan-confirmed", about, plan.export(), "ORDER_VIOLATION", 3)
    plan = desk("a plan")
    plan.submit()
    plan.rules()
    plan.confirm()
    plan.want()
    plan.attest(2)
    about = "An agent attests its plan while an operation waits."
    family.fails("plan-attested", about, plan.export(), "ORDER_VIOLATION", 4)


def _stranger(dialogue: Desk) -> Agent:
    return stranger(dialogue, "agent")


def _confused(family: Family) -> None:
    case = _case(family, "ORDER_VIOLATION", asks=False)
    case("question-confirmed", "A yes to a question.", lambda d: (d.ask(), d.yes(0)))
    case("question-refused", "A no to a question.", lambda d: (d.ask(), d.no(0)))
    case("question-expired", "A question ends as a confirmation.", lambda d: (d.ask(), d.lapse(0)))
    case("question-spent", "An operation starts on an answer.", lambda d: (d.ask(), d.answer(0), d.begin(0)))
    case("confirmation-answered", "A confirmation is answered.", lambda d: (d.want(), d.answer(0, "person")))
    case("confirmation-declined", "A confirmation is declined.", lambda d: (d.want(), d.decline(0, "person")))
    case("confirmation-cancelled", "A confirmation is cancelled.", lambda d: (d.want(), d.cancel(0)))
    case("confirmation-extended", "A confirmation gets more time.", lambda d: (d.want(), d.extend(0, d.in_time(999))))


def intended(label: str, *, confirm: bool = False) -> Desk:
    """Returns a run with an intent, event 4, for the usual input, event 5; `confirm`: the policy wants a person's yes."""
    run = Desk(crew(label), "run", {})
    run.policy(tools={"wc": {"confirm": confirm, "programs": ["wc"], "risk": "low"}})
    run.propose()
    run.review(2)
    run.intend(2)
    run.store_input()
    return run


def call() -> dict[str, Json]:
    """Returns the operation that the usual intent is."""
    return {"input": hashlib.sha256(INPUT).hexdigest(), "tool": "wc"}


def _runs(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "OPERATION_UNCONFIRMED") -> None:
        run = intended("confirmed runs")
        fill(run)
        family.fails_last(f"run-{name}", about, run, code)

    about = {"about": 4, "words": {"operation": call()}}
    agents = about | {"assurance": "agent"}

    def demanded(name: str, words: str, fill: Fill) -> None:
        run = intended("demanded confirmations", confirm=True)
        fill(run)
        family.fails_last(f"run-demanded-{name}", words, run, "OPERATION_UNCONFIRMED")

    said = {"words": {"digest": sha(call())}}
    case("started-open", "A tool starts while its intent waits.", lambda d: (d.want("critic", **about), d.start(4, 5)))
    case(
        "started-refused",
        "A tool starts after a no to its intent.",
        lambda d: (d.want("critic", **about), d.no(6, **said), d.start(4, 5)),
    )
    case(
        "other-intent",
        "A no to one intent; another one for the same call starts.",
        lambda d: (d.want("critic", **about), d.no(6, **said), d.intend(2), d.start(8, 5)),
    )
    case(
        "spent-by-other-intent",
        "A yes to one intent, which starts; another one for the same call starts beside it.",
        lambda d: (d.want("critic", **about), d.yes(6, **said), d.start(4, 5), d.intend(2), d.start(9, 5)),
        "CONFIRMATION_SPENT",
    )
    case("other-call", "What is shown is not what the intent names.", lambda d: d.want("critic", about=4), "CONFIRMATION_MISMATCH")
    demanded("unasked", "The policy wants a person's yes; the tool starts, and nobody was asked.", lambda d: d.start(4, 5))
    demanded(
        "by-key",
        "The policy wants a person's yes; the critic asks for any, and a key gives it.",
        lambda d: (d.want("critic", **agents), d.yes(6, stranger(d, "answerer"), **said), d.start(4, 5)),
    )
    demanded(
        "refused",
        "The policy wants a person's yes; the tool starts after a no.",
        lambda d: (d.want("critic", **about), d.no(6, **said), d.start(4, 5)),
    )
    demanded(
        "other-intent",
        "The policy wants a yes to each intent; a second one for the same call starts on none.",
        lambda d: (d.want("critic", **about), d.yes(6, **said), d.intend(2), d.start(8, 5)),
    )
    order = "ORDER_VIOLATION"
    words = {"words": {"operation": call()}}
    case("about-nothing", "In a run a confirmation is about no intent.", lambda d: d.want("critic", **words), order)
    case("about-proposal", "A confirmation is about a proposal.", lambda d: d.want("critic", about=2, **words), order)
    case("about-started", "It is asked after the start.", lambda d: (d.start(4, 5), d.want("critic", **about)), order)
    case("about-twice", "It is asked twice.", lambda d: (d.want("critic", **about), d.want("executor", **about)), order)
    for role in ("executor", "planner", "critic"):
        case(
            f"own-client-{role}",
            f"The critic asks; the {role} says yes with another key.",
            lambda d, role=role: (
                d.want("critic", **agents),
                d.yes(6, stranger(d, "answerer", like=role), **said),
            ),
            order,
        )
    case(
        "concluded",
        "The executor signs the final statement while an intent waits.",
        lambda d: (
            d.intend(2),
            d.start(6, 5),
            d.store_bytes(),
            d.complete(7, [8]),
            d.claim([8], [9]),
            d.want("critic", **about),
            d.conclude([10]),
        ),
        order,
    )


def _honest(family: Family) -> None:
    dialogue = desk()
    dialogue.want()
    dialogue.yes(0)
    dialogue.begin(0)
    dialogue.end(2)
    family.holds("confirmation", "An operation is confirmed by a person, carried out once, and over.", dialogue.export())
    dialogue = desk()
    dialogue.want(assurance="agent")
    dialogue.no(0, "answerer", words={"instead": {"amount": 1, "to": "mallory"}, "note": "too much"})
    dialogue.want("desk", words={"operation": {"amount": 1, "to": "mallory"}})
    dialogue.yes(2, words={"digest": sha({"amount": 1, "to": "mallory"})})
    dialogue.begin(2, {"amount": 1, "to": "mallory"})
    dialogue.end(4, sha({"amount": 1, "to": "mallory"}), failed=True)
    about = "A key refuses an operation; the desk asks for another one instead, which a person confirms."
    family.holds("confirmation-instead", about, dialogue.export())
    dialogue = desk()
    dialogue.want(deadline=moment(dialogue.in_time(500)))
    dialogue.lapse(0, at=dialogue.in_time(900))
    family.holds("confirmation-expired", "Nobody confirms an operation in time, and it is not done.", dialogue.export())
    dialogue = desk()
    dialogue.want()
    dialogue.no(0)
    dialogue.begin(None, {"amount": 1, "to": "bob"})
    about = "One operation is refused; another one, told whole, for which nobody was asked, starts."
    other: dict[str, Json] = {"finds": ["CONFIRMED_OTHER"], "integrity": False}
    family.holds("confirmation-other-told", about, dialogue.export(), "pass_with_warnings", **other)
    hidden = dialogue.export()
    hidden.run[2].hide("withheld")
    about = "What starts after a refusal is kept back: which operation it is nobody can tell."
    family.holds("confirmation-start-withheld", about, hidden.seal(), "not_established")
    dialogue = desk()
    dialogue.want()
    dialogue.yes(0)
    dialogue.begin(None, {"amount": 1000000, "to": "mallory"})
    about = "A person confirms 10; 1,000,000 starts on no confirmation at all."
    family.holds("confirmation-other-amount", about, dialogue.export(), "pass_with_warnings", **other)
    dialogue = desk()
    dialogue.want()
    dialogue.yes(0)
    dialogue.begin(0)
    dialogue.operate("notify", content={"digest": sha({}), "note": None, "operation": {}})
    about = "One operation starts on its yes, another one of another name on none."
    family.holds("confirmation-other-name", about, dialogue.export())
    run = intended("another input than the confirmed one")
    run.want("critic", about=4, words={"operation": call()})
    run.yes(6, words={"digest": sha(call())})
    run.intend(2, data=b"{}")
    run.store_input(b"{}")
    run.start(8, 9)
    about = "A person confirms a call of a tool; the tool starts on another input, of which nobody was asked."
    family.holds("confirmation-run-other", about, run.export(), "pass_with_warnings", **other)
    dialogue = desk()
    program = stranger(dialogue, "answerer")
    bind(dialogue.cast, "agent", "a")
    bind(dialogue.cast, program, "b")
    dialogue.want(assurance="agent")
    dialogue.yes(0, program)
    family.holds("confirmation-other-program", "One program confirms what another one wants.", dialogue.export())
    dialogue = desk()
    dialogue.want()
    about = "An operation waits."
    family.holds("confirmation-open", about, dialogue.export(), "pass_with_warnings", integrity=False)
    run = intended("confirmed runs")
    run.want("critic", about=4, words={"operation": call()})
    run.yes(6, words={"digest": sha(call())})
    run.start(4, 5)
    about = "The critic asks a person about an intent, and the tool starts on the yes."
    family.holds("confirmation-run", about, run.export(), "pass_with_warnings", integrity=False)
    about = "The same file for a reader who asks for everything: the run goes on, and the yes is of the same user."
    strict: dict[str, Json] = {"options": ["--strict"], "finds": ["SAME_USER"], "integrity": False}
    family.fails("confirmation-run-strict", about, run.export(), "FINALIZATION_INCOMPLETE", **strict)
    run = intended("demanded confirmations", confirm=True)
    run.want("critic", about=4, words={"operation": call()})
    run.yes(6, words={"digest": sha(call())})
    run.start(4, 5)
    about = "The policy wants a person's yes, and has it."
    family.holds("confirmation-demanded", about, run.export(), "pass_with_warnings", integrity=False)


TRANSFER: Json = {"amount": 10, "to": "mallory"}
ASKING: dict[str, Json] = {
    "action": "Send 10 to mallory.",
    "consequence": "The money is gone.",
    "language": "en",
    "risk": "high",
}
SAID: dict[str, Json] = {"by": None, "digest": sha(TRANSFER), "note": None, "shown": None}
