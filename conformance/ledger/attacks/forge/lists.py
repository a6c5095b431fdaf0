"""Lists in the place of objects, and objects in the place of words: fields without their names, in their order.

Everything is signed as it stands and every hash fits, so only the form is wrong. Some readers fill a type from such a
list without being asked to.
"""

import json
from collections.abc import Callable

from forge.asking import ANYBODY, QUESTION, WORDS, Dialogue, wording, work
from forge.case import Corpus, Family
from forge.curve import Key
from forge.dialogues import planned
from forge.encode import Json, canonical, digest
from forge.export import Export, line, signed
from forge.honest import revoked_early
from forge.stories import CONTENT, POLICY, TRIO, Cast, bare, mini, stored
from forge.writer import agent


def add(corpus: Corpus) -> None:
    """Adds to the family of fields."""
    family = corpus.family("fields")
    _envelopes(family)
    _statements(family)
    _facts(family)
    _later(family)
    _contents(family)
    _lines(family)
    _signed(family)
    _words(family)


def _envelopes(family: Family) -> None:
    export = bare()
    envelope = values(export.registry[1].envelope)
    position = {"hash": digest("envelope", canonical(envelope)), "sequence": 1}
    export.heads = [export.signed_head(export.registry, head=position, registry=position)]
    body = [json.loads(it) for it in export.body()]
    body[2]["event"]["event"] = envelope
    lines = [line(it) for it in body]
    lines.append(line({"checkpoint": export.signed_checkpoint(lines, head=position, registry=position)}))
    about = "The desk writes an envelope as a list."
    family.fails("list-envelope", about, b"".join(lines), "SCHEMA_INVALID", 1)

    def case(name: str, export: Export, change: Callable[[Export], object]) -> None:
        change(export)
        about = f"The desk writes the {name.replace('-', ' ')} as a list."
        family.fails(f"list-{name}", about, export.seal(), "SCHEMA_INVALID", 1)

    case("proof", bare(), lambda x: listed(x.registry[1].envelope["proof"], "ed25519"))
    case("pin", bare(), lambda x: listed(x.registry[1].envelope, "registry"))
    case("record", mini(), lambda x: listed(x.run[1].envelope, "record"))
    case("record-facts", mini(), lambda x: listed(x.run[1].envelope["record"], "facts"))


def _statements(family: Family) -> None:
    export = bare()
    last = export.registry[1].envelope
    last["statement"] = values(last["statement"])
    last["proof"]["ed25519"]["signature"] = Key("bare/planner").sign("statement", canonical(last["statement"]))
    about = "The author signs a statement that is a list, and the desk takes it."
    family.fails("list-statement", about, export.seal(), "SCHEMA_INVALID", 1)
    critic = agent("bare", "critic")
    facts = {"key": critic.key.public, "principal": critic.principal, "recovery": None, "roles": ["critic"]}
    store = Cast("bare", ["planner"]).store
    seen = values(store.registry.entries[-1].position)
    for name, about, statement in (
        ("facts", "facts that are a list", {"facts": values(facts)}),
        ("seen", "a list for what it had seen", {"seen": seen}),
    ):
        store = Cast("bare", ["planner"]).store
        store.register(critic, statement=statement)
        about = f"The author signs a statement with {about}, and the desk takes it."
        family.fails(f"list-{name}", about, Export(store), "SCHEMA_INVALID", 2)


