"""Honest files: what a verifier must not reject, and how far it may go."""

from forge.asking import Dialogue, work
from forge.case import Corpus, Family
from forge.encode import Json
from forge.curve import Key
from forge.export import Export
from forge.honest import challenged, fallback, race, revoked, standing_still
from forge.stories import EVERYBODY, TRIO, Cast, bare, crew, full, stored, tiny
from forge.writer import successor


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("valid")
    _runs(family)
    _roles(family)
    _registries(family)
    _revocations(family)
    _disclosures(family)
    _texts(family)
    _anchored(family)


def _runs(family: Family) -> None:
    run = Cast("abort", TRIO).run()
    run.abort()
    warns(family, "minimal-abort", "A run is opened and aborted on the desk's word.", run.export())
    family.holds("full-run", "Five agents take a run from its opening to a passed verification.", full())
    family.holds("challenge", "A claim is challenged, revised with more evidence and resolved.", challenged().export())
    family.holds(
        "fallback-and-retry", "An intent fails, is retried, fails again, and a fallback proposal succeeds.", fallback()
    )
    warns(family, "time-standing-still", "The desk's clock does not move during a run.", standing_still())
    several = stored()
    for place in (0, 1):
        several.run[place].heads.append(several.signed_head(several.run[: place + 1]))
    warns(
        family, "several-heads", "Heads of earlier commits stand after the events they name.", several.seal_checkpoint()
    )
    run = Cast("refusals", EVERYBODY).run()
    run.propose()
    run.refuse("one")
    run.trace.record(
        "recovery_recorded", {"through": run.trace.entries[-1].position}, {"note": "after a crash"}, cause=2
    )
    run.say("operator", "session_aborted", {})
    warns(
        family,
        "refusal-recovery-abort",
        "The desk records a refusal and a recovery; the operator aborts with a key.",
        run.export(),
    )
    run = Cast("failed", EVERYBODY).run().work()
    run.conclude([9])
    run.audit()
    run.verdict(status="fail")
    warns(family, "failed-audit", "The auditor's verdict is fail; the record of it is whole.", run.export())
    warns(family, "race", "Two proposals are signed against the same event; the desk orders both.", race())
    disputed = Cast("disputed", EVERYBODY).run().work(challenged=True).close().export()
    about = "A challenge stays open through final statement and audit."
    warns(family, "disputed-default", about, disputed, finds=["CLAIM_DISPUTED"])
    about = "The same file under the strict profile, where a dispute fails."
    family.fails("disputed-strict", about, disputed.copy(), "CLAIM_DISPUTED", 9, options=["--strict"])


def _roles(family: Family) -> None:
    about = "One key is registered for planner and executor and speaks as both."
    warns(family, "planner-is-executor", about, crew("two-roles").run().work().export())


def _registries(family: Family) -> None:
    dialogue = work("rotated", ["agent", "answerer"])
    cast = dialogue.cast
    dialogue.ask()
    old = cast["answerer"]
    rotation = cast.store.rotate(old, new := successor(old, "rotated/answerer/2"), old.key)
    dialogue.answer(0)
    cast.agents["answerer"] = new
    cast.store.retire(old, rotation)
    dialogue.supersede(1, 0)
    about = "An answerer's key is rotated while a question waits, speaks once more in the overlap and is retired."
    family.holds("agent-key-rotated", about, dialogue.export())
    cast = Cast("desk-recovered", ["agent"], recovery=True)
    dialogue = Dialogue(cast, "work", None)
    dialogue.ask()
    old = cast.store.desk
    assert old.recovery is not None
    cast.store.desk = successor(old, "desk-recovered/desk/2", recovery=True)
    rotation = cast.store.rotate(old, cast.store.desk, old.recovery)
    cast.store.retire(old, rotation)
    dialogue.answer(0, "person")
    about = "The desk's key is rotated by its recovery key while a question waits, and the old one is retired."
    family.holds("desk-key-recovered", about, dialogue.export())
    dialogue = work("restored")
    dialogue.ask()
    dialogue.cast.store.restore()
    dialogue.answer(0, "person")
    about = "The store comes back from a backup while a question waits; epoch 2 begins."
    family.holds("store-restored", about, dialogue.export())
    cast = Cast("registry-only", EVERYBODY, recovery=True).gathered()
    cast.run().abort()
    cast.store.registry.say(cast.store.desk, "checkpoint_recorded", cast.store.root())
    family.holds("registry-export", "The registry itself is exported, with a root over all traces.", Export(cast.store))
    export = Export(cast.store)
    for entry in export.registry:
        if entry.content is not None:
            entry.hide("withheld")
    family.holds("names-withheld", "All names in the registry are withheld; its facts are there.", export.seal())


def _revocations(family: Family) -> None:
    export = revoked()
    about = "An agent's key is revoked after its work; an inclusion proof shows what the work held by then."
    family.holds("revocation-proven", about, export)
    bare = export.copy()
    bare.inclusions = []
    about = "The same without the proof: that the agent spoke before rests on the desk."
    family.holds("revocation-unproven", about, bare.seal(), "pass_with_warnings", finds=["ORDER_RESTS_ON_DESK"])
    cast = Cast("recovered", ["agent"], recovery=True)
    old = cast["agent"]
    assert old.recovery is not None
    cast.store.revoke(old)
    cast.agents["agent"] = new = successor(old, "recovered/agent/2")
    cast.store.rotate(old, new, old.recovery)
    dialogue = Dialogue(cast, "work", None)
    dialogue.ask()
    dialogue.answer(0, "person")
    about = "A stolen key is revoked, and its recovery key brings in the next one."
    family.holds("revoked-then-recovered", about, dialogue.export())


