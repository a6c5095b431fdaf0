"""Papers: what the desk signed about the rounds of a plan, and how a lying desk would write it."""

import hashlib
from collections.abc import Callable

from forge.asking import QUESTION, Dialogue, Fill, wording
from forge.case import Corpus, Family
from forge.dialogues import planned
from forge.encode import Json, canonical
from forge.writer import Entry, agent


def add(corpus: Corpus) -> None:
    """Adds to the honest files, and the family."""
    _honest(corpus.family("valid"))
    family = corpus.family("paper")
    _asks(family)
    _rounds(family)
    _documents(family)
    _acceptances(family)
    _places(family)
    _rejections(family)


class Plan:
    """A plan with rules, events 0 and 1, and a desk that signs its papers."""

    def __init__(self, label: str = "papers") -> None:
        self.d: Dialogue = planned(label)
        self.asks: dict[int, Json] = {}
        self.open: list[int] = []
        self.rounds: list[Json] = []

    def gap(self, name: str = "gap-001", **facts: Json) -> int:
        """Has the desk put a gap; returns its event."""
        entry = self.d.find(words={"gap": name}, **facts)
        at = self.d.newest
        self.asks[at] = entry.content["ask"]
        self.open.append(at)
        return at

    def answer(self, gap: int, value: str = "blue", settles: bool = True) -> int:
        """Has a person answer a gap; returns the event."""
        self.d.answer(gap, "person", value)
        if settles:
            self.open.remove(gap)
        return self.d.newest

    def now(self) -> str:
        """Returns the time of the newest event as the clarification protocol writes it."""
        return self.d.stamp(self.d.cast.store.now)

    def seal(self) -> Json:
        """Returns what the record so far is sealed with."""
        record = {"session_id": self.d.session, "total_rounds": len(self.rounds), "all_resolved": not self.open}
        return _without(self.d.seal(record | {"chain": self.rounds}, "chain_signature"), "chain")

    def record(self) -> Json:
        """Returns the record so far."""
        return self.seal() | {"chain": [*self.rounds]}

    def round(self, gap: int, value: str = "blue", settles: bool = True, *, sign: bool = True, **other: Json) -> Json:
        """Returns the paper of the round that the newest event ended; the members given differ from the honest ones."""
        ask = self.asks[gap]
        told = {"assurance": "terminal", "name": "somebody"}
        entry = {
            "round": len(self.rounds) + 1,
            "ask_round": ask["round"],
            "ask_timestamp": ask["ask_timestamp"],
            "ask_signature": ask["ask_signature"],
            "gap": ask["gap"],
            "answer_timestamp": self.now(),
            "answer": value,
            "answer_signer": "recorder",
            "answered_for": told,
            "resolved": settles,
            "prev_hash": _hash(self.rounds[-1]) if self.rounds else None,
        } | other
        said = {
            "type": "wwa.clarification.answer",
            "session_id": self.d.session,
            "round": entry["ask_round"],
            "gap_id": entry["gap"]["id"],
            "agent_id": "demur-desk",
            "answer": entry["answer"],
            "answer_timestamp": entry["answer_timestamp"],
            "answered_for": entry["answered_for"],
            "ask_signature": entry["ask_signature"],
        }
        key = None if sign else agent("elsewhere", "desk").key
        entry |= {"answer_signature": self.d.seal(said, "seal", key)["seal"]}
        self.rounds.append(entry)
        return {"record": self.seal(), "round": entry}

    def document(self, **other: Json) -> Json:
        """Returns the paper of what is open; the members given differ from the honest ones."""
        if not self.open:
            return {"document": None, "record": self.seal()}
        document = {
            "$schema": "https://workswithagents.dev/specs/clarification-protocol.json",
            "protocol_version": "1.0.0",
            "session_id": self.d.session,
            "agent_id": "demur-desk",
            "agent_public_key": "ed25519:" + self.d.cast.store.desk.key.public,
            "timestamp": self.d.stamp(),
            "status": "needs_clarification",
            "gaps": [self.asks[at]["gap"] for at in self.open],
            "accepted_gaps": len(self.asks) - len(self.open),
            "blocking_gaps": self._open("BLOCK"),
            "warning_gaps": self._open("WARN"),
        }
        return {"document": self.d.seal(document | other, "signature"), "record": self.seal()}

    def _open(self, severity: str) -> int:
        return sum(self.asks[at]["gap"]["severity"] == severity for at in self.open)

    def acceptance(
        self, plan: Json = None, rounds: int | None = None, digest: str | None = None, **other: Json
    ) -> Json:
        """Returns the paper of a confirmed plan."""
        reference = f"clarification://session/{self.d.session}#{_hash(self.record())}"
        inputs = ({"colour": "blue"} if plan is None else plan) | {
            "clarification_rounds": len(self.rounds) if rounds is None else rounds,
            "clarification_chain_ref": reference,
        }
        attestation = {
            "session_id": self.d.session,
            "agent_id": "demur-desk",
            "timestamp": self.d.stamp(),
            "inputs": inputs | {"input_hash": digest or _hash(inputs)},
        }
        return {"attestation": self.d.seal(attestation | other, "signature"), "record": self.seal()}

    def handoff(self, record: Json = None, session: str | None = None) -> Json:
        """Returns the package for whoever goes on."""
        package = {
            "task_id": self.d.session,
            "sender": {"agent_id": "demur-desk", "session_id": session or self.d.session},
            "context": {"clarification_chain": record or self.record()},
        }
        return package | {"sender": package["sender"] | {"identity_sig": self.d.seal(package, "it")["it"]}}

    def keep(self, kind: str, about: int, paper: Json, who: str = "desk") -> Entry:
        """Returns a paper on record."""
        return self.d.act(who, "paper_recorded", {"about": about, "kind": kind}, {"paper": paper})

    def fails(self, family: Family, name: str, about: str, code: str = "PAPER_INVALID", event: int = -1) -> None:
        """Adds this plan as a case that fails at its newest event, or another."""
        event = self.d.newest if event < 0 else event
        family.fails(name, about, self.d.export(), code, event)


