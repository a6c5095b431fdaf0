"""Files that are cut, glued, reordered, overgrown or not exports at all."""

from forge.case import Corpus, Family
from forge.encode import Json, seeded
from forge.export import Export, Lines, line
from forge.honest import revoked_early
from forge.stories import TRIO, Cast, bare, mini, stored


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("file")
    _not_exports(family)
    _cut(family)
    _twice(family)
    _out_of_order(family)
    _artifacts(family)
    _overgrown(family)


def _not_exports(family: Family) -> None:
    for name, about, data in (
        ("garbage", "A text that is no JSON.", b"this is not an export\n"),
        ("binary", "Random bytes.", seeded("binary", 200).replace(b"\n", b"") + b"\n"),
        ("zeros", "A line of zero bytes.", bytes(100) + b"\n"),
        ("line-feed", "A single line feed.", b"\n"),
        ("object", "An empty object.", b"{}\n"),
        ("list", "An empty list.", b"[]\n"),
        ("null", "The value null.", b"null\n"),
        ("no-header", "An export without its header.", b"".join(bare().lines()[1:])),
        ("header-null", "A header that is null.", b'{"header":null}\n' + b"".join(bare().lines()[1:])),
    ):
        family.fails(name, about, data, "FILE_MALFORMED")
    newer = {"format": 2, "produced_by": {"name": "a later demur"}, "stores": ["0" * 64]}
    about = "A file of a later version, whose header has other fields."
    family.fails("newer", about, line({"header": newer}) + b'{"block":"..."}\n', "FORMAT_NEWER")
    export = bare()
    export.header["format"] = "1"
    family.fails("format-text", "The desk writes the format as a text.", export.seal_checkpoint(), "FILE_MALFORMED")
    export = bare()
    export.header["software"] = "x" * 129
    family.fails(
        "software-long", "The desk names a program with 129 letters.", export.seal_checkpoint(), "FILE_MALFORMED"
    )


def _cut(family: Family) -> None:
    family.fails("empty", "An empty file.", b"", "FILE_TRUNCATED")
    lines = mini().lines()
    for name, about, count in (
        ("header", "after the header", 1),
        ("registry", "in the registry", 2),
        ("registry-end", "before the head of the registry", 3),
        ("registry-head", "after the head of the registry", 4),
        ("run", "in the run", 5),
        ("run-end", "before the head of the run", 6),
        ("checkpoint", "before the checkpoint", 7),
    ):
        family.fails(f"cut-{name}", f"An outsider cuts the file {about}.", b"".join(lines[:count]), "FILE_TRUNCATED")
    whole = bare().text()
    family.fails("cut-first-line", "An outsider cuts the file in its first line.", whole[:20], "FILE_TRUNCATED")
    family.fails("cut-last-line", "An outsider cuts the file in its last line.", whole[:-20], "FILE_TRUNCATED")
    family.fails("cut-line-feed", "An outsider cuts off the last line feed.", whole[:-1], "FILE_TRUNCATED")
    family.fails("cut-in-event", "An outsider cuts the file in an event.", whole[:900], "FILE_TRUNCATED")
    cut = b"".join(stored().lines()[:11])
    family.fails("cut-artifact", "An outsider cuts the file between an event and its artifact.", cut, "FILE_TRUNCATED")


def _twice(family: Family) -> None:
    lines = bare().lines()
    head, last = lines[0], lines[-1]
    for name, about, data in (
        ("header-twice", "The header stands twice.", [head, *lines]),
        ("header-late", "A header stands between two events.", [*lines[:2], head, *lines[2:]]),
        ("checkpoint-twice", "The checkpoint stands twice.", [*lines, last]),
        ("after-event", "An event stands after the checkpoint.", [*lines, lines[2]]),
        ("after-empty", "An empty line stands after the checkpoint.", [*lines, b"\n"]),
        ("after-space", "A space stands after the checkpoint.", [*lines, b" \n"]),
        ("after-garbage", "Garbage stands after the checkpoint.", [*lines, b"garbage\n"]),
        ("exports-glued", "Two exports stand in one file.", [*lines, *lines]),
    ):
        family.fails(name, about, b"".join(data), "FILE_MALFORMED")
    about = "The last line stands twice and the second has no line feed."
    family.fails("after-cut", about, b"".join([*lines, last[:-1]]), "FILE_MALFORMED")


