"""Plans under rules that are in the file, so that a verifier can ask them again (docs/rules.md, docs/format.md 11).

The forge knows of a rule what it finds, not how: a rule here says which values it names and which words it has.
"""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from forge.asking import work
from forge.encode import CROCKFORD, Json, canonical
from forge.papers import Plan
from forge.people import somebody, with_root
from forge.touch import Passkey
from forge.writer import Agent, Entry


@dataclass
class Rule:
    """A row of a pack: where it finds a gap, what it asks, and which values of the plan it names beside its field."""

    table: str
    id: str
    at: str
    question: str
    names: list[str] = field(default_factory=list)
    condition: str | None = None
    kinds: list[str] = field(default_factory=list)
    severity: str = "BLOCK"
    assurance: str = "agent"

    @property
    def name(self) -> str:
        """The rule as findings name it."""
        return f"{self.table}/{self.id}"

    def row(self, pack: str) -> Json:
        """Returns the row as the document has it."""
        row: dict[str, Json] = {
            "assurance": self.assurance,
            "choices": [],
            "context": "",
            "field": self.at,
            "id": self.id,
            "kinds": self.kinds,
            "question": self.question,
            "severity": self.severity,
            "suggestions": [],
        }
        return {"pack": pack, "row": row if self.condition is None else row | {"condition": self.condition}}

    def but(self, **other: Any) -> "Rule":
        """Returns the same rule with other members."""
        return replace(self, **other)


# A value that must be there.
COLOUR = Rule("required", "colour", "colour", "Which colour?")
# A payment that somebody must let pass; the words show the amount, the condition names the payee too.
PAY = Rule(
    "policy",
    "pay",
    "approved",
    "{context.amount} go out. Go ahead?",
    ["amount", "to"],
    '(((context["amount"] > 0) && (context["to"] != "us")) && (!((context has "approved") && context["approved"])))',
    ["yes_no"],
)
# The same as a warning, which somebody accepts as it is.
WARNED = PAY.but(severity="WARN")
TEN: dict[str, Json] = {"amount": 10, "to": "eve"}


