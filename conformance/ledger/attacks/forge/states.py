"""Runs that are signed and chained correctly but break guards of opening, proposing and intending, or roles."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.encode import Json
from forge.stories import POLICY, TRIO, Cast, Run, crew
from forge.writer import Agent, agent


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("state")
    _openings(family)
    _proposals(family)
    _intents(family)
    _roles(family)


def _openings(family: Family) -> None:
    def case(name: str, about: str, change: Callable[[list[Json]], list[Json]], code: str = "ORDER_VIOLATION") -> None:
        cast = Cast("openings of runs", TRIO)
        run = Run(cast, "run", None)
        run.say("planner", "session_initialized", {"participants": change(cast.participants()), "policy": POLICY})
        family.fails(name, about, run.export(), code, 0)

    planner = Cast("openings of runs", TRIO)["planner"].principal
    operator = {"principal": planner, "role": "operator"}
    case("participants-unordered", "A run lists its participants out of order.", lambda x: x[::-1])
    case(
        "no-critic",
        "A run has two executors and no critic.",
        lambda x: [p if p["role"] != "critic" else p | {"role": "executor"} for p in x],
    )
    case("operator-takes-part", "A run lists an operator as participant.", lambda x: _sorted([*x, operator]))
    case("critic-is-executor", "One principal is executor and critic.", lambda x: _with_executor_as_critic(x))
    case(
        "opener-outside",
        "A run is opened by a planner who takes no part.",
        lambda x: _sorted(
            [p if p["role"] != "planner" else p | {"principal": "01M7E81W0000000000000000AB"} for p in x]
        ),
        "ROLE_POLICY_VIOLATION",
    )
    run = Run(Cast("openings of runs", TRIO), "run", None)
    run.abort()
    family.fails("never-opened", "A run begins with an abort.", run.export(), "ORDER_VIOLATION", 0)
    run = Cast("openings of runs", TRIO).run()
    run.say("planner", "session_initialized", {"participants": run.cast.participants(), "policy": POLICY})
    family.fails("opened-twice", "A run is opened a second time.", run.export(), "ORDER_VIOLATION", 1)


def _proposals(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object], **policy: Json) -> None:
        run = crew("proposals").run("run", **policy)
        run.propose()
        fill(run)
        family.fails(name, about, run.export(), "ORDER_VIOLATION", event)

    case("reviewed-twice", "The critic rejects what it approved.", 4, lambda r: (r.review(2), r.review(2, "rejected")))
    case(
        "approved-with-conditions",
        "The critic approves plainly and counts a condition.",
        3,
        lambda r: r.review(2, "approved", 1),
    )
    case(
        "conditional-without",
        "The critic approves on conditions and names none.",
        3,
        lambda r: r.review(2, "conditionally_approved", 0),
    )
    case(
        "replaces-waiting",
        "The planner replaces a proposal that waits for review.",
        3,
        lambda r: r.propose(replaces=2),
    )
    case(
        "replaces-twice",
        "The planner replaces a rejected proposal twice.",
        5,
        lambda r: (r.review(2, "rejected"), r.propose(replaces=2), r.propose(replaces=2)),
    )
    case(
        "proposed-while-executing",
        "The planner proposes while executing, though nothing failed.",
        4,
        lambda r: (r.review(2), r.propose()),
    )
    case(
        "fallback-forbidden",
        "The planner falls back where the policy forbids it.",
        8,
        lambda r: (failed(r), r.propose(fallback_for=5)),
        fallback=False,
    )


def _intents(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object], **policy: Json) -> None:
        run = crew("intents").run("run", **policy)
        run.propose()
        fill(run)
        family.fails(name, about, run.export(), "ORDER_VIOLATION", event)

    case("intent-before-review", "The executor signs an intent before the review.", 3, lambda r: r.intend(2))
    case(
        "intent-on-rejected",
        "The executor acts on a rejected proposal.",
        5,
        lambda r: (r.propose(), r.review(2, "rejected"), r.intend(2)),
    )
    case(
        "conditions-unmet",
        "The executor ignores the condition of an approval.",
        4,
        lambda r: (r.review(2, "conditionally_approved", 1), r.intend(2)),
    )
    case(
        "retry-beyond-limit",
        "The executor retries more often than the policy allows.",
        8,
        lambda r: (failed(r), r.intend(2, retries=5)),
        retry_limit=0,
    )
    case(
        "retry-twice",
        "The executor retries one failure twice.",
        9,
        lambda r: (failed(r), r.intend(2, retries=5), r.intend(2, retries=5)),
    )
    case(
        "blocked-started",
        "The executor starts a blocked intent.",
        6,
        lambda r: (r.review(2), r.intend(2), r.judge(4, "blocked"), r.start(4)),
    )
    case(
        "risky-unapproved",
        "The executor starts a risky intent without approval.",
        5,
        lambda r: (r.review(2), r.intend(2, "high"), r.start(4)),
    )
    case(
        "approval-after-start",
        "The critic approves an intent after it started.",
        7,
        lambda r: (r.review(2), r.intend(2), r.store_input(), r.start(4, 5), r.judge(4)),
    )


def _roles(family: Family) -> None:
    def case(name: str, about: str, event: int, fill: Callable[[Run], object]) -> None:
        run = Cast("roles", TRIO).run()
        run.propose()
        fill(run)
        family.fails(name, about, run.export(), "ROLE_POLICY_VIOLATION", event)

    def outsider(run: Run) -> None:
        other = agent("roles", "critic", name="other critic")
        run.cast.store.register(other)
        run.review(2, who=other)

    def other_role(run: Run) -> None:
        executor = run.cast["executor"]
        run.cast.store.register(
            spare := Agent(
                "executor", "planner", agent("roles", "x", name="spare").key, executor.principal, None, ["planner"]
            )
        )
        run.say(spare, "proposal_created", {"fallback_for": None, "replaces": None})

    case("not-a-participant", "A registered critic who takes no part reviews a proposal.", 3, outsider)
    case(
        "participant-in-other-role",
        "The executor proposes with a planner's key of its own, though it takes part as executor only.",
        3,
        other_role,
    )
    case(
        "executor-reviews", "The executor reviews a proposal in its own role.", 3, lambda r: r.review(2, who="executor")
    )
    case(
        "planner-executes",
        "The planner signs an intent in its own role.",
        4,
        lambda r: (r.review(2), r.intend(2, who="planner")),
    )
    case(
        "critic-claims",
        "The critic records an artifact.",
        4,
        lambda r: (r.review(2), r.say("critic", "artifact_recorded", {}, artifact=b"5\n")),
    )
    case(
        "registry-event",
        "The desk revokes a key in a run.",
        3,
        lambda r: r.say(
            "desk",
            "key_revoked",
            {"key": r.cast["critic"].key.fingerprint, "reason": "lost"} | r.cast.store.root(),
            {"note": "lost"},
        ),
    )
    case(
        "abort-as-desk",
        "The desk records an abort in its own role.",
        3,
        lambda r: r.trace.record("session_aborted", {}, {"reason": "enough"}),
    )


def _sorted(participants: list[Json]) -> list[Json]:
    order = ["planner", "executor", "critic", "auditor", "operator"]
    return sorted(participants, key=lambda p: (p["principal"], order.index(p["role"])))


def _with_executor_as_critic(participants: list[Json]) -> list[Json]:
    executor = next(p["principal"] for p in participants if p["role"] == "executor")
    return _sorted([p if p["role"] != "critic" else p | {"principal": executor} for p in participants])


def failed(run: Run) -> Run:
    """Returns the run after an approval and a failed execution: events 3 to 7, the intent is 5."""
    run.review(2)
    run.store_input()
    run.intend(2)
    run.start(5, 4)
    run.fail(6)
    return run