def asked_plan(label: str = "papers") -> Plan:
    """Returns a plan with one gap, event 2, and its document."""
    plan = Plan(label)
    plan.gap()
    plan.keep("document", 0, plan.document())
    return plan


def _answered() -> Plan:
    """Returns the same after an answer, event 4."""
    plan = asked_plan()
    plan.answer(2)
    return plan


def confirmed() -> Plan:
    """Returns the same after the papers of the answer and the confirmation, event 7."""
    plan = _answered()
    plan.keep("round", 4, plan.round(2))
    plan.keep("document", 4, plan.document())
    plan.d.confirm()
    return plan


def _honest(family: Family) -> None:
    plan = confirmed()
    plan.keep("acceptance", 7, plan.acceptance())
    plan.keep("handoff", 8, plan.handoff())
    plan.d.act("agent", "plan_attested", {"confirmed": 7}, {"attestation": plan.acceptance()["attestation"]})
    family.holds("papers", "A plan with every paper: asked, answered, confirmed, handed on.", plan.d.export())

    plan = Plan()
    plan.gap()
    plan.gap("gap-002")
    plan.keep("document", 0, plan.document())
    plan.answer(3)
    plan.keep("round", 5, plan.round(3))
    plan.keep("document", 5, plan.document())
    plan.answer(2)
    plan.keep("round", 8, plan.round(2))
    plan.keep("document", 8, plan.document())
    plan.d.confirm()
    plan.keep("acceptance", 11, plan.acceptance())
    family.holds("papers-other-order", "Two gaps are put and answered the other way round.", plan.d.export())

    plan = asked_plan()
    plan.d.reject(2)
    plan.keep("round", 4, plan.round(2, "perhaps", settles=False))
    plan.keep("document", 4, plan.document())
    plan.answer(2)
    plan.keep("round", 7, plan.round(2))
    plan.keep("document", 7, plan.document())
    plan.d.confirm()
    plan.keep("acceptance", 10, plan.acceptance())
    family.holds("papers-rejected", "An answer is rejected, which is a round, and another one taken.", plan.d.export())

    plan = asked_plan()
    _rotate(plan)
    plan.answer(2)
    plan.keep("round", 4, plan.round(2))
    plan.keep("document", 4, plan.document())
    plan.d.confirm()
    plan.keep("acceptance", 7, plan.acceptance())
    family.holds("papers-rotated", "The desk's key is rotated between ask and answer.", plan.d.export())


def _rotate(plan: Plan) -> None:
    """Gives the desk another key, and ends the time of the old one."""
    store = plan.d.cast.store
    new = agent(store.label, "desk", name="desk again")
    new.principal = store.desk.principal
    rotation = store.rotate(store.desk, new, store.desk.key)
    old, store.desk = store.desk, new
    store.retire(old, rotation)


