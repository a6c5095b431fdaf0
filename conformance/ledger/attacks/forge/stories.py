"""Honest stories that the attacks start from: stores, casts and runs."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from forge.encode import Json, canonical
from forge.export import Export
from forge.writer import Agent, Entry, Store, Trace, agent


class Cast:
    """A store with its agents, one key each. The first is registered at once, each other one when it first speaks."""

    def __init__(
        self,
        label: str,
        roles: list[str],
        *,
        recovery: bool = False,
        keys: str | None = None,
        shared: tuple[list[str], ...] = (),
        before: Callable[[Store], object] | None = None,
    ) -> None:
        self.store = Store(label, recovery, keys)
        if before is not None:
            before(self.store)
        self.agents = {role: agent(label, role, recovery=recovery, keys=keys) for role in roles}
        for group in shared:
            # Name and label make the key: one name, one key.
            self.agents |= {role: agent(label, role, name=group[0], roles=group) for role in group if role in roles}
        self.store.register(self.agents[roles[0]])

    def __getitem__(self, role: str) -> Agent:
        somebody = self.store.desk if role == "desk" else self.agents[role]
        if somebody.key.fingerprint not in self.store.known:
            self.store.register(somebody)
        return somebody

    def gathered(self) -> "Cast":
        """Returns the cast after everybody has been registered."""
        for role in self.agents:
            self[role]
        return self

    def run(self, name: str = "run", **policy: Json) -> "Run":
        """Returns a run that has been opened."""
        return Run(self, name, policy)

    def participants(self) -> list[Json]:
        """Returns the participants of a run as the facts list them."""
        taking_part = [(a.principal, RUN_ROLES.index(role)) for role, a in self.agents.items() if role in RUN_ROLES]
        return [{"principal": principal, "role": RUN_ROLES[role]} for principal, role in sorted(taking_part)]


def crew(label: str, *others: str) -> Cast:
    """Returns a cast in which one key is planner and executor, and another critic and auditor."""
    judging = ["critic", "auditor"] if "auditor" in others else ["critic"]
    return Cast(label, [*TRIO, *others], shared=(["planner", "executor"], judging))


class Run:
    """The steps of a run; each returns its event, and takes what `Trace.say` takes."""

    def __init__(self, cast: Cast, name: str, policy: dict[str, Json] | None, **rest: Any) -> None:
        self.cast = cast
        self.trace: Trace = cast.store.run(name)
        # What the policy will say; null where it is recorded already, and where there is no run to record it in.
        self.numbers = None if policy is None else POLICY | policy
        if self.numbers is not None:
            facts = {"participants": cast.participants(), "policy": self.numbers}
            self.say("planner", "session_initialized", facts, **rest)

    def say(self, who: str | Agent, kind: str, facts: dict[str, Json], content: Json = None, **rest: Any) -> Entry:
        """Returns an event with the usual content of its type, unless another content is given."""
        speaker = who if isinstance(who, Agent) else self.cast[who]
        return self.trace.say(speaker, kind, facts, content or CONTENT.get(kind), **rest)

    def policy(
        self, who: str | Agent = "desk", hash: str | None = None, *, at: int | None = None, **changes: Json
    ) -> Entry:
        """Returns the record of the policy, changed or not, by the desk or by somebody with a key."""
        document = {"distinct_clients": False, "sandbox": None, "tools": TOOLS, **(self.numbers or POLICY), **changes}
        content = {"document": document, "hash": hash}
        self.numbers = None
        if who == "desk":
            return self.trace.record("policy_recorded", {}, content, at=at)
        return self.say(who, "policy_recorded", {}, content, at=at)

    def propose(self, *, replaces: int | None = None, fallback_for: int | None = None, **rest: Any) -> Entry:
        """Returns a proposal; before the first one the desk records the policy, unless that is done."""
        if self.numbers is not None:
            self.policy(at=rest.get("at"))
        return self.say("planner", "proposal_created", {"fallback_for": fallback_for, "replaces": replaces}, **rest)

    def review(self, proposal: int, decision: str = "approved", conditions: int = 0, **rest: Any) -> Entry:
        """Returns the critic's review of a proposal."""
        content = {"conditions": ["be careful"] * conditions, "rationale": "fine"}
        facts = {"conditions": conditions, "decision": decision, "proposal": proposal}
        return self.say(rest.pop("who", "critic"), "proposal_reviewed", facts, content, **rest)

    def intend(
        self,
        proposal: int,
        risk: str = "low",
        retries: int | None = None,
        meets: list[int] | None = None,
        *,
        tool: str = "wc",
        data: bytes | None = None,
        why: str = "to count",
        **rest: Any,
    ) -> Entry:
        """Returns an intent to call a tool with the given input."""
        facts = {"meets": meets or [], "proposal": proposal, "retries": retries, "risk": risk}
        hashed = hashlib.sha256(INPUT if data is None else data).hexdigest()
        content = {"input_hash": hashed, "justification": why, "tool": tool}
        return self.say(rest.pop("who", "executor"), "tool_intent_signed", facts, content, **rest)

    def judge(self, intent: int, decision: str = "approved", **rest: Any) -> Entry:
        """Returns the critic's review of an intent."""
        return self.say(
            rest.pop("who", "critic"), "tool_intent_reviewed", {"decision": decision, "intent": intent}, **rest
        )

    def show(self, intent: int, evidence: list[int], condition: int = 0, *, holds: bool = True, **rest: Any) -> Entry:
        """Returns the critic's judgement that a condition holds for an intent."""
        facts = {"condition": condition, "evidence": evidence, "holds": holds, "intent": intent}
        return self.say(rest.pop("who", "critic"), "condition_judged", facts, **rest)

    def check(self, about: int, artifact: int, at: Json, is_: str, value: Json, **rest: Any) -> Entry:
        """Returns a check on the bytes of an artifact, of a condition if one is given by its number."""
        facts = {"about": about, "artifact": artifact, "condition": rest.pop("condition", None)}
        content = {"at": at, "is": is_, "value": value}
        return self.say(rest.pop("who", "critic"), "check_stated", facts, content, **rest)

    def store_bytes(self, data: bytes = b"5\n", **rest: Any) -> Entry:
        """Returns an artifact; without data it is what a tool put out."""
        return self.say("executor", "artifact_recorded", {}, artifact=data, **rest)

    def store_input(self, data: bytes | None = None, **rest: Any) -> Entry:
        """Returns an artifact that holds the input of a tool."""
        return self.store_bytes(INPUT if data is None else data, **rest)

    def start(self, intent: int, input: int | None = None, **rest: Any) -> Entry:
        """Returns the start of an execution."""
        return self.say("executor", "tool_execution_started", {"input": input, "intent": intent}, **rest)

    def complete(self, started: int, outputs: list[int] | None = None, **rest: Any) -> Entry:
        """Returns the good end of an execution."""
        return self.say("executor", "tool_execution_completed", {"outputs": outputs or [], "started": started}, **rest)

    def fail(self, started: int, outputs: list[int] | None = None, **rest: Any) -> Entry:
        """Returns the bad end of an execution."""
        facts = {"failure": "exit", "outputs": outputs or [], "started": started}
        return self.say("executor", "tool_execution_failed", facts, **rest)

    def claim(self, evidence: list[int], executions: list[int], about_failure: bool = False, **rest: Any) -> Entry:
        """Returns a claim."""
        facts = {"about_failure": about_failure, "evidence": evidence, "executions": executions}
        return self.say("executor", "claim_issued", facts, **rest)

    def revise(self, claim: int, evidence: list[int], executions: list[int], **rest: Any) -> Entry:
        """Returns a claim that replaces another."""
        facts = {"about_failure": False, "evidence": evidence, "executions": executions, "replaces": claim}
        return self.say("executor", "claim_revised", facts, **rest)

    def challenge(self, claim: int, **rest: Any) -> Entry:
        """Returns a challenge."""
        return self.say("critic", "claim_challenged", {"claim": claim}, **rest)

    def resolve(self, challenge: int, **rest: Any) -> Entry:
        """Returns the end of a challenge."""
        return self.say("critic", "claim_resolved", {"challenge": challenge}, **rest)

    def conclude(self, claims: list[int], **rest: Any) -> Entry:
        """Returns the final statement, in the words of the claims."""
        words = [(self.trace.entries[claim].content or {}).get("text", "five words") for claim in claims]
        bundle = [{"claim": claim, "text": text} for claim, text in zip(claims, words, strict=True)]
        content = {"claims": bundle, "verdict": "done"}
        return self.say("executor", "final_statement_signed", {"claims": claims}, rest.pop("content", content), **rest)

    def audit(self, profile: str = "default", **rest: Any) -> Entry:
        """Returns the start of a verification."""
        return self.say("auditor", "verification_run_started", {"profile": profile}, **rest)

    def report(self, data: bytes = b"", **rest: Any) -> Entry:
        """Returns the auditor's report; without data it says that everything passed."""
        return self.say("auditor", "report_recorded", {}, artifact=data or reporting("pass"), **rest)

    def verdict(self, started: int = -1, status: str = "pass", data: bytes | None = None, **rest: Any) -> Entry:
        """Returns the auditor's verdict on the verification that started at an index.

        The report that says the same is recorded before it, unless the verdict is to name other bytes.
        """
        through = self.trace.entries[started].position
        named = reporting(status) if data is None else data
        if data is None:
            self.report(named)
        content = {"report": hashlib.sha256(named).hexdigest(), "summary": "passed"}
        facts = {"status": status, "through": through}
        return self.say("auditor", "verification_run_completed", facts, content, **rest)

    def abort(self, **rest: Any) -> Entry:
        """Returns the operator's abort as the desk recorded it."""
        return self.trace.record("session_aborted", {}, {"reason": "enough"}, role="operator", **rest)

    def refuse(self, label: str = "x", **rest: Any) -> Entry:
        """Returns the record of a refused command."""
        facts = {
            "code": "ROLE_FORBIDDEN",
            "command": "01M7E81W0000000000000000AB",
            "principal": self.cast.agents["executor"].principal,
        }
        return self.trace.record("command_refused", facts, {"field": None, "message": f"not now: {label}"}, **rest)

    def work(self, *, challenged: bool = False, risk: str = "low") -> "Run":
        """Returns the run after policy, proposal, review, intent, execution and one claim (events 1 to 9)."""
        self.propose()
        self.review(2)
        self.intend(2, risk)
        self.execute(4)
        self.claim([7], [8])
        if challenged:
            self.challenge(9)
        return self

    def execute(self, intent: int, data: bytes = b"5\n", end: str = "complete") -> "Run":
        """Returns the run after an execution of four events: its input, its start, its output and its end."""
        source = self.store_input().envelope["sequence"]
        started = self.start(intent, source).envelope["sequence"]
        output = self.store_bytes(data).envelope["sequence"]
        self.complete(started, [output]) if end == "complete" else self.fail(started, [output])
        return self

    def close(self, claim: int = 9) -> "Run":
        """Returns the run after final statement and passed verification."""
        self.conclude([claim])
        self.audit()
        self.verdict()
        return self

    @property
    def newest(self) -> int:
        """The number of the newest event."""
        return len(self.trace.entries) - 1

    def export(self, **rest: Any) -> Export:
        """Returns the honest export."""
        return Export(self.cast.store, self.trace, **rest)


