"""Mutation of what stands around events: header, heads, checkpoint, event lines, artifact lines, inclusions."""

from collections.abc import Callable

from forge.case import Corpus, Family
from forge.curve import Key
from forge.encode import Json, moment, ulid
from forge.export import Export, signed
from forge.honest import revoked_early
from forge.stories import Cast, bare, mini, stored


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("frame")
    _header(family)
    _heads(family)
    _checkpoints(family)
    _event_lines(family)
    _artifact_lines(family)
    _inclusions(family)


def _header(family: Family) -> None:
    for name, value, code in (
        ("store", "0" * 64, "STATEMENT_MISMATCH"),
        ("trace", ulid("elsewhere"), "STATEMENT_MISMATCH"),
        ("format", 2, "FORMAT_NEWER"),
        ("format-zero", 0, "FORMAT_NEWER"),
    ):
        # A registry export has no run that could stand under another trace.
        export = mini() if name == "trace" else bare()
        store, trace = export.header["store"], export.header["trace"]
        export.header[name.removesuffix("-zero")] = value
        about = f"An outsider changes `{name}` of the header and the digest in the checkpoint."
        family.fails(f"header-{name}-outsider", about, export.redigest(), code)
        about = f"The desk changes `{name}` of the header and signs the checkpoint again."
        family.fails(f"header-{name}-desk", about, export.copy().seal_checkpoint(store=store, trace=trace), code)
    export = bare()
    export.header["software"] = "another program"
    about = "An outsider changes the software in the header and the digest in the checkpoint."
    family.fails("header-software-outsider", about, export.redigest(), "CHECKPOINT_INVALID")
    about = "The desk names another program in the header; the name is its word anyway."
    family.holds("header-software-desk", about, export.copy().seal_checkpoint())


def _heads(family: Family) -> None:
    older = mini().run[0].position
    for name, fields in (
        ("epoch", {"epoch": 2}),
        ("head-hash", {"head": {"hash": "0" * 64, "sequence": 1}}),
        ("head-sequence", {"head": {"hash": mini().run[1].hash, "sequence": 2}}),
        ("head-older", {"head": older}),
        ("registry-hash", {"registry": {"hash": "0" * 64, "sequence": 1}}),
        ("registry-beyond", {"registry": {"hash": "0" * 64, "sequence": 4}}),
        ("store", {"store": "0" * 64}),
        ("trace", {"trace": ulid("elsewhere")}),
    ):
        export = bare()
        export.heads[0]["document"].update(fields)
        about = f"An outsider changes `{name}` in the head of the registry and the digest in the checkpoint."
        family.fails(f"head-{name}-outsider", about, export.redigest(), "HEAD_INVALID")
        export = mini()
        export.heads[1] = export.signed_head(export.run, **fields)
        about = f"The desk signs a head of the trace with a wrong `{name}`."
        family.fails(f"head-{name}-desk", about, export.seal_checkpoint(), "HEAD_INVALID")
    _head_proofs(family)


def _head_proofs(family: Family) -> None:
    planner = Key("mini/planner")
    for place, section in ((0, "registry"), (1, "trace")):
        export = mini()
        export.heads[place]["proof"]["key"] = planner.fingerprint
        about = f"An outsider names the planner's key in the head of the {section}."
        family.fails(f"head-{section}-key", about, export.redigest(), "HEAD_INVALID")
        export = mini()
        export.heads[place] = export.signed_head((export.registry, export.run)[place], planner)
        about = f"The planner signs the head of the {section} in the desk's place."
        family.fails(f"head-{section}-planner", about, export.redigest(), "HEAD_INVALID")
        export = mini()
        export.heads[place] = None
        about = f"The desk leaves out the head of the {section}."
        family.fails(f"head-{section}-left-out", about, export.seal_checkpoint(), "HEAD_INVALID")
    export = mini()
    document = export.heads[1]["document"]
    export.heads[1] = signed("receipt", document, export.desk.key)
    about = "The desk signs a head with the purpose of a receipt."
    family.fails("head-purpose", about, export.seal_checkpoint(), "HEAD_INVALID")


def _checkpoints(family: Family) -> None:
    export = bare()
    for name, fields, code in (
        ("bytes", {"bytes": "0" * 64}, "CHECKPOINT_INVALID"),
        ("epoch", {"epoch": 2}, "CHECKPOINT_INVALID"),
        ("head", {"head": export.registry[0].position}, "CHECKPOINT_INVALID"),
        ("head-hash", {"head": {"hash": "0" * 64, "sequence": 1}}, "CHECKPOINT_INVALID"),
        ("registry", {"registry": export.registry[0].position}, "CHECKPOINT_INVALID"),
        ("registry-hash", {"registry": {"hash": "0" * 64, "sequence": 1}}, "CHECKPOINT_INVALID"),
        ("time", {"time": moment(999)}, "CHECKPOINT_INVALID"),
        ("store", {"store": "0" * 64}, "STATEMENT_MISMATCH"),
        ("trace", {"trace": ulid("elsewhere")}, "STATEMENT_MISMATCH"),
    ):
        changed = bare()
        changed.checkpoint["document"].update(fields)
        about = f"An outsider changes `{name}` in the checkpoint."
        family.fails(f"checkpoint-{name}-outsider", about, changed, code)
        if name != "time":
            about = f"The desk signs a checkpoint with a wrong `{name}`."
            family.fails(f"checkpoint-{name}-desk", about, bare().seal_checkpoint(**fields), code)
    planner = Key("bare/planner")
    changed = bare()
    changed.checkpoint["proof"]["key"] = planner.fingerprint
    family.fails(
        "checkpoint-key", "An outsider names the planner's key in the checkpoint.", changed, "CHECKPOINT_INVALID"
    )
    about = "The planner signs the checkpoint in the desk's place."
    family.fails("checkpoint-planner", about, bare().seal_checkpoint(planner), "CHECKPOINT_INVALID")