def _facts(family: Family) -> None:
    cast = Cast("lists", TRIO)
    for name, facts in (
        ("policy", {"participants": cast.participants(), "policy": values(POLICY)}),
        ("participant", {"participants": [values(it) for it in cast.participants()], "policy": POLICY}),
    ):
        cast = Cast("lists", TRIO)
        trace = cast.store.run("run")
        trace.say(cast["planner"], "session_initialized", facts, CONTENT["session_initialized"])
        about = f"The planner opens a run with a {name} that is a list."
        family.fails(f"list-{name}", about, Export(cast.store, trace), "SCHEMA_INVALID", 0)

    def case(name: str, about: str, act: Callable[[Dialogue], object]) -> None:
        dialogue = work("lists")
        act(dialogue)
        last = dialogue.newest
        family.fails(f"list-{name}", about, dialogue.export(), "SCHEMA_INVALID", last)

    def superseded(dialogue: Dialogue) -> None:
        dialogue.ask()
        entry = dialogue.answer(0)
        facts = entry.statement["facts"]
        content = WORDS["question_answered"]
        dialogue.act("answerer", "answer_superseded", {"answer": values(facts), "replaces": 1}, content)

    def answered(dialogue: Dialogue) -> None:
        dialogue.answer(0, position=values(dialogue.ask().position))

    about = "The asker says who may answer in a list."
    case("answerers", about, lambda d: d.ask(answerers=values(ANYBODY)))
    case("question", "The answerer names the question by a list.", answered)
    case("answer", "The answerer writes the facts of a second answer as a list.", superseded)
    dialogue = planned("lists")
    dialogue.find()
    export = dialogue.export()
    listed(export.run[2].envelope["record"], "facts")
    family.fails("list-gap", "The desk records the facts of a gap as a list.", export.seal(), "SCHEMA_INVALID", 2)


def _later(family: Family) -> None:
    """What a type of a later version holds is not known, but that it is an object is."""
    run = Cast("lists", TRIO).run()
    run.say("critic", "consent_asked", {}, {"text": "?"}, statement={"facts": ["?"]})
    about = "The author of a later type signs facts that are a list."
    family.fails("list-later-facts", about, run.export(), "SCHEMA_INVALID", 1)
    run = Cast("lists", TRIO).run()
    run.say("critic", "consent_asked", {}, ["?"])
    about = "The author of a later type commits to a list."
    family.fails("list-later-content", about, run.export(), "FILE_MALFORMED")


def _contents(family: Family) -> None:
    def case(name: str, about: str, act: Callable[[Dialogue], object]) -> None:
        dialogue = work("lists")
        act(dialogue)
        last = dialogue.newest
        family.fails(f"list-{name}", about, dialogue.export(), "CONTENT_INVALID", last)

    words = wording({"choices": 2})
    choices = [values(it) for it in words["choices"]]
    rule = {"rule": ["colour", "0" * 64]}
    delivered = WORDS["question_delivered"]
    shown = delivered | {"shown": values(delivered["shown"])}
    both: dict[str, Json] = {"choices": 2, "kinds": ["multiple_choice"]}
    three = {"wording": values(words["wording"])}
    whole = values(wording({}))
    dialogue = work("lists")
    dialogue.act("agent", "question_asked", QUESTION, whole)
    # Where the line shows no object, it is the line that is wrong.
    family.fails("list-content", "The asker commits to a list.", dialogue.export(), "FILE_MALFORMED")
    case("wording", "The asker commits to a list of three wordings.", lambda d: d.ask(words=three))
    case("choice", "The asker commits to choices that are lists.", lambda d: d.ask(words={"choices": choices}, **both))
    case("rule", "The asker commits to a list for the rule behind it.", lambda d: d.ask(words=rule))
    about = "The desk commits to a list of what was shown."
    case("shown", about, lambda d: (d.ask(), d.act("desk", "question_delivered", {"question": 0, "to": None}, shown)))
    run = Cast("lists", TRIO).run().work()
    run.conclude([9], content={"claims": [[9, "five words"]], "verdict": "done"})
    about = "The executor commits to a final statement whose claims are lists."
    family.fails("list-final-claim", about, run.export(), "CONTENT_INVALID", 10)