def _asks(family: Family) -> None:
    def case(name: str, about: str, make: Callable[[Plan, Json], Json]) -> None:
        plan = Plan()
        content = wording({}, {"gap": "gap-001"})
        plan.d.find(words={"gap": "gap-001", "ask": make(plan, content)})
        plan.fails(family, f"ask-{name}", about)

    def other(**members: Json) -> Callable[[Plan, Json], Json]:
        return lambda plan, content: plan.d.signed_ask(QUESTION, content, None, **members)

    case("missing", "A gap is put without a signed ask.", lambda plan, content: None)
    case("round", "An ask has another number than it is.", other(round=2))
    case("time", "An ask has another time than the event.", other(ask_timestamp="2026-11-15T00:00:00Z"))
    case("session", "An ask is of another session.", other(session_id=Dialogue.session.replace("6b", "6c")))
    case("type", "An ask is signed as something else.", other(type="wwa.clarification.answer"))
    case(
        "words",
        "An ask has other words than the gap.",
        lambda plan, content: plan.d.signed_ask(QUESTION, content | {"field": "size"}, None),
    )
    case(
        "severity",
        "An ask weighs less than the gap.",
        lambda plan, content: plan.d.signed_ask(QUESTION | {"severity": "warn"}, content, None),
    )
    case(
        "key",
        "An ask is signed with a key that is not the desk's.",
        lambda plan, content: plan.d.seal(
            _without(plan.d.signed_ask(QUESTION, content, None), "ask_signature"),
            "ask_signature",
            plan.d.cast["agent"].key,
        ),
    )
    plan = asked_plan()
    old = plan.d.cast.store.desk.key
    _rotate(plan)
    content = wording({}, {"gap": "gap-002"})
    ask = _without(plan.d.signed_ask(QUESTION, content, None), "ask_signature")
    plan.d.find(words={"gap": "gap-002", "ask": plan.d.seal(ask, "ask_signature", old)})
    plan.fails(family, "ask-retired", "An ask is signed with a key of the desk that was retired before.")


def _rounds(family: Family) -> None:
    def case(name: str, about: str, **other: Json) -> None:
        plan = _answered()
        plan.keep("round", 4, plan.round(2, **other))
        plan.fails(family, f"round-{name}", about)

    case("answer", "A round has another answer than the event.", answer="red")
    case("time", "A round has another time than the answer.", answer_timestamp="2026-11-15T00:00:00Z")
    case("name", "A round names somebody else.", answered_for={"assurance": "terminal", "name": "Ada"})
    case("assurance", "A round is surer than the answer.", answered_for={"assurance": "passkey", "name": "somebody"})
    case("number", "A round has another number than it is.", round=2)
    case("ask", "A round is said to answer another ask.", ask_round=2)
    case("link", "A round follows one that is not there.", prev_hash="sha256:" + "5" * 64)
    case("key", "A round is signed with a key that is not the desk's.", sign=False)

    plan = _answered()
    paper = plan.round(2)
    paper["record"]["total_rounds"] = 2
    plan.keep("round", 4, paper)
    plan.fails(family, "round-total", "The record counts a round that is not there.")

    plan = _answered()
    paper = plan.round(2)
    paper["record"]["all_resolved"] = False
    plan.keep("round", 4, paper)
    plan.fails(family, "round-chain", "The newest record says something that the desk did not sign.", event=5)


    plan = _answered()
    paper = plan.round(2)
    paper["record"]["session_id"] = Dialogue.session.replace("6b", "6c")
    plan.keep("round", 4, paper)
    plan.keep("document", 4, plan.document())
    plan.fails(family, "round-session", "An earlier record is of another session.", event=5)

    for name, about, member, value in (
        ("resolved", "An earlier record says that a gap is open when none is.", "all_resolved", False),
        ("record-more", "An earlier record has a member that nobody signed.", "approved_by", "the board"),
    ):
        plan = _answered()
        paper = plan.round(2)
        paper["record"][member] = value
        plan.keep("round", 4, paper)
        plan.keep("document", 4, plan.document())
        plan.fails(family, f"round-{name}", about, event=5)

    plan = _answered()
    plan.keep("round", 4, plan.round(2) | {"approved_by": "the board"})
    plan.fails(family, "round-more", "Beside a round stands something that nobody signed.")


def _documents(family: Family) -> None:
    def case(name: str, about: str, **other: Json) -> None:
        plan = Plan()
        plan.gap()
        plan.keep("document", 0, plan.document(**other))
        plan.fails(family, f"document-{name}", about)

    case("gaps", "A document leaves the open gap out.", gaps=[])
    case("time", "A document has another time than the event.", timestamp="2026-11-15T00:00:00Z")
    case("session", "A document is of another session.", session_id=Dialogue.session.replace("6b", "6c"))
    plan = Plan()
    plan.gap()
    plan.keep("document", 0, plan.document() | {"document": None})
    plan.fails(family, "document-none", "No document while a gap is open.")
    plan = _answered()
    plan.keep("round", 4, plan.round(2))
    plan.open = [2]
    plan.keep("document", 4, plan.document())
    plan.fails(family, "document-settled", "A document asks for what is settled.")


