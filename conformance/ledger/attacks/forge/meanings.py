"""Runs in which every step is signed, chained and in order, but not what was approved: policies, tools, inputs."""

from typing import Any

from forge.asking import Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.clients import bind
from forge.encode import Json, canonical
from forge.stories import CONTENT, POLICY, TRIO, Cast, Run, crew


def add(corpus: Corpus) -> None:
    """Adds to the families of meaning and of honest files."""
    family = corpus.family("meaning")
    _numbers(family)
    _places(family)
    _speakers(family)
    _documents(family)
    _rewritten(family)
    _tools(family)
    _risks(family)
    _inputs(family)
    _programs(family, corpus.family("valid"))
    _honest(corpus.family("valid"))


def _numbers(family: Family) -> None:
    def case(name: str, what: str, **changes: Json) -> None:
        run = crew("numbers").run()
        run.policy(**changes)
        about = f"The desk records a policy that {what}; the opening of the run says otherwise."
        family.fails(f"policy-{name}", about, run.export(), "POLICY_MISMATCH", 1)

    case("approval", "wants approval from critical risk only", approval_from="critical")
    case("evidence", "wants more evidence", evidence_minimum=2)
    case("fallback", "forbids a fallback", fallback=False)
    case("retries", "allows 16 retries", retry_limit=16)
    run = Cast("numbers", ["planner", "executor", "critic", "operator"]).run()
    run.policy("operator", retry_limit=0)
    about = "The operator signs a policy with fewer retries than the opening of the run says."
    family.fails("policy-operator", about, run.export(), "POLICY_MISMATCH", 1)


