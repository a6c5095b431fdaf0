"""The steps of questions and plans (docs/format.md, 11), for honest dialogues and for attacks on them."""

from collections.abc import Callable
from typing import Any, TypeVar

from forge.curve import Key
from forge.encode import Json, canonical, moment
from forge.stories import CONTENT, TRIO, Cast, Run
from forge.writer import Agent, Entry, agent


class Dialogue(Run):
    """A piece of work that has not been opened yet, or a run, with the steps of questions.

    Whoever acts is an agent, the role of one, `desk` or `person`; the desk records what the last two do.
    """

    # The session of the clarification protocol; where rules are asked again it has the name of the trace.
    session = "6b1c2f5e-0d4a-4c3b-9e7f-1a2b3c4d5e6f"

    def say(self, who: str | Agent, kind: str, facts: dict[str, Json], content: Json = None, **rest: Any) -> Entry:
        """Returns an event with a key; a role that nobody has yet is registered first."""
        return super().say(who if isinstance(who, Agent) else self.someone(who), kind, facts, content, **rest)

    def someone(self, role: str) -> Agent:
        """Returns the one with the role."""
        cast = self.cast
        if role != "desk" and role not in cast.agents:
            cast.agents[role] = agent(cast.store.label, role)
        return cast[role]

    def act(self, who: str | Agent, kind: str, facts: dict[str, Json], content: Json = None, **rest: Any) -> Entry:
        """Returns an event with the usual content of its type, unless another content is given."""
        content = content or WORDS.get(kind) or CONTENT.get(kind)
        if who not in ("desk", "person"):
            return self.say(who, kind, facts, content, **rest)
        by = {"by": "somebody"} if who == "person" and "by" in (content or {}) else {}
        return self.trace.record(kind, facts, content and content | by, role=str(who), **rest)

    def ask(self, who: str | Agent = "agent", *, words: Json = None, at: int | None = None, **facts: Json) -> Entry:
        """Returns a question; the facts given differ from the usual ones."""
        return self.act(who, "question_asked", QUESTION | facts, wording(facts, words), at=at)

    def find(self, *, words: Json = None, at: int | None = None, **facts: Json) -> Entry:
        """Returns a gap that the desk asks about, with its signed ask unless the words have another."""
        content = wording(facts, words)
        if "ask" not in (words or {}):
            content |= {"ask": self.signed_ask(QUESTION | facts, content, at)}
        return self.act("desk", "gap_found", QUESTION | facts, content, at=at)

    def signed_ask(self, facts: Json, content: Json, at: int | None, **other: Json) -> Json:
        """Returns the ask of a gap that stands next; the members given differ from the honest ones."""
        said = (entry.envelope["record"] or {} for entry in self.trace.entries)
        asks = sum(each.get("type") == "gap_found" for each in said)
        ask = {
            "type": "wwa.clarification.ask",
            "session_id": self.session,
            "round": asks + 1,
            "agent_id": "demur-desk",
            "ask_timestamp": self.stamp(at),
            "gap": {
                "id": content["gap"],
                "field": content["field"],
                "severity": facts["severity"].upper(),
                "question": content["wording"]["normal"],
                "context": content["context"] or "",
                "suggestions": content["suggestions"],
                "blocked_operations": facts["blocks"],
            },
        }
        return self.seal(ask | other, "ask_signature")

    def stamp(self, at: int | None = None) -> str:
        """Returns the time of the next event as the clarification protocol writes it."""
        return moment(self.cast.store.now + 10 if at is None else at).replace(".000Z", "Z")

    def seal(self, document: Json, member: str, key: Key | None = None) -> Json:
        """Returns a document of the clarification protocol with the desk's signature over it, or another key's."""
        signature = (key or self.cast.store.desk.key).sign_bare(canonical(document))
        return document | {member: f"ed25519:{signature}"}

    def reject(self, question: int, value: Json = "perhaps", **rest: Any) -> Entry:
        """Returns the desk's rejection of an answer."""
        content = {"answer": value, "by": "somebody"}
        return self.act("desk", "answer_rejected", {"code": "ANSWER_KIND", "question": question}, content, **rest)

    def answer(
        self, question: int, who: str | Agent = "answerer", value: Json = "blue", *, words: Json = None, **rest: Any
    ) -> Entry:
        """Returns an answer; facts given by name differ from the usual ones."""
        facts, rest = self._answer(question, who, rest)
        content = WORDS["question_answered"] | {"answer": value} | (words or {})
        return self.act(who, "question_answered", facts, content, **rest)

    def supersede(
        self,
        replaces: int,
        question: int,
        who: str | Agent = "answerer",
        value: Json = "red",
        *,
        words: Json = None,
        **rest: Any,
    ) -> Entry:
        """Returns an answer in the place of another."""
        facts, rest = self._answer(question, who, rest)
        content = WORDS["question_answered"] | {"answer": value} | (words or {})
        return self.act(who, "answer_superseded", {"answer": facts, "replaces": replaces}, content, **rest)

    def revoke(self, answer: int, question: int, who: str | Agent = "answerer", **rest: Any) -> Entry:
        """Returns the end of an answer."""
        return self.act(who, "answer_revoked", {"answer": answer, "question": question}, **rest)

    def accept(self, question: int, who: str | Agent = "answerer", **rest: Any) -> Entry:
        """Returns the acceptance of what a question points at."""
        facts, rest = self._answer(question, who, rest)
        kept = {name: facts[name] for name in ("assurance", "attribution", "question") if name in facts}
        return self.act(who, "gap_accepted", kept, **rest)

    def withdraw(self, question: int, who: str | Agent = "desk", **rest: Any) -> Entry:
        """Returns the end of a gap that the rules no longer find."""
        return self.act(who, "gap_withdrawn", {"question": question}, **rest)

    def guess(self, question: int, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns what the asker thinks."""
        return self.act(who, "answer_claimed", {"question": question}, **rest)

    def decline(self, question: int, who: str | Agent = "answerer", **rest: Any) -> Entry:
        """Returns the refusal to answer."""
        return self.act(who, "question_declined", {"question": question}, **rest)

    def pass_on(self, question: int, answerers: Json, who: str | Agent = "answerer", **rest: Any) -> Entry:
        """Returns the handing of a question to others."""
        return self.act(who, "question_passed_on", {"answerers": answerers, "question": question}, **rest)

    def deliver(self, question: int, to: str | None = None, **rest: Any) -> Entry:
        """Returns the delivery of a question."""
        return self.act("desk", "question_delivered", {"question": question, "to": to}, **rest)

    def escalate(self, question: int, *, deadline: int | None = None, **facts: Json) -> Entry:
        """Returns the desk's putting a question to others."""
        usual = {"answerers": ANYBODY, "assurance": "agent", "deadline": deadline and moment(deadline)}
        at = facts.pop("at", None)
        return self.act("desk", "question_escalated", usual | facts | {"question": question}, at=at)

    def extend(self, question: int, deadline: int, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns more time for a question."""
        return self.act(who, "question_extended", {"deadline": moment(deadline), "question": question}, **rest)

    def cancel(self, question: int, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns the end of a question that needs no answer any more."""
        return self.act(who, "question_cancelled", {"question": question}, **rest)

    def expire(self, question: int, at: int | None = None) -> Entry:
        """Returns the end of a question at its deadline."""
        return self.act("desk", "question_expired", {"question": question}, at=at)

    def default(self, question: int, at: int | None = None, value: Json = "blue") -> Entry:
        """Returns the default's taking effect."""
        return self.act("desk", "question_defaulted", {"question": question}, {"default": value}, at=at)

    def operate(
        self, operation: str = "deploy", who: str | Agent = "agent", *, confirmation: int | None = None, **rest: Any
    ) -> Entry:
        """Returns the beginning of an operation."""
        return self.act(who, "operation_started", {"confirmation": confirmation, "operation": operation}, **rest)

    def submit(self, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns a plan."""
        return self.act(who, "plan_submitted", {}, **rest)

    def rules(self, who: str | Agent = "desk", **rest: Any) -> Entry:
        """Returns the rules of a plan."""
        return self.act(who, "rules_recorded", {}, **rest)

    def amend(self, plan: Json, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns another plan in the place of the one there is."""
        return self.act(who, "plan_amended", {}, {"plan": plan}, **rest)

    def give_up(self, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns the end of a plan that nobody wants any more."""
        return self.act(who, "plan_withdrawn", {}, **rest)

    def confirm(self, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns the confirmation of the plan."""
        return self.act(who, "plan_confirmed", {}, **rest)

    def attest(self, confirmed: int, who: str | Agent = "agent", **rest: Any) -> Entry:
        """Returns the attestation of what became of the plan."""
        return self.act(who, "plan_attested", {"confirmed": confirmed}, **rest)

    def in_time(self, milliseconds: int) -> int:
        """Returns the moment that many milliseconds after the last event."""
        return self.cast.store.now + milliseconds

    def _answer(self, question: int, who: str | Agent, rest: dict[str, Any]) -> tuple[dict[str, Json], dict[str, Any]]:
        """Returns the facts of an answer and what is left of the arguments."""
        facts: dict[str, Json] = {
            "assurance": "terminal" if who == "person" else "agent",
            "choice": None,
            "kind": "freetext",
            "question": rest.pop("position", self.trace.entries[question].position),
        }
        given = {name: rest.pop(name) for name in (facts.keys() | {"attribution"}) & rest.keys()}
        return facts | given, rest


Fill = Callable[[Dialogue], object]


D = TypeVar("D", bound=Dialogue)


def work_of(kind: type[D], label: str, roles: list[str] | None = None, **rest: Any) -> D:
    """Returns a piece of work without events, with the steps of its kind of dialogue, in a store as `Cast` makes it."""
    return kind(Cast(label, roles or ["agent"], **rest), "work", None)


def work(label: str, roles: list[str] | None = None, **rest: Any) -> Dialogue:
    """Returns a piece of work without events, in a store as `Cast` makes it."""
    return work_of(Dialogue, label, roles, **rest)


def asked(label: str, **facts: Json) -> Dialogue:
    """Returns a piece of work with one question, event 0; the facts given differ from the usual ones."""
    dialogue = work(label)
    dialogue.ask(**facts)
    return dialogue


def run(label: str, roles: list[str] = TRIO) -> Dialogue:
    """Returns a run that has been opened."""
    return Dialogue(Cast(label, roles), "run", {})


def wording(facts: dict[str, Json], words: Json = None) -> dict[str, Json]:
    """Returns a question's content that agrees with its facts, unless other words are given."""
    choices = [{"label": value, "value": value} for value in COLOURS[: facts.get("choices", 0)]]
    usual: dict[str, Json] = WORDS["question_asked"]
    return usual | {"choices": choices, "default": "blue" if facts.get("default") else None} | (words or {})


COLOURS = ["blue", "red", "green"]
ANYBODY: Json = {"people": True, "principals": None}
PEOPLE: Json = {"people": True, "principals": []}
QUESTION: dict[str, Json] = {
    "about": None,
    "answerers": ANYBODY,
    "asker_settles": False,
    "assurance": "agent",
    "blocks": [],
    "choices": 0,
    "deadline": None,
    "default": False,
    "kinds": ["freetext"],
    "repeats": None,
    "severity": "block",
}
# SHA-256 of the canonical JSON of no rules at all.
EMPTY_RULES = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
WORDS: dict[str, Json] = {
    "question_asked": {
        "ask": None,
        "choices": [],
        "context": None,
        "default": None,
        "field": "colour",
        "gap": None,
        "language": "en",
        "recommendation": None,
        "request": None,
        "rule": None,
        "suggestions": [],
        "wording": {"detailed": "Which colour shall it have?", "normal": "Which colour?", "terse": "Colour?"},
    },
    "question_answered": {
        "answer": "blue",
        "by": None,
        "note": None,
        "request": None,
        "shown": None,
        "signed": None,
    },
    "question_delivered": {
        "channel": "terminal",
        "said_by": None,
        "shown": {"choices": [], "language": "en", "recommendation": False, "wording": "normal"},
        "to": "somebody",
    },
    "answer_claimed": {"answer": "blue", "note": None},
    "plan_submitted": {
        "agent": "painter",
        "plan": {"colour": None},
        "session": Dialogue.session,
    },
    "rules_recorded": {"document": {}, "hash": EMPTY_RULES, "packs": ["default"]},
    "operation_started": {"digest": None, "note": None, "operation": None},
    "plan_confirmed": {"plan": {"colour": "blue"}, "provenance": []},
    "plan_attested": {"attestation": {"files": []}},
    **dict.fromkeys(
        [
            "answer_revoked",
            "gap_accepted",
            "gap_withdrawn",
            "plan_withdrawn",
            "question_cancelled",
            "question_declined",
            "question_escalated",
            "question_extended",
            "question_passed_on",
        ],
        {"by": None, "reason": "because"},
    ),
}
