"""Clients in the registry: keys bound to them, tokens, and one client in several roles (docs/format.md, 7 and 10)."""

from typing import Any

from forge.case import Corpus, Family
from forge.encode import Json, ulid
from forge.export import Export
from forge.stories import TRIO, Cast, Run, crew
from forge.writer import Agent, Entry, successor


def add(corpus: Corpus) -> None:
    """Adds to the families of clients and of honest files."""
    family = corpus.family("client")
    _bindings(family)
    _tokens(family)
    _roles(family)
    _rewritten(family)
    _honest(corpus.family("valid"))


def bind(cast: Cast, who: str | Agent, client: str, **rest: Any) -> Entry:
    """Returns the event that binds somebody's key to a client."""
    somebody = cast[who] if isinstance(who, str) else who
    facts = {"client": ulid(f"client {client}"), "key": somebody.key.fingerprint} | rest.pop("facts", {})
    return cast.store.registry.say(rest.pop("by", cast.store.desk), "client_bound", facts, {"name": client}, **rest)


def token(cast: Cast, name: str = "token", by: Agent | None = None, **facts: Json) -> Entry:
    """Returns the event of a new token."""
    said = {
        "client": ulid("client a"),
        "expires": None,
        "people": [],
        "principal": None,
        "scopes": ["ask"],
        "token": ulid(f"token {name}"),
    }
    return cast.store.registry.say(by or cast.store.desk, "token_made", said | facts, {"name": name})


def untoken(cast: Cast, name: str = "token", by: Agent | None = None) -> Entry:
    """Returns the event that takes a token back."""
    return cast.store.registry.say(by or cast.store.desk, "token_revoked", {"token": ulid(f"token {name}")})


def _bindings(family: Family) -> None:
    def case(name: str, about: str, cast: Cast, code: str = "REGISTRY_INVALID") -> None:
        family.fails(name, about, Export(cast.store), code, len(cast.store.registry.entries) - 1)

    cast = Cast("bindings", ["planner"])
    bind(cast, successor(cast["planner"], "nobody's key"), "a")
    case("key-unknown", "The desk binds a key that was never registered.", cast)
    cast = Cast("bindings", ["planner"])
    cast.store.revoke(cast["planner"])
    bind(cast, "planner", "a")
    case("key-revoked", "The desk binds a key after its revocation.", cast)
    cast = Cast("bindings", ["planner"])
    new = successor(cast["planner"], "bindings/planner/2")
    rotation = cast.store.rotate(cast["planner"], new, cast["planner"].key)
    cast.store.retire(cast["planner"], rotation)
    bind(cast, "planner", "a")
    case("key-retired", "The desk binds a key after its retirement.", cast)
    cast = Cast("bindings", ["planner"])
    bind(cast, "planner", "a")
    bind(cast, "planner", "b")
    bind(cast, "planner", "a")
    case("key-twice", "The desk binds a key to the same client twice.", cast)
    cast = Cast("bindings", ["planner"])
    bind(cast, "planner", "a")
    new = successor(cast["planner"], "bindings/planner/2")
    cast.store.rotate(cast["planner"], new, cast["planner"].key)
    bind(cast, new, "a")
    case("key-rotated", "After a rotation the desk binds the new key to the old one's client, whose it is already.", cast)
    cast = Cast("bindings", ["planner"])
    planner = cast["planner"]
    bind(cast, "planner", "a", by=planner)
    case("by-planner", "The planner binds its own key.", cast)
    cast = Cast("bindings", ["planner"])
    bind(cast, "planner", "a", by=Agent("planner", "desk", planner.key, planner.principal))
    case("by-planner-as-desk", "The planner binds its own key in the role of the desk.", cast)
    cast = Cast("bindings", ["operator"])
    bind(cast, "operator", "a", by=cast["operator"])
    case("by-operator", "An operator binds a key with a key of the registry, which takes a passkey.", cast)
    cast = Cast("bindings", ["planner"])
    facts = {"client": ulid("client a"), "key": cast["planner"].key.fingerprint}
    cast.store.registry.record("client_bound", facts, {"name": "a"})
    case("recorded", "The desk binds a key without signing it.", cast, "SIG_MISSING")
    for name, about, facts in (
        ("client-null", "A key is bound to nobody.", {"client": None}),
        ("client-named", "A key is bound to a client by its name.", {"client": "claude"}),
        ("name-in-facts", "The name of a client stands in the facts.", {"name": "claude"}),
    ):
        cast = Cast("bindings", ["planner"])
        bind(cast, "planner", "a", facts=facts)
        case(name, about, cast, "SCHEMA_INVALID")
    run = crew("bindings").run()
    run.trace.say(run.cast.store.desk, "client_bound", {"client": ulid("client a"), "key": "5a" * 32}, {"name": "a"})
    family.fails("in-run", "A key is bound in a run.", run.export(), "ROLE_POLICY_VIOLATION", 1)


