"""Fields that are unknown or missing, at every level, and content that does not fit."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.encode import Json
from forge.export import Export
from forge.honest import revoked_early
from forge.stories import CONTENT, TRIO, Cast, bare, mini, stored, tiny
from forge.writer import agent


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("fields")
    _unknown(family)
    _missing(family)
    _signed(family)
    _contents(family)


def _unknown(family: Family) -> None:
    def case(
        name: str, export: Export, where: Callable[[Export], dict[str, Json]], code: str, event: int | None = None
    ) -> None:
        where(export)["zz"] = 1
        about = f"The desk adds an unknown field to the {name.replace('-', ' ')}."
        family.fails(f"unknown-{name}", about, export.seal_checkpoint(), code, event)

    case("header", bare(), lambda x: x.header, "FILE_MALFORMED")
    case("envelope", bare(), lambda x: x.registry[1].envelope, "SCHEMA_INVALID", 1)
    case("proof", bare(), lambda x: x.registry[1].envelope["proof"], "SCHEMA_INVALID", 1)
    case("proof-key", bare(), lambda x: x.registry[1].envelope["proof"]["ed25519"], "SCHEMA_INVALID", 1)
    case("pin", bare(), lambda x: x.registry[1].envelope["registry"], "SCHEMA_INVALID", 1)
    case("record", mini(), lambda x: x.run[1].envelope["record"], "SCHEMA_INVALID", 1)
    case("record-facts", mini(), lambda x: x.run[1].envelope["record"]["facts"], "SCHEMA_INVALID", 1)
    case("head", bare(), lambda x: x.heads[0], "FILE_MALFORMED")
    case("head-document", bare(), lambda x: x.heads[0]["document"], "FILE_MALFORMED")
    case("head-proof", bare(), lambda x: x.heads[0]["proof"], "FILE_MALFORMED")
    case("head-position", bare(), lambda x: x.heads[0]["document"]["head"], "FILE_MALFORMED")
    case("artifact-line", stored(), lambda x: x.run[4].artifact or {}, "FILE_MALFORMED")
    case("inclusion", revoked_early(), lambda x: x.inclusions[0], "FILE_MALFORMED")
    case("inclusion-leaf", revoked_early(), lambda x: x.inclusions[0]["leaf"], "FILE_MALFORMED")
    about = "The desk adds an unknown field to an event line."
    added = bare().edited(lambda lines: [*lines[:2], lines[2].replace(b"}}\n", b',"zz":1}}\n'), *lines[3:]])
    family.fails("unknown-event-line", about, added, "FILE_MALFORMED")
    about = "The desk adds a second member to a line."
    added = bare().edited(lambda lines: [*lines[:2], lines[2].replace(b"}}\n", b'},"zz":1}\n'), *lines[3:]])
    family.fails("unknown-line", about, added, "FILE_MALFORMED")
    family.fails(
        "unknown-checkpoint",
        "The desk signs a checkpoint with an unknown field.",
        bare().seal_checkpoint(zz=1),
        "FILE_MALFORMED",
    )


def _missing(family: Family) -> None:
    for name, change, event in (
        ("actor", lambda x: x.registry[1].envelope.pop("actor"), 1),
        ("record", lambda x: x.registry[1].envelope.pop("record"), 1),
        ("previous", lambda x: _rename(x, x.registry[0].envelope.pop("previous")), 0),
        ("proof-signature", lambda x: x.registry[1].envelope["proof"]["ed25519"].pop("signature"), 1),
        ("seen-hash", lambda x: x.registry[1].statement["seen"].pop("hash"), 1),
        ("type", lambda x: x.registry[1].statement.pop("type"), 1),
    ):
        export = bare()
        change(export)
        about = f"The desk leaves out `{name}`, which is there even where it is null."
        family.fails(f"missing-{name}", about, export.seal(), "SCHEMA_INVALID", event)
    export = mini()
    del export.run[1].envelope["record"]["cause"]
    family.fails(
        "missing-cause", "The desk leaves out a cause that is null.", export.repair().seal(), "SCHEMA_INVALID", 1
    )
    export = bare()
    export.registry[1].hide("withheld")
    lines = export.body()
    for name, dropped in (
        ("salt", lines[2].replace(b',"salt":null}}', b"}}")),
        ("content", lines[2].replace(b'"content":null,', b"", 1)),
    ):
        shorter = [*lines[:2], dropped, *lines[3:]]
        about = f"The desk leaves out the `{name}` of an event line that is null."
        family.fails(f"missing-line-{name}", about, export.sealed(shorter), "FILE_MALFORMED")
    export = bare()
    del export.heads[0]["document"]["epoch"]
    family.fails(
        "missing-head-epoch", "The desk leaves out the epoch of a head.", export.seal_checkpoint(), "FILE_MALFORMED"
    )
    export = bare()
    del export.header["software"]
    family.fails("missing-software", "The desk leaves out the software.", export.seal_checkpoint(), "FILE_MALFORMED")


def _signed(family: Family) -> None:
    """The author itself signs a statement of the wrong shape, and the desk takes it."""
    critic = agent("bare", "critic")
    facts: dict[str, Json] = {
        "key": critic.key.public,
        "principal": critic.principal,
        "recovery": None,
        "roles": ["critic"],
    }
    for name, about, statement in (
        ("unknown-field", "an unknown field", {"zz": 1}),
        ("unknown-fact", "an unknown fact", {"facts": facts | {"zz": 1}}),
        ("missing-fact", "no `recovery` in its facts", {"facts": {k: v for k, v in facts.items() if k != "recovery"}}),
        ("facts-list", "facts that are a list", {"facts": []}),
        ("facts-type", "a fact of the wrong type", {"facts": facts | {"roles": "critic"}}),
        ("type-form", "a type name in upper case", {"type": "Key_Registered"}),
        ("type-long", "a type name of 65 letters", {"type": "a" * 65}),
        ("type-empty", "an empty type name", {"type": ""}),
        ("role-unknown", "a role that is not", {"role": "admin"}),
        ("not-after-null", "no time limit", {"not_after": None}),
        ("key-long", "a key of 33 bytes", {"facts": facts | {"key": critic.key.public + "00"}}),
    ):
        store = Cast("bare", ["planner"]).store
        store.register(critic, statement=statement)
        about = f"The author signs a statement with {about}, and the desk takes it."
        family.fails(f"signed-{name}", about, Export(store), "SCHEMA_INVALID", 2)
    run = Cast("deep", TRIO).run()
    nested: Json = 1
    for _ in range(20):
        nested = [nested]
    run.say("critic", "consent_asked", {"deep": nested}, {"text": "?"})
    family.fails(
        "signed-deep",
        "The author of a later type signs facts deeper than an event may be.",
        run.export(),
        "SCHEMA_INVALID",
        1,
    )
    run = Cast("deep", TRIO).run()
    run.say("critic", "consent_asked", {"long": "x" * 33_000}, {"text": "?"})
    family.fails(
        "signed-long",
        "The author of a later type signs a string longer than an event may hold.",
        run.export(),
        "SCHEMA_INVALID",
        1,
    )


def _contents(family: Family) -> None:
    proposal = CONTENT["proposal_created"]
    for name, what, content in (
        ("unknown-field", "an unknown field", proposal | {"zz": 1}),
        ("missing-field", "a field missing", {k: v for k, v in proposal.items() if k != "assumptions"}),
        ("empty-text", "an empty text", proposal | {"objective": ""}),
        ("wrong-type", "a number for a text", proposal | {"objective": 1}),
        ("long-list", "a list with one item too many", proposal | {"required_tools": ["x"] * 65}),
    ):
        run = Cast("contents", TRIO).run()
        run.propose(content=content)
        about = f"The planner commits to content with {what}."
        family.fails(f"content-{name}", about, run.export(), "CONTENT_INVALID", 2)
    cast = Cast("contents", ["planner"])
    cast.store.revoke(cast["planner"], content={"note": "x" * 4_097})
    about = "The desk commits to a note of one code point too many."
    family.fails("content-long-text", about, Export(cast.store), "CONTENT_INVALID", 2)
    run = Cast("contents", TRIO).run()
    run.propose()
    facts = {"conditions": 1, "decision": "conditionally_approved", "proposal": 2}
    run.say("critic", "proposal_reviewed", facts, {"conditions": [], "rationale": "fine"})
    about = "The critic counts one condition in the facts and names none in the content."
    family.fails("content-conditions", about, run.export(), "CONTENT_INVALID", 3)
    run = Cast("contents", TRIO).run().work()
    run.conclude([9], content={"claims": [{"claim": 8, "text": "five words"}], "verdict": "done"})
    about = "The executor's final statement names other claims in its content than in its facts."
    family.fails("content-claims", about, run.export(), "CONTENT_INVALID", 10)
    run = Cast("contents", TRIO).run()
    run.trace.say(run.cast["planner"], "proposal_created", {"fallback_for": None, "replaces": None})
    about = "The planner commits to nothing where content is required."
    family.fails("content-none", about, run.export(), "COMMITMENT_MISMATCH", 1)
    store = Cast("bare", ["planner"]).store
    store.registry.say(store.desk, "checkpoint_recorded", store.root(), {"note": "extra"})
    about = "The desk commits to content where the type has none."
    family.fails("content-extra", about, Export(store), "COMMITMENT_MISMATCH", 2)
    export = tiny()
    export.run[3].salt = export.run[2].salt
    about = "The desk discloses a review with the salt of a proposal."
    family.fails("content-other-salt", about, export.seal_checkpoint(), "COMMITMENT_MISMATCH", 3)


def _rename(export: Export, _: Json) -> None:
    export.header["store"] = export.registry[0].hash
