"""What a verdict may say: files about which a hasty verifier says more than it checked, or less than it found."""

from typing import Any

from forge.asking import Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.curve import Key
from forge.dialogues import planned
from forge.encode import Json, canonical
from forge.export import Export
from forge.meanings import approved
from forge.stories import TRIO, Cast, Run, tiny
from forge.writer import Agent, Store, agent, successor


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("verdict")
    _heads(family)
    _later_types(family)
    _registries(family)
    _contents(family)
    _two_files(family)
    _newer_registries(family)
    _pins(family)
    _names(family)
    _dates(family)
    _refused(family)
    _changed(family)
    _sources(family)


def _heads(family: Family) -> None:
    export = tiny()
    export.run[2].heads.append(export.signed_head(export.run[:1]))
    about = "A head that the desk signed for an earlier event stands after a later one."
    family.fails("head-moved", about, export.seal_checkpoint(), "HEAD_INVALID")


def _later(label: str) -> Run:
    """Returns a run whose registry has an event of a later version before the run begins."""
    cast = Cast(label, TRIO).gathered()
    cast.store.registry.say(cast.store.desk, "passkey_retired", {}, {"note": "later"})
    return cast.run()


def _later_types(family: Family) -> None:
    """An event that nobody knows keeps the verdict open and excuses nothing else in the file."""
    run = _later("later forged")
    run.abort()
    forged = run.export()
    signature = forged.run[0].envelope["proof"]["ed25519"]
    signature["signature"] = "0" * 128
    about = "After a registry event of a later version a signature is forged."
    family.fails("later-forged", about, forged.repair().seal(), "SIG_INVALID", 0)
    run = _later("later broken")
    run.propose()
    broken = run.export()
    del broken.run[1]
    about = "After a registry event of a later version an event of the run is missing."
    family.fails("later-broken", about, broken.seal(), "SEEN_INVALID", 1)
    run = _later("later registry")
    critic = run.cast["critic"]
    run.cast.store.register(Agent("twin", "critic", critic.key, critic.principal, None, ["critic"]))
    run.abort()
    about = "After a registry event of a later version a registered key is registered again."
    family.fails("later-registry", about, run.export(), "REGISTRY_INVALID", 5)
    run = _later("later revoked")
    run.cast.store.revoke(run.cast["planner"])
    run.propose()
    about = "After a registry event of a later version a revoked key speaks."
    family.fails("later-revoked", about, run.export(), "KEY_REVOKED", 2)
    run = _later("later key")
    stranger = Agent("stranger", "critic", Key("later stranger"), run.cast["critic"].principal)
    run.propose()
    facts: Json = {"conditions": 0, "decision": "approved", "proposal": 2}
    run.say(stranger, "proposal_reviewed", facts, {"conditions": [], "rationale": "fine"})
    about = "A key speaks that came in with a registry event of a later version, or not at all."
    family.holds("later-key", about, run.export(), "not_established")


def _registries(family: Family) -> None:
    store = Store("run first")
    first = store.registry.entries[0]
    statement = first.statement | {"facts": {"attribution": None}, "type": "session_aborted"}
    first.envelope["statement"] = statement
    first.envelope["proof"]["ed25519"]["signature"] = store.desk.key.sign("statement", canonical(statement))
    export = Export(store)
    export.header["store"] = export.registry[0].hash
    about = "The desk opens its registry with an event of a run."
    family.fails("run-event-first", about, export.seal(), "REGISTRY_INVALID", 0)


def _contents(family: Family) -> None:
    run = Cast("large", TRIO).run()
    run.say("critic", "consent_asked", {}, {"text": "x" * (1 << 20)})
    about = "An author commits to content of more than 1 MiB."
    family.fails("content-too-long", about, run.export(), "CONTENT_INVALID", 1)



def _settled(cast: Cast, name: str = "work") -> Dialogue:
    """Returns a piece of work whose question a person answered."""
    dialogue = Dialogue(cast, name, None)
    dialogue.ask()
    dialogue.answer(0, "person")
    return dialogue