class Ruled(Plan):
    """A plan under the rules given, events 0 and 1, and a desk that signs its papers."""

    def __init__(
        self, plan: Json, *rules: Rule, pack: str = "own", label: str = "guesses", **settings: Json
    ) -> None:
        super().__init__(label)
        # Somebody may sign in: there is a passkey.
        self.d = work(label, before=with_root(somebody("ada", Passkey("ada"))))
        self.d.trace.id, self.d.session = _named(self.d.trace.id)
        self.own_answers = settings.get("own_answers") == "all"
        # Every value with the event it came from, and whether that is an answer.
        self.values: dict[str, tuple[Json, int, bool]] = {name: (value, 0, False) for name, value in plan.items()}
        empty = ["ambiguous", "bundles", "conflicts", "jurisdictions", "languages", "overlaps", "standards", "targets"]
        document: dict[str, Json] = {table: {} for table in [*empty, "policies", "required", "wording"]}
        for rule in rules:
            document["policies" if rule.table == "policy" else rule.table][rule.id] = rule.row(pack)
        document |= {"cldr": "49", "format": "demur-rules/1", "settings": settings, "unread": {"except": []}}
        document["packs"] = [{"name": pack, "version": "1"}]
        self.hash = hashlib.sha256(canonical(document)).hexdigest()
        self.d.submit(content={"agent": "painter", "plan": plan, "session": self.d.session})
        self.d.rules(content={"document": document, "hash": self.hash, "packs": [f"{pack} 1"]})

    def plan(self) -> dict[str, Json]:
        """Returns the plan with every answer so far."""
        return {name: value for name, (value, _, _) in self.values.items()}

    def put(
        self,
        rule: Rule,
        name: str = "gap-001",
        *,
        repeats: int | None = None,
        why: str | None = None,
        words: Json = None,
        **facts: Json,
    ) -> int:
        """Has the desk put what a rule finds, and why; returns the event. Words and facts given differ from the rule's."""
        question = rule.question.replace("{context.amount}", str(self.plan().get("amount")))
        waits = "Nothing is blocked, but the plan is not confirmed before it is answered or accepted."
        values = {path: self.plan().get(path) for path in [rule.at, *rule.names]}
        about = {"field": rule.at, "rule": rule.name, "values": values}
        content = {
            "context": why,
            "field": rule.at,
            "gap": name,
            "request": hashlib.sha256(canonical(about)).hexdigest(),
            "rule": {"name": rule.name, "rules": self.hash},
            "wording": {"detailed": " ".join(filter(None, [question, why, waits])), "normal": question, "terse": f"{rule.at}?"},
        }
        said = {
            "asker_settles": self.own_answers,
            "assurance": rule.assurance,
            "kinds": rule.kinds or ["freetext"],
            "repeats": repeats,
            "severity": rule.severity.lower(),
        }
        entry = self.d.find(words=content | (words or {}), **(said | facts))
        at = self.d.newest
        self.asks[at] = entry.content["ask"]
        if repeats is not None:
            # One gap stays one, however often it is put.
            self.asks.pop(repeats)
        self.open = [each for each in self.open if each != repeats] + [at]
        return at

    def begin(self, rule: Rule, **other: Json) -> int:
        """Puts a gap and signs the first document; returns the event of the gap."""
        gap = self.put(rule, **other)
        self.keep("document", 0, self.document())
        return gap

    def settle(
        self, gap: int, value: Json, who: str | Agent = "person", *, withdraws: int | None = None, **rest: Any
    ) -> int:
        """Has somebody answer a gap, perhaps another with it, and signs the papers of that; returns the answer."""
        kind = "yes_no" if isinstance(value, bool) else "freetext"
        words = {"request": self.d.trace.entries[gap].content["request"]}
        entry = self.d.answer(gap, who, value, kind=kind, words=words, **rest)
        text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
        self.values[self.asks[gap]["gap"]["field"]] = (value, self.d.newest, True)
        if withdraws is not None:
            self.d.withdraw(withdraws, content={"by": None, "reason": "the rules no longer find it"})
            self.open.remove(withdraws)
        return self.sign(gap, text, entry, who)

    def accept(self, gap: int, who: str | Agent = "person", **rest: Any) -> int:
        """Has somebody accept a warning as it is, and signs the papers of that; returns the event."""
        return self.sign(gap, "accepted as it is", self.d.accept(gap, who, **rest), who)

    def sign(self, gap: int, text: str, entry: Entry, who: str | Agent) -> int:
        """Signs the papers of a round that an event ended; returns that event."""
        at = entry.envelope["sequence"]
        self.open.remove(gap)
        name = who.principal if isinstance(who, Agent) else "somebody"
        said = entry.envelope["record"] or entry.statement
        when = entry.envelope["time"].replace(".000Z", "Z")
        told = {"assurance": said["facts"]["assurance"], "name": name}
        self.keep("round", at, self.round(gap, text, answered_for=told, answer_timestamp=when))
        self.keep("document", at, self.document())
        return at

    def amend(self, **members: Json) -> int:
        """Has the agent amend its plan; returns the event. Papers are due after what the rules then find."""
        self.d.amend(self.plan() | members)
        at = self.d.newest
        own = {name: (value, at, False) for name, (value, _, told) in self.values.items() if not told}
        self.values |= own | {name: (value, at, False) for name, value in members.items()}
        return at

    def finish(self, plan: Json = None, sources: dict[str, int] | None = None) -> "Ruled":
        """Confirms the plan with the source of every value, unless others are given, and signs that."""
        plan = self.plan() if plan is None else plan
        provenance = [
            {"field": name, "pointer": "/answer" if told else f"/plan/{name}", "source": at}
            for name, (_, at, told) in sorted(self.values.items())
        ]
        changed = [each | {"source": (sources or {}).get(each["field"], each["source"])} for each in provenance]
        self.d.confirm(content={"plan": plan, "provenance": changed})
        self.keep("acceptance", self.d.newest, self.acceptance(plan, **self.particulars()))
        return self

    def particulars(self) -> dict[str, Json]:
        """Returns the members of an attestation that the clarification protocol wants beside those of every plan."""
        nothing = "sha256:" + hashlib.sha256(b"").hexdigest()
        return {
            "$schema": "https://workswithagents.dev/specs/attestation-protocol.json",
            "agent_public_key": "ed25519:" + self.d.cast.store.desk.key.public,
            "agent_version": "0.1.0",
            "attestation_id": self.d.session,
            "compliance_claims": [],
            "outputs": {
                "file_hashes": [],
                "files_created": 0,
                "files_updated": 0,
                "output_hash": nothing,
                "output_path": ".",
                "total_files": 0,
            },
            "protocol_version": "1.0.0",
        }


def _named(trace: str) -> tuple[str, str]:
    """Returns a trace and the session that has its name: the same 128 bits, which make a UUID of version 7."""
    number = 0
    for digit in trace:
        number = number * 32 + CROCKFORD.index(digit)
    number = number & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62
    text = f"{number:032x}"
    name = "".join(CROCKFORD[number >> 5 * place & 31] for place in reversed(range(26)))
    return name, "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