def reporting(status: str) -> bytes:
    """Returns the report of an auditor, as short as one can be."""
    return canonical({"status": status, "verdict": status})


@cache
def _mini() -> Export:
    run = Cast("mini", TRIO).run()
    run.abort()
    return run.export()


def mini() -> Export:
    """Returns a fresh copy of the smallest run: opened, then aborted on the desk's word."""
    return _mini().copy()


@cache
def _tiny() -> Export:
    run = Cast("tiny", TRIO).run()
    run.propose()
    run.review(2)
    return run.export()


def tiny() -> Export:
    """Returns a fresh copy of an unfinished run: opened, policy, proposed, approved."""
    return _tiny().copy()


@cache
def _stored() -> Export:
    run = Cast("stored", TRIO).run()
    run.propose()
    run.review(2)
    run.store_bytes()
    return run.export()


def stored() -> Export:
    """Returns a fresh copy of the tiny run with an artifact, event 4."""
    return _stored().copy()


@cache
def _bare() -> Export:
    return Export(Cast("bare", ["planner"]).store)


def bare() -> Export:
    """Returns a fresh copy of the smallest export there is: a registry with one agent."""
    return _bare().copy()


@cache
def _short() -> Export:
    run = Cast("short", TRIO).run()
    run.propose()
    run.review(2)
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    run.complete(6)
    run.abort()
    return run.export()