def _two_files(family: Family) -> None:
    def fork(name: str, *, revoke: bool) -> Export:
        cast = Cast("two registries", ["agent"])
        done = _settled(cast, name)
        if revoke:
            cast.store.revoke(cast["agent"])
        else:
            cast.store.register(agent("two registries", "critic"))
        return done.export()

    about = "One reader gets a registry with a revocation, another one without, each with its own trace."
    rest = {"second": fork("another", revoke=False)}
    family.fails("registries-part", about, fork("work", revoke=True), "EQUIVOCATION", **rest)
    about = "The same registries beside one trace, which both files have alike."
    rest = {"second": fork("work", revoke=False)}
    family.fails("registries-part-one-trace", about, fork("work", revoke=True), "EQUIVOCATION", **rest)

    def history(*, restored: bool, events: int) -> Export:
        done = _settled(Cast("restored", ["agent"]))
        if restored:
            done.cast.store.restore()
        for _ in range(events):
            done.operate("redeploy" if restored else "deploy")
        return done.export()

    about = "The desk came back from a backup and went on; an older file has what it left behind."
    rest = {"second": history(restored=False, events=2), "integrity": False}
    family.holds("abandoned", about, history(restored=True, events=1), "pass_with_warnings", **rest)
    about = "The desk came back from a backup, and a trace is shorter than an older file has it."
    family.holds("abandoned-tail", about, history(restored=True, events=0), "pass_with_warnings", **rest)
    about = "The same files for a reader who asks for everything."
    rest["options"] = ["--strict"]
    family.fails("abandoned-tail-strict", about, history(restored=True, events=0), "HISTORY_ABANDONED", **rest)

    def parted(operation: str) -> Export:
        done = _settled(Cast("restored", ["agent"]))
        done.cast.store.restore()
        done.operate(operation)
        return done.export()

    about = "After a restoration the desk shows two readers two histories of the same epoch."
    family.fails("parted-in-epoch", about, parted("deploy"), "EQUIVOCATION", second=parted("delete"))


def _newer_registries(family: Family) -> None:
    cast = Cast("newer", ["agent"], recovery=True)
    export = _settled(cast).export()
    same = Export(cast.store)
    family.holds("registry-same", "The reader has the same registry.", export, registry=same, integrity=False)
    old = cast.store.desk
    cast.store.desk = successor(old, "newer/desk/2")
    cast.store.rotate(old, cast.store.desk, old.key)
    about = "The reader has a newer registry, in which the desk has another key."
    family.holds("registry-newer", about, export.copy(), registry=Export(cast.store), integrity=False)
    cast.store.revoke(old)
    newest = Export(cast.store)
    about = "A thief of the desk's key cuts the registry before the key was revoked; the reader has the rest."
    since = {"registry": newest, "finds": ["REVOKED_SINCE"], "integrity": False}
    family.holds("desk-revoked-since", about, export.copy(), "not_established", **since)
    about = "The same file without the newer registry: one file alone cannot show it."
    family.holds("desk-revoked-unseen", about, export.copy())
    about = "The same file for a reader who asks for everything."
    rest = {"registry": newest, "options": ["--strict"]}
    family.fails("desk-revoked-since-strict", about, export.copy(), "REVOKED_SINCE", **rest)
    cast = Cast("newer agent", ["agent"])
    export = _settled(cast).export()
    cast.store.revoke(cast["agent"])
    about = "The agent's key was revoked after the registry in the file ends."
    rest = {"registry": Export(cast.store), "integrity": False}
    family.holds("agent-revoked-since", about, export, "pass_with_warnings", **rest)
    twin = Cast("newer agent", ["agent"])
    twin.store.register(agent("newer agent", "critic"))
    parted = _settled(twin).export()
    about = "The registry in the file is not the beginning of the one that the reader has."
    family.fails("registry-parts", about, parted, "EQUIVOCATION", registry=Export(cast.store), integrity=False)
    restored = Cast("newer agent", ["agent"])
    restored.store.restore()
    about = "The store began again from a backup where the registry in the file parts from it."
    rest = {"registry": Export(restored.store), "finds": ["HISTORY_ABANDONED"], "integrity": False}
    family.holds("registry-abandoned", about, parted.copy(), "pass_with_warnings", **rest)
    about = "The reader gives the registry of another store."
    elsewhere = Export(Store("elsewhere registry"))
    family.fails("registry-elsewhere", about, parted.copy(), "AGAINST_MISMATCH", registry=elsewhere, integrity=False)