def _places(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        dialogue = Dialogue(crew("places of policies"), "run", {})
        fill(dialogue)
        family.fails_last(f"policy-{name}", about, dialogue, "ORDER_VIOLATION")

    case("missing", "The planner proposes in a run without a policy.", lambda d: _unruled(d).propose())
    case("twice", "The desk records the policy twice.", lambda d: (d.policy(), d.policy()))
    case("while-reviewing", "A second policy comes after the proposal.", lambda d: (d.propose(), d.policy(tools=None)))
    case(
        "while-planning-again",
        "A second policy comes after the first proposal was rejected.",
        lambda d: (d.propose(), d.review(2, "rejected"), d.policy(tools=None)),
    )
    case("after-end", "A policy comes after the abort.", lambda d: (d.abort(), d.policy()))
    run = Run(crew("places of policies"), "run", None)
    run.policy()
    family.fails("policy-first", "A run begins with its policy.", run.export(), "ORDER_VIOLATION", 0)
    dialogue = work("places of policies")
    dialogue.ask()
    dialogue.policy()
    about = "The desk records a policy in a piece of work."
    family.fails("policy-in-work", about, dialogue.export(), "ROLE_POLICY_VIOLATION", 1)


def _speakers(family: Family) -> None:
    def case(name: str, about: str, fill: Fill) -> None:
        dialogue = Dialogue(crew("speakers of policies"), "run", {})
        fill(dialogue)
        family.fails(f"policy-{name}", about, dialogue.export(), "ROLE_POLICY_VIOLATION", 1)

    content = {"document": POLICY | {"distinct_clients": False, "sandbox": None, "tools": None}, "hash": None}
    case("by-planner", "The planner signs the policy it works under.", lambda d: d.policy("planner"))
    case("signed-by-desk", "The desk's key signs a policy, which is its word.", lambda d: d.policy(d.cast.store.desk))
    case(
        "as-operator",
        "The desk records a policy in the operator's name.",
        lambda d: d.trace.record("policy_recorded", {}, content, role="operator"),
    )
    case(
        "as-person",
        "The desk records a policy in a person's name.",
        lambda d: d.trace.record("policy_recorded", {}, content, role="person"),
    )


def _documents(family: Family) -> None:
    def case(name: str, about: str, code: str = "CONTENT_INVALID", facts: Json = None, **changes: Json) -> None:
        run = crew("documents").run()
        document = {"distinct_clients": False, "sandbox": None, "tools": None, **POLICY, **changes}
        kept = {key: value for key, value in document.items() if value != "left out"}
        run.trace.record("policy_recorded", facts or {}, {"document": kept, "hash": None})
        family.fails(f"policy-{name}", about, run.export(), code, 1)

    case("facts", "A policy has a fact.", "SCHEMA_INVALID", {"tools": None})
    case("without-tools", "A policy does not say which tools may run.", tools="left out")
    case("tools-list", "A policy lists its tools by name alone.", tools=["wc"])
    case("tool-nameless", "A policy has a tool without a name.", tools={"": _tool()})
    case("tool-other-fields", "A policy gives a tool a price and no risk.", tools={"wc": {"price": 1, "programs": []}})
    case("without-sandbox", "A policy does not say how closely tools are held.", sandbox="left out")
    half = {"best_effort": True, "udp": False}
    case("sandbox-left-out", "A policy says of the sandbox only half of what there is to say.", sandbox=half)
    bare = {"programs": [], "risk": "low"}
    case("tool-confirm-left-out", "A policy does not say whether a person confirms a tool.", tools={"wc": bare})


def _rewritten(family: Family) -> None:
    """The policy is the desk's word: what it makes of that later."""
    run = approved("rewritten policies", ["wc"])
    forged = run.export()
    other = Dialogue(crew("rewritten policies"), "run", {})
    other.policy(tools={"rm": _tool()})
    forged.run[1] = other.export().run[1]
    about = "The desk exchanges the policy after the planner proposed."
    family.fails("policy-exchanged", about, forged.repair().seal(), "SEEN_INVALID", 2)
    forged = run.export()
    del forged.run[1]
    about = "The desk drops the policy."
    family.fails("policy-dropped", about, forged.repair().seal(), "STATEMENT_MISMATCH", 1)


def _tools(family: Family) -> None:
    def case(name: str, code: str, about: str, tool: str, proposed: list[str], tools: Json = None) -> None:
        run = approved("tools", proposed, tools)
        run.intend(2, tool=tool)
        family.fails(name, about, run.export(), code, 4)

    proposed, allowed = "TOOL_NOT_PROPOSED", "TOOL_NOT_ALLOWED"
    case("unproposed", proposed, "The critic approved wc; the executor intends rm.", "rm", ["wc"])
    case("unproposed-case", proposed, "The critic approved wc; the executor intends WC.", "WC", ["wc"])
    case("unproposed-none", proposed, "A proposal needs no tool; the executor intends wc.", "wc", [], None)
    case("unlisted", allowed, "The critic approved rm, which the policy does not name.", "rm", ["rm"], {"wc": _tool()})
    case("unlisted-case", allowed, "The policy names wc; WC was approved.", "WC", ["WC"], {"wc": _tool()})
    case("unlisted-none", allowed, "The policy names no tool at all.", "wc", ["wc"], {})
    about = "The policy lets sh start rm; the executor intends rm itself."
    case("unlisted-program", allowed, about, "rm", ["rm"], {"sh": _tool("low", "rm")})
    run = Dialogue(crew("tools"), "run", {})
    run.policy(tools=None)
    run.propose()
    run.propose(content=proposing("rm"))
    run.review(2)
    run.review(3)
    run.intend(2, tool="rm")
    about = "The executor intends under one proposal a tool of another, which was approved too."
    family.fails("unproposed-other", about, run.export(), proposed, 6)


def _risks(family: Family) -> None:
    def case(name: str, about: str, said: str, floor: str) -> None:
        run = approved("risks", ["rm"], {"rm": _tool(floor)})
        run.intend(2, said, tool="rm")
        family.fails(f"risk-{name}", about, run.export(), "RISK_UNDERSTATED", 4)

    about = "The policy puts rm at high risk; the executor calls it low, and needs no approval."
    case("low", about, "low", "high")
    case("next", "The policy puts rm at critical risk; the executor calls it high.", "high", "critical")


def _inputs(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, **rest: Any) -> None:
        run = approved("inputs", ["wc"])
        run.intend(2, **rest)
        fill(run)
        last = run.newest
        family.fails(f"input-{name}", about, run.export(), "INPUT_MISMATCH", last)

    remove = b'{"path":"/","recursive":true}'
    case("missing", "A tool starts without an input.", lambda d: d.start(4))
    case(
        "other",
        "The critic approves a call at high risk; another input runs.",
        lambda d: (d.judge(4), d.store_input(remove), d.start(4, 6)),
        risk="high",
    )
    about = "The input that runs has a line feed more than the one that was intended."
    case("line-feed", about, lambda d: (d.store_input(b"{}\n"), d.start(4, 5)), data=b"{}")
    about = "The input that runs has the same members as the intended one, in another order."
    case("reordered", about, lambda d: (d.store_input(b'{"b":1,"a":1}'), d.start(4, 5)), data=b'{"a":1,"b":1}')
    case("empty", "The input that runs is empty.", lambda d: (d.store_input(b""), d.start(4, 5)))
    case(
        "of-other-intent",
        "Two intents have an input each; one starts with the other's.",
        lambda d: (d.intend(2, data=b"{}"), d.store_input(), d.store_input(b"{}"), d.start(5, 6)),
    )
    run = approved("inputs", ["wc"])
    source = run.store_input()
    content = {"input_hash": source.statement["facts"]["commitment"], "justification": "to count", "tool": "wc"}
    facts = {"meets": [], "proposal": 2, "retries": None, "risk": "low"}
    run.say("executor", "tool_intent_signed", facts, content)
    run.start(5, 4)
    about = "An intent names its input by the salted commitment in place of the digest."
    family.fails("input-commitment", about, run.export(), "INPUT_MISMATCH", 6)
    run = approved("inputs", ["wc"])
    run.intend(2)
    run.store_input(remove)
    run.start(4, 5)
    for name, about in (
        ("artifact", "The executor runs another input than it intended; the bytes are withheld."),
        ("intent", "The executor runs another input than it intended; the words of the intent are withheld."),
    ):
        hidden = run.export()
        hidden.run[5].hide_artifact("withheld") if name == "artifact" else hidden.run[4].hide("withheld")
        family.holds(f"input-{name}-withheld", about, hidden.seal(), "not_established")


def _programs(family: Family, honest: Family) -> None:
    def run(command: Json, *programs: str, data: bytes | None = None) -> Dialogue:
        told = approved("programs", ["grep"], {"grep": _tool("low", *programs)})
        given = data or canonical({"call": "count", "command": command, "stdin": ""})
        told.intend(2, tool="grep", data=given)
        told.store_input(given)
        told.start(4, 5)
        return told

    about = "The policy names grep; the executor starts awk under that name."
    family.fails_last("program-other", about, run(["awk", "1"]), "TOOL_NOT_ALLOWED")
    about = "The policy lets grep start rg; the executor starts grep."
    family.fails_last("program-unlisted", about, run(["grep"], "rg"), "TOOL_NOT_ALLOWED")
    about = "The policy names grep; the executor starts ./grep, which may be anything."
    family.fails_last("program-path", about, run(["./grep", "-c"]), "TOOL_NOT_ALLOWED")
    rest: Json = {"integrity": False}
    for name, told, about in (
        ("named", run(["grep", "-c", "^"]), "The program has the name of the tool."),
        ("listed", run(["rg", "-c", "^"], "grep", "rg"), "The policy names the program."),
        ("untold", run([], data=b'{"command":["awk"]}'), "The input has another form: which program starts it does not say."),
    ):
        honest.holds(f"program-{name}", about, told.export(), "pass_with_warnings", **rest)


def _honest(family: Family) -> None:
    cast = crew("policy of the operator", "operator")
    bind(cast, "planner", "a")
    bind(cast, "critic", "b")
    run = cast.run()
    least = {"best_effort": True, "chmod": True, "udp": True}
    run.policy("operator", "5a" * 32, tools=None, distinct_clients=True, sandbox=least)
    run.propose(content=proposing("anything at all", "wc"))
    run.review(2)
    run.intend(2, tool="anything at all", data=b"")
    run.store_input(b"")
    run.start(4, 5)
    run.store_bytes(b"")
    run.complete(6, [7])
    run.claim([7], [8])
    about = "The operator signs a policy that names no tools: any may run, with an empty input too."
    family.holds("policy-by-operator", about, run.export(), "pass_with_warnings", integrity=False)
    run = approved("floors", ["wc", "rm"], {"wc": _tool(), "rm": _tool("medium"), "WC": _tool("critical")})
    run.intend(2, "medium", tool="rm")
    run.intend(2, "critical", tool="rm")
    run.intend(2)
    run.store_input()
    run.start(4, 7)
    run.start(6, 7)
    about = "Risks at the floor of a tool and above it, names that differ by case, and one input for two tools."
    family.holds("policy-floors", about, run.export(), "pass_with_warnings", integrity=False)
    dialogue = Dialogue(Cast("late policy", TRIO), "run", {})
    dialogue.ask("planner", blocks=["propose"])
    dialogue.cancel(1, "planner")
    dialogue.refuse()
    dialogue.policy(tools={})
    dialogue.abort()
    about = "A question, its end and a refusal come before the policy, which allows no tool."
    family.holds("policy-after-question", about, dialogue.export(), "pass_with_warnings", integrity=False)


def approved(
    label: str, tools: list[str], policy: Json = None, *, others: tuple[str, ...] = (), **numbers: Json
) -> Dialogue:
    """Returns a run in which a proposal, event 2, with these tools was approved; the policy may name some."""
    dialogue = Dialogue(crew(label, *others), "run", numbers)
    dialogue.policy(tools=policy)
    dialogue.propose(content=proposing(*tools))
    dialogue.review(2)
    return dialogue


def proposing(*tools: str) -> Json:
    """Returns the content of a proposal that needs these tools."""
    return CONTENT["proposal_created"] | {"required_tools": list(tools)}


def _tool(risk: str = "low", *programs: str) -> Json:
    return {"confirm": False, "programs": list(programs), "risk": risk}


def _unruled(dialogue: Dialogue) -> Dialogue:
    dialogue.numbers = None
    return dialogue
