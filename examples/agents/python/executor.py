#!/usr/bin/env python3
"""An executor in a process of its own: `executor.py KEYFILE PLAN`.

It carries out the calls of a plan one after the other, each only when it may, and claims what came out. What it does
next follows from the record alone: started again, it goes on where the record ends.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from demur_agent import Agent, DeskError, Event, Refused, Turn
from demur_format import Json, Key, canonical, sha256
from history import Claim, History, Intent

RISKS = ["low", "medium", "high", "critical"]
TIME, OUTPUT = 10, 1 << 20  # seconds, bytes
LIMITS = [
    f"ended after {TIME} seconds",
    f"the first {OUTPUT} bytes of output are kept",
    "no sandbox: it may do whatever its user may",
]


@dataclass(frozen=True)
class Outcome:
    """How a tool ended; the failure is None if it ended well."""

    failure: str | None
    message: str
    exit_status: int | None
    duration_ms: int
    stdout: bytes
    stderr: bytes


def run(command: list[str], stdin: str) -> Outcome:
    """Runs a tool: no shell, with an end. It is no sandbox."""
    began, status, failure, message = time.monotonic(), None, None, ""
    # Files instead of pipes: nobody has to read and write at the same time, and nobody waits for the other.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(stdin.encode())
        given.seek(0)
        try:
            ended = subprocess.run(command, stdin=given, stdout=output, stderr=errors, timeout=TIME, check=False)
            status = ended.returncode if ended.returncode >= 0 else None
            if ended.returncode != 0:
                failure = "exit" if status is not None else "signal"
                message = f"it ended with {'signal' if status is None else 'status'} {abs(ended.returncode)}"
        except subprocess.TimeoutExpired:
            failure, message = "timeout", f"it took more than {TIME} seconds"
        except (OSError, ValueError) as error:
            failure, message = "not_started", str(error)
        output.seek(0)
        errors.seek(0)
        duration = int((time.monotonic() - began) * 1000)
        return Outcome(failure, message, status, duration, output.read(OUTPUT), errors.read(OUTPUT))


class Executor:
    """The executor at work on a plan."""

    def __init__(self, agent: Agent, plan: Json) -> None:
        self.agent, self.plan, self.history = agent, plan, History()

    def work(self) -> bool:
        """Does what can be done in this turn; returns whether nothing is left to do."""
        for call in self.plan["calls"]:
            while (settled := self.advance(call)) is None:
                while heard := self.agent.pending():
                    self.remember(heard)
            if not settled:
                return False
        return True

    def advance(self, call: Json) -> bool | None:
        """Takes the next step of a call; returns True if there is none left, False if the critic has to speak first."""
        data = call_input(call)
        attempt, proposal = self.history.attempt(sha256(data)), self.approved()
        if attempt is None:
            if proposal is None:
                return False
            if input_name(call) not in self.history.artifacts:
                self.agent.store(input_name(call), "application/json", data)
            else:
                self.intend(call, proposal, sha256(data))
            return None
        at, intent = attempt
        if intent.ended is not None or intent.decision == "blocked":
            return True
        if intent.started is not None:
            # Started by a process that is no more: nobody knows how it ended, and it is not done twice.
            self.end(intent.started, Outcome("lost", "the executor stopped while the tool ran", None, 0, b"", b""), [])
            return None
        if not intent.unshown and (intent.decision == "approved" or self.may_go_ahead(intent)):
            self.execute(call, at)
            return None
        return False

    def approved(self) -> int | None:
        """Returns the newest proposal that may be carried out."""
        approved = ("approved", "conditionally_approved")
        return max((at for at, each in self.history.proposals.items() if each.decision in approved), default=None)

    def may_go_ahead(self, intent: Intent) -> bool:
        """Returns whether the policy lets an intent of this risk go without the critic."""
        return RISKS.index(intent.risk) < RISKS.index(self.agent.policy["approval_from"])

    def intend(self, call: Json, proposal: int, input_hash: str) -> None:
        """Says what it is about to do."""
        meets = list(range(self.history.proposals[proposal].conditions))
        facts = {"meets": meets, "proposal": proposal, "retries": None, "risk": call["risk"]}
        justification = f"the plan asks for it, to claim: {call['claim']}"
        content = {"input_hash": input_hash, "justification": justification, "tool": call["tool"]}
        self.agent.say("tool_intent_signed", facts, content)

    def execute(self, call: Json, intent: int) -> None:
        """Runs the tool, and records what it was given, what it gave and how it ended."""
        facts = {"input": self.history.artifacts[input_name(call)], "intent": intent}
        started = self.agent.say("tool_execution_started", facts, {"limits": LIMITS})
        outcome = run(call["command"], call["stdin"])
        # Also where there is nothing in them: what a tool kept to itself is evidence too.
        stdout = self.agent.store(f"{call['name']}.stdout", "text/plain", outcome.stdout)
        stderr = self.agent.store(f"{call['name']}.stderr", "text/plain", outcome.stderr)
        self.end(started, outcome, [stdout, stderr])

    def end(self, started: int, outcome: Outcome, outputs: list[int]) -> None:
        """Says how a tool ended."""
        facts: Json = {"outputs": outputs, "started": started}
        content = {"duration_ms": outcome.duration_ms, "exit_status": outcome.exit_status}
        if outcome.failure is None:
            self.agent.say("tool_execution_completed", facts, {**content, "note": None})
        else:
            facts["failure"] = outcome.failure
            self.agent.say("tool_execution_failed", facts, {**content, "message": outcome.message})

    def claim(self) -> None:
        """Claims what ended and was not claimed yet. A turn later, when the critic has looked, answers its challenges,
        and signs the final statement when there is nothing left to answer."""
        attempts = [(call, self.history.attempt(sha256(call_input(call)))) for call in self.plan["calls"]]
        ended = [(call, found[1]) for call, found in attempts if found and found[1].ended is not None]
        new = [(call, intent) for call, intent in ended if claim_text(call, intent) not in self.history.said]
        disputed = set(self.history.challenges.values())
        claims = self.history.claims.items()
        everything = {about: self.history.grounds(about) for about in (False, True)}
        weak = [(at, each) for at, each in claims if at in disputed and each.evidence != everything[each.about_failure][0]]
        if new:
            for call, intent in new:
                self.issue(call, intent)
        elif weak:
            for at, claim in weak:
                self.revise(at, claim, everything[claim.about_failure])
        elif self.history.claims:
            self.finish()

    def issue(self, call: Json, intent: Intent) -> None:
        """Claims what came out of a call. Only a failure is shown by what the tool was given, too."""
        given = [self.history.artifacts[input_name(call)]] if intent.failed else []
        evidence = [*given, *intent.outputs]
        facts = {"about_failure": intent.failed, "evidence": evidence, "executions": [intent.ended]}
        self.agent.say("claim_issued", facts, {"confidence": 90, "text": claim_text(call, intent)})

    def revise(self, at: int, claim: Claim, grounds: tuple[list[int], list[int]]) -> None:
        """Says a disputed claim again, and cites everything that can be cited."""
        facts = {"about_failure": claim.about_failure, "replaces": at}
        facts["evidence"], facts["executions"] = grounds
        self.agent.say("claim_revised", facts, {"confidence": 90, "text": claim.text})

    def finish(self) -> None:
        """Signs the final statement with the claims in play."""
        claims = [{"claim": at, "text": claim.text} for at, claim in sorted(self.history.claims.items())]
        facts = {"claims": [each["claim"] for each in claims]}
        self.agent.say("final_statement_signed", facts, {"claims": claims, "verdict": self.plan["verdict"]})

    def remember(self, heard: object) -> None:
        """Takes in what happened."""
        if isinstance(heard, Event):
            self.history.take(heard)


def call_input(call: Json) -> bytes:
    """Returns the bytes that are recorded before an intent, which names their SHA-256."""
    return canonical({"call": call["name"], "command": call["command"], "stdin": call["stdin"]})


def input_name(call: Json) -> str:
    """Returns the name of the artifact with a call's input."""
    return f"{call['name']}.input.json"


def claim_text(call: Json, intent: Intent) -> str:
    """Returns what is claimed about a call that ended."""
    return f"The call {call['name']} failed." if intent.failed else call["claim"]


def main(key_file: str, plan: str) -> None:
    """Plays the executor until the run is over."""
    executor = Executor(Agent(Key(key_file)), json.loads(Path(plan).read_bytes()))
    for heard in executor.agent:
        if isinstance(heard, Turn):
            # Claims come when there is nothing left to do.
            if heard.phase in ("executing", "claiming") and executor.work():
                executor.claim()
            executor.agent.done()
        else:
            executor.remember(heard)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: executor.py KEYFILE PLAN")
    try:
        main(sys.argv[1], sys.argv[2])
    except (DeskError, Refused) as error:
        sys.exit(f"executor: {error}")