def _pins(family: Family) -> None:
    cast = Cast("pinned", ["agent", "answerer"]).gathered()
    export = _settled(cast).export()
    pins = {role: ["--pin", f"{role}={cast[role].key.fingerprint}"] for role in ("desk", "agent", "answerer")}
    about = "The reader knows a key that says nothing in the file, and asks for an anchor."
    anchored = ["--require-anchor"]
    family.fails("pin-silent", about, export, "ANCHOR_MISSING", options=pins["answerer"] + anchored)
    about = "The reader knows the key of whoever spoke last, and asks for an anchor."
    family.holds("pin-spoken", about, export.copy(), options=pins["agent"] + anchored, integrity=False)
    about = "The reader knows the desk's key alone and asks for everything: nothing says whose the agent's key is."
    family.fails("pin-unlinked", about, export.copy(), "KEY_UNLINKED", options=["--strict", *pins["desk"]])
    about = "The reader knows every key that spoke."
    family.holds("pin-all", about, export.copy(), options=["--strict", *pins["desk"], *pins["agent"]], integrity=False)
    dialogue = _settled(Cast("pinned revoked", ["agent"]))
    dialogue.cast.store.revoke(dialogue.cast["agent"])
    pin = ["--pin", f"agent={dialogue.cast['agent'].key.fingerprint}"]
    about = "The reader knows a key that was revoked, and nothing proves that it spoke before."
    family.fails("pin-revoked", about, dialogue.export(), "ANCHOR_MISSING", options=pin + anchored)
    cast = Cast("pinned rotated", ["agent"])
    dialogue = Dialogue(cast, "work", None)
    dialogue.ask()
    old = cast["agent"]
    cast.agents["agent"] = successor(old, "pinned rotated/agent/2")
    cast.store.rotate(old, cast.agents["agent"], old.key)
    dialogue.answer(0, "person")
    dialogue.operate()
    both = ["--strict", "--pin", f"agent={old.key.fingerprint}", "--pin", f"desk={cast['desk'].key.fingerprint}"]
    about = "The reader knows the first of two keys that follow each other by rotation."
    family.holds("pin-rotated", about, dialogue.export(), options=both, integrity=False)
    # Three keys of one holder, by rotation: which speaks, which is pinned, which is revoked.
    for name, (speaker, pinned, stolen) in {"after": (1, 0, 0), "before": (0, 1, 1), "beyond": (0, 2, 1)}.items():
        cast = Cast(f"pinned stolen {name}", ["agent"])
        dialogue = Dialogue(cast, "work", None)
        keys = [cast["agent"]]
        for at in (1, 2):
            keys.append(successor(keys[-1], f"pinned stolen {name}/agent/{at}"))
            cast.store.rotate(keys[-2], keys[-1], keys[-2].key)
        cast.agents["agent"] = keys[speaker]
        dialogue.ask()
        dialogue.answer(0, "person")
        cast.store.revoke(keys[stolen])
        pins = [f"agent={keys[pinned].key.fingerprint}", f"desk={cast['desk'].key.fingerprint}"]
        about = "A key that was revoked vouches for no key before or after it."
        options = ["--strict", "--pin", pins[0], "--pin", pins[1]]
        family.fails(f"pin-stolen-{name}", about, dialogue.export(), "KEY_UNLINKED", options=options)
    cast = Cast("pinned successor", ["agent"])
    dialogue = _settled(cast)
    new = successor(cast["agent"], "pinned successor/agent/2")
    cast.store.rotate(cast["agent"], new, cast["agent"].key)
    both = ["--strict", "--pin", f"agent={new.key.fingerprint}", "--pin", f"desk={cast['desk'].key.fingerprint}"]
    about = "The reader knows the second of two keys that follow each other by rotation."
    family.holds("pin-successor", about, dialogue.export(), options=both, integrity=False)
    cast = Cast("pinned twin", ["agent"])
    dialogue = Dialogue(cast, "work", None)
    dialogue.ask()
    old = cast["agent"]
    cast.agents["agent"] = successor(old, "pinned twin/agent/2")
    dialogue.answer(0, "person")
    dialogue.operate()
    both = ["--strict", "--pin", f"agent={old.key.fingerprint}", "--pin", f"desk={cast['desk'].key.fingerprint}"]
    about = "The desk registers another key for a holder whose first key the reader knows."
    family.fails("pin-other-key", about, dialogue.export(), "KEY_UNLINKED", options=both)


def _names(family: Family) -> None:
    settled = _settled(Cast("nameless", ["agent"]))
    for event in range(2):
        settled.cast.store.registry.record("content_erased", {"event": event}, {"why": "asked to"})
    export = settled.export()
    for entry in export.registry[:2]:
        entry.hide("erased")
    about = "The names in the registry were erased; the report calls them not established."
    family.holds("names-erased", about, export.seal())
    about = "The same file for a reader who asks for everything."
    family.fails("names-erased-strict", about, export.copy(), "NAME_MISSING", options=["--strict"])
    pins = [f"{who}={Key(f'nameless/{who}').fingerprint}" for who in ("agent", "desk")]
    about = "The same reader has names of its own for the keys."
    options = ["--strict", "--pin", pins[0], "--pin", pins[1]]
    family.holds("names-erased-pinned", about, export.copy(), options=options, integrity=False)