def _lines(family: Family) -> None:
    def case(name: str, about: str, export: Export, kind: str) -> None:
        body = [json.loads(it) for it in export.body()]
        place = max(place for place, it in enumerate(body) if kind in it)
        listed(body[place], kind)
        family.fails(f"list-{name}", about, export.sealed([line(it) for it in body]), "FILE_MALFORMED")

    case("header", "The desk writes the header as a list.", bare(), "header")
    case("event-line", "The desk writes what stands in an event line as a list.", bare(), "event")
    case("artifact-line", "The desk writes what stands in an artifact line as a list.", stored(), "artifact")
    case("head", "The desk writes a head as a list.", bare(), "head")
    case("inclusion", "The desk writes an inclusion as a list.", revoked_early(), "inclusion")


def _signed(family: Family) -> None:
    def head(name: str, about: str, change: Callable[[dict[str, Json]], Json]) -> None:
        export = bare()
        export.heads = [signed("head", change(export.heads[0]["document"]), export.desk.key)]
        family.fails(f"list-head-{name}", about, export.seal_checkpoint(), "FILE_MALFORMED")

    def checkpoint(name: str, about: str, change: Callable[[dict[str, Json]], Json]) -> None:
        export = bare()
        export.checkpoint = change(export.checkpoint)
        family.fails(f"list-checkpoint{name}", about, export, "FILE_MALFORMED")

    def document(whole: dict[str, Json]) -> Json:
        return signed("checkpoint", values(whole["document"]), bare().desk.key)

    head("document", "The desk signs a head that is a list.", values)
    about = "The desk signs a head whose position is a list."
    head("position", about, lambda document: document | {"head": values(document["head"])})
    export = bare()
    listed(export.heads[0], "proof")
    family.fails("list-head-proof", "The proof of a head is a list.", export.seal_checkpoint(), "FILE_MALFORMED")
    export = revoked_early()
    listed(export.inclusions[0], "leaf")
    about = "The desk shows an inclusion whose leaf is a list."
    family.fails("list-inclusion-leaf", about, export.seal_checkpoint(), "FILE_MALFORMED")
    checkpoint("", "An outsider writes the checkpoint as a list.", values)
    checkpoint("-document", "The desk signs a checkpoint that is a list.", document)
    about = "An outsider writes the proof of the checkpoint as a list."
    checkpoint("-proof", about, lambda whole: whole | {"proof": values(whole["proof"])})


def _words(family: Family) -> None:
    critic = agent("bare", "critic")
    store = Cast("bare", ["planner"]).store
    store.register(critic, statement={"role": {"holder": None}})
    about = "The author signs a role that is an object with the word as its member."
    family.fails("word-role", about, Export(store), "SCHEMA_INVALID", 2)
    store = Cast("bare", ["planner"]).store
    store.register(critic, {"roles": [{"critic": None}]})
    about = "The author signs roles that are objects with the words as their members."
    family.fails("word-roles", about, Export(store), "SCHEMA_INVALID", 2)
    export = mini()
    export.run[1].envelope["proof"] = {"none": None}
    about = "The desk writes that there is no proof as an object."
    family.fails("word-proof", about, export.seal(), "SCHEMA_INVALID", 1)
    export = bare()
    export.registry[1].disclosure = {"disclosed": None}  # type: ignore[assignment]
    about = "The desk writes a disclosure as an object."
    family.fails("word-disclosure", about, export.seal_checkpoint(), "FILE_MALFORMED")
    dialogue = work("lists")
    dialogue.ask()
    usual = WORDS["question_delivered"]
    shown = usual["shown"] | {"wording": {"normal": None}}
    dialogue.act("desk", "question_delivered", {"question": 0, "to": None}, usual | {"shown": shown})
    about = "The desk commits to an object for the wording that was shown."
    family.fails("word-shown", about, dialogue.export(), "CONTENT_INVALID", 1)


def values(fields: dict[str, Json]) -> list[Json]:
    """Returns the values of an object in the order of its names."""
    return [fields[name] for name in sorted(fields)]


def listed(fields: dict[str, Json], name: str) -> None:
    """Puts the values of a member in its place."""
    fields[name] = values(fields[name])
