"""What happened in a run so far, as critic and executor need it. Both decide by it alone: started again, they go on
where the record ends.
"""

from dataclasses import dataclass, field

from demur_agent import Event
from demur_format import Json


@dataclass
class Proposal:
    """A proposal; its decision is None until it is reviewed."""

    tools: list[str]
    decision: str | None = None
    conditions: int = 0


@dataclass
class Intent:
    """An intent and what became of it."""

    risk: str
    input_hash: str | None
    unshown: set[int]  # conditions that the critic has not shown to hold
    decision: str | None = None
    started: int | None = None
    given: int | None = None
    ended: int | None = None
    failed: bool = False
    outputs: list[int] = field(default_factory=list)


@dataclass
class Claim:
    """A claim in play."""

    text: str
    evidence: list[int]
    executions: list[int]
    about_failure: bool


class History:
    """A run so far: each dict goes from the sequence of an event to what it is about."""

    def __init__(self) -> None:
        self.proposals = dict[int, Proposal]()
        self.intents = dict[int, Intent]()
        self.claims = dict[int, Claim]()
        self.challenges = dict[int, int]()  # to the claim that is challenged
        self.artifacts = dict[str, int]()  # from the name of an artifact to its event
        self.said = set[str]()  # the text of every claim there ever was

    def attempt(self, input_hash: str) -> tuple[int, Intent] | None:
        """Returns the newest intent with this input."""
        same = [(at, intent) for at, intent in self.intents.items() if intent.input_hash == input_hash]
        return same[-1] if same else None

    def grounds(self, about_failure: bool) -> tuple[list[int], list[int]]:
        """Returns everything that a claim can cite: artifacts, and the executions that they come from. What a tool was
        given, and what failed, counts for a claim about a failure alone."""
        ended = [each for each in self.intents.values() if each.ended and (about_failure or not each.failed)]
        outputs = {at for each in ended for at in each.outputs}
        given = {each.given for each in ended if each.given is not None and about_failure}
        return sorted(outputs | given), sorted(each.ended for each in ended if each.ended)

    def take(self, event: Event) -> None:
        """Takes in the next event."""
        at, facts, content = event.sequence, event.facts, event.content or {}
        match event.type:
            case "proposal_created":
                self.proposals[at] = Proposal(content.get("required_tools", []))
            case "proposal_reviewed":
                proposal = self.proposals[facts["proposal"]]
                proposal.decision, proposal.conditions = facts["decision"], facts["conditions"]
            case "artifact_recorded":
                self.artifacts[content.get("name", "")] = at
            case "tool_intent_signed":
                self.intents[at] = Intent(facts["risk"], content.get("input_hash"), set(facts["meets"]))
            case "tool_intent_reviewed":
                self.intents[facts["intent"]].decision = facts["decision"]
            case "condition_judged":
                unshown = self.intents[facts["intent"]].unshown
                (unshown.discard if facts["holds"] else unshown.add)(facts["condition"])
            case "check_stated" if event.role == "critic" and facts["condition"] is not None:
                self.intents[facts["about"]].unshown.discard(facts["condition"])
            case "tool_execution_started":
                self.intents[facts["intent"]].started, self.intents[facts["intent"]].given = at, facts["input"]
            case "tool_execution_completed" | "tool_execution_failed":
                intent = next(each for each in self.intents.values() if each.started == facts["started"])
                intent.ended, intent.outputs = at, facts["outputs"]
                intent.failed = event.type == "tool_execution_failed"
            case "claim_issued" | "claim_revised":
                self._claim(at, facts, content.get("text", ""))
            case "claim_challenged":
                self.challenges[at] = facts["claim"]
            case "claim_resolved":
                del self.challenges[facts["challenge"]]
            case "claim_retracted":
                del self.claims[facts["claim"]]
                self.challenges = {at: claim for at, claim in self.challenges.items() if claim != facts["claim"]}

    def _claim(self, at: int, facts: Json, text: str) -> None:
        replaced = facts.get("replaces")
        self.claims.pop(replaced, None)
        for challenge in [each for each, claim in self.challenges.items() if claim == replaced]:
            self.challenges[challenge] = at
        self.claims[at] = Claim(text, facts["evidence"], facts["executions"], facts["about_failure"])
        self.said.add(text)