def _dates(family: Family) -> None:
    cast = Cast("dated", ["agent"])
    cast.store.now += 1_000_000
    cast.store.register(agent("dated", "critic"))
    dialogue = Dialogue(cast, "work", None)
    dialogue.ask(at=500)
    dialogue.answer(0, "person")
    about = "An event is dated before the registry event it pins."
    rest: dict[str, Json] = {"finds": ["TIME_BEFORE_PIN"], "integrity": False}
    family.holds("date-before-pin", about, dialogue.export(), "pass_with_warnings", **rest)


def _refused(family: Family) -> None:
    against: list[Json] = ["AGAINST_ANSWER"]
    choices = {"choices": [{"label": "Go", "value": "yes"}, {"label": "Stop", "value": "no"}]}
    said: tuple[tuple[str, str, Json, dict[str, Any]], ...] = (
        ("yes", "yes_no", True, {}),
        ("no", "yes_no", False, {}),
        ("no-in-words", "freetext", " No ", {}),
        ("no-chosen", "multiple_choice", "no", {"choice": 1}),
    )
    for name, kind, value, rest in said:
        dialogue = work(f"answered {name}")
        words = {"words": choices, "choices": 2} if rest else {}
        dialogue.ask(blocks=["deploy"], kinds=[kind], **words)
        dialogue.answer(0, "person", value, kind=kind, **rest)
        dialogue.operate("Deploy")
        about = f"A person answers {value!r}, and the agent begins the operation."
        if name == "yes":
            family.holds(f"operation-after-{name}", about, dialogue.export(), integrity=False)
            continue
        more: dict[str, Any] = {"integrity": False, "finds": against}
        family.holds(f"operation-after-{name}", about, dialogue.export(), "pass_with_warnings", **more)
        strict = "The same file for a reader who asks for everything."
        options = ["--strict"]
        family.fails(f"operation-after-{name}-strict", strict, dialogue.export(), against[0], 2, options=options)


def _changed(family: Family) -> None:
    """A yes that is replaced or taken back once something was done on it."""
    for how in ("replaced", "taken back"):
        name, changed = how.replace(" ", "-"), ["ANSWER_CHANGED"]
        change: Fill = (
            (lambda d: d.supersede(1, 0, "person", False, kind="yes_no"))
            if how == "replaced"
            else (lambda d: d.revoke(1, 0, "person"))
        )
        dialogue = work(f"answer {how}")
        dialogue.ask(blocks=["deploy"], kinds=["yes_no"])
        dialogue.answer(0, "person", True, kind="yes_no")
        dialogue.operate("Deploy")
        change(dialogue)
        about = f"An operation begins on a yes, which is {how} afterwards."
        file = dialogue.export()
        family.holds(f"answer-{name}", about, file, "pass_with_warnings", integrity=False, finds=changed)
        run = approved(f"answer {how}", ["wc"])
        run.ask("critic", blocks=["WC"], kinds=["yes_no"])
        run.answer(4, "person", True, kind="yes_no")
        run.intend(2)
        run.store_input()
        run.start(6, 7)
        run.supersede(5, 4, "person", False, kind="yes_no") if how == "replaced" else run.revoke(5, 4, "person")
        about = f"A tool that a question blocks by its name starts on a yes, which is {how} afterwards."
        file = run.export()
        family.holds(f"tool-answer-{name}", about, file, "pass_with_warnings", integrity=False, finds=changed)


def _sources(family: Family) -> None:
    for name, seen, about in (
        ("unseen", 2, "A confirmed plan names an answer as a source that its author had not seen."),
        ("seen", 3, "A confirmed plan names an answer as a source that its author had seen."),
    ):
        dialogue = planned(f"sources {name}")
        dialogue.find(words={"gap": "gap-001"})
        dialogue.answer(2, "person")
        source = {"field": "colour", "pointer": "/answer", "source": 3}
        content = {"plan": {"colour": "blue"}, "provenance": [source]}
        dialogue.confirm(content=content, seen=seen)
        if name == "seen":
            family.holds(f"source-{name}", about, dialogue.export())
        else:
            family.fails(f"source-{name}", about, dialogue.export(), "CITES_UNSEEN", 4)