def _out_of_order(family: Family) -> None:
    for name, about, value in (
        ("note", "a line of a kind that is not known", {"note": {"text": "trust me"}}),
        ("report", "a report that says pass", {"report": {"verdict": "pass"}}),
    ):
        lines = bare().body()
        added = [*lines[:3], line(value), *lines[3:]]
        family.fails(f"kind-{name}", f"The desk adds {about}.", bare().sealed(added), "FILE_MALFORMED")
    inclusion = line({"inclusion": revoked_early().inclusions[0]})
    early = revoked_early()
    early.inclusions = []
    about = "The desk writes an inclusion before the run."
    family.fails(
        "inclusion-early", about, early.edited(lambda lines: [*lines[:5], inclusion, *lines[5:]]), "FILE_MALFORMED"
    )
    run = mini()
    run.header["trace"] = run.registry[0].envelope["trace"]
    about = "The header names the registry as the exported trace, and a run follows."
    family.fails("run-in-registry-export", about, run.seal_checkpoint(), "FILE_MALFORMED")
    about = "A head stands before the first event."
    family.fails("head-first", about, bare().edited(_head_first), "FILE_MALFORMED")


def _artifacts(family: Family) -> None:
    event = 11
    artifact = stored().lines()[event]

    def case(name: str, about: str, edit: Json) -> None:
        family.fails(f"artifact-{name}", about, stored().edited(edit), "FILE_MALFORMED")

    case("left-out", "The desk leaves out the line of an artifact.", lambda x: [*x[:event], *x[event + 1 :]])
    case(
        "twice",
        "The desk writes the line of an artifact twice.",
        lambda x: [*x[: event + 1], artifact, *x[event + 1 :]],
    )
    case(
        "early",
        "The desk writes the line of an artifact before its event.",
        lambda x: [*x[: event - 1], artifact, x[event - 1], *x[event + 1 :]],
    )
    case(
        "late",
        "The desk writes the line of an artifact after the head.",
        lambda x: [*x[:event], x[event + 1], artifact],
    )
    case(
        "of-nothing",
        "The desk adds an artifact to a proposal.",
        lambda x: [*x[:9], artifact.replace(b'"event":4', b'"event":2'), *x[9:]],
    )


def _overgrown(family: Family) -> None:
    deep = b"[" * 10_000 + b"]" * 10_000
    family.fails("deep-first", "The first line is 10,000 brackets.", deep + b"\n", "FILE_MALFORMED")
    brackets = b"[" * 1_000 + b"]" * 1_000
    nested = bare().edited(
        lambda lines: [*lines[:2], lines[2].replace(b'"planner"]', b'"planner",' + brackets + b"]"), *lines[3:]]
    )
    family.fails("deep-facts", "The desk writes 1,000 brackets into facts.", nested, "FILE_MALFORMED")
    braces = b'{"a":' * 1_000 + b"1" + b"}" * 1_000
    nested = bare().edited(
        lambda lines: [*lines[:2], lines[2].replace(b'"name":"planner"', b'"name":' + braces), *lines[3:]]
    )
    family.fails("deep-content", "The desk writes 1,000 nested objects into content.", nested, "FILE_MALFORMED")
    family.fails(
        "deep-unclosed",
        "The desk writes 10,000 opening brackets.",
        bare().lines()[0] + b"[" * 10_000 + b"\n",
        "FILE_MALFORMED",
    )
    family.fails(
        "content-41-deep", "Content of a later type makes its line 41 levels deep.", _nested(39), "FILE_MALFORMED"
    )
    family.holds(
        "content-32-deep",
        "Content of a later type is 32 levels deep, as deep as it may be.",
        _nested(32),
        "not_established",
    )
    family.fails("content-33-deep", "Content of a later type is 33 levels deep.", _nested(33), "CONTENT_INVALID", 1)


def _nested(depth: int) -> Export:
    value: Json = 1
    for _ in range(depth - 1):
        value = [value]
    run = Cast("nested", TRIO).run()
    run.say("critic", "consent_asked", {}, {"deep": value})
    return run.export()


def _head_first(lines: Lines) -> Lines:
    return [lines[0], lines[3], *lines[1:3]]