def _acceptances(family: Family) -> None:
    def case(name: str, about: str, make: Callable[[Plan], Json]) -> None:
        plan = confirmed()
        plan.keep("acceptance", 7, make(plan))
        plan.fails(family, f"acceptance-{name}", about)

    case("plan", "An attestation is of another plan.", lambda plan: plan.acceptance({"colour": "red"}))
    case("rounds", "An attestation counts other rounds.", lambda plan: plan.acceptance(rounds=0))
    case("time", "An attestation has another time.", lambda plan: plan.acceptance(timestamp="2026-11-15T00:00:00Z"))
    other = "sha256:" + "5" * 64
    case("inputs", "The hash of the inputs is another.", lambda plan: plan.acceptance(digest=other))
    session = Dialogue.session.replace("6b", "6c")
    case("session", "An attestation is of another session.", lambda plan: plan.acceptance(session_id=session))

    def attested(name: str, about: str, make: Callable[[Plan], Json]) -> None:
        plan = confirmed()
        plan.keep("acceptance", 7, plan.acceptance())
        content = {"attestation": make(plan)["attestation"]}
        plan.d.act("agent", "plan_attested", {"confirmed": 7}, content)
        plan.fails(family, f"attested-{name}", about)

    attested("plan", "What was made is attested of another plan.", lambda plan: plan.acceptance({"colour": "red"}))
    attested(
        "key",
        "What was made is attested with a key that is not the desk's.",
        lambda plan: {
            "attestation": plan.d.seal(
                _without(plan.acceptance()["attestation"], "signature"), "signature", plan.d.cast["agent"].key
            )
        },
    )

    def handed(name: str, about: str, **other: Json) -> None:
        plan = confirmed()
        plan.keep("acceptance", 7, plan.acceptance())
        plan.keep("handoff", 8, plan.handoff(**other))
        plan.fails(family, f"handoff-{name}", about)

    handed("session", "A package is of another session.", session=Dialogue.session.replace("6b", "6c"))
    handed("record", "A package holds another record.", record={"session_id": Dialogue.session, "chain": []})


def _places(family: Family) -> None:
    def case(name: str, about: str, fill: Callable[[Plan], object], code: str = "ORDER_VIOLATION") -> None:
        plan = _answered()
        fill(plan)
        plan.fails(family, f"place-{name}", about, code)

    def twice(plan: Plan) -> None:
        plan.keep("round", 4, plan.round(2))
        plan.keep("round", 4, plan.round(2))

    def late(plan: Plan) -> None:
        plan.d.deliver(2)
        plan.keep("round", 4, plan.round(2))

    def turned(plan: Plan) -> None:
        plan.keep("document", 4, plan.document())
        plan.keep("round", 4, plan.round(2))

    def handed(plan: Plan) -> None:
        plan.keep("round", 4, plan.round(2))
        plan.keep("handoff", 5, plan.handoff())
        plan.keep("document", 4, plan.document())

    def parted(plan: Plan) -> None:
        plan.keep("round", 4, plan.round(2))
        plan.gap("gap-002")
        plan.keep("document", 4, plan.document())

    case("handed", "A package comes between the papers of an answer.", handed)
    case("parted", "A gap is put between the papers of an answer.", parted)
    case("twice", "A round is signed twice.", twice)
    case("late", "A round is signed after something else happened.", late)
    case("turned", "The document comes before its round.", turned)
    case("other", "A round is about an earlier event.", lambda plan: plan.keep("round", 2, plan.round(2)))
    case("kind", "An acceptance without a confirmation.", lambda plan: plan.keep("acceptance", 4, plan.acceptance()))
    case("handoff", "A package is about an earlier event.", lambda plan: plan.keep("handoff", 3, plan.handoff()))
    case(
        "agent",
        "The agent keeps a paper.",
        lambda plan: plan.keep("round", 4, plan.round(2), "agent"),
        "STATEMENT_MISMATCH",
    )


def _rejections(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        plan = planned("rejections")
        fill(plan)
        event = plan.newest
        family.fails(f"rejected-{name}", about, plan.export(), code, event, integrity=False)

    case("unknown", "An answer to no question is rejected.", lambda d: d.reject(1))
    case("settled", "An answer to a settled gap is rejected.", lambda d: (d.find(), d.answer(2, "person"), d.reject(2)))
    case(
        "secret",
        "What somebody answered to a question for a secret stands in the open.",
        lambda d: (d.ask(kinds=["secret"]), d.reject(2)),
        "CONTENT_INVALID",
    )


def _without(document: Json, member: str) -> Json:
    return {name: value for name, value in document.items() if name != member}


def _hash(document: Json) -> str:
    return "sha256:" + hashlib.sha256(canonical(document)).hexdigest()