def _event_lines(family: Family) -> None:
    def case(name: str, what: str, change: Callable[[Export], object], code: str, event: int | None) -> None:
        export = bare()
        change(export)
        if code != "FILE_MALFORMED":
            about = f"An outsider {what} and changes the digest."
            family.fails(f"line-{name}-outsider", about, export.redigest(), code, event)
        family.fails(
            f"line-{name}-desk",
            f"The desk {what} and signs the checkpoint again.",
            export.copy().seal_checkpoint(),
            code,
            event,
        )

    case(
        "content",
        "changes disclosed content",
        lambda x: x.registry[1].content.update(name="other"),
        "COMMITMENT_MISMATCH",
        1,
    )
    case("salt", "changes a salt", lambda x: setattr(x.registry[1], "salt", "0" * 64), "COMMITMENT_MISMATCH", 1)
    case(
        "absent",
        "says that committed content never was",
        lambda x: x.registry[1].hide("absent"),
        "COMMITMENT_MISMATCH",
        1,
    )
    case(
        "salt-alone",
        "leaves out content and keeps its salt",
        lambda x: setattr(x.registry[1], "content", None),
        "FILE_MALFORMED",
        None,
    )
    case(
        "content-alone",
        "leaves out a salt and keeps the content",
        lambda x: setattr(x.registry[1], "salt", None),
        "FILE_MALFORMED",
        None,
    )
    case(
        "withheld-there",
        "calls content withheld that is there",
        lambda x: setattr(x.registry[1], "disclosure", "withheld"),
        "FILE_MALFORMED",
        None,
    )
    case("disclosure", "invents a word for disclosure", lambda x: x.registry[1].hide("lost"), "FILE_MALFORMED", None)
    export = mini()
    export.run[0].content["task"] = "other"
    family.fails(
        "line-task-desk", "The desk changes the task of a run.", export.seal_checkpoint(), "COMMITMENT_MISMATCH", 0
    )
    export = mini()
    export.run[0].hide("withheld")
    about = "An outsider withholds content, which only the maker of an export may."
    family.fails("line-withheld-outsider", about, export.redigest(), "CHECKPOINT_INVALID")
    store = Cast("content added", ["planner"]).store
    store.registry.say(store.desk, "checkpoint_recorded", store.root())
    export = Export(store)
    last = export.registry[2]
    last.content, last.salt, last.disclosure = {}, "0" * 64, "disclosed"
    about = "The desk adds content to an event that has none."
    family.fails("line-content-added", about, export.seal_checkpoint(), "COMMITMENT_MISMATCH", 2)


def _artifact_lines(family: Family) -> None:
    def case(name: str, what: str, fields: dict[str, Json], code: str, event: int | None = None) -> None:
        export = stored()
        artifact = export.run[4].artifact
        assert artifact is not None
        artifact.update(fields)
        if code != "FILE_MALFORMED":
            about = f"An outsider {what} and changes the digest."
            family.fails(f"artifact-{name}-outsider", about, export.redigest(), code, event)
        family.fails(
            f"artifact-{name}-desk",
            f"The desk {what} and signs the checkpoint again.",
            export.copy().seal_checkpoint(),
            code,
            event,
        )

    case("bytes", "changes the bytes of an artifact", {"bytes": "Ngo="}, "ARTIFACT_HASH_MISMATCH", 4)
    case("empty", "empties an artifact", {"bytes": ""}, "ARTIFACT_HASH_MISMATCH", 4)
    case("salt", "changes the salt of an artifact", {"salt": "0" * 64}, "ARTIFACT_HASH_MISMATCH", 4)
    case("event", "gives an artifact line another number", {"event": 3}, "FILE_MALFORMED")
    case("withheld-there", "calls an artifact withheld that is there", {"disclosure": "withheld"}, "FILE_MALFORMED")
    case("salt-missing", "leaves out the salt of an artifact", {"salt": None}, "FILE_MALFORMED")
    case("base64-bits", "sets unused bits in base64", {"bytes": "NQp="}, "FILE_MALFORMED")
    case("base64-padding", "drops the padding of base64", {"bytes": "NQo"}, "FILE_MALFORMED")


def _inclusions(family: Family) -> None:
    first = revoked_early().inclusions[0]
    shorter = first["leaf"] | {"length": first["leaf"]["length"] - 1}
    for name, fields in (
        ("index", {"index": first["index"] ^ 1}),
        ("index-beyond", {"index": 4}),
        ("leaf-head", {"leaf": first["leaf"] | {"head": "0" * 64}}),
        ("leaf-length", {"leaf": shorter}),
        ("leaf-trace", {"leaf": first["leaf"] | {"trace": ulid("elsewhere")}}),
        ("path", {"path": ["0" * 64, *first["path"][1:]]}),
        ("path-short", {"path": first["path"][:-1]}),
        ("path-long", {"path": [*first["path"], "0" * 64]}),
        ("registry", {"registry": 1}),
        ("registry-beyond", {"registry": 99}),
    ):
        export = revoked_early()
        export.inclusions[0].update(fields)
        about = f"The desk shows an inclusion with a wrong `{name}`."
        family.fails(f"inclusion-{name}", about, export.seal_checkpoint(), "INCLUSION_INVALID")
    about = "An outsider drops the inclusion proof."
    export = revoked_early()
    export.inclusions = []
    family.fails("inclusion-dropped-outsider", about, export.redigest(), "CHECKPOINT_INVALID")
