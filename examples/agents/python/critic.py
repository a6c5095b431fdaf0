#!/usr/bin/env python3
"""A critic in a process of its own: `critic.py KEYFILE`.

It blocks tool calls that it holds for dangerous, whose risk is understated or whose input is not the recorded one, and
challenges claims that rest on too little.
"""

import json
import sys
from pathlib import PurePath

from demur_agent import Agent, Artifact, DeskError, End, Event, Refused, Turn
from demur_format import Key, sha256
from history import History, Intent

DENIED = {"bash", "curl", "dd", "mkfs", "rm", "sh", "ssh", "sudo", "wget"}
# Programs that only read; every other is at least of medium risk.
HARMLESS = {"cat", "echo", "false", "grep", "head", "ls", "sort", "tail", "true", "uniq", "wc"}
RISKS = ["low", "medium", "high", "critical"]
EVIDENCE = 2  # how many artifacts a claim has to cite


def objection(intent: Intent, artifacts: dict[str, bytes]) -> str | None:
    """Returns what speaks against a tool call."""
    # What has the hash is what will be run: the executor cannot show one input and mean another.
    data = artifacts.get(intent.input_hash or "")
    if data is None:
        return "no recorded artifact has the hash of its input"
    try:
        program = PurePath(json.loads(data)["command"][0]).name
    except (ValueError, LookupError, TypeError):
        return "its input is not a call, a command and a standard input"
    if program in DENIED:
        return f"{program} is never let through"
    if RISKS.index(intent.risk) < (0 if program in HARMLESS else 1):
        return f"the risk of {program} is understated"
    return None


def review_proposals(agent: Agent, history: History) -> None:
    """Decides on every proposal that waits."""
    for at, proposal in history.proposals.items():
        if proposal.decision is not None:
            continue
        denied = DENIED.intersection(proposal.tools)
        decision = "blocked" if denied else "approved"
        rationale = f"no call of {min(denied)} will be let through" if denied else "every tool it needs may be used"
        facts = {"conditions": 0, "decision": decision, "proposal": at}
        agent.say("proposal_reviewed", facts, {"conditions": [], "rationale": rationale})


def review_intents(agent: Agent, history: History, artifacts: dict[str, bytes]) -> None:
    """Decides on every intent that waits."""
    for at, intent in history.intents.items():
        if intent.decision is None and intent.started is None:
            against = objection(intent, artifacts)
            facts = {"decision": "blocked" if against else "approved", "intent": at}
            agent.say("tool_intent_reviewed", facts, {"rationale": against or "its input is recorded and harmless"})


def review_claims(agent: Agent, history: History) -> None:
    """Closes challenges that were answered, and challenges claims that rest on too little."""
    weak = {at for at, claim in history.claims.items() if len(claim.evidence) < EVIDENCE}
    for challenge, claim in history.challenges.items():
        if claim not in weak:
            agent.say("claim_resolved", {"challenge": challenge}, {"reason": "it now cites enough"})
    for claim in sorted(weak.difference(history.challenges.values())):
        reason = f"expected {EVIDENCE} artifacts as evidence, found fewer"
        agent.say("claim_challenged", {"claim": claim}, {"reason": reason})


def main(key_file: str) -> None:
    """Plays the critic until the run is over."""
    agent, history, artifacts = Agent(Key(key_file)), History(), dict[str, bytes]()
    for heard in agent:
        match heard:
            case Event():
                history.take(heard)
            case Artifact(data=bytes(data)):
                artifacts[sha256(data)] = data
            case Turn(phase):
                match phase:
                    case "reviewing":
                        review_proposals(agent, history)
                    case "executing":
                        review_intents(agent, history, artifacts)
                    case "claiming":
                        review_claims(agent, history)
                agent.done()
            case End():
                return


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: critic.py KEYFILE")
    try:
        main(sys.argv[1])
    except (DeskError, Refused) as error:
        sys.exit(f"critic: {error}")