def _tokens(family: Family) -> None:
    def case(name: str, about: str, code: str = "REGISTRY_INVALID", **facts: Json) -> None:
        cast = Cast("tokens", ["planner"])
        token(cast, **facts)
        family.fails(f"token-{name}", about, Export(cast.store), code, 2)

    people = sorted(ulid(f"person {name}") for name in ("ada", "bob"))
    case("scopes-unordered", "The scopes of a token do not ascend.", scopes=["answer", "ask"])
    case("scopes-twice", "A scope of a token stands twice.", scopes=["ask", "ask"])
    case("scopes-none", "A token allows nothing.", "SCHEMA_INVALID", scopes=[])
    case("scopes-unknown", "A token allows what is not.", "SCHEMA_INVALID", scopes=["admin"])
    case("people-unordered", "The people of a token do not ascend.", scopes=["relay"], people=people[::-1])
    case("people-twice", "Somebody stands twice among the people of a token.", scopes=["relay"], people=people[:1] * 2)
    case("people-named", "The people of a token are named.", "SCHEMA_INVALID", scopes=["relay"], people=["ada"])
    case("secret", "A token is named by its secret.", "SCHEMA_INVALID", token="dmr_" + "5a" * 32)

    def lives(name: str, about: str, *steps: Any) -> None:
        cast = Cast("tokens", ["planner"])
        for step in steps:
            step(cast)
        family.fails(f"token-{name}", about, Export(cast.store), "REGISTRY_INVALID", 1 + len(steps))

    lives("made-twice", "The desk makes one token twice.", token, token)
    lives("made-again", "The desk makes a token that it had taken back.", token, untoken, token)
    lives("revoked-twice", "The desk takes a token back twice.", token, untoken, untoken)
    lives("revoked-unmade", "The desk takes back a token that nobody made.", untoken)


def _roles(family: Family) -> None:
    def case(name: str, about: str, *bound: tuple[str, str], roles: list[str] | None = None) -> None:
        cast = Cast("roles of clients", [*(roles or TRIO)])
        for role, client in bound:
            bind(cast, role, client)
        run = cast.run()
        run.policy(distinct_clients=True)
        family.fails(f"roles-{name}", about, run.export(), "CLIENT_HELD_ROLES", 1)

    apart = "and the policy says that nobody does the work and judges it."
    case("planner-critic", f"One client is planner and critic, {apart}", ("planner", "a"), ("critic", "a"))
    case(
        "executor-critic",
        f"One client is executor and critic, {apart}",
        ("planner", "b"),
        ("executor", "a"),
        ("critic", "a"),
    )
    cast = Cast("clients that nobody knows", [*TRIO])
    bind(cast, "critic", "a")
    run = cast.run()
    run.policy(distinct_clients=True)
    run.propose()
    about = f"Nobody knows the client of the planner, {apart}"
    family.fails("roles-unrecorded", about, run.export(), "CLIENT_HELD_ROLES", 2, integrity=False)
    cast = Cast("clients that nobody knows", [*TRIO])
    bind(cast, "planner", "a")
    run = cast.run()
    run.policy(distinct_clients=True)
    run.propose()
    run.review(2)
    about = f"Nobody knows the client of the critic, {apart}"
    family.fails("roles-judge-unrecorded", about, run.export(), "CLIENT_HELD_ROLES", 3, integrity=False)
    quartet = [*TRIO, "auditor"]
    case(
        "executor-auditor",
        f"One client is executor and auditor, {apart}",
        ("executor", "a"),
        ("critic", "b"),
        ("auditor", "a"),
        roles=quartet,
    )
    run = _apart("roles after", ("planner", "a"))
    bind(run.cast, "critic", "a")
    about = "The desk says after the run was opened that planner and critic are one client."
    family.fails("roles-told-later", about, run.export(), "CLIENT_HELD_ROLES", 1)
    run = _apart("roles second", ("planner", "a"), ("critic", "b"))
    bind(run.cast, "critic", "a")
    about = "A client is planner, another critic; then the first speaks with the critic's key too, and after that nobody."
    family.holds("roles-second-later", about, run.export(), "pass_with_warnings", integrity=False)
    cast = Cast("roles both", TRIO)
    bind(cast, "planner", "a")
    bind(cast, "critic", "b")
    bind(cast, "critic", "a")
    run = cast.run()
    run.policy(distinct_clients=True)
    about = "Two clients speak with the critic's key, and one of them is the planner."
    family.fails("roles-second", about, run.export(), "CLIENT_HELD_ROLES", 1)
    cast = Cast("roles rotated", TRIO)
    bind(cast, "critic", "a")
    cast.store.rotate(cast["critic"], successor(cast["critic"], "roles rotated/critic/2"), cast["critic"].key)
    bind(cast, "executor", "a")
    run = cast.run()
    run.policy(distinct_clients=True)
    about = "The critic's key is followed by another, which is the same client's as the executor's."
    family.fails("roles-rotated", about, run.export(), "CLIENT_HELD_ROLES", 1)
    second = Agent("critic", "critic", successor(cast["critic"], "roles twice/critic/2").key, "", None, ["critic"])
    cast = Cast("roles twice", TRIO)
    second.principal = cast["critic"].principal
    cast.store.register(second)
    bind(cast, "critic", "b")
    bind(cast, second, "a")
    bind(cast, "planner", "a")
    run = cast.run()
    run.policy(distinct_clients=True)
    about = "The critic has two keys, one of them made for the planner's client."
    family.fails("roles-second-key", about, run.export(), "CLIENT_HELD_ROLES", 1)