def _disclosures(family: Family) -> None:
    export = tiny()
    export.run[2].hide("withheld")
    hidden: dict[str, Json] = {"finds": ["NOT_DISCLOSED"]}
    about = "The content of a proposal is withheld."
    family.holds("content-withheld", about, export.seal(), "not_established", **hidden)
    export = stored()
    export.run[4].hide_artifact("withheld")
    about = "The bytes of an artifact are withheld."
    family.holds("artifact-withheld", about, export.seal(), "not_established", **hidden)
    export = tiny()
    export.run[2].hide("missing")
    family.holds(
        "content-missing",
        "The store no longer finds the content of a proposal and says so.",
        export.seal(),
        "not_established",
    )
    export = full()
    export.run[7].hide_artifact("missing")
    family.fails(
        "artifact-missing",
        "The store no longer finds an artifact that a claim rests on.",
        export.seal(),
        "ARTIFACT_MISSING",
        7,
        finds=["CLAIM_UNPROVEN"],
    )
    about = "A reader checks the hashes alone, which is never a pass."
    rest: dict[str, Json] = {"options": ["--hash-only"], "finds": ["SIG_UNCHECKED"], "integrity": False}
    family.holds("hashes-only", about, full(), "not_established", **rest)


def _texts(family: Family) -> None:
    run = Cast("unknown", TRIO).run()
    run.say("critic", "consent_asked", {"urgent": True}, {"text": "which words?"})
    run.abort()
    about = "An event type of a later version is signed by a participant."
    later: dict[str, Json] = {"finds": ["TYPE_UNKNOWN"]}
    family.holds("unknown-type", about, run.export(), "not_established", **later)
    cast = Cast("unknown-registry", TRIO)
    cast.store.registry.say(cast.store.desk, "passkey_retired", {}, {"note": "later"})
    run = cast.run()
    run.abort()
    about = "An event type of a later version stands in the registry."
    family.holds("unknown-registry-type", about, run.export(), "not_established", **later)
    keys = {
        "\U0001f600": 1,
        "\ufb33": 2,
        "e\u0301": 3,
        "\u00e9": 4,
        "\u2028": "\u2029",
        "a": 1e21,
        "b": 0.000001,
        "c": 1e-7,
    }
    run = Cast("keys", TRIO).run()
    run.say("critic", "consent_asked", {}, keys)
    run.abort()
    about = "Content of a later type has keys that sort differently in UTF-16 and UTF-8, and numbers with exponents."
    family.holds("strange-keys", about, run.export(), "not_established")
    text = 'five words \U0001f600 \ufb33 e\u0301 \u00e9 \u2028 \x7f \x1b "\\\b\f\n\r\t/ \U0010ffff'
    dialogue = work("strange text")
    dialogue.ask(words={"context": text})
    dialogue.answer(0, "person", text)
    about = "A question and its answer have supplementary, combining, control and escaped characters."
    family.holds("strange-text", about, dialogue.export())
    cast = Cast("long text", ["planner"])
    cast.store.revoke(cast["planner"], content={"note": "\U0001f600" * 4_096})
    about = "A note has as many code points as the schema allows, four bytes each."
    family.holds("long-text", about, Export(cast.store))
    run = Cast("number", TRIO).run()
    run.propose()
    run.review(2)
    run.intend(2)
    run.store_input()
    run.start(4, 5)
    run.say(
        "executor",
        "tool_execution_completed",
        {"outputs": [], "started": 6},
        {"duration_ms": 2**53 - 1, "exit_status": 255, "note": None},
    )
    run.abort()
    warns(family, "largest-number", "A number in content is 2^53-1, the largest there is.", run.export())


def _anchored(family: Family) -> None:
    export = tiny()
    about = "The holder of a receipt finds the event in the file."
    family.holds("receipt", about, export, "pass_with_warnings", receipt=export.receipt(3), integrity=False)
    known = export.run[2].position
    about = "The reader noted an earlier head and finds it in the file."
    options = ["--against", f"{known['sequence']}:{known['hash']}"]
    family.holds("against", about, tiny(), "pass_with_warnings", options=options, integrity=False)
    pins = ["--pin", f"desk={bare().desk.key.fingerprint}", "--require-anchor"]
    family.holds("pin", "The reader knows the desk's key and demands an anchor.", bare(), options=pins)
    pins = ["--pin", f"planner={Key('bare/planner').fingerprint}"]
    family.holds("pin-agent", "The reader knows the planner's key.", bare(), options=pins)
    about = "The reader demands an anchor and gives none."
    family.fails("no-anchor", about, bare(), "ANCHOR_MISSING", options=["--require-anchor"])


def warns(family: Family, name: str, about: str, export: Export, **rest: Json) -> None:
    """Adds an honest file whose warnings only the state machine can see."""
    family.holds(name, about, export, "pass_with_warnings", integrity=False, **rest)