def short() -> Export:
    """Returns a fresh copy of the short run: seven signed events, policy and abort on the desk's word."""
    return _short().copy()


@cache
def _full() -> Export:
    return Cast("full", EVERYBODY).run().work().close().export()


def full() -> Export:
    """Returns a fresh copy of the full run of fourteen events, which passes."""
    return _full().copy()


EVERYBODY = ["planner", "executor", "critic", "auditor", "operator"]
RUN_ROLES = ["planner", "executor", "critic", "auditor"]
TRIO = ["planner", "executor", "critic"]
POLICY: dict[str, Json] = {"approval_from": "high", "evidence_minimum": 1, "fallback": True, "retry_limit": 1}
TOOLS: Json = {"wc": {"confirm": False, "programs": ["wc"], "risk": "low"}}
# The input of a tool where a story has no other: canonical JSON, as the executor of a run writes it.
INPUT = b'{"file":"words.txt"}'
CONTENT: dict[str, Json] = {
    "session_initialized": {"constraints": [], "objective": "count the words", "task": "count"},
    "proposal_created": {"assumptions": [], "expected_evidence": [], "objective": "count", "required_tools": ["wc"]},
    "tool_intent_reviewed": {"rationale": "fine"},
    "tool_execution_started": {"limits": []},
    "tool_execution_completed": {"duration_ms": 3, "exit_status": 0, "note": None},
    "tool_execution_failed": {"duration_ms": 3, "exit_status": 1, "message": "no such file"},
    "artifact_recorded": {"media_type": "text/plain", "name": "words", "size": 2},
    "claim_issued": {"confidence": 90, "text": "five words"},
    "claim_revised": {"confidence": 90, "text": "five words"},
    "claim_challenged": {"reason": "because"},
    "claim_resolved": {"reason": "because"},
    "claim_retracted": {"reason": "because"},
    "session_aborted": {"reason": "enough"},
}