def _rewritten(family: Family) -> None:
    """Whose client a key is stands in the registry, which every later event pins."""
    run = _apart("rewritten clients", ("planner", "a"), ("critic", "a"), distinct=False)
    forged = run.export()
    other = _apart("rewritten clients", ("planner", "a"), ("critic", "b"), distinct=False)
    forged.registry[-1] = other.export().registry[-1]
    about = "The desk exchanges the client of the critic after the run."
    family.fails("exchanged", about, forged.seal(), "REGISTRY_PIN", 0)
    forged = run.export()
    forged.registry[-1].hide("withheld")
    about = "The name of a client is kept back: whose key it is stands in the facts."
    family.holds("name-withheld", about, forged.seal(), "pass_with_warnings", integrity=False)


def _honest(family: Family) -> None:
    one = (("planner", "a"), ("executor", "a"), ("critic", "a"))
    run = _apart("one client", *one, distinct=False)
    about = "One client is planner, executor and critic; the policy allows it, and the report says it."
    finds: dict[str, Json] = {"finds": ["CLIENT_HELD_ROLES"], "integrity": False}
    family.holds("client-one", about, run.export(), "pass_with_warnings", **finds)
    about = "The same file under the strict profile, where that fails."
    family.fails("client-one-strict", about, run.export(), "CLIENT_HELD_ROLES", options=["--strict"], integrity=False)
    run = _apart("two clients", ("planner", "a"), ("executor", "a"), ("critic", "b"))
    about = "One client does the work and another judges it, as the policy says."
    family.holds("client-two", about, run.export(), "pass_with_warnings", integrity=False)
    run = _apart("no clients", ("planner", "a"))
    about = "Keys are bound to no client: which clients held executor and critic is not recorded."
    family.holds("client-unrecorded", about, run.export(), "pass_with_warnings", integrity=False)
    cast = Cast("the desk's seats", TRIO)
    for role in ("planner", "critic"):
        bind(cast, role, "desk", facts={"client": cast.store.desk.principal})
    run = cast.run()
    run.policy(distinct_clients=True)
    about = "The desk plays planner and critic itself: it is no client."
    family.holds("client-desk", about, run.export(), "pass_with_warnings", integrity=False)
    cast = Cast("lives of tokens", ["planner"])
    token(cast, scopes=["ask", "relay", "read", "operate", "metrics"], people=None, principal=cast["planner"].principal)
    token(cast, "second", scopes=["relay"], people=sorted(ulid(f"person {name}") for name in ("ada", "bob")))
    untoken(cast)
    family.holds("client-tokens", "Tokens are made and taken back.", Export(cast.store))


def _apart(label: str, *bound: tuple[str, str], distinct: bool = True) -> Run:
    """Returns a run with a policy, in which these keys are bound to these clients."""
    cast = Cast(label, TRIO)
    for role, client in bound:
        bind(cast, role, client)
    run = cast.run()
    run.policy(distinct_clients=distinct)
    return run
